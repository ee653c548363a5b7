"""Engines by a specification: what it may say, and that no word leaves because of it alone."""

from __future__ import annotations

import pytest

from anonymizer.documents.engines.cache import Cached
from anonymizer.documents.engines.choice import KINDS, LEAKING, engine_of
from anonymizer.errors import FileError, SpecError
from tests.anonymizer.documents.engines.server import SearchServer

URL = "https://search.example"
SEARXNG = {"kind": "searxng", "url": URL}
ELASTIC = {"kind": "elasticsearch", "url": URL, "index": "news", "field": "body"}
WEB = {"a": "Larnaca by the sea"}


def made(given, texts=lambda path: [(f"{path}/a", "Larnaca")], **named):
    return engine_of(given, "web.toml, engine 1", texts, **{"allowed": LEAKING, **named})


def test_a_folder():
    seen = []
    engine = made({"kind": "folder", "path": "web"}, allowed=(), progress=seen.append)
    assert [hit.name for hit in engine.search(("larnaca",))] == ["web/a"]
    assert (engine.name, engine.leaks, seen) == ("the folder web", False, [1])


@pytest.mark.parametrize("given", [SEARXNG, ELASTIC])
def test_no_word_leaves_unless_the_user_names_the_engine(given):
    with pytest.raises(SpecError, match=r"sends words of confidential texts.*Allow it by its name"):
        made(given, allowed=())
    others = [kind for kind in KINDS if kind != given["kind"]]
    with pytest.raises(SpecError, match="sends words"):
        made(given, allowed=others)
    assert made(given).leaks


def test_all_of_a_server(tmp_path, monkeypatch):
    monkeypatch.setenv("SEARCH_KEY", "secret")
    with SearchServer(WEB) as web:
        given = {
            **ELASTIC,
            "url": web.url,
            "seconds": 5,
            "attempts": 1,
            "per_second": 100.0,
            "size": 10_000,
            "patience": 0,
            "plain": False,
            "key_variable": "SEARCH_KEY",
            "cache": str(tmp_path / "answers"),
            "cache_days": 0.5,
        }
        engine = made(given)
        assert isinstance(engine, Cached)
        assert [hit.name for hit in engine.search(("Larnaca",))] == ["news/a"]
        engine.search(("Larnaca",))
        assert [headers["Authorization"] for _, headers, *_ in web.asked] == ["ApiKey secret"]
    assert engine.name == f"the field body of the index news at {web.url}"


def test_a_searxng_with_a_key_of_a_file(tmp_path):
    path = tmp_path / "key"
    path.write_text("secret\n")
    path.chmod(0o600)
    with SearchServer(WEB) as web:
        engine = made({**SEARXNG, "url": web.url, "language": "en", "key_file": str(path)})
        assert len(engine.search(("Larnaca",))) == 1
        assert web.asked[0][1]["Authorization"] == "Bearer secret"
        assert b"language=en" in web.asked[0][2]


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ({}, "None is not a kind"),
        ({"kind": "google"}, "'google' is not a kind"),
        ({"kind": ["folder"]}, "not a kind"),
        ({"kind": "Folder", "path": "x"}, "Did you mean 'folder'"),
        ({"kind": "folder"}, "lacks path"),
        ({"kind": "folder", "path": 7}, "path is of the wrong type"),
        ({"kind": "folder", "path": " "}, "path is empty"),
        ({"kind": "folder", "path": "x", "url": URL}, "unknown key 'url'"),
        ({"kind": "searxng"}, "lacks url"),
        ({**SEARXNG, "verify": False}, "unknown key 'verify'"),
        ({**SEARXNG, "key": "secret"}, "unknown key 'key'"),
        ({**SEARXNG, "secnds": 1}, "Did you mean 'seconds'"),
        ({**SEARXNG, "seconds": True}, "seconds is of the wrong type"),
        ({**SEARXNG, "seconds": "5"}, "Write a number"),
        ({**SEARXNG, "attempts": 1.5}, "Write a whole number"),
        ({**SEARXNG, "plain": 1}, "plain = true or plain = false"),
        ({**SEARXNG, "seconds": -1}, "cannot be asked"),
        ({**SEARXNG, "url": "http://search.example"}, "web.toml, engine 1: Words would be sent"),
        ({**SEARXNG, "cache_days": 1}, "cache_days does not fit"),
        ({**SEARXNG, "cache": "x", "cache_days": 0}, "cache_days does not fit"),
        ({**SEARXNG, "cache": "x", "cache_days": float("nan")}, "cache_days does not fit"),
        ({**SEARXNG, "key_variable": "A", "key_file": "b"}, "names two keys"),
        ({**SEARXNG, "key_variable": "SURELY_NOT_SET"}, "no variable SURELY_NOT_SET"),
        ({"kind": "elasticsearch", "url": URL, "index": "news"}, "lacks field"),
        ({**ELASTIC, "index": "_all"}, "not a valid name of an index"),
    ],
)
def test_what_a_specification_must_not_say(given, message):
    with pytest.raises(SpecError, match=message) as raised:
        made(given)
    assert raised.value.hint
    assert "secret" not in str(raised.value)


def test_credentials_in_an_address_are_not_repeated():
    for allowed in ((), LEAKING):
        with pytest.raises(SpecError) as raised:
            made({**SEARXNG, "url": "https://me:secret@search.example"}, allowed=allowed)
        assert "secret" not in str(raised.value)


def test_a_folder_that_cannot_be_read():
    def texts(path):
        raise FileError(f"{path} cannot be read.", "Check the path.")
        yield

    with pytest.raises(FileError, match="absent cannot be read"):
        made({"kind": "folder", "path": "absent"}, texts)

"""Keys of search servers: from a variable or a file that is private, sent and never shown."""

from __future__ import annotations

import logging

import pytest

from anonymizer.documents.engines.credentials import Secret, from_file, from_variable
from anonymizer.documents.engines.engine import EngineError
from anonymizer.documents.engines.http import Authorization
from anonymizer.errors import FileError, SpecError
from tests.anonymizer.documents.engines.asking import KINDS, WEB, engine
from tests.anonymizer.documents.engines.server import SearchServer

KEY = "a-very-secret-key"


@KINDS
def test_a_key_is_sent_and_never_shown(kind, caplog):
    caplog.set_level(logging.DEBUG)
    scheme = "ApiKey" if kind == "elasticsearch" else "Bearer"
    authorization = Authorization(scheme, Secret(KEY))
    with SearchServer(WEB, [None, 401]) as web:
        asked = engine(kind, web, authorization=authorization)
        asked.search(("Larnaca",))
        assert web.asked[0][1]["Authorization"] == f"{scheme} {KEY}"
        with pytest.raises(EngineError) as raised:
            asked.search(("Larnaca",))
    shown = [
        str(raised.value),
        repr(raised.value),
        asked.name,
        repr(asked),
        repr(authorization),
        repr(Secret(KEY)),
    ]
    assert KEY not in " ".join([*shown, caplog.text])


def test_a_key_from_the_environment_or_a_file(monkeypatch, tmp_path):
    monkeypatch.setenv("SEARCH_KEY", f" {KEY}\n")
    assert from_variable("SEARCH_KEY").reveal() == KEY
    path = tmp_path / "key"
    path.write_text(KEY + "\n")
    path.chmod(0o600)
    assert from_file(path).reveal() == KEY


@pytest.mark.parametrize("text", ["", "two words", "a\nHost: other", "é", "x" * 4097, "\x00"])
def test_what_is_not_a_key(tmp_path, text):
    path = tmp_path / "key"
    path.write_bytes(text.encode())
    path.chmod(0o600)
    with pytest.raises(SpecError, match="does not hold a key") as raised:
        from_file(path)
    assert not text or text not in str(raised.value)


def test_a_key_that_others_can_read(tmp_path):
    path = tmp_path / "key"
    path.write_text(KEY)
    path.chmod(0o640)
    with pytest.raises(FileError, match="chmod 600"):
        from_file(path)
    with pytest.raises(FileError, match="cannot be read"):
        from_file(tmp_path / "absent")


def test_a_variable_that_is_not_there(monkeypatch):
    monkeypatch.delenv("SEARCH_KEY", raising=False)
    with pytest.raises(SpecError, match="no variable SEARCH_KEY"):
        from_variable("SEARCH_KEY")

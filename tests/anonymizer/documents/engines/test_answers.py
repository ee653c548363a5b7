"""What SearXNG and Elasticsearch answer: hits, or an error, never a search without hits by mistake."""

from __future__ import annotations

import json
import logging
from urllib.parse import unquote_plus

import pytest

from anonymizer.documents.engines.elasticsearch import Elasticsearch
from anonymizer.documents.engines.engine import EngineError
from anonymizer.documents.engines.http import Manners, Server
from anonymizer.errors import SpecError
from tests.anonymizer.documents.engines.asking import KINDS, QUICK, WEB, engine
from tests.anonymizer.documents.engines.server import SearchServer


@KINDS
def test_hits_come_as_plain_texts_best_first(kind):
    with SearchServer(WEB) as web:
        asked = engine(kind, web)
        assert asked.leaks
        hits = asked.search(("Larnaca",))
        prefix = "https://example.org/" if kind == "searxng" else "news/"
        assert [hit.name for hit in hits] == [prefix + "a", prefix + "b"]
        assert "A plane accident at Larnaca & Nicosia" in hits[0].text
        assert len(asked.search(("Larnaca",), limit=1)) == 1
        assert [hit.name for hit in asked.search(("東京", "事故"))] == [prefix + "c"]
        assert asked.search(("Larnaca", "absent")) == ()


@KINDS
def test_words_stand_in_no_address_and_no_log(kind, caplog):
    caplog.set_level(logging.DEBUG)
    with SearchServer(WEB) as web:
        engine(kind, web).search(("Larnaca", "東京"))
        ((path, _, body, _),) = web.asked
    assert path in {"/search", "/news/_search"}
    assert b"Larnaca" in body
    assert "Larnaca" not in caplog.text
    assert "東京" not in caplog.text


@pytest.mark.parametrize(
    ("keyword", "sent"),
    [
        ("!ddg secret", '"ddg secret"'),
        ('a" OR "b', '"a OR b"'),
        (":ja", '"ja"'),
        ("well-known", '"well-known"'),
        ("a -b", '"a b"'),
        ("O'Brien", '"O\'Brien"'),
        ("a!!g b", '"a g b"'),
        ("1.5", '"1.5"'),
    ],
)
def test_a_keyword_is_no_operator_of_searxng(keyword, sent):
    with SearchServer(WEB) as web:
        engine("searxng", web).search((keyword, "?!"))
        form = dict(part.split("=") for part in web.asked[0][2].decode().split("&"))
    assert unquote_plus(form["q"]) == sent


@KINDS
def test_without_words_nobody_is_asked(kind):
    with SearchServer(WEB) as web:
        assert engine(kind, web).search(("?!", "...")) == engine(kind, web).search(()) == ()
        assert not web.asked


@pytest.mark.parametrize(
    ("fault", "message"),
    [
        ("close", "cannot be reached, or broke off"),
        ("noise", "cannot be reached, or broke off"),
        ("truncated", "cannot be reached, or broke off"),
        ("cut chunk", "cannot be reached, or broke off"),
        ("endless", "more than 100,000 bytes"),
        ("endless chunk", "cannot be reached, or broke off"),
        (b"x" * 100_001, "more than 100,000 bytes"),
        (b"<html>Log in</html>", "does not answer in JSON"),
        (b"", "does not answer in JSON"),
        (b'{"results": [', "does not answer in JSON"),
        (b"[" * 90_000, "does not answer in JSON"),
        (b"\xff\xfe\xfa", "does not answer in JSON"),
        (b"9" * 10_000, "does not answer in JSON"),
        (404, "status 404"),
        (204, "status 204"),
        (401, "does not allow the search .status 401."),
        (403, r"formats: in its settings\.yml"),
        (429, "asked too often .status 429., 1 times"),
        (500, "failed .status 500., 1 times"),
        ((200, {"Content-Encoding": "gzip"}), "compresses"),
        (
            (302, {"Location": "https://other.example/?q=secret"}),
            r"redirects to other\.example, which is not",
        ),
        ((307, {"Location": "//[bad"}), "redirects elsewhere"),
        ((301, {"Location": "/other"}), "redirects elsewhere"),
    ],
)
@KINDS
def test_what_is_not_an_answer_is_an_error_and_not_a_search_without_hits(kind, fault, message):
    manners = Manners(seconds=5, attempts=1, per_second=1000, size=100_000)
    with SearchServer(WEB, [fault]) as web, pytest.raises(EngineError, match=message) as raised:
        engine(kind, web, manners).search(("Larnaca",))
    assert raised.value.hint
    assert "Larnaca" not in str(raised.value)
    assert "secret" not in str(raised.value)


@pytest.mark.parametrize(
    "body",
    [
        b"[]",
        b"null",
        b"7",
        b'"text"',
        b"{}",
        b'{"results": {}}',
        b'{"results": ["x"]}',
        b'{"results": [{"url": 1, "title": "x"}]}',
        b'{"results": [{"url": "x"}]}',
        b'{"results": [{"url": "x", "title": "x", "content": ["x"]}]}',
        b'{"error": {"type": "x"}, "status": 400}',
    ],
)
def test_json_of_another_shape_is_an_error_of_searxng(body):
    with SearchServer(WEB, [body]) as web, pytest.raises(EngineError, match="answers in JSON, but"):
        engine("searxng", web).search(("Larnaca",))


def shaped(hits=(), **other):
    return json.dumps(
        {"timed_out": False, "_shards": {"failed": 0}, "hits": {"hits": hits}, **other}
    ).encode()


@pytest.mark.parametrize(
    ("body", "message"),
    [
        (b"[]", "answers in JSON, but"),
        (b"{}", "answers in JSON, but"),
        (shaped(hits={}), "'hits' is not a list"),
        (shaped(hits=[7]), "'_id' is not a text"),
        (shaped(hits=[{"_id": "a"}]), "shows no text of its field body"),
        (shaped(hits=[{"_id": "a", "_source": {"body": 7}}]), "shows no text of its field body"),
        (shaped(hits=[{"_id": "a", "_source": [[["x"]]]}]), "shows no text of its field body"),
        (shaped(_shards={"failed": 1}), "a part of the index news alone"),
        (shaped(_shards={"failed": True}), "'failed' is not a number"),
        (shaped(timed_out=True), "a part of the index news alone"),
    ],
)
def test_json_of_another_shape_is_an_error_of_elasticsearch(body, message):
    with SearchServer(WEB, [body]) as web, pytest.raises(EngineError, match=message):
        engine("elasticsearch", web).search(("Larnaca",))


def test_engines_behind_searxng_that_do_not_answer_are_not_a_search_without_hits():
    body = json.dumps({"results": [], "unresponsive_engines": [["google", "CAPTCHA"]]}).encode()
    with SearchServer(WEB, [body]) as web, pytest.raises(EngineError, match="so that nothing was searched"):
        engine("searxng", web).search(("Larnaca",))


def test_names_are_of_bounded_length():
    body = json.dumps({"results": [{"url": "https://" + "x" * 10_000, "title": "T"}]}).encode()
    with SearchServer(WEB, [body]) as web:
        (hit,) = engine("searxng", web).search(("Larnaca",))
    assert len(hit.name) == 2000


def test_a_page_without_an_extract_is_a_hit():
    body = json.dumps({"results": [{"url": "x", "title": "<i>T</i>\u202e\x00", "content": None}]}).encode()
    with SearchServer(WEB, [body]) as web:
        (hit,) = engine("searxng", web).search(("Larnaca",))
    assert hit.text == "T\n"


@pytest.mark.parametrize(
    ("field", "source"),
    [
        ("body", {"body": ["one", "two"]}),
        ("a.b", {"a": [{"b": "one"}, {"b": "two"}]}),
        ("a.b", {"a.b": ["one", "two"]}),
    ],
)
def test_fields_of_elasticsearch_may_be_lists_and_objects(field, source):
    body = shaped(hits=[{"_id": "x", "_source": source}])
    with SearchServer(WEB, [body]) as web:
        (hit,) = Elasticsearch(Server(web.url, QUICK), "news", field).search(("Larnaca",))
    assert hit.text == "one\ntwo"


@pytest.mark.parametrize(
    ("index", "field"),
    [
        ("", "a"),
        ("_all", "a"),
        ("a,b", "a"),
        ("*", "a"),
        ("../x", "a"),
        ("..", "a"),
        ("A", "a"),
        ("a", ""),
        ("a", "*"),
    ],
)
def test_names_that_elasticsearch_would_read_otherwise(index, field):
    with pytest.raises(SpecError, match="not a valid name"):
        Elasticsearch(Server("https://search.example"), index, field)

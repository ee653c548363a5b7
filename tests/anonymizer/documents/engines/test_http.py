"""Servers that behave and that do not: what was not answered is an error, and nothing of it is shown."""

from __future__ import annotations

import json
import logging
import ssl
import threading
import time
from datetime import UTC, datetime, timedelta
from ipaddress import ip_address
from urllib.parse import unquote_plus

import pytest
from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.x509.oid import NameOID

from anonymizer.documents.engines.credentials import Secret, from_file, from_variable
from anonymizer.documents.engines.elasticsearch import Elasticsearch
from anonymizer.documents.engines.engine import EngineError
from anonymizer.documents.engines.http import Authorization, Manners, Server
from anonymizer.documents.engines.searxng import SearXNG
from anonymizer.errors import FileError, SpecError
from tests.anonymizer.documents.engines.server import LONGEST, SearchServer

WEB = {
    "a": "A plane accident at <em>Larnaca</em> &amp; Nicosia",
    "b": "Larnaca is a town by the sea",
    "c": "東京都の中学校の事故",
}
QUICK = Manners(seconds=5, attempts=1, per_second=1000)
KEY = "a-very-secret-key"


class Clock:
    """Seconds that pass when somebody sleeps."""

    def __init__(self):
        self.now, self.slept = 0.0, []

    def __call__(self):
        return self.now

    def sleep(self, seconds):
        if seconds:
            self.slept.append(seconds)
        self.now += seconds


def engine(kind, web, manners=QUICK, **named):
    server = Server(web.url, manners, **named)
    return SearXNG(server) if kind == "searxng" else Elasticsearch(server, "news", "body")


KINDS = pytest.mark.parametrize("kind", ["searxng", "elasticsearch"])


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
    "fault", ["hang", "drip headers", "drip one header", "drip body", "continue"], ids=lambda fault: fault
)
def test_a_request_ends_in_time_whatever_drips(fault):
    with SearchServer(WEB, [fault]) as web:
        begun = time.monotonic()
        with pytest.raises(EngineError, match=r"did not answer whole within 0\.4 s"):
            engine("searxng", web, Manners(seconds=0.4, attempts=1)).search(("Larnaca",))
        assert time.monotonic() - begun < LONGEST / 2
        # The thread of the request has ended too, since its connection was shut.
        while any(one.name == "search" for one in threading.enumerate()):
            assert time.monotonic() - begun < LONGEST
            time.sleep(0.01)


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


def test_what_passes_is_asked_again_after_longer_and_longer_waits():
    clock = Clock()
    faults = [503, "close", (429, {"Retry-After": "7"}), 502]
    with SearchServer(WEB, faults) as web:
        asked = engine("searxng", web, Manners(attempts=5), clock=clock, sleep=clock.sleep)
        assert len(asked.search(("Larnaca",))) == 2
        assert len(web.asked) == 5
    assert clock.slept == [1.0, 2.0, 7.0, 8.0]


def test_a_time_to_wait_may_be_a_date():
    clock = Clock()
    later = (datetime.now(UTC) + timedelta(seconds=30)).strftime("%a, %d %b %Y %H:%M:%S GMT")
    with SearchServer(WEB, [(503, {"Retry-After": later})]) as web:
        engine("searxng", web, Manners(), clock=clock, sleep=clock.sleep).search(("Larnaca",))
    assert 20 < clock.slept[0] <= 30


@pytest.mark.parametrize(
    ("header", "slept"), [("soon", [1.0]), ("-5", [1.0]), ("9" * 500, None), ("3600", None)]
)
def test_a_time_to_wait_is_not_trusted(header, slept):
    clock = Clock()
    with SearchServer(WEB, [(429, {"Retry-After": header})]) as web:
        asked = engine("searxng", web, Manners(), clock=clock, sleep=clock.sleep)
        if slept is None:
            with pytest.raises(EngineError, match=r"asks to wait .* more patience"):
                asked.search(("Larnaca",))
            assert not clock.slept
        else:
            asked.search(("Larnaca",))
            assert clock.slept == slept


def test_requests_keep_their_distance():
    clock = Clock()
    with SearchServer(WEB) as web:
        asked = engine("searxng", web, Manners(per_second=0.5), clock=clock, sleep=clock.sleep)
        for _ in range(3):
            asked.search(("Larnaca",))
        assert clock.slept == [2.0, 2.0]
        clock.now += 60
        asked.search(("Larnaca",))
    assert clock.slept == [2.0, 2.0]


def test_requests_keep_their_distance_by_the_clock_of_the_server():
    with SearchServer(WEB) as web:
        asked = engine("searxng", web, Manners(per_second=20))
        for _ in range(4):
            asked.search(("Larnaca",))
        times = [when for *_, when in web.asked]
    assert times[-1] - times[0] > 0.1


def test_nobody_listens():
    with SearchServer(WEB) as web:
        url = web.url
    with pytest.raises(EngineError, match="cannot be reached"):
        SearXNG(Server(url, QUICK)).search(("Larnaca",))


@pytest.mark.parametrize(
    ("url", "message"),
    [
        ("http://search.example", "without encryption.*plain = true"),
        ("http://127.0.0.1.example", "without encryption"),
        ("http://localhost.example", "without encryption"),
        ("https://me:secret@search.example", "holds credentials"),
        ("https://secret@search.example", "holds credentials"),
        ("https://search.example/?token=secret", "beyond a path"),
        ("https://search.example/#secret", "beyond a path"),
        ("https://search.example/a b", "beyond a path"),
        ("ftp://search.example", "not one of the web"),
        ("search.example", "not one of the web"),
        ("https://", "not one of the web"),
        ("https://[", "not valid"),
        ("https://search.example:99999", "not valid"),
        ("", "not one of the web"),
    ],
)
def test_addresses_that_are_refused(url, message):
    with pytest.raises(SpecError, match=message) as raised:
        Server(url)
    assert "secret" not in str(raised.value)


@pytest.mark.parametrize(
    "url", ["http://127.0.0.1:8080", "http://localhost", "http://[::1]:9200/base", "https://search.example/x"]
)
def test_addresses_that_are_taken(url):
    assert Server(url).shown == url


def test_plain_http_to_others_is_declared():
    assert Server("http://search.example/", plain=True).shown == "http://search.example"


@pytest.mark.parametrize(
    "wrong",
    [
        {"seconds": 0},
        {"seconds": float("nan")},
        {"attempts": 0},
        {"per_second": 0},
        {"per_second": -1},
        {"size": 0},
        {"patience": -1},
        {"patience": float("inf")},
    ],
)
def test_manners_that_cannot_be(wrong):
    with pytest.raises(SpecError):
        Manners(**wrong)


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
    assert from_variable("SEARCH_KEY").shown() == KEY
    path = tmp_path / "key"
    path.write_text(KEY + "\n")
    path.chmod(0o600)
    assert from_file(path).shown() == KEY


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


@pytest.fixture(scope="module")
def certificate(tmp_path_factory):
    """A certificate of 127.0.0.1 that no system trusts: its file, and a context for the server."""
    key = ec.generate_private_key(ec.SECP256R1())
    name = x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, "127.0.0.1")])
    made = (
        x509.CertificateBuilder()
        .subject_name(name)
        .issuer_name(name)
        .public_key(key.public_key())
        .serial_number(x509.random_serial_number())
        .not_valid_before(datetime.now(UTC) - timedelta(days=1))
        .not_valid_after(datetime.now(UTC) + timedelta(days=1))
        .add_extension(x509.SubjectAlternativeName([x509.IPAddress(ip_address("127.0.0.1"))]), critical=False)
        .add_extension(x509.BasicConstraints(ca=True, path_length=None), critical=True)
        .add_extension(x509.SubjectKeyIdentifier.from_public_key(key.public_key()), critical=False)
        .sign(key, hashes.SHA256())
    )
    folder = tmp_path_factory.mktemp("tls")
    (folder / "cert.pem").write_bytes(made.public_bytes(serialization.Encoding.PEM))
    (folder / "key.pem").write_bytes(
        key.private_bytes(
            serialization.Encoding.PEM, serialization.PrivateFormat.PKCS8, serialization.NoEncryption()
        )
    )
    context = ssl.create_default_context(ssl.Purpose.CLIENT_AUTH)
    context.load_cert_chain(folder / "cert.pem", folder / "key.pem")
    return folder / "cert.pem", context


def test_a_certificate_that_nobody_vouches_for_is_refused(certificate):
    with SearchServer(WEB, tls=certificate[1]) as web:
        with pytest.raises(EngineError, match="cannot be trusted"):
            engine("searxng", web).search(("Larnaca",))
        assert not web.asked


def test_a_certificate_of_a_named_authority_is_taken(certificate):
    with SearchServer(WEB, tls=certificate[1]) as web:
        assert len(engine("searxng", web, authorities=certificate[0]).search(("Larnaca",))) == 2


def test_a_certificate_of_another_name_is_refused(certificate):
    with SearchServer(WEB, tls=certificate[1]) as web:
        server = Server(web.url.replace("127.0.0.1", "localhost"), QUICK, authorities=certificate[0])
        with pytest.raises(EngineError, match="cannot be trusted"):
            SearXNG(server).search(("Larnaca",))
        assert not web.asked


def test_authorities_that_are_not_certificates(tmp_path):
    path = tmp_path / "x.pem"
    for text in (None, "nothing"):
        if text:
            path.write_text(text)
        with pytest.raises(FileError, match="certificates in"):
            Server("https://search.example", authorities=path)


def test_proxies_of_the_environment_are_used_and_named_without_their_credentials(monkeypatch):
    monkeypatch.setenv("http_proxy", "http://me:secret@127.0.0.1:9")
    monkeypatch.setenv("no_proxy", "near.example")
    server = Server("http://search.example", QUICK, plain=True)
    assert server.shown == "http://search.example by the proxy 127.0.0.1"
    with pytest.raises(EngineError, match="proxy before") as raised:
        SearXNG(server).search(("Larnaca",))
    assert "secret" not in str(raised.value)
    assert Server("http://near.example", plain=True).shown == "http://near.example"
    assert Server("http://127.0.0.1:1").shown == "http://127.0.0.1:1"


@pytest.mark.parametrize("proxy", ["socks5://127.0.0.1:9", "http://me:secret@127.0.0.1:99999", "ftp://x"])
def test_proxies_that_cannot_be_used(monkeypatch, proxy):
    monkeypatch.setenv("https_proxy", proxy)
    with pytest.raises(SpecError, match=r"names a proxy for https://search\.example that cannot") as raised:
        Server("https://search.example")
    assert "secret" not in str(raised.value)


def test_requests_go_by_the_proxy(monkeypatch):
    with SearchServer(WEB) as web:
        monkeypatch.setenv("http_proxy", web.url)
        with pytest.raises(EngineError):
            SearXNG(Server("http://search.example", QUICK, plain=True)).search(("Larnaca",))
        assert [path for path, *_ in web.asked] == ["http://search.example/search"]


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

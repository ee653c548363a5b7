"""Ways to a search server: certificates that somebody vouches for, and proxies of the environment."""

from __future__ import annotations

import ssl
from datetime import UTC, datetime, timedelta
from ipaddress import ip_address

import pytest
from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.x509.oid import NameOID

from anonymizer.documents.engines.engine import EngineError
from anonymizer.documents.engines.http import Server
from anonymizer.documents.engines.searxng import SearXNG
from anonymizer.errors import FileError, SpecError
from tests.anonymizer.documents.engines.asking import QUICK, WEB, engine
from tests.anonymizer.documents.engines.server import SearchServer


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

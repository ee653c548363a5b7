"""The port for peers: TLS 1.3 only, pinned certificates on every service, bounded calls."""

from __future__ import annotations

import socket
import ssl
from contextlib import suppress
from dataclasses import replace

import grpc
import pytest
from grpc_health.v1 import health_pb2, health_pb2_grpc

from parties.config import Address, Keepalive
from parties.doctor import _key_exchange
from parties.errors import ConfigError, PairingError, PeerBusy, PeerRefused, PeerUntrusted
from parties.findings import Status
from parties.pki import certificate
from parties.ports.terms import NEWEST, Terms
from parties.rpc import tls
from parties.rpc.client import PROBE_BLOB
from parties.rpc.greeting import check_greeting, make_greeting
from parties.rpc.pb.duetto.v1 import peer_pb2 as pb
from parties.rpc.reach import Stage, reach
from parties.rpc.refusal import CODE_KEY, clean, refusal_error
from parties.session.pins import Pins
from smc.errors import ProtocolViolation
from smc.forms import Role
from tests.parties.rpc.harness import NORTH, SOUTH, dialling, listening, public
from tests.support import keys


@pytest.fixture(scope="module")
def south():
    with listening(SOUTH, public(NORTH)) as party:
        yield party


@pytest.fixture
def directory(south):
    with dialling(NORTH, public(SOUTH), south.server.address) as made:
        yield made


def shake(address, version, tmp_path):
    """Shake hands with the right client certificate in one version of TLS; returns what was agreed."""
    pair = tmp_path / "pair.pem"
    pair.write_bytes(NORTH.tls_key + NORTH.certificate)
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
    context.check_hostname = False
    context.load_verify_locations(cadata=SOUTH.certificate.decode())
    context.load_cert_chain(pair)
    context.set_alpn_protocols(["h2"])
    context.minimum_version = context.maximum_version = version
    plain = socket.create_connection((address.host, address.port), 10)
    with plain, context.wrap_socket(plain) as secured:
        return secured.version()


def test_tls_1_3_works(south, tmp_path):
    assert shake(south.server.address, ssl.TLSVersion.TLSv1_3, tmp_path) == "TLSv1.3"


@pytest.mark.filterwarnings("ignore::DeprecationWarning")
@pytest.mark.parametrize("version", [ssl.TLSVersion.TLSv1_2, ssl.TLSVersion.TLSv1_1])
def test_older_tls_fails(south, tmp_path, version):
    with pytest.raises(OSError):
        shake(south.server.address, version, tmp_path)
    assert not tls.speaks_old_tls(south.server.address)


@pytest.mark.parametrize("asks", [False, True], ids=["of-anybody", "with-certificates"])
def test_the_look_at_old_tls_can_find_it(asks):
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.maximum_version = ssl.TLSVersion.TLSv1_2
    import tempfile
    import threading

    with tempfile.NamedTemporaryFile() as pair:
        pair.write(SOUTH.tls_key + SOUTH.certificate)
        pair.flush()
        context.load_cert_chain(pair.name)
    if asks:
        context.verify_mode = ssl.CERT_REQUIRED
        context.load_verify_locations(cadata=SOUTH.certificate.decode())
    with socket.create_server(("127.0.0.1", 0)) as server:

        def serve():
            plain, _ = server.accept()
            with plain, suppress(OSError), context.wrap_socket(plain, server_side=True):
                pass

        thread = threading.Thread(target=serve, daemon=True)
        thread.start()
        assert tls.speaks_old_tls(Address("127.0.0.1", server.getsockname()[1]))
        thread.join(10)


def test_plain_connections_get_nothing(south):
    with grpc.insecure_channel(str(south.server.address)) as channel, pytest.raises(grpc.RpcError):
        channel.unary_unary("/duetto.v1.Peer/Hello")(b"", timeout=5)


def test_no_certificate_no_service(south):
    credentials = grpc.ssl_channel_credentials(SOUTH.certificate)
    name = (("grpc.ssl_target_name_override", "duetto.south"),)
    channel = grpc.secure_channel(str(south.server.address), credentials, name)
    with channel, pytest.raises(grpc.RpcError):
        health_pb2_grpc.HealthStub(channel).Check(health_pb2.HealthCheckRequest(), timeout=5)


def test_health_for_peers(south):
    with tls.dial(NORTH, public(SOUTH), south.server.address, Keepalive()) as channel:
        stub = health_pb2_grpc.HealthStub(channel)
        request = health_pb2.HealthCheckRequest(service="duetto.v1.Peer")
        assert stub.Check(request, timeout=5).status == health_pb2.HealthCheckResponse.SERVING
        watch = stub.Watch(request, timeout=5)
        assert next(watch).status == health_pb2.HealthCheckResponse.SERVING
        watch.cancel()


def test_credentials_never_change_while_handshakes_run(monkeypatch):
    """A new configuration at a handshake is freed while others take it up, which ends the process."""
    fetchers, heard = [], []
    monkeypatch.setattr(
        grpc, "dynamic_ssl_server_credentials", lambda first, fetch, **_: fetchers.append(fetch)
    )
    tls.server_credentials(SOUTH, NORTH.certificate, lambda: heard.append(1))
    assert [fetchers[0]() for _ in range(3)] == [None] * 3
    assert len(heard) == 3


@pytest.mark.attack
def test_headers_of_a_peer_are_bounded(south):
    """12 kB would pass by the bound of the library, sent on in continuation frames."""
    with tls.dial(NORTH, public(SOUTH), south.server.address, Keepalive()) as channel:
        stub = health_pb2_grpc.HealthStub(channel)
        request = health_pb2.HealthCheckRequest(service="duetto.v1.Peer")
        for _ in range(8):
            with pytest.raises(grpc.RpcError) as refused:
                stub.Check(request, timeout=5, metadata=[(f"x-{n}", "a" * 900) for n in range(13)])
            assert refused.value.code() == grpc.StatusCode.RESOURCE_EXHAUSTED
        stub.Check(request, timeout=5)


class Context:
    """A `ServicerContext` as far as `Pins` uses it."""

    def __init__(self, pem: bytes | None) -> None:
        self.pem = pem
        self.metadata = ()

    def auth_context(self):
        return {} if self.pem is None else {"x509_pem_cert": [self.pem]}

    def set_trailing_metadata(self, metadata):
        self.metadata = metadata

    def abort(self, status, details):
        raise RuntimeError(status, details)


def test_the_second_look_at_the_pin():
    pins = Pins({"north": public(NORTH)}, 1)
    assert pins.name(Context(NORTH.certificate)) == "north"
    other, _ = certificate.make("north")
    for pem in (other, None, b"nonsense", b"\xff"):
        context = Context(pem)
        with pytest.raises(RuntimeError, match="refused"):
            pins.name(context)
        assert context.metadata == ((CODE_KEY, "peer-untrusted"),)


def test_an_expired_certificate_is_refused(south):
    import datetime as dt

    pem, tls_key = certificate.make("north", dt.datetime.now(dt.UTC) - dt.timedelta(days=400))
    expired = replace(NORTH, certificate=pem, tls_key=tls_key)
    with (
        listening(SOUTH, public(expired)) as other,
        dialling(expired, public(SOUTH), other.server.address) as directory,
        pytest.raises(PeerUntrusted),
    ):
        directory.client("south").hello()


def test_hello(directory):
    hello = directory.client("south").hello()
    assert hello.version == NEWEST
    assert abs(hello.clock_seconds) < 60


def test_the_answer_names_the_key_exchange_of_the_connection(directory):
    assert directory.client("south").hello().key_exchange == tls.HYBRID_GROUP


def test_a_greeting_with_another_name_for_it_than_a_name_is_refused():
    greeting = make_greeting(NORTH, Terms(), key_exchange="x" * 40)
    assert greeting.key_exchange == "x" * 32
    for wrong in ("x" * 33, "a\nb"):
        greeting.key_exchange = wrong
        with pytest.raises(ProtocolViolation, match="malformed"):
            check_greeting(greeting, "north")


@pytest.mark.parametrize(
    ("group", "verdict"),
    [(tls.HYBRID_GROUP, Status.OK), ("X25519", Status.WARN), ("", Status.WARN)],
)
def test_doctor_warns_of_another_key_exchange(group, verdict):
    found = _key_exchange("south", group)
    assert found.verdict is verdict
    assert (group or "unknown") in found.what


def test_hello_with_another_key(south):
    other = replace(public(SOUTH), paillier=keys.paper(Role.BOB).public)
    with (
        dialling(NORTH, other, south.server.address) as directory,
        pytest.raises(PairingError, match="Paillier"),
    ):
        directory.client("south").hello()


def test_hello_under_another_name(south):
    stranger = replace(NORTH, name="stranger")
    with (
        dialling(stranger, public(SOUTH), south.server.address) as directory,
        pytest.raises(PeerRefused, match="'pairing'"),
    ):
        directory.client("south").hello()


def test_measure(directory):
    line = directory.client("south").measure(pings=3)
    assert line.rtt_ms > 0
    assert line.up_mbit > 0
    assert line.down_mbit > 0


@pytest.mark.parametrize(
    "blobs",
    [
        [pb.Blob(sequence=1)],
        [pb.Blob(sequence=0, want=PROBE_BLOB + 1)],
        [pb.Blob(sequence=0, data=bytes(PROBE_BLOB + 1))],
        [pb.Blob(sequence=n, want=PROBE_BLOB) for n in range(40)],
    ],
    ids=["sequence", "want", "data", "total"],
)
def test_probes_are_bounded(directory, blobs):
    client = directory.client("south")
    with pytest.raises(PeerRefused, match="protocol-violation"):
        client._call("Probe", lambda: list(client._stub.Probe(iter(blobs), timeout=10)))


def test_job_messages_are_bounded(directory, south, monkeypatch):
    client = directory.client("south")
    with pytest.raises(ProtocolViolation):
        client.propose(bytes((256 << 10) + 1))
    with pytest.raises(PeerRefused, match="protocol-violation"):
        client._call("x", lambda: client._stub.Propose(pb.JobMessage(body=bytes((256 << 10) + 1)), timeout=5))
    with monkeypatch.context() as patch:
        patch.setattr(south.jobs, "answer", lambda peer, body: bytes((256 << 10) + 1))
        with pytest.raises(ProtocolViolation, match="answer"):
            client.propose(b"x")
    assert client.tell(b"t") == b"north:t"


def test_errors_of_the_jobs_cross_as_codes_only(directory, south, monkeypatch, caplog):
    def fail(peer, body):
        raise ConfigError("secret-canary", code="some-code")

    def break_down(peer, body):
        raise ZeroDivisionError("secret-canary")

    for answer, code in ((fail, "some-code"), (break_down, "internal")):
        monkeypatch.setattr(south.jobs, "answer", answer)
        caplog.clear()
        with pytest.raises(PeerRefused, match=f"'{code}'") as caught:
            directory.client("south").propose(b"x")
        assert "canary" not in str(caught.value)
    assert "canary" not in caplog.text


def test_an_address_in_use(south):
    from parties.ports.terms import Terms
    from parties.session.server import PeerServer

    with pytest.raises(ConfigError, match="cannot be listened on"):
        PeerServer(
            south.server.address,
            SOUTH,
            {},
            keepalive=Keepalive(),
            sessions=1,
            runner=south.runner,
            port=south.jobs,
            terms=Terms(),
        )


def test_reach_finds_what_does_not_speak_tls():
    import threading

    with socket.create_server(("127.0.0.1", 0)) as server:

        def serve():
            plain, _ = server.accept()
            with plain:
                plain.recv(100)
                plain.sendall(b"HTTP/1.1 400 Bad Request\r\n\r\n")

        thread = threading.Thread(target=serve, daemon=True)
        thread.start()
        found = reach(Address("127.0.0.1", server.getsockname()[1]), public(SOUTH), NORTH)
        thread.join(10)
    assert found.stage is Stage.TLS
    assert found.hint


def test_reach_of_a_good_peer(south):
    assert reach(south.server.address, public(SOUTH), NORTH).stage is Stage.OPEN


def test_codes_are_cleaned():
    assert clean("good-code-1") == "good-code-1"
    assert clean("Bad\ncode") == "unknown"
    assert isinstance(refusal_error("south", "busy"), PeerBusy)
    assert "\n" not in str(refusal_error("south", "evil\x1b[0m\n"))

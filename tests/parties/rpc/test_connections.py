"""How many connections the port has: of strangers by address and in all, of each peer, and for how long."""

from __future__ import annotations

import os
import queue
import resource
import selectors
import socket
import threading
from contextlib import ExitStack, contextmanager, suppress

import grpc
import pytest

from parties.config import Address, Keepalive
from parties.rpc import tls
from parties.rpc.connections import OF_ONE_ADDRESS, OF_ONE_PEER, Connections, _named_end, _network
from parties.rpc.pb.duetto.v1 import peer_pb2 as pb
from parties.rpc.refusal import CODE_KEY
from tests.parties.rpc.harness import NORTH, SOUTH, dialling, listening, public
from tests.parties.rpc.test_strangers import strangers


class Port:
    """A port of this process that takes connections and does nothing with them, as gRPC before a call."""

    def __init__(self, stack: ExitStack, **bounds: float) -> None:
        self.now = 0.0
        self.near: list[socket.socket] = []
        self._stack = stack
        self._listening = stack.enter_context(socket.create_server(("127.0.0.1", 0)))
        self.connections = Connections(clock=lambda: self.now, **bounds)
        self.connections._port = self._listening.getsockname()[1]

    def connect(self, host: str = "127.0.0.1") -> tuple[socket.socket, str]:
        """The far end of a new connection, and how gRPC calls it."""
        far = self._stack.enter_context(socket.socket())
        far.bind((host, 0))
        far.connect(self._listening.getsockname())
        self.near.append(self._stack.enter_context(self._listening.accept()[0]))
        far.settimeout(10)
        return far, f"ipv4:{host}:{far.getsockname()[1]}"


def is_open(far: socket.socket) -> bool:
    far.setblocking(False)
    try:
        return far.recv(1) != b""
    except BlockingIOError:
        return True
    except ConnectionError:
        return False


@pytest.fixture
def stack():
    with ExitStack() as made:
        yield made


def test_the_oldest_strangers_of_an_address_go(stack):
    port = Port(stack, of_one_address=3)
    made = []
    for port.now in range(10):
        made.append(port.connect()[0])
        port.connections.look()
    other, _ = port.connect("127.0.0.2")
    assert port.connections.look() == 4
    assert [is_open(far) for far in made] == [False] * 7 + [True] * 3
    assert is_open(other)


def test_the_oldest_strangers_of_many_addresses_go(stack):
    port = Port(stack, strangers=5)
    made = []
    for port.now in range(12):
        made.append(port.connect(f"127.0.1.{1 + int(port.now)}")[0])
        port.connections.look()
    assert [is_open(far) for far in made] == [False] * 7 + [True] * 5


def test_a_connection_that_brings_no_call_goes_in_time_and_one_that_did_stays(stack):
    port = Port(stack, silent_seconds=15)
    silent, _ = port.connect()
    calling, name = port.connect()
    assert port.connections.look() == 2
    assert port.connections.admit("north", name)
    port.now = 15.5
    assert port.connections.look() == 0
    assert not is_open(silent)
    assert is_open(calling)


def test_a_connection_that_brings_bytes_and_no_call_goes(stack):
    """The attack: headers without end, all of which gRPC holds, are no call."""
    port = Port(stack, silent_bytes=1000)
    (many, _), (few, _), (calling, name) = port.connect(), port.connect(), port.connect()
    assert port.connections.look() == 3
    assert port.connections.admit("north", name)
    for far, near, number in zip((many, few, calling), port.near, (1001, 1000, 2000), strict=True):
        far.sendall(bytes(number))
        near.recv(number, socket.MSG_WAITALL)
    assert port.connections.look() == 1
    assert [is_open(far) for far in (many, few, calling)] == [False, True, True]


def test_a_peer_has_so_many_connections_and_those_that_are_closed_count_no_more(stack):
    port = Port(stack, of_one_peer=2)
    (first, one), (_, two), (_, three) = port.connect(), port.connect(), port.connect()
    assert port.connections.admit("north", one)
    assert port.connections.admit("north", two)
    assert port.connections.admit("north", two)
    assert not port.connections.admit("north", three)
    assert port.connections.admit("west", three)
    first.close()
    port.near[0].close()
    _, four = port.connect()
    assert port.connections.admit("north", four)


def test_sockets_of_others_are_left_alone(stack):
    port = Port(stack, of_one_address=0, strangers=0)
    other = stack.enter_context(socket.create_server(("127.0.0.1", 0)))
    far = stack.enter_context(socket.create_connection(other.getsockname()))
    near = stack.enter_context(other.accept()[0])
    mine, _ = port.connect()
    port.connections.look()
    assert not is_open(mine)
    assert is_open(far)
    assert is_open(near)


@pytest.mark.parametrize(
    ("name", "end"),
    [
        ("ipv4:10.0.0.7:443", ("10.0.0.7", 443)),
        ("ipv6:%5B2001:db8::1%5D:443", ("2001:db8::1", 443)),
        ("ipv6:[::ffff:10.0.0.7]:443", ("10.0.0.7", 443)),
        ("ipv6:%5Bfe80::1%25eth0%5D:443", ("fe80::1", 443)),
        ("unix:/run/x", None),
        ("", None),
    ],
)
def test_names_of_grpc_are_far_ends(name, end):
    assert _named_end(name) == end


def test_one_host_of_ipv6_is_a_network():
    assert _network(("2001:db8::1", 1)) == _network(("2001:db8::ffff:1", 2)) == "2001:db8::/64"
    assert _network(("10.0.0.7", 1)) != _network(("10.0.0.8", 1))


def test_strangers_of_one_address_neither_stay_nor_keep_a_peer_there_out(monkeypatch):
    """Before there was a bound all of them stayed until the handshake timeout, here an hour."""
    monkeypatch.setattr(tls, "HANDSHAKE_MS", 3_600_000)
    with listening(SOUTH, public(NORTH)) as south:
        idle = strangers(south.server.address, 200)
        with dialling(NORTH, public(SOUTH), south.server.address) as directory:
            assert directory.client("south").hello().version
        with selectors.DefaultSelector() as ends:
            for plain in idle:
                ends.register(plain, selectors.EVENT_READ)
            for _ in range(200 - OF_ONE_ADDRESS):
                (ready, _), *_ = ends.select(30)
                ends.unregister(ready.fileobj)
        for plain in idle:
            plain.close()


def test_a_peer_that_opens_connection_after_connection_is_refused(stack):
    """Before, 1,500 connections of one peer stayed open."""
    with listening(SOUTH, public(NORTH)) as south:
        codes = []
        for number in range(OF_ONE_PEER + 8):
            channel = stack.enter_context(own_channel(south.server.address, number))
            call = channel.unary_unary("/duetto.v1.Peer/Tell", pb.JobMessage.SerializeToString)
            try:
                call(pb.JobMessage(body=b"x"), timeout=20)
            except grpc.RpcError as error:
                codes.append(dict(error.trailing_metadata())[CODE_KEY])
        assert codes == ["busy"] * 8


def own_channel(address: Address, number: int) -> grpc.Channel:
    """A channel with a connection of its own: gRPC shares those of channels with the same options."""
    return grpc.secure_channel(
        str(address),
        grpc.ssl_channel_credentials(SOUTH.certificate, NORTH.tls_key, NORTH.certificate),
        (
            ("grpc.ssl_target_name_override", "duetto.south"),
            ("grpc.use_local_subchannel_pool", 1),
            ("duetto.number", number),
        ),
    )


def test_a_connection_without_calls_ends_and_the_next_call_makes_another(monkeypatch):
    monkeypatch.setattr(tls, "IDLE_MS", 500)
    with (
        listening(SOUTH, public(NORTH)) as south,
        dialling(NORTH, public(SOUTH), south.server.address, keepalive=Keepalive()) as directory,
    ):
        client = directory.client("south")
        assert client.hello().version
        states: queue.Queue[grpc.ChannelConnectivity] = queue.Queue()
        client._channel.subscribe(states.put)
        while states.get(timeout=30) is not grpc.ChannelConnectivity.IDLE:
            pass
        client._channel.unsubscribe(states.put)
        assert client.hello().version


def test_strangers_are_counted_where_no_file_is_left(stack):
    """The attack: with too many open files the thread that counts them ended, and nothing bounded them."""
    port = Port(stack, of_one_address=3)
    made = []
    for port.now in range(10):
        made.append(port.connect()[0])
        port.connections.look()
    made += [port.connect()[0] for _ in range(4)]
    with no_files_left():
        assert port.connections.look() == 3
    assert sum(is_open(far) for far in made) == 3


@contextmanager
def no_files_left():
    limits = resource.getrlimit(resource.RLIMIT_NOFILE)
    taken = [os.dup(0)]
    resource.setrlimit(resource.RLIMIT_NOFILE, (max(map(int, os.listdir("/proc/self/fd"))) + 8, limits[1]))
    try:
        with suppress(OSError):
            while True:
                taken.append(os.dup(0))
        yield
    finally:
        for descriptor in taken:
            os.close(descriptor)
        resource.setrlimit(resource.RLIMIT_NOFILE, limits)


def test_the_thread_that_counts_goes_on_after_a_defect(monkeypatch, caplog):
    connections, again = Connections(), threading.Event()
    looks = iter([OSError("a defect"), None])

    def look():
        if problem := next(looks, None):
            raise problem
        again.set()
        return 0

    monkeypatch.setattr(connections, "look", look)
    connections.start(1)
    connections.wake()
    try:
        assert again.wait(60)
    finally:
        connections.stop()
    assert "cannot be counted: OSError: a defect" in caplog.text


def test_the_port_takes_so_many_connections_and_no_more(monkeypatch):
    """Before they are counted: what comes beyond is closed at once, and leaves files for all else."""
    monkeypatch.setattr(tls, "MOST_CONNECTIONS", 5)
    with listening(SOUTH, public(NORTH)) as south:
        made = strangers(south.server.address, 20)
        with ExitStack() as stack, selectors.DefaultSelector() as waiting:
            for far in map(stack.enter_context, made):
                waiting.register(far, selectors.EVENT_READ)
            gone = 0
            while gone < 15:
                ready = waiting.select(4)  # handshakes time out after 5 s
                assert ready
                for key, _ in ready:
                    waiting.unregister(key.fileobj)
                    gone += 1
            assert not waiting.select(0)


@pytest.mark.parametrize(
    ("files", "most"), [(64, 32), (1024, 512), (1 << 20, 2048), (resource.RLIM_INFINITY, 2048)]
)
def test_half_of_the_files_are_left_for_all_else(monkeypatch, files, most):
    monkeypatch.setattr(resource, "getrlimit", lambda _: (files, files))
    assert tls.most_connections() == most

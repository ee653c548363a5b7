"""What every transport must do: order, large messages, close, timeout, and a stream that ends without END."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass

import numpy as np
import pytest

from parties.config import Limits
from parties.rpc.emulation import EmulatedTransport
from parties.rpc.transport import GrpcTransport
from smc.channel.channel import Channel, Transport
from smc.channel.memory import memory_pair
from smc.channel.message import FRAME_BYTES, Frame, Message
from smc.channel.vectors import ByteRows, ExpectedByteRows
from smc.errors import PeerAborted, PeerLost
from tests.parties.rpc import harness

TIMEOUT = 1.0


@dataclass(frozen=True)
class Parcel(Message, kind="test-conformance-parcel"):
    body: ByteRows


@contextmanager
def memory() -> Iterator[tuple[Transport, Transport]]:
    yield memory_pair(TIMEOUT)


@contextmanager
def emulated() -> Iterator[tuple[Transport, Transport]]:
    ends = memory_pair(TIMEOUT)
    slow = EmulatedTransport(ends[0], 4, 2000), EmulatedTransport(ends[1], 4, 2000)
    yield slow
    for end in slow:
        end.close()


@contextmanager
def network() -> Iterator[tuple[Transport, Transport]]:
    """Both ends of a real stream over mutual TLS, the dialler's first."""
    limits = Limits(sessions=2, message_seconds=1, job_seconds=30)
    taken: list[Transport] = []
    ready, done = threading.Event(), threading.Event()

    with ExitStack() as stack:
        south = stack.enter_context(
            harness.listening(harness.SOUTH, harness.public(harness.NORTH), limits=limits)
        )

        def serve(stream, accept):
            del accept
            taken.append(GrpcTransport(stream))
            ready.set()
            done.wait(30)
            stream.finish(2)

        south.runner.serve = serve
        north = stack.enter_context(
            harness.dialling(harness.NORTH, harness.public(harness.SOUTH), south.server.address, limits)
        )
        stream = north._runner.stream("south")
        north.client("south").open(stream)
        assert ready.wait(10)
        try:
            yield GrpcTransport(stream), taken[0]
        finally:
            done.set()
            stream.finish(2)


@pytest.fixture(params=[memory, emulated, network], ids=lambda make: make.__name__)
def ends(request) -> Iterator[tuple[Transport, Transport]]:
    with request.param() as pair:
        yield pair


def parcel(size: int, seed: int) -> Parcel:
    rows = np.random.default_rng(seed).integers(0, 256, (1, size), dtype=np.uint8)
    return Parcel(ByteRows(rows))


def in_thread(work) -> threading.Thread:
    thread = threading.Thread(target=work, daemon=True)
    thread.start()
    return thread


def test_frames_keep_their_order(ends):
    one, other = ends
    frames = [Frame(n, "kind", n + 1, 2, n.to_bytes(2, "big")) for n in range(300)]
    sender = in_thread(lambda: [one.send(frame) for frame in frames])
    assert [other.receive() for _ in frames] == frames
    sender.join(10)


def test_both_directions_at_once(ends):
    channels = [Channel(end) for end in ends]
    size = 5 * FRAME_BYTES + 17
    got: dict[int, bytes] = {}

    def talk(place: int) -> None:
        channel = channels[place]
        channel.send(parcel(size, place))
        got[place] = channel.recv(Parcel, ExpectedByteRows(1, size)).tobytes()
        channel.finish()

    threads = [in_thread(lambda place=place: talk(place)) for place in (0, 1)]
    for thread in threads:
        thread.join(20)
        assert not thread.is_alive()
    assert got[0] == parcel(size, 1).encode()
    assert got[1] == parcel(size, 0).encode()
    assert channels[0].traffic.rounds == 1
    assert channels[0].traffic.sent == size


def test_silence_ends_with_the_timeout(ends):
    with pytest.raises(PeerLost):
        ends[0].receive()


def test_close_wakes_the_own_reader(ends):
    failures = []

    def read() -> None:
        try:
            ends[0].receive()
        except PeerLost as error:
            failures.append(error)

    reader = in_thread(read)
    ends[0].close()
    reader.join(10)
    assert not reader.is_alive()
    assert failures


def test_an_end_without_end_is_a_loss(ends):
    one, other = ends
    one.send(Frame(0, "kind", 1, 1, b"x"))
    one.close()
    channel = Channel(other)
    assert other.receive().data == b"x"
    with pytest.raises(PeerLost):
        channel.finish()


def test_close_twice(ends):
    ends[0].close()
    ends[0].close()


def test_abort_carries_its_code(ends):
    one, other = (Channel(end) for end in ends)
    one.abort("some-code")
    with pytest.raises(PeerAborted, match="some-code"):
        other.recv(Parcel, ExpectedByteRows(1, 4))


def test_end_from_both(ends):
    channels = [Channel(end) for end in ends]
    threads = [in_thread(channel.finish) for channel in channels]
    for thread in threads:
        thread.join(10)
        assert not thread.is_alive()


def test_a_peer_that_does_not_read_holds_the_sender_up():
    with network() as (one, _):
        piece = bytes(FRAME_BYTES)

        def flood() -> None:
            for number in range(2000):
                one.send(Frame(number, "kind", 1, FRAME_BYTES, piece))

        with pytest.raises(PeerLost, match="read nothing"):
            flood()

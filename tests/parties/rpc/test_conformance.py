"""What every transport must do, by the checks that anybody can run; and messages in many frames."""

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
from smc.channel.channel import Channel
from smc.channel.memory import memory_pair
from smc.channel.message import FRAME_BYTES, Frame, Message
from smc.channel.transport import Transport
from smc.channel.vectors import ByteRows, ExpectedByteRows
from smc.errors import PeerLost
from smc.testing import ConformanceError, check_transport
from smc.testing.transports import CHECKS
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


@pytest.mark.parametrize("check", CHECKS, ids=lambda check: check.__name__)
def test_transports_keep_to_their_interface(check, ends):
    check(*ends)


def test_all_checks_in_one_call():
    assert len(check_transport(memory)) == len(CHECKS)


class Reversing:
    """A transport that delivers in another order."""

    def __init__(self, inner):
        self._inner = inner
        self._held = []

    def send(self, frame):
        self._inner.send(frame)

    def receive(self):
        if not self._held:
            self._held = [self._inner.receive() for _ in range(2)]
        return self._held.pop()

    def close(self):
        self._inner.close()


def test_another_order_is_found():
    @contextmanager
    def reversing():
        one, other = memory_pair(TIMEOUT)
        yield one, Reversing(other)

    with pytest.raises(ConformanceError, match="order"):
        check_transport(reversing)


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


def test_a_peer_that_does_not_read_holds_the_sender_up():
    with network() as (one, _):
        piece = bytes(FRAME_BYTES)

        def flood() -> None:
            for number in range(2000):
                one.send(Frame(number, "kind", 1, FRAME_BYTES, piece))

        with pytest.raises(PeerLost, match="read nothing"):
            flood()


def test_the_data_of_large_frames_come_without_a_copy():
    with network() as ends:
        for one, other in (ends, ends[::-1]):
            one.send(sent := Frame(0, "kind", 1, FRAME_BYTES, bytes(FRAME_BYTES)))
            got = other.receive()
            assert got == sent
            assert isinstance(got.data, memoryview)

"""Sessions whose connection is cut, stalled or spoiled: the right result, or a typed error on both sides."""

from __future__ import annotations

import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace

import numpy as np
import pytest

from parties.config import Keepalive, Limits
from parties.errors import PeerBusy
from parties.jobs.courier import AWAY
from parties.rpc.pb.duetto.v1 import peer_pb2 as pb
from parties.rpc.stream import PacketStream
from parties.session import handshake
from smc.channel.message import FRAME_BYTES, Message
from smc.channel.vectors import ByteRows, ExpectedByteRows
from smc.errors import Cancelled, DuettoError, PeerLost
from smc.forms import Role
from tests.parties.rpc.harness import JOB, NORTH, SOUTH, Ending, child, dialling, listening, public, task
from tests.parties.rpc.parcel import SIZE, Parcel, parcel
from tests.parties.rpc.proxy import Proxy, proxied

PATIENT = Limits(sessions=2, message_seconds=10, job_seconds=60, reconnect_seconds=20)
SIZES = (1, 300, 0, 2 * FRAME_BYTES + 5, 64, 64)
"""Bytes of the messages that the sides send in turns; 8 frames each way, and END."""


@dataclass(frozen=True)
class Leaf(Message, kind="test-resuming-leaf"):
    body: ByteRows


def page(role: Role, number: int) -> bytes:
    seed = 2 * number + (role is Role.ALICE)
    return np.random.default_rng(seed).integers(0, 256, SIZES[number], dtype=np.uint8).tobytes()


def talk(session) -> None:
    """Messages in turns and, the large ones, crossing each other; each checked to the last byte."""
    channel, role = session.channel, session.role
    for number, size in enumerate(SIZES):
        crossing = size > FRAME_BYTES
        if crossing or role is Role.ALICE:
            channel.send(Leaf(rows(page(role, number))))
        got = channel.recv(Leaf, ExpectedByteRows(1, size)).tobytes()
        if got != page(role.other, number):
            raise AssertionError("other bytes came than were sent")
        if not crossing and role is Role.BOB:
            channel.send(Leaf(rows(page(role, number))))


def rows(data: bytes) -> ByteRows:
    return ByteRows(np.frombuffer(data, np.uint8).reshape(1, -1))


class Counting:
    """A transport that does something around its n-th frame."""

    def __init__(self, inner, place: tuple[str, int], act) -> None:
        self._inner = inner
        self._place = place
        self._act = act
        self._counts = {"send": 0, "receive": 0}

    def send(self, frame) -> None:
        self._inner.send(frame)
        self._count("send")

    def receive(self):
        frame = self._inner.receive()
        self._count("receive")
        return frame

    def close(self) -> None:
        self._inner.close()

    def _count(self, doing: str) -> None:
        self._counts[doing] += 1
        if (doing, self._counts[doing]) == self._place:
            self._act()


class Run:
    """One session between north, who dials through a proxy, and south."""

    def __init__(self, limits: Limits, keepalive: Keepalive | None = None) -> None:
        self.limits = limits
        self.keepalive = keepalive
        self.ended = {name: Ending() for name in ("north", "south")}
        self.traffic: dict[str, object] = {}

    @contextmanager
    def between(self, acts=None) -> Iterator[tuple[Proxy, object, object]]:
        """The proxy and both parties; `acts` says by party before which frame to do what with the proxy."""
        box: list[Proxy] = []

        def wrap(name: str):
            if acts is None or name not in acts:
                return None
            place, act = acts[name]
            return lambda inner: Counting(inner, place, lambda: act(box[0]))

        with (
            listening(
                SOUTH, public(NORTH), limits=self.limits, keepalive=self.keepalive, wrap=wrap("south")
            ) as south,
            proxied(south.server.address) as proxy,
        ):
            box.append(proxy)
            with dialling(
                NORTH,
                public(SOUTH),
                proxy.address,
                self.limits,
                self.keepalive,
                wrap=wrap("north"),
            ) as directory:
                yield proxy, south, directory

    def go(self, south, directory, north_runs=talk, south_runs=talk) -> DuettoError | None:
        """Run the session; returns how it ended for north."""

        def noting(name, run):
            def noted(session):
                try:
                    run(session)
                finally:
                    self.traffic[name] = session.channel.traffic

            return noted

        south.jobs.tasks[JOB] = task(Role.BOB, noting("south", south_runs), self.ended["south"])
        try:
            directory.run_session("south", task(Role.ALICE, noting("north", north_runs), self.ended["north"]))
        except DuettoError as error:
            return error
        return None


def run_with(acts, limits: Limits = PATIENT, keepalive: Keepalive | None = None) -> tuple[Run, int]:
    """A run in which something happens to the connection, and how many connections there were."""
    run = Run(limits, keepalive)
    with run.between(acts) as (proxy, south, directory):
        error = run.go(south, directory)
        assert error is None, error
        assert run.ended["south"].wait() is None
        return run, proxy.connections


@pytest.fixture(scope="module")
def usual():
    """The traffic of a run that nothing happens to."""
    run, connections = run_with(None)
    assert connections >= 1
    return run.traffic


FRAMES = 9
EVERYWHERE = [
    (side, (doing, number))
    for side in ("north", "south")
    for doing in ("send", "receive")
    for number in range(1, FRAMES + 1)
]
SAMPLE = EVERYWHERE[:: len(EVERYWHERE) // 6]


@pytest.mark.parametrize(
    ("side", "place"),
    [
        pytest.param(side, place, marks=() if (side, place) in SAMPLE else pytest.mark.slow)
        for side, place in EVERYWHERE
    ],
)
def test_a_cut_at_any_frame_changes_nothing(usual, side, place):
    run, connections = run_with({side: (place, Proxy.cut)})
    assert connections >= 2
    assert run.traffic == usual


def test_many_cuts_of_one_session(usual):
    class Often(Counting):
        def _count(self, doing):
            self._counts[doing] += 1
            if self._counts[doing] % 2:
                self._act()

    run = Run(PATIENT)
    with listening(SOUTH, public(NORTH), limits=PATIENT) as south, proxied(south.server.address) as proxy:

        def wrap(inner):
            return Often(inner, ("", 0), proxy.cut)

        with dialling(NORTH, public(SOUTH), proxy.address, PATIENT, wrap=wrap) as directory:
            assert run.go(south, directory) is None
        assert run.ended["south"].wait() is None
        assert proxy.connections >= 5
    assert run.traffic == usual


def test_a_cut_before_the_confirmation_of_the_handshake_changes_nothing(usual, monkeypatch):
    endure, cuts = PacketStream.endure, []
    run = Run(PATIENT)
    with run.between() as (proxy, south, directory):

        def cut_after(stream, answer=None, redial=None):
            endure(stream, answer, redial)
            if redial is not None:
                cuts.append(proxy.cut())

        monkeypatch.setattr(PacketStream, "endure", cut_after)
        assert run.go(south, directory) is None
        assert run.ended["south"].wait() is None
    assert cuts == [None]
    assert run.traffic == usual


def test_a_session_that_begins_anew_ends_the_one_whose_answer_was_lost(monkeypatch):
    """Its job may run at once, and not only when the limit of the lost one is over."""
    endure, lost = PacketStream.endure, []
    limits = replace(PATIENT, sessions=1)
    run = Run(limits)
    with run.between() as (proxy, south, directory):

        def cut_before(stream, answer=None, redial=None):
            if redial is None and not lost:
                lost.append(stream)
                proxy.cut()
                time.sleep(0.2)
            endure(stream, answer, redial)

        monkeypatch.setattr(PacketStream, "endure", cut_before)
        assert isinstance(run.go(south, directory), PeerLost)
        started, error = time.monotonic(), None
        while time.monotonic() - started < 10:
            error = run.go(south, directory)
            # gRPC may greet over what is left of the connection that was cut; jobs are tried again then, too.
            if not isinstance(error, (PeerBusy, *AWAY)):
                break
            time.sleep(0.05)
        assert error is None
        assert len(lost) == 1


# Longer cuts


def cutting(seconds: float):
    return lambda proxy: proxy.cut(seconds)


MIDDLE = ("send", 4)


def test_a_cut_longer_than_a_message_may_take(usual):
    limits = replace(PATIENT, message_seconds=1)
    run, _ = run_with({"north": (MIDDLE, cutting(1.5))}, limits)
    assert run.traffic == usual


def test_past_the_limit_both_sides_end_with_a_typed_error_and_the_next_session_runs():
    limits = replace(PATIENT, reconnect_seconds=1)
    run = Run(limits)
    once = iter([1.6])
    acts = {"north": (MIDDLE, lambda proxy: [proxy.cut(seconds) for seconds in once])}
    with run.between(acts) as (_, south, directory):
        error = run.go(south, directory)
        errors = [error, run.ended["north"].wait(), run.ended["south"].wait()]
        for each in errors:
            assert isinstance(each, PeerLost)
            assert each.stable_code == "peer-lost"
            assert "did not come back within 1 seconds" in each.what
            assert "reconnect_seconds" in each.hint
        time.sleep(1)
        run.ended = {name: Ending() for name in run.ended}
        assert run.go(south, directory) is None
        assert run.ended["south"].wait() is None


@pytest.mark.slow
@pytest.mark.parametrize("side", ["north", "south"])
def test_a_cut_of_a_minute(usual, side):
    run, _ = run_with({side: (MIDDLE, cutting(60))}, replace(PATIENT, reconnect_seconds=120, job_seconds=600))
    assert run.traffic == usual


@pytest.mark.slow
def test_a_minute_in_which_nothing_comes_through(usual):
    run, connections = run_with(
        {"north": (MIDDLE, lambda proxy: proxy.stall(60))},
        replace(PATIENT, reconnect_seconds=120, job_seconds=600, message_seconds=60),
    )
    assert connections >= 2
    assert run.traffic == usual


QUICK_PINGS = Keepalive(seconds=2, timeout_seconds=1)


@pytest.mark.slow
def test_a_line_that_stalls_is_given_up_and_dialled_again(usual):
    run, connections = run_with({"north": (MIDDLE, lambda proxy: proxy.stall(5))}, keepalive=QUICK_PINGS)
    assert connections >= 2
    assert run.traffic == usual


def test_delays_change_nothing(usual):
    def slow(proxy):
        proxy.delay = 0.01

    run, _ = run_with({"north": (("send", 1), slow)})
    assert run.traffic == usual


# Bytes that are changed on their way: TLS refuses them, which is a cut


def flipped(data: bytes) -> bytes:
    return data[: len(data) // 2] + bytes([data[len(data) // 2] ^ 1]) + data[len(data) // 2 + 1 :]


DAMAGE = {
    "flipped": flipped,
    "twice": lambda data: data + data,
    "lost": lambda data: b"",
    "reversed": lambda data: data[len(data) // 2 :] + data[: len(data) // 2],
    "inserted": lambda data: bytes(7) + data,
    "shortened": lambda data: data[:-1],
}


@pytest.mark.parametrize(
    ("damage", "forward"),
    [
        pytest.param(damage, forward, marks=() if forward is (number % 2 == 0) else pytest.mark.slow)
        for number, damage in enumerate(DAMAGE)
        for forward in (True, False)
    ],
)
def test_damaged_bytes_are_a_cut_and_never_a_result(usual, damage, forward):
    def spoil(proxy):
        done = []

        def once(data: bytes, direction: bool) -> bytes:
            if direction is not forward or done:
                return data
            done.append(data)
            return DAMAGE[damage](data)

        proxy.spoil = once

    run, connections = run_with({"north": (MIDDLE, spoil)}, keepalive=QUICK_PINGS)
    assert connections >= 2
    assert run.traffic == usual


# Ends while there is no connection


def in_outage(run: Run, directory, south, act):
    """Call `act` when both sides have noticed the cut; returns how long that has been for either."""
    shown = []

    def watch():
        until = time.monotonic() + 10
        while time.monotonic() < until and len(shown) < 2:
            shown[:] = [o for o in (directory.outage(JOB), south.runner.outage(JOB)) if o is not None]
            time.sleep(0.01)
        act()

    thread = threading.Thread(target=watch, daemon=True)
    thread.start()
    return shown


def test_both_sides_say_how_long_the_connection_is_lost(usual):
    run = Run(PATIENT)
    with run.between({"north": (MIDDLE, cutting(1))}) as (_, south, directory):
        shown = in_outage(run, directory, south, lambda: None)
        assert directory.outage(JOB) is None
        assert run.go(south, directory) is None
        assert run.ended["south"].wait() is None
        assert directory.outage(JOB) is None
    assert run.traffic == usual
    assert [outage.limit for outage in shown] == [20, 20]
    assert all(0 <= outage.seconds < 10 for outage in shown)


@pytest.mark.parametrize("side", ["north", "south"])
def test_a_session_is_cancelled_at_once_also_without_a_connection(side):
    limits = replace(PATIENT, reconnect_seconds=2)
    run = Run(limits)
    with run.between({"north": (MIDDLE, cutting(30))}) as (_, south, directory):
        cancel = directory.cancel_session if side == "north" else south.runner.cancel
        in_outage(run, directory, south, lambda: cancel(JOB))
        started = time.monotonic()
        error = run.go(south, directory)
        errors = {"north": error, "south": run.ended["south"].wait()}
        other = "south" if side == "north" else "north"
        assert isinstance(errors[side], Cancelled)
        assert isinstance(errors[other], PeerLost)
        assert time.monotonic() - started < 15


def test_a_daemon_that_was_killed_holds_no_session():
    def until_it_dies(session) -> None:
        session.channel.send(parcel(bytes(SIZE)))
        session.channel.recv(Parcel, ExpectedByteRows(1, SIZE))

    with child("die") as (process, address), dialling(NORTH, public(SOUTH), address, PATIENT) as directory:
        caught = []

        def go():
            try:
                directory.run_session("south", task(Role.ALICE, until_it_dies))
            except DuettoError as error:
                caught.append(error)

        thread = threading.Thread(target=go, daemon=True)
        thread.start()
        process.wait(10)
        with child("echo", at=address.port):
            thread.join(15)
    (error,) = caught
    assert isinstance(error, PeerLost)
    assert "does not hold the session any more" in error.what


# Strangers to the session


@pytest.mark.parametrize("changes", [{}, {"session_id": bytes(32)}, {"token": bytes(32), "epoch": 1}])
def test_whoever_names_no_session_gets_a_code_and_nothing_else(changes):
    with (
        listening(SOUTH, public(NORTH)) as south,
        dialling(NORTH, public(SOUTH), south.server.address) as directory,
    ):
        stream = directory._runner.stream("south")
        directory.client("south").open(stream)
        stream.send(pb.Packet(resume=pb.Resume(**changes)))
        answer = stream.receive()
        assert answer.refusal.code == "no-session"
        stream.finish(5)
        assert not south.jobs.headers


def test_a_token_says_nothing_of_the_session_id():
    seen = []
    endure = handshake._token
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(handshake, "_token", lambda *said: seen.append(endure(*said)) or seen[-1])
        for _ in range(2):
            run_with(None)
    assert seen[0] == seen[1]
    assert seen[2] == seen[3] != seen[0]
    assert {len(token) for token in seen} == {32}

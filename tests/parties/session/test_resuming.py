"""Sessions whose connection is cut, stalled or spoiled: the right result, or a typed error on both sides."""

from __future__ import annotations

import time
from dataclasses import replace

import pytest

from parties.config import Keepalive
from parties.errors import PeerBusy
from parties.jobs.agreement.courier import UNREACHABLE
from parties.rpc.pb.duetto.v1 import peer_pb2 as pb
from parties.rpc.stream import PacketStream
from parties.session import handshake
from smc.errors import PeerLost
from tests.parties.rpc.harness import NORTH, SOUTH, Ending, dialling, listening, public
from tests.parties.rpc.proxy import Proxy, proxied
from tests.parties.session.cut_sessions import MIDDLE, PATIENT, Counting, Run, cutting, run_with

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
    assert connections >= 2 or place[1] == FRAMES  # after the last frame both may need nothing more
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
            if not isinstance(error, (PeerBusy, *UNREACHABLE)):
                break
            time.sleep(0.05)
        assert error is None
        assert len(lost) == 1


# Longer cuts


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

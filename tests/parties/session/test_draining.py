"""A daemon that is drained: sessions that run come to their end, no other begins, within a time."""

from __future__ import annotations

from contextlib import suppress

import pytest

from parties.errors import PeerBusy
from parties.session.draining import Drain, Draining
from parties.session.shares import Shares
from smc.channel.vectors import ExpectedByteRows
from smc.errors import DuettoError
from smc.forms import Role
from tests.parties.rpc.harness import JOB, NORTH, SOUTH, Ending, dialling, listening, public, task
from tests.parties.rpc.parcel import SIZE, Parcel, parcel

DATA = bytes(range(SIZE))


class Time:
    """A clock that is set."""

    now = 0.0

    def __call__(self) -> float:
        return self.now


def test_it_is_over_when_no_session_runs_or_the_time_is_up():
    clock, running, begun = Time(), [2], []
    drain = Drain(lambda: begun.append(1), lambda: running[0], 100, clock)
    assert (drain.state, drain.is_over) == (None, False)
    running[0] = 0
    assert not drain.is_over  # an idle daemon that nobody drains goes on
    running[0] = 2
    assert drain.start() == Draining(2, 100)
    clock.now = 40
    assert (drain.state, drain.is_over) == (Draining(2, 60), False)
    running[0] = 0
    assert drain.is_over
    running[0] = 1
    clock.now = 100
    assert (drain.state, drain.is_over) == (Draining(1, 0), True)


def test_whoever_asks_again_sets_another_end():
    clock, begun = Time(), []
    drain = Drain(lambda: begun.append(1), lambda: 1, 100, clock)
    assert drain.start(1000) == Draining(1, 1000)
    clock.now = 10
    assert drain.start(5) == Draining(1, 5)
    assert begun == [1]
    clock.now = 15
    assert drain.is_over


def test_places_that_are_taken_stay_and_no_other_is_given():
    shares, left = Shares(4, ["north"], quiet_seconds=0), []
    with shares.seat(lambda: left.append(1)), shares.place("north"):
        shares.refuse_new()
        assert left  # what is done in idle time ends
        assert (shares.taken, shares.is_closed) == (1, False)
        for begin in (lambda: shares.place("north"), lambda: shares.seat(lambda: None)):
            with pytest.raises(PeerBusy), begin():
                pass
    assert shares.taken == 0
    shares.close()
    assert shares.is_closed


def swap(session) -> None:
    session.channel.send(parcel(DATA))
    assert session.channel.recv(Parcel, ExpectedByteRows(1, SIZE)).tobytes() == DATA


def test_a_session_that_runs_ends_in_order_and_the_peer_of_the_next_one_is_told_to_wait():
    with (
        listening(SOUTH, public(NORTH)) as south,
        dialling(NORTH, public(SOUTH), south.server.address) as directory,
    ):
        counts, ended = [], Ending()

        def drained(session) -> None:
            south.runner.refuse_new()
            counts.append(south.runner.running)
            swap(session)

        south.jobs.tasks[JOB] = task(Role.BOB, drained, ended)
        directory.run_session("south", task(Role.ALICE, swap))
        assert ended.wait() is None
        assert south.runner.drain(20)
        again = Ending()
        south.jobs.tasks[JOB] = task(Role.BOB, swap, again)
        with pytest.raises(PeerBusy):
            directory.run_session("south", task(Role.ALICE, swap))
        assert (counts, south.runner.running, again.over.is_set()) == ([1], 0, False)
        assert directory.propose("south", b"x") == b"north:x"


@pytest.mark.parametrize(("verb", "code"), [("refuse_new", ""), ("stop", "shutdown")])
def test_a_session_that_has_its_place_and_begins_a_moment_later_runs_unless_all_are_ended(
    monkeypatch, verb, code
):
    with (
        listening(SOUTH, public(NORTH)) as south,
        dialling(NORTH, public(SOUTH), south.server.address) as directory,
    ):
        ended, greet = Ending(), directory.greet
        stop = getattr(directory._runner, verb)
        monkeypatch.setattr(directory, "greet", lambda peer: (greet(peer), stop()))
        south.jobs.tasks[JOB] = task(Role.BOB, swap)
        with suppress(DuettoError):
            directory.run_session("south", task(Role.ALICE, swap, ended))
        assert getattr(ended.wait(), "stable_code", "") == code

"""Lanes whose engines are in processes: results, typed errors, and no process that stays behind."""

from __future__ import annotations

import errno
import os
import signal
import subprocess
import sys
import threading
import time
from contextlib import closing, contextmanager
from pathlib import Path

import numpy as np
import pytest

from parties.lanes import process as module
from parties.lanes.process import LaneProcess, LaneWorker, LaneWorkers
from smc.channel.channel import Channel, Clock
from smc.channel.memory import memory_pair
from smc.errors import (
    Cancelled,
    DomainError,
    InconsistentTransfers,
    PeerAborted,
    PeerError,
    PeerLost,
    UsageError,
)
from smc.forms import Role
from smc.numeric.random import Randomness
from smc.oblivious.lane_engine import LaneEngine
from smc.oblivious.lanes import LaneCall, LaneLost
from smc.pair import run_pair
from smc.pieces import asking
from tests.support.bent_transfers import bend_refill
from tests.support.waiting import freeze

RANDOM = Randomness.from_seed(b"tests", "lanes in processes")
COUNT = 50_000
VALUES = RANDOM.words(COUNT), RANDOM.words(COUNT)


def ended(pid: int, seconds: float = 60) -> bool:
    """Whether a process is gone within so many seconds."""
    until = time.monotonic() + seconds
    while time.monotonic() < until:
        try:
            os.kill(pid, 0)
        except ProcessLookupError:
            return True
        time.sleep(0.01)
    return False


@contextmanager
def lane(timeout: float = 5):
    """A lane in a process, and the transport of a peer that says nothing."""
    near, far = memory_pair(timeout)
    with closing(LaneWorker()) as worker:
        yield LaneProcess(Role.ALICE, 1, near, worker), far, worker


def compare(session):
    engine = session.oblivious
    method = engine.greater_equal_x if session.role is Role.ALICE else engine.greater_equal_y
    return method(VALUES[session.role is Role.BOB], 64)


def test_two_parties_of_two_processes_each():
    with closing(LaneWorkers(2)) as north, closing(LaneWorkers(2)) as south:

        def side(session):
            session.open_lane = (north if session.role is Role.ALICE else south).open
            return [compare(session) for _ in range(2)]

        alice, bob = run_pair(side, lanes=2, timeout=60)
        pids = north.pids + south.pids
        assert len(set(pids)) == 4
        for one, other in zip(alice, bob, strict=True):
            assert np.array_equal(one ^ other, VALUES[0] >= VALUES[1])
    assert all(ended(pid) for pid in pids)


def test_one_party_in_processes_and_the_other_in_threads():
    with closing(LaneWorkers(2)) as north:

        def side(session):
            if session.role is Role.ALICE:
                session.open_lane = north.open
            return compare(session), session.channel.traffic

        (alice, there), (bob, back) = run_pair(side, lanes=2, timeout=60)
    assert np.array_equal(alice ^ bob, VALUES[0] >= VALUES[1])
    assert (there.sent, there.rounds, there.messages) == (back.received, back.rounds, back.messages)


def test_a_worker_that_is_killed_ends_the_step_on_both_sides():
    with closing(LaneWorkers(2)) as north, closing(LaneWorkers(2)) as south:

        def side(session):
            session.open_lane = (north if session.role is Role.ALICE else south).open
            compare(session)
            if session.role is Role.ALICE:
                os.kill(north.pids[1], signal.SIGKILL)
            try:
                compare(session)
            except (LaneLost, PeerError) as error:
                session.channel.abort(error.stable_code)
                with pytest.raises(UsageError, match="cannot be used again"):
                    compare(session)
                return error
            return None

        alice, bob = _both(side)
    assert isinstance(alice, LaneLost)
    assert "signal 9" in alice.what
    assert alice.hint
    assert isinstance(bob, PeerError)


def _both(side):
    """What both sides return, whose sessions do not end in order."""
    found = {}

    def kept(session):
        found[session.role] = side(session)
        raise Cancelled("enough")

    with pytest.raises(Cancelled):
        run_pair(kept, lanes=2, timeout=30)
    return found[Role.ALICE], found[Role.BOB]


def test_what_the_engine_refuses_comes_back_by_its_kind():
    with lane() as (end, _, _), pytest.raises(UsageError, match="cannot do"):
        end.run(LaneCall("use_pool"), Clock())
    with lane() as (end, _, _), pytest.raises(UsageError, match="Numbers of 0 bits"):
        end.run(LaneCall("equal", (VALUES[0],), {"bits": 0, "holds_x": True}), Clock())


def test_a_defect_in_the_worker_is_a_lost_lane():
    with lane() as (end, _, _), pytest.raises(LaneLost) as raised:
        end.run(LaneCall("equal", (VALUES[0],), {"unknown": 1}), Clock())
    assert raised.value.hint


def test_what_the_transport_raises_is_raised():
    with lane(timeout=0.3) as (end, far, _), pytest.raises(PeerLost):
        end.run(LaneCall("setup_silent"), Clock())
    with lane() as (end, far, _):
        far.close()
        with pytest.raises(PeerLost):
            end.run(LaneCall("setup_silent"), Clock())


MUCH = np.zeros(1 << 20, np.uint64)  # more than a pipe holds


@pytest.mark.parametrize("call", [LaneCall("setup_silent"), LaneCall("equal", (MUCH,))])
def test_a_job_that_is_not_wanted_any_more_stops_while_the_worker_computes(call):
    with lane() as (end, _, worker):
        freeze(worker.pid)  # as if it computed for long
        wanted = threading.Event()

        def question():
            if wanted.is_set():
                raise Cancelled("Nobody wants it any more.")

        threading.Timer(0.3, wanted.set).start()
        threading.Timer(5, end.close).start()  # a test that fails ends, too
        with asking(question), pytest.raises(Cancelled):
            end.run(call, Clock())
        end.close()
        assert ended(worker.pid)


def test_closing_ends_a_worker_that_hangs_and_may_happen_twice_and_from_elsewhere():
    with lane() as (end, _, worker):
        threading.Timer(0.3, end.close).start()
        freeze(worker.pid)
        with pytest.raises(LaneLost, match="signal 9"):
            end.run(LaneCall("setup_silent"), Clock())
        end.close()
        assert ended(worker.pid)


def test_a_worker_ends_with_its_daemon():
    script = (
        "import os, sys, time\n"
        "from parties.lanes.process import LaneWorkers\n"
        "print(*LaneWorkers(2).pids, flush=True)\n"
        "time.sleep(60)\n"
    )
    with subprocess.Popen([sys.executable, "-c", script], stdout=subprocess.PIPE, text=True) as daemon:
        pids = [int(word) for word in daemon.stdout.readline().split()]
        time.sleep(1)
        daemon.kill()
    assert len(pids) == 2
    assert all(ended(pid) for pid in pids)


def test_no_process_for_one_lane_and_none_where_threads_do_not_take_turns(monkeypatch):
    assert LaneWorkers(1).pids == ()
    monkeypatch.setattr(sys, "_is_gil_enabled", lambda: False, raising=False)
    workers = LaneWorkers(2)
    assert workers.pids == ()
    assert isinstance(workers.open(Role.ALICE, 1, memory_pair()[0]), LaneEngine)


def test_processes_that_do_not_start_are_a_typed_error_and_leave_none_behind(monkeypatch):
    started = []

    class Second(LaneWorker):
        def __init__(self):
            if started:
                raise OSError(errno.EAGAIN, "Resource temporarily unavailable")
            super().__init__()
            started.append(self.pid)

    monkeypatch.setattr(module, "LaneWorker", Second)
    with pytest.raises(LaneLost, match="temporarily unavailable"):
        LaneWorkers(2)
    assert ended(started[0])


def test_the_worker_is_told_nothing_but_its_lane():
    with lane() as (end, _, worker):
        with pytest.raises(UsageError):
            end.run(LaneCall("nothing"), Clock())
        words = Path(f"/proc/{worker.pid}/cmdline").read_bytes().split(b"\0")
        assert words[1:] == [b"-P", b"-m", b"parties.lanes.worker", b""]
        assert len(list(Path(f"/proc/{worker.pid}/fd").iterdir())) <= 4  # the pipe, two ends of nothing


@pytest.mark.parametrize("error", [DomainError("x", "y"), PeerAborted("x", "y")])
def test_only_listed_errors_are_taken_by_name(error):
    with lane() as (end, _, _):
        found = end._error({"error": type(error).__name__, "what": "x", "hint": "y"})
    assert type(found) is (DomainError if isinstance(error, DomainError) else LaneLost)


def test_a_failed_check_in_a_process_is_one_of_the_session(monkeypatch):
    """By its type the daemon closes the peer; the other side, whose lanes are threads, bends its refills."""
    honest = Channel.send

    def send(self, message):
        bend_refill(message)
        honest(self, message)

    monkeypatch.setattr(Channel, "send", send)
    found = {}
    with closing(LaneWorkers(2)) as north:

        def side(session):
            if session.role is Role.ALICE:
                session.open_lane = north.open
            engine = session.oblivious
            method = engine.greater_equal_x if session.role is Role.ALICE else engine.greater_equal_y
            method(VALUES[session.role is Role.BOB], 64, silent=True)
            try:
                engine.verify()
            except Exception as error:
                found[session.role] = type(error)
                raise

        with pytest.raises(InconsistentTransfers):
            run_pair(side, lanes=2, timeout=60)
    assert found[Role.ALICE] is InconsistentTransfers

"""Two managers in one process: jobs that are cancelled, fail or are cut off by a restart."""

from __future__ import annotations

import threading
from fractions import Fraction

import pytest

from parties.contracts.state import State
from parties.errors import JobError
from smc.errors import UsageError
from smc.forms import Role
from tests.parties.jobs.joined import ANN, approve, job_file, result_of, run, spent, wait_final, wait_state


def test_a_peer_that_is_away(pair):
    """The job waits for it, says so, and goes on when it is back."""
    pair.network.down = True
    job_id = pair.north.submit(job_file()).job_id
    waiting = pair.north.store.summary(job_id)
    assert (waiting.state, waiting.error_code) == (State.PROPOSED, "")
    assert "an answer of south" in pair.north.waits_for(waiting)
    assert "cannot be reached" in pair.north.waits_for(waiting)
    pair.network.down = False
    assert wait_final(pair.north, job_id).state is State.FINISHED
    assert wait_final(pair.south, job_id).state is State.FINISHED
    assert pair.north.waits_for(pair.north.store.summary(job_id)) == ""


@pytest.mark.parametrize("canceller", ["north", "south"])
def test_cancel_in_the_middle_ends_both_and_frees_the_next(pair, canceller):
    stop = threading.Event()
    analysis = pair.analysis[canceller]
    analysis.stops = {Role.ALICE if canceller == "north" else Role.BOB: stop}
    record = pair.north.submit(job_file("1/2"))
    wait_state(pair.north, record.job_id, State.RUNNING)
    wait_state(pair.south, record.job_id, State.RUNNING)
    pair.network.managers[canceller].cancel(record.job_id, ANN)
    stop.set()
    for manager in (pair.north, pair.south):
        # The end of the session may come before the word that it was cancelled, and gives way to it.
        found = wait_state(manager, record.job_id, State.CANCELLED)
        assert not found.kept
        with pytest.raises(JobError, match="no result"):
            manager.result(record.job_id)
    with pytest.raises(JobError):
        pair.north.cancel(record.job_id, ANN)
    analysis.stops = {}
    assert run(pair)[1].state is State.FINISHED


@pytest.mark.parametrize("canceller", ["north", "south"])
def test_cancel_while_waiting(pair, canceller):
    pair.allow("south", approval="person")
    record = pair.north.submit(job_file())
    pair.network.managers[canceller].cancel(record.job_id, ANN)
    assert pair.north.store.get(record.job_id).state is State.CANCELLED
    assert pair.south.store.get(record.job_id).state is State.CANCELLED
    with pytest.raises(JobError):
        approve(pair.south, record.job_id)


@pytest.mark.parametrize("late", [False, True])
def test_an_analysis_that_fails_before_the_gate_spends_nothing_and_later_keeps_the_loss(pair, late):
    pair.analysis["south"].failure = UsageError("Cannot.", "Do not.")
    pair.analysis["south"].fails_late = late
    _, north, south = run(pair, job_file("1/2"))
    assert (south.state, south.error_code, south.error_hint) == (State.FAILED, "usage", "Do not.")
    assert (north.state, north.error_code) == (State.FAILED, "peer-aborted")
    for manager, peer in ((pair.north, "south"), (pair.south, "north")):
        assert spent(manager, peer) == (Fraction(1, 2) if late else 0)


def test_a_defect_of_the_analysis_tells_no_value(pair):
    pair.analysis["north"].failure = ValueError("canary 12345")
    _, north, _ = run(pair)
    assert north.error_code == "internal"
    assert "canary" not in north.error_what


def test_results_around_the_gate_are_thrown_away(pair):
    pair.analysis["north"].skip_gate = pair.analysis["south"].skip_gate = True
    _, north, south = run(pair, job_file("1/2"))
    assert (north.error_code, north.kept) == ("release", False)
    assert not south.kept
    assert run(pair)[1].error_code == "release"  # so are those of a job that spends nothing
    pair.analysis["north"].skip_gate = pair.analysis["south"].skip_gate = False
    assert run(pair)[1].state is State.FINISHED


def test_after_a_restart_everything_is_known_and_pending_jobs_go_on(pair):
    done = run(pair)[0]
    pair.allow("south", approval="person")
    waiting = pair.north.submit(job_file()).job_id
    pair.stop("north")
    approve(pair.south, waiting)
    pair.start("north")
    assert result_of(pair.north, done)["outcome"]["tables"]
    assert wait_final(pair.north, waiting).state is State.FINISHED


def test_an_approved_job_is_dialled_again_after_a_restart(pair):
    pair.allow("south", approval="person")
    record = pair.north.submit(job_file())
    pair.network.down = True
    approve(pair.south, record.job_id)
    pair.stop("north")
    pair.network.down = False
    north = pair.start("north", resume=False)
    north._negotiation.tell(record.job_id)
    assert north.store.summary(record.job_id).state is State.APPROVED
    pair.stop("north")
    north = pair.start("north")
    assert wait_final(north, record.job_id).state is State.FINISHED


def test_a_run_is_not_repeated_after_a_restart_and_the_loss_stays(pair):
    stop = threading.Event()
    pair.analysis["north"].stops = {Role.ALICE: stop}
    record = pair.north.submit(job_file("1/2"))
    wait_state(pair.north, record.job_id, State.RUNNING)
    pair.north.store.recover()
    stop.set()
    found = pair.north.store.get(record.job_id)
    assert (found.state, found.error_code) == (State.FAILED, "interrupted")


def test_a_stopped_daemon_fails_what_runs(pair):
    stop = threading.Event()
    pair.analysis["north"].stops = {Role.ALICE: stop}
    record = pair.north.submit(job_file())
    wait_state(pair.north, record.job_id, State.RUNNING)
    threading.Timer(0.2, stop.set).start()
    pair.stop("north")
    assert pair.start("north").store.get(record.job_id).state is State.FAILED
    assert wait_final(pair.south, record.job_id).state is State.FAILED

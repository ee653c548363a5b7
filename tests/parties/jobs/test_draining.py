"""Jobs of a party that is drained: what runs ends, what is proposed and approved waits for the next start."""

from __future__ import annotations

import pytest

from parties.contracts.state import State
from parties.jobs.agreement.standing import RESTART
from parties.session.draining import Drain
from tests.parties.jobs.joined import Pair, approve, job_file, wait_final, wait_state
from tests.parties.jobs.wired import finished_once, wired
from tests.support.waiting import until


def test_while_one_side_is_drained_its_job_ends_and_others_wait_on_both_sides(tmp_path):
    with wired(tmp_path) as pair:
        north, south = pair.managers["north"], pair.managers["south"]

        def rest() -> None:
            pair.runners["south"].refuse_new()
            south.hold_back()

        drain = Drain(rest, lambda: pair.runners["south"].running, 60)
        pair.around["south"] = (("receive", 2), drain.start)
        first = north.submit(job_file("1/2")).job_id
        finished_once(pair, first)
        until(lambda: drain.is_over)
        # South is not ended, so that what it still does can be seen.
        to_south, to_north = north.submit(job_file()).job_id, south.submit(job_file()).job_id
        for job_id in (to_south, to_north):
            for manager in (north, south):
                wait_state(manager, job_id, State.APPROVED)
        until(lambda: north._couriers["south"]._refusals > 1)
        states = {m.store.summary(j).state for m in (north, south) for j in (to_south, to_north)}
        assert states == {State.APPROVED}
        assert {south.waits_for(south.store.summary(j)) for j in (to_south, to_north)} == {RESTART}
        assert north.waits_for(north.store.summary(to_south)) == "a session with south"


@pytest.fixture
def pair(tmp_path):
    joined = Pair(tmp_path)
    yield joined
    joined.close()


def test_approvals_are_taken_and_what_they_allow_runs_after_the_next_start(pair):
    """However the daemon has ended: nothing of it is stored but the jobs themselves."""
    pair.allow("south", approval="person")
    pair.south.hold_back()
    job_id = pair.south.submit(job_file()).job_id
    wait_state(pair.south, job_id, State.WAITING_OWN)
    approve(pair.south, job_id)
    wait_state(pair.north, job_id, State.APPROVED)
    courier = pair.south._couriers["north"]
    until(lambda: courier._due.get(job_id, 0.0) > 0.0)
    asked = len(pair.network.said)
    courier.wake(job_id)
    until(lambda: courier._due.get(job_id, 0.0) > 0.0)  # looked at, and put off
    assert (len(pair.network.said), pair.south.store.summary(job_id).state) == (asked, State.APPROVED)
    killed = pair.network.managers.pop("south")
    pair.start("south")
    assert wait_final(pair.south, job_id).state is State.FINISHED
    assert wait_final(pair.north, job_id).state is State.FINISHED
    killed.stop()

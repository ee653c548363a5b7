"""What a job costs as its analysis understands it, with lanes and without."""

from __future__ import annotations

import pytest

from parties.client import job_text
from parties.contracts.spec import parse_spec
from parties.jobs.checks.local_data import ADDED_UP
from parties.jobs.checks.task import Task
from parties.lanes import LANE_MEMORY
from smc.analyses.disclosure.limits import NO_LIMITS
from smc.analyses.registry import ANALYSES, study_of
from smc.forms import Role
from smc.protocols.flights import Flight
from smc.protocols.spec import Cost
from smc.protocols.transfer_costs import cost_of_opening
from tests.parties.jobs.institutions import job

SIZE = job("matching", {"method": "exact", "keys": ["id"], "output": "size"}, ["id"])


def estimate(lanes: int, rows: int, held: int | None = None):
    spec = parse_spec(job_text({**SIZE, "compute": {"lanes": lanes}}))
    task = Task(spec, Role.ALICE, study_of(ANALYSES[spec.analysis], spec.parameters))
    return task.estimate({}, rows, 2048, NO_LIMITS, held=held)


@pytest.mark.parametrize("lanes", [2, 5])
def test_lanes_take_memory_and_are_opened_where_batches_are_large(lanes):
    one, several = estimate(1, 100_000), estimate(lanes, 100_000)
    assert several.memory == one.memory + lanes * LANE_MEMORY
    assert several.rounds <= one.rounds + 5
    assert 0 < several.alice_bytes - one.alice_bytes < lanes * 1_400_000
    assert several.seconds > one.seconds


def test_lanes_take_memory_beside_rows_that_are_added_up_as_they_are_read():
    one, several = estimate(1, 100_000, held=0), estimate(4, 100_000, held=0)
    assert one.memory == ADDED_UP.at(100_000)
    assert several.memory == one.memory + 4 * LANE_MEMORY


def test_a_job_of_small_batches_opens_none():
    one, several = estimate(1, 100), estimate(4, 100)
    assert (several.rounds, several.alice_bytes, several.seconds) == (
        one.rounds,
        one.alice_bytes,
        one.seconds,
    )


def test_opening_is_counted_where_it_happens():
    assert cost_of_opening(Cost((Flight.BOTH,), 1, 1)) == 0
    assert cost_of_opening(Cost((Flight.LANES, Flight.BOTH), 1, 1)) > 0

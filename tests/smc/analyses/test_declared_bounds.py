"""All integers of all analyses lie within what is declared of them, wherever a sign is taken or bits cut."""

from __future__ import annotations

from functools import cache

import pytest

from smc.analyses.registry import ANALYSES
from smc.pair import run_pair
from smc.secret.orders.order import Order
from tests.smc.analyses.matching.vectors.test_vectors import joint, pair_of_tables, parsed
from tests.smc.secret.reals.sharing import reals
from tests.support.held_bounds import LOW_BITS, watched
from tests.support.small_jobs import SMALL_JOBS, wire_runs


@cache
def runs():
    return {run.name: run for run in wire_runs().analyses()}


@pytest.mark.parametrize("name", [job["name"] for job in SMALL_JOBS])
def test_the_integers_of_a_job_lie_within_their_bounds(name):
    with watched():
        runs()[f"job {name}"].transcripts()


def test_every_analysis_is_among_them():
    assert {job["analysis"] for job in SMALL_JOBS} >= set(ANALYSES)


def test_something_is_looked_at():
    """All places that are excused are met, so that none outlives what it excuses."""
    with watched() as watch:
        for run in runs().values():
            run.transcripts()
        joint(parsed(), *pair_of_tables(5, 5))  # by a threshold, which no job of the wire has
        run_pair(lambda session: reals(session, [3.0, 900], 1, 5000, 0).reciprocal(20))  # which none takes
        run_pair(lambda session: Order.of(reals(session, [3.0, 900], 1, 5000, 0).ints))  # nor sorts
    assert set(watch.seen) > LOW_BITS
    assert sum(watch.seen.values()) > 1000

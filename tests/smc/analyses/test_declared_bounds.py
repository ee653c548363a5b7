"""All integers of all analyses lie within what is declared of them, wherever a sign is taken or bits cut."""

from __future__ import annotations

import sys
import tomllib
from functools import cache
from pathlib import Path

import pytest

from smc.analyses.registry import ANALYSES
from tests.smc.analyses.matching.vectors.test_vectors import joint, pair_of_tables, parsed
from tests.support.held_bounds import LOW_BITS, watched

SCRIPTS = Path(__file__).parents[3] / "scripts"
JOBS = tomllib.loads((SCRIPTS / "wire_jobs.toml").read_text(encoding="utf-8"))["jobs"]


@cache
def runs():
    sys.path.insert(0, str(SCRIPTS))
    try:
        import wire_runs
    finally:
        sys.path.pop(0)
    return {run.name: run for run in wire_runs.analyses()}


@pytest.mark.parametrize("name", [job["name"] for job in JOBS])
def test_the_integers_of_a_job_lie_within_their_bounds(name):
    with watched():
        runs()[f"job {name}"].transcripts()


def test_every_analysis_is_among_them():
    assert {job["analysis"] for job in JOBS} >= set(ANALYSES)


def test_something_is_looked_at():
    """All places that are excused are met, so that none outlives what it excuses."""
    with watched() as watch:
        for run in runs().values():
            run.transcripts()
        joint(parsed(), *pair_of_tables(5, 5))  # by a threshold, which no job of the wire has
    assert set(watch.seen) > LOW_BITS
    assert sum(watch.seen.values()) > 1000

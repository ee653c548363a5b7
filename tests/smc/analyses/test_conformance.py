"""All analyses pass the checks that authors of others run on theirs: each on a small job of its own."""

from __future__ import annotations

import pytest

from smc.analyses.registry import ANALYSES
from smc.forms import Role
from smc.testing import Case, check_analysis
from tests.support.small_jobs import SMALL_JOBS, wire_runs

WITHOUT_ROWS = {"preparation"}
"""Fill pools, which a daemon keeps, and look at no rows."""

WITH_CHANCE = {"clustering", "models"}
"""Begin at random, or are rounded as shares fall: their results are compared with the reference elsewhere."""


def case_of(analysis: str) -> Case:
    """The first small job of an analysis."""
    job = next(job for job in SMALL_JOBS if job["analysis"] == analysis)
    recipients = frozenset(map(Role, job["recipients"]))
    study = ANALYSES[analysis].parse(job.get("parameters", {}))
    alice, bob = (wire_runs().data_of(job, role) for role in Role)
    compare = not study.facts(recipients).loss and analysis not in WITH_CHANCE
    return Case(job.get("parameters", {}), alice, bob, recipients=recipients, compare=compare)


@pytest.mark.parametrize("analysis", sorted({*ANALYSES} - WITHOUT_ROWS))
def test_what_an_analysis_states_is_what_its_runs_do(analysis: str) -> None:
    assert check_analysis(ANALYSES[analysis], case_of(analysis))

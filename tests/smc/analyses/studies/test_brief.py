"""Briefs: of every small job, and beside what the job promises exactly."""

from __future__ import annotations

import pytest

from smc.analyses.registry import ANALYSES
from smc.forms import Role
from tests.support.small_jobs import SMALL_JOBS

MOST_WORDS = 12


@pytest.mark.parametrize("place", range(len(SMALL_JOBS)))
@pytest.mark.parametrize("recipients", [frozenset({role}) for role in Role] + [frozenset(Role)])
def test_whoever_learns_something_is_told_so_in_short_lines(place, recipients):
    job = SMALL_JOBS[place]
    study = ANALYSES[job["analysis"]].parse(job.get("parameters", {}))
    brief, leakage = study.brief(recipients), study.leakage(recipients)
    assert brief.does
    assert not brief.does.startswith("compute the result")
    for lines, learned in ((brief.alice, leakage.alice), (brief.bob, leakage.bob)):
        assert bool(lines) == bool(learned)
        assert all(len(line.split()) <= MOST_WORDS for line in lines)


@pytest.mark.parametrize("epsilon", ["1/2", None])
def test_noise_is_named_exactly_where_there_is_any(epsilon):
    parameters = {"queries": [{"kind": "mean", "column": "age"}]}
    parameters |= {"noise": "none"} if epsilon is None else {"epsilon": epsilon}
    brief = ANALYSES["statistics"].parse(parameters).brief(frozenset(Role))
    assert ("with noise" in brief.alice[0]) is (epsilon is not None)
    assert ("without noise" in brief.alice[0]) is (epsilon is None)
    assert brief.figures == ("mean of age",)

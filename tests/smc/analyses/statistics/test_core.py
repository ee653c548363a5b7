"""Sums with noise need nothing that the core has not, and no plan passes the loss of its job."""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction

import numpy as np
import pytest

from smc.analyses.disclosure.limits import NO_LIMITS, Limits
from smc.analyses.statistics.horizontal.run import check_plans
from smc.analyses.statistics.plans.plan import plan
from smc.analyses.studies.columns import Column
from smc.analyses.studies.loss import Loss
from smc.analyses.studies.runner import run_study
from smc.errors import DisclosureRefused
from smc.forms import Role
from smc.oblivious.silent_engine import SilentEngine
from smc.pair import run_pair
from tests.smc.analyses.statistics_runs import AGE, SCHEMAS, parsed
from tests.support.plain_sessions import run_plain

TWO_SUMS = """
epsilon = "20"
maximum_rows = 1000
[[queries]]
name = "patients"
kind = "count"
[[queries]]
name = "years"
kind = "sum"
column = "age"
lower = 0
upper = 2
"""
SIDES = {Role.ALICE: [20, 30, 140] * 100, Role.BOB: [50, 1] * 50}


def check_sums(run):
    """Open the sums, and check that both sides get the same, near the truth."""

    def side(session):
        data = {"age": Column(np.array(SIDES[session.role]), AGE)}
        outcome = run_study(parsed(TWO_SUMS), session, data, frozenset(Role), NO_LIMITS.of_both)
        return {name: list(cells) for name, cells in outcome.tables[0].columns.items()}

    first, second = run(side)
    assert first == second
    found = dict(zip(first["query"], map(float, first["value"]), strict=True))
    # Noise of larger values has a probability below e**-40.
    assert abs(found["patients"] - 400) <= 4
    assert abs(found["years"] - (2 * 350 + 50)) <= 8


def test_noisy_sums_are_opened_in_a_plain_session():
    check_sums(run_plain)


def test_a_job_without_a_network_makes_no_silent_transfers(monkeypatch):
    monkeypatch.setattr(SilentEngine, "_ready_silent", lambda _: pytest.fail("made silent transfers"))
    check_sums(run_pair)


@pytest.mark.parametrize("limits", [NO_LIMITS, Limits(minimum_group=3)])
@pytest.mark.parametrize("budget", ['epsilon = "1.5"', 'noise = "gaussian"\nrho = "1/8"'])
def test_plans_cost_what_the_job_states(budget, limits):
    text = TWO_SUMS.replace('epsilon = "20"', budget)
    parameters = parsed(text).parameters
    plans = plan(parameters, SCHEMAS, counted=limits.counts_groups)
    spent = sum((each.spent for each in plans), Loss())
    assert (spent.epsilon, spent.rho) == (parameters.loss.epsilon, parameters.loss.rho)
    check_plans(plans, parameters)


def dearer(planned):
    """With noise for a bit more than its part of the loss."""
    asked = planned.statistic.query
    more = replace(asked, loss=asked.loss + Loss(Fraction(1, 10**9)))
    return replace(planned, statistic=replace(planned.statistic, query=more))


def narrower(planned):
    """With noise for one row less than a person may have."""
    return replace(planned, statistic=replace(planned.statistic, changes=planned.statistic.changes - 1))


@pytest.mark.parametrize("counted", [False, True])
@pytest.mark.parametrize(
    ("wrong", "why"),
    [(dearer, "more than the job's stated loss"), (narrower, "fewer rows than a person may")],
)
def test_plans_with_too_little_noise_are_refused(monkeypatch, wrong, why, counted):
    def changed(*arguments, **options):
        *others, last = plan(*arguments, **options)
        return (*others, wrong(last))

    monkeypatch.setattr("smc.analyses.statistics.horizontal.outcomes.plan", changed)
    study = parsed(TWO_SUMS.replace("maximum_rows", "rows_per_person = 3\nmaximum_rows"))

    def side(session):
        data = {"age": Column(np.array(SIDES[session.role]), AGE)}
        limits = Limits(minimum_group=2 * counted).of_both
        with pytest.raises(DisclosureRefused, match=why):
            run_study(study, session, data, frozenset(Role), limits)
        return session.channel.traffic.sent

    assert run_plain(side) == (0, 0)

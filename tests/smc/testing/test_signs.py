"""The documented example of an analysis: its runs, what it costs, refuses and says of itself."""

from __future__ import annotations

import sys

import numpy as np
import pytest

from smc.analyses.disclosure.limits import NO_LIMITS, Limits
from smc.analyses.studies.columns import Column, Schema
from smc.analyses.studies.runner import run_study
from smc.analyses.studies.setting import RunSetting
from smc.analyses.studies.traced import estimate_cost
from smc.errors import DisclosureRefused, DomainError, UsageError
from smc.forms import Role
from smc.pair import run_pair
from tests.smc.testing.test_check_analysis import EXAMPLE
from tests.support.seeds import seeded

BOTH = frozenset(Role)
NUMBER = Schema("integer", lower=-100, upper=100)
SCHEMAS = {"x": NUMBER, "y": NUMBER}


@pytest.fixture
def parse(monkeypatch):
    """Makes studies of parameters."""
    monkeypatch.syspath_prepend(str(EXAMPLE))
    from duetto_signs import SIGNS

    yield lambda **parameters: SIGNS.parse(parameters)
    del sys.modules["duetto_signs"]


def columns(*differences):
    """Columns of which the rows differ so."""
    differences = np.array(differences, dtype=np.int64)
    y = np.array(seeded().below(81, len(differences)), dtype=np.int64) - 40
    return {"x": Column(y + differences, NUMBER)}, {"y": Column(y, NUMBER)}


def joint(study, alice, bob, recipients=BOTH, limits=NO_LIMITS):
    """Outcome and traffic of both, or how each side ended."""
    sides = {Role.ALICE: alice, Role.BOB: bob}

    def side(session):
        try:
            outcome = run_study(study, session, sides[session.role], recipients, limits.of_both)
        except (DomainError, DisclosureRefused, UsageError) as error:
            return error
        return outcome, session.channel.traffic

    return run_pair(side, side, timeout=60)


@pytest.mark.parametrize(("margin", "above", "below"), [(0, 3, 2), (1, 2, 2), (40, 0, 1), (50, 0, 0)])
@pytest.mark.parametrize("recipients", [BOTH, {Role.ALICE}, {Role.BOB}], ids=len)
def test_a_run_counts_what_the_reference_counts(parse, margin, above, below, recipients):
    study, sides = parse(margin=margin), columns(1, 30, 40, 0, -3, -50)
    recipients = frozenset(recipients)
    outcomes = tuple(outcome for outcome, _ in joint(study, *sides, recipients))
    assert outcomes == study.reference(*sides, recipients)
    for role, outcome in zip(Role, outcomes, strict=True):
        shown = [table.columns for table in outcome.tables]
        assert shown == ([{"above": [above], "below": [below]}] if role in recipients else [])


def test_the_estimate_is_the_run_over_shapes_at_any_number_of_rows(parse):
    study = parse()
    sides = columns(*range(-30, 31))
    (_, alice), (_, bob) = joint(study, *sides)
    found = estimate_cost(study, SCHEMAS, BOTH, RunSetting((61, 61)))
    assert (found.rounds, found.alice_bytes, found.bob_bytes) == (alice.rounds, alice.sent, bob.sent)
    many = estimate_cost(study, SCHEMAS, BOTH, RunSetting((1_000_000, 1_000_000)))
    assert many.alice_bytes + many.bob_bytes > 400 * (found.alice_bytes + found.bob_bytes)
    assert many.route == "computed jointly by oblivious transfer"


@pytest.mark.parametrize("differences", [(*[1] * 9, -1), (*[-1] * 9, 1), (*[1] * 5, *[-1] * 4, 0)])
def test_a_number_that_singles_out_a_row_is_refused_at_both_sides(parse, differences):
    """By values of its choice a recipient could else see how one row of the other side compares."""
    limits = Limits(minimum_group=4)
    ends = joint(parse(), *columns(*differences), limits=limits)
    assert [type(end) for end in ends] == [DisclosureRefused] * 2


def test_numbers_of_groups_come_out_under_limits(parse):
    limits, sides = Limits(minimum_group=4), columns(*[1] * 5, *[-1] * 4)
    (outcome, _), _ = joint(parse(), *sides, limits=limits)
    assert outcome.tables[0].columns == {"above": [5], "below": [4]}


def test_fewer_rows_than_a_group_are_refused_before_a_run(parse):
    (alice, _), limits = columns(1, 2, 3), Limits(minimum_group=4)
    assert isinstance(parse().preview(alice, Role.ALICE, limits).refusal, DisclosureRefused)
    assert parse().preview(alice, Role.ALICE, NO_LIMITS).refusal is None


def test_other_rows_columns_recipients_and_parameters_are_refused(parse):
    (alice, bob), (fewer, _) = columns(1, 2, 3), columns(1, 2)
    assert [type(end) for end in joint(parse(), fewer, bob)] == [DomainError] * 2
    assert [type(end) for end in joint(parse(), alice, bob, frozenset())] == [UsageError] * 2
    with pytest.raises(UsageError, match=r"Column y is no integer within 2\*\*40"):
        parse().check({"x": NUMBER}, {"y": Schema("integer", lower=0, upper=1 << 41)})
    with pytest.raises(UsageError, match=r"Column x is no integer"):
        parse().check({"x": Schema("text")}, {"y": NUMBER})
    with pytest.raises(UsageError, match=r"parameters\.margin is out of range"):
        parse(margin=-1)
    with pytest.raises(UsageError, match="Nobody receives the signs"):
        parse().check_recipients(frozenset())


def test_what_it_says_that_recipients_learn(parse):
    found = parse().leakage(frozenset({Role.BOB}))
    assert [len(learns) for learns in (found.alice, found.bob, found.public)] == [1, 3, 1]
    assert "above y" in found.bob[0]
    assert "values of its choice" in found.bob[1]
    assert parse().facts(BOTH).row_results

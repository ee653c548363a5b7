"""A peer brings keys alone, and asks for a model of the victim's columns over the rows that match.

A model on one label tells the sums of the outcome over those who have it and those who have not: of few, what
a table of the same would withhold.
"""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest

from smc.analyses.disclosure.fits import Contribution, OutcomePart
from smc.analyses.disclosure.limits import Limits
from smc.analyses.models.study import MODELS
from smc.analyses.plan.study import PLAN
from smc.analyses.registry import study_of
from smc.analyses.studies.columns import DAYS, PERSONS, Column, Schema
from smc.analyses.studies.runner import run_study
from smc.errors import DisclosureRefused
from smc.forms import Role
from smc.pair import run_pair
from smc.secret.bits import SecretBits
from smc.secret.ints import SecretInts
from smc.secret.sharing.bounds import Bounds
from tests.parties.disclosure.test_attacks import AGE, COST, PEER, POLICY
from tests.support.held_bounds import unwatched

ROWS, OLD = 120, 25
PERSON = Schema("integer", lower=0, upper=10**6)
FLAG = Schema("integer", lower=0, upper=1)
COUNT = Schema("integer", lower=0, upper=5)
DATE = Schema("integer", lower=-25_567, upper=21_914, unit=DAYS)
DRAWN = np.random.default_rng(4)
AGES = np.append(np.full(OLD, 95), DRAWN.integers(20, 90, ROWS - OLD))


def cut(age):
    return {"column": "age", "cuts": [age], "labels": ["younger", "older"]}


def ask(outcome, on=None, derived=None, ages=AGES, further=(), **columns):
    """What the peer gets of a model of the victim's columns; None where limits stand against it."""
    on = {"old": cut(91)} if on is None else on
    study = MODELS.parse(
        {
            "layout": "vertical",
            "alice_columns": [],
            "bob_columns": [*on, *further, outcome["outcome"]],
            "match": {"keys": ["id"]},
            **({"derived": made} if (made := {**on, **(derived or {})}) else {}),
            "models": [{"name": "m", "on": list(on), **outcome}],
        }
    )
    people = np.arange(len(ages))
    keys = {"id": Column(people, PERSON), PERSONS: Column(people, Schema("integer"))}
    brought = keys | {"age": Column(ages, AGE)}
    brought |= {
        name: Column(np.asarray(values, np.int64), schema) for name, (values, schema) in columns.items()
    }

    def side(session):
        wanted = {*study.columns[session.role], PERSONS}
        data = {name: column for name, column in brought.items() if name in wanted}
        return run_study(study, session, data, frozenset({PEER}), POLICY.of_both)

    try:
        with unwatched():
            return run_pair(side)[Role(PEER) is Role.BOB].tables[0].columns["coefficient"]
    except DisclosureRefused:
        return None


def flagged(older, younger=30):
    """1 for so many of either group."""
    found = np.zeros(ROWS, dtype=np.int64)
    found[:older], found[OLD : OLD + younger] = 1, 1
    return found


def test_a_linear_model_does_not_tell_what_one_person_cost():
    """One of the older has costs of 98,765, the others next to none; and one of all has any costs at all."""
    cost = DRAWN.integers(3000, 9000, ROWS)
    told = ask({"kind": "linear", "outcome": "cost"}, cost=(cost, COST))
    assert (told[0] + told[1]) * OLD == pytest.approx(cost[:OLD].sum(), rel=0.01)
    cost[:OLD] = DRAWN.integers(10, 300, OLD)
    cost[0] = 98_765
    assert ask({"kind": "linear", "outcome": "cost"}, cost=(cost, COST)) is None
    assert ask({"kind": "linear", "outcome": "cost"}, cost=(77_777 * (np.arange(ROWS) == 3), COST)) is None


def test_nor_of_a_number_whose_bound_lies_far_below_its_values():
    """Of two dates, so that it could be minus 130 years; or by a range of the job."""
    stay = DRAWN.integers(1, 9, ROWS)
    admitted = DRAWN.integers(17_000, 18_000, ROWS)
    derived = {"stay": {"from": "admitted", "to": "left", "unit": "days"}}
    asked = {"kind": "linear", "outcome": "stay", "range": {"stay": ["-40000", "40000"]}}
    for longest in (9, 900):
        stay[0] = longest
        dates = {"admitted": (admitted, DATE), "left": (admitted + stay, DATE)}
        assert (ask(asked, derived=derived, **dates) is None) is (longest == 900)


@pytest.mark.parametrize("few", [0, 1, 3, OLD - 2])
def test_nor_how_many_of_few_have_the_outcome_or_have_it_not(few):
    assert ask({"kind": "linear", "outcome": "flag"}, flag=(flagged(few), FLAG)) is None


@pytest.mark.parametrize("kind", ["logistic", "poisson"])
def test_nor_do_models_of_yes_and_no_or_of_counts(kind):
    """Three of the 25 have the outcome, as 60 of the others."""
    ages = np.append(AGES, np.random.default_rng(9).integers(20, 90, 280))
    flag = np.append(flagged(3, 60), np.zeros(280, dtype=np.int64))
    schema = FLAG if kind == "logistic" else COUNT
    assert ask({"kind": kind, "outcome": "flag"}, ages=ages, flag=(flag, schema)) is None


@pytest.mark.parametrize("few", [0, 2, OLD - 2])
def test_nor_how_many_of_few_have_another_of_two_values(few):
    """Both lie between the declared bounds, so that nobody is at one."""
    coded = Schema("integer", lower=0, upper=9)
    assert ask({"kind": "linear", "outcome": "stage"}, stage=(1 + flagged(few), coded)) is None
    assert ask({"kind": "linear", "outcome": "stage"}, stage=(1 + flagged(12), coded)) is not None


@pytest.mark.parametrize("kind", ["linear", "logistic", "poisson"])
def test_an_outcome_that_groups_have_and_have_not_is_explained(kind):
    schema = FLAG if kind != "poisson" else COUNT
    told = ask({"kind": kind, "outcome": "flag"}, flag=(flagged(12, 40), schema))
    assert None not in told


def test_nor_does_the_sum_of_squared_residuals_tell_how_far_off_one_person_is():
    """All cost 5,000 or a little more but one, who has less than half of the sum of the older."""
    cost = 5000 + np.arange(ROWS) % 90
    linear = {"kind": "linear", "outcome": "cost"}
    assert ask(linear, cost=(cost, COST)) is not None
    cost[0] = 90_000
    assert ask(linear, cost=(cost, COST)) is None


def test_each_limit_on_an_outcome_stands_by_itself():
    """Numbers that have to be groups, or groups or nobody; and parts of sums."""
    cases = [
        ([10, 12], [0, 10], [(8, 10)], 0),
        ([9, 12], [0, 10], [(8, 10)], 1),
        ([0, 12], [0, 10], [(8, 10)], 1),
        ([10, 12], [1, 9], [(8, 10)], 2),
        ([10, 12], [0, 10], [(9, 10)], 1),
    ]

    def side(session):
        def secret(*values):
            mine = list(values) if session.role is Role.BOB else None
            return SecretInts.from_plain(session, mine, Role.BOB, Bounds(0, 100), len(values))

        found = []
        for counted, crowded, weighed, _ in cases:
            sums = [Contribution(secret(amount), secret(total)) for amount, total in weighed]
            part = OutcomePart([*map(secret, counted)], [*map(secret, crowded)], sums)
            assert part.failing(Limits()) is None
            found += part.failing(POLICY).reveal(frozenset(Role)).reshape(-1).tolist()
        return found

    assert run_pair(side)[0] == [failing for *_, failing in cases]


def test_a_contribution_is_to_the_sum_of_its_own_group():
    """The first two add to the first sum, the third to 4,000: more than four fifths of it is too much."""
    cases = [
        ((8, 1, 50), 10, [0, 0, 0]),
        ((9, 1, 50), 10, [1, 0, 0]),
        ((100, 1, 100), 125, [0, 0, 0]),
        ((1, 100, 100), 124, [0, 1, 0]),
        ((0, 0, 0), 0, [0, 0, 0]),
    ]

    def side(session):
        def secret(values, most):
            mine = list(values) if session.role is Role.BOB else None
            return SecretInts.from_plain(session, mine, Role.BOB, Bounds(0, most), len(values))

        group = SecretBits(session, np.array([1, 1, 0], np.uint8) * (session.role is Role.BOB))
        return [
            Contribution(secret(amounts, 100), secret((total, 4_000), 4_000), group)
            .exceeds(Fraction(4, 5))
            .reveal()
            .tolist()
            for amounts, total, _ in cases
        ]

    assert run_pair(side)[0] == [exceeds for *_, exceeds in cases]


PRODUCT = {"product": ["sex", "old"]}
SEVERAL = {
    "two labels": ["old", "sex"],
    "a label and a number": ["old", "x"],
    "two cuts of one number": ["old", "older"],
    "columns of the same number": ["old", "born"],
    "a product beside both": ["sex", "old", PRODUCT],
    "a product without one of its columns": ["sex", PRODUCT],
    "a product alone": [PRODUCT],
}


@pytest.mark.parametrize("on", SEVERAL.values(), ids=SEVERAL)
@pytest.mark.parametrize("kind", ["linear", "poisson", "logistic"])
def test_what_covariates_tell_together_counts_as_results_about_rows(kind, on):
    """Coefficients tell the mean of four groups, or of those between two cuts; standard errors tell how many
    persons have two labels, and the sum of a number over a label."""
    model = {"name": "m", "kind": kind, "outcome": "cost", "on": on}
    columns = {name for each in on for name in ([each] if isinstance(each, str) else each["product"])}
    sides = {"layout": "vertical", "alice_columns": [], "bob_columns": [*sorted(columns), "cost"]}
    parameters = {**sides, "match": {"keys": ["id"]}, "models": [model]}
    derived = {name: cut(at) for name, at in (("old", 91), ("older", 95)) if name in columns}
    planned = {
        "parts": [{"name": "p", "analysis": "models", "parameters": parameters}],
        "derived": derived,
    }
    for study in (MODELS.parse({**parameters, "derived": derived}), study_of(PLAN, planned)):
        assert study.facts(frozenset({PEER})).row_results
        learnt = study.leakage(frozenset({PEER}))
        assert any("several labels at once" in said for said in (learnt.alice, learnt.bob)[PEER is Role.BOB])


def test_a_label_that_is_declared_as_a_number_is_tested_like_one():
    """Of 25 women, coded 1 of 1 and 2, one has all costs."""
    sex = np.where(np.arange(ROWS) < OLD, 1, 2)
    cost = DRAWN.integers(3000, 9000, ROWS)
    coded = Schema("integer", lower=1, upper=2)
    asked = {"kind": "linear", "outcome": "cost", "on": ["sex"]}
    assert ask(asked, on={}, further=["sex"], sex=(sex, coded), cost=(cost, COST)) is not None
    cost[:OLD] = 23_456 * (np.arange(OLD) == 0)
    assert ask(asked, on={}, further=["sex"], sex=(sex, coded), cost=(cost, COST)) is None


def test_nor_do_columns_of_cuts_of_one_number():
    """Of those below 40, the first label, one has all costs; the others are many."""
    ages = np.append(np.full(OLD, 30), np.random.default_rng(7).integers(40, 90, 375))
    cost = np.random.default_rng(8).integers(3000, 9000, len(ages))
    asked = {"kind": "linear", "outcome": "cost"}
    cuts = {"first": {"column": "age", "cuts": [40, 60, 75]}}
    assert ask(asked, on=cuts, ages=ages, cost=(cost, COST)) is not None
    cost[:OLD] = 21_347 * (np.arange(OLD) == 0)
    assert ask(asked, on=cuts, ages=ages, cost=(cost, COST)) is None

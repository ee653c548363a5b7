"""Covariates of which many persons have each value, and of which a combination is about one person alone."""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction

import numpy as np
import pytest

from smc.analyses.disclosure.limits import Limits
from smc.analyses.models.study import MODELS as ANALYSIS
from smc.analyses.studies.columns import PERSONS, Column, Schema
from smc.errors import DisclosureRefused
from smc.forms import Role
from smc.testing.case import Case, run_case
from tests.smc.analyses.models.cohort import SCHEMAS, columns

LIMITS = Limits(minimum_group=10, dominance=Fraction(1, 4), zeros="shown")
"""Of two cuts nobody is above the one and not above the other, which a policy may withhold."""

LABELS = ["younger", "older"]


def side(role, few, **changed):
    """A cohort in which only the rows of `few` are of 90 years; a quarter of all is older."""
    held = columns(role)
    age = np.where(uniform_part(len(held["age"])), 91, np.minimum(held["age"], 85))
    age[few] = 90
    held = {**held, "age": age, **changed}
    return {name: Column(held[name], SCHEMAS[name]) for name in ("age", "cost", "died", "smoker", "days")} | {
        "event": Column(held["event"], SCHEMAS["event"])
    }


def uniform_part(count):
    return np.arange(count) % 4 == 3


def shifted(kind, **keys):
    """A model by two cuts of one column, a year apart."""
    cut = {name: {"column": "age", "cuts": [at], "labels": LABELS} for name, at in (("a", 90), ("b", 91))}
    return {"models": [{"name": "m", "kind": kind, "on": ["a", "b"], **keys}], "derived": cut}


def run(parameters, alice, bob):
    study = ANALYSIS.parse(parameters)
    brought = [
        {name: data[name] for name in study.columns[role]}
        for role, data in ((Role.ALICE, alice), (Role.BOB, bob))
    ]
    for own, data in zip(brought, (alice, bob), strict=True):
        own.update({name: column for name, column in data.items() if name == PERSONS})
    return run_case(study, Case({}, *brought), LIMITS)[0]


def test_two_cuts_a_year_apart_do_not_tell_what_one_person_cost():
    """The intercept and the coefficient of the first cut add up to the cost of the one person of 90 years."""
    cost = columns(Role.BOB)["cost"]
    cost[5] = 17_777
    with pytest.raises(DisclosureRefused):
        run(shifted("linear", outcome="cost"), side(Role.ALICE, []), side(Role.BOB, [5], cost=cost))


@pytest.mark.parametrize(
    "model",
    [
        shifted("logistic", outcome="died"),
        shifted("poisson", outcome="cost"),
        shifted("cox", time="days", event="event", events=["dead"]),
    ],
    ids=lambda model: model["models"][0]["kind"],
)
def test_nor_what_happened_to_a_few(model):
    with pytest.raises(DisclosureRefused):
        run(model, side(Role.ALICE, []), side(Role.BOB, [4, 5, 6]))


def test_a_product_does_not_tell_of_the_one_who_lacks_it():
    """Of those who smoke all but one are old, so smoking beside its product with age is about that one."""
    held = columns(Role.BOB)
    old = uniform_part(len(held["age"]))
    smoker = old.astype(np.int64)
    smoker[5] = 1
    parameters = {
        "models": [
            {
                "name": "m",
                "kind": "linear",
                "outcome": "cost",
                "on": ["smoker", {"product": ["old", "smoker"]}],
            }
        ],
        "derived": {"old": {"column": "age", "cuts": [88], "labels": LABELS}},
    }
    bob = side(Role.BOB, [], smoker=smoker)
    alice = side(Role.ALICE, [], smoker=uniform_part(len(columns(Role.ALICE)["age"])).astype(np.int64))
    with pytest.raises(DisclosureRefused):
        run(parameters, alice, bob)


def test_cuts_with_a_group_between_them_are_allowed():
    found = run(
        shifted("linear", outcome="cost"), side(Role.ALICE, []), side(Role.BOB, list(range(0, 64, 4)))
    )
    assert found[0].tables[0].columns["coefficient"][1] is not None


def test_many_rows_of_one_person_count_as_one():
    """Sixteen rows between the cuts, and all of one person."""
    rows = list(range(0, 64, 4))
    bob = side(Role.BOB, rows)
    persons = np.arange(len(bob["age"].array))
    persons[rows] = 0
    bob = bob | {PERSONS: replace(bob["age"], values=persons, schema=Schema("integer", lower=0))}
    with pytest.raises(DisclosureRefused):
        run(shifted("linear", outcome="cost"), side(Role.ALICE, []), bob)

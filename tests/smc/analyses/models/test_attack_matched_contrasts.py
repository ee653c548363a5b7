"""Models over matched rows whose covariates differ in one matched person."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest

from smc.analyses.disclosure.limits import Limits
from smc.analyses.models.study import MODELS as ANALYSIS
from smc.analyses.studies.columns import Column, Schema
from smc.errors import DisclosureRefused
from smc.forms import Role
from smc.testing.case import Case, run_case
from tests.smc.analyses.models.cohort import SCHEMAS, columns
from tests.support.held_bounds import unwatched

LIMITS = Limits(minimum_group=10, minimum_intersection=10, dominance=Fraction(1, 4))
ROWS, ALONE, SECRET = 400, 7, 17_777
PARAMETERS = {
    "layout": "vertical",
    "match": {"keys": ["number"]},
    "alice_columns": [],
    "bob_columns": ["cost", "a", "b"],
    "models": [{"name": "costs", "kind": "linear", "outcome": "cost", "on": ["a", "b"]}],
    "derived": {
        name: {"column": "age", "cuts": [at], "labels": ["younger", "older"]}
        for name, at in (("a", 90), ("b", 91))
    },
}


def test_two_cuts_a_year_apart_do_not_tell_what_a_matched_person_cost():
    """The intercept and the coefficient of the first cut add up to that cost."""
    held = columns(Role.BOB, ROWS)
    age, cost = np.minimum(held["age"], 85), held["cost"]
    age[np.arange(ROWS) % 4 == 0] = 95
    age[ALONE], cost[ALONE] = 90, SECRET
    numbers = Column([f"P{number}" for number in range(ROWS)], Schema("text"))
    bob = {"number": numbers, "age": Column(age, SCHEMAS["age"]), "cost": Column(cost, SCHEMAS["cost"])}
    study = ANALYSIS.parse(PARAMETERS)
    assert study.facts(frozenset({Role.ALICE})).row_results
    try:
        (alice, _), _ = run_case(study, Case({}, {"number": numbers}, bob, frozenset({Role.ALICE})), LIMITS)
    except DisclosureRefused:
        return
    told = alice.tables[0].columns["coefficient"]
    assert abs(told[0] + told[1] - SECRET) > 5_000, f"Alice finds {told[0] + told[1]:.0f} of {SECRET}"


STEEP = {
    "poisson": {"kind": "poisson", "outcome": "visits"},
    "cox": {"kind": "cox", "time": "days", "event": "event", "events": ["dead"]},
}


@pytest.mark.parametrize("on", [["a", "b"], ["a"]])
@pytest.mark.parametrize("kind", STEEP)
def test_nor_do_they_tell_of_counts_or_times(kind, on):
    """One cut passes the limits that stand against two between which one person is."""
    held = columns(Role.BOB, ROWS)
    age = np.where(np.arange(ROWS) % 2 == 0, 95, 50)
    age[ALONE] = 90
    named = [name for name in ("visits", "days", "event") if name in STEEP[kind].values()]
    model = {"name": kind, "on": on, **STEEP[kind]}
    derived = {name: PARAMETERS["derived"][name] for name in on}
    study = ANALYSIS.parse(
        {**PARAMETERS, "bob_columns": [*named, *on], "models": [model], "derived": derived}
    )
    numbers = Column([f"P{number}" for number in range(ROWS)], Schema("text"))
    bob = {"number": numbers, "age": Column(age, SCHEMAS["age"])}
    bob |= {name: Column(held[name], SCHEMAS[name]) for name in named}
    case = Case({}, {"number": numbers}, bob, frozenset({Role.ALICE}))
    if len(on) > 1:
        with unwatched(), pytest.raises(DisclosureRefused):
            run_case(study, case, LIMITS)
    else:
        (alice, _), _ = run_case(study, case, LIMITS)
        assert alice.tables[0].columns["coefficient"]

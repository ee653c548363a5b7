"""Models over matched rows whose covariates differ in one matched person."""

from __future__ import annotations

from fractions import Fraction

import numpy as np

from smc.analyses.disclosure.limits import Limits
from smc.analyses.models.study import MODELS as ANALYSIS
from smc.analyses.studies.columns import Column, Schema
from smc.errors import DisclosureRefused
from smc.forms import Role
from smc.testing.case import Case, run_case
from tests.smc.analyses.models.cohort import SCHEMAS, columns

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
    assert not study.facts(frozenset({Role.ALICE})).row_results
    try:
        (alice, _), _ = run_case(study, Case({}, {"number": numbers}, bob, frozenset({Role.ALICE})), LIMITS)
    except DisclosureRefused:
        return
    told = alice.tables[0].columns["coefficient"]
    assert abs(told[0] + told[1] - SECRET) > 5_000, f"Alice finds {told[0] + told[1]:.0f} of {SECRET}"

"""Dominance where a number's bound lies far below its values: who has nearly all of a sum is not hidden.

A stay between two dates has a bound of minus the years between the declared ones, which no catalog states.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from smc.analyses.clustering.study import CLUSTERING
from smc.analyses.disclosure.limits import SHOWN, Limits
from smc.analyses.models.study import MODELS
from smc.analyses.statistics.analysis import STATISTICS
from smc.analyses.studies.columns import DAYS, PERSONS, Column, Schema
from smc.forms import Role
from tests.parties.disclosure.test_attacks import AGE, COST, POLICY, Victim

BOTH = frozenset(Role)
DATE = Schema("integer", lower=-25_567, upper=21_914, unit=DAYS)
STAY = {"stay": {"from": "admitted", "to": "left", "unit": "days"}}
CUT = {"old": {"column": "age", "cuts": [91], "labels": ["younger", "older"]}}


def victim(folder, stay, overlap=20, **columns):
    admitted = np.random.default_rng(4).integers(17_000, 18_000, len(stay))
    held = {"admitted": (admitted, DATE), "left": (admitted + stay, DATE), **columns}
    data = {name: Column(np.asarray(values, np.int64), schema) for name, (values, schema) in held.items()}
    folder.mkdir()
    return Victim(folder, data | {PERSONS: Column(np.arange(len(stay)), Schema("integer"))}, overlap=overlap)


def stays(rows, longest):
    found = np.random.default_rng(5).integers(1, 9, rows)
    found[0] = longest
    return found


@pytest.mark.parametrize("longest", [8, 900])
def test_a_cluster_of_derived_numbers_that_one_person_dominates_is_withheld(tmp_path, longest):
    study = CLUSTERING.parse(
        {
            "clusters": 2,
            "layout": "horizontal",
            "labels": False,
            "iterations": 3,
            "precision": 20,
            "start": "random",
            "columns": ["stay"],
            "derived": STAY,
        }
    )
    apart = np.repeat([0, 40_000], 100)
    mine = {"admitted": np.full(200, -25_000), "left": apart - 25_000}
    held = victim(tmp_path / "v", stays(40, longest))
    held._policy = replace(POLICY, zeros=SHOWN)  # it has nobody in the other cluster
    _, outcome = held.asked(study, policy=Limits(zeros=SHOWN), brought=mine)
    sizes = outcome.tables[0].columns["size"]
    assert (None in sizes) is (longest == 900)


@pytest.mark.parametrize("longest", [8, 900])
def test_nor_does_a_model_of_derived_numbers_tell_of_the_one_who_stayed_long(tmp_path, longest):
    study = MODELS.parse(
        {"models": [{"name": "m", "kind": "linear", "outcome": "stay", "on": ["old"]}], "derived": CUT | STAY}
    )
    age = np.append(np.full(25, 95), np.full(175, 40))
    mine = {
        "age": np.where(np.arange(40) % 2, 95, 30),
        "admitted": np.full(40, 17_000),
        "left": np.full(40, 17_003),
    }
    _, outcome = victim(tmp_path / "v", stays(200, longest), age=(age, AGE)).asked(
        study, recipients=BOTH, brought=mine
    )
    assert (outcome is None) is (longest == 900)


@pytest.mark.parametrize("lower", ["0", "-10000000", "-100000.0000000000001"])
def test_a_range_of_the_job_does_not_take_dominance_away(tmp_path, lower):
    """Nor one of so many digits that sums are kept modulo a prime."""
    study = MODELS.parse(
        {
            "models": [
                {
                    "name": "m",
                    "kind": "linear",
                    "outcome": "cost",
                    "on": ["old"],
                    "range": {"cost": [lower, "100000"]},
                }
            ],
            "derived": CUT,
        }
    )
    age = np.append(np.full(25, 95), np.full(175, 40))
    drawn = np.random.default_rng(6)
    cost = drawn.integers(3000, 9000, 200)
    mine = {"age": np.where(np.arange(40) % 2, 95, 30), "cost": drawn.integers(3000, 9000, 40)}
    for highest in (9000, 98_765):
        cost[:25] = drawn.integers(10, 300, 25) if highest > 9000 else cost[:25]
        cost[0] = highest
        asked = victim(tmp_path / str(highest), stays(200, 8), age=(age, AGE), cost=(cost, COST))
        _, outcome = asked.asked(study, recipients=BOTH, brought=mine)
        assert (outcome is None) is (highest > 9000)


@pytest.mark.parametrize("longest", [70, 25_000])
def test_two_sums_of_derived_numbers_whose_difference_one_person_dominates(tmp_path, longest):
    """Of all, and of those who are not 95: apart from 25,000 days of one, 3,000 of 59."""
    stay = np.random.default_rng(7).integers(30, 70, 210)
    stay[0] = longest
    age = np.append(np.full(60, 95), np.full(150, 50))
    asked, told = victim(tmp_path / "v", stay, overlap=10, age=(age, AGE)), []
    for where in ({}, {"where": [{"column": "age", "not_equals": 95}]}):
        query = {"kind": "sum", "column": "stay", **where}
        study = STATISTICS.parse(
            {"noise": "none", "maximum_rows": 10_000, "queries": [query], "derived": STAY}
        )
        told.append(asked.asked(study)[1])
    assert told[0] is not None
    assert (told[1] is None) is (longest == 25_000)

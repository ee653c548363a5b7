"""Ratios pooled over strata, as daemons run, remember and refuse them."""

from __future__ import annotations

import numpy as np
import pytest

from parties.contracts.state import State
from smc.analyses.statistics.kinds.mantel_haenszel import PooledFigures
from tests.parties.jobs.institutions import job

REFUSED = dict.fromkeys(("north", "south"), (State.FAILED, "disclosure"))
DECLARED = {
    "id": {"type": "text"},
    "died": {"type": "category", "values": ["no", "yes"]},
    "arm": {"type": "category", "values": ["A", "B"]},
    "ward": {"type": "category", "values": ["1", "2", "3", "4"]},
    "age": {"type": "integer", "lower": 0, "upper": 120},
}


def pooled(columns=(), **more):
    query = {
        "name": "ratios",
        "kind": "mantel-haenszel",
        "column": "died",
        "event": "yes",
        "by": "arm",
        "strata": "ward",
        **more,
    }
    parameters = {"noise": "none", "maximum_rows": 1000, "queries": [query]}
    return job("statistics", parameters, ["died", "arm", "ward", *columns])


@pytest.fixture
def wards(institutions):
    """Persons of each side in four wards, of whom more die in arm A; one is 97 years old."""
    rows = range(480)
    for name in ("north", "south"):
        cells = {
            "id": [f"{name} {row}" for row in rows],
            "arm": ["AB"[row % 2] for row in rows],
            "died": ["yes" if row % 10 in (0, 1, 2, 4) else "no" for row in rows],
            "ward": [str(1 + row // 2 % 4) for row in rows],
            "age": [97 if row == 70 else 30 + row % 50 for row in rows],
        }
        institutions.hold(name, cells, DECLARED, person="id")
        institutions.allow(name, minimum_group=10)
    return institutions


def test_both_get_figures_of_all_wards_together(wards):
    run = wards.run(pooled())
    cells = [[[0] * 4 for _ in range(2)] for _ in range(2)]
    for row in range(480):
        cells[row % 2][row % 10 not in (0, 1, 2, 4)][row // 2 % 4] += 2
    exact = PooledFigures.of(np.array(cells, dtype=float).reshape(4, 4))
    for name in ("north", "south"):
        table = run.tables(name)["ratios"]
        found = dict(zip(table["term"], table["value"], strict=True))
        assert found["odds ratio"] == pytest.approx(exact.odds_ratio, rel=exact.odds_variance**0.5 / 64)
        assert found["chi-square"] == pytest.approx(exact.chi_square, abs=2**-7)
        assert table == run.tables("north")["ratios"]


def test_the_same_without_one_person_is_refused(wards):
    wards.run(pooled())
    but_one = [{"column": "age", "not_equals": 97}]
    assert wards.failed(pooled(["age"], where=but_one)) == REFUSED
    wards.run(pooled())


def test_counts_of_one_arm_beside_them_are_judged_together(wards):
    """Counts of those who died, but for one person, and the pooled ones: the difference is that one."""
    wards.run(pooled())
    query = {"kind": "count", "column": "died", "by": "arm", "where": [{"column": "died", "equals": "yes"}]}
    others = [*query["where"], {"column": "age", "not_equals": 97}]
    deaths = {"noise": "none", "maximum_rows": 1000, "queries": [query | {"where": others}]}
    assert wards.failed(job("statistics", deaths, ["died", "arm", "age"])) == REFUSED

"""Bisection by repeated comparisons: what it finds, in how many jobs, and that leakage statements say so."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import pytest

from smc.analyses.comparison.bisection import findable_values, jobs_to_find, possible_values
from smc.analyses.comparison.study import COMPARISON
from smc.analyses.disclosure.limits import NO_LIMITS
from smc.analyses.studies.columns import Column, Schema
from smc.analyses.studies.runner import run_study
from smc.forms import ComparisonType, Form, Role, all_types
from smc.pair import run_pair

AGES = [0, 1, 17, 63, 64, 101, 119, 120]
ANSWER = Callable[[list[int]], list[int]]


def bisect(answer: ANSWER, rows: int, bits: int, jobs: int) -> list[set[int]]:
    """What is left of each row's value after some jobs; `answer(thresholds)` is `value >= threshold`."""
    low, high = [0] * rows, [2**bits - 1] * rows
    for _ in range(jobs):
        middle = [(a + b + 1) // 2 for a, b in zip(low, high, strict=True)]
        for row, above in enumerate(answer(middle)):
            if above:
                low[row] = middle[row]
            else:
                high[row] = middle[row] - 1
    return [set(range(a, b + 1)) for a, b in zip(low, high, strict=True)]


def joint(values: list[int]) -> ANSWER:
    """Jobs of the type NP-PN-PN: Alice chooses y and sees whether Bob's x is as large."""
    study = COMPARISON.parse({"type": "NP-PN-PN", "bits": 7, "engine": "oblivious"})
    schema = Schema("integer", lower=0, upper=127)

    def answer(thresholds: list[int]) -> list[int]:
        sides = ({"y": Column(thresholds, schema)}, {"x": Column(values, schema)})
        alice = frozenset({Role.ALICE})
        outcome, _ = run_pair(
            *(
                lambda session, data=data: run_study(study, session, data, alice, NO_LIMITS.of_both)
                for data in sides
            )
        )
        return [int(cell) for cell in outcome.tables[0].columns["delta"]]

    return answer


def test_seven_jobs_find_every_age() -> None:
    assert jobs_to_find(121) == jobs_to_find(128) == 7
    assert bisect(joint(AGES), len(AGES), 7, 7) == [{age} for age in AGES]


def test_three_jobs_leave_sixteen_candidates() -> None:
    for age, left in zip(AGES, bisect(joint(AGES), len(AGES), 7, 3), strict=True):
        assert age in left
        assert len(left) == 16


@pytest.mark.parametrize(("values", "jobs"), [(1, 0), (2, 1), (3, 2), (4, 2), (5, 3), (1 << 32, 32)])
def test_how_many_jobs(values: int, jobs: int) -> None:
    assert jobs_to_find(values) == jobs


def test_one_number_for_all_rows_parts_them_at_one_place_a_job() -> None:
    """Of 8 values, as many jobs as there are thresholds; fewer leave two values that answer alike."""

    def told_apart(thresholds: list[int]) -> int:
        return len({tuple(value >= each for each in thresholds) for value in range(8)})

    every = [*range(1, 8)]
    assert jobs_to_find(8, by_one=True) == len(every)
    assert told_apart(every) == 8
    assert all(told_apart([each for each in every if each != missing]) == 7 for missing in every)


@pytest.mark.parametrize(
    ("schema", "values"),
    [
        (Schema("integer", lower=0, upper=120), 121),
        (Schema("decimal", 1, -5, 4), 10),
        (Schema("integer", lower=0), None),
        (Schema("integer", lower=7, upper=7), None),
        (Schema("category", categories=("all",), lower=0, upper=0), None),
        (Schema("share", modulus="1"), None),
        (Schema("text"), None),
        (Schema("share", modulus="97"), 97),
        (Schema("share", modulus=str(1 << 200)), 1 << 128),
        (Schema("share", modulus="alice"), 1 << 128),
        (Schema("ciphertext"), 1 << 128),
    ],
)
def test_how_many_values(schema: Schema, values: int | None) -> None:
    assert possible_values(schema) == values


@pytest.mark.parametrize(
    ("kind", "alice", "bob"),
    [
        ("PN-NP-PN", ("y",), ()),
        ("PN-NP-NP", (), ("x",)),
        ("PN-NP-PP", ("y",), ("x",)),
        ("PN-NP-SS", (), ()),
        ("PN-NP-ES", (), ()),
        ("SS-NP-NP", (), ("x",)),
        ("SS-SS-PP", ("x", "y"), ("x", "y")),
        ("PN-PP-PP", (), ("x",)),
        ("PN-PN-PP", (), ()),
        ("SE-SE-PP", (), ("x", "y")),
        ("ES-NP-NP", (), ("x",)),
        ("PP-PP-PP", (), ()),
    ],
)
def test_who_finds_what(kind: str, alice: tuple[str, ...], bob: tuple[str, ...]) -> None:
    parsed = ComparisonType.parse(kind)
    assert findable_values(parsed, Role.ALICE) == alice
    assert findable_values(parsed, Role.BOB) == bob


def test_every_type_with_its_mirror() -> None:
    """Nobody finds what it knows, or anything from results that it does not see."""
    for kind in all_types():
        for role in Role:
            names = findable_values(kind, role)
            assert names == findable_values(kind.mirror, role.other)
            assert not names or role in kind.delta.sees
            assert all(role not in (kind.x if name == "x" else kind.y).sees for name in names)


def stated(parameters: Mapping[str, Any], role: Role) -> tuple[str, ...]:
    leakage = COMPARISON.parse(parameters).leakage(frozenset())
    return leakage.alice if role is Role.ALICE else leakage.bob


@pytest.mark.parametrize(
    ("parameters", "sentence"),
    [
        ({"type": "PN-NP-PN", "bits": 7}, "in at most 7 jobs with chosen values of x: every value of y"),
        ({"type": "NP-PN-PN", "bits": 12}, "in at most 12 jobs with chosen values of y: every value of x"),
        (
            {"type": "NP-PP-PN", "bits": 7, "y": 65},
            "in at most 7 jobs with chosen values of y: any one value of x; "
            "in at most 127 jobs every value of x",
        ),
        (
            {"type": "SS-SS-PN", "bits": 7},
            "in at most 8 jobs in which it shifts its part: every difference of x and y",
        ),
    ],
)
def test_the_leakage_statement_has_the_number(parameters: Mapping[str, Any], sentence: str) -> None:
    assert stated(parameters, Role.ALICE)[1:] == (sentence,)
    assert stated(parameters, Role.BOB) == ()


@pytest.mark.parametrize("delta", [Form.SS, Form.SE, Form.ES])
def test_results_that_nobody_sees_find_nothing(delta: Form) -> None:
    for role in Role:
        assert stated({"type": f"PN-NP-{delta.value}", "bits": 7}, role) == ()

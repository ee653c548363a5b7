"""What stays of a column counts, whatever a step did to its other cells: one clipped cell changes nothing."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

from anonymizer.gate.kept import kept_rows
from anonymizer.gate.looks import inspect
from anonymizer.gate.views import ColumnView
from anonymizer.tables.roles import Roles
from anonymizer.tables.table import Table

ROWS = np.arange(400)
RANDOM = np.random.default_rng(27)
CODES = RANDOM.permutation(ROWS) * 1_048_573 / 1024 + 3_141_592_653.0
"""Numbers with the digits of codes: all different, in no order."""
AGES = RANDOM.integers(0, 95, 400)
CHANGED = (0, 1, 4, 200)
"""Cells of 400: none, one, one in a hundred, half."""


def rules(before: pd.DataFrame, after: pd.DataFrame, roles: Roles, *, known: bool = True) -> set[str]:
    """What is found of column `x`."""
    original = Table.of(before, roles)
    released = Table.of(after, roles.among(after.columns))
    found = inspect(original, released, origin=ROWS if known else None, ordered=True)
    return {one.rule for one in found if one.column == "x"}


def spoiled(cells: np.ndarray, count: int, to: object) -> np.ndarray:
    return np.where(count > ROWS, to, cells)


@pytest.mark.parametrize("count", CHANGED)
def test_codes_are_codes_though_a_step_changed_some(count):
    before = pd.DataFrame({"age": AGES, "x": CODES})
    roles = Roles(quasi_identifiers=("age",))
    after = pd.DataFrame({"age": "*", "x": spoiled(CODES, count, 1.0)})
    assert "identifying" in rules(before, after, roles)


def test_what_a_method_draws_or_averages_is_no_code():
    before = pd.DataFrame({"age": AGES, "x": CODES})
    roles = Roles(quasi_identifiers=("age",))
    drawn = RANDOM.normal(0, 1e6, 400)
    assert not rules(before, pd.DataFrame({"age": "*", "x": CODES + drawn}), roles)


@pytest.mark.parametrize("count", CHANGED)
def test_what_a_quasi_identifier_decides_is_an_image_though_some_cells_are_clipped(count):
    before = pd.DataFrame({"age": AGES, "x": [f"town {age * 7919 % 31}" for age in AGES]})
    after = pd.DataFrame({"age": AGES // 50 * 50, "x": spoiled(before["x"], count, "other")})
    assert "image" in rules(before, after, Roles(quasi_identifiers=("age",)))


def test_what_is_replaced_by_chance_is_no_image():
    before = pd.DataFrame({"age": AGES, "x": [f"town {age * 7919 % 31}" for age in AGES]})
    after = pd.DataFrame({"age": AGES // 50 * 50, "x": RANDOM.permutation(before["x"])})
    assert not rules(before, after, Roles(quasi_identifiers=("age",)))


@pytest.mark.parametrize("count", CHANGED)
def test_cells_that_stay_are_not_replaced_one_by_one(count):
    cells = RANDOM.permutation(ROWS) % 40
    before = pd.DataFrame({"age": AGES, "sex": ROWS % 2, "y": ROWS, "x": cells})
    after = before.assign(x=spoiled(cells, count, 77))
    assert "renamed" not in rules(before, after, Roles(quasi_identifiers=("age",)), known=False)
    after = before.assign(x=np.where(count <= ROWS, (cells * 7 + 3) % 41, cells))
    assert "renamed" in rules(before, after, Roles(quasi_identifiers=("age",)), known=False)


@pytest.mark.parametrize(
    ("before", "after", "kept"),
    [
        (["1.50", "2.0", "x1"], ["1.5", "2.0", "x1"], [False, True, True]),
        ([1.5, None, 3.0], [1.5, None, None], [True, True, False]),
        (["a", "b", None], ["a", "c", "d"], [True, False, False]),
        ([1, 2, 3], ["1", "[2, 3]", "[2, 3]"], [True, False, False]),
        (["01.02.2020", "03.02.2020"] * 20, ["2020-02-01", "2020-02-04"] * 20, [True, False] * 20),
        (["5.10"] * 3, ["5.1"] * 3, [True] * 3),
        ([], [], []),
    ],
)
def test_a_cell_is_kept_if_it_says_the_same(before, after, kept):
    one, other = (
        ColumnView.of(Table.of(pd.DataFrame({"x": cells}, dtype=object), Roles()), "x")
        for cells in (before, after)
    )
    assert kept_rows(other, one).tolist() == kept
    assert kept_rows(one, one).all()

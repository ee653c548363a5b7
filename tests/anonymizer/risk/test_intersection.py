"""Several releases together: against the definition, person by person, and what falls between safe ones."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from anonymizer.errors import TableError
from anonymizer.hierarchies.hierarchy import ValueHierarchy
from anonymizer.methods.sensitive.anatomy import Anatomy
from anonymizer.risk import intersection
from anonymizer.risk.covering import ReleasedRows
from anonymizer.risk.intersection import intersect
from anonymizer.tables.randomness import Randomness
from anonymizer.tables.roles import Roles
from anonymizer.tables.table import Table

ROLES = Roles(identifiers=(), quasi_identifiers=("age",), sensitive=("ill",))
HERE = Randomness(1, "tests")


def released(frame: pd.DataFrame, width: int, start: int = 0) -> pd.DataFrame:
    """Ages as intervals of a width that begin at some age."""
    low = (frame["age"] - start) // width * width + start
    return frame.assign(age=[f"[{a}, {a + width})" for a in low])


def rows(frame: pd.DataFrame, name: str = "other") -> ReleasedRows:
    return ReleasedRows.of(name, Table.of(frame), ROLES)


def test_two_releases_with_two_values_each_leave_one():
    frame = pd.DataFrame({"age": [0, 1, 2, 3, 4, 5], "ill": ["a", "b", "c", "d", "a", "b"]})
    one, two = released(frame, 2), released(frame, 2, 1)
    found = intersect(Table.of(frame, ROLES), [rows(one), rows(two)], HERE)
    assert [left.l_alone["ill"] for left in found.left] == [2, 1]  # ages 0 and 5 are alone in the second
    inner = frame.iloc[1:5]
    found = intersect(Table.of(inner.reset_index(drop=True), ROLES), [rows(one), rows(two)], HERE)
    assert [left.l_alone["ill"] for left in found.left] == [2, 2]
    assert [left.l["ill"] for left in found.left] == [1, 1]
    assert [left.certain["ill"] for left in found.left] == [4, 4]
    assert (found.k, found.l, found.certain) == (1, {"ill": 1}, {"ill": 4})


def test_the_same_classes_once_more_tell_nothing():
    frame = pd.DataFrame({"age": np.arange(60), "ill": ["a", "b", "c"] * 20, "note": np.arange(60) % 7})
    one = released(frame, 10)
    found = intersect(Table.of(frame, ROLES), [rows(one), rows(one.iloc[::-1])], HERE)
    assert [(left.k, left.k_alone) for left in found.left] == [(10, 10)] * 2
    assert found.l == {"ill": 3}


def test_changed_values_link_nothing():
    frame = pd.DataFrame({"age": np.arange(60), "ill": ["a", "b", "c"] * 20})
    other = released(frame, 10, 5).assign(ill=["x", "y"] * 30)
    found = intersect(Table.of(frame, ROLES), [rows(released(frame, 10)), rows(other)], HERE)
    assert [(left.k, left.k_alone) for left in found.left] == [(10, 10), (5, 5)]


def test_a_person_who_is_absent_from_one_release_is_not_looked_for_in_it():
    frame = pd.DataFrame({"age": np.arange(40), "ill": list("abcd") * 10})
    part = released(frame, 10).iloc[:20]
    found = intersect(Table.of(frame, ROLES), [rows(released(frame, 5)), rows(part)], HERE)
    assert [left.persons for left in found.left] == [40, 20]
    assert found.left[0].k_alone == 5


def test_labels_are_read_by_hierarchies():
    frame = pd.DataFrame({"age": list("pqrs") * 4, "ill": list("abcdefgh") * 2})
    tree = {"age": ValueHierarchy([["p", "x", "*"], ["q", "x", "*"], ["r", "y", "*"], ["s", "y", "*"]])}
    original = Table.of(frame, ROLES, tree)
    by_letter = frame.assign(age=["x" if age in "pq" else "y" for age in frame["age"]])
    found = intersect(original, [rows(by_letter), rows(frame.assign(age="*"))], HERE)
    assert [(left.k_alone, left.k) for left in found.left] == [(8, 8), (16, 8)]


def test_groups_of_anatomy_are_intersected():
    frame = pd.DataFrame({"age": np.arange(40), "ill": list("abcdefgh") * 5})
    original = Table.of(frame, ROLES)
    views = []
    for seed in (1, 2):
        made = Anatomy(l=2, random_state=seed).release(original)
        views.append(ReleasedRows.of(f"anatomy {seed}", made.table, ROLES, made.extra, made.origin))
    found = intersect(original, views, HERE)
    assert [left.l_alone for left in found.left] == [{"ill": 2}, {"ill": 2}]
    assert found.l == {"ill": 1}
    assert found.certain["ill"] >= 10
    assert found.k is None  # rows of anatomy are seen as they are


def test_one_release_or_none_to_look_in_is_refused():
    frame = pd.DataFrame({"age": [1, 2], "ill": ["a", "b"]})
    with pytest.raises(TableError, match="only one"):
        intersect(Table.of(frame, ROLES), [rows(frame)], HERE)
    with pytest.raises(TableError, match="no quasi-identifiers"):
        intersect(Table.of(frame, ROLES), [rows(frame), rows(frame[["ill"]])], HERE)


@st.composite
def cases(draw) -> tuple[pd.DataFrame, list[pd.DataFrame]]:
    count = draw(st.integers(2, 14))
    cell = st.lists(st.integers(0, 2), min_size=count, max_size=count)
    frame = pd.DataFrame({"age": draw(cell), "job": draw(cell), "ill": draw(cell), "note": draw(cell)})
    frame["age"] += 3 * frame["job"]
    views = []
    for _ in range(draw(st.integers(2, 3))):
        view = released(frame, draw(st.integers(1, 5)), draw(st.integers(-2, 0)))
        views.append(view.drop(columns=draw(st.sampled_from([[], ["note"], ["job"], ["note", "job"]]))))
    return frame, views


def covers(label: str, age: int) -> bool:
    low, high = label.strip("[)").split(", ")
    return int(low) <= age < int(high)


@settings(max_examples=60, deadline=None)
@given(cases())
def test_what_is_left_is_that_of_the_definition(case):
    frame, views = case
    found = intersect(Table.of(frame, ROLES), [rows(one) for one in views], HERE)
    for number, base in enumerate(views):
        least_k, least_l, certain = [], [], 0
        for age in frame["age"]:
            kept = base[[covers(label, age) for label in base["age"]]]
            for other in (one for place, one in enumerate(views) if place != number):
                shared = [name for name in base.columns if name in other.columns and name != "age"]
                there = other[[covers(label, age) for label in other["age"]]]
                known = set(map(tuple, there[shared].to_numpy().tolist()))
                fits = [tuple(row) in known for row in kept[shared].to_numpy().tolist()]
                kept = kept[fits] if any(fits) else kept
            least_k.append(len(kept))
            least_l.append(kept["ill"].nunique())
            certain += kept["ill"].nunique() == 1
        left = found.left[number]
        assert (left.k, left.l["ill"], left.certain["ill"]) == (min(least_k), min(least_l), certain)


def test_of_too_many_persons_a_part_is_drawn_and_it_is_said(monkeypatch):
    monkeypatch.setattr(intersection, "MAX_LOOKS", 1.0)
    frame = pd.DataFrame({"age": np.arange(300) % 60, "ill": list("abc") * 100})
    views = [rows(released(frame, 10)), rows(released(frame, 12))]
    found = intersect(Table.of(frame, ROLES), views, HERE)
    assert (found.looked, found.persons) == (100, 300)

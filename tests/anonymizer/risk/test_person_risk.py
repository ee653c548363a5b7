"""Special uniques, individual and household risk, several sensitive columns: against their definitions."""

from __future__ import annotations

from itertools import chain, combinations
from math import factorial, log

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from anonymizer.errors import TableError
from anonymizer.hierarchies.hierarchy import ANY, ValueHierarchy
from anonymizer.measures.contract.measure import Case
from anonymizer.measures.registry import MEASURES
from anonymizer.risk.individual import household_risk, person_risk
from anonymizer.risk.joint import joint_risk
from anonymizer.risk.measures import journalist_risk
from anonymizer.risk.suda import sets_to_search, special_uniques
from anonymizer.risk.uniqueness import uniqueness
from anonymizer.tables.roles import Roles
from anonymizer.tables.table import Table

KEYS = ("a", "b", "c", "d")


@st.composite
def cells(draw) -> pd.DataFrame:
    row = st.tuples(*(st.integers(0, 2) for _ in KEYS))
    return pd.DataFrame(draw(st.lists(row, min_size=1, max_size=20)), columns=list(KEYS))


def minimal(frame: pd.DataFrame, row: int) -> list[frozenset[str]]:
    """The minimal sample uniques of a row, by trying all sets of columns."""

    rows = frame.to_dict("records")

    def alone(columns) -> bool:
        return sum(all(one[c] == rows[row][c] for c in columns) for one in rows) == 1

    every = chain.from_iterable(combinations(KEYS, size) for size in range(1, len(KEYS) + 1))
    unique = [frozenset(columns) for columns in every if alone(columns)]
    return [one for one in unique if not any(other < one for other in unique)]


@settings(max_examples=25, deadline=None)
@given(cells())
def test_special_uniques_are_those_of_all_sets(frame):
    found = special_uniques(Table.of(frame, Roles(quasi_identifiers=KEYS)))
    own = [minimal(frame, row) for row in range(len(frame))]
    assert found.scores.tolist() == [sum(factorial(4 - len(one)) for one in sets) for sets in own]
    assert found.smallest.tolist() == [min(map(len, sets), default=0) for sets in own]
    assert found.sizes == {n: sum(len(one) == n for sets in own for one in sets) for n in range(1, 5)}
    total = found.scores.sum()
    for name in KEYS:
        part = sum(factorial(4 - len(one)) for sets in own for one in sets if name in one)
        assert found.columns[name] == pytest.approx(part / total if total else 0)
    assert found.unique == np.mean([bool(sets) for sets in own])
    some = special_uniques(Table.of(frame, Roles(quasi_identifiers=KEYS)), largest=2)
    assert some.sizes == {n: found.sizes[n] for n in (1, 2)}
    assert sets_to_search(4) == 15
    assert sets_to_search(4, 2) == 10


def test_dis_scores_by_hand():
    frame = pd.DataFrame({"a": [1, 1, 2, 2, 3], "b": [1, 2, 2, 2, 3]})
    table = Table.of(frame, Roles(quasi_identifiers=("a", "b")))
    found = special_uniques(table, fraction=0.2)
    # b alone singles out the first row, a with b the second, each of them the last; two rows are a pair
    assert found.scores.tolist() == [1, 1, 0, 0, 2]
    # three uniques and one pair: 0.2 * 3 / (0.2 * 3 + 2 * 0.8 * 1) = 3 / 11, so that odds against are 8 / 3;
    # 2 ** 1.3 = 2.462289, the mean of 1, 1 and 1 / 2.462289 is 0.802042, and 8 / 3 / 0.802042 = 3.324847
    assert found.dis == pytest.approx([0.231222, 0.231222, 0, 0, 0.425476], abs=1e-6)
    assert special_uniques(table).dis is None
    assert special_uniques(table, fraction=1.0).dis == pytest.approx([1, 1, 0, 0, 1])
    nobody = Table.of(frame.iloc[[2, 3]].reset_index(drop=True), Roles(quasi_identifiers=("a", "b")))
    assert special_uniques(nobody, fraction=0.2).dis.tolist() == [0, 0]
    with pytest.raises(TableError, match=r"sampling fraction is 1\.5"):
        special_uniques(table, fraction=1.5)


@settings(max_examples=25, deadline=None)
@given(cells(), st.floats(0.01, 1))
def test_dis_scores_rank_as_scores_do_and_keep_the_odds_of_a_match(frame, fraction):
    table = Table.of(frame, Roles(quasi_identifiers=KEYS))
    found = special_uniques(table, fraction=fraction)
    scored = found.scores > 0
    if scored.any():
        odds = (1 / found.dis[scored] - 1).mean()
        match = uniqueness(table, fraction).match
        assert odds == pytest.approx(1 / match - 1)
        order = np.argsort(found.scores[scored], kind="stable")
        assert (np.diff(found.dis[scored][order]) >= -1e-12).all()
    assert (found.dis[~scored] == 0).all()


def test_individual_risk_follows_the_weights():
    frame = pd.DataFrame({"a": [1, 1, 2, 3]})
    release = Table.of(frame, Roles(quasi_identifiers=("a",)))
    found = person_risk(release, weights=np.array([10.0, 30.0, 5.0, 1.0])).rows
    one, two = 1 / 5, 2 / 40
    assert found[2] == pytest.approx(one / (1 - one) * log(1 / one))
    assert found[0] == found[1] == pytest.approx(two / (1 - two) - (two / (1 - two)) ** 2 * log(1 / two))
    assert found[3] == pytest.approx(1)
    evenly = person_risk(release, fraction=0.2)
    assert evenly.rows[2] == pytest.approx(found[2])
    assert evenly.expected == pytest.approx(evenly.rows.sum())
    with pytest.raises(TableError, match="1 sampling weights are missing or below 1, the first in row 2"):
        person_risk(release, weights=np.array([1.0, 0.5, 1.0, 1.0]))
    with pytest.raises(TableError, match="how many people"):
        person_risk(release)


def test_a_household_is_found_if_a_member_is():
    rows = np.array([0.5, 0.2, 0.1, 1.0, 0.3])
    found = household_risk(rows, np.array([0, 0, -1, 1, 1]))
    assert found == pytest.approx([0.6, 0.6, 0.1, 1.0, 1.0])
    assert household_risk(rows, np.full(5, -1)).tolist() == rows.tolist()


def test_who_knows_one_sensitive_column_may_know_the_other():
    frame = pd.DataFrame({"a": [1] * 4, "ill": list("xxyy"), "drug": list("ppqr"), "pay": [1, 2, 1, None]})
    found = joint_risk(Table.of(frame, Roles(quasi_identifiers=("a",), sensitive=("ill", "drug"))))
    assert (found["ill"].l, found["ill"].known) == (1, 1.0)
    assert (found["drug"].l, found["drug"].known) == (1, 0.5)
    gaps = joint_risk(Table.of(frame, Roles(quasi_identifiers=("a",), sensitive=("ill", "pay"))))
    assert (gaps["pay"].l, gaps["pay"].known) == (1, 0.25)
    with pytest.raises(TableError, match="fewer than two"):
        joint_risk(Table.of(frame, Roles(sensitive=("ill",))))


def test_a_population_as_it_was_collected_is_counted_by_what_labels_cover():
    towns = ValueHierarchy([["a", "north", ANY], ["b", "north", ANY], ["c", "south", ANY]])
    roles = Roles(quasi_identifiers=("age", "town"))
    original = Table.of(pd.DataFrame({"age": [21, 25, 40], "town": ["a", "b", "c"]}), roles, {"town": towns})
    release = Table.of(
        pd.DataFrame({"age": ["[20, 30)"] * 2 + [ANY], "town": ["north", "north", "c"]}), roles
    )
    people = Table.of(pd.DataFrame({"age": [21, 25, 40, 30, 29, 77], "town": list("abcaac")}))
    assert journalist_risk(release, people, original).rows == pytest.approx([1 / 3, 1 / 3, 1 / 2])
    with pytest.raises(TableError, match=r"0 people like the one in row 1 of the release") as caught:
        journalist_risk(release, people.take(np.array([2, 3, 5])), original)
    assert "north" not in str(caught.value)


def test_dis_scores_are_in_the_report_where_the_fraction_is_known():
    frame = pd.DataFrame({"a": [1, 1, 2, 2, 3], "b": [1, 2, 2, 2, 3]})
    table = Table.of(frame, Roles(quasi_identifiers=("a", "b")))
    suda = MEASURES["suda"]
    told = suda.describe(suda.measure(Case(table, table, fraction=0.2)))
    assert told.values["dis"]["highest"] == pytest.approx(0.425476, abs=1e-6)
    assert any("highest 0.425" in text for name, text in told.facts if name == "DIS-SUDA scores")
    bare = suda.describe(suda.measure(Case(table, table)))
    assert bare.values["dis"] is None
    assert all(name != "DIS-SUDA scores" for name, _ in bare.facts)

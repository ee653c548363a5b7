"""Classes and what is in them, against their definitions."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

from anonymizer.errors import SpecError, TableError
from anonymizer.models.constraints import (
    Allowed,
    Closeness,
    DistinctDiversity,
    EntropyDiversity,
    Presence,
    RecursiveDiversity,
    constraint,
)
from anonymizer.risk.classes import Contents, class_risk, grouped
from anonymizer.tables.table import Table
from tests.anonymizer.tables import classes_of, measures, tables

ALL = (
    DistinctDiversity("illness", 2),
    EntropyDiversity("illness", 1.7),
    RecursiveDiversity("illness", 2.0, 2),
    Closeness("illness", 0.25),
    Closeness("illness", 0.25, ordered=True),
)


@given(st.lists(st.tuples(st.integers(-1, 5), st.integers(-1, 10**6)), min_size=1, max_size=60))
def test_groups_are_those_of_equal_rows(rows):
    ids, count = grouped([np.array(column) for column in zip(*rows, strict=True)])
    assert sorted(set(ids.tolist())) == list(range(count))
    pairs = dict(zip(rows, ids.tolist(), strict=True))
    assert len(pairs) == len(set(pairs.values())) == count
    assert [pairs[row] for row in rows] == ids.tolist()


@given(tables())
def test_measures_of_classes_follow_their_definitions(table):
    classes, count = grouped([table.codes("city").codes])
    codes = table.codes("illness")
    contents = Contents.of(classes, count, codes.codes, np.bincount(codes.codes))
    everything = table.native["illness"].tolist()
    for place in range(count):
        cells = [cell for cell, own in zip(everything, classes, strict=True) if own == place]
        expected = measures(cells, everything)
        assert contents.distinct[place] == expected["distinct"]
        assert contents.entropy[place] == pytest.approx(expected["entropy"])
        assert contents.recursive(2)[place] == pytest.approx(expected["recursive"])
        assert contents.distance[place] == pytest.approx(expected["distance"], abs=1e-12)
        assert contents.ordered_distance[place] == pytest.approx(expected["ordered"], abs=1e-12)


@given(tables())
def test_a_release_is_as_good_as_its_worst_class(table):
    risk = class_risk(table)
    everything = table.native["illness"].tolist()
    found = [measures([everything[i] for i in rows], everything) for rows in classes_of(table)]
    assert risk.k == min(map(len, classes_of(table)))
    assert risk.classes == len(found)
    assert risk.l["illness"] == min(one["distinct"] for one in found)
    assert risk.entropy_l["illness"] == pytest.approx(min(one["entropy"] for one in found))
    assert risk.t["illness"] == pytest.approx(max(one["distance"] for one in found), abs=1e-12)


@given(tables(least=4), st.sampled_from(ALL), st.integers(1, 3))
def test_allowed_classes_stay_so_when_they_are_joined(table, one, k):
    allowed = Allowed(table, k, (one,))
    classes, count = grouped([table.codes("age").codes // 4])
    rows = np.arange(len(table))
    fine = np.flatnonzero(allowed(rows, classes, count))
    members = rows[np.isin(classes, fine)]
    if len(members):
        assert allowed(members, np.zeros(len(members), dtype=np.int64), 1)[0]
    for place in range(count):
        alone = rows[classes == place]
        judged = allowed(alone, np.zeros(len(alone), dtype=np.int64), 1)[0]
        assert judged == (place in fine)


def test_presence_is_the_part_that_is_in_the_data_set():
    frame = pd.DataFrame({"in": [True, False, False, True, True, False], "city": list("aaabbc")})
    allowed = Allowed(Table.of(frame), 1, (Presence("in", 0.3, 0.9),))
    classes = np.array([0, 0, 0, 1, 1, 2])
    assert allowed(np.arange(6), classes, 3).tolist() == [True, False, False]
    assert Allowed(Table.of(frame), 1, (Presence("in", 0, 1),))(np.arange(6), classes, 3).all()
    assert Allowed(Table.of(frame), 2, (Presence("in", 0, 1),))(np.arange(6), classes, 3).tolist() == [
        False,
        True,
        True,
    ]
    with pytest.raises(TableError, match="'city' does not say"):
        Allowed(Table.of(frame), 1, (Presence("city"),))


def test_constraints_are_read_from_tables():
    made = constraint({"model": "t-closeness", "column": "illness", "t": 0.1})
    assert made == Closeness("illness", 0.1)
    assert constraint(made) is made
    with pytest.raises(SpecError, match="'l-diversity'"):
        constraint({"model": "l-diversity", "column": "illness"})
    with pytest.raises(SpecError, match="unknown key 'kolumn'"):
        constraint({"model": "t-closeness", "kolumn": "illness"})

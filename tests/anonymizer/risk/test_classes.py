"""Classes and what is in them, against their definitions."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.optimize import linprog

from anonymizer.errors import SpecError, TableError
from anonymizer.hierarchies.hierarchy import ValueHierarchy
from anonymizer.methods.conditions.allowed import Allowed
from anonymizer.methods.conditions.constraints import (
    Closeness,
    DistinctDiversity,
    EntropyDiversity,
    Presence,
    RecursiveDiversity,
    constraint,
)
from anonymizer.risk.class_risk import class_risk, nearly_alike
from anonymizer.risk.classes import Contents, number_classes
from anonymizer.tables.roles import Roles
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
    ids, count = number_classes([np.array(column) for column in zip(*rows, strict=True)])
    assert sorted(set(ids.tolist())) == list(range(count))
    pairs = dict(zip(rows, ids.tolist(), strict=True))
    assert len(pairs) == len(set(pairs.values())) == count
    assert [pairs[row] for row in rows] == ids.tolist()


def test_tables_2_1_and_2_2_of_the_thesis():
    """The release has two rows a class; all of the first class have the same illness."""
    names = ["age", "gender", "address", "illness"]
    original = [(18, "M", "Tokyo", "AIDS"), (22, "M", "Saitama", "AIDS"), (36, "F", "Kyoto", "Diabetes")]
    original += [(38, "M", "Osaka", "Heart disease"), (88, "F", "Okinawa", "Cancer")]
    release = [(20, "M", "Kanto", "AIDS")] * 2
    release += [(36, "-", "Kansai", "Diabetes"), (36, "-", "Kansai", "Heart disease")]
    for rows, k, distinct in ((original, 1, [1] * 5), (release, 2, [1, 2])):
        table = Table.of(pd.DataFrame(rows, columns=names))
        classes, count = number_classes([table.codes(name).codes for name in names[:3]])
        codes = table.codes("illness").codes
        found = Contents.of(classes, count, codes, np.bincount(codes))
        assert np.bincount(classes).min() == k
        assert sorted(found.distinct) == distinct


@given(tables())
def test_measures_of_classes_follow_their_definitions(table):
    classes, count = number_classes([table.codes("city").codes])
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
    classes, count = number_classes([table.codes("age").codes // 4])
    rows = np.arange(len(table))
    fine = np.flatnonzero(allowed(rows, classes, count))
    members = rows[np.isin(classes, fine)]
    if len(members):
        assert allowed(members, np.zeros(len(members), dtype=np.int64), 1)[0]
    for place in range(count):
        alone = rows[classes == place]
        judged = allowed(alone, np.zeros(len(alone), dtype=np.int64), 1)[0]
        assert judged == (place in fine)


@given(tables(least=2, most=20), st.lists(st.integers(0, 1), min_size=3, max_size=3))
def test_hierarchical_distance_is_the_cheapest_transport(table, groups):
    classes, count = number_classes([table.codes("city").codes])
    codes = table.codes("illness")
    level = np.unique(np.array(groups)[: len(codes.values)], return_inverse=True)[1]
    totals = np.bincount(codes.codes)
    contents = Contents.of(classes, count, codes.codes, totals)
    found = contents.hierarchical_distance([level])
    kinds = len(totals)
    near = 0.5 if level.max() else 1.0
    ground = np.where(level[:, None] == level[None, :], near, 1.0) * (1 - np.eye(kinds))
    for place in range(count):
        own = np.bincount(codes.codes[classes == place], minlength=kinds) / (classes == place).sum()
        sums = np.vstack([np.kron(np.eye(kinds), np.ones(kinds)), np.kron(np.ones(kinds), np.eye(kinds))])
        cheapest = linprog(ground.ravel(), A_eq=sums, b_eq=np.concatenate([own, totals / totals.sum()]))
        assert found[place] == pytest.approx(cheapest.fun, abs=1e-9)
    flat = contents.hierarchical_distance([])
    np.testing.assert_allclose(flat, contents.distance, atol=1e-12)


@given(tables())
def test_disclosure_is_the_largest_ratio_of_shares(table):
    classes, count = number_classes([table.codes("city").codes])
    codes = table.codes("illness")
    totals = np.bincount(codes.codes)
    found = Contents.of(classes, count, codes.codes, totals).disclosure
    for place in range(count):
        own = np.bincount(codes.codes[classes == place], minlength=len(totals)) / (classes == place).sum()
        ratios = own[own > 0] / (totals / totals.sum())[own > 0]
        assert found[place] == pytest.approx(np.abs(np.log(ratios)).max(), abs=1e-12)


def ill(cells, **more) -> Table:
    frame = pd.DataFrame({"zip": ["1"] * len(cells), "ill": cells} | more)
    return Table.of(frame, Roles(quasi_identifiers=("zip",), sensitive=("ill",)))


def test_a_missing_cell_is_no_value():
    found = class_risk(ill(["HIV", "HIV", "HIV", None])).sensitive["ill"]
    assert (found.l, found.entropy_l, found.missing) == (1, 1.0, 1)
    assert found.t["equal"].release == 0
    gone = class_risk(ill([None, None, "HIV", "flu"], zip=list("aabb"))).sensitive["ill"]
    assert gone.l == 0
    assert gone.t["equal"].release == 0
    assert class_risk(ill([None, None])).l == {"ill": 0}


def test_values_that_look_alike_are_told():
    assert class_risk(ill(["HIV", "HIV ", "hiv", "flu"])).sensitive["ill"].alike == 1
    assert nearly_alike(np.array(["flu", "cold", "ﬂu"], dtype=object)) == 1
    assert nearly_alike(np.array(["flu", "cold", 3], dtype=object)) == 0


def test_closeness_is_told_against_the_release_and_the_table():
    original = ill([1, 2, 3, 3], zip=list("aabb"))
    release = original.take(np.array([0, 1, 2]))
    found = class_risk(release, original).sensitive["ill"].t
    assert found["equal"].release == pytest.approx(2 / 3)
    assert found["equal"].table == pytest.approx(1 / 2)
    assert found["ordered"].release == pytest.approx((2 / 3 + 1 / 3) / 2)
    assert found["ordered"].table == pytest.approx((1 / 4 + 2 / 4) / 2)
    assert "hierarchical" not in found
    assert class_risk(release).sensitive["ill"].t["equal"].table is None
    wards = ValueHierarchy([["1", "x"], ["2", "x"], ["3", "y"]])
    known = Table.of(original.native, original.roles, {"ill": wards})
    assert class_risk(release, known).sensitive["ill"].t["hierarchical"].table == pytest.approx(1 / 2)


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

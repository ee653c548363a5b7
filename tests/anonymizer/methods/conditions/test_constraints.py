"""Conditions beyond l and t on releases of small tables, each by its definition, for every method."""

from __future__ import annotations

import math
from collections import Counter
from dataclasses import replace

import numpy as np
import pandas as pd
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from anonymizer.errors import HierarchyError, SpecError, TableError, UnreachableError
from anonymizer.hierarchies.hierarchy import ANY, ValueHierarchy
from anonymizer.methods.conditions.constraints import (
    WORDS,
    Closeness,
    Disclosure,
    DistinctDiversity,
    Groups,
    KMap,
    constraint,
)
from anonymizer.methods.recoding.clustering import OnePassClustering
from anonymizer.methods.recoding.incognito import Incognito
from anonymizer.methods.recoding.local_recoding import LocalRecoding
from anonymizer.methods.recoding.mondrian import Mondrian
from anonymizer.tables.table import Table
from tests.anonymizer.tables import HIERARCHIES, ROLES, classes_of, tables

ILLNESS = ValueHierarchy([["u", "lung", ANY], ["v", "lung", ANY], ["w", "heart", ANY]])
METHODS = {
    "local": LocalRecoding,
    "incognito": Incognito,
    "incognito-suppressing": lambda **given: Incognito(maximum_suppression=0.3, **given),
    "mondrian": Mondrian,
    "mondrian-relaxed": lambda **given: Mondrian(relaxed=True, **given),
    "one-pass": lambda **given: OnePassClustering(random_state=3, **given),
}
EACH = pytest.mark.parametrize("made", METHODS.values(), ids=METHODS)


def tree_distance(cells, everything):
    """The earth mover's distance of values of the tree lung (u, v), heart (w): level by level."""
    own, whole = (Counter(some) for some in (cells, everything))
    gap = {kind: own[kind] / len(cells) - whole[kind] / len(everything) for kind in "uvw"}
    within = min(max(gap["u"], 0) + max(gap["v"], 0), max(-gap["u"], 0) + max(-gap["v"], 0))
    return within / 2 + abs(gap["w"])


def gains(cells, everything):
    own, whole = (Counter(some) for some in (cells, everything))
    return [
        abs(math.log(own[kind] / len(cells) * len(everything) / whole[kind])) if own[kind] else math.inf
        for kind in whole
    ]


def released(made, table, asked, k=1):
    """The release, or None if not even the whole table fulfils what is asked."""
    try:
        return made(k=k, constraints=(asked,)).release(table)
    except UnreachableError:
        return None


@EACH
@settings(max_examples=12, deadline=None)
@given(table=tables(least=3), t=st.sampled_from([0.05, 0.2, 0.4]))
def test_hierarchical_closeness(made, table, t):
    table = replace(table, hierarchies={**HIERARCHIES, "illness": ILLNESS})
    everything = table.native["illness"].tolist()
    release = released(made, table, Closeness("illness", t, hierarchical=True)).table
    cells = release.native["illness"].tolist()
    for rows in classes_of(release):
        assert tree_distance([cells[i] for i in rows], everything) <= t + 1e-9


@EACH
@settings(max_examples=12, deadline=None)
@given(table=tables(least=3), delta=st.sampled_from([0.3, 1.0, 2.0]))
def test_delta_disclosure(made, table, delta):
    everything = table.native["illness"].tolist()
    release = released(made, table, Disclosure("illness", delta)).table
    cells = release.native["illness"].tolist()
    for rows in classes_of(release):
        assert max(gains([cells[i] for i in rows], everything)) < delta


@EACH
@settings(max_examples=12, deadline=None)
@given(table=tables(least=6), seed=st.integers(0, 9))
def test_classes_are_diverse_for_who_knows_another_sensitive_column(made, table, seed):
    drug = np.random.default_rng(seed).choice(["p", "q"], len(table))
    table = replace(table, frame=Table.of(table.native.assign(drug=drug)).frame)
    made_release = released(made, table, DistinctDiversity("illness", 2, known=("drug",)))
    assume(made_release is not None)
    frame = made_release.table.native
    for rows in classes_of(made_release.table):
        assert (frame.iloc[rows].groupby("drug")["illness"].nunique() >= 2).all()
    assert "agree in drug" in made_release.guarantees[-1].condition


@EACH
@settings(max_examples=12, deadline=None)
@given(table=tables(least=6), seed=st.integers(0, 9), k=st.integers(2, 3))
def test_each_class_has_rows_of_k_households_whose_column_is_not_released(made, table, seed, k):
    home = np.random.default_rng(seed).choice(["A", "B", "C", None], len(table))
    table = replace(table, frame=Table.of(table.native.assign(home=home)).frame)
    made_release = released(made, table, Groups("home", k))
    assume(made_release is not None)
    assert "home" not in made_release.table.names
    for rows in classes_of(made_release.table):
        homes = [home[i] for i in made_release.origin[rows]]
        assert len(set(filter(None, homes))) + homes.count(None) >= k


@EACH
@settings(max_examples=12, deadline=None)
@given(table=tables(least=8), seed=st.integers(0, 9), k=st.integers(2, 4))
def test_each_released_row_matches_k_people_of_the_population(made, table, seed, k):
    inside = np.random.default_rng(seed).random(len(table)) < 0.4
    assume(inside.any())
    table = replace(table, frame=Table.of(table.native.assign(inside=inside)).frame)
    made_release = released(made, table, KMap("inside", k))
    frame = made_release.table.native
    assert "inside" not in frame.columns
    assert inside[made_release.origin].all()
    if "incognito-suppressing" not in str(made):
        assert len(frame) >= inside.sum() * 0.7 - 1
    people = table.native[list(ROLES.quasi_identifiers)].to_numpy(dtype=object)
    covers = [
        {value: labels(name, value) for value in set(people[:, j])}
        for j, name in enumerate(ROLES.quasi_identifiers)
    ]
    for row in frame[list(ROLES.quasi_identifiers)].itertuples(index=False):
        matching = [
            person
            for person in people
            if all(
                label in covers[j][value] for j, (value, label) in enumerate(zip(person, row, strict=True))
            )
        ]
        assert len(matching) >= k


def labels(name, value):
    levels = HIERARCHIES[name].bind(np.array([value], dtype=object), name)
    return {level.labels[0] for level in levels} | {ANY, str(value)}


def test_wrong_conditions_are_named():
    with pytest.raises(SpecError, match="both ordered and hierarchical"):
        Closeness("illness", ordered=True, hierarchical=True)
    frame = pd.DataFrame({"age": [1, 2], "city": ["a", "b"], "job": ["x", "y"], "illness": ["u", "v"]})
    table = Table.of(frame, ROLES, HIERARCHIES)
    with pytest.raises(HierarchyError, match="'illness', which has no hierarchy"):
        LocalRecoding(k=1, constraints=(Closeness("illness", 1.0, hierarchical=True),)).release(table)
    with pytest.raises(SpecError, match="k-map: k is 1"):
        KMap("inside", 1)
    with pytest.raises(SpecError, match="known = 'drug' is not a list"):
        constraint({"model": "t-closeness", "column": "illness", "t": 0.2, "known": "drug"})


@pytest.mark.parametrize("model", sorted(WORDS))
def test_the_numbers_of_a_condition_have_to_be_stated(model):
    """A default would promise what nobody has chosen."""
    with pytest.raises(
        SpecError, match=f"The constraint {model} lacks the key '(c|delta|high|k|l|low|t)'. Write"
    ):
        constraint({"model": model, "column": "illness"})


def test_a_condition_that_the_whole_table_fails_says_how_many_values_there_are():
    frame = pd.DataFrame(
        {"age": [1, 2, 3, 4], "city": list("abab"), "job": list("xyxy"), "illness": list("uvwu")}
    )
    table = Table.of(frame, ROLES, HIERARCHIES)
    with pytest.raises(UnreachableError, match="l = 9 of column 'illness', which has 3 different values"):
        LocalRecoding(k=2, constraints=(DistinctDiversity("illness", 9),)).release(table)


def test_guarantees_make_their_conditions_again():
    for asked in (
        Closeness("illness", 0.3, hierarchical=True),
        Closeness("illness", 0.3, ordered=True),
        Closeness("illness", 0.3),
        DistinctDiversity("illness", 3),
        Disclosure("illness", 0.5),
        Groups("illness", 4),
        KMap("illness", 4),
    ):
        told = asked.guarantee(("age",), "local-recoding")
        assert told.columns == ("age", "illness")
        assert WORDS[told.kind](told.sensitive, **told.parameters) == asked


@pytest.mark.parametrize(
    "cells", [[True, False, True], [1, 0, 1], [1.0, 0.0, 1.0], ["true", "False", "TRUE"], ["1", "0", "1"]]
)
def test_who_is_released_is_said_in_truth_values_numbers_or_texts(cells):
    codes, kinds = KMap("inside", 2).encode(Table.of(pd.DataFrame({"inside": cells})))
    assert codes.tolist() == [1, 0, 1]
    assert kinds == 2
    with pytest.raises(TableError, match="does not say who"):
        KMap("inside", 2).encode(Table.of(pd.DataFrame({"inside": ["yes", "no"]})))

"""What every method for k-anonymity promises, on many small tables and on a real one."""

from __future__ import annotations

import re
from dataclasses import replace

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from anonymizer.errors import AnonymizerError, SpecError, TableError, UnreachableError
from anonymizer.hierarchies import arx
from anonymizer.hierarchies.hierarchy import ANY, ValueHierarchy
from anonymizer.methods.conditions.constraints import (
    Closeness,
    DistinctDiversity,
    EntropyDiversity,
    RecursiveDiversity,
)
from anonymizer.methods.recoding.attributes import attribute, covers
from anonymizer.methods.recoding.clustering import KMember, OnePassClustering
from anonymizer.methods.recoding.incognito import Incognito
from anonymizer.methods.recoding.local_recoding import LocalRecoding
from anonymizer.methods.recoding.mondrian import Mondrian
from anonymizer.tables import files
from anonymizer.tables.roles import Roles
from anonymizer.tables.table import Table
from scripts.bench.ncp import ncp
from tests.anonymizer.data import shared
from tests.anonymizer.tables import HIERARCHIES, ROLES, classes_of, measures, tables

METHODS = {
    "local": LocalRecoding,
    "incognito": Incognito,
    "incognito-suppressing": lambda **given: Incognito(maximum_suppression=0.3, **given),
    "mondrian": Mondrian,
    "mondrian-relaxed": lambda **given: Mondrian(relaxed=True, **given),
    "k-member": lambda **given: KMember(random_state=3, **given),
    "one-pass": lambda **given: OnePassClustering(random_state=3, **given),
}
EACH = pytest.mark.parametrize("made", METHODS.values(), ids=METHODS)
LIMITS = {
    DistinctDiversity("illness", 2): lambda one: one["distinct"] >= 2,
    EntropyDiversity("illness", 1.5): lambda one: one["entropy"] >= 1.5 - 1e-9,
    RecursiveDiversity("illness", 3.0, 2): lambda one: one["recursive"] < 3,
    Closeness("illness", 0.3): lambda one: one["distance"] <= 0.3 + 1e-9,
    Closeness("illness", 0.3, ordered=True): lambda one: one["ordered"] <= 0.3 + 1e-9,
}


@EACH
@settings(max_examples=20, deadline=None)
@given(table=tables(), k=st.integers(2, 6))
def test_every_class_has_k_rows_and_every_label_covers_its_value(made, table, k):
    method = made(k=k)
    if k > len(table):
        with pytest.raises(UnreachableError, match=rf"k is {k} and the table has {len(table)} rows"):
            method.fit_transform_table(table)
        return
    release = method.fit_transform_table(table)
    assert min(map(len, classes_of(release))) >= k
    assert 0 <= ncp(table, release, method.origin_) <= 1
    if "suppress" not in str(method):
        assert len(release) == len(table)


@EACH
@settings(max_examples=20, deadline=None)
@given(table=tables(least=3), limit=st.sampled_from(list(LIMITS)), k=st.integers(2, 3))
def test_constraints_hold_in_every_class(made, table, limit, k):
    everything = table.native["illness"].tolist()
    if not LIMITS[limit](measures(everything, everything)):
        with pytest.raises(UnreachableError, match="whole table"):
            made(k=k, constraints=(limit,)).fit_transform_table(table)
        return
    release = made(k=k, constraints=(limit,)).fit_transform_table(table)
    cells = release.native["illness"].tolist()
    for rows in classes_of(release):
        assert len(rows) >= k
        assert LIMITS[limit](measures([cells[i] for i in rows], everything))


@EACH
def test_gaps_and_lacking_hierarchies_are_named(made):
    frame = pd.DataFrame(
        {"age": [1, 2, 3], "city": ["a", None, "b"], "job": list("xyz"), "illness": list("uvw")}
    )
    with pytest.raises(TableError, match=r"'city' has 1 missing cells, the first in row 2"):
        made(k=2).fit_transform_table(Table.of(frame, ROLES, HIERARCHIES))
    whole = frame.assign(city="a")
    with pytest.raises(AnonymizerError, match="'job' has no hierarchy"):
        made(k=2).fit_transform_table(
            Table.of(whole, ROLES, {n: h for n, h in HIERARCHIES.items() if n != "job"})
        )
    with pytest.raises(AnonymizerError, match="'city' has the value 'f', not covered"):
        made(k=2).fit_transform_table(Table.of(frame.assign(city="f"), ROLES, HIERARCHIES))
    with pytest.raises(AnonymizerError, match="k is 0"):
        made(k=0).fit_transform_table(Table.of(whole, ROLES, HIERARCHIES))


@given(table=tables(least=2), k=st.integers(2, 4))
def test_strict_cuts_do_not_overlap_and_keep_rows_alike_together(table, k):
    numbers = replace(table, hierarchies={n: h for n, h in HIERARCHIES.items() if n != "age"})
    if k > len(table):
        return
    release = Mondrian(k=k).fit_transform_table(numbers)
    attributes = [attribute(numbers, column) for column in ROLES.quasi_identifiers]
    boxes = []
    for rows in classes_of(release):
        ends = [covers(one.codes[rows], np.zeros(len(rows), dtype=np.int64), 1) for one in attributes]
        boxes.append([(int(low[0]), int(high[0])) for low, high in ends])
    for place, box in enumerate(boxes):
        for other in boxes[:place]:
            assert any(a[1] < b[0] or b[1] < a[0] for a, b in zip(box, other, strict=True))


@settings(max_examples=20, deadline=None)
@given(table=tables(least=4), k=st.integers(2, 4))
@pytest.mark.parametrize("made", [Mondrian, METHODS["mondrian-relaxed"], METHODS["k-member"]])
def test_numbers_without_hierarchy_become_intervals_that_the_simulator_reaches(made, table, k):
    numbers = replace(table, hierarchies={n: h for n, h in HIERARCHIES.items() if n != "age"})
    method = made(k=k)
    release = method.fit_transform_table(numbers)
    assert min(map(len, classes_of(release))) >= k
    ages = numbers.native["age"].tolist()
    for age, label in zip(ages, release.native["age"].tolist(), strict=True):
        ends = [float(part) for part in label.strip("[]").split(", ")]
        assert ends[0] <= age <= ends[-1]
    assert 0 <= ncp(numbers, release) <= 1


def test_a_relaxed_cut_divides_equal_numbers():
    table = Table.of(pd.DataFrame({"age": [1, 1, 1, 1, 2, 3]}), Roles(quasi_identifiers=("age",)))
    strict, relaxed = (
        Mondrian(k=3, relaxed=choice).fit_transform_table(table).native["age"].tolist()
        for choice in (False, True)
    )
    assert strict == ["[1, 3]"] * 6
    assert relaxed == ["1"] * 3 + ["[1, 3]"] * 3


def test_hierarchies_without_one_top_end_in_the_label_that_covers_everything():
    hierarchies = {"city": ValueHierarchy([["a", "north"], ["b", "south"]])}
    table = Table.of(pd.DataFrame({"city": list("aab")}), Roles(quasi_identifiers=("city",)), hierarchies)
    for made in METHODS.values():
        method = made(k=2)
        release = method.fit_transform_table(table)
        assert min(map(len, classes_of(release, ("city",)))) >= 2
        assert ANY in release.native["city"].tolist() or len(release) == 2


def test_who_is_in_the_data_set_cannot_be_told():
    frame = pd.DataFrame(
        {
            "age": np.arange(64) % 16,
            "city": [c for c in "abcd" for _ in range(16)],
            "in": [i % 3 == 0 or i < 5 for i in range(64)],
        }
    )
    table = Table.of(frame, Roles(quasi_identifiers=("age", "city")), HIERARCHIES)
    limit = {"model": "delta-presence", "column": "in", "low": 0.1, "high": 0.6}
    for made in (Incognito, Mondrian):
        method = made(k=2, constraints=(limit,))
        release = method.fit_transform_table(table)
        assert method.origin_.tolist() == np.flatnonzero(frame["in"]).tolist()
        assert list(release.native.columns) == ["age", "city"]
        for rows in classes_of(release, ("age", "city")):
            labels = release.native.iloc[rows[0]]
            known = _matching(frame, labels)
            assert len(rows) >= 2
            assert 0.1 <= len(rows) / len(known) <= 0.6
    for made in (LocalRecoding, KMember, METHODS["mondrian-relaxed"], METHODS["incognito-suppressing"]):
        with pytest.raises(SpecError, match="overlap"):
            made(k=2, constraints=(limit,)).fit_transform_table(table)


def _matching(frame: pd.DataFrame, labels: pd.Series) -> list[int]:
    """The population that an attacker finds under the labels."""
    found = np.ones(len(frame), dtype=np.bool_)
    for column in ("age", "city"):
        levels = HIERARCHIES[column].bind(np.unique(frame[column].to_numpy(dtype=object)), column)
        values = np.unique(frame[column].to_numpy(dtype=object)).tolist()
        fits = {
            value
            for level in levels
            for value, group in zip(values, level.groups.tolist(), strict=True)
            if level.labels[group] == labels[column]
        }
        found &= frame[column].isin(fits).to_numpy()
    return np.flatnonzero(found).tolist()


def adult(columns: tuple[str, ...]) -> Table:
    every = ("age", "education", "marital_status", "occupation", "sex", "native_country", "race", "workclass")
    frame = files.read(shared("adult_train.csv"))
    frame = frame[~(frame[list(every)] == "?").any(axis=1)].reset_index(drop=True)
    hierarchies = {
        name: arx.read(shared(f"hierarchies/arx_adult/{name.replace('_', '-')}.csv")) for name in every
    }
    return Table.of(frame, Roles(quasi_identifiers=columns or every, sensitive=("income",)), hierarchies)


def test_local_recoding_of_adult_loses_no_more_than_the_peer():
    table = adult(())
    release = LocalRecoding(k=5).fit_transform_table(table)
    assert len(release) == len(table) == 30_162
    assert min(map(len, classes_of(release, table.roles.quasi_identifiers))) >= 5
    assert ncp(table, release) <= 0.057


def test_local_recoding_keeps_detail_under_constraints():
    table = adult(("age", "education", "marital_status", "sex"))
    release = LocalRecoding(k=5, constraints=(DistinctDiversity("income", 2),)).fit_transform_table(table)
    assert min(release.native.groupby(list(table.roles.quasi_identifiers))["income"].nunique()) == 2
    assert ncp(table, release) <= 0.05


def test_full_domain_generalization_of_adult():
    table = adult(("age", "education", "marital_status", "occupation", "sex"))
    method = Incognito(k=5, maximum_suppression=0.05)
    release = method.fit_transform_table(table)
    assert len(release) >= 0.95 * len(table)
    assert min(map(len, classes_of(release, table.roles.quasi_identifiers))) >= 5
    assert ncp(table, release, method.origin_) <= 0.12


@pytest.mark.parametrize("made", [LocalRecoding, Mondrian, Incognito], ids=["local", "mondrian", "incognito"])
@settings(max_examples=20, deadline=None)
@given(
    table=tables(),
    k=st.integers(2, 4),
    low=st.integers(0, 1),
    high=st.integers(1, 2),
    limit=st.sampled_from([None, DistinctDiversity("illness", 2)]),
)
def test_labels_stay_within_limits_or_the_refusal_is_right(made, table, k, low, high, limit):
    levels = HIERARCHIES["age"].bind(np.arange(16), "age")
    tops = [levels[high].labels[levels[high].groups[age]] for age in table.native["age"]]
    illness = table.native["illness"].tolist()
    parts = [[i for i, top in enumerate(tops) if top == one] for one in set(tops)]
    possible = all(
        len(part) >= k and (limit is None or len({illness[i] for i in part}) >= 2) for part in parts
    )
    method = made(k=k, constraints=() if limit is None else (limit,), limits={"age": (low, high)})
    try:
        release = method.release(table)
    except UnreachableError:
        assert made is Incognito or not possible
        return
    assert possible
    for age, cell in zip(table.native["age"], release.table.native["age"], strict=True):
        assert cell in {one.labels[one.groups[age]] for one in levels[low : high + 1]}
    for rows in classes_of(release.table):
        assert len(rows) >= k
        assert limit is None or len({illness[i] for i in rows}) >= 2


def test_a_weight_keeps_the_detail_of_its_column():
    frame = pd.DataFrame({"age": [0, 0, 2, 2], "city": list("abab"), "job": ["x"] * 4, "illness": ["u"] * 4})
    for weights, kept in (({"age": 9.0}, "age"), ({"city": 9.0}, "city")):
        table = Table.of(frame, ROLES, HIERARCHIES)
        out = LocalRecoding(k=2, weights=weights).release(table).table.native
        assert [str(cell) for cell in out[kept]] == [str(cell) for cell in frame[kept]]


@pytest.mark.parametrize(
    ("given_", "words"),
    [
        ({"weights": {"age": 0}}, "weight of 'age' is 0"),
        ({"weights": {"agee": 1.0}}, "'agee' has a weight or limits"),
        ({"limits": {"age": (2, 1)}}, r"limits of 'age' are \[2, 1\]"),
        ({"limits": {"age": (0, 9)}}, r"\[0, 9\]; its hierarchy has 3 levels"),
    ],
)
def test_wrong_weights_and_limits_are_named(given_, words):
    frame = pd.DataFrame({"age": [0, 0], "city": list("aa"), "job": ["x"] * 2, "illness": ["u"] * 2})
    with pytest.raises(SpecError, match=words):
        LocalRecoding(k=2, **given_).release(Table.of(frame, ROLES, HIERARCHIES))


@pytest.mark.parametrize("name", ["mondrian", "k-member", "one-pass"])
def test_numbers_without_a_hierarchy_are_named_as_labels_of_cells(name):
    frame = pd.DataFrame({"age": [1, 7, 3, 12, 2, 6, 9, 15], "city": ["a", "d"] * 4})
    table = Table.of(frame, Roles(quasi_identifiers=("age", "city")), {"city": HIERARCHIES["city"]})
    method = METHODS[name](k=3)
    ends = "".join(map(str, method.fit_transform_table(table).native["age"]))
    assert all(str(cell) in {*map(str, frame["age"])} for cell in re.findall(r"\d+", ends))
    [note] = method.notes
    assert note.startswith("No hierarchy is given for age,")
    assert "each the cell of a person" in note
    method = METHODS[name](k=3)
    method.fit_transform_table(
        Table.of(frame, table.roles, {name: HIERARCHIES[name] for name in ("age", "city")})
    )
    assert method.notes == ()

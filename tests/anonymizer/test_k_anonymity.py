"""What every method for k-anonymity promises, on many small tables and on a real one."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from anonymizer.errors import AnonymizerError, SpecError, TableError, UnreachableError
from anonymizer.hierarchies import arx
from anonymizer.hierarchies.hierarchy import ANY, ValueHierarchy
from anonymizer.models.attributes import attribute, covers
from anonymizer.models.clustering import KMember, OnePassClustering
from anonymizer.models.constraints import (
    Closeness,
    DistinctDiversity,
    EntropyDiversity,
    RecursiveDiversity,
)
from anonymizer.models.incognito import Incognito
from anonymizer.models.local_recoding import LocalRecoding
from anonymizer.models.mondrian import Mondrian
from anonymizer.tables import files
from anonymizer.tables.roles import Roles
from anonymizer.tables.table import Table
from anonymizer.utility.ncp import ncp
from tests.anonymizer.data import shared
from tests.anonymizer.tables import HIERARCHIES, ROLES, classes_of, measures, tables

METHODS = {
    "local": LocalRecoding,
    "incognito": Incognito,
    "incognito-suppressing": lambda **given: Incognito(max_suppression=0.3, **given),
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
@settings(max_examples=40, deadline=None)
@given(table=tables(), k=st.integers(1, 6))
def test_every_class_has_k_rows_and_every_label_covers_its_value(made, table, k):
    method = made(k=k)
    if k > len(table):
        with pytest.raises(UnreachableError, match=rf"k is {k} and the table has {len(table)} rows"):
            method.release(table)
        return
    release = method.release(table)
    assert min(map(len, classes_of(release))) >= k
    assert 0 <= ncp(table, release, method.origin_) <= 1
    if "suppress" not in str(method):
        assert len(release) == len(table)


@EACH
@settings(max_examples=40, deadline=None)
@given(table=tables(least=3), limit=st.sampled_from(list(LIMITS)), k=st.integers(1, 3))
def test_constraints_hold_in_every_class(made, table, limit, k):
    everything = table.native["illness"].tolist()
    if not LIMITS[limit](measures(everything, everything)):
        with pytest.raises(UnreachableError, match="whole table"):
            made(k=k, constraints=(limit,)).release(table)
        return
    release = made(k=k, constraints=(limit,)).release(table)
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
        made(k=1).release(Table.of(frame, ROLES, HIERARCHIES))
    whole = frame.assign(city="a")
    with pytest.raises(AnonymizerError, match="'job' has no hierarchy"):
        made(k=1).release(Table.of(whole, ROLES, {n: h for n, h in HIERARCHIES.items() if n != "job"}))
    with pytest.raises(AnonymizerError, match="'city' has the value 'f', not covered"):
        made(k=1).release(Table.of(frame.assign(city="f"), ROLES, HIERARCHIES))
    with pytest.raises(TableError, match="k is 0"):
        made(k=0).release(Table.of(whole, ROLES, HIERARCHIES))


@settings(max_examples=60, deadline=None)
@given(table=tables(least=2), k=st.integers(1, 4))
def test_strict_cuts_do_not_overlap_and_keep_rows_alike_together(table, k):
    numbers = replace(table, hierarchies={n: h for n, h in HIERARCHIES.items() if n != "age"})
    if k > len(table):
        return
    release = Mondrian(k=k).release(numbers)
    attributes = [attribute(numbers, column) for column in ROLES.quasi_identifiers]
    boxes = []
    for rows in classes_of(release):
        ends = [covers(one.codes[rows], np.zeros(len(rows), dtype=np.int64), 1) for one in attributes]
        boxes.append([(int(low[0]), int(high[0])) for low, high in ends])
    for place, box in enumerate(boxes):
        for other in boxes[:place]:
            assert any(a[1] < b[0] or b[1] < a[0] for a, b in zip(box, other, strict=True))


@settings(max_examples=40, deadline=None)
@given(table=tables(least=4), k=st.integers(1, 4))
@pytest.mark.parametrize("made", [Mondrian, METHODS["mondrian-relaxed"], METHODS["k-member"]])
def test_numbers_without_hierarchy_become_intervals_that_the_simulator_reaches(made, table, k):
    numbers = replace(table, hierarchies={n: h for n, h in HIERARCHIES.items() if n != "age"})
    method = made(k=k)
    release = method.release(numbers)
    assert min(map(len, classes_of(release))) >= k
    ages = numbers.native["age"].tolist()
    for age, label in zip(ages, release.native["age"].tolist(), strict=True):
        ends = [float(part) for part in label.strip("[]").split(", ")]
        assert ends[0] <= age <= ends[-1]
    assert 0 <= ncp(numbers, release) <= 1


def test_a_relaxed_cut_divides_equal_numbers():
    table = Table.of(pd.DataFrame({"age": [1, 1, 1, 1, 2, 3]}), Roles(quasi_identifiers=("age",)))
    strict, relaxed = (
        Mondrian(k=3, relaxed=choice).release(table).native["age"].tolist() for choice in (False, True)
    )
    assert strict == ["[1, 3]"] * 6
    assert relaxed == ["1"] * 3 + ["[1, 3]"] * 3


def test_hierarchies_without_one_top_end_in_the_label_that_covers_everything():
    hierarchies = {"city": ValueHierarchy([["a", "north"], ["b", "south"]])}
    table = Table.of(pd.DataFrame({"city": list("aab")}), Roles(quasi_identifiers=("city",)), hierarchies)
    for made in METHODS.values():
        method = made(k=2)
        release = method.release(table)
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
        release = method.release(table)
        assert method.origin_.tolist() == np.flatnonzero(frame["in"]).tolist()
        assert list(release.native.columns) == ["age", "city"]
        for rows in classes_of(release, ("age", "city")):
            labels = release.native.iloc[rows[0]]
            known = _matching(frame, labels)
            assert len(rows) >= 2
            assert 0.1 <= len(rows) / len(known) <= 0.6
    for made in (LocalRecoding, KMember, METHODS["mondrian-relaxed"], METHODS["incognito-suppressing"]):
        with pytest.raises(SpecError, match="overlap"):
            made(k=2, constraints=(limit,)).release(table)


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
    release = LocalRecoding(k=5).release(table)
    assert len(release) == len(table) == 30_162
    assert min(map(len, classes_of(release, table.roles.quasi_identifiers))) >= 5
    assert ncp(table, release) <= 0.057


def test_local_recoding_keeps_detail_under_constraints():
    table = adult(("age", "education", "marital_status", "sex"))
    release = LocalRecoding(k=5, constraints=(DistinctDiversity("income", 2),)).release(table)
    assert min(release.native.groupby(list(table.roles.quasi_identifiers))["income"].nunique()) == 2
    assert ncp(table, release) <= 0.05


def test_full_domain_generalization_of_adult():
    table = adult(("age", "education", "marital_status", "occupation", "sex"))
    method = Incognito(k=5, max_suppression=0.05)
    release = method.release(table)
    assert len(release) >= 0.95 * len(table)
    assert min(map(len, classes_of(release, table.roles.quasi_identifiers))) >= 5
    assert ncp(table, release, method.origin_) <= 0.12

"""Several rows a person: what a release promises counts persons, and a bound on their rows comes first."""

from __future__ import annotations

import json
import math
from collections import Counter, defaultdict
from pathlib import Path

import numpy as np
import pandas as pd
import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from anonymizer.errors import GateError, RoleError, SpecError, TableError, UnreachableError
from anonymizer.gate.gate import Gate, manifest_path
from anonymizer.gate.streaming import stream
from anonymizer.methods.contract.method import BY_PERSONS
from anonymizer.methods.registry import METHODS
from anonymizer.pipelines.spec import Spec, parse
from anonymizer.releases.manifest import Manifest
from anonymizer.releases.release import Release
from anonymizer.tables.roles import Roles
from anonymizer.tables.table import Table

ZIPS = {"rows": [[f"{n:02}", f"{n // 10}*", "*"] for n in range(40)]}
AGES = {"rows": [[str(n), "*"] for n in range(6)]}


def spec_of(*steps: dict, columns: dict | None = None, **roles) -> Spec:
    document = {
        "roles": {"quasi_identifiers": ["zip", "age"], "sensitive": ["ill"], "person": "nbr", **roles},
        "hierarchies": {"zip": ZIPS, "age": AGES},
        "columns": columns or {},
        "steps": [*steps],
    }
    return parse(document, Path())


def table_of(rows: list[tuple[int, int, int, int]], spec: Spec) -> Table:
    """Rows of person, place, age and illness."""
    frame = pd.DataFrame(
        {
            "nbr": [f"p{who}" for who, *_ in rows],
            "zip": [f"{place:02}" for _, place, _, _ in rows],
            "age": [str(age) for *_, age, _ in rows],
            "ill": [f"ill {ill}" for *_, ill in rows],
        }
    )
    return Table.of(frame, spec.roles, spec.hierarchies, spec.schema)


def owners_by_class(made: Release, original: Table) -> dict[tuple, set]:
    """By the labels of each class the persons in it, by their rows in the original."""
    who = original.native["nbr"].to_numpy()[made.origin]
    keys = made.native[["zip", "age"]].itertuples(index=False, name=None)
    found = defaultdict(set)
    for key, one in zip(keys, who.tolist(), strict=True):
        found[key].add(one)
    return found


ATTACK = [(0, 7, 2, n % 2) for n in range(5)] + [(n, n % 40, n % 6, n % 3) for n in range(1, 61)]
"""A person with five rows alike, who are five of nobody else, and sixty others."""


def test_five_rows_of_one_person_are_no_class_of_five():
    spec = spec_of({"method": "local-recoding", "k": 5})
    original = table_of(ATTACK, spec)
    made = spec.pipeline().release(original)
    assert min(map(len, owners_by_class(made, original).values())) >= 5
    assert "nbr" not in made.table.names


def by_rows(spec: Spec) -> Spec:
    """The same specification for a table in which nothing says whose a row is."""
    roles = {"identifiers": ["nbr"], "quasi_identifiers": ["zip", "age"], "sensitive": ["ill"]}
    return parse({**spec.document, "roles": roles}, Path())


def test_without_a_column_of_persons_the_five_rows_are_a_class():
    spec = by_rows(spec_of({"method": "local-recoding", "k": 5}))
    original = table_of(ATTACK, spec)
    made = spec.pipeline().release(original)
    assert min(map(len, owners_by_class(made, original).values())) == 1
    assert made.manifest.counts == "rows"


CLASSES = ("local-recoding", "incognito", "mondrian", "k-member", "one-pass-clustering", "local-suppression")


@st.composite
def tables(draw):
    count = draw(st.integers(4, 9))
    some = st.tuples(st.integers(0, count - 1), st.integers(0, 39), st.integers(0, 5), st.integers(0, 2))
    rows = [
        (who, draw(st.integers(0, 39)), draw(st.integers(0, 5)), draw(st.integers(0, 2)))
        for who in range(count)
    ]
    return rows + draw(st.lists(some, max_size=20))


@pytest.mark.parametrize("method", [*CLASSES, "suppress-records"])
@settings(max_examples=12, deadline=None)
@given(rows=tables(), k=st.integers(2, 4))
def test_every_class_of_every_method_has_k_persons(method, rows, k):
    spec = spec_of({"method": method, "k": k})
    original = table_of(rows, spec)
    try:
        made = spec.pipeline().release(original)
    except UnreachableError:
        assert method == "suppress-records"
        return
    assert min(map(len, owners_by_class(made, original).values())) >= k
    (promise,) = made.guarantees
    assert promise.kind == "k-anonymity"
    assert "counts persons" in promise.condition


def values_of_different_persons(pairs: set[tuple[str, str]]) -> int:
    """The most values that as many persons have, by augmenting paths."""
    by_value = defaultdict(set)
    for who, value in pairs:
        by_value[value].add(who)
    owner: dict[str, str] = {}

    def place(value: str, seen: set[str]) -> bool:
        for who in by_value[value] - seen:
            seen.add(who)
            if who not in owner or place(owner[who], seen):
                owner[who] = value
                return True
        return False

    return sum(place(value, set()) for value in by_value)


@pytest.mark.parametrize("method", ["local-recoding", "incognito", "mondrian", "k-member"])
@settings(max_examples=12, deadline=None)
@given(rows=tables(), l=st.integers(2, 3))
def test_l_values_are_of_l_different_persons(method, rows, l):  # noqa: E741
    asked = {"model": "distinct-l-diversity", "column": "ill", "l": l}
    spec = spec_of({"method": method, "k": 2, "constraints": [asked]})
    original = table_of(rows, spec)
    try:
        made = spec.pipeline().release(original)
    except UnreachableError:
        assert values_of_different_persons({(f"p{r[0]}", f"ill {r[3]}") for r in rows}) < l
        return
    who = original.native["nbr"].to_numpy()[made.origin]
    found = defaultdict(set)
    for one, row in zip(who.tolist(), made.native.itertuples(index=False), strict=True):
        found[row.zip, row.age].add((one, row.ill))
    assert min(map(values_of_different_persons, found.values())) >= l


def test_the_gate_measures_by_persons(tmp_path):
    spec = spec_of({"method": "local-recoding", "k": 5})
    original = table_of(ATTACK, spec)
    made = spec.pipeline().release(original)
    assert Gate(seed=1).write(made, tmp_path / "out.csv").manifest.counts == "persons"
    wrong = spec.pipeline().release(table_of(ATTACK, by_rows(spec)))
    # what a method makes that counts rows, of a table whose persons are known
    planted = Release(
        **{**{n: getattr(wrong, n) for n in Release.__dataclass_fields__}, "original": original}
    )
    with pytest.raises(GateError) as caught:
        Gate(seed=1).write(planted, tmp_path / "wrong.csv")
    assert "the smallest class has 1 persons" in str(caught.value)


def test_at_most_so_many_rows_of_a_person_stay_and_that_is_said(tmp_path):
    spec = spec_of({"method": "local-recoding", "k": 3}, rows_per_person=2)
    original = table_of(ATTACK, spec)
    pipeline = spec.pipeline(seed=3)
    made = pipeline.release(original)
    counts = Counter(original.native["nbr"].to_numpy()[made.origin].tolist())
    assert max(counts.values()) == 2
    assert len(made) == len(ATTACK) - 3
    assert any("3 rows of 1 persons were left out" in note for note in made.notes)
    passed = Gate(seed=1).write(made, tmp_path / "out.csv")
    written = json.loads(manifest_path(tmp_path / "out.csv").read_text())
    assert (written["counts"], written["rows_per_person"]) == ("persons", 2)
    assert Manifest.from_json(passed.manifest.to_json()) == passed.manifest
    again = spec.pipeline(seed=3).release(original)
    assert np.array_equal(again.origin, made.origin)
    assert made.manifest.seeded


def test_which_rows_stay_is_uniform():
    spec = spec_of({"method": "drop-identifiers"}, rows_per_person=1)
    original = table_of(ATTACK, spec)
    stayed = Counter(int(spec.pipeline(seed).release(original).origin[0]) for seed in range(400))
    assert set(stayed) == set(range(5))
    assert all(abs(count - 80) < 5 * math.sqrt(400 * 0.2 * 0.8) for count in stayed.values())


def test_with_one_row_of_each_person_methods_that_count_rows_work():
    columns = {"age": {"type": "integer", "bounds": [0, 5]}}
    step = {"method": "mdav", "k": 3, "columns": ["age"]}
    several = spec_of(step, columns=columns)
    with pytest.raises(SpecError, match=r"mdav counts rows.*local-recoding.*suppress-records"):
        several.pipeline().release(numeric(ATTACK, several))
    one = spec_of(step, columns=columns, rows_per_person=1)
    assert one.pipeline().release(numeric(ATTACK, one)).guarantees


def numeric(rows, spec: Spec) -> Table:
    table = table_of(rows, spec)
    frame = table.native.assign(age=table.native["age"].astype(int))
    return Table.of(frame, spec.roles, {}, spec.schema)


@pytest.mark.parametrize(
    "step",
    [
        {"method": "anatomy", "l": 2},
        {"method": "splu-gen", "gamma": 2},
        {"method": "local-recoding", "constraints": [{"model": "k-map", "column": "ill", "k": 2}]},
    ],
)
def test_what_counts_rows_is_refused(step):
    spec = spec_of(step)
    with pytest.raises(SpecError, match="rows"):
        spec.pipeline().release(table_of(ATTACK, spec))


def test_the_named_methods_are_those_that_count_persons():
    able = {n for n, m in METHODS.items() if m.makes_classes and m.counts_persons}
    assert able == set(BY_PERSONS)


def test_entropy_and_t_count_each_person_once():
    """Nine rows of one value are one person's: of the others half have each value."""
    rows = [(0, 1, 1, 0)] * 9 + [(n, 1, 1, n % 2) for n in range(1, 8)]
    for asked in (
        {"model": "entropy-l-diversity", "column": "ill", "l": 1.99},
        {"model": "recursive-cl-diversity", "column": "ill", "c": 1.01, "l": 2},
    ):
        spec = spec_of({"method": "mondrian", "k": 2, "constraints": [asked]})
        assert spec.pipeline().release(table_of(rows, spec)).guarantees
        rowwise = by_rows(spec)
        with pytest.raises(UnreachableError):
            rowwise.pipeline().release(table_of(rows, rowwise))


def test_synthetic_tables_need_a_bound_and_say_what_a_person_spends():
    step = {"method": "synth-histogram", "epsilon": 0.5, "delta": 1e-6, "columns": ["age"]}
    columns = {"age": {"type": "category", "categories": [str(n) for n in range(6)]}}
    roles = {"quasi_identifiers": ["age"], "sensitive": [], "person": "nbr"}
    document = {"roles": roles, "columns": columns, "steps": [step]}
    unbound = parse(document, Path())
    with pytest.raises(SpecError, match="rows_per_person = 3"):
        unbound.pipeline().release(table_of(ATTACK, unbound))
    spec = parse({**document, "roles": {**roles, "rows_per_person": 3}}, Path())
    made = spec.pipeline().release(table_of(ATTACK, spec))
    record, person = made.guarantees
    assert (record.unit, person.unit) == ("record", "person")
    epsilon, delta = record.number("epsilon"), record.number("delta")
    assert made.manifest.epsilon == pytest.approx(3 * epsilon)
    assert made.manifest.delta == pytest.approx(delta * (1 + math.exp(epsilon) + math.exp(2 * epsilon)))
    assert "A person has one row" not in person.condition


def test_a_method_alone_does_not_promise_more_than_its_table_keeps():
    roles = Roles(quasi_identifiers=("age",), person="nbr", rows_per_person=2)
    columns = {"age": {"type": "integer", "bounds": [0, 5]}}
    schema = spec_of({"method": "dp-noise"}, columns=columns).schema
    noise = METHODS["dp-noise"](epsilon=1.0)
    frame = pl.DataFrame({"nbr": ["a", "a", "a", "b"], "age": [1, 2, 3, 4]})
    with pytest.raises(SpecError, match="more than the 2 rows"):
        noise.release(Table.of(frame, roles, {}, schema))


def test_roles_say_who_a_row_is_of():
    roles = Roles(identifiers=("name",), person="nbr", rows_per_person=2)
    assert roles.identifiers == ("name", "nbr")
    assert roles.among(["name", "age"]) == Roles(identifiers=("name",))
    assert roles.among(["nbr"]) == Roles(person="nbr", rows_per_person=2)
    assert Roles.from_mapping({"person": "nbr"}).person == "nbr"


@pytest.mark.parametrize(
    ("given", "said"),
    [
        ({"rows_per_person": 2}, "no column says"),
        ({"person": "nbr", "rows_per_person": 0}, "rows_per_person is 0"),
        ({"person": "nbr", "rows_per_person": True}, "rows_per_person is True"),
        ({"person": "nbr", "rows_per_person": 1.5}, "rows_per_person is 1.5"),
        ({"person": ["nbr"]}, "not the name of a column"),
        ({"person": "nbr", "sensitive": ["nbr"]}, "two roles"),
        ({"persons": "nbr"}, "unknown role"),
    ],
)
def test_roles_that_make_no_persons_are_refused(given, said):
    with pytest.raises(RoleError, match=said):
        Roles.from_mapping(given)


def test_a_row_of_nobody_is_refused():
    frame = pd.DataFrame({"nbr": ["a", None], "age": [1, 2]})
    with pytest.raises(TableError, match="whose row 2 is"):
        Table.of(frame, Roles(person="nbr"))
    with pytest.raises(RoleError, match="as person"):
        Table.of(frame, Roles(person="number"))


def test_rows_of_a_person_in_several_chunks_are_not_drawn_chunk_by_chunk(tmp_path):
    spec = spec_of({"method": "generalization", "levels": {"zip": 1, "age": 1}}, rows_per_person=2)
    table_of(ATTACK, spec).native.to_csv(tmp_path / "people.csv", index=False)
    with pytest.raises(SpecError, match="rows_per_person"):
        stream(spec, tmp_path / "people.csv", tmp_path / "out.csv", 20, Gate())
    assert not (tmp_path / "out.csv").exists()

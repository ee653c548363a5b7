"""Whom rows are about: keys, persons, their hashes, populations."""

from __future__ import annotations

import os
import sqlite3
from hashlib import blake2b
from unittest import mock

import numpy as np
import pytest
import tomli_w

from parties.catalog.columns import persons
from parties.catalog.declarations.declaration import load_catalog
from parties.catalog.loading.loading import load
from parties.catalog.sources import csvs
from parties.errors import ConfigError, DataError
from tests.parties.catalog.declared import NUMBER, TEXT, dataset

ROWS = "id,visit,x\nb,1,10\na,1,20\nb ,2,30\n c,1,40\na,3,50\n"
SECRET = bytes(range(32))


def hashes(folder, rows, secret=SECRET, columns=("x",), **fields):
    return load(dataset(folder, rows, {"x": NUMBER, "visit": NUMBER}, **fields), columns, secret).identities


@pytest.mark.parametrize("batch", [1, 2, 1 << 11])
def test_rows_of_a_person_have_the_same_dense_number(tmp_path, monkeypatch, batch):
    monkeypatch.setattr(csvs, "ROWS", batch)
    loaded = load(dataset(tmp_path, ROWS, {"x": NUMBER}, person="id"), ["x"])
    assert loaded.persons.tolist() == [0, 1, 0, 2, 1]
    assert loaded.persons.dtype == np.int64
    assert loaded.people == 3
    pairs = load(dataset(tmp_path, ROWS, {"x": NUMBER}, person=["id", "visit"]), ["x"])
    assert pairs.persons.tolist() == [0, 1, 2, 3, 4]


def test_without_a_person_column_each_row_is_one(tmp_path):
    loaded = load(dataset(tmp_path, ROWS, {"x": NUMBER}), ["x"])
    assert loaded.persons is None
    assert loaded.people == 5


def test_numbers_are_dense_over_the_rows_that_stay(tmp_path):
    rows = ROWS.replace("b,1,10", "b,1,").replace("b ,2,30", "b,2,")
    loaded = load(dataset(tmp_path, rows, {"x": NUMBER | {"missing": "drop"}}, person="id"), ["x"])
    assert loaded.persons.tolist() == [0, 1, 0]
    assert loaded.people == 2
    nobody = load(dataset(tmp_path, "id,x\na,\n", {"x": NUMBER | {"missing": "drop"}}, person="id"), ["x"])
    assert (nobody.rows, nobody.people) == (0, 0)


def test_a_person_that_is_not_named(tmp_path):
    rows = "id,x\na,1\n,2\n"
    with pytest.raises(DataError, match=r"row 2 \(line 3\): the person cell of column 'id' is empty"):
        load(dataset(tmp_path, rows, {"x": NUMBER}, person="id"), ["x"])
    drops = {"x": NUMBER, "id": TEXT | {"missing": "drop"}}
    for field in ("key", "person"):
        loaded = load(dataset(tmp_path, rows, drops, **{field: "id"}), ["x"])
        assert loaded.columns["x"].integers == [1]
        assert loaded.dropped == {"id": 1}


def test_composed_and_decomposed_letters_are_the_same_person_and_key(tmp_path):
    rows = "id,x\nZo\u00eb,1\nZoe\u0308,2\n"
    assert load(dataset(tmp_path, rows, {"x": NUMBER}, person="id"), ["x"]).people == 1
    with pytest.raises(DataError, match=r"row 2 \(line 3\).*came before, in row 1 \(line 2\)"):
        load(dataset(tmp_path, rows, {"x": NUMBER}, key="id"), ["x"])


@pytest.mark.parametrize("batch", [1, 3, 1 << 11])
@pytest.mark.parametrize("twin", [0, 4, 6])
def test_a_repeated_key_is_found_across_batches_with_both_lines(tmp_path, monkeypatch, batch, twin):
    monkeypatch.setattr(csvs, "ROWS", batch)
    cells = [f'"k\n{number}",1' for number in range(8)]
    cells[7] = cells[twin]
    found = dataset(tmp_path, "id,x\n" + "\n".join(cells) + "\n", {"x": NUMBER}, key="id")
    lines = rf"row 8 \(line 17\).*in row {twin + 1} \(line {2 * twin + 3}\)"
    with pytest.raises(DataError, match=lines):
        load(found, ["x"])


def test_hashes_are_of_persons_else_of_keys_else_there_are_none(tmp_path):
    persons = hashes(tmp_path, ROWS, person="id")
    assert persons.shape == (3,)
    assert persons.dtype.itemsize == 16
    assert len(np.unique(persons)) == 3
    keys = hashes(tmp_path, ROWS, key=["id", "visit"])
    assert len(np.unique(keys)) == 5
    assert hashes(tmp_path, "x,visit\n1,1\n1,1\n1,2\n") is None
    assert load(dataset(tmp_path, ROWS, {"x": NUMBER}), ["x"]).identities is None


def test_hashes_are_stable_and_depend_on_the_secret(tmp_path):
    first = hashes(tmp_path, ROWS, person="id")
    moved = hashes(tmp_path, "visit,x,id\n1,7,c\n1,8,a\n2,9,b\n", person="id")
    assert set(first.tolist()) == set(moved.tolist())
    assert not set(first.tolist()) & set(hashes(tmp_path, ROWS, b"z" * 32, person="id").tolist())
    left = hashes(tmp_path, ROWS.replace(" c,1,40\n", ""), person="id")
    assert np.setdiff1d(first, left).shape == (1,)


def test_one_more_declared_column_makes_nobody_a_new_person(tmp_path):
    plain = dataset(tmp_path, ROWS, {"x": NUMBER}, person="id")
    wider = dataset(tmp_path, ROWS, {"x": NUMBER, "visit": NUMBER}, person="id")
    assert load(plain, ["x"], SECRET).identities.tolist() == load(wider, ["x"], SECRET).identities.tolist()


def test_hashes_of_several_cells_keep_them_apart(tmp_path):
    found = hashes(tmp_path, "id,visit,x\na,12,1\na1,2,1\n", key=["id", "visit"])
    assert len(np.unique(found)) == 2


def populations(folder, **named):
    declared = {
        name: {"source": f"{name}.csv", "columns": {"x": NUMBER}} | ({"population": found} if found else {})
        for name, found in named.items()
    }
    (folder / "catalog.toml").write_text(tomli_w.dumps({"datasets": declared}))
    return {name: d.population for name, d in load_catalog(folder / "catalog.toml").datasets.items()}


def test_populations(tmp_path):
    assert populations(tmp_path, a="", b="a", c="town") == {"a": "a", "b": "a", "c": "town"}
    with pytest.raises(ConfigError, match=r"data set b: its population 'a'.*'town'"):
        populations(tmp_path, a="town", b="a")
    with pytest.raises(ConfigError, match="plain word"):
        populations(tmp_path, a="a town")


@pytest.mark.parametrize("link", [None, os.link, os.symlink])
def test_two_names_of_one_file_have_one_population(tmp_path, link):
    """Else its people had two budgets, and twice the runs."""
    (tmp_path / "d.csv").write_text("x\n1\n")
    other = "d.csv"
    if link is not None:
        other = "copy.csv"
        link(tmp_path / "d.csv", tmp_path / other)
    declared = {
        "patients": {"source": "d.csv", "columns": {"x": NUMBER}},
        "copy": {"source": other, "columns": {"x": NUMBER}},
    }
    catalog = tmp_path / "catalog.toml"
    catalog.write_text(tomli_w.dumps({"datasets": declared}))
    with pytest.raises(ConfigError, match="two budgets") as caught:
        load_catalog(catalog)
    assert caught.value.hint == 'Write population = "patients" below [datasets.copy].'
    declared["copy"]["population"] = "patients"
    catalog.write_text(tomli_w.dumps({"datasets": declared}))
    assert load_catalog(catalog).dataset("copy").population == "patients"


def test_two_names_of_one_query_have_one_population(tmp_path):
    sql = {"kind": "sql", "url": "sqlite:///a.db", "query": "select x from t", "columns": {"x": NUMBER}}
    catalog = tmp_path / "catalog.toml"
    catalog.write_text(tomli_w.dumps({"datasets": {"a": sql, "b": sql}}))
    with pytest.raises(ConfigError, match="two budgets"):
        load_catalog(catalog)
    catalog.write_text(tomli_w.dumps({"datasets": {"a": sql, "b": sql | {"query": "select x from u"}}}))
    load_catalog(catalog)


@pytest.mark.parametrize(
    "other",
    [
        {"query": " select  x\nfrom t ;"},
        {"url": "sqlite:///./a.db"},
        {"url": "sqlite:///here/../a.db"},
        {"url": "sqlite:///link.db"},
        {"url": "sqlite:///hard.db", "query": "select x from t;"},
    ],
)
def test_a_query_that_is_written_otherwise_is_the_same_source(tmp_path, other):
    with sqlite3.connect(tmp_path / "a.db") as base:
        base.execute("create table t (x)")
    (tmp_path / "here").mkdir()
    os.symlink(tmp_path / "a.db", tmp_path / "link.db")
    os.link(tmp_path / "a.db", tmp_path / "hard.db")
    sql = {"kind": "sql", "url": "sqlite:///a.db", "query": "select x from t", "columns": {"x": NUMBER}}
    catalog = tmp_path / "catalog.toml"
    catalog.write_text(tomli_w.dumps({"datasets": {"a": sql, "b": sql | other}}))
    with pytest.raises(ConfigError, match="two budgets"):
        load_catalog(catalog)


SEVEN = "id,x\n7,1\n0007,2\n +7,3\n7.0,4\n8,5\n"
WHOLE = {"x": NUMBER, "id": NUMBER}


def test_whole_numbers_are_the_same_person_by_their_value(tmp_path):
    assert load(dataset(tmp_path, SEVEN, WHOLE, person="id"), ["x"]).persons.tolist() == [0, 0, 0, 0, 1]
    scaled = {"x": NUMBER, "id": {"type": "decimal", "scale": 1, "lower": 0, "upper": 9}}
    assert load(dataset(tmp_path, SEVEN, scaled, person="id"), ["x"]).people == 2
    assert load(dataset(tmp_path, SEVEN, {"x": NUMBER, "id": TEXT}, person="id"), ["x"]).people == 5
    with pytest.raises(DataError, match=r"row 2 \(line 3\).*came before"):
        load(dataset(tmp_path, SEVEN, WHOLE, key="id"), ["x"])


@pytest.mark.parametrize("rows", ["id,x\n7,1\n8,2\n", "id,x\n0007,1\n 08 ,2\n", "id,x\n7.0,1\n+8,2\n"])
def test_a_number_has_one_hash_however_it_is_written(tmp_path, rows):
    plain = hashes(tmp_path, "id,x\n7,1\n8,2\n", columns=("x",), person="id")
    declared = dataset(tmp_path, rows, WHOLE, person="id")
    assert load(declared, ["x"], SECRET).identities.tolist() == plain.tolist()


def test_a_database_and_a_file_have_the_same_persons(tmp_path):
    with sqlite3.connect(tmp_path / "a.db") as base:
        base.execute("create table t (id, x)")
        base.executemany("insert into t values (?, ?)", [(7, 1), (8.0, 2), ("009", 3)])
    sql = {"kind": "sql", "url": "sqlite:///a.db", "query": "select * from t", "person": "id"}
    (tmp_path / "catalog.toml").write_text(tomli_w.dumps({"datasets": {"d": sql | {"columns": WHOLE}}}))
    found = load(load_catalog(tmp_path / "catalog.toml").dataset("d"), ["x"], SECRET).identities
    rows = "id,x\n07,1\n8,2\n9,3\n"
    assert (
        found.tolist() == load(dataset(tmp_path, rows, WHOLE, person="id"), ["x"], SECRET).identities.tolist()
    )


def test_days_are_the_same_person_by_the_day(tmp_path):
    born = {"x": NUMBER, "id": {"type": "date", "lower": "1900-01-01", "upper": "2030-01-01"}}
    rows = "id,x\n1990-12-31,1\n 1990-12-31 ,2\n"
    assert load(dataset(tmp_path, rows, born, person="id"), ["x"]).people == 1
    with pytest.raises(DataError, match=r"row 1 \(line 2\): the person cell of column 'id' is not a date"):
        load(dataset(tmp_path, "id,x\n31.12.1990,1\n", born, person="id"), ["x"])


@pytest.mark.parametrize("cell", ["x7", "7,0", "1e3", "--7", "٧"])
def test_a_person_cell_that_is_not_of_its_type_is_refused(tmp_path, cell):
    rows = f'id,x\n7,1\n"{cell}",2\n'
    with pytest.raises(DataError, match=r"row 2 \(line 3\): the person cell of column 'id' is not a number"):
        load(dataset(tmp_path, rows, WHOLE, person="id"), ["x"])


def test_other_hashes_of_the_same_cells_come_with_the_persons(tmp_path):
    """Under which records were written before the column was declared as it is."""

    def loaded(columns):
        return load(dataset(tmp_path, "id,x\n0007,1\n8,2\n", columns, person="id"), ["x"], SECRET)

    number, text = loaded(WHOLE), loaded({"x": NUMBER, "id": TEXT})
    (zeros, _), (seven, eight) = text.identities.tolist(), number.identities.tolist()
    assert number.aliases.tolist() == [[zeros, seven]]
    assert text.aliases.tolist() == [[seven, zeros]]
    assert text.identities.tolist()[1] == eight
    assert loaded({"x": NUMBER}).aliases.tolist() == text.aliases.tolist()


def test_the_same_columns_in_another_order_name_other_persons(tmp_path):
    """The labels of rows are pairs of cells; turned around, nobody would be found again."""
    rows = "id,x\n7,1\n8,2\n"
    one, other = (
        load(dataset(tmp_path, rows, WHOLE, person=order), ["x"], SECRET).identities.tolist()
        for order in (["id", "x"], ["x", "id"])
    )
    assert not {*one} & {*other}
    base = {"source": "a.csv", "columns": WHOLE, "population": "town", "person": ["id", "x"]}
    turned = base | {"source": "b.csv", "person": ["x", "id"]}
    (tmp_path / "catalog.toml").write_text(tomli_w.dumps({"datasets": {"a": base, "b": turned}}))
    what, _ = load_catalog(tmp_path / "catalog.toml").tells_unlike("a")
    assert "in another order" in what


def test_data_sets_of_a_population_that_name_persons_unlike_are_found(tmp_path):
    def said(**changed):
        base = {"source": "a.csv", "person": "id", "columns": WHOLE, "population": "town"}
        other = base | {"source": "b.csv"} | changed
        other = {key: value for key, value in other.items() if value}
        (tmp_path / "catalog.toml").write_text(tomli_w.dumps({"datasets": {"a": base, "b": other}}))
        catalog = load_catalog(tmp_path / "catalog.toml")
        assert bool(catalog.tells_unlike("a")) == bool(catalog.tells_unlike("b"))
        return catalog.tells_unlike("a")

    assert said() is None
    assert said(population="country") is None
    assert said(person="") is None
    assert said(person="x") is None
    assert said(person="", key="id") is None
    for changed in (
        {"columns": {"x": NUMBER}},
        {"columns": {"x": NUMBER, "id": TEXT}},
        {"person": ["id", "x"]},
    ):
        what, hint = said(**changed)
        assert "different ways ('id' as number" in what
        assert "same types" in hint
    what, hint = said(source="a.csv", person="x")
    assert "by id and by x of the same source" in what
    assert hint == "Name the same columns in the same order below [datasets.b] in the catalog."
    what, hint = said(person="", key="x")
    assert "only one of them" in what
    assert hint == 'Write person = "COLUMN" below [datasets.b] in the catalog.'


def defined(texts, before=0, secret=SECRET):
    """A hash as records of earlier jobs have it."""
    said = b"".join(len(text).to_bytes(4, "little") + text.encode() for text in texts)
    said += before.to_bytes(8, "little") if before else b""
    return blake2b(said, key=secret, digest_size=16, person=b"duetto identity").digest()


def test_hashes_are_those_of_earlier_records():
    found = persons.identities(["a", "b", "a", "a", "c"], SECRET)
    expected = [defined(["a"]), defined(["b"]), defined(["a"], 1), defined(["a"], 2), defined(["c"])]
    assert [one.tobytes() for one in found] == expected
    pair = persons.identities([("a", "12"), ("a1", "2")], SECRET)
    assert [one.tobytes() for one in pair] == [defined(["a", "12"]), defined(["a1", "2"])]
    others = persons.aliases({"07": "7", "08": "8"}, SECRET)
    assert [one.tobytes() for one in others.flat] == [defined([text]) for text in ("07", "7", "08", "8")]


def test_the_secret_is_taken_up_once_and_not_for_each_row():
    """A million keys with leading zeros took ten seconds, most of it to begin each hash anew."""
    forms = {f"{row:09d}": str(row) for row in range(1, 3000)}
    with mock.patch.object(persons, "blake2b", wraps=blake2b) as begun:
        assert persons.aliases(forms, SECRET).shape == (2999, 2)
    assert begun.call_count == 1

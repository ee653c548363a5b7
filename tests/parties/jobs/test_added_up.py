"""Totals of rows added up while they are read are those of all rows in memory, or the same refusal."""

from __future__ import annotations

import sqlite3
from contextlib import contextmanager
from datetime import date, datetime, timedelta
from pathlib import Path
from unittest import mock

import numpy as np
import pytest
import tomli_w
from hypothesis import given
from hypothesis import strategies as st

from parties.catalog.declarations.declaration import load_catalog
from parties.catalog.loading import loading
from parties.catalog.loading.loading import load, load_pieces
from parties.catalog.sources import parquets
from parties.catalog.sources.batch import Batch
from parties.contracts.spec import Side
from parties.errors import DataError
from parties.jobs.checks.local_data import (
    added_up,
    can_add_up,
    columns_of,
    count_held,
    count_persons,
    count_rows,
)
from smc.analyses.disclosure.limits import NO_LIMITS, Limits
from smc.analyses.registry import ANALYSES
from smc.analyses.studies.totals import SummedRows
from smc.errors import DomainError, DuettoError
from smc.forms import Role

pa = pytest.importorskip("pyarrow")
parquet = pytest.importorskip("pyarrow.parquet")

SIDE = Side("north", "d", {"age": "age", "mass": "mass", "seen": "seen", "sex": "sex"})
DECLARED = {
    "age": {"type": "integer", "lower": -5, "upper": 120},
    "mass": {"type": "decimal", "scale": 1, "lower": 0, "upper": 300},
    "seen": {"type": "date", "lower": date(1970, 1, 1), "upper": date(1979, 12, 31)},
    "sex": {"type": "category", "values": ["f", "m", "x"]},
}
IMPUTED = {"age": "7", "mass": "70.5", "seen": "1975-05-05", "sex": "x"}
QUERIES = [
    {"kind": "count", "name": "all", "column": "age"},
    {"kind": "count", "name": "old", "column": "age", "where": [{"column": "age", "at_least": 50}]},
    {"kind": "sum", "name": "mass", "column": "mass", "lower": "40", "upper": "150", "by": ["sex"]},
    {"kind": "mean", "name": "age", "column": "age", "lower": "0", "upper": "90"},
    {"kind": "variance", "name": "spread", "column": "mass", "lower": "40", "upper": "150"},
    {"kind": "histogram", "name": "ages", "column": "age", "edges": ["0", "30", "60"]},
    {"kind": "histogram", "name": "sexes", "column": "age", "edges": ["0", "50"], "by": ["sex"]},
    {"kind": "crosstab", "name": "both", "columns": ["sex", "age"], "edges": {"age": ["0", "40", "100"]}},
    {"kind": "median", "name": "middle", "column": "age", "lower": "0", "upper": "100", "step": "5"},
    {"kind": "histogram", "name": "days", "column": "seen", "edges": ["0", "1000", "2000"]},
]


def study(**changes):
    return ANALYSES["statistics"].parse({"epsilon": "1", "queries": QUERIES, **changes})


def declared(folder: Path, source: dict, columns: dict = DECLARED, **fields: object):
    (folder / "catalog.toml").write_text(
        tomli_w.dumps({"datasets": {"d": {**source, "columns": columns, **fields}}})
    )
    return load_catalog(folder / "catalog.toml").dataset("d")


@contextmanager
def small_pieces(rows: int):
    """Batches and pieces of a few rows, so that few rows are many pieces."""
    with mock.patch.object(parquets, "ROWS", rows), mock.patch.object(loading, "PIECE_ROWS", 2 * rows):
        yield


@contextmanager
def cell_by_cell():
    """Sources whose cells are plain Python values, as the parsers of cells define what they hold."""
    streamed = loading.batches

    def plain(dataset, columns):
        for batch in streamed(dataset, columns):
            yield Batch(batch.place, batch.rows, [list(cells) for cells in batch.columns])

    with mock.patch.object(loading, "batches", plain):
        yield


def outcome(call):
    """What a call gives, or how it refuses."""
    try:
        return call()
    except DuettoError as problem:
        return type(problem), str(problem), problem.hint


def by_rows(job, dataset):
    with cell_by_cell():
        loaded = load(dataset, SIDE.columns.values())
    data = columns_of(SIDE, loaded)
    return count_rows(data), entries_of(job, data), loaded.notes


def by_totals(job, dataset):
    local = added_up(job, dataset, SIDE, (), load_pieces)
    assert isinstance(local.columns, SummedRows)
    assert count_held(local.columns) == 0
    return count_rows(local.columns), entries_of(job, local.columns), local.notes


def entries_of(job, data):
    """What a study makes of one side's rows: expected precision under limits, and exact results."""
    previews = [job.preview(data, Role.ALICE, limits) for limits in (NO_LIMITS, Limits(minimum_group=3))]
    assert [preview.refusal for preview in previews] == [None, None]
    return [preview.details for preview in previews], job.reference(data, data, frozenset(Role))


INTEGERS = st.integers(-5, 120)
SOME_DAYS = st.dates(date(1970, 1, 1), date(1979, 12, 31))
MASSES = st.integers(0, 3000).map(lambda tenths: tenths / 10)
ODD = {
    "age": st.sampled_from([-6, 121, 2**40, -(2**63)]),
    "mass": st.sampled_from([0.25, float("nan"), float("inf"), -0.1, 300.1, 1e300, 5e-324, -0.0]),
    "seen": st.sampled_from([date(1969, 12, 31), date(1980, 1, 1)]),
    "sex": st.sampled_from(["", "y", " f ", "F"]),
}
USUAL = {"age": INTEGERS, "mass": MASSES, "seen": SOME_DAYS, "sex": st.sampled_from(["f", "m", "x"])}
TYPES = {
    "age": [pa.int64(), pa.int64(), pa.float64()],
    "mass": [pa.float64()],
    "seen": [pa.date32(), pa.timestamp("us")],
    "sex": [pa.string(), pa.dictionary(pa.int32(), pa.string())],
}


@st.composite
def files(draw):
    """Columns of a table with few odd cells, their Arrow types, and what is done where a cell is missing."""
    count = draw(st.integers(0, 12))
    columns, kinds, missing = {}, {}, {}
    for name in DECLARED:
        cells = draw(st.lists(USUAL[name], min_size=count, max_size=count))
        if count and draw(st.integers(0, 3)) == 0:
            cells[draw(st.integers(0, count - 1))] = draw(ODD[name])
        missing[name] = draw(st.sampled_from(["error", "drop", "impute"]))
        if count and (missing[name] != "error" or draw(st.integers(0, 9)) == 0):
            for place in draw(st.sets(st.integers(0, count - 1), max_size=3)):
                cells[place] = None
        columns[name], kinds[name] = cells, draw(st.sampled_from(TYPES[name]))
    return columns, kinds, missing


def midnight(day: date | None) -> datetime | None:
    return day and datetime(day.year, day.month, day.day)


def is_large(cells) -> bool:
    return any(isinstance(cell, int) and abs(cell) > 2**53 for cell in cells)


@given(files(), st.integers(1, 4), st.booleans())
def test_totals_of_parquet_are_those_of_its_cells(tmp_path_factory, table, size, as_texts):
    folder = tmp_path_factory.mktemp("d")
    columns, kinds, missing = table
    arrays = {}
    for name, cells in columns.items():
        if as_texts and name != "sex":
            texts = [None if cell is None else str(cell) for cell in cells]
            arrays[name] = pa.array(texts, pa.string())
        else:
            kind = pa.int64() if is_large(cells) else kinds[name]
            times = pa.types.is_timestamp(kind)
            arrays[name] = pa.array([midnight(cell) for cell in cells] if times else cells, kind)
    parquet.write_table(pa.table(arrays), folder / "d.parquet", row_group_size=5)
    how = {
        name: {"impute": IMPUTED[name]} if what == "impute" else {"missing": what}
        for name, what in missing.items()
    }
    fields = {name: {**DECLARED[name], **how[name]} for name in DECLARED}
    dataset = declared(folder, {"source": "d.parquet"}, fields)
    job = study()
    with small_pieces(size):
        assert outcome(lambda: by_totals(job, dataset)) == outcome(lambda: by_rows(job, dataset))


@given(st.lists(st.floats(), max_size=4), st.integers(0, 18))
def test_floats_are_held_as_their_shortest_texts_say(values, scale):
    from parties.catalog.columns.arrays import held_numbers
    from parties.catalog.columns.cells import parser
    from parties.catalog.columns.columns import ColumnDeclaration
    from smc.analyses.studies.columns import Schema

    bound = 2**62
    column = ColumnDeclaration("x", "decimal", Schema("decimal", scale, -bound, bound))
    for cells in (values, [round(value % 1000, min(scale, 6)) for value in values if abs(value) < 1e300]):
        found = held_numbers(pa.array(cells, pa.float64()), column)
        if found is not None:
            assert found[0].tolist() == [parser(column)(cell) for cell in cells]


def test_usual_floats_are_read_at_once():
    from parties.catalog.columns.arrays import held_numbers
    from parties.catalog.columns.columns import ColumnDeclaration
    from smc.analyses.studies.columns import Schema

    column = ColumnDeclaration("x", "decimal", Schema("decimal", 2, 0, 10**9))
    cells = np.arange(10**5) / 100
    found = held_numbers(pa.array(cells), column)
    assert found is not None
    assert np.array_equal(found[0], np.arange(10**5))


def rows_of(count: int) -> list[tuple]:
    return [
        (row % 100, row % 1500 / 10, date(1970, 1, 1) + timedelta(row % 3000), "fmx"[row % 3])
        for row in range(count)
    ]


def csv_source(folder: Path) -> dict:
    lines = "".join(",".join(map(str, row)) + "\n" for row in rows_of(9000))
    (folder / "d.csv").write_text("age,mass,seen,sex\n" + lines)
    return {"source": "d.csv"}


def sqlite_source(folder: Path) -> dict:
    with sqlite3.connect(folder / "d.sqlite") as database:
        database.execute("create table d (age integer, mass text, seen text, sex text)")
        rows = [(age, str(mass), str(seen), sex) for age, mass, seen, sex in rows_of(9000)]
        database.executemany("insert into d values (?, ?, ?, ?)", rows)
    database.close()
    query = "select * from d order by age, mass limit 8000"
    return {"kind": "sql", "url": "sqlite:///d.sqlite", "query": query}


@pytest.mark.parametrize("source", [csv_source, sqlite_source])
def test_totals_of_other_sources_are_those_of_their_rows(tmp_path, source):
    dataset = declared(tmp_path, source(tmp_path))
    job = study()
    with mock.patch.object(loading, "PIECE_ROWS", 1000):
        assert len([*load_pieces(dataset, ["age"])]) > 3
        assert by_totals(job, dataset) == by_rows(job, dataset)


def test_no_piece_has_many_rows(tmp_path):
    cells = {"age": np.arange(200_000) % 100}
    parquet.write_table(pa.table(cells), tmp_path / "d.parquet")
    dataset = declared(tmp_path, {"source": "d.parquet"}, {"age": DECLARED["age"]})
    sizes = [piece.rows for piece in load_pieces(dataset, ["age"])]
    assert sum(sizes) == 200_000
    assert max(sizes) < loading.PIECE_ROWS + parquets.ROWS


def test_rows_above_those_of_the_job_are_refused_as_ever(tmp_path):
    dataset = declared(tmp_path, csv_source(tmp_path))
    job = study(maximum_rows=8999)
    totals = added_up(job, dataset, SIDE, (), load_pieces).columns
    rows = columns_of(SIDE, load(dataset, SIDE.columns.values()))
    found = [job.preview(data, Role.ALICE, NO_LIMITS).refusal for data in (totals, rows)]
    assert isinstance(found[0], DomainError)
    assert str(found[0]) == str(found[1])


def test_a_job_that_does_not_fit_its_columns_is_refused_when_rows_would_be(tmp_path):
    dataset = declared(tmp_path, csv_source(tmp_path))
    queries = [{"kind": "histogram", "name": "ages", "column": "age"}]
    job, side = study(queries=queries), Side("north", "d", {"age": "age"})
    totals = added_up(job, dataset, side, (), load_pieces).columns
    rows = columns_of(side, load(dataset, ["age"]))
    found = [job.preview(data, Role.ALICE, NO_LIMITS).refusal for data in (totals, rows)]
    assert found[0] is not None
    assert str(found[0]) == str(found[1])
    assert count_rows(totals) == count_persons(totals) == 9000


def test_rows_that_are_compared_are_read_whole(tmp_path):
    source = csv_source(tmp_path)
    job = study()
    assert can_add_up(job, declared(tmp_path, source), SIDE)
    for fields in ({"key": "age"}, {"person": "age"}):
        assert not can_add_up(job, declared(tmp_path, source, **fields), SIDE)
    exact = ANALYSES["statistics"].parse({"noise": "none", "queries": QUERIES[:1]})
    assert not can_add_up(exact, declared(tmp_path, source), SIDE)


def test_a_file_that_changes_while_it_is_read_is_refused(tmp_path):
    path = tmp_path / "d.parquet"
    parquet.write_table(pa.table({"age": [1] * 10}), path)
    with small_pieces(2):
        batches = parquets.read(path, ["age"])
        next(batches)
        path.write_bytes(path.read_bytes() + b"more")
        with pytest.raises(DataError, match="was changed while it was read"):
            list(batches)

"""Blocks of CSV that are split at once give what the reader of `csv` gives, or are left to it."""

from __future__ import annotations

import csv
from contextlib import suppress
from unittest import mock

import pytest
from hypothesis import HealthCheck, example, given, settings
from hypothesis import strategies as st

from commons.tabular.dialect import Dialect
from parties.catalog.sources import blocks, csvs
from parties.catalog.sources.batch import VisibleCells
from parties.errors import DataError

PIECES = (
    *("a", "b", "0", "7", "ä", "€", "\u2028", "\x85", "\ufeff", " ", "\t", ",", ",", ";", "\n", "\n", "\n"),
    *("\r\n", "\r", '"', '""', "\0", "x,y\n", "1,2\n", "3,4\r\n", "\n\n", ",\n", "  \n"),
)
texts = st.lists(st.sampled_from(PIECES), max_size=30).map("".join)
dialects = st.builds(
    Dialect, st.sampled_from(["", ";", "\t", " "]), st.sampled_from(["utf-8", "cp1252", "utf-16"])
)


class NoBlocks:
    """Leaves the whole file to `csv`."""

    def __init__(self, raw, dialect, *_):
        self._left = blocks.PlainBlocks(raw, dialect, 1, 1)
        self.lines = 0

    def __iter__(self):
        return iter(())

    def rest(self):
        return self._left.rest()


def everything(path, dialect, columns):
    """All that is said of a file: rows with their places, and how it ends."""
    found = []
    try:
        for batch in csvs.read(path, dialect, columns, "datasets.d"):
            rows = zip(*batch.columns, strict=True)
            found += [(batch.place[index], row) for index, row in enumerate(rows)]
    except DataError as error:
        return found, str(error)
    return found, None


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(
    start=st.sampled_from(
        ["x,y\n", "x;y\r\n", "x\n", "\n \nx,y\n", "\ufeffx,y\n", '"x","y"\n', ",\nx,y\n", ""]
    ),
    text=texts,
    dialect=dialects,
    block=st.sampled_from([1, 2, 3, 7, 64, 1 << 18]),
    rows=st.sampled_from([1, 2, 1000]),
)
@example("x,y\n", "1,2\r\n3,4\r\n5,6", Dialect(), 7, 2)
@example("x\n", "1\n2\n\n", Dialect(), 2, 1)
@example("x,y\n", '1,2\n"3",4\n\ufeff5,6\n', Dialect(), 2, 2)
def test_blocks_and_csv_say_the_same(tmp_path, start, text, dialect, block, rows):
    path = tmp_path / "d.csv"
    path.write_bytes((start + text).encode(dialect.encoding, "replace"))
    try:
        columns = list(dict.fromkeys(csvs.header_of(path, dialect, "datasets.d")))
    except DataError:
        return
    with mock.patch.object(csvs, "ROWS", rows), mock.patch.object(blocks, "_BLOCK", block):
        fast = everything(path, dialect, columns)
        with mock.patch.object(csvs, "PlainBlocks", NoBlocks):
            slow = everything(path, dialect, columns)
    assert fast[1] == slow[1]
    if fast[1] is None:
        assert fast == slow


def test_usual_files_need_no_csv_reader(tmp_path):
    path = tmp_path / "d.csv"
    path.write_text("x,y\n" + "".join(f"{row},ä{row}\r\n" for row in range(50_000)), newline="")
    with mock.patch.object(csvs, "_check", return_value=iter(())):
        rows, problem = everything(path, Dialect(), ["y"])
    assert problem is None
    assert len(rows) == 50_000
    assert rows[-1] == ("row 50000 (line 50001)", ("ä49999",))


@pytest.mark.parametrize("limit", [1000, 1 << 30])
def test_how_long_a_cell_may_be_does_not_depend_on_other_readers_of_the_process(tmp_path, limit):
    """`csv.field_size_limit` holds for the whole process, and libraries set it."""
    before = csv.field_size_limit(limit)
    path = tmp_path / "d.csv"
    try:
        for length, fits in ((csvs.CELL, True), (csvs.CELL + 1, False)):
            path.write_text(f'x\n"{"a" * length}"\n')
            rows, problem = everything(path, Dialect(), ["x"])
            assert (len(rows), problem is None) == (int(fits), fits)
        assert "line 2 begins a row that is not valid CSV" in problem
        assert f"at most {csvs.CELL} characters" in problem
    finally:
        csv.field_size_limit(before)


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(text=texts, dialect=dialects, block=st.sampled_from([1, 7, 1 << 18]), wide=st.booleans())
@example(text="a,b\n", dialect=Dialect(), block=1 << 18, wide=True)
@example(text=" a,b\n", dialect=Dialect(), block=1 << 18, wide=True)
@example(text=",b\n", dialect=Dialect(), block=1 << 18, wide=True)
@example(text="ä,b\n", dialect=Dialect(), block=1 << 18, wide=True)
def test_cells_that_are_called_visible_are(tmp_path, text, dialect, block, wide):
    path = tmp_path / "d.csv"
    path.write_bytes((f"x{dialect.separator}y\n" if wide else "x\n").encode(dialect.encoding))
    path.write_bytes(path.read_bytes() + text.encode(dialect.encoding, "replace"))
    with mock.patch.object(blocks, "_BLOCK", block), suppress(DataError):
        for batch in csvs.read(path, dialect, ["x"], "datasets.d"):
            for column in batch.columns:
                for cell in column if isinstance(column, VisibleCells) else ():
                    assert cell.isascii()
                    assert cell.isprintable()
                    assert cell.split() == [cell]


@pytest.mark.parametrize("text", ["x\nC1\nC2\n", "x,y\r\nC1,2\r\nC2,3", "x\ty\nC1\t2\nC2\t3\n"])
def test_cells_of_usual_files_are_visible(tmp_path, text):
    """Else each is looked at again by all that takes it: keys, persons, columns, missing cells."""
    path = tmp_path / "d.csv"
    path.write_text(text, newline="")
    dialect = Dialect("\t" if "\t" in text else "")
    (batch,) = csvs.read(path, dialect, ["x"], "datasets.d")
    assert batch.columns == [["C1", "C2"]]
    assert isinstance(batch.columns[0], VisibleCells)

"""Spreadsheets as originals: typed columns, errors with hints, and a release of one."""

from __future__ import annotations

from datetime import date, datetime

import polars as pl
import pytest

from anonymizer.errors import FileError, TableError
from anonymizer.tables import files

openpyxl = pytest.importorskip("openpyxl")
pytest.importorskip("python_calamine")


def sheet(path, *rows):
    book = openpyxl.Workbook()
    for row in rows:
        book.active.append(row)
    book.save(path)
    return path


def test_columns_have_the_types_of_their_cells(tmp_path):
    path = sheet(
        tmp_path / "t.xlsx",
        ["age", "mass", "born", "well", "name", "mixed", "empty"],
        [40, 70.5, date(1990, 12, 31), True, "Müller", 1, None],
        [],
        [None, 80, date(1980, 2, 1), False, "07", "a", None],
    )
    frame = files.table(path).native
    assert frame.schema == {
        "age": pl.Int64,
        "mass": pl.Float64,
        "born": pl.Date,
        "well": pl.Boolean,
        "name": pl.String,
        "mixed": pl.String,
        "empty": pl.String,
    }
    assert frame.rows() == [
        (40, 70.5, date(1990, 12, 31), True, "Müller", "1", None),
        (None, 80.0, date(1980, 2, 1), False, "07", "a", None),
    ]
    assert [len(part) for part in files.tables(path, 1)] == [1, 1]
    moments = sheet(tmp_path / "m.xlsx", ["seen"], [datetime(2020, 1, 1, 8, 30)], [date(2020, 1, 2)])
    assert files.table(moments).native["seen"].to_list()[0] == datetime(2020, 1, 1, 8, 30)


def test_what_cannot_be_read_is_said(tmp_path):
    with pytest.raises(FileError, match="is empty"):
        files.table(sheet(tmp_path / "t.xlsx"))
    with pytest.raises(TableError, match="columns 2 and 3 have no names"):
        files.table(sheet(tmp_path / "t.xlsx", ["a", None, None], [1, 2, 3]))
    with pytest.raises(TableError, match="two columns 'a'"):
        files.table(sheet(tmp_path / "t.xlsx", ["a", "a"], [1, 2]))
    (tmp_path / "t.xlsx").write_bytes(b"no")
    with pytest.raises(FileError, match="cannot be read as a spreadsheet"):
        files.table(tmp_path / "t.xlsx")
    book = openpyxl.Workbook()
    book.create_sheet("second")
    book.save(tmp_path / "t.xlsx")
    with pytest.raises(FileError, match="has 2 sheets"):
        files.table(tmp_path / "t.xlsx")


def test_spreadsheets_are_not_written(tmp_path):
    with pytest.raises(FileError, match="unknown kind"):
        files.write(pl.DataFrame({"a": [1]}), tmp_path / "t.xlsx")

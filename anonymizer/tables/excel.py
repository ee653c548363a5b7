"""Excel and OpenDocument files with one sheet: read only, columns typed by their cells."""

from __future__ import annotations

from datetime import date, datetime, time
from pathlib import Path
from typing import Any

import polars as pl

from anonymizer.errors import FileError, TableError
from anonymizer.tables.headers import named


def read(path: Path) -> pl.DataFrame:
    """A whole sheet; rows without any cell are left out.

    A column of numbers is one of integers if all are whole, times that are all at midnight are dates. Cells
    of several types are texts.

    Raises:
        FileError: it cannot be read, or has several sheets.
        TableError: its first row does not name the columns.
    """
    rows = [row for row in _rows(path) if any(cell != "" for cell in row)]
    if not rows:
        raise TableError(f"{path} is empty.", "Write a row with the names of the columns.")
    names = named(path, [str(cell).strip() for cell in rows[0]], "row")
    return pl.DataFrame([_column(name, [row[place] for row in rows[1:]]) for place, name in enumerate(names)])


def _rows(path: Path) -> list[list[Any]]:
    try:
        from python_calamine import CalamineError, CalamineWorkbook
    except ImportError:
        raise FileError(
            f"{path} needs python-calamine, which is not installed.", "Run pip install 'duetto[excel]'."
        ) from None
    try:
        book = CalamineWorkbook.from_path(path)
        if len(book.sheet_names) != 1:
            raise FileError(
                f"{path} has {len(book.sheet_names)} sheets.",
                "Save the sheet that is meant in a file of its own.",
            )
        found: list[list[Any]] = book.get_sheet_by_index(0).to_python()
    except (CalamineError, OSError):
        raise FileError(
            f"{path} cannot be read as a spreadsheet.",
            "Save it again as .xlsx without a password, or as CSV.",
        ) from None
    return found


def _column(name: str, cells: list[Any]) -> pl.Series:
    held = [_cell(cell) for cell in cells]
    kinds = {type(cell) for cell in held if cell is not None}
    if kinds <= {int}:
        return pl.Series(name, held, pl.Int64 if kinds else pl.String)
    if kinds <= {int, float}:
        return pl.Series(name, held, pl.Float64)
    for kind, form in ((bool, pl.Boolean), (date, pl.Date), (str, pl.String)):
        if kinds == {kind}:
            return pl.Series(name, held, form)
    if kinds <= {date, datetime}:
        moments = [datetime.combine(cell, time()) if type(cell) is date else cell for cell in held]
        return pl.Series(name, moments, pl.Datetime("us"))
    return pl.Series(name, [None if cell is None else str(cell) for cell in held], pl.String)


def _cell(cell: Any) -> Any:
    if cell == "":
        return None
    if isinstance(cell, float) and cell.is_integer() and abs(cell) < 2**53:
        return int(cell)
    if isinstance(cell, datetime) and cell.time() == time():
        return cell.date()
    return cell

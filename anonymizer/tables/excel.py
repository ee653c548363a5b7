"""Excel and OpenDocument files with one sheet: read only, columns typed by their cells."""

from __future__ import annotations

from datetime import date, datetime, time
from pathlib import Path
from typing import Any

import polars as pl

from anonymizer.errors import FileError
from anonymizer.tables.headers import name_columns
from commons.tabular.excel import Spreadsheet


def read(path: Path) -> pl.DataFrame:
    """A whole sheet; rows without any cell are left out.

    A column of numbers is one of integers if all are whole, times that are all at midnight are dates. Cells
    of several types are texts.

    Raises:
        FileError: it cannot be read, or has several sheets.
        TableError: its first row does not name the columns.
    """
    file = Spreadsheet(path, FileError, FileError, str(path))
    sheets = file.sheets()
    if len(sheets) != 1:
        raise FileError(
            f"{path} has {len(sheets)} sheets.", "Save the sheet that is meant in a file of its own."
        )
    header, rows = file.rows(sheets[0])
    names, held = name_columns(path, header, "row"), [row for _, row in rows]
    return pl.DataFrame([_column(name, [row[place] for row in held]) for place, name in enumerate(names)])


def _column(name: str, held: list[Any]) -> pl.Series:
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

"""Sheets of Excel and OpenDocument files: the first row names the columns, cells come with their types."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from datetime import date, datetime, time
from itertools import islice
from pathlib import Path
from typing import Any

from parties.catalog.batch import ROWS, Batch, Place, picked, positions
from parties.errors import ConfigError, DataError
from parties.toml import near


def read(path: Path, sheet: str, columns: Sequence[str], entry: str) -> Iterator[Batch]:
    """The rows of a sheet; rows without any cell are skipped.

    Whole numbers come as integers, since Excel holds all numbers as floats, times at midnight as dates.

    Args:
        path: the file.
        sheet: its name; empty if the file has one only.
        columns: to read.
        entry: the table of the catalog that declares the data set, for hints.

    Raises:
        DataError: the file cannot be read, or has no such sheet or column.
        ConfigError: the library that reads it is not installed.
    """
    rows = _rows(path, sheet, entry)
    header, first = _header(path, rows)
    where = positions(path.name, header, columns)
    number = 1
    while held := list(islice(rows, ROWS)):
        kept = [(line, row) for line, row in enumerate(held, first) if any(cell != "" for cell in row)]
        first += len(held)
        if not kept:
            continue
        cells = [[_cell(cell) for cell in column] for column in picked([row for _, row in kept], where)]
        yield Batch(Place(number, [line for line, _ in kept]), len(kept), cells)
        number += len(kept)


def header_of(path: Path, sheet: str, entry: str) -> list[str]:
    """The names of the columns.

    Raises:
        DataError: as `read`.
        ConfigError: as `read`.
    """
    return _header(path, _rows(path, sheet, entry))[0]


def sheets_of(path: Path) -> list[str]:
    """The names of the sheets of a file.

    Raises:
        DataError: as `read`.
        ConfigError: as `read`.
    """
    return list(_workbook(path).sheet_names)


def _workbook(path: Path) -> Any:
    try:
        from python_calamine import CalamineError, CalamineWorkbook
    except ImportError:
        raise ConfigError(
            f"{path.name} needs python-calamine, which is not installed.", "Run pip install 'duetto[excel]'."
        ) from None
    try:
        return CalamineWorkbook.from_path(path)
    except (CalamineError, OSError):
        raise DataError(
            f"{path.name} cannot be read as a spreadsheet.",
            "Save it again as .xlsx without a password, or as CSV.",
        ) from None


def _rows(path: Path, sheet: str, entry: str) -> Iterator[list[Any]]:
    book = _workbook(path)
    names = list(book.sheet_names)
    if sheet and sheet not in names:
        raise DataError(f"{path.name} has no sheet {sheet!r}.", near(sheet, names))
    if not sheet and len(names) != 1:
        said = ", ".join(names[:10])
        raise DataError(
            f"{path.name} has {len(names)} sheets.", f"Write sheet = ... below [{entry}]; there are: {said}."
        )
    found: Iterator[list[Any]] = book.get_sheet_by_name(sheet or names[0]).iter_rows()
    return found


def _header(path: Path, rows: Iterator[list[Any]]) -> tuple[list[str], int]:
    """The names of the columns, and the line after them; lines above without any cell are skipped."""
    for line, row in enumerate(rows, 1):
        if any(cell != "" for cell in row):
            return [str(_cell(cell) if cell != "" else "").strip() for cell in row], line + 1
    raise DataError(
        f"{path.name} is empty.", "Write a row with the names of the columns, and the rows below."
    )


def _cell(cell: Any) -> Any:
    if isinstance(cell, float) and cell.is_integer() and abs(cell) < 2**53:
        return int(cell)
    if isinstance(cell, datetime) and cell.time() == time():
        return cell.date()
    if isinstance(cell, date | datetime):
        return cell
    return None if cell == "" else cell

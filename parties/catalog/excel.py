"""Sheets of Excel and OpenDocument files: the first row names the columns, cells come with their types."""

from __future__ import annotations

import re
import zipfile
import zlib
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from datetime import date, datetime, time
from itertools import islice
from pathlib import Path
from typing import Any, Final

from commons.errors import near
from parties.catalog.batch import ROWS, Batch, Place, picked, positions
from parties.errors import ConfigError, DataError

CELLS: Final = 50_000_000
"""Cells that the used range of a sheet may have. All of them are held, used or not."""

_BLOCK: Final = 1 << 20
_OVERLAP: Final = 64
_REFERENCE: Final = rb"""r\s*=\s*["']"""


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
        from python_calamine import CalamineWorkbook
    except ImportError:
        raise ConfigError(
            f"{path.name} needs python-calamine, which is not installed.", "Run pip install 'duetto[excel]'."
        ) from None
    with _explained(path):
        return CalamineWorkbook.from_path(path)


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
    _check_range(path)
    with _explained(path):
        found: Iterator[list[Any]] = book.get_sheet_by_name(sheet or names[0]).iter_rows()
    return found


@contextmanager
def _explained(path: Path) -> Iterator[None]:
    from python_calamine import CalamineError

    try:
        yield
    except (CalamineError, OSError):
        raise DataError(
            f"{path.name} cannot be read as a spreadsheet.",
            "Save it again as .xlsx without a password, or as CSV.",
        ) from None


def _check_range(path: Path) -> None:
    """Refuse sheets of `.xlsx` whose used range is too large, by the references of their cells.

    The reader holds all cells up to the last one, so that one stray cell would need hundreds of GiB.
    """
    if not zipfile.is_zipfile(path):
        return  # .xls, whose sheets have at most 16 million cells
    try:
        with zipfile.ZipFile(path) as packed:
            for name in packed.namelist():
                if name.startswith("xl/worksheets/") and name.endswith(".xml"):
                    _check_sheet(path, packed, name)
    except (zipfile.BadZipFile, zlib.error, EOFError, NotImplementedError, RuntimeError):
        return  # the reader says what is wrong


def _check_sheet(path: Path, packed: zipfile.ZipFile, name: str) -> None:
    width = 0
    for block in _blocks(packed, name):
        while (wider := re.search(_REFERENCE + _wider(width) + rb"[0-9]", block)) is not None:
            width = _column(wider[1])
    most = CELLS // max(width, 1)
    if most >= 1 << 20:
        return
    digits = len(str(most))
    row = re.compile(_REFERENCE + rb"[A-Z]{0,3}([0-9]{%d,7})" % digits)
    for block in _blocks(packed, name):
        for found in row.finditer(block):
            if int(found[1]) > most:
                raise DataError(
                    f"{path.name}: a sheet has a cell in column {width} and one in row {int(found[1])}, so "
                    f"that its used range has more than {CELLS} cells.",
                    "Delete the rows and columns outside the table in the spreadsheet, or save it as CSV.",
                )


def _blocks(packed: zipfile.ZipFile, name: str) -> Iterator[bytes]:
    """The bytes of a part, in blocks that overlap, so that each reference is whole in one of them."""
    kept = b""
    with packed.open(name) as part:
        while block := part.read(_BLOCK):
            yield kept + block
            kept = block[-_OVERLAP:]


def _column(letters: bytes) -> int:
    """The number of a column, from 1."""
    number = 0
    for letter in letters:
        number = number * 26 + letter - ord("A") + 1
    return number


def _letters(number: int) -> str:
    """The letters of a column, from 1."""
    found = ""
    while number:
        number, letter = divmod(number - 1, 26)
        found = chr(ord("A") + letter) + found
    return found


def _wider(width: int) -> bytes:
    """A pattern for the letters of all columns beyond one."""
    letters = _letters(width)
    ways = [f"[A-Z]{{{len(letters) + 1},3}}"] if len(letters) < 3 else []
    for at, letter in enumerate(letters):
        if letter < "Z":
            ways.append(f"{letters[:at]}[{chr(ord(letter) + 1)}-Z][A-Z]{{{len(letters) - at - 1}}}")
    return f"({'|'.join(ways) or '(?!)'})".encode()


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

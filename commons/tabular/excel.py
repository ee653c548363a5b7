"""Sheets of Excel and OpenDocument files: the first row names the columns, cells come with their types."""

from __future__ import annotations

import re
import zipfile
import zlib
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import datetime, time
from pathlib import Path
from typing import Any, Final

CELLS: Final = 50_000_000
"""Cells that the used range of a sheet may have. All of them are held, used or not."""

_BLOCK: Final = 1 << 20
_OVERLAP: Final = 64
_REFERENCE: Final = rb"""r\s*=\s*["']"""


@dataclass(frozen=True)
class Spreadsheet:
    """A file of sheets.

    Attributes:
        path: of the file.
        fail: makes the error of whoever reads, from what is wrong and what to do about it.
        lacking: the same where the library that reads it is not installed.
        name: how errors call the file; empty is the name in its folder.
    """

    path: Path
    fail: Callable[[str, str], Exception]
    lacking: Callable[[str, str], Exception]
    name: str = ""

    @property
    def called(self) -> str:
        """How errors call the file."""
        return self.name or self.path.name

    def sheets(self) -> list[str]:
        """The names of its sheets.

        Raises:
            Exception: `fail` if it cannot be read, `lacking` without the library.
        """
        return list(self._book().sheet_names)

    def rows(self, sheet: str) -> tuple[list[str], Iterator[tuple[int, list[Any]]]]:
        """Read a sheet; rows without any cell are skipped.

        Whole numbers are integers, since Excel holds all numbers as floats, and times at midnight dates.

        Args:
            sheet: its name.

        Returns:
            The names of the columns, and of each further row its line and its cells, None for empty ones.

        Raises:
            Exception: as `sheets`; `fail` if the sheet is empty, or its used range is too large.
        """
        book = self._book()
        self._check_range()
        with self._explained():
            held = book.get_sheet_by_name(sheet).iter_rows()
        rows = ((line, row) for line, row in enumerate(held, 1) if any(cell != "" for cell in row))
        first = next(rows, None)
        if first is None:
            hint = "Write a row with the names of the columns, and the rows below."
            raise self.fail(f"{self.called} is empty.", hint)
        names = [str(_cell(cell) if cell != "" else "").strip() for cell in first[1]]
        return names, ((line, [*map(_cell, row)]) for line, row in rows)

    def _book(self) -> Any:
        try:
            from python_calamine import CalamineWorkbook
        except ImportError:
            raise self.lacking(
                f"{self.called} needs python-calamine, which is not installed.",
                "Run pip install 'duetto[excel]'.",
            ) from None
        with self._explained():
            return CalamineWorkbook.from_path(self.path)

    @contextmanager
    def _explained(self) -> Iterator[None]:
        from python_calamine import CalamineError

        try:
            yield
        except (CalamineError, OSError):
            raise self.fail(
                f"{self.called} cannot be read as a spreadsheet.",
                "Save it again as .xlsx without a password, or as CSV.",
            ) from None

    def _check_range(self) -> None:
        """Refuse sheets of `.xlsx` whose used range is too large, by the references of their cells.

        The reader holds all cells up to the last one, so that one stray cell would need hundreds of GiB.
        """
        if not zipfile.is_zipfile(self.path):
            return  # .xls, whose sheets have at most 16 million cells
        try:
            with zipfile.ZipFile(self.path) as packed:
                for name in packed.namelist():
                    if name.startswith("xl/worksheets/") and name.endswith(".xml"):
                        self._check_sheet(packed, name)
        except (zipfile.BadZipFile, zlib.error, EOFError, NotImplementedError, RuntimeError):
            return  # the reader says what is wrong

    def _check_sheet(self, packed: zipfile.ZipFile, name: str) -> None:
        width = 0
        for block in _blocks(packed, name):
            while (wider := re.search(_REFERENCE + _wider(width) + rb"[0-9]", block)) is not None:
                width = _column(wider[1])
        most = CELLS // max(width, 1)
        if most >= 1 << 20:
            return
        digits = len(str(most))
        row = re.compile(_REFERENCE + rb"[A-Z]{0,3}([0-9]{%d,7})" % digits)
        rows = (int(found[1]) for block in _blocks(packed, name) for found in row.finditer(block))
        beyond = next((number for number in rows if number > most), None)
        if beyond is not None:
            raise self.fail(
                f"{self.called}: a sheet has a cell in column {width} and one in row {beyond}, so that its "
                f"used range has more than {CELLS} cells.",
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


def _cell(cell: Any) -> Any:
    if isinstance(cell, float) and cell.is_integer() and abs(cell) < 2**53:
        return int(cell)
    if isinstance(cell, datetime) and cell.time() == time():
        return cell.date()
    return None if cell == "" else cell

"""Sheets of Excel and OpenDocument files: a row or some name the columns, cells come with their types."""

from __future__ import annotations

import re
import zipfile
import zlib
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import datetime, time
from itertools import islice, takewhile
from pathlib import Path
from typing import Any, Final

from commons.tabular.headers import are_units, joined_names

CELLS: Final = 50_000_000
"""Cells that the used range of a sheet may have. All of them are held, used or not."""

_LOOKED: Final = 200
"""Lines that are looked at for the names of the columns."""
_TITLE_LINES: Final = 30
"""Names of columns stand in one of so many lines with cells."""
_LEAST_NAMES: Final = 2
_MOST: Final = 0.8
"""The share of the columns that have a name."""
_NAME_LENGTH: Final = 80

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

    def rows(
        self, sheet: str, header: Sequence[int] = ()
    ) -> tuple[list[str], Iterator[tuple[int, list[Any]]]]:
        """Read a sheet; rows without any cell are skipped.

        Whole numbers are integers, since Excel holds all numbers as floats, and times at midnight dates.

        Args:
            sheet: its name.
            header: the lines that name the columns, from 1, one below the other, read by `joined_names`; none
                for the first that has cells. What is above them is not read.

        Returns:
            The names of the columns, and of each further row its line and its cells, None for empty ones.

        Raises:
            Exception: as `sheets`; `fail` if the sheet is empty or ends before, or its used range is too
                large.
        """
        rows = self._read_lines(sheet)
        if not header:
            first = next(rows, None)
            if first is None:
                hint = "Write a row with the names of the columns, and the rows below."
                raise self.fail(f"{self.called} is empty.", hint)
            names = [_name(cell) for cell in first[1]]
        else:
            last = max(header)
            above = [row for line, row in takewhile(lambda one: one[0] <= last, rows) if line in header]
            names = joined_names([[*map(_name, row)] for row in above])
            rows = ((line, row) for line, row in self._read_lines(sheet) if line > last)
            if not any(names):
                raise self.fail(
                    f"{self.called} has no names of columns in row {', '.join(map(str, header))}.",
                    "Name the row that has them.",
                )
        return names, ((line, [*map(_cell, row)]) for line, row in rows)

    def find_header(self, sheet: str) -> tuple[int, ...]:
        """The lines that seem to name the columns; none where it is the first that has cells.

        A title or a date of the export above the table has few cells; names are texts and as many as there
        are columns, or so with the line above or below, where cells were merged. Raises as `rows`.
        """
        looked = list(islice(self._read_lines(sheet), _LOOKED))
        width = len({place for _, row in looked for place in _filled_places(row)})
        for at, (line, row) in enumerate(looked[:_TITLE_LINES]):
            names, below = _filled_places(row), looked[at + 1][1] if at + 1 < len(looked) else []
            if len(names) < _LEAST_NAMES or not _are_names(row):
                continue
            is_whole = len(names) >= _MOST * width
            under = _filled_places(below) if _are_names(below) and looked[at + 1][0] == line + 1 else set()
            is_merged = bool(under - names) and len(names | under) >= _MOST * width
            if is_merged and not (is_whole and 2 * len(under) >= width):
                texts = [str(below[place]).strip() for place in under]
                if len(under) >= _MOST * width and len({*texts}) == len(texts):
                    continue  # the line below is enough
                return (line, line + 1, *_units_below(looked[at + 2 :], line + 1))
            if is_whole:
                units = _units_below(looked[at + 1 :], line)
                return (line, *units) if at or units else ()
        return ()

    def _read_lines(self, sheet: str) -> Iterator[tuple[int, list[Any]]]:
        """The lines of a sheet with a cell, as the library gives them. Raises as `rows`."""
        book = self._book()
        self._check_range()
        with self._explain_errors():
            held = book.get_sheet_by_name(sheet).iter_rows()
        return ((line, row) for line, row in enumerate(held, 1) if any(cell != "" for cell in row))

    def _book(self) -> Any:
        try:
            from python_calamine import CalamineWorkbook
        except ImportError:
            raise self.lacking(
                f"{self.called} needs python-calamine, which is not installed.",
                "Run pip install 'duetto[excel]'.",
            ) from None
        with self._explain_errors():
            return CalamineWorkbook.from_path(self.path)

    @contextmanager
    def _explain_errors(self) -> Iterator[None]:
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


def _filled_places(row: Sequence[Any]) -> set[int]:
    """The places of the cells of a row that hold something."""
    return {place for place, cell in enumerate(row) if cell != ""}


def _are_names(row: Sequence[Any]) -> bool:
    """Whether the cells of a row can be names of columns: short texts that are no numbers."""
    texts = [cell for cell in row if cell != ""]
    return all(
        isinstance(one, str) and len(one) <= _NAME_LENGTH and re.search(r"[^\W\d]", one) for one in texts
    )


def _units_below(rows: Sequence[tuple[int, Sequence[Any]]], line: int) -> tuple[int, ...]:
    """The line that follows if it has units of the names above it and nothing else."""
    follows = bool(rows) and rows[0][0] == line + 1
    return (line + 1,) if follows and are_units([*map(_name, rows[0][1])]) else ()


def _name(cell: Any) -> str:
    return str(_cell(cell) if cell != "" else "").strip()


def _cell(cell: Any) -> Any:
    if isinstance(cell, float) and cell.is_integer() and abs(cell) < 2**53:
        return int(cell)
    if isinstance(cell, datetime) and cell.time() == time():
        return cell.date()
    return None if cell == "" else cell

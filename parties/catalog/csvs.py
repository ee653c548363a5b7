"""CSV in the declared dialect, in batches; what is not declared is refused, with the key to declare."""

from __future__ import annotations

import codecs
import csv
import gzip
import io
import zlib
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from itertools import islice
from pathlib import Path
from typing import IO, Any, Final

from parties.catalog.batch import ROWS, Batch, Place, VisibleCells, picked, positions
from parties.catalog.blocks import PlainBlocks
from parties.catalog.dialect import SEPARATORS, Dialect
from parties.errors import DataError, why_unreadable

CELL: Final = 1 << 17
"""Characters that a cell may have at most."""
ROW: Final = 1 << 20
"""Characters that a row may have at most, with its separators and ends of lines."""

_START: Final = 1 << 16
"""Bytes that are looked at for the encoding."""
_DATABASES: Final = (("sqlite", 0, b"SQLite format 3\0"), ("duckdb", 8, b"DUCK"))
"""How files of databases begin: the scheme of their addresses, and what stands at which byte."""


def read(path: Path, dialect: Dialect, columns: Sequence[str], entry: str) -> Iterator[Batch]:
    """The rows of a file; blank lines are skipped, but in a file of one column.

    Args:
        path: the file; gzip if its name ends in `.gz`.
        dialect: of the file.
        columns: to read.
        entry: the table of the catalog that declares the data set, for hints.

    Raises:
        DataError: it cannot be read, is not in the dialect, lacks a column or is damaged.
    """
    place = path.name
    header = header_of(path, dialect, entry)
    where = positions(place, header, columns)
    width = len(header)
    first = 1
    with _explained(path, dialect, entry), _bytes(path) as raw:
        plain = PlainBlocks(raw, dialect, width, CELL)
        for line, cells, are_visible in plain:
            for start in range(0, len(cells), ROWS * width):
                found = [cells[start + at : start + ROWS * width : width] for at in where]
                found = [VisibleCells(column) for column in found] if are_visible else found
                rows = min(ROWS, (len(cells) - start) // width)
                begins = line + start // width
                yield Batch(Place(first, range(begins, begins + rows)), rows, found)
                first += rows
        reader = _Rows(plain.rest(), dialect, place, plain.lines)
        if not plain.lines:
            _first(reader)
        for number, lines, gathered in _gathered(_checked(reader, width, first), first):
            yield Batch(Place(number, lines), len(gathered), picked(gathered, where))


def header_of(path: Path, dialect: Dialect, entry: str) -> list[str]:
    """The names of the columns.

    Raises:
        DataError: as `read`.
    """
    start = start_of(path)
    with _explained(path, dialect, entry), _opened(path, dialect) as stream:
        _check_encoding(path, start, dialect, entry)
        return _header(_Rows(stream, dialect, path.name), start, dialect, entry)


def start_of(path: Path) -> bytes:
    """The first bytes of a file, unpacked.

    Raises:
        DataError: it cannot be read, or is a database.
    """
    with _explained(path, Dialect(), ""), _bytes(path) as raw:
        start: bytes = raw.read(_START)
    for scheme, place, mark in _DATABASES:
        if start.startswith(mark, place):
            raise DataError(
                f"{path.name} is a database, no CSV.",
                f"Name it as {scheme}:///{path}: in `duetto data add`, or as url of kind sql.",
            )
    return start


def guessed_encoding(start: bytes) -> str:
    """The likeliest encoding of a text from its first bytes: by its mark, its zeros, else by trial."""
    if start[:4] in (codecs.BOM_UTF32_LE, codecs.BOM_UTF32_BE):
        return "utf-32"
    if start[:2] in (codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE):
        return "utf-16"
    even, odd = start[::2].count(0), start[1::2].count(0)
    if max(even, odd) > len(start) / 8:
        return "utf-16-le" if odd > even else "utf-16-be"
    try:
        codecs.getincrementaldecoder("utf-8")().decode(start)
    except UnicodeDecodeError:
        return _one_byte(start)
    return "utf-8"


def encoding_of(path: Path) -> str:
    """The likeliest encoding of a whole file, of which a fault may stand far below.

    Raises:
        DataError: it cannot be read.
    """
    guess = guessed_encoding(start_of(path))
    if guess.startswith(("utf-16", "utf-32")):
        return guess
    decoder, is_utf8, one_byte = codecs.getincrementaldecoder("utf-8")(), True, "cp1252"
    with _explained(path, Dialect(), ""), _bytes(path) as raw:
        while block := raw.read(_START):
            try:
                decoder.decode(block)
            except UnicodeDecodeError:
                is_utf8 = False
            one_byte = _one_byte(block) if one_byte == "cp1252" else one_byte
    return "utf-8" if is_utf8 else one_byte


def _one_byte(text: bytes) -> str:
    try:
        text.decode("cp1252")
    except UnicodeDecodeError:
        return "latin-1"
    return "cp1252"


def other_separator(lines: Sequence[str], separator: str) -> str | None:
    """A separator that stands equally often in each of these lines, where another one stands in none."""
    if any(separator in line for line in lines[:1]):
        return None
    counts = {one: {line.count(one) for line in lines} for one in SEPARATORS if one != separator}
    return next((one for one, found in counts.items() if len(found) == 1 and 0 not in found), None)


def _header(reader: _Rows, start: bytes, dialect: Dialect, entry: str) -> list[str]:
    place, first = reader.place, _first(reader)
    if first is None:
        raise DataError(
            f"{place} is empty.", "Write a line with the names of the columns, and the rows below."
        )
    header = [cell.strip() for cell in first]
    if any("\0" in cell for cell in header):
        guess = guessed_encoding(start)
        if guess.startswith(("utf-16", "utf-32")) and not _is_same(guess, dialect.encoding):
            raise DataError(
                f"{place} is not in {dialect.encoding}.", f'Write encoding = "{guess}" below [{entry}].'
            )
        raise DataError(
            f"{place} has the character NUL in its first line, which is in no name of a column.",
            "Remove it, or export the file again.",
        )
    if header[0].lower().startswith("sep=") and not any(header[1:]):
        said = header[0][4:] or dialect.separator
        raise DataError(
            f"{place} begins with a line for Excel, which names the separator.",
            f"Remove that line; below it delimiter = {_quoted(said)} is what it says.",
        )
    if len(header) == 1:
        second = _first(reader)
        lines = [dialect.separator.join(cells) for cells in (first, second) if cells]
        other = other_separator(lines, dialect.separator)
        if other is not None:
            raise DataError(
                f"{place} separates its cells by {SEPARATORS[other]}, and the catalog does not say so.",
                f"Write delimiter = {_quoted(other)} below [{entry}].",
            )
    return header


def _first(reader: Iterator[list[str]]) -> list[str] | None:
    """The next row that is not blank."""
    return next((row for row in reader if any(cell.strip() for cell in row)), None)


def _quoted(separator: str) -> str:
    return '"\\t"' if separator == "\t" else f'"{separator}"'


class _Rows:
    """The rows of a text, as `csv` reads them; one that is not valid is named by the line in which it begins.

    Args:
        text: at the start of a line.
        dialect: of the text.
        place: how errors call it.
        before: lines before that one.
    """

    def __init__(self, text: IO[str], dialect: Dialect, place: str, before: int = 0) -> None:
        self._text = text
        self._before = before
        self._begins = before + 1
        self._characters = 0
        self.place = place
        if csv.field_size_limit() < CELL:  # it holds for the whole process, and somebody lowered it
            csv.field_size_limit(CELL)
        self._rows = csv.reader(self._lines(), delimiter=dialect.separator, strict=True)

    @property
    def line(self) -> int:
        """The line in which the last row ends."""
        return self._before + self._rows.line_num

    def __iter__(self) -> Iterator[list[str]]:
        return self

    def __next__(self) -> list[str]:
        try:
            cells = next(self._rows)
        except csv.Error as problem:
            raise self._wrong(str(problem)) from None
        if self._characters > CELL and any(len(cell) > CELL for cell in cells):
            raise self._wrong(f"a cell has more than {CELL} characters")
        self._begins, self._characters = self.line + 1, 0
        return cells

    def _lines(self) -> Iterator[str]:
        while line := self._text.readline(ROW + 1):
            self._characters += len(line)
            if self._characters > ROW:
                raise self._wrong(f"it has more than {ROW} characters")
            yield line

    def _wrong(self, why: str) -> DataError:
        return DataError(
            f"{self.place}, line {self._begins} begins a row that is not valid CSV: {why}.",
            f"Correct the quotation marks; a cell has at most {CELL} characters, a row at most {ROW}.",
        )


def _checked(reader: _Rows, width: int, number: int) -> Iterator[tuple[int, list[str]]]:
    """The rows of a CSV reader with their lines, the first of which has a number.

    A blank line is no row of several columns. Of one column it may stand at the end only: it could be a
    missing cell.
    """
    blank_line, place = 0, reader.place
    for cells in reader:
        if len(cells) != width or width == 1:
            if not cells or (len(cells) == 1 and not cells[0].strip()):
                blank_line = blank_line or reader.line
                continue
            if len(cells) != width:
                raise DataError(
                    f"{place}, row {number} (line {reader.line}): {len(cells)} cells, the header has "
                    f"{width}.",
                    "Correct separators and quotation marks.",
                )
            if blank_line:
                raise DataError(
                    f"{place}, line {blank_line} is blank, which may be a missing cell.",
                    'Remove the line, or write "" or a token for a missing cell; only the end may be blank.',
                )
        number += 1
        yield reader.line, cells


def _gathered(
    rows: Iterator[tuple[int, list[str]]], first: int
) -> Iterator[tuple[int, Sequence[int], list[list[str]]]]:
    """Batches: number of the first row, lines, cells. A problem is raised after the rows before it."""
    more = True
    problem: Exception | None = None
    while more:
        gathered: list[tuple[int, list[str]]] = []
        try:
            gathered.extend(islice(rows, ROWS))
        except (DataError, csv.Error, UnicodeError, OSError, EOFError, zlib.error) as raised:
            problem = raised
        more = len(gathered) == ROWS
        if gathered:
            lines: Sequence[int] = [line for line, _ in gathered]
            if lines[-1] - lines[0] == len(lines) - 1:
                lines = range(lines[0], lines[-1] + 1)
            yield first, lines, [cells for _, cells in gathered]
            first += len(gathered)
        if problem is not None:
            raise problem


def _is_same(encoding: str, other: str) -> bool:
    return codecs.lookup(encoding).name == codecs.lookup(other).name


def _check_encoding(path: Path, start: bytes, dialect: Dialect, entry: str) -> None:
    """Refuse UTF-8 that is declared as something else: its letters would be read as pairs of others."""
    if dialect.codec == "utf-8-sig" or start.isascii() or guessed_encoding(start) != "utf-8":
        return
    raise DataError(
        f"{path.name} is in UTF-8, and the catalog says {dialect.encoding!r}.",
        f"Remove encoding below [{entry}].",
    )


@contextmanager
def _opened(path: Path, dialect: Dialect) -> Iterator[IO[str]]:
    with _bytes(path) as raw, io.TextIOWrapper(raw, encoding=dialect.codec, newline="") as text:
        yield text


def _bytes(path: Path) -> Any:
    return gzip.open(path, "rb") if path.name.lower().endswith(".gz") else path.open("rb")


@contextmanager
def _explained(path: Path, dialect: Dialect, entry: str) -> Iterator[None]:
    place = path.name
    try:
        yield
    except UnicodeError:
        raise _wrong_encoding(path, dialect, entry) from None
    except csv.Error as problem:
        raise DataError(f"{place} is not valid CSV: {problem}.", "Correct the quotation marks.") from None
    except (EOFError, gzip.BadGzipFile, zlib.error):
        raise DataError(f"{place} is cut short or damaged.", "Copy or compress it again.") from None
    except OSError as problem:
        raise DataError(f"{place} cannot be read: {why_unreadable(problem)}.", "Check its rights.") from None


def _wrong_encoding(path: Path, dialect: Dialect, entry: str) -> DataError:
    guess = encoding_of(path)
    if guess == "utf-8" and dialect.codec == "utf-8-sig":
        guess = "cp1252"
    said = "UTF-8" if dialect.codec == "utf-8-sig" else dialect.encoding
    if _is_same(guess, dialect.encoding):
        return DataError(
            f"{path.name} is in {said} only in part.",
            f"Export it again, or say which encoding it is in below [{entry}].",
        )
    return DataError(
        f"{path.name} is not in {said}.",
        f'Write encoding = "{guess}" below [{entry}], or what the file is in.',
    )

"""Files of CSV as both houses open them: unpacked, in the declared dialect, with one word for each fault."""

from __future__ import annotations

import csv
import gzip
import io
import zlib
from collections import deque
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from functools import partial
from itertools import islice
from pathlib import Path
from typing import IO, Any, Final, NamedTuple, NoReturn

from commons.tabular.dialect import PLAIN, SEPARATORS, Dialect
from commons.tabular.encodings import Guess, guess_encoding, is_same
from commons.tabular.footers import MAX_LINES, sums_below
from commons.tabular.headers import are_units, joined_names
from commons.tabular.separators import (
    guess_separator,
    other_separator,
    quoted,
    stated_separator,
    typical_width,
)

CELL: Final = 1 << 17
"""Characters that a cell may have at most."""
ROW: Final = 1 << 20
"""Characters that a row may have at most, with its separators and ends of lines."""

_TITLES: Final = 20
"""Rows in which the names of columns are looked for below a title."""

_LOOKED: Final = 200
"""Rows that are looked at for the names of the columns."""
_MOST: Final = 0.8
"""The share of the columns that have a name."""
_STATED: Final = 80
"""Characters of a line that states the separator, at most."""

_START: Final = 1 << 16
"""Bytes that are looked at together."""


class Header(NamedTuple):
    """The beginning of a file.

    Attributes:
        names: of the columns, as the first line has them that is not blank, without blanks around them; or as
            several lines have them that were named.
        second: the row after them that is not blank, if there is one.
        blank: how many lines before them are blank.
        above: how many lines before them hold something else: a title, or the separator for Excel.
    """

    names: list[str]
    second: list[str] | None
    blank: int
    above: int


@dataclass(frozen=True)
class CsvFile:
    """A file of CSV.

    Attributes:
        path: of the file; gzip if its name ends in `.gz`.
        fail: makes the error of whoever reads, from what is wrong and what to do about it.
        dialect: of the file.
        name: how errors call the file; empty is the name in its folder.
        document: where the dialect is declared, as errors call it.
        place: the table of that document, such as `csv`.
        names_lines: those that name the columns, from 1, one below the other, whatever stands above them, see
            `joined_names`; none for the first that is not blank, below one that tells Excel the separator.
        names_key: the key of that table which says so; empty where there is none.
    """

    path: Path
    fail: Callable[[str, str], Exception]
    dialect: Dialect = PLAIN
    name: str = ""
    document: str = ""
    place: str = ""
    names_lines: tuple[int, ...] = ()
    names_key: str = ""

    @property
    def called(self) -> str:
        """How errors call the file."""
        return self.name or self.path.name

    def binary(self) -> Any:
        """Open the file to read its bytes, unpacked."""
        return gzip.open(self.path, "rb") if self.is_gzip else self.path.open("rb")

    @property
    def is_gzip(self) -> bool:
        """Whether it is packed, by its name."""
        return self.path.name.lower().endswith(".gz")

    @contextmanager
    def text(self) -> Iterator[IO[str]]:
        """Open the file to read its text, without a byte order mark."""
        with self.binary() as raw, io.TextIOWrapper(raw, encoding=self.dialect.codec, newline="") as text:
            yield text

    def start(self) -> bytes:
        """Its first bytes, unpacked. Raises as `explained`."""
        with self.explained(), self.binary() as raw:
            found: bytes = raw.read(_START)
            return found

    def guess_encoding(self) -> Guess:
        """The likeliest encoding of the whole file. Raises as `explained`."""
        with self.explained(), self.binary() as raw:
            return guess_encoding(iter(partial(raw.read, _START), b""))

    def guess_dialect(self) -> tuple[Dialect, str]:
        """The encoding and the separator that it seems to have, a comma not stated; and what to do in doubt.

        Raises as `explained`.
        """
        guess = self.guess_encoding()
        return Dialect(self.guess_separator(guess.encoding), guess.encoding), guess.doubt

    def guess_separator(self, encoding: str) -> str:
        """The separator that its beginning seems to have; empty for a comma. Raises as `explained`."""
        text = self.start().decode(Dialect(encoding=encoding).codec, errors="ignore")
        return guess_separator(text)

    def header(self) -> Header:
        """Read the names of the columns.

        Raises:
            Exception: `fail` if there are none, or they are not in this dialect; and as `explained`.
        """
        start = self.start()
        with self.explained(), self.text() as text:
            self._check_encoding(start)
            upper, above = self._lines_above(text)
            rows = Rows(self, text, above)
            blank, first = next(
                ((at, row) for at, row in enumerate(rows) if any(map(str.strip, row))), (0, None)
            )
            second = next((row for row in rows if row), None)
            names_line = None if self.names_lines else _names_below(first, second, rows)
        if self.names_lines and (first is None or blank):
            raise self.fail(
                f"{self.called} has no names of columns in line {self.names_lines[-1]}.",
                "Name the line that has them.",
            )
        if first is None:
            hint = "Write a line with the names of the columns, and the rows below."
            raise self.fail(f"{self.called} is empty.", hint)
        names = joined_names([*upper, first]) if upper else [name.strip() for name in first]
        self._check_names(names, start)
        separator = self.dialect.separator
        lines = [separator.join(cells) for cells in (first, second) if cells]
        other = other_separator(lines, separator) if len(first) == 1 and not self.dialect.delimiter else None
        if other is not None:
            raise self.fail(
                f"{self.called} separates its cells by {SEPARATORS[other]}, and {self.document} does not say "
                "so.",
                f"Write delimiter = {quoted(other)} below [{self.place}].",
            )
        if names_line is not None:
            raise self.fail(
                f"{self.called} has lines above the names of its columns, which seem to stand in line "
                f"{names_line}.",
                f"Write {self.names_key} = {names_line} below [{self.place}]."
                if self.names_key
                else f"Remove the lines above line {names_line}, or export the table without its title.",
            )
        return Header(names, second, blank, above)

    def find_names(self) -> tuple[int, ...]:
        """The lines that seem to name the columns; none where it is the first alone that is not blank.

        Above them are a title or a date of the export, which have few cells. They are two lines where the
        upper one has groups of the names in the lower, and one more where units in brackets follow. Raises
        as `explained`.
        """
        with self.explained(), self.text() as text:
            _, above = self._lines_above(text)
            rows, looked, line = csv.reader(text, delimiter=self.dialect.separator), list[Any](), above + 1
            for row in islice(rows, _LOOKED):
                looked += [(line, row)] if any(map(str.strip, row)) else []
                line = above + rows.line_num + 1
        width, _ = typical_width([len(row) for _, row in looked])
        held = dict(looked)
        for line, row in looked[:_TITLES]:
            filled = [cell for cell in row if cell.strip()]
            is_whole = len(row) == width and len(filled) >= max(2, _MOST * width) and _can_be_names(filled)
            is_merged = _are_merged([held.get(line + step, []) for step in range(4)], width)
            last = line + is_merged
            if is_whole or is_merged:
                found = (*range(line, last + 1), *([last + 1] if are_units(held.get(last + 1, [])) else ()))
                return () if found == (looked[0][0],) else found
            if len(filled) * 2 > width:
                return ()
        return ()

    def find_footer(self) -> tuple[str, ...]:
        """How the last lines begin that look like sums or counts below the table. Raises as `explained`."""
        with self.explained(), self.text() as text:
            lines = (line for line in iter(partial(text.readline, ROW), "") if line.strip())
            last = [
                next(csv.reader([line], delimiter=self.dialect.separator)) for line in deque(lines, MAX_LINES)
            ]
        return sums_below(last) if max(map(len, last), default=0) > 1 else ()

    def _lines_above(self, text: IO[str]) -> tuple[list[list[str]], int]:
        """Read the lines above the last one that names columns; the names in them, and how many they are."""
        if self.names_lines:
            above = [*islice(text, self.names_lines[-1] - 1)]
            naming = [line for number, line in enumerate(above, 1) if number in self.names_lines]
            return [*csv.reader(naming, delimiter=self.dialect.separator)], len(above)
        begin = text.tell()
        if stated_separator(text.readline(_STATED)) is not None:
            return [], 1
        text.seek(begin)
        return [], 0

    def refuse_encoding(self) -> NoReturn:
        """Say that the file is not in the declared encoding, and which one it seems to be in.

        Raises:
            Exception: `fail`.
        """
        guess = self.guess_encoding().encoding
        if guess == "utf-8" and self.dialect.is_utf8:
            guess = "cp1252"
        said = "UTF-8" if self.dialect.is_utf8 else self.dialect.encoding
        if is_same(guess, self.dialect.encoding):
            raise self.fail(
                f"{self.called} is in {said} only in part.",
                f"Export it again, or say which encoding it is in below [{self.place}].",
            ) from None
        raise self.fail(
            f"{self.called} is not in {said}.",
            f'Write encoding = "{guess}" below [{self.place}], or what the file is in.',
        ) from None

    def refuse_damage(self) -> NoReturn:
        """Say that the file is not whole.

        Raises:
            Exception: `fail`.
        """
        raise self.fail(f"{self.called} is cut short or damaged.", "Copy or compress it again.") from None

    @contextmanager
    def explained(self) -> Iterator[None]:
        """Raise `fail` for what the operating system and readers raise."""
        try:
            yield
        except UnicodeError:
            self.refuse_encoding()
        except csv.Error as problem:
            raise self.fail(
                f"{self.called} is not valid CSV: {problem}.", "Correct the quotation marks."
            ) from None
        except (EOFError, gzip.BadGzipFile, zlib.error):
            self.refuse_damage()
        except OSError as problem:
            if "runcated" in str(problem) or "zlib" in str(problem):  # so Arrow calls it
                self.refuse_damage()
            reason = problem.strerror or type(problem).__name__
            raise self.fail(f"{self.called} cannot be read: {reason}.", "Check its rights.") from None

    def _check_encoding(self, start: bytes) -> None:
        """Refuse UTF-8 that is declared as something else: its letters would be read as pairs of others."""
        if self.dialect.is_utf8 or start.isascii() or guess_encoding([start]).encoding != "utf-8":
            return
        raise self.fail(
            f"{self.called} is in UTF-8, and {self.document} says {self.dialect.encoding!r}.",
            f"Remove encoding below [{self.place}].",
        )

    def _check_names(self, names: Sequence[str], start: bytes) -> None:
        if any("\0" in name for name in names):
            guess = guess_encoding([start]).encoding
            if guess.startswith(("utf-16", "utf-32")) and not is_same(guess, self.dialect.encoding):
                said = "UTF-8" if self.dialect.is_utf8 else self.dialect.encoding
                raise self.fail(
                    f"{self.called} is not in {said}.", f'Write encoding = "{guess}" below [{self.place}].'
                )
            raise self.fail(
                f"{self.called} has the character NUL in its first line, which is in no name of a column.",
                "Remove it, or export the file again.",
            )


def _can_be_names(row: Sequence[str]) -> bool:
    return all(cell.strip(" 0123456789.,-+") for cell in row)


def _are_merged(rows: Sequence[Sequence[str]], width: int) -> bool:
    """Whether the first two rows name the columns together, as merged cells are exported, and rows follow.

    The lower one then has names where the upper has none, and is not enough by itself.
    """
    first, second, *others = ([cell.strip() for cell in row] for row in rows)
    upper, lower = ({at for at, cell in enumerate(row) if cell} for row in (first, second))
    following = next((row for row in others if not are_units(row)), [])
    if len(following) != width or _can_be_names([cell for cell in following if cell]):
        return False
    names = [cell for cell in second if cell]
    is_enough = len(names) >= _MOST * width and len({*names}) == len(names)
    return (
        min(len(upper), len(lower)) > 1
        and bool(lower - upper)
        and len(upper | lower) >= _MOST * width
        and _can_be_names([cell for cell in (*first, *second) if cell])
        and not are_units(second)
        and not is_enough
    )


def _names_below(first: Sequence[str] | None, second: Sequence[str] | None, rows: Rows) -> int | None:
    """The line below a title that has names of columns, if the first row is a title: its first cell alone."""
    if first is None or not first[0].strip() or any(map(str.strip, first[1:])):
        return None

    def names(row: Sequence[str] | None) -> bool:
        return row is not None and len(row) > 1 and _can_be_names(row)

    if names(second):
        return rows.line
    return next((rows.line for row in islice(rows, _TITLES) if names(row)), None)


class Rows:
    """The rows of a text, as `csv` reads them; one that is not valid is named by the line in which it begins.

    Args:
        file: what is read.
        text: of the file, at the start of a line.
        before: lines before that one.
    """

    def __init__(self, file: CsvFile, text: IO[str], before: int = 0) -> None:
        self._file = file
        self._text = text
        self._before = before
        self._begins = before + 1
        self._characters = 0
        if csv.field_size_limit() < CELL:  # it holds for the whole process, and somebody lowered it
            csv.field_size_limit(CELL)
        self._rows = csv.reader(self._lines(), delimiter=file.dialect.separator, strict=True)

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

    def _wrong(self, why: str) -> Exception:
        return self._file.fail(
            f"{self._file.called}, line {self._begins} begins a row that is not valid CSV: {why}.",
            f"Correct the quotation marks; a cell has at most {CELL} characters, a row at most {ROW}.",
        )

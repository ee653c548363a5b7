"""CSV in the declared dialect, in batches; what is not declared is refused, with the key to declare."""

from __future__ import annotations

import csv
import zlib
from collections.abc import Iterator, Sequence
from itertools import islice
from pathlib import Path
from typing import Final

from commons.tabular.csvs import CELL, CsvFile, Rows
from commons.tabular.dialect import Dialect
from commons.tabular.footers import without_footer
from parties.catalog.sources.batch import ROWS, Batch, Place, VisibleCells, pick, positions
from parties.catalog.sources.blocks import PlainBlocks
from parties.errors import DataError

_DATABASES: Final = (("sqlite", 0, b"SQLite format 3\0"), ("duckdb", 8, b"DUCK"))
"""How files of databases begin: the scheme of their addresses, and what stands at which byte."""


def read(
    path: Path,
    dialect: Dialect,
    columns: Sequence[str],
    entry: str,
    *,
    names_lines: Sequence[int] = (),
    footer: Sequence[str] = (),
) -> Iterator[Batch]:
    """The rows of a file; blank lines are skipped, but in a file of one column.

    Args:
        path: the file; gzip if its name ends in `.gz`.
        dialect: of the file.
        columns: to read.
        entry: the table of the catalog that declares the data set, for hints.
        names_lines: that name the columns, from 1; none for the first that is not blank.
        footer: how rows at the end begin that are left out, see `commons.tabular.footers`.

    Raises:
        DataError: it cannot be read, is not in the dialect, lacks a column or is damaged.
    """
    check_text(path)
    file = _file(path, dialect, entry, names_lines)
    header = file.header()
    where = positions(path.name, header.names, columns)
    width = len(header.names)
    first = 1
    with file.explained(), file.binary() as raw:
        plain = PlainBlocks(raw, dialect, width, CELL, header.above, footer)
        for line, cells, are_visible in plain:
            for start in range(0, len(cells), ROWS * width):
                found = [cells[start + at : start + ROWS * width : width] for at in where]
                found = [VisibleCells(column) for column in found] if are_visible else found
                rows = min(ROWS, (len(cells) - start) // width)
                begins = line + start // width
                yield Batch(Place(first, range(begins, begins + rows)), rows, found)
                first += rows
        rest = plain.rest()
        above = 0 if plain.lines else sum(1 for _ in islice(rest, header.above))
        reader = Rows(file, rest, plain.lines + above)
        if not plain.lines:
            next((row for row in reader if any(map(str.strip, row))), None)  # the names of the columns
        checked = _checked(reader, path.name, width, first, footer)
        for number, lines, gathered in _gathered(checked, first):
            yield Batch(Place(number, lines), len(gathered), pick(gathered, where))


def header_of(path: Path, dialect: Dialect, entry: str, names_lines: Sequence[int] = ()) -> list[str]:
    """The names of the columns.

    Raises:
        DataError: as `read`.
    """
    check_text(path)
    return _file(path, dialect, entry, names_lines).header().names


def find_names(path: Path, dialect: Dialect) -> tuple[int, ...]:
    """The lines that seem to name the columns; none for the first that is not blank. Raises as `read`."""
    return CsvFile(path, DataError, dialect).find_names()


def find_footer(path: Path, dialect: Dialect) -> tuple[str, ...]:
    """How the last rows begin that look like sums below the table. Raises as `read`."""
    return CsvFile(path, DataError, dialect).find_footer()


def guess_dialect(path: Path) -> tuple[Dialect, str]:
    """The encoding and the separator that a file seems to have, and what to do where the first is in doubt.

    Raises:
        DataError: it cannot be read, or is a database.
    """
    check_text(path)
    return CsvFile(path, DataError).guess_dialect()


def check_text(path: Path) -> None:
    """Refuse databases, which are named in another way.

    Raises:
        DataError: it is one, or cannot be read.
    """
    start = CsvFile(path, DataError).start()
    for scheme, place, mark in _DATABASES:
        if start.startswith(mark, place):
            raise DataError(
                f"{path.name} is a database, no CSV.",
                f"Name it as {scheme}:///{path}: in `duetto data add`, or as url of kind sql.",
            )


def _file(path: Path, dialect: Dialect, entry: str, names_lines: Sequence[int]) -> CsvFile:
    return CsvFile(
        path,
        DataError,
        dialect,
        document="the catalog",
        place=entry,
        names_lines=tuple(names_lines),
        names_key="header",
    )


def _checked(
    reader: Rows, place: str, width: int, number: int, footer: Sequence[str]
) -> Iterator[tuple[int, list[str]]]:
    """The rows of a CSV reader with their lines, the first of which has a number; not those of the footer.

    A blank line is no row of several columns. Of one column it may stand at the end only: it could be a
    missing cell.
    """
    blank_line = 0
    rows = ((reader.line, cells) for cells in reader)
    for line, cells in without_footer(rows, footer) if footer else rows:
        if len(cells) != width or width == 1:
            if not cells or (len(cells) == 1 and not cells[0].strip()):
                blank_line = blank_line or line
                continue
            if len(cells) != width:
                raise DataError(
                    f"{place}, row {number} (line {line}): {len(cells)} cells, the header has {width}.",
                    "Correct separators and quotation marks; of a sum or a count below the rows, write as "
                    "footer how it begins.",
                )
            if blank_line:
                raise DataError(
                    f"{place}, line {blank_line} is blank, which may be a missing cell.",
                    'Remove the line, or write "" or a token for a missing cell; only the end may be blank.',
                )
        number += 1
        yield line, cells


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

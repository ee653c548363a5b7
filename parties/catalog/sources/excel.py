"""Sheets of spreadsheets, in batches."""

from __future__ import annotations

from collections import deque
from collections.abc import Iterator, Sequence
from itertools import islice
from pathlib import Path

from commons.errors import near
from commons.tabular.excel import Spreadsheet
from commons.tabular.footers import MAX_LINES, sums_below, without_footer
from parties.catalog.sources.batch import ROWS, Batch, Place, pick, positions
from parties.errors import ConfigError, DataError


def read(
    path: Path,
    sheet: str,
    columns: Sequence[str],
    entry: str,
    lines: Sequence[int] = (),
    footer: Sequence[str] = (),
) -> Iterator[Batch]:
    """The rows of a sheet; rows without any cell are skipped.

    Args:
        path: the file.
        sheet: its name; empty if the file has one only.
        columns: to read.
        entry: the table of the catalog that declares the data set, for hints.
        lines: that name the columns, see `commons.tabular.excel`; none for the first that has cells.
        footer: how rows at the end begin that are left out, see `commons.tabular.footers`.

    Raises:
        DataError: the file cannot be read, or has no such sheet or column.
        ConfigError: the library that reads it is not installed.
    """
    header, rows = _file(path).rows(_choose(path, sheet, entry), lines)
    where = positions(path.name, header, columns)
    rows = without_footer(rows, footer) if footer else rows
    number = 1
    while held := list(islice(rows, ROWS)):
        yield Batch(
            Place(number, [line for line, _ in held]), len(held), pick([row for _, row in held], where)
        )
        number += len(held)


def header_of(path: Path, sheet: str, entry: str, lines: Sequence[int] = ()) -> list[str]:
    """The names of the columns. Raises as `read`."""
    return _file(path).rows(_choose(path, sheet, entry), lines)[0]


def find_header(path: Path, sheet: str, entry: str) -> tuple[int, ...]:
    """The lines that seem to name the columns; none for the first that has cells. Raises as `read`."""
    return _file(path).find_header(_choose(path, sheet, entry))


def find_footer(path: Path, sheet: str, entry: str, lines: Sequence[int]) -> tuple[str, ...]:
    """How the last rows begin that look like sums below the table. Raises as `read`."""
    _, rows = _file(path).rows(_choose(path, sheet, entry), lines)
    return sums_below([row for _, row in deque(rows, MAX_LINES)])


def sheets_of(path: Path) -> list[str]:
    """The names of the sheets of a file. Raises as `read`."""
    return _file(path).sheets()


def _file(path: Path) -> Spreadsheet:
    return Spreadsheet(path, DataError, ConfigError)


def _choose(path: Path, sheet: str, entry: str) -> str:
    names = sheets_of(path)
    if sheet and sheet not in names:
        raise DataError(f"{path.name} has no sheet {sheet!r}.", near(sheet, names))
    if not sheet and len(names) != 1:
        said = ", ".join(names[:10])
        raise DataError(
            f"{path.name} has {len(names)} sheets.", f"Write sheet = ... below [{entry}]; there are: {said}."
        )
    return sheet or names[0]

"""CSV files that are safe to open in a spreadsheet."""

from __future__ import annotations

import csv
import re
from collections.abc import Iterable, Mapping, Sequence
from itertools import chain, count
from typing import IO, Final

_FORMULA: Final = ("=", "+", "-", "@", "\t", "\r", "\n", "\uff1d", "\uff0b", "\uff0d", "\uff20")
"""What spreadsheets take for the beginning of a formula, also in full width (OWASP, CSV injection)."""

_NUMBER: Final = re.compile(r"[+-]?[0-9]+(\.[0-9]+)?([eE][+-]?[0-9]+)?(/[0-9]+)?")

_LONGEST: Final = 100
"""Characters of a table's name in the name of its file; file systems take 255 bytes for all of it."""


def harmless(cell: object) -> object:
    """A cell as it is written: a text that would be a formula gets an apostrophe before it.

    Numbers stay as they are, also those that are texts, such as `-1.5` and `-1/2`.
    """
    if isinstance(cell, str) and cell.startswith(_FORMULA) and not _NUMBER.fullmatch(cell):
        return f"'{cell}"
    return cell


def write_table(stream: IO[str], columns: Mapping[str, Sequence[object]]) -> None:
    """Write columns of equal length as CSV, each cell and name as `harmless` gives it."""
    writer = csv.writer(stream)
    writer.writerow(map(harmless, columns))
    writer.writerows(zip(*map(_harmless_cells, columns.values()), strict=True))


def _harmless_cells(cells: Sequence[object]) -> Sequence[object]:
    begins = {cell[:1] for cell in cells if isinstance(cell, str)}
    return cells if begins.isdisjoint(_FORMULA) else list(map(harmless, cells))


def file_names(tables: Iterable[str]) -> list[str]:
    """A name for the file of each table, without ending, of letters, digits, `_`, `-` and, in a number, `.`.

    No two are alike, also where a file system does not tell capitals apart: of tables whose names become
    alike, all but the first get a number.
    """
    found: list[str] = []
    taken: set[str] = set()
    for table in tables:
        plain = re.sub(r"[^A-Za-z0-9_-]", "_", table)[:_LONGEST]
        numbered = (f"{plain}.{number}" for number in count(2))
        name = next(one for one in chain((plain,), numbered) if one.lower() not in taken)
        taken.add(name.lower())
        found.append(name)
    return found

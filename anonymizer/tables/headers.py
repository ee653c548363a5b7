"""The first line of a file: each column has one name of its own."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Final

from anonymizer.errors import TableError

UNNAMED: Final = "column-"
"""What the one column without a name is called, before its place."""
RENAME: Final = "Rename it: * and names from ^ to $ are patterns."


def name_columns(path: Path, cells: Sequence[str], line: str) -> list[str]:
    """The names of the columns; one without a name, as that of row numbers often is, is called `column-1`.

    Args:
        path: of the file.
        cells: of its first line, without blanks around them.
        line: what the first line is called: `line` or `row`.

    Raises:
        TableError: several columns have no name, two have the same, or one is a pattern of names.
    """
    places = [place for place, name in enumerate(cells, 1) if not name]
    if len(places) > 1:
        raise TableError(
            f"{path}: columns {places[0]} and {places[1]} have no names in the first {line}.",
            "Give them names there, or take them out.",
        )
    names = [name or f"{UNNAMED}{place}" for place, name in enumerate(cells, 1)]
    for name in names:
        if names.count(name) > 1:
            raise TableError(f"{path} has two columns {name!r}.", "Rename one.")
        if is_pattern(name):
            raise TableError(f"{path} has a column {name!r}, which stands for several.", RENAME)
    return names


def is_pattern(name: str) -> bool:
    """Whether the name of a column is one by which Polars would take all columns, or those of a pattern."""
    return name == "*" or (name.startswith("^") and name.endswith("$"))

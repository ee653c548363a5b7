"""Hierarchy files as ARX writes them: no header, one value a line, its labels after it.

The separator is the semicolon; files with commas and quoted cells are read as well.
"""

from __future__ import annotations

import csv
from pathlib import Path

from anonymizer.errors import FileError, HierarchyError
from anonymizer.hierarchies.hierarchy import ValueHierarchy


def read(path: str | Path) -> ValueHierarchy:
    """Read a hierarchy.

    Raises:
        FileError: the file cannot be read.
        HierarchyError: a line has another number of cells than the first, a value comes twice, or labels do
            not nest; names file and line.
    """
    place = Path(path)
    try:
        text = place.read_text(encoding="utf-8-sig")
    except (OSError, UnicodeDecodeError) as problem:
        raise FileError(f"{place} cannot be read: {type(problem).__name__}.", "Check the path.") from None
    first = text.partition("\n")[0]
    rows: list[list[str]] = []
    for number, row in enumerate(csv.reader(text.splitlines(), delimiter=";" if ";" in first else ","), 1):
        cells = [cell.strip() for cell in row]
        if not any(cells):
            continue
        if rows and len(cells) != len(rows[0]):
            raise HierarchyError(
                f"{place.name}, line {number}: {len(cells)} cells, the lines before have {len(rows[0])}.",
                "Give every value a label at each level.",
            )
        rows.append(cells)
    try:
        return ValueHierarchy(rows)
    except HierarchyError as problem:
        raise HierarchyError(f"{place.name}: {problem.what}", problem.hint) from None


def write(hierarchy: ValueHierarchy, path: str | Path) -> None:
    """Write a hierarchy with semicolons.

    Raises:
        FileError: the file cannot be written.
    """
    try:
        with Path(path).open("w", encoding="utf-8", newline="") as file:
            csv.writer(file, delimiter=";", lineterminator="\n").writerows(hierarchy.rows)
    except OSError as problem:
        raise FileError(f"{path} cannot be written: {problem.strerror}.", "Check the path.") from None

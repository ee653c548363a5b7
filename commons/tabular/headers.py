"""Names of columns that stand in several lines: groups above them, or units below."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Sequence
from typing import Final

_UNIT: Final = re.compile(r"[(\[][^()\[\]]{1,16}[)\]]")


def is_unit(cell: str) -> bool:
    """Whether a cell holds a unit in brackets, such as `(kg)`, and nothing else."""
    return _UNIT.fullmatch(cell.strip()) is not None


def are_units(row: Sequence[str]) -> bool:
    """Whether a row has units in brackets and nothing else: it goes on with the names above it."""
    filled = [cell for cell in row if cell.strip()]
    return bool(filled) and all(map(is_unit, filled))


def joined_names(rows: Sequence[Sequence[str]]) -> list[str]:
    """The names of columns out of several lines: the lowest, and with those above where it comes twice.

    A unit in the lowest line stands behind the name above it. A cell above holds also for the empty ones to
    its right, as merged cells are stored.

    Args:
        rows: the cells of the lines, the highest first; a line may be shorter than others.
    """
    width = max(map(len, rows), default=0)
    named: list[list[str]] = [[] for _ in range(width)]
    has_units = len(rows) > 1 and are_units(rows[-1])
    names = len(rows) - has_units
    for number, row in enumerate(rows, 1):
        last = ""
        for place in range(width):
            own = " ".join(row[place].split()) if place < len(row) else ""
            last = own or (last if number < names else "")
            if number > names and last and named[place]:
                named[place][-1] += f" {last}"
            elif last and last not in named[place]:
                named[place].append(last)
    lowest = Counter(texts[-1] for texts in named if texts)
    return ["" if not texts else texts[-1] if lowest[texts[-1]] == 1 else " ".join(texts) for texts in named]

"""Which character separates the cells of a text."""

from __future__ import annotations

import csv
import io
from collections.abc import Sequence
from typing import Final

from commons.tabular.dialect import SEPARATORS

_LINES: Final = 200
_WHOLE: Final = 60_000
"""Of a text of so many characters the last line may be cut off."""


def guess_separator(text: str) -> str:
    """The separator by which lines have the same number of cells, the more the better; empty for a comma.

    Args:
        text: the beginning of a file.
    """
    lines = [line for line in text.removeprefix("\ufeff").splitlines() if line.strip()]
    lines = (lines[: max(1, len(lines) - 1)] if len(text) > _WHOLE else lines)[:_LINES]
    widths = {one: _widths(lines, one) for one in SEPARATORS}

    def fit(separator: str) -> tuple[bool, bool, int]:
        found = widths[separator]
        first = found[0] if found else 0
        return first > 1, len({*found}) == 1, first

    best = max(SEPARATORS, key=fit)
    return best if best != "," and fit(best)[0] else ""


def other_separator(lines: Sequence[str], separator: str) -> str | None:
    """A separator that stands equally often in each of these lines, where another one is not in the first."""
    if any(separator in line for line in lines[:1]):
        return None
    counts = {one: {line.count(one) for line in lines} for one in SEPARATORS if one != separator}
    return next((one for one, found in counts.items() if len(found) == 1 and 0 not in found), None)


def quoted(separator: str) -> str:
    """A separator as TOML writes it."""
    return '"\\t"' if separator == "\t" else f'"{separator}"'


def _widths(lines: Sequence[str], separator: str) -> list[int]:
    """How many cells the rows have; none if they are no CSV."""
    try:
        rows = csv.reader(io.StringIO("\n".join(lines)), delimiter=separator)
        return [len(row) for row in rows if row]
    except csv.Error:
        return []

"""Which character separates the cells of a text."""

from __future__ import annotations

import csv
import io
import re
from collections import Counter
from collections.abc import Sequence
from typing import Final

from commons.tabular.dialect import SEPARATORS

_LINES: Final = 200
_MOST: Final = 0.5
"""The share of the lines that have as many cells as there are columns, where not all have."""
_WHOLE: Final = 60_000
"""Of a text of so many characters the last line may be cut off."""
_FOR_EXCEL: Final = re.compile(r'\ufeff?"?sep=([\x20-\x7e\t])"?[;,\t| ]*\r?\n?', re.IGNORECASE)
"""A first line that tells Excel the separator."""


def stated_separator(line: str) -> str | None:
    """The separator that a first line such as `sep=;` states, which Excel reads and writes; None without."""
    found = _FOR_EXCEL.fullmatch(line)
    return None if found is None else found[1]


def guess_separator(text: str) -> str:
    """The separator by which lines have the same number of cells, the more the better; empty for a comma.

    Lines above the names of the columns, and below the rows, may have fewer. What a first line states holds.

    Args:
        text: the beginning of a file.
    """
    stated = stated_separator(text.partition("\n")[0])
    if stated is not None:
        return "" if stated == "," else stated
    lines = [line for line in text.removeprefix("\ufeff").splitlines() if line.strip()]
    lines = (lines[: max(1, len(lines) - 1)] if len(text) > _WHOLE else lines)[:_LINES]
    widths = {one: _widths(lines, one) for one in SEPARATORS}

    def fit(separator: str) -> tuple[bool, bool, int]:
        found = widths[separator]
        first = found[0] if found else 0
        return first > 1, len({*found}) == 1, first

    best = max(SEPARATORS, key=fit)
    if not fit(best)[1] or not fit(best)[0]:

        def share(separator: str) -> tuple[float, int]:
            width, count = typical_width(widths[separator])
            return (count / len(widths[separator]) if width > 1 else 0, width)

        best = max(SEPARATORS, key=share)
        return best if best != "," and share(best)[0] > _MOST else ""
    return best if best != "," else ""


def typical_width(widths: Sequence[int]) -> tuple[int, int]:
    """How many cells most rows have, and how many rows these are; zeros without rows."""
    return max(Counter(widths).items(), key=lambda one: (one[1], one[0]), default=(0, 0))


def other_separator(lines: Sequence[str], separator: str) -> str | None:
    """A separator that stands equally often in each of these lines, where another one is not in the first."""
    if any(separator in line for line in lines[:1]):
        return None
    counts = {one: {line.count(one) for line in lines} for one in SEPARATORS if one != separator}
    return next((one for one, found in counts.items() if len(found) == 1 and 0 not in found), None)


def quote(separator: str) -> str:
    """A separator as TOML writes it."""
    return '"\\t"' if separator == "\t" else f'"{separator}"'


def _widths(lines: Sequence[str], separator: str) -> list[int]:
    """How many cells the rows have; none if they are no CSV."""
    try:
        rows = csv.reader(io.StringIO("\n".join(lines)), delimiter=separator)
        return [len(row) for row in rows if row]
    except csv.Error:
        return []

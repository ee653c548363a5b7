"""CSV files that are safe to open in a spreadsheet."""

from __future__ import annotations

import re
from typing import Final

_FORMULA: Final = ("=", "+", "-", "@", "\t", "\r", "\n", "\uff1d", "\uff0b", "\uff0d", "\uff20")
"""What spreadsheets take for the beginning of a formula, also in full width (OWASP, CSV injection)."""

_NUMBER: Final = re.compile(r"[+-]?[0-9]+(\.[0-9]+)?([eE][+-]?[0-9]+)?(/[0-9]+)?")


def harmless(cell: object) -> object:
    """A cell as it is written: a text that would be a formula gets an apostrophe before it.

    Numbers stay as they are, also those that are texts, such as `-1.5` and `-1/2`.
    """
    if isinstance(cell, str) and cell.startswith(_FORMULA) and not _NUMBER.fullmatch(cell):
        return f"'{cell}"
    return cell

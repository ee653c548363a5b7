"""What cells hold that are neither a number nor a text: tokens for missing ones, and limits of detection."""

from __future__ import annotations

import re
from typing import Final

MISSING_TOKENS: Final = (
    *("?", "NA", "N/A", "n/a", "NaN", "nan", "NULL", "null", "None", "none", "-", "--", ".", "#N/A"),
    *(
        "k.A.",
        "k. A.",
        "k.A",
        "n.a.",
        "n.b.",
        "o.A.",
        "s/d",
        "n/d",
        "n.v.t.",
        "不明",
        "00.00.0000",
        "0000-00-00",
    ),
)
"""What often stands for a missing cell."""

BELOW_LIMIT: Final = ("half", "limit")
"""What a cell below a limit of detection may be read as: half the limit, or the limit."""

LIMIT_SIGN: Final = r"^\s*(?:<=?|≤|＜)\s*"
"""The beginning of a cell such as `<0.2`, as a regular expression."""

_LIMIT: Final = re.compile(LIMIT_SIGN + r"([0-9][0-9.,' ]*)%?$")


def limit_in(text: str) -> str | None:
    """The number in a text such as `<0.2` or `≤ 5`, as it is written there; None for any other text."""
    found = _LIMIT.match(text)
    return None if found is None else found[1].strip()


def lost_by_limits(example: str) -> str:
    """What is lost where cells below a limit of detection count as missing, for people, as two sentences.

    Args:
        example: such a cell.
    """
    return (
        f"Cells such as {example!r} are below a limit of detection and count as missing: just the least "
        "values are lost, and means come out too high. To keep them, write "
        'below_limit = "half" (half the limit) or "limit" and take them out of missing_tokens.'
    )


def halve(number: str) -> str:
    """Half of a number of the form `[+-]digits[.digits]`, exactly, in the same form."""
    sign = number[:1] if number[:1] in ("+", "-") else ""
    whole, _, rest = number.removeprefix(sign).partition(".")
    places = len(rest) + 1
    digits = str(int(whole + rest) * 5).rjust(places + 1, "0")
    return f"{sign}{digits[:-places]}.{digits[-places:]}"

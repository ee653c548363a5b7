"""What stands before and behind the numbers of a column, such as the sign of a currency, a unit, or `%`."""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import Final

from commons.tabular.cells import PREFIX, SUFFIX
from commons.tabular.eastern import narrow_number

_SUFFIX: Final = re.compile(r"(?<=[0-9])[ \u00a0\u202f]?(?P<word>" + SUFFIX + r")$")
_PREFIX: Final = re.compile(r"(?P<sign>[+-]?)(?P<word>" + PREFIX + r")[ \u00a0\u202f]?(?=[+-]?[0-9])")
_CURRENCY: Final = re.compile(
    r"[A-Z]{0,3}[$€£¥₹₽₺₩₫₪₴₦]|EUR|USD|GBP|CHF|JPY|DKK|NOK|SEK|PLN|CZK|HUF|[Ss]?Fr\.?|[Kk]r\.?"
)
"""What is taken for a prefix: before numbers other words make codes, such as those of diagnoses."""
_NUMBER: Final = re.compile(r"[+-]?[0-9]")
_PERCENT: Final = "%"


def suffix_of(texts: Iterable[str]) -> str:
    """What stands behind all numbers, such as a unit, or behind some of them, if that is `%`; else empty."""
    numbers = [one for one in map(narrow_number, texts) if _NUMBER.match(one)]
    words = {found["word"] if (found := _SUFFIX.search(one)) else "" for one in numbers}
    if words <= {_PERCENT, ""}:
        return _PERCENT if _PERCENT in words else ""
    return words.pop() if len(words) == 1 else ""


def prefix_of(texts: Iterable[str]) -> str:
    """The sign or the name of a currency that stands before all numbers; else empty."""
    found = ((one, _PREFIX.match(one)) for one in map(narrow_number, texts))
    words = {before["word"] if before else "" for one, before in found if before or _NUMBER.match(one)}
    word = words.pop() if len(words) == 1 else ""
    return word if _CURRENCY.fullmatch(word) else ""


def bare(text: str, prefix: str, suffix: str) -> str:
    """A text without this prefix and this suffix where it has them, in digits of ASCII."""
    text = narrow_number(text)
    before = _PREFIX.match(text) if prefix else None
    if before and before["word"] == prefix:
        text = before["sign"] + text[before.end() :]
    found = _SUFFIX.search(text)
    return text[: found.start()] if found and suffix and found["word"] == suffix else text

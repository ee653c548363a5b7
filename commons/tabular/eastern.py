"""How Japan writes numbers and dates: digits of full width, and years of an era.

`１２．５` is 12.5, and `昭和42年11月3日`, `S42.11.3` and `令和元年５月１日` are days. In forms of dates the
directives of POSIX name an era and its year, `%EC%Ey`: `%EC%Ey年%m月%d日`, `%EC%Ey.%m.%d`.

A year of an era goes on where it has ended: 平成35年 is 2023, as documents have it that were written before.
"""

from __future__ import annotations

import re
from typing import Final

ERA_YEAR: Final = "%EC%Ey"
"""The directives for an era and a year in it, which stand beside each other."""

_KANJI: Final = {"令和": 2018, "平成": 1988, "昭和": 1925, "大正": 1911, "明治": 1867}
_LETTERS: Final = {"R": 2018, "H": 1988, "S": 1925, "T": 1911, "M": 1867}
BEFORE: Final = _KANJI | _LETTERS
"""The year before the first of an era, by its name and its letter.

Sources: the edicts of 1868, 1912, 1926, 1989 and 2019.
"""
ERAS: Final = f"(?:{'|'.join(BEFORE)})"
"""An era, as a regular expression."""
YEARS: Final = "(?:元|0?[1-9]|[1-9][0-9])"
"""A year of an era, as a regular expression."""
_NAMED_YEAR: Final = re.compile(rf"({'|'.join(_KANJI)})({YEARS})(?=年)")
_ANY_YEAR: Final = re.compile(rf"({ERAS})({YEARS})(?![0-9])")
NARROW_NUMBERS: Final = dict(zip("０１２３４５６７８９．，＋－−", "0123456789.,+--", strict=True))
"""What stands in numbers of full width, and what it is."""
_NUMBERS: Final = str.maketrans(NARROW_NUMBERS)
_DATES: Final = str.maketrans(NARROW_NUMBERS | dict(zip("／：ＲＨＳＴＭ", "/:RHSTM", strict=True)))


def narrow_number(text: str) -> str:
    """A text with the digits, signs, points and commas of full width as those of ASCII."""
    return text if text.isascii() else text.translate(_NUMBERS)


def narrow_date(text: str) -> str:
    """The same with what stands between the parts of a date, and the letters of eras."""
    return text if text.isascii() else text.translate(_DATES)


def in_common_years(text: str, names_only: bool = False) -> str:
    """A date, in narrow digits, with its first year of an era as a year of four digits; others as they are.

    Args:
        text: the date.
        names_only: whether letters do not stand for eras: `S42.11` is a code of diagnoses.
    """
    if text.isascii() and names_only:
        return text
    year = _NAMED_YEAR if names_only else _ANY_YEAR
    return year.sub(lambda found: f"{_year(found[1], found[2]):04}", text, count=1)


def _year(era: str, year: str) -> int:
    return BEFORE[era] + (1 if year == "元" else int(year))

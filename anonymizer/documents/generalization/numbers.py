"""Numbers: an age becomes a decade of life, an amount a range, both of a grid that stands still.

A range that was laid around the value would give the value away by its middle. So the ranges are cells of a
fixed grid, and all values of a cell become the same text. Amounts: the cells between 0, 5, 10, 20, 50, 100
and so on (lower end included, upper one not), then all numbers of so many digits. Ages: ten years, then 0 to
19, 20 to 59, and 60 and more. Coarser cells are unions of finer ones, so that two steps together say no more
than the finer one.
"""

from __future__ import annotations

import re
from decimal import Decimal
from typing import Final

from anonymizer.documents.generalization.generalizer import Steps
from anonymizer.documents.generalization.phrases import Phrase
from anonymizer.documents.texts.text import Language, Word, fold

_OLDEST: Final = 129
_DIGITS: Final = 15
"""Of the largest number; longer ones are codes."""

_NUMBER: Final = re.compile(r"\d{1,3}(?:,\d{3})+(?:\.\d+)?|\d+(?:\.\d+)?")
_YEAR_OLD: Final = re.compile(r"(\d{1,3})-year-old")
_ONES: Final = "zero one two three four five six seven eight nine ten eleven twelve thirteen fourteen fifteen"
_TEENS: Final = "sixteen seventeen eighteen nineteen"
_TENS: Final = "twenty thirty forty fifty sixty seventy eighty ninety"
_WORDS: Final = {
    **{word: value for value, word in enumerate(f"{_ONES} {_TEENS}".split())},
    **{word: value for value, word in zip(range(20, 100, 10), _TENS.split(), strict=True)},
}
_POWERS: Final = {"hundred": 100, "thousand": 1_000, "million": 1_000_000, "billion": 1_000_000_000}
_UNITS_AFTER: Final = frozenset(
    {*"人円名件回個分秒台年月日時冊頭匹本枚倍%％", "時間", "メートル", "キロ", "ドル", "センチ", "グラム"}
)
"""Japanese words that belong to the number before them."""

_RANGES: Final[dict[Language, tuple[re.Pattern[str], ...]]] = {
    "en": (
        re.compile(r"\bfrom (?P<low>\d[\d,]*) to (?P<unit>)under \d[\d,]*(?![\w,]*\d)"),
        re.compile(r"(?<![\w.,])(?P<low>\d0|0) to (?:\d9|9)(?![\w.,]*\d)"),
    ),
    "ja": (
        re.compile(r"(?P<low>\d[\d,]*)(?P<unit>\D{0,4})以上\d[\d,]*(?P=unit)未満"),
        re.compile(r"(?P<low>\d0)代"),
    ),
}
"""What the first steps write; those of amounts have a unit, if only an empty one, those of ages have none."""

_COUNTS: Final = ("one", "two", "three", "four", "five", "six", "seven", "eight", "nine")


class Numbers:
    """Ages and amounts of English and Japanese texts; ordinal numbers and codes are not its concern."""

    name = "range"

    def steps(self, words: tuple[Word, ...], at: int, language: Language) -> Steps | None:
        """The range of an age or amount; see `Generalizer`."""
        if words[at].tag != "number":
            return None
        if wider := _wider(words, at, language):
            return wider
        form = fold(words[at].text if language == "en" else words[at].lemma)
        if hyphened := _YEAR_OLD.fullmatch(form):
            texts = [text.replace(" ", "-") + "-year-old" for text in _ages(int(hyphened[1]))]
            return Steps(at, at + 1, tuple(texts)) if texts else None
        value = _value(form)
        if value is None:
            return None
        return (_japanese if language == "ja" else _english)(words, at, value)


def _wider(words: tuple[Word, ...], at: int, language: Language) -> Steps | None:
    """The next step for a range that these texts already have; its bounds are not numbers of their own."""
    phrase = Phrase(words, at)
    for pattern in _RANGES[language]:
        for first, end, match in phrase.matches(pattern):
            low = int(fold(match["low"]).replace(",", ""))
            unit = match.groupdict().get("unit")
            if unit is None:
                return Steps(first, end, tuple((_ages if language == "en" else _sai)(low)[1:]))
            digits = _digits(Decimal(low)) if language == "en" else _keta(Decimal(low), unit)
            return Steps(first, end, (digits,))
    return None


def _english(words: tuple[Word, ...], at: int, value: Decimal) -> Steps:
    before = [word.lemma for word in words[max(at - 2, 0) : at]]
    after = [word.text.lower() for word in words[at + 1 : at + 4]]
    aged = bool(before) and (words[at - 1].text.lower() in {"aged", "age"} or before == ["age", "of"])
    aged = aged or (
        after[:1] in (["years"], ["year"]) and (after[1:2] == ["old"] or after[1:] == ["of", "age"])
    )
    ages = _ages(int(value)) if aged and value == int(value) else []
    if ages:
        return Steps(at, at + 1, tuple(ages))
    low, high = _cell(value)
    return Steps(at, at + 1, (f"from {low:,} to under {high:,}", _digits(value)))


def _japanese(words: tuple[Word, ...], at: int, value: Decimal) -> Steps:
    unit = words[at + 1].text if at + 1 < len(words) else ""
    if unit in {"歳", "才"} and value == int(value) <= _OLDEST:
        return Steps(at, at + 2, tuple(_sai(int(value))))
    low, high = _cell(value)
    # The unit stands after both bounds, since 10以上20未満人 does not read.
    if unit not in _UNITS_AFTER:
        unit = ""
    return Steps(at, at + 1 + bool(unit), (f"{low:,}{unit}以上{high:,}{unit}未満", _keta(value, unit)))


def _ages(age: int) -> list[str]:
    if age > _OLDEST:
        return []
    wide = "0 to 19" if age < 20 else "20 to 59" if age < 60 else "60 or more"
    return [f"{age // 10 * 10} to {age // 10 * 10 + 9}", wide]


def _sai(age: int) -> list[str]:
    wide = "20歳未満" if age < 20 else "20歳以上60歳未満" if age < 60 else "60歳以上"
    return [f"{age // 10 * 10}代" if age >= 10 else "10歳未満", wide]


def _keta(value: Decimal, unit: str) -> str:
    return f"{len(str(int(value)))}桁の数" + (f"の{unit}" if unit else "")


def _cell(value: Decimal) -> tuple[Decimal, Decimal]:
    """The cell of the grid of 1, 2 and 5 times the powers of ten; below 5 whole numbers need one cell."""
    if value < 5:
        return Decimal(0), Decimal(5)
    power = Decimal(10) ** (len(str(int(value))) - 1)
    ends = [power * one for one in (1, 2, 5, 10)]
    high = next(end for end in ends if value < end)
    return ends[ends.index(high) - 1], high


def _digits(value: Decimal) -> str:
    """How many digits a number has before its point, in words."""
    count = len(str(int(value)))
    return f"a {_COUNTS[count - 1] if count <= len(_COUNTS) else count}-digit number"


def _value(form: str) -> Decimal | None:
    """A number in digits or English words; None for codes, ordinal numbers and what is too large."""
    if _NUMBER.fullmatch(form):
        plain = form.replace(",", "")
        return Decimal(plain) if len(plain) <= _DIGITS and not re.match(r"0\d", plain) else None
    whole, part = 0, 0
    for word in re.split(r"[-\s]", form):
        if word in _WORDS:
            part += _WORDS[word]
        elif word in _POWERS:
            whole, part = whole + max(part, 1) * _POWERS[word], 0
        elif word != "and":
            return None
    return Decimal(whole + part)

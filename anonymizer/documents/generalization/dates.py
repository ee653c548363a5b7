"""Dates: a day becomes its month, a month its year, a year its decade, a decade its century."""

from __future__ import annotations

import re
from typing import Final

from anonymizer.documents.generalization.generalizer import Steps
from anonymizer.documents.generalization.phrases import Phrase
from anonymizer.documents.texts.text import Language, Word, fold
from commons.tabular.eastern import BEFORE

MONTHS: Final = (
    *("January", "February", "March", "April", "May", "June"),
    *("July", "August", "September", "October", "November", "December"),
)
_MONTH: Final = f"(?P<month>{'|'.join(MONTHS)}|(?:Sept|{'|'.join(name[:3] for name in MONTHS)})(?!\\w)\\.?)"
_DAY: Final = r"(?P<day>0?[1-9]|[12]\d|3[01])(?:st|nd|rd|th)?"
_YEAR: Final = r"(?P<year>1[5-9]\d\d|20\d\d)"
_OTHER: Final = r"(?:[012]?\d|3[01])"

_ENGLISH: Final = tuple(
    re.compile(pattern, re.IGNORECASE)
    for pattern in (
        rf"(?:\bthe\s)?(?<![\w.,/-]){_DAY}\s(?:day\s)?(?:of\s)?{_MONTH},?\s(?:of\s)?{_YEAR}(?![\w/])",
        rf"\b{_MONTH}\s{_DAY},?\s{_YEAR}(?![\w/])",
        rf"(?<![\w.,/-])(?P<iso>{_YEAR}[-/.](?P<number>0?[1-9]|1[0-2])[-/.]{_DAY})(?![\w/-])",
        rf"(?<![\w.,/-])(?:{_OTHER}[/.-]{_OTHER}[/.-]){_YEAR}(?![\w/-])",
        rf"\b{_MONTH},?\s{_YEAR}(?![\w/])",
        rf"(?:\bthe\s)?(?<![\w.,/-]){_DAY}\s(?:day\s)?(?:of\s)?{_MONTH}(?!\w)",
        rf"\b{_MONTH}\s{_DAY}(?![\w/])",
        r"(?:\bthe\s)?(?<![\w.,/-])(?P<decade>(?:1[5-9]|20)\d)0['’]?s\b",
    )
)
"""From the longest to the shortest; of several that fit the first one counts."""

_BARE: Final = re.compile(rf"(?P<the>\bthe\s)?(?<![\w.,/-]){_YEAR}(?![\w/%-])", re.IGNORECASE)
_BEFORE_YEARS: Final = frozenset(
    {
        *("in", "since", "of", "from", "until", "till", "by", "during", "before", "after", "between", "to"),
        *("and", "or", "year", "late", "early", "mid", "circa", "around", "about"),
        *("spring", "summer", "autumn", "winter", "fall"),
    }
)
"""A number of four digits after one of these, or after "the", is a year."""

_ERAS: Final = {name.lower(): before for name, before in BEFORE.items()}
"""The year before the first one of an era."""

_DIGITS: Final = dict(zip("〇一二三四五六七八九", range(10), strict=True))
_COUNT: Final = "[0-9０-９〇一二三四五六七八九十元]+"
_JAPANESE: Final = re.compile(
    rf"(?:(?P<era>明治|大正|昭和|平成|令和|[MTSHRＭＴＳＨＲ](?=[.．]?[0-9０-９]))[.．]?\s?)?"
    rf"(?P<year>{_COUNT})\s?年(?!間|前|後|生|度生)"
    rf"(?:\s?(?P<month>{_COUNT})\s?月)?(?:\s?(?P<day>{_COUNT})\s?日)?"
)
_JAPANESE_DAY: Final = re.compile(rf"(?P<month>{_COUNT})\s?月\s?(?P<day>{_COUNT})\s?日")
_JAPANESE_NUMERIC: Final = re.compile(
    rf"(?<![\w.,/-]){_YEAR}[-/.](?P<month>0?[1-9]|1[0-2])[-/.]{_DAY}(?![\d/-])"
)
_JAPANESE_DECADE: Final = re.compile(r"(?P<decade>(?:1[5-9]|20)\d)0年代")


class Dates:
    """Dates of English and Japanese texts, in the calendar of today and by eras."""

    name = "date"

    def steps(self, words: tuple[Word, ...], at: int, language: Language) -> Steps | None:
        """The month, year, decade and century of a date that holds the word; see `Generalizer`."""
        phrase = Phrase(words, at)
        if language == "ja":
            return _japanese(phrase)
        found = _english(phrase, words)
        if found is None or found.first == 0 or words[found.first - 1].lemma != "on":
            return found
        preposition = "In" if words[found.first - 1].text[0].isupper() else "in"
        return Steps(found.first - 1, found.end, tuple(f"{preposition} {text}" for text in found.texts))


def _english(phrase: Phrase, words: tuple[Word, ...]) -> Steps | None:
    for pattern in _ENGLISH:
        for first, end, match in phrase.matches(pattern):
            parts = match.groupdict()
            if parts.get("decade"):
                return Steps(first, end, (_century(int(parts["decade"]) * 10),))
            year = int(parts["year"]) if parts.get("year") else None
            month = _month(parts)
            day = bool(parts.get("day")) or not month
            return Steps(first, end, _english_texts(year, month, day=day))
    for first, end, match in phrase.matches(_BARE):
        before = words[first - 1] if first else None
        begins = before is None or before.lemma in _BEFORE_YEARS or before.text in {"(", "-", "–", "—"}
        if begins or match["the"]:
            return Steps(first, end, _english_texts(int(match["year"]), "", day=False))
    return None


def _month(parts: dict[str, str | None]) -> str:
    if number := parts.get("number"):
        return MONTHS[int(number) - 1]
    given = (parts.get("month") or "").lower()[:3]
    return next((name for name in MONTHS if given and name.lower().startswith(given)), "")


def _english_texts(year: int | None, month: str, *, day: bool) -> tuple[str, ...]:
    if year is None:
        return (month,)
    texts = [f"{month} {year}"] if month and day else []
    texts += [str(year)] if month or day else []
    return (*texts, f"the {year // 10}0s", _century(year))


def _century(year: int) -> str:
    return f"the {year // 100 + 1}{'st' if year // 100 == 20 else 'th'} century"


def _japanese(phrase: Phrase) -> Steps | None:
    for pattern in (_JAPANESE_DECADE, _JAPANESE, _JAPANESE_NUMERIC, _JAPANESE_DAY):
        for first, end, match in phrase.matches(pattern):
            parts = match.groupdict()
            if parts.get("decade"):
                return Steps(first, end, (_seiki(int(parts["decade"]) * 10),))
            month = _count(parts["month"]) if parts.get("month") else None
            if "year" not in parts:
                return Steps(first, end, (f"{month}月",))
            year = _count(parts["year"])
            era = fold(parts.get("era") or "")
            if year is None or not (1500 <= year + _ERAS.get(era, 0) <= 2099):
                continue
            return Steps(
                first, end, _japanese_texts(year + _ERAS.get(era, 0), month, day=bool(parts.get("day")))
            )
    return None


def _japanese_texts(year: int, month: int | None, *, day: bool) -> tuple[str, ...]:
    texts = [f"{year}年{month}月"] if month is not None and day else []
    texts += [f"{year}年"] if month is not None else []
    return (*texts, f"{year // 10}0年代", _seiki(year))


def _seiki(year: int) -> str:
    return f"{year // 100 + 1}世紀"


def _count(text: str) -> int | None:
    """A number in digits or in kanji up to 99, or kanji digit by digit; 元 is the first one."""
    plain = fold(text)
    if plain.isdecimal():
        return int(plain)
    if plain == "元":
        return 1
    if "十" in plain:
        tens, _, ones = plain.partition("十")
        if tens in {"", *_DIGITS} and ones in {"", *_DIGITS}:
            return _DIGITS.get(tens, 1) * 10 + _DIGITS.get(ones, 0)
        return None
    if all(one in _DIGITS for one in plain):
        return int("".join(str(_DIGITS[one]) for one in plain))
    return None

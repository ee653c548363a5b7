"""Recipes that bring the texts of columns of both sides to one form: a list of steps, done in their order.

| Step | Does |
|---|---|
| `trim` | white space at both ends goes |
| `collapse-spaces` | every run of white space becomes one space, and goes at the ends |
| `width` | full-width letters and digits, ligatures, superscripts and the like become plain ones |
| `transliterate` | Latin letters beyond a to z are spelt out (ä ae, ü ue, ß ss, ø o, ł l), quotes are alike |
| `lower` | case folding: upper and lower case become the same |
| `strip-accents` | Latin, Greek and Cyrillic letters lose their marks |
| `digits-only` | everything but decimal digits goes; those of any script become 0 to 9 |
| `letters-only` | everything but letters, and vowel signs that belong to them, goes |
| `strip-leading-zeros` | zeros in front go, but for the last character |
| `date` | a date becomes YYYY-MM-DD |

What happens to letters is in `smc.analyses.records.letters`. `transliterate` stands before `strip-accents`,
which would leave it no umlauts.

Dates are read as year-month-day with `-`, `/`, `.` or nothing between, as day.month.year, and with `/` or `-`
as day and month in either order where one of them is above 12 or both are equal; else the order is ambiguous
and an error. Years have four digits. The texts of a column declared as dates are YYYY-MM-DD under any recipe.
Another column of whole numbers counts days from 1970-01-01 if its recipe begins with `date`; otherwise whole
numbers are taken as their decimal text, and categories as their labels. All texts are brought to Unicode
normal form C before and after.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Callable, Mapping, Sequence
from types import MappingProxyType
from typing import Any, Final

import numpy as np

from smc.analyses.records import letters
from smc.analyses.studies.columns import Column
from smc.errors import DomainError, UsageError
from smc.numeric.shape_arrays import ShapeTexts
from smc.numeric.shapes import of_shape
from smc.pieces import ROWS, chunks, each

Texts = list[str]
Step = Callable[[Texts], Texts]

DATE: Final = "date"
_TRANSLITERATE: Final = "transliterate"
_STRIP_ACCENTS: Final = "strip-accents"

DEFAULT_STEPS: Final = ("trim",)
"""Where a job gives no recipe."""

KINDS: Final = ("text", "integer", "category")
"""Kinds of columns that have texts."""

_ORDERED: Final = re.compile(r"(\d{4})([-/.]?)(\d{1,2})\2(\d{1,2})")
_TURNED: Final = re.compile(r"(\d{1,2})([-/.])(\d{1,2})\2(\d{4})")
_COMPACT: Final = 8
_MONTHS: Final = 12
_FIRST_DAY: Final = np.datetime64("0001-01-01")
_LAST_DAY: Final = np.datetime64("9999-12-31")


class _WrongDateError(ValueError):
    """A text is not a valid date, or is ambiguous."""


def parse_steps(given: Any, place: str) -> tuple[str, ...]:
    """Read a recipe.

    Args:
        given: from the job file.
        place: how errors call it.

    Raises:
        UsageError: it is not a list of known steps, a step comes twice, or one would undo another's work.
    """
    if not isinstance(given, list) or any(not isinstance(step, str) or step not in STEPS for step in given):
        raise UsageError(f"{place} is not a list of known steps.", f"Use {', '.join(STEPS)}.")
    if len(set(given)) < len(given):
        raise UsageError(f"{place} names a step twice.", "Name each step once.")
    if _TRANSLITERATE in given and _STRIP_ACCENTS in given[: given.index(_TRANSLITERATE)]:
        raise UsageError(
            f"{place} strips accents before it transliterates, so no umlaut is left to spell out.",
            f"Write {_TRANSLITERATE} before {_STRIP_ACCENTS}.",
        )
    return tuple(given)


@of_shape(lambda column, steps, place: ShapeTexts(len(column)))
def normalize(column: Column, steps: Sequence[str], place: str) -> Texts:
    """The texts of a column in their normal form.

    Args:
        column: of one of `KINDS`, shape (n,).
        steps: a recipe.
        place: how errors call the column.

    Returns:
        n texts in normal form C.

    Raises:
        UsageError: the column is of another kind.
        DomainError: texts are not valid dates, or are ambiguous, where dates are asked for.
    """
    if column.schema.kind == "category":
        labels = _recipe(list(column.schema.categories), steps, place)
        return [labels[number] for number in column.integers]
    if column.schema.is_date or (column.schema.kind == "integer" and steps and steps[0] == DATE):
        return _recipe(_dates_of_days(column, place), steps, place)
    if column.schema.kind == "integer":
        return _recipe(list(map(str, column.integers)), steps, place)
    if column.schema.kind != "text":
        raise UsageError(
            f"{place} is a column of kind {column.schema.kind}, which cannot be normalized.",
            f"Use a column of kind {', '.join(KINDS)}.",
        )
    return _recipe(list(column.texts), steps, place)


def _recipe(texts: Texts, steps: Sequence[str], place: str) -> Texts:
    texts = _compose(texts)
    for step in steps:
        try:
            texts = STEPS[step](texts)
        except _WrongDateError as error:
            raise DomainError(
                f"{place}: {error} texts are not valid dates, or could mean two (day or month first).",
                "Write dates as YYYY-MM-DD.",
            ) from None
    return _compose(texts) if steps else texts


def _plain(texts: Texts) -> bool:
    """Whether all is ASCII, in which case nothing has to be composed or decomposed."""
    return "".join(texts).isascii()


def _compose(texts: Texts) -> Texts:
    return texts if _plain(texts) else [unicodedata.normalize("NFC", text) for text in each(texts)]


def _each(change: Callable[[str], str]) -> Step:
    def changed(texts: Texts) -> Texts:
        found: Texts = []
        for part in chunks(len(texts), ROWS):
            found.extend(map(change, texts[part]))
        return found

    return changed


def _dates_of_days(column: Column, place: str) -> Texts:
    days = column.array.astype("datetime64[D]")
    if not ((days >= _FIRST_DAY) & (days <= _LAST_DAY)).all():
        raise DomainError(
            f"{place}: a number of days since 1970 is not a valid date.",
            f"Correct the data: dates run from {_FIRST_DAY} to {_LAST_DAY}.",
        )
    found: Texts = np.datetime_as_string(days).tolist()
    return found


def _dates(texts: Texts) -> Texts:
    """Each distinct text is read once: there are few dates."""
    known = {text: _date(text.strip()) for text in each(set(texts))}
    wrong = sum(known[text] is None for text in texts)
    if wrong:
        raise _WrongDateError(wrong)
    return [known[text] or "" for text in texts]


def _date(text: str) -> str | None:
    """The date as YYYY-MM-DD; nothing stays nothing; None if it is none."""
    if not text:
        return ""
    if not text.isascii():
        return None
    if match := _ORDERED.fullmatch(text):
        year, separator, month, day = match.groups()
        return _iso(year, month, day) if separator or len(text) == _COMPACT else None
    match = _TURNED.fullmatch(text)
    if match is None:
        return None
    first, separator, second, year = match.groups()
    if separator == "." or int(first) > _MONTHS or int(first) == int(second):
        return _iso(year, second, first)
    return _iso(year, first, second) if int(second) > _MONTHS else None


def _iso(year: str, month: str, day: str) -> str | None:
    try:
        found = np.datetime64(f"{year}-{month:0>2}-{day:0>2}", "D")
    except ValueError:
        return None
    return str(found) if found >= _FIRST_DAY else None


STEPS: Final[Mapping[str, Step]] = MappingProxyType(
    {
        "trim": _each(str.strip),
        "collapse-spaces": _each(lambda text: " ".join(text.split())),
        "width": _each(letters.narrow),
        _TRANSLITERATE: _each(letters.transliterate),
        "lower": _each(letters.fold_case),
        _STRIP_ACCENTS: _each(letters.remove_marks),
        "digits-only": _each(letters.digits),
        "letters-only": _each(letters.letters),
        "strip-leading-zeros": _each(lambda text: text.lstrip("0") or text[-1:]),
        DATE: _dates,
    }
)
"""The steps by name."""

STEP_LIST: Final[Mapping[str, Any]] = {"type": "array", "items": {"enum": [*STEPS]}, "uniqueItems": True}
"""JSON Schema of what `parse_steps` takes."""

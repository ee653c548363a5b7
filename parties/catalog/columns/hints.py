"""What to do about a cell that is not as declared: which key of the catalog would make it so.

A hint shows no cell. It names a key, and of what the cell holds nothing but a recognized token for missing
cells or a form of numbers or dates.
"""

from __future__ import annotations

import math
import re
from collections.abc import Sequence
from datetime import date, datetime, time
from decimal import Decimal
from typing import Any, Final

from commons.tabular.cells import MISSING_TOKENS, above_in, limit_in
from commons.tabular.dialect import ISO, WRITINGS, Writing
from commons.tabular.eastern import ERA_YEAR, in_common_years, narrow_date, narrow_number
from parties.catalog.columns.cells import is_nan
from parties.catalog.columns.columns import MAX_SCALE, ColumnDeclaration

_DAYS: Final = (
    *("%d.%m.%Y", "%d/%m/%Y", "%m/%d/%Y", "%Y/%m/%d", "%d-%m-%Y", "%m-%d-%Y", "%Y.%m.%d"),
    "%Y年%m月%d日",
    *(f"{ERA_YEAR}{rest}" for rest in ("年%m月%d日", ".%m.%d", "/%m/%d", "-%m-%d")),
)
_CLOCKS: Final = (
    *(" %H:%M", " %H:%M:%S", " %Hh%M", " à %Hh%M", " à %H:%M", " um %H:%M Uhr", ", %H:%M Uhr", " om %H:%M"),
    *(" %H.%M", "T%H:%M", "T%H:%M:%S", " %H:%M:%S.%f", "%H時%M分", " %H時%M分"),
)
"""What follows a day, with the blank before it: times as people write them, which are left out."""
DATE_FORMATS: Final = (
    *(*_DAYS, "%Y%m%d", "%Y%m%d%H%M%S"),
    *(f"{day}{clock}" for day in (ISO, *_DAYS) for clock in _CLOCKS),
)
"""Forms of dates that are recognized, besides ISO."""
TIMES: Final = "%Y-%m-%d %H:%M:%S"
"""The form of cells that are held as times, whose day is taken."""

_PLAIN: Final = Writing()
_DATES: Final = {form: Writing(date_format=form) for form in (ISO, *DATE_FORMATS)}
_DIGITS: Final = re.compile("[0-9]+")
_SHAPES: Final = {form: re.sub("(?:%E?[a-zA-Z])+", "0", form) for form in _DATES}
"""How dates of each form look with a 0 in place of all digits beside each other."""
_NUMBERS: Final = ("integer", "decimal")


def hint(place: str, column: ColumnDeclaration, cell: Any) -> str:
    """What to do about a cell that is not as declared; it is not missing.

    Args:
        place: the table of the catalog in which the column is declared, such as `datasets.a.columns.b`.
        column: the declaration.
        cell: as it was read.
    """
    text = "NaN" if is_nan(cell) else cell.strip() if isinstance(cell, str) else ""
    below = f"below [{place}]"
    if text in MISSING_TOKENS:
        end = "" if column.missing != "error" else ', and missing = "drop" or impute = "VALUE"'
        tokens = ", ".join(f'"{token}"' for token in (*column.tokens, text))
        return f"Write missing_tokens = [{tokens}]{end} {below}, if such cells are missing."
    if column.type in _NUMBERS and limit_in(text) is not None and not column.writing.below_limit:
        return (
            f'Write below_limit = "half" (half the limit of detection) or "limit" {below}; '
            "among missing_tokens such cells would be lost, which are just the least ones."
        )
    if column.type in _NUMBERS and above_in(text) is not None and not column.writing.above_limit:
        return (
            f'Write above_limit = "limit" {below}; among missing_tokens such cells would be lost, which are '
            "just the greatest ones."
        )
    advice = ""
    if column.type in _NUMBERS:
        advice = _number(column, cell, text)
    elif column.type == "date":
        advice = _date(column, cell, text)
    elif column.type == "category":
        advice = _label(column, text)
    elif column.type == "text" and len(text) > column.maximum_length:
        advice = "Write a greater maximum_length"
    return f"{advice} {below}, or correct the cell." if advice else f"Correct the cell, or its type {below}."


def _number(column: ColumnDeclaration, cell: Any, text: str) -> str:
    if isinstance(cell, bool) or (isinstance(cell, float | Decimal) and not math.isfinite(cell)):
        return ""
    if isinstance(cell, float | Decimal):
        text = format(Decimal(repr(cell)) if isinstance(cell, float) else cell, "f")
        plain: str | None = text
    else:
        plain = str(cell) if isinstance(cell, int) else column.writing.plain_number(text)
    if plain is None:
        ways = writings([text])
        if not ways:
            return ""
        said = [describe_writing(way, column.writing) for way in ways[:2]]
        return f"Write {' or '.join(said)}" + (", whichever is meant," if len(said) > 1 else "")
    digits = len(plain.partition(".")[2].rstrip("0"))
    if column.type == "integer" and "." in plain:
        return f'Write type = "decimal" and scale = {max(1, digits)}' if digits <= MAX_SCALE else ""
    if digits > column.schema.scale:
        return f"Write scale = {digits}" if digits <= MAX_SCALE else ""
    return "Widen lower or upper"


def _date(column: ColumnDeclaration, cell: Any, text: str) -> str:
    if isinstance(cell, datetime) and cell.tzinfo is not None:
        return "Take the day in the query (such as CAST(x AS date)), or change the type"
    if isinstance(cell, datetime) and cell.time() != time() and not column.writing.names_a_time:
        return f'Take the day in the query (such as CAST(x AS date)), or write date_format = "{TIMES}"'
    if isinstance(cell, date) or column.writing.day(text) is not None:
        return "Widen lower or upper"
    forms = date_formats([text])
    if has_short_year(text):
        return "Write years with four digits in the source"
    if not forms:
        return ""
    said = " or ".join(f'date_format = "{form}"' for form in forms[:2])
    return f"Write {said}" + (", whichever is meant," if len(forms) > 1 else "")


def _label(column: ColumnDeclaration, text: str) -> str:
    labels = column.schema.categories
    if any(text.casefold() == label.casefold() for label in labels):
        return "A label of values differs in upper and lower case only: write ignore_case = true"
    return "Add the label to values"


def describe_writing(way: Writing, beside: Writing = _PLAIN) -> str:
    """The entries of the catalog that say how numbers are written, where they differ from others."""
    pairs = (("decimal", way.decimal, beside.decimal), ("thousands", way.thousands, beside.thousands))
    return " and ".join(f'{key} = "{value}"' for key, value, other in pairs if value != other)


def writings(texts: Sequence[str]) -> list[Writing]:
    """The ways to write numbers in which all of these are numbers, the plain one first; no texts, no way.

    A separator that stands nowhere is not part of a way.
    """
    joined = narrow_number("".join(texts))
    found = []
    for way in WRITINGS:
        gap = way.thousands if way.thousands and way.thousands in joined else ""
        used = Writing(way.decimal if way.decimal in joined or gap == "." else ".", gap)
        if used not in found and used.decimal != used.thousands and used.plain_numbers(texts) is not None:
            found.append(used)
    return found if texts else []


def date_formats(texts: Sequence[str]) -> list[str]:
    """The forms of dates in which all of these are dates that exist, ISO first; no texts, no form."""
    shapes = {_DIGITS.sub("0", in_common_years(narrow_date(text))) for text in texts}
    return [
        form
        for form, way in _DATES.items()
        if shapes == {_SHAPES[form]} and all(way.day(text) is not None for text in texts)
    ]


def has_short_year(text: str) -> bool:
    """Whether a text looks like a date whose year has two digits, which leaves the century open."""
    return re.fullmatch(r"[0-9]{1,2}([./-])[0-9]{1,2}\1[0-9]{2}", text) is not None


def looks_like_code(text: str) -> bool:
    """Whether a number has leading zeros, as postcodes and card numbers have."""
    return re.match(r"[+-]?0[0-9]", narrow_number(text)) is not None

"""From a cell to the integer or the text that is held for it: exact, strict, without floats.

The rule for floating-point cells (Parquet and SQL): a decimal column takes a float if the shortest decimal
text that reads back as this float has no more digits after the point than the declared scale; nothing is
rounded. All other columns refuse floats.

A text is held without blanks around it and in Unicode normalisation form C, so that texts which look the same
are the same; digits stay as they are, with leading zeros.

Texts of numbers and dates are read as the catalog says that they are written (`commons.tabular.dialect`). A
truth value is the label `true` or `false` of a category, in whatever case; a time is a date
at midnight, or where the declared form of dates names a time of day, which is left out then.
"""

from __future__ import annotations

import math
import re
import unicodedata
from collections.abc import Callable, Mapping
from datetime import date, datetime, time
from decimal import Decimal
from typing import Any, Final
from uuid import UUID

from commons.tabular.dialect import Writing
from commons.tabular.eastern import narrow_number
from parties.catalog.columns.columns import ColumnDeclaration

Parse = Callable[[Any], int | str]
"""What is held for a cell; raises ValueError with a reason that names no value."""

_ParseNumber = Callable[[Any], int]
_FromText = Callable[[str], str | None]

CONTROL: Final = re.compile(r"[\x00-\x1f\x7f-\x9f\u2028\u2029\ud800-\udfff]")
"""What no text may hold: control characters, line ends, halves of characters."""

_INTEGER = re.compile(r"[+-]?[0-9]{1,2500}")
_DECIMAL = re.compile(r"([+-]?)([0-9]{1,60})(?:\.([0-9]{1,60}))?")
_HEX = re.compile(r"(?:0x)?([0-9a-fA-F]{1,4096})")
_EPOCH = date(1970, 1, 1).toordinal()


def parser(column: ColumnDeclaration) -> Parse:
    """The function that reads the cells of a column and checks their bounds."""
    schema = column.schema
    if column.type in _NUMBERS:
        return _bound(_NUMBERS[column.type](schema.scale, column.writing), column)
    if column.type == "category":
        return _category(schema.categories, column.ignores_case)
    if column.type == "text":
        return _text(column.maximum_length)
    return _ciphertext if column.type == "ciphertext" else _share(schema.modulus)


def is_missing(cell: Any, tokens: tuple[str, ...] = ()) -> bool:
    """Whether a cell holds nothing, or one of the tokens that stand for nothing."""
    if cell is None or (isinstance(cell, str) and not cell.strip()):
        return True
    return bool(tokens) and not _forms(cell).isdisjoint(tokens)


def is_nan(cell: Any) -> bool:
    """Whether a cell is NaN, as a float or as a decimal."""
    return cell.is_nan() if isinstance(cell, Decimal) else isinstance(cell, float) and math.isnan(cell)


def plain_text(cell: Any) -> str:
    """The text of a cell without blanks around it, in normalisation form C."""
    return unicodedata.normalize("NFC", _to_text(cell))


def _to_text(cell: Any) -> str:
    """The text of a cell without blanks around it; decimals have no exponent."""
    return format(cell, "f") if isinstance(cell, Decimal) else str(cell).strip()


def _forms(cell: Any) -> set[str]:
    """The texts that a cell is known by: NaN in any case, and whole floats without a point too."""
    text = _to_text(cell)
    if is_nan(cell):
        return {text, "NaN"}
    return {text, text.removesuffix(".0")} if isinstance(cell, float) else {text}


def _bound(parse: _ParseNumber, column: ColumnDeclaration) -> Parse:
    lower, upper = column.schema.lower, column.schema.upper

    def bound(cell: Any) -> int:
        value = parse(cell)
        if (lower is not None and value < lower) or (upper is not None and value > upper):
            raise ValueError("is outside the declared bounds")
        return value

    return bound


def _from_text(writing: Writing) -> _FromText:
    return narrow_number if writing.is_plain else writing.plain_number


def _whole(writing: Writing) -> _ParseNumber:
    pointed = _from_text(writing)

    def integer(cell: Any) -> int:
        if isinstance(cell, int) and not isinstance(cell, bool):
            return cell
        if isinstance(cell, Decimal) and cell.is_finite() and cell == cell.to_integral_value():
            return int(cell)
        text = pointed(cell.strip()) if isinstance(cell, str) else None
        if text is not None and _INTEGER.fullmatch(text):
            return int(text)
        raise ValueError("is not an integer")

    return integer


_integer: Final = _whole(Writing())


def _decimal(scale: int, writing: Writing) -> _ParseNumber:
    pointed = _from_text(writing)
    problem = f"is not a number with at most {scale} digits after the point"

    def decimal(cell: Any) -> int:
        if isinstance(cell, bool):
            raise ValueError(problem)
        if isinstance(cell, int):
            return cell * int(10**scale)
        if isinstance(cell, float):
            text: str | None = format(Decimal(repr(cell)), "f")
        elif isinstance(cell, Decimal):
            text = format(cell, "f")
        else:
            text = pointed(cell.strip()) if isinstance(cell, str) else None
        found = _DECIMAL.fullmatch(text) if text is not None else None
        digits = (found[3] or "").rstrip("0") if found else ""
        if found is None or len(digits) > scale:
            raise ValueError(problem)
        value = int(found[2] + digits.ljust(scale, "0"))
        return -value if found[1] == "-" else value

    return decimal


def _date(writing: Writing) -> _ParseNumber:
    form = f"{writing.date_format!r}" if writing.date_format else "1990-12-31"
    takes_times = writing.names_a_time

    def day(cell: Any) -> int:
        if isinstance(cell, datetime):
            if cell.tzinfo is not None or (cell.time() != time() and not takes_times):
                raise ValueError("is a time, not a date")
            return cell.toordinal() - _EPOCH
        if isinstance(cell, date):
            return cell.toordinal() - _EPOCH
        found = writing.day(cell.strip()) if isinstance(cell, str) else None
        if found is None:
            raise ValueError(f"is not a date of the form {form}")
        return found

    return day


def label_key(ignores_case: bool) -> Callable[[str], str]:
    """By what a cell and a label of a category are compared."""
    return str.casefold if ignores_case else str


def _category(labels: tuple[str, ...], ignores_case: bool) -> Parse:
    key = label_key(ignores_case)
    index = {key(label): number for number, label in enumerate(labels)}
    truths: dict[bool, list[int]] = {
        truth: [number for label, number in index.items() if label.casefold() == str(truth).casefold()]
        for truth in (True, False)
    }

    def category(cell: Any) -> int:
        if isinstance(cell, bool):
            value = truths[cell][0] if len(truths[cell]) == 1 else None
        else:
            value = index.get(key(_to_text(cell))) if isinstance(cell, str | int | Decimal) else None
        if value is None:
            raise ValueError("is not one of the declared labels")
        return value

    return category


def _text(maximum: int) -> Parse:
    def text(cell: Any) -> str:
        if isinstance(cell, bool) or not isinstance(cell, str | int | Decimal | UUID):
            raise ValueError("is not a text")
        held = plain_text(cell)
        if CONTROL.search(held):
            raise ValueError("has a control character")
        if len(held) > maximum:
            raise ValueError(f"has more than {maximum} characters")
        return held

    return text


def _share(modulus: str) -> Parse:
    bound = int(modulus) if modulus.isdigit() else None

    def share(cell: Any) -> int:
        value = _integer(cell)
        if value < 0 or (bound is not None and value >= bound):
            raise ValueError("is outside [0, modulus)")
        return value

    return share


def _ciphertext(cell: Any) -> int:
    found = _HEX.fullmatch(cell.strip()) if isinstance(cell, str) else None
    if found is None or not int(found[1], 16):
        raise ValueError("is not a ciphertext in hexadecimal digits")
    return int(found[1], 16)


_NUMBERS: Final[Mapping[str, Callable[[int, Writing], _ParseNumber]]] = {
    "integer": lambda _, writing: _whole(writing),
    "decimal": _decimal,
    "date": lambda _, writing: _date(writing),
}
"""Parsers of types with bounds, given the scale and how cells are written."""

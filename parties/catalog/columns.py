"""Declared columns: type, bounds, and what is done where a cell holds nothing."""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from datetime import date
from decimal import Decimal
from typing import Any, Final

from parties.catalog.dialect import Writing, parse_writing
from parties.texts import BLANKS, is_plain
from parties.toml import StrictTable
from smc.analyses.studies.columns import DAYS, Schema

TYPES: Final = ("integer", "decimal", "category", "date", "text", "share", "ciphertext")
MAX_SCALE: Final = 18
"""Digits after the point that a decimal column may have."""
_SPLIT: Final = ("share", "ciphertext")
"""Types of which each party holds a part, row by row."""
_LENGTH: Final = 200
_PLAIN: Final = Writing()
_MAX_LENGTH: Final = 10_000
_EPOCH: Final = date(1970, 1, 1).toordinal()
_POWER: Final = re.compile(r"(\d{1,3})\^(\d{1,4})")


@dataclass(frozen=True, slots=True)
class ColumnDeclaration:
    """One declared column.

    Attributes:
        name: the column's name in the source.
        type: one of `TYPES`.
        schema: what the peer may know of it.
        missing: what a missing cell does: `error`, `drop` (its row is left out) or `impute`.
        writing: how its cells are written in texts.
        is_confirmed: whether a person stands for its bounds and labels; if not, they come from the data.
        imputed: the text that stands for a missing cell, if that is what is done.
        maximum_length: most characters of a text.
        constant: the text of all cells, of a column that is not in the source; None if it is.
    """

    name: str
    type: str
    schema: Schema
    missing: str = "error"
    writing: Writing = field(default_factory=Writing)
    imputed: str = field(default="", repr=False)
    maximum_length: int = _LENGTH
    constant: str | None = field(default=None, repr=False)
    is_confirmed: bool = True

    @property
    def tokens(self) -> tuple[str, ...]:
        """What a missing cell may hold, besides nothing."""
        return self.writing.missing_tokens


def parse_column(name: str, table: StrictTable, default: Writing = _PLAIN) -> ColumnDeclaration:
    """Read the declaration of one column.

    Args:
        name: of the column.
        table: what is declared.
        default: how cells of the data set are written; the column may say otherwise of its own.

    Whether an imputed or constant text fits type and bounds is for the caller to check, who has the parsers.

    Raises:
        DuettoError: of the table's class; the declaration is impossible.
    """
    kind = table.choice("type", TYPES)
    schema = _schema(kind, table)
    for text in (name, schema.unit, *schema.categories):
        if not is_plain(text):
            raise table.fail(
                repr(text)[:60],
                f"has characters that cannot be printed or seen, or more than {BLANKS} blanks in a row",
                "Peers see names, units and labels: clean them here and in the source, or select them under "
                "other names in a query.",
            )
    maximum_length = table.integer("maximum_length", _LENGTH, minimum=1) if kind == "text" else _LENGTH
    if maximum_length > _MAX_LENGTH:
        raise table.fail("maximum_length", f"is above {_MAX_LENGTH}", "Lower it.")
    writing = parse_writing(table, default)
    tokens = writing.missing_tokens
    if not {*tokens}.isdisjoint(schema.categories):
        raise table.fail("missing_tokens", "repeats a label of values", "Remove it from one of the two.")
    missing = table.choice("missing", ("error", "drop"), "error")
    imputed = table.text("impute", "").strip()
    if table.has("impute"):
        if table.has("missing"):
            raise table.fail("missing", "and impute contradict each other", "Keep one of the two.")
        missing = "impute"
    if kind in _SPLIT and missing != "error":
        raise table.fail(
            "missing",
            f"does not fit type {kind!r}",
            "The other party holds the other half of each row, so none can be left out or filled in: "
            "remove the entry, and complete the source.",
        )
    constant = table.text("constant", "").strip() if table.has("constant") else None
    if constant is not None and (missing != "error" or table.has("missing_tokens")):
        raise table.fail(
            "constant", "fills every cell, so none is missing", "Remove missing, missing_tokens and impute."
        )
    is_confirmed = table.boolean("confirmed", default=True)
    table.close()
    return ColumnDeclaration(
        name, kind, schema, missing, writing, imputed, maximum_length, constant, is_confirmed
    )


def _schema(kind: str, table: StrictTable) -> Schema:
    unit = table.text("unit", "")
    if kind == "integer":
        lower, upper = _bounds(table, table.integer)
        return Schema("integer", lower=lower, upper=upper, unit=unit)
    if kind == "date":
        lower, upper = _bounds(table, lambda key: _day(table, key))
        if unit not in ("", DAYS):
            raise table.fail("unit", "cannot be chosen for dates", f"Leave it out; dates are held as {DAYS}.")
        return Schema("integer", lower=lower, upper=upper, unit=DAYS)
    if kind == "decimal":
        scale = table.integer("scale", minimum=0)
        if scale > MAX_SCALE:
            raise table.fail(
                "scale", f"is above {MAX_SCALE}", f"Choose at most {MAX_SCALE} digits after the point."
            )
        lower, upper = _bounds(table, lambda key: _scaled(table, key, scale))
        return Schema("decimal", scale, lower, upper, unit=unit)
    if kind == "category":
        values = table.texts("values")
        if not values or any(not value.strip() or value != value.strip() for value in values):
            raise table.fail(
                "values", "is empty, or a label is blank or has blanks around it", "List the labels."
            )
        return Schema("category", lower=0, upper=len(values) - 1, categories=values, unit=unit)
    if kind == "share":
        return Schema("share", modulus=_modulus(table), unit=unit)
    return Schema(kind, unit=unit)


def _bounds(table: StrictTable, held: Any) -> tuple[int, int]:
    lower, upper = held("lower"), held("upper")
    if lower > upper:
        raise table.fail("lower", "is above upper", "Exchange them.")
    return lower, upper


def _day(table: StrictTable, key: str) -> int:
    value = table.raw(key)
    if isinstance(value, str):
        try:
            value = date.fromisoformat(value)
        except ValueError:
            value = None
    if type(value) is not date:
        raise table.fail(key, "is not a date", "Write it as 1990-12-31.")
    return value.toordinal() - _EPOCH


def _scaled(table: StrictTable, key: str, scale: int) -> int:
    value = table.raw(key)
    try:
        if isinstance(value, bool) or not isinstance(value, int | str | Decimal):
            raise ValueError
        held = Decimal(value).scaleb(scale)
        if held != held.to_integral_value():
            raise ValueError
        return int(held)
    except (ValueError, ArithmeticError):
        raise table.fail(
            key, f"is not a number with {scale} digits after the point", f"Write at most {scale} of them."
        ) from None


def _modulus(table: StrictTable) -> str:
    text = table.text("modulus").strip()
    if text in ("alice", "bob"):
        return text
    power = _POWER.fullmatch(text)
    if power and 0 < int(power[2]) <= 8192:
        value = int(power[1]) ** int(power[2])
    elif text.isascii() and text.isdigit() and len(text) <= 2500:
        value = int(text)
    else:
        value = 0
    if value < 2:
        raise table.fail(
            "modulus",
            "is not a valid modulus",
            'Write "2", "2^64", an integer, or "alice" or "bob" for a Paillier N.',
        )
    return str(value)

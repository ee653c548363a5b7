"""Declared columns: type, bounds, and what is done where a cell holds nothing."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import date
from decimal import Decimal
from typing import Annotated, Any, Final, Literal

from typing_extensions import override

from commons.settings.bounds import Between
from commons.settings.marks import Given, Inline, Length, Matching, Parse, Read, UnfitError, Unread
from commons.settings.shapes import EXACT
from commons.settings.table import StrictTable
from commons.tabular.dialect import Writing
from parties.catalog.columns.dialect import parse_writing
from parties.errors import ConfigError
from parties.texts import BLANKS, is_plain
from smc.analyses.studies.columns import DAYS, Schema

MAX_SCALE: Final = 18
"""Digits after the point that a decimal column may have."""
_SPLIT: Final = ("share", "ciphertext")
"""Types of which each party holds a part, row by row."""
_LENGTH: Final = 200
_PLAIN: Final = Writing()
_MAX_LENGTH: Final = 10_000
_EPOCH: Final = date(1970, 1, 1).toordinal()
_LABEL: Final = re.compile(r"\S(?:.*\S)?", re.DOTALL)
_Number = Annotated[Any, Read(lambda value, _: value, EXACT)]
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
        ignores_case: whether a cell is a label that differs from it in case only.
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
    ignores_case: bool = False

    @property
    def tokens(self) -> tuple[str, ...]:
        """What a missing cell may hold, besides nothing."""
        return self.writing.missing_tokens


def _parse_modulus(given: str) -> str:
    text = given.strip()
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
        raise ConfigError(
            f"{given[:60]!r} is not a valid modulus.",
            'Write "2", "2^64", an integer, or "alice" or "bob" for a Paillier N.',
        )
    return str(value)


def _write(table: StrictTable) -> Writing:
    return parse_writing(table, table.context or _PLAIN)


@dataclass(frozen=True, slots=True, kw_only=True)
class ColumnTable:
    """What every column may have.

    Attributes:
        name: of the column, under which it stands.
        unit: of its values, for people.
        missing: what a missing cell does: `error`, or `drop` (its row is left out).
        impute: the text that stands for a missing cell; not beside `missing`.
        constant: the text of all cells, of a column that is not in the source.
        confirmed: whether a person stands for its bounds and labels; if not, they come from the data.
        writing: how its cells are written in texts, where that is not as in the rest of the data set.

    Whether an imputed or constant text fits type and bounds is for the caller to check, who has the parsers.

    Raises:
        UnfitError: the entries do not fit each other.
    """

    name: Annotated[str, Unread()]
    unit: str = ""
    missing: Literal["error", "drop"] | None = None
    impute: str | None = None
    constant: str | None = None
    confirmed: bool = True
    writing: Annotated[Writing, Inline(parser=_write)]
    has_tokens: Annotated[bool, Given("missing_tokens")]

    @property
    def schema(self) -> Schema:
        """What the peer may know of the column."""
        return Schema(self.type, unit=self.unit)

    def __post_init__(self) -> None:
        schema = self.schema
        for text in (self.name, schema.unit, *schema.categories):
            if not is_plain(text):
                raise UnfitError(
                    repr(text)[:60],
                    f"has characters that cannot be printed or seen, or more than {BLANKS} blanks in a row",
                    "Peers see names, units and labels: clean them here and in the source, or select them "
                    "under other names in a query.",
                )
        if not {*self.writing.missing_tokens}.isdisjoint(schema.categories):
            raise UnfitError("missing_tokens", "repeats a label of values", "Remove it from one of the two.")
        if self.impute is not None and self.missing is not None:
            raise UnfitError("missing", "and impute contradict each other", "Keep one of the two.")
        is_filled = self.impute is not None or self.missing == "drop"
        if self.type in _SPLIT and is_filled:
            raise UnfitError(
                "missing",
                f"does not fit type {self.type!r}",
                "The other party holds the other half of each row, so none can be left out or filled in: "
                "remove the entry, and complete the source.",
            )
        if self.constant is not None and (is_filled or self.has_tokens):
            raise UnfitError(
                "constant",
                "fills every cell, so none is missing",
                "Remove missing, missing_tokens and impute.",
            )

    @property
    def type(self) -> str:
        """One of `TYPES`."""
        return next(word for word, kind in COLUMNS.items() if type(self) is kind)

    def declaration(self) -> ColumnDeclaration:
        """The column as it is read."""
        missing = "impute" if self.impute is not None else self.missing or "error"
        return ColumnDeclaration(
            name=self.name,
            type=self.type,
            schema=self.schema,
            missing=missing,
            writing=self.writing,
            imputed=(self.impute or "").strip(),
            maximum_length=getattr(self, "maximum_length", _LENGTH),
            constant=None if self.constant is None else self.constant.strip(),
            is_confirmed=self.confirmed,
            ignores_case=getattr(self, "ignore_case", False),
        )


def _check_order(lower: int, upper: int) -> tuple[int, int]:
    if lower > upper:
        raise UnfitError("lower", "is above upper", "Exchange them.")
    return lower, upper


@dataclass(frozen=True, slots=True, kw_only=True)
class IntegerColumn(ColumnTable):
    """Whole numbers.

    Attributes:
        lower: the least that a cell can hold.
        upper: the largest.
    """

    lower: int
    upper: int

    @property
    @override
    def schema(self) -> Schema:
        """Its bounds."""
        return Schema("integer", 0, *_check_order(self.lower, self.upper), unit=self.unit)


@dataclass(frozen=True, slots=True, kw_only=True)
class DateColumn(ColumnTable):
    """Dates.

    Attributes:
        lower: the first that a cell can hold.
        upper: the last.
    """

    lower: date
    upper: date

    @property
    @override
    def schema(self) -> Schema:
        """Its bounds in days."""
        bounds = _check_order(self.lower.toordinal() - _EPOCH, self.upper.toordinal() - _EPOCH)
        if self.unit not in ("", DAYS):
            raise UnfitError("unit", "cannot be chosen for dates", f"Leave it out; dates are held as {DAYS}.")
        return Schema("integer", 0, *bounds, unit=DAYS)


@dataclass(frozen=True, slots=True, kw_only=True)
class DecimalColumn(ColumnTable):
    """Numbers with digits after the point.

    Attributes:
        scale: how many digits.
        lower: the least that a cell can hold, with at most so many digits.
        upper: the largest.
    """

    scale: Annotated[int, Between(0, MAX_SCALE, f"Choose 0 to {MAX_SCALE} digits after the point.")]
    lower: _Number
    upper: _Number

    @property
    @override
    def schema(self) -> Schema:
        """Its bounds in units of the last digit."""
        bounds = _check_order(self._to_held("lower", self.lower), self._to_held("upper", self.upper))
        return Schema("decimal", self.scale, *bounds, unit=self.unit)

    def _to_held(self, key: str, value: Any) -> int:
        try:
            if isinstance(value, bool) or not isinstance(value, int | str | Decimal):
                raise ValueError
            held = Decimal(value).scaleb(self.scale)
            if held != held.to_integral_value():
                raise ValueError
            return int(held)
        except (ValueError, ArithmeticError):
            raise UnfitError(
                key,
                f"is not a number with {self.scale} digits after the point",
                f"Write at most {self.scale} of them.",
            ) from None


@dataclass(frozen=True, slots=True, kw_only=True)
class CategoryColumn(ColumnTable):
    """Labels.

    Attributes:
        values: all labels that a cell can hold.
        ignore_case: whether a cell may differ from its label in case.

    Raises:
        UnfitError: labels differ in case only, and case is ignored; or as `ColumnTable`.
    """

    values: Annotated[
        tuple[str, ...],
        Length(1),
        Matching(_LABEL, "is empty, or a label is blank or has blanks around it", "List the labels."),
    ]
    ignore_case: bool = False

    @override
    def __post_init__(self) -> None:
        ColumnTable.__post_init__(self)
        if self.ignore_case and (alike := differing_in_case(self.values)):
            raise UnfitError(
                "values",
                f"has labels that differ in case only: {', '.join(map(repr, alike[0]))}",
                "Keep one of them, or leave ignore_case out.",
            )

    @property
    @override
    def schema(self) -> Schema:
        """Its labels."""
        return Schema("category", lower=0, upper=len(self.values) - 1, categories=self.values, unit=self.unit)


@dataclass(frozen=True, slots=True, kw_only=True)
class TextColumn(ColumnTable):
    """Texts.

    Attributes:
        maximum_length: most characters of a cell.
    """

    maximum_length: Annotated[int, Between(1, _MAX_LENGTH)] = _LENGTH


@dataclass(frozen=True, slots=True, kw_only=True)
class ShareColumn(ColumnTable):
    """Additive shares; the other party holds the other half of each row.

    Attributes:
        modulus: `2`, `2^64` or another integer, or `alice` or `bob` for a Paillier N.
    """

    modulus: Annotated[str, Parse(_parse_modulus)]

    @property
    @override
    def schema(self) -> Schema:
        """Its modulus."""
        return Schema("share", modulus=self.modulus, unit=self.unit)


@dataclass(frozen=True, slots=True, kw_only=True)
class CiphertextColumn(ColumnTable):
    """Ciphertexts; the other party holds the key."""


def differing_in_case(labels: Sequence[str]) -> list[tuple[str, ...]]:
    """Labels that differ from each other in case only, in groups of two and more."""
    groups: dict[str, list[str]] = {}
    for label in labels:
        groups.setdefault(label.casefold(), []).append(label)
    return [tuple(alike) for alike in groups.values() if len({*alike}) > 1]


COLUMNS: Final[Mapping[str, type[ColumnTable]]] = {
    "integer": IntegerColumn,
    "decimal": DecimalColumn,
    "category": CategoryColumn,
    "date": DateColumn,
    "text": TextColumn,
    "share": ShareColumn,
    "ciphertext": CiphertextColumn,
}
TYPES: Final = tuple(COLUMNS)

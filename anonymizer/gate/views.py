"""A column as an attacker may read it: its cells, the numbers and dates in them, and what clings to them.

Each reading gives codes in the order of what is read. A copy of a birth date in another form has the same
dates; `P-0017` has the number 17; a number rounded to tenths may carry an identifier in its last digits,
and a text in the blanks before it, behind it or in its capital letters. Where a cell is empty is a reading
too: of tests that only women have it tells the sex.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from datetime import date, datetime, time, timedelta
from typing import Any, Final

import narwhals as nw
import numpy as np
import polars as pl
from numpy.typing import NDArray

from anonymizer.gate.relations import dense_codes
from anonymizer.tables.table import Table
from commons.tabular.cells import MISSING_TOKENS, above_in, limit_in
from commons.tabular.eastern import in_common_years, narrow_date

Bool = NDArray[np.bool_]
Int = NDArray[np.int64]
Float = NDArray[np.float64]

EMPTY: Final = "the pattern of the empty cells of"
"""How people call the reading of a column that tells which of its cells are empty."""

_MIN_READABLE: Final = 0.99
"""The part of the different values that must be readable as numbers or dates."""

_FORMS: Final = (
    *("%Y-%m-%d", "%d.%m.%Y", "%m/%d/%Y", "%d/%m/%Y", "%Y/%m/%d", "%Y%m%d", "%d-%m-%Y", "%d.%m.%y"),
    "%Y年%m月%d日",
    *("%d %b %Y", "%d %B %Y", "%b %d, %Y", "%B %d, %Y"),
)
_CLOCK: Final = re.compile(
    r"(?:[T ]|, ) *(\d{1,2}):(\d{2})(?::(\d{2}(?:[.,]\d{1,9})?))? ?([AaPp])?[Mm]?"
    r" ?(?:Z|UTC|[+-]\d{2}:?\d{2})?"
)
"""The time of day behind a date; what a zone adds does not change how many differ."""
_SECONDS: Final = 86_400
_NUMBER: Final = re.compile(r"\s*[-+]?(\d+([.,]\d*)?|[.,]\d+)([eE][-+]?\d+)?\s*")
_DIGITS: Final = re.compile(r"\d{1,15}")


@dataclass(frozen=True, slots=True)
class View:
    """One reading of a column.

    Attributes:
        column: that is read.
        words: what of it is read, for people; empty for the cells themselves.
        codes: in the order of what was read, -1 where there is nothing, shape (n,).
        ordered: whether its order may mean something; not that of truth values and marks.
    """

    column: str
    words: str
    codes: Int = field(repr=False)
    ordered: bool = True


@dataclass(frozen=True, slots=True)
class ColumnView:
    """A column's values and how they read.

    Attributes:
        name: of it.
        values: the different values as Python has them, in order.
        codes: of the rows, as in `tables.Codes`.
        numbers: of each value the number that it is, or None if most are none.
        days: of each value the day and time, time of day or duration that it is, in days, or None.
        forms: how the number of each row is written, as codes, shape (n,); None where texts are no numbers.
        source: the column of which it is a permutation and the order of its rows, or None.
        kept: its readings, if permutations of it were read.
        silent: which values say that a number is missing, or beyond a limit, as `n.d.` and `<0.1` among
            numbers do, shape (number of values,); None if none does.
    """

    name: str
    values: Sequence[Any] = field(repr=False)
    codes: Int = field(repr=False)
    numbers: Float | None = field(repr=False)
    days: Float | None = field(repr=False)
    forms: Int | None = field(default=None, repr=False)
    source: tuple[ColumnView, Int] | None = field(default=None, repr=False)
    kept: list[View] = field(default_factory=list, repr=False)
    silent: Bool | None = field(default=None, repr=False)

    @classmethod
    def of(cls, table: Table, name: str) -> ColumnView:
        """Read a column of a table; nested values by their texts."""
        return table.compute(cls._of, name)

    @classmethod
    def _of(cls, table: Table, name: str) -> ColumnView:
        series = table.series(name)
        if series.dtype.is_nested():
            cells = [None if cell is None else str(cell) for cell in series.to_list()]
            values = sorted({cell for cell in cells if cell is not None})
            places = {value: place for place, value in enumerate(values)}
            codes = np.array([-1 if cell is None else places[cell] for cell in cells], dtype=np.int64)
            return cls(name, values, codes, None, None)
        found = table.codes(name)
        values = [_read(value) for value in found.values.tolist()]
        if table.is_numeric(name):
            numbers = np.asarray(
                series.filter(~table.missing(name)).cast(nw.Float64).to_numpy(), dtype=np.float64
            )
            of_value = np.zeros(len(values))
            of_value[found.codes[found.codes >= 0]] = numbers
            return cls(
                name, values, found.codes, of_value, None, _match_spelling(table, name, of_value, found.codes)
            )
        if any(isinstance(value, bool) for value in values[:1]):
            return cls(name, values, found.codes, None, None)
        numbers_, days = _numbers(values), _days(values)
        silent = _silent(values)
        return cls(name, values, found.codes, None if days is not None else numbers_, days, silent=silent)

    def permuted(self, order: Int) -> ColumnView:
        """The same column with all of its rows in another order."""
        forms = None if self.forms is None else self.forms[order]
        return replace(self, codes=self.codes[order], forms=forms, source=(self, order), kept=[])

    @property
    def is_text(self) -> bool:
        """Whether its cells are texts, and neither numbers nor dates in the form of texts."""
        return (
            bool(self.values)
            and isinstance(self.values[0], str)
            and self.numbers is None
            and self.days is None
        )

    @property
    def whole(self) -> NDArray[np.int64] | None:
        """Of each value the whole number that it is, or None if one is none, or too large for 64 bits."""
        if self.numbers is None or not len(self.numbers) or not np.isfinite(self.numbers).all():
            return None
        if (self.numbers != np.rint(self.numbers)).any() or np.abs(self.numbers).max() >= 2**62:
            return None
        try:
            return np.array([int(value) for value in self.values], dtype=np.int64)
        except (TypeError, ValueError, OverflowError):
            return self.numbers.astype(np.int64)

    def spread(self, of_value: Sequence[Any] | NDArray[Any]) -> Int:
        """What was read of each value, as codes of the rows; NaN is nothing."""
        read = np.asarray(of_value)
        known = ~np.isnan(read) if read.dtype.kind == "f" else np.ones(len(read), dtype=np.bool_)
        places = np.full(len(read), -1, dtype=np.int64)
        places[known] = np.unique(read[known], return_inverse=True)[1]
        return dense_codes(np.where(self.codes < 0, -1, np.append(places, -1)[self.codes]))

    @property
    def plain(self) -> View:
        """The cells, in the order of the numbers or dates that they are, else of their texts."""
        order = self.numbers if self.numbers is not None else self.days
        truth = bool(self.values) and isinstance(self.values[0], bool)
        codes = self.codes if order is None or np.isnan(order).any() else self.spread(order)
        return View(self.name, "", codes, not truth)

    @property
    def gaps(self) -> NDArray[np.bool_]:
        """Which of its cells are empty, or hold a word for that among numbers, shape (n,)."""
        empty = self.codes < 0
        return empty if self.silent is None else empty | np.append(self.silent, False)[self.codes]

    def views(self) -> Iterator[View]:
        """All readings, the cells first; those that are the same for all rows are left out."""
        if self.source is None:
            yield from self._views()
            return
        source, order = self.source
        if not source.kept:
            source.kept.extend(source.views())
        yield from (replace(view, codes=view.codes[order]) for view in source.kept)

    def _views(self) -> Iterator[View]:
        yield self.plain
        gaps = self.gaps
        if gaps.any() and not gaps.all():
            yield View(self.name, EMPTY, gaps.astype(np.int64), ordered=False)
        if self.days is not None or self.numbers is not None:
            yield from self._parts(self.numbers)
        if self.forms is not None:
            yield from self._form_views(self.forms)
        texts = [value for value in self.values if isinstance(value, str)]
        if len(texts) != len(self.values) or not texts:
            return
        if self.is_text:
            read = np.array([_inner(text) for text in texts])
            if (~np.isnan(read)).mean() >= _MIN_READABLE:
                yield from self._vary("the number in", read)
        if self.numbers is not None:
            yield from self._form_views(_forms(pl.Series(texts), self.numbers == 0)[self.codes])
        for words, mark in _MARKS.items():
            yield from self._vary(words, np.array([mark(text) for text in texts]), ordered=False)

    def _parts(self, numbers: Float | None) -> Iterator[View]:
        """What lies below the place to which the numbers seem to be rounded."""
        if numbers is None or not np.isfinite(numbers).all():
            return
        for digits in range(7):
            rounded = np.round(numbers, digits)
            if 2 * len(np.unique(rounded)) <= len(numbers):
                rest = np.round((numbers - rounded) * 10.0**digits, 12 - digits)
                if np.any(rest):
                    yield from self._vary(f"the digits from the {digits + 1}. behind the point on of", rest)

    def _form_views(self, forms: Int) -> Iterator[View]:
        codes = dense_codes(np.where(self.codes < 0, -1, forms))
        if codes.max(initial=-1) > 0:
            yield View(self.name, "the way of writing the numbers in", codes, ordered=False)

    def _vary(self, words: str, read: NDArray[Any], *, ordered: bool = True) -> Iterator[View]:
        codes = self.spread(read)
        if codes.max(initial=-1) > 0:
            yield View(self.name, words, codes, ordered)


_MARKS: Final[dict[str, Callable[[str], int]]] = {
    "the blanks before": lambda text: len(text) - len(text.lstrip()),
    "the blanks behind": lambda text: len(text) - len(text.rstrip()),
    "the capital letters of": lambda text: sum(map(str.isupper, text)) if text.lower() != text else 0,
}


def _match_spelling(table: Table, name: str, numbers: Float, codes: Int) -> Int | None:
    """How the numbers of a column of texts are written; None if it is not one of texts."""
    cells = table.column(name)
    if not isinstance(cells.dtype, nw.String) or not isinstance(cells.to_native(), pl.Series):
        return None
    return _forms(cells.to_native(), np.append(numbers, np.nan)[codes] == 0)


def _forms(texts: pl.Series, zero: NDArray[np.bool_]) -> Int:
    """How numbers are written, as codes: signs, blanks, points, exponents, and the digits behind the point.

    The minus of a number belongs to it, that of a zero does not.
    """
    text = pl.nth(0)
    shape = text.str.replace_all(r"\d+", "").fill_null("")
    bare = shape.str.replace("-", "", literal=True)
    if zero.any():
        bare = pl.when(pl.Series(zero)).then(shape).otherwise(bare)
    fine = text.str.extract(r"[.,](\d*)", 1).str.len_bytes().cast(pl.String).fill_null("")
    said = texts.to_frame().select((bare + "|" + fine).rank("dense"))
    return said.to_series().to_numpy().astype(np.int64) - 1


def _read(value: Any) -> Any:
    """A cell of bytes as the text that it may be; its order stays."""
    if not isinstance(value, bytes):
        return value
    return value.decode("latin-1") if any(byte > 127 for byte in value) else value.decode("ascii")


def _inner(text: str) -> float:
    """The number in a text that has exactly one, else NaN."""
    found = _DIGITS.findall(text)
    return float(found[0]) if len(found) == 1 else np.nan


def _numbers(values: Sequence[Any]) -> Float | None:
    """Texts and decimals as numbers."""
    if not values or isinstance(values[0], (date, time, timedelta, bytes)):
        return None
    read = np.full(len(values), np.nan)
    for place, value in enumerate(values):
        if not isinstance(value, str) or _NUMBER.fullmatch(value):
            try:
                read[place] = float(value.replace(",", ".") if isinstance(value, str) else value)
            except (TypeError, ValueError, OverflowError):
                continue
    return read if (~np.isnan(read)).mean() >= _MIN_READABLE else None


def _silent(values: Sequence[Any]) -> Bool | None:
    """Which of the texts of a column of numbers or days say that one is missing, or beyond a limit, or None.

    A specification may name them (`missing_tokens`, `below_limit`): where it does not, they tell the same.
    """
    texts = [value.strip() if isinstance(value, str) else "" for value in values]
    found = np.array(
        [one in MISSING_TOKENS or limit_in(one) is not None or above_in(one) is not None for one in texts],
        dtype=np.bool_,
    )
    others = [one for one, said in zip(texts, found.tolist(), strict=True) if not said]
    if not found.any() or not others:
        return None
    return found if all(map(_NUMBER.fullmatch, others)) or _days(others) is not None else None


def _days(values: Sequence[Any]) -> Float | None:
    """Dates, times and durations, and texts in one form of a date with or without a time, in days."""
    if not values:
        return None
    if all(isinstance(value, date | time | timedelta) for value in values):
        return np.array([_day(value) for value in values])
    if not all(isinstance(value, str) for value in values):
        return None
    parted = [_split_time(in_common_years(narrow_date(text.strip()), names_only=True)) for text in values]
    for form in _FORMS:
        read = np.full(len(values), np.nan)
        wrong = 0
        for place, (text, clock) in enumerate(parted):
            try:
                read[place] = datetime.strptime(text, form).toordinal() + clock
            except ValueError:
                wrong += 1
                if wrong > (1 - _MIN_READABLE) * len(values):
                    break
        else:
            return read
    return None


def _split_time(text: str) -> tuple[str, float]:
    """A text without the time of day behind it, and that time as a part of the day."""
    found = _CLOCK.search(text) if ":" in text else None
    if found is None or found.end() != len(text):
        return text, 0.0
    hours, minutes, seconds, half = found.groups()
    late = 12 if half and half in "Pp" and hours != "12" else 0
    clock = (int(hours) + late) * 3600 + int(minutes) * 60 + float((seconds or "0").replace(",", "."))
    return text[: found.start()], clock / _SECONDS


def _day(value: date | time | timedelta) -> float:
    if isinstance(value, timedelta):
        return value.total_seconds() / _SECONDS
    days = float(value.toordinal()) if isinstance(value, date) else 0.0
    if isinstance(value, datetime | time):
        seconds = value.hour * 3600 + value.minute * 60 + value.second + value.microsecond / 1e6
        days += seconds / _SECONDS
    return days

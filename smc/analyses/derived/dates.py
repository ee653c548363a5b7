"""Columns that are derived from dates: days or years between two, and the month, quarter or year of one."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Annotated, Any, Final

import numpy as np
from numpy.typing import NDArray
from typing_extensions import override

from commons.settings.bounds import Between, OneOf
from commons.settings.marks import Key, Read, UnfitError, Unread
from smc.analyses.derived.stated import MAX_BOUND, narrow
from smc.analyses.records.conditions import days
from smc.analyses.studies.columns import Schema
from smc.errors import UsageError

Ints = NDArray[np.int64]

UNITS: Final = ("days", "years")
MONTHS: Final = tuple(f"{month:02}" for month in range(1, 13))
QUARTERS: Final = ("Q1", "Q2", "Q3", "Q4")
PARTS: Final = ("month", "quarter", "year")
MAX_YEARS: Final = 400

_DATE: Final = re.compile(r"[0-9]{4}-[0-9]{2}-[0-9]{2}")
_YEARS: Final = (1, 9999)


def _parse_end(value: Any, place: str) -> str:
    if not isinstance(value, str):
        raise UsageError(f"{place} is not a text.", "Name a column of dates, or write a date, in quotes.")
    if _DATE.fullmatch(value):
        days(value, place)
    return value


@dataclass(frozen=True, slots=True)
class Difference:
    """Whole days or years from one date to another; negative where the second one is earlier.

    Attributes:
        name: of the derived column.
        start: a column of dates, or a date.
        end: likewise.
        unit: one of `UNITS`. A year is over on the day of the month on which it began, one that began on
            29 February on 1 March in years without that day.
        lower: what is less counts as this; None to take the bound of the columns.
        upper: what is more counts as this; likewise.

    Raises:
        UsageError: it would be the same in every row.
    """

    name: Annotated[str, Unread()]
    start: Annotated[str, Key("from"), Read(_parse_end, {"type": "string"})]
    end: Annotated[str, Key("to"), Read(_parse_end, {"type": "string"})]
    unit: Annotated[str, OneOf(UNITS)]
    lower: Annotated[int | None, Between(-MAX_BOUND, MAX_BOUND)] = None
    upper: Annotated[int | None, Between(-MAX_BOUND, MAX_BOUND)] = None

    def __post_init__(self) -> None:
        if not self.sources or self.start == self.end:
            raise UsageError(
                "it is the same in every row.",
                "Name a column of dates in from or to, not the same in both.",
            )

    @property
    def sources(self) -> tuple[str, ...]:
        """The columns that it is derived from."""
        return tuple(each for each in dict.fromkeys((self.start, self.end)) if not _DATE.fullmatch(each))

    @override
    def __str__(self) -> str:
        words = f"{self.name} = {self.unit} from {self.start} to {self.end}"
        low, high = ("" if bound is None else str(bound) for bound in (self.lower, self.upper))
        return f"{words}, clamped to {low}..{high}" if low or high else words

    def schema(self, schemas: Mapping[str, Schema], *, exact: bool) -> Schema:
        """Its declaration; arguments and errors as of `Cuts.schema`.

        Without noise its bounds are those that the declared dates allow, as limits are measured by them
        (`smc.analyses.disclosure.owned`).
        """
        for column in self.sources:
            _of_dates(column, schemas, self.name)
        least, most = (
            self._between(_end(self.start, schemas, one), _end(self.end, schemas, two))
            for one, two in (("upper", "lower"), ("lower", "upper"))
        )
        bounds = narrow(self.name, (least, most), (self.lower, self.upper), exact=exact)
        return Schema("integer", lower=bounds[0], upper=bounds[1], unit=self.unit)

    def values(self, columns: Mapping[str, Ints], schemas: Mapping[str, Schema]) -> Ints:
        """The difference in each row."""
        del schemas
        start, end = (
            np.int64(days(each, each)) if each not in self.sources else columns[each]
            for each in (self.start, self.end)
        )
        found = self._count(np.asarray(start), np.asarray(end))
        if self.lower is not None or self.upper is not None:
            found = np.clip(found, self.lower, self.upper)
        return found

    def _between(self, start: int | None, end: int | None) -> int | None:
        if start is None or end is None:
            return None
        return int(self._count(np.array(start), np.array(end)))

    def _count(self, start: Ints, end: Ints) -> Ints:
        if self.unit == "days":
            return end - start
        (first, began), (last, ends) = (_year_and_day(each) for each in (start, end))
        return last - first - (ends < began)


@dataclass(frozen=True, slots=True)
class DatePart:
    """The month, quarter or year of a date: a category.

    Attributes:
        name: of the derived column.
        date: a column of dates.
        part: one of `PARTS`. Months and quarters are those of any year.
        first: the first year that has a label of its own, to which earlier ones count; None for that of the
            column's lower bound.
        last: the last one, to which later ones count; None for that of the upper bound.

    Raises:
        UnfitError: years are stated that are not asked for, or none lie between them.
    """

    name: Annotated[str, Unread()]
    date: str
    part: Annotated[str, OneOf(PARTS)]
    first: Annotated[int | None, Between(*_YEARS)] = None
    last: Annotated[int | None, Between(*_YEARS)] = None

    def __post_init__(self) -> None:
        if self.part != "year" and (self.first, self.last) != (None, None):
            raise UnfitError(
                "first", f"and last are not for a {self.part}", 'Leave them out, or ask for "year".'
            )
        if self.first is not None and self.last is not None and self.first > self.last:
            raise UnfitError("first", "is after last", "Exchange the years.")

    @property
    def sources(self) -> tuple[str, ...]:
        """The columns that it is derived from."""
        return (self.date,)

    @override
    def __str__(self) -> str:
        words = f"{self.name} = {self.part} of {self.date}"
        ends = ("" if year is None else str(year) for year in (self.first, self.last))
        return words if (self.first, self.last) == (None, None) else f"{words}, {'..'.join(ends)}"

    def schema(self, schemas: Mapping[str, Schema], *, exact: bool) -> Schema:
        """Its declaration: years from `first` or the lower bound to `last` or the upper one.

        Args:
            schemas: of its source.
            exact: whether figures are released without noise.

        Raises:
            UsageError: the source does not hold dates; or nothing says which years there are, or too many do.
        """
        del exact  # a group of few rows is a small cell, and withheld as such
        source = _of_dates(self.date, schemas, self.name)
        if self.part != "year":
            return Schema("category", categories=MONTHS if self.part == "month" else QUARTERS)
        first, last = self._years(source)
        labels = [str(year) for year in range(first, last + 1)]
        # the stated ends also hold what lies beyond them, which their labels have to say
        if self.first is not None:
            labels[0] = f"{labels[0]} or before"
        if self.last is not None:
            labels[-1] = f"{labels[-1]} or after" if len(labels) > 1 else f"{labels[-1]} or any other"
        return Schema("category", categories=tuple(labels))

    def values(self, columns: Mapping[str, Ints], schemas: Mapping[str, Schema]) -> Ints:
        """The place of each row's label."""
        year, month = _year_and_month(columns[self.date])
        if self.part == "month":
            return month
        if self.part == "quarter":
            return month // 3
        first, last = self._years(schemas[self.date])
        return np.clip(year, first, last) - first

    def _years(self, source: Schema) -> tuple[int, int]:
        place = f"derived.{self.name}"
        found = []
        for stated, held in ((self.first, source.lower), (self.last, source.upper)):
            if stated is None and held is None:
                raise UsageError(
                    f"{place}: column {self.date!r} declares no bounds that say which years there are.",
                    "Write first and last in the job, or declare the bounds in the catalog.",
                )
            year = stated if stated is not None else int(_year_and_month(np.array([held]))[0][0])
            found.append(year)
        if not 0 <= found[1] - found[0] < MAX_YEARS:
            raise UsageError(
                f"{place}: from {found[0]} to {found[1]} there is not one year, or there are more than "
                f"{MAX_YEARS}.",
                "Correct first and last in the job, or the bounds in the catalog.",
            )
        return found[0], found[1]


def _of_dates(column: str, schemas: Mapping[str, Schema], name: str) -> Schema:
    if not schemas[column].is_date:
        raise UsageError(
            f"derived.{name}: column {column!r} does not hold dates.",
            "Name a column that the catalog declares as a date.",
        )
    return schemas[column]


def _end(word: str, schemas: Mapping[str, Schema], side: str) -> int | None:
    if _DATE.fullmatch(word):
        return days(word, word)
    found: int | None = getattr(schemas[word], side)
    return found


def _year_and_month(held: Ints) -> tuple[Ints, Ints]:
    """Of days since 1970-01-01: the year, and the month from 0."""
    months = held.astype("datetime64[D]").astype("datetime64[M]").astype(np.int64)
    year, month = np.divmod(months, 12)
    return year + 1970, month


def _year_and_day(held: Ints) -> tuple[Ints, Ints]:
    """Of days since 1970-01-01: the year, and a number that grows with month and day."""
    date = held.astype("datetime64[D]")
    year, month = _year_and_month(held)
    return year, month * 32 + (date - date.astype("datetime64[M]")).astype(np.int64)

"""Derived columns, as job files declare them and as each side computes them from its own rows.

[derived.age_group]                   # below [parameters]; a category
column = "age"                        # a number or date
cuts = [18, 65]                       # below 18, 18 to below 65, 65 and above: every row is in one group
labels = ["child", "adult", "old"]    # optional

[derived.stay]                        # a whole number
from = "admitted"                     # a column of dates, or a date such as "2020-01-01"
to = "discharged"                     # the same
unit = "days"                         # or "years": whole years, as an age is counted
lower = 0                             # optional, with noise: what lies beyond counts as the bound; without
upper = 365                           # them the bounds follow from those of the columns

A derived column may be derived from another one. A cell depends on the cells of its row and on nothing else.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Annotated, Any, Final

import numpy as np
from numpy.typing import NDArray
from typing_extensions import override

from commons.settings.bounds import Between, OneOf
from commons.settings.marks import Key, Read, UnfitError, Unread, Variants
from commons.settings.reader import Tables
from commons.settings.table import StrictTable
from smc.analyses.records.conditions import days, held_constant
from smc.analyses.studies.columns import Schema
from smc.analyses.studies.parameters import table_of
from smc.errors import UsageError

Ints = NDArray[np.int64]

MAX_DERIVED: Final = 100
MAX_CUTS: Final = 1000
UNITS: Final = ("days", "years")

_NAME: Final = re.compile(r"[A-Za-z_][A-Za-z0-9_.-]{0,63}")
_DATE: Final = re.compile(r"[0-9]{4}-[0-9]{2}-[0-9]{2}")
_MAX_LABEL: Final = 100
_MAX_BOUND: Final = 1 << 40


def _parse_cuts(value: Any, place: str) -> tuple[str | int, ...]:
    return _list(value, place, lambda cut: isinstance(cut, str | int) and not isinstance(cut, bool))


def _parse_labels(value: Any, place: str) -> tuple[str, ...]:
    return _list(
        value,
        place,
        lambda label: isinstance(label, str) and 0 < len(label) <= _MAX_LABEL and '"' not in label,
    )


def _list(value: Any, place: str, fits: Callable[[Any], bool]) -> tuple[Any, ...]:
    if not isinstance(value, Sequence) or isinstance(value, str) or not 1 <= len(value) <= MAX_CUTS + 1:
        raise UsageError(f"{place} is not a list of 1 to {MAX_CUTS} entries.", "Write [..., ...].")
    if not all(map(fits, value)):
        raise UsageError(
            f"{place} has an entry that does not fit.",
            "Write whole numbers, quoted decimals or dates as cuts, and short texts as labels.",
        )
    return tuple(value)


def _parse_end(value: Any, place: str) -> str:
    if not isinstance(value, str):
        raise UsageError(f"{place} is not a text.", "Name a column of dates, or write a date, in quotes.")
    if _DATE.fullmatch(value):
        days(value, place)
    return value


def _array(*types: str) -> Mapping[str, Any]:
    return {"type": "array", "items": {"type": [*types]}, "minItems": 1, "maxItems": MAX_CUTS + 1}


@dataclass(frozen=True, slots=True)
class Cuts:
    """A category by cuts of a number or date.

    Attributes:
        name: of the derived column.
        column: the number or date.
        cuts: as the job has them, increasing.
        labels: of the groups, one more than cuts; none in the making are those that say the cuts.

    Raises:
        UnfitError: there is not one label for each group.
    """

    name: Annotated[str, Unread()]
    column: str
    cuts: Annotated[tuple[str | int, ...], Read(_parse_cuts, _array("string", "integer"))] = ()
    labels: Annotated[tuple[str, ...], Read(_parse_labels, _array("string"))] = ()

    def __post_init__(self) -> None:
        if not self.cuts:
            raise UnfitError("cuts", f"is not a list of 1 to {MAX_CUTS} entries", "Write cuts = [...].")
        object.__setattr__(self, "labels", self.labels or tuple(_usual(self.cuts)))
        if len(self.labels) != len(self.cuts) + 1 or len(set(self.labels)) < len(self.labels):
            raise UnfitError(
                "labels",
                f"are not {len(self.cuts) + 1} different texts, one for each group",
                "Write one label for each group, or leave labels out.",
            )

    @property
    def sources(self) -> tuple[str, ...]:
        """The columns that it is derived from."""
        return (self.column,)

    @override
    def __str__(self) -> str:
        return (
            f"{self.name} = {self.column} cut at {', '.join(map(str, self.cuts))} ({'; '.join(self.labels)})"
        )

    def schema(self, schemas: Mapping[str, Schema], *, exact: bool) -> Schema:
        """Its declaration.

        Args:
            schemas: of its sources.
            exact: whether figures are released without noise.

        Raises:
            UsageError: a source is of another kind, or cuts do not fit it.
        """
        del exact  # a group of few rows is a small cell, and withheld as such
        self._held(schemas[self.column])
        return Schema("category", categories=self.labels)

    def values(self, columns: Mapping[str, Ints], schemas: Mapping[str, Schema]) -> Ints:
        """The place of each row's group, from the held values of its sources."""
        cuts = self._held(schemas[self.column])
        return np.searchsorted(cuts, columns[self.column], side="right").astype(np.int64)

    def _held(self, schema: Schema) -> Ints:
        place = f"derived.{self.name}"
        if schema.kind not in ("integer", "decimal"):
            raise UsageError(
                f"{place}: column {self.column!r} is declared {schema.kind} and cannot be cut.",
                "Name a column of numbers or dates.",
            )
        held = [held_constant(cut, schema, self.column, place) for cut in self.cuts]
        if any(one >= two for one, two in pairwise(held)):
            raise UsageError(f"{place}.cuts do not increase.", "Write them in increasing order, each once.")
        return np.array(held, dtype=np.int64)


@dataclass(frozen=True, slots=True)
class Difference:
    """Whole days or years from one date to another; negative where the second one is earlier.

    Attributes:
        name: of the derived column.
        start: a column of dates, or a date.
        end: likewise.
        unit: one of `UNITS`. A year is over on the day of the month on which it began, one that began on
            29 February on 1 March where there is no such day.
        lower: what is less counts as this; None to take the bound of the columns.
        upper: what is more counts as this; likewise.

    Raises:
        UsageError: it would be the same in every row.
    """

    name: Annotated[str, Unread()]
    start: Annotated[str, Key("from"), Read(_parse_end, {"type": "string"})]
    end: Annotated[str, Key("to"), Read(_parse_end, {"type": "string"})]
    unit: Annotated[str, OneOf(UNITS)]
    lower: Annotated[int | None, Between(-_MAX_BOUND, _MAX_BOUND)] = None
    upper: Annotated[int | None, Between(-_MAX_BOUND, _MAX_BOUND)] = None

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
            if not schemas[column].is_date:
                raise UsageError(
                    f"derived.{self.name}: column {column!r} does not hold dates.",
                    "Name a column that the catalog declares as a date.",
                )
        least, most = (
            self._between(_end(self.start, schemas, one), _end(self.end, schemas, two))
            for one, two in (("upper", "lower"), ("lower", "upper"))
        )
        if exact and (self.lower, self.upper) != (None, None):
            raise UsageError(
                f"derived.{self.name}: lower and upper need noise. Without it the bounds are those that the "
                "declared dates allow, by which limits are measured.",
                "Leave lower and upper out, or add noise.",
            )
        lower = least if self.lower is None else self.lower
        upper = most if self.upper is None else self.upper
        if lower is not None and upper is not None and lower > upper:
            raise UsageError(
                f"derived.{self.name}: the lower bound {lower} is above the upper one, {upper}.",
                "Correct the bounds in the job, or those of the dates in the catalog.",
            )
        return Schema("integer", lower=lower, upper=upper, unit=self.unit)

    def values(self, columns: Mapping[str, Ints], schemas: Mapping[str, Schema]) -> Ints:
        """The difference in each row."""
        del schemas
        start, end = (
            np.int64(days(each, each)) if each not in self.sources else columns[each]
            for each in (self.start, self.end)
        )
        found = self._counted(np.asarray(start), np.asarray(end))
        if self.lower is not None or self.upper is not None:
            found = np.clip(found, self.lower, self.upper)
        return found

    def _between(self, start: int | None, end: int | None) -> int | None:
        if start is None or end is None:
            return None
        return int(self._counted(np.array(start), np.array(end)))

    def _counted(self, start: Ints, end: Ints) -> Ints:
        if self.unit == "days":
            return end - start
        (first, began), (last, ends) = (_year_and_day(each) for each in (start, end))
        return last - first - (ends < began)


Derived = Cuts | Difference


def parse_derived(value: Any, place: str) -> tuple[Derived, ...]:
    """Read the tables of derived columns.

    Returns:
        In an order in which each is after those that it is derived from.

    Raises:
        UsageError: a table is impossible, or a column is derived from itself; names the place.
    """
    if not isinstance(value, Mapping) or not 1 <= len(value) <= MAX_DERIVED:
        raise UsageError(
            f"{place} is not a table of 1 to {MAX_DERIVED} columns.", "Write [parameters.derived.NAME]."
        )
    found: dict[str, Derived] = {}
    for name, table in value.items():
        if not _NAME.fullmatch(name):
            raise UsageError(
                f"{place} has a column {name!r}, which is not a plain word.",
                "Use letters, digits, point, hyphen, underscore.",
            )
        found[name] = Tables(DERIVED).of(table_of(table, f"{place}.{name}"), name=name)
    return _ordered(found, place)


def _choose(table: StrictTable) -> str:
    if ("column" in table.table) == ("from" in table.table):
        raise UsageError(
            f"{table.place} is neither a table of groups nor of a difference.",
            'Write column = "age" and cuts = [18, 65]; or from = "...", to = "..." and unit = "days".',
        )
    return "groups" if "column" in table.table else "difference"


DERIVED: Final = Variants({"groups": Cuts, "difference": Difference}, _choose)
"""What a table of a derived column may hold."""


def _ordered(found: Mapping[str, Derived], place: str) -> tuple[Derived, ...]:
    done: dict[str, Derived] = {}
    while len(done) < len(found):
        ready = [
            name
            for name, each in found.items()
            if name not in done and all(source in done or source not in found for source in each.sources)
        ]
        if not ready:
            name = next(name for name in found if name not in done)
            raise UsageError(
                f"{place}.{name} is derived from itself, by way of others perhaps.",
                "Derive it from columns of the data set.",
            )
        done |= {name: found[name] for name in ready}
    return tuple(done.values())


def _usual(cuts: Sequence[str | int]) -> list[str]:
    inner = [f"{low} to below {high}" for low, high in pairwise(cuts)]
    return [f"below {cuts[0]}", *inner, f"{cuts[-1]} and above"]


def _end(word: str, schemas: Mapping[str, Schema], side: str) -> int | None:
    if _DATE.fullmatch(word):
        return days(word, word)
    found: int | None = getattr(schemas[word], side)
    return found


def _year_and_day(held: Ints) -> tuple[Ints, Ints]:
    """Of days since 1970-01-01: the year, and a number that grows with month and day."""
    date = held.astype("datetime64[D]")
    months = date.astype("datetime64[M]")
    year, month = np.divmod(months.astype(np.int64), 12)
    return year, month * 32 + (date - months).astype(np.int64)

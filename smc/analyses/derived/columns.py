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

[derived.season]                      # a category
date = "admitted"                     # a column of dates
part = "quarter"                      # or "month", or "year": then first = 2015 and last = 2024 may be stated

[derived.bmi]                         # a decimal
numbers = ["weight", "height"]        # of the declared units kg, and cm or m
compute = "body-mass-index"           # or "difference" or "ratio": the first less, or by, the second
decimals = 1                          # optional; lower and upper, with noise, as above

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

from commons.settings.marks import Read, UnfitError, Unread, Variants
from commons.settings.reader import Tables
from commons.settings.table import StrictTable
from smc.analyses.derived.arithmetic import Arithmetic
from smc.analyses.derived.dates import DatePart, Difference
from smc.analyses.records.conditions import held_constant
from smc.analyses.studies.columns import Schema
from smc.analyses.studies.parameters import table_of
from smc.errors import UsageError

Ints = NDArray[np.int64]

MAX_DERIVED: Final = 100
MAX_CUTS: Final = 1000

_NAME: Final = re.compile(r"[A-Za-z_][A-Za-z0-9_.-]{0,63}")
_MAX_LABEL: Final = 100


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
        self._to_held(schemas[self.column])
        return Schema("category", categories=self.labels)

    def values(self, columns: Mapping[str, Ints], schemas: Mapping[str, Schema]) -> Ints:
        """The place of each row's group, from the held values of its sources."""
        cuts = self._to_held(schemas[self.column])
        return np.searchsorted(cuts, columns[self.column], side="right").astype(np.int64)

    def _to_held(self, schema: Schema) -> Ints:
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


Derived = Cuts | Difference | DatePart | Arithmetic


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
    return _order(found, place)


def _choose(table: StrictTable) -> str:
    words = [word for word in _KINDS if word in table.table]
    if len(words) != 1:
        raise UsageError(
            f"{table.place} does not say by one of {', '.join(_KINDS)} how the column is derived.",
            'Write column = "age" and cuts = [18, 65]; or from = "...", to = "..." and unit = "days"; or '
            'date = "..." and part = "month"; or numbers = ["...", "..."] and compute = "ratio".',
        )
    return words[0]


_KINDS: Final = {"column": Cuts, "from": Difference, "date": DatePart, "numbers": Arithmetic}
"""By the key that chooses it."""

DERIVED: Final = Variants(_KINDS, _choose)
"""What a table of a derived column may hold."""


def _order(found: Mapping[str, Derived], place: str) -> tuple[Derived, ...]:
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

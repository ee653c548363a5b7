"""Conditions on rows, as job files say them: which rows a figure is about.

where = [                                               # all of them have to hold
    { column = "age", at_least = 18, below = 65 },      # and so have all comparisons of an entry
    { column = "smoker", in = ["yes"] },
    { any = [{ column = "weight", above = "120.5" }, { column = "admitted", at_least = "2020-01-01" }] },
]

`all` stands inside `any` where that is needed. A condition compares one column with constants that stand in
the job, so both parties see it; each applies it to its own rows, row by row. Nothing is evaluated as code.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray
from typing_extensions import override

from smc.analyses.records.held_conditions import Joined, Within
from smc.analyses.records.numbers import number
from smc.analyses.studies.columns import Schema, missing_mark
from smc.analyses.studies.parameters import reject_unknown
from smc.errors import UsageError

Ints = NDArray[np.int64]
Bools = NDArray[np.bool_]

MAX_COMPARISONS: Final = 100
"""Most comparisons of one list of conditions."""

MAX_CONSTANTS: Final = 1000
"""Most entries of `in` and `not_in`."""

MAX_DEPTH: Final = 4
"""How deep `any` and `all` may be nested."""

KINDS: Final = ("integer", "decimal", "category")
"""Of columns that can be compared."""

_SIGNS: Final = {
    "equals": "=",
    "not_equals": "!=",
    "below": "<",
    "at_most": "<=",
    "above": ">",
    "at_least": ">=",
    "in": "in",
    "not_in": "not in",
}
_LISTS: Final = ("in", "not_in")
_LABELS: Final = ("equals", "not_equals", "in", "not_in")
_DATE: Final = re.compile(r"[0-9]{4}-[0-9]{2}-[0-9]{2}")


@dataclass(frozen=True, slots=True)
class Comparison:
    """A column compared with constants.

    Attributes:
        column: its name in the job.
        operator: one of `equals`, `not_equals`, `below`, `at_most`, `above`, `at_least`, `in`, `not_in`.
        constants: as the job has them, texts or integers; one but for `in` and `not_in`.
    """

    column: str
    operator: str
    constants: tuple[str | int, ...]

    @property
    def comparisons(self) -> tuple[Comparison, ...]:
        """All comparisons in it."""
        return (self,)

    @override
    def __str__(self) -> str:
        constants = ", ".join(map(str, self.constants))
        return f"{self.column} {_SIGNS[self.operator]} " + (
            f"({constants})" if self.operator in _LISTS else constants
        )

    def bind(self, schemas: Mapping[str, Schema], place: str) -> Within:
        """The comparison of held values.

        Args:
            schemas: the declared columns.
            place: how errors call the query.

        Raises:
            UsageError: there is no such column, or the constants do not fit its declaration.
        """
        schema = schemas.get(self.column)
        if schema is None:
            raise UsageError(
                f"{place}: where names {self.column!r}, which is not a column of the job.",
                "Add it to the columns of the job.",
            )
        if schema.kind not in KINDS:
            raise UsageError(
                f"{place}: where cannot compare column {self.column!r}, declared {schema.kind}.",
                f"Compare columns of kind {', '.join(KINDS)}.",
            )
        if schema.kind == "category" and self.operator not in _LABELS:
            raise UsageError(
                f"{place}: where compares the labels of {self.column!r} by {self.operator!r}.",
                f"Use {', '.join(_LABELS)}.",
            )
        held = tuple(held_constant(value, schema, self.column, place) for value in self.constants)
        if self.operator in _LABELS:
            return Within(
                self.column, values=tuple(sorted(set(held))), negated=self.operator.startswith("not_")
            )
        (bound,) = held
        if self.operator in ("below", "at_most"):
            return Within(self.column, upper=bound - (self.operator == "below"))
        return Within(self.column, lower=bound + (self.operator == "above"))


@dataclass(frozen=True, slots=True)
class Junction:
    """Conditions of which all have to hold, or any.

    Attributes:
        operator: `all` or `any`.
        parts: the conditions, one at least.
    """

    operator: str
    parts: tuple[Condition, ...]

    @property
    def comparisons(self) -> tuple[Comparison, ...]:
        """All comparisons in it."""
        return tuple(found for part in self.parts for found in part.comparisons)

    @override
    def __str__(self) -> str:
        word = " and " if self.operator == "all" else " or "
        return f"({word.join(map(str, self.parts))})"

    def bind(self, schemas: Mapping[str, Schema], place: str) -> Joined:
        """The same of held values; raises as `Comparison.bind`."""
        return Joined(self.operator, tuple(part.bind(schemas, place) for part in self.parts))


@dataclass(frozen=True, slots=True)
class Presence:
    """Whether a row has a cell in a column; no job says it, a table one asks for it.

    Attributes:
        column: of which rows with missing cells are kept.
        there: whether the cell is to be there, or missing.
    """

    column: str
    there: bool

    @property
    def comparisons(self) -> tuple[Comparison, ...]:
        """None."""
        return ()

    @override
    def __str__(self) -> str:
        return f"{self.column} {'there' if self.there else 'missing'}"

    def bind(self, schemas: Mapping[str, Schema], place: str) -> Within:
        """The same of the mark of the column."""
        del schemas, place
        return Within(missing_mark(self.column), values=(int(not self.there),))


Condition = Comparison | Junction | Presence


def columns_of(where: Iterable[Condition]) -> tuple[str, ...]:
    """The columns that conditions compare, each once."""
    return tuple(dict.fromkeys(each.column for part in where for each in part.comparisons))


def parse_where(value: Any, place: str) -> tuple[Condition, ...]:
    """Read a list of conditions that all have to hold.

    Args:
        value: of the key `where`, as in the head of this module.
        place: how errors call it.

    Returns:
        Conditions, each about one comparison or one `any`: what `all` holds is in the list itself.

    Raises:
        UsageError: it is not such a list; names the place.
    """
    found = [part for entry in _entries(value, place, 1) for part in entry]
    if sum(len(part.comparisons) for part in found) > MAX_COMPARISONS:
        raise UsageError(
            f"{place} has more than {MAX_COMPARISONS} comparisons.", "Use `in` for lists of values."
        )
    return tuple(found)


def held_constant(value: str | int, schema: Schema, column: str, place: str) -> int:
    """A constant of a job as the column holds it.

    Raises:
        UsageError: it is not a label, date or number of the column.
    """
    if schema.kind == "category":
        if value not in schema.categories:
            raise UsageError(
                f"{place}: {value!r} is not a label of column {column!r}.",
                f"Its labels are {', '.join(map(repr, schema.categories[:20]))}.",
            )
        return schema.categories.index(str(value))
    if schema.is_date and isinstance(value, str):
        return days(value, f"{place}, {column}")
    exact = number(value, f"{place}, {column}") * 10**schema.scale
    if exact.denominator != 1:
        raise UsageError(
            f"{place}: {value} has more decimals than column {column!r}, which has {schema.scale}.",
            "Round it to as many.",
        )
    return int(exact)


def days(value: Any, place: str) -> int:
    """Days from 1970-01-01 to a date such as `1990-12-31`.

    Raises:
        UsageError: it is not a date of this form.
    """
    try:
        if isinstance(value, str) and _DATE.fullmatch(value):
            return int(np.datetime64(value, "D").astype(np.int64))
    except ValueError:
        pass
    raise UsageError(f"{place}: {value!r} is not a date.", 'Write it as "1990-12-31".')


def _entries(value: Any, place: str, depth: int) -> list[list[Condition]]:
    """For each entry of a list the conditions that it stands for, all of which have to hold."""
    if not isinstance(value, Sequence) or isinstance(value, str) or not value:
        raise UsageError(
            f"{place} is not a list of conditions.", 'Write [{ column = "age", at_least = 18 }].'
        )
    if depth > MAX_DEPTH:
        raise UsageError(f"{place} is nested deeper than {MAX_DEPTH} times.", "Write it flatter.")
    if len(value) > MAX_COMPARISONS:
        raise UsageError(f"{place} has more than {MAX_COMPARISONS} entries.", "Use `in` for lists of values.")
    return [_entry(entry, f"{place}[{index}]", depth) for index, entry in enumerate(value)]


def _entry(entry: Any, place: str, depth: int) -> list[Condition]:
    if not isinstance(entry, Mapping):
        raise UsageError(
            f"{place} is not a condition.", 'Write { column = "age", at_least = 18 } or { any = [...] }.'
        )
    if "any" in entry or "all" in entry:
        word = "any" if "any" in entry else "all"
        reject_unknown(entry, (word,), place)
        if word == "all":
            return [part for each in _entries(entry["all"], f"{place}.all", depth + 1) for part in each]
        parts = [
            each[0] if len(each) == 1 else Junction("all", tuple(each))
            for each in _entries(entry["any"], f"{place}.any", depth + 1)
        ]
        return [parts[0] if len(parts) == 1 else Junction("any", tuple(parts))]
    reject_unknown(entry, ("column", *_SIGNS, "any", "all"), place)
    column = entry.get("column")
    if not isinstance(column, str) or not column:
        raise UsageError(f"{place}.column is missing.", 'Name the column, as in column = "age".')
    asked = [operator for operator in _SIGNS if operator in entry]
    if not asked:
        raise UsageError(f"{place} compares with nothing.", f"Add one of {', '.join(_SIGNS)}.")
    return [Comparison(column, key, _constants(entry[key], key, f"{place}.{key}")) for key in asked]


def _constants(value: Any, operator: str, place: str) -> tuple[str | int, ...]:
    constants = value
    if operator not in _LISTS:
        constants = [value]
    elif not isinstance(value, Sequence) or isinstance(value, str) or not 1 <= len(value) <= MAX_CONSTANTS:
        raise UsageError(f"{place} is not a list of 1 to {MAX_CONSTANTS} values.", 'Write ["...", "..."].')
    for constant in constants:
        if isinstance(constant, float):
            raise UsageError(f"{place} is a float, which is not exact.", f'Quote it: "{constant}".')
        if isinstance(constant, bool) or not isinstance(constant, str | int):
            raise UsageError(
                f"{place} is not a text or a whole number.",
                'Quote labels, decimals and dates, as in "yes", "0.5", "1990-12-31".',
            )
    return tuple(constants)

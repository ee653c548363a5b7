"""The local rows of a party that take part, as arrays."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from smc.analyses.records.held_conditions import Where, rows_meeting
from smc.analyses.studies.columns import PERSONS, Data, missing_mark
from smc.errors import DomainError

Ints = NDArray[np.int64]


class Sampling(Protocol):
    """Which rows take part in a job, as its parameters say."""

    @property
    def columns(self) -> tuple[str, ...]:
        """The columns that the queries name."""
        ...

    @property
    def keeps_missing(self) -> frozenset[str]:
        """Those of which it matters where a value is missing."""
        ...

    @property
    def is_exact(self) -> bool:
        """Whether results are released without noise."""
        ...

    @property
    def rows_per_person(self) -> int:
        """The most rows of one person that a side takes in."""
        ...

    @property
    def maximum_rows(self) -> int:
        """The most rows of a side."""
        ...


@dataclass(frozen=True, slots=True)
class LocalRows:
    """Rows with the columns that the queries name.

    Attributes:
        columns: held values by column name, shape (count,) each.
        persons: numbers of the persons that the rows are about, from 0, shape (count,).
        count: number of rows.
    """

    columns: Mapping[str, Ints] = field(repr=False)
    persons: Ints = field(repr=False)
    count: int

    @classmethod
    def of(cls, parameters: Sampling, data: Data, where: Where = ()) -> LocalRows:
        """The rows that meet conditions; of each person the first `rows_per_person`, unless exact.

        A condition looks at one row, so that rows that are added or removed add or remove no others but those
        of their person.

        Raises:
            DomainError: columns of different lengths, or more rows than the job allows.
        """
        used = {name: data[name].array for name in parameters.columns}
        for name in sorted(parameters.keeps_missing):
            mark = missing_mark(name)
            used[mark] = data[mark].array if mark in data else np.zeros(len(data[name]), dtype=np.int64)
        persons = np.asanyarray(data[PERSONS].array) if PERSONS in data else None
        lengths = {len(column) for column in used.values()} | (
            {len(persons)} if persons is not None else set()
        )
        if len(lengths) != 1:
            raise DomainError(
                "The columns of this side have different lengths.", "Give every column one value per row."
            )
        count = lengths.pop()
        check_count(parameters, count)
        if persons is None:
            return cls(used, np.arange(count, like=next(iter(used.values()), None)), count).meeting(where)
        numbers = np.unique(persons, return_inverse=True)[1]
        rows = cls(used, numbers, count).meeting(where)
        if parameters.is_exact:
            return rows
        return rows.where(_earlier_rows_alike(rows.persons) < parameters.rows_per_person)

    def meeting(self, where: Where) -> LocalRows:
        """The rows for which all conditions hold."""
        return self.where(rows_meeting(where, self.columns, self.count)) if where else self

    def where(self, chosen: NDArray[np.bool_]) -> LocalRows:
        """The chosen rows."""
        columns = {name: column[chosen] for name, column in self.columns.items()}
        persons = self.persons[chosen]
        return LocalRows(columns, persons, len(persons))


def check_count(parameters: Sampling, rows: int) -> None:
    """Check how many rows a side has.

    Raises:
        DomainError: more than the job allows.
    """
    if rows > parameters.maximum_rows:
        raise DomainError(
            "This side has more rows than parameters.maximum_rows allows.",
            "Raise maximum_rows in the job, which both sides see, or use fewer rows.",
        )


def rows_by_condition(parameters: Sampling, data: Data, asked: Iterable[Where]) -> dict[Where, LocalRows]:
    """The rows of a job for all conditions that its queries have; raises as `LocalRows.of`."""
    return {where: LocalRows.of(parameters, data, where) for where in dict.fromkeys(asked)}


def _earlier_rows_alike(persons: Ints) -> Ints:
    """For each row the number of rows before it that are about the same person."""
    order = np.argsort(persons, kind="stable")
    ordered = persons[order]
    places = np.arange(len(persons), like=persons)
    starts = np.zeros(len(persons), dtype=np.int64, like=persons)
    new = np.flatnonzero(ordered[1:] != ordered[:-1]) + 1
    starts[new] = new
    found = np.empty(len(persons), dtype=np.int64, like=persons)
    found[order] = places - np.maximum.accumulate(starts)
    return found

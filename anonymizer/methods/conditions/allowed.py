"""Judges classes: which may be released."""

from __future__ import annotations

from collections.abc import Sequence
from copy import copy
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from anonymizer.errors import SpecError, list_names
from anonymizer.methods.conditions.constraint import Constraint
from anonymizer.methods.conditions.constraints import constraint
from anonymizer.risk.classes import Contents, number_classes, totals_of
from anonymizer.tables.persons import PersonRows
from anonymizer.tables.table import Table

Int = NDArray[np.int64]
Float = NDArray[np.float64]
Bool = NDArray[np.bool_]


def checked_k(k: int) -> None:
    """Check the least size of a class.

    Raises:
        SpecError: it is below 1.
    """
    if k < 1:
        raise SpecError(f"k is {k}.", "Choose 2 or more.")


@dataclass(frozen=True, slots=True)
class _Judged:
    """A constraint on a table of n rows.

    Attributes:
        constraint: the condition.
        codes: the values of its column, shape (n,).
        totals: of each value in the table that t-closeness is measured against, as `totals_of`.
        levels: labels of the values, see `Constraint.levels`.
        known: codes of the columns that an attacker knows, shape (n,) each.
        persons: of the rows, where some have several.
    """

    constraint: Constraint
    codes: Int
    totals: Int | Float
    levels: Sequence[Int]
    known: tuple[Int, ...]
    persons: PersonRows | None

    def of(self, rows: Int) -> _Judged:
        """The same for some rows."""
        known = tuple(codes[rows] for codes in self.known)
        persons = None if self.persons is None else self.persons.take(rows)
        return replace(self, codes=self.codes[rows], known=known, persons=persons)

    def __call__(self, rows: Int, classes: Int, count: int) -> Bool:
        """As `Allowed`."""
        persons = None if self.persons is None else self.persons.take(rows)
        if not self.known:
            contents = Contents.of(classes, count, self.codes[rows], self.totals, persons)
            return self.constraint.holds(contents, self.levels)
        parts, number = number_classes([classes, *(codes[rows] for codes in self.known)])
        contents = Contents.of(parts, number, self.codes[rows], self.totals, persons)
        parent = np.empty(number, dtype=np.int64)
        parent[parts] = classes
        found = np.ones(count, dtype=np.bool_)
        found[parent[~self.constraint.holds(contents, self.levels)]] = False
        return found


class Allowed:
    """Judges classes: size and all constraints.

    Classes that are allowed stay so when they are joined, whatever the constraint, where each row is a person
    of its own. Where persons have several rows all conditions count persons, and those on the distribution of
    values may fail for two classes joined in which some persons are the same.

    Args:
        table: the table that is to be released, with the sensitive columns.
        k: the least number of persons.
        constraints: as `constraint` takes them.

    Attributes:
        constraints: as values.
        withheld: columns that serve the judgement only, and are not released.
        released: which rows may be released: all, unless a constraint selects, shape (n,).
        persons: of the rows, where some have several; else None.

    Raises:
        TableError: a sensitive column is not there or misses a cell.
        SpecError: k is below 1, a constraint is of no known form, or it selects rows of a population of which
            persons have several.
    """

    def __init__(self, table: Table, k: int, constraints: tuple[Any, ...] = ()) -> None:
        checked_k(k)
        self.k = k
        self.constraints = tuple(map(constraint, constraints))
        self.withheld = tuple(dict.fromkeys(one.column for one in self.constraints if one.withholds))
        self.released = np.ones(len(table), dtype=np.bool_)
        several = table.persons is not None and table.persons.repeat
        self.persons = table.persons if several else None
        self._judged: list[_Judged] = []
        for one in self.constraints:
            if several and one.selects:
                raise SpecError(
                    f"{one.name} counts rows of a population, and persons of this table have several.",
                    "Write rows_per_person = 1 below [roles], or leave the constraint out.",
                )
            codes, kinds = one.encode(table)
            table.complete(one.known)
            known = tuple(table.codes(column).codes for column in one.known)
            totals = totals_of(codes, kinds, self.persons)
            self._judged.append(_Judged(one, codes, totals, one.levels(table), known, self.persons))
            if one.selects:
                self.released &= codes == 1

    def unmet(self) -> str:
        """What the whole table as one class does not fulfil, as the end of a sentence; empty if nothing."""
        rows, classes = np.arange(len(self.released)), np.zeros(len(self.released), dtype=np.int64)
        for one in self._judged:
            if not one(rows, classes, 1)[0]:
                asked = one.constraint.guarantee((), "").parameters
                numbers = list_names([f"{name} = {value:g}" for name, value in asked.items()])
                kinds = int(np.count_nonzero(one.totals))
                return (
                    f"{one.constraint.name} with {numbers} of column {one.constraint.column!r}, "
                    f"which has {kinds} different values"
                )
        return ""

    @property
    def grows(self) -> bool:
        """Whether a class that is allowed stays so when any rows join it: size and distinct values do."""
        return all(one.constraint.grows and not one.known for one in self._judged)

    @property
    def is_by_size(self) -> bool:
        """Whether the number of rows is all that counts."""
        return not self._judged and self.persons is None

    @property
    def is_closed(self) -> bool:
        """Whether classes that are allowed stay so when they are joined."""
        return self.persons is None or self.grows

    @property
    def by_size(self) -> Allowed:
        """The same judge without the constraints on contents."""
        part = copy(self)
        part._judged = []
        return part

    def of(self, rows: Int) -> Allowed:
        """The same judge for a table of some rows; what t-closeness is measured against stays."""
        part = copy(self)
        part.released = self.released[rows]
        part.persons = None if self.persons is None else self.persons.take(rows)
        part._judged = [one.of(rows) for one in self._judged]
        return part

    def __call__(self, rows: Int, classes: Int, count: int) -> Bool:
        """Judge classes of some rows.

        Args:
            rows: places in the table, shape (r,).
            classes: of each of them, from 0, shape (r,).
            count: the number of classes.

        Returns:
            Of each class whether it may be released, shape (count,).
        """
        sizes = np.bincount(classes[self.released[rows]], minlength=count)
        allowed = sizes >= self.k
        if self.persons is not None:
            allowed &= self.persons.take(rows).in_classes(classes, count) >= self.k
        if any(one.constraint.selects for one in self._judged):
            allowed |= sizes == 0
        for one in self._judged:
            fine = np.flatnonzero(allowed)
            if not len(fine):
                break
            place = np.cumsum(allowed) - 1
            kept = allowed[classes]
            allowed[fine] = one(rows[kept], place[classes[kept]], len(fine))
        return allowed

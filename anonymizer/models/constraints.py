"""What a class has to fulfil to be released: privacy models as values."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping
from copy import copy
from dataclasses import MISSING, dataclass, fields
from typing import Any, Final, get_type_hints

import numpy as np
from numpy.typing import NDArray

from anonymizer.errors import SpecError, TableError
from anonymizer.risk.classes import Contents
from anonymizer.tables.roles import near
from anonymizer.tables.table import Table

Int = NDArray[np.int64]
Bool = NDArray[np.bool_]


@dataclass(frozen=True, slots=True)
class Constraint(ABC):
    """A condition on the values of one sensitive column in a class.

    Attributes:
        column: the sensitive column.
    """

    column: str

    @abstractmethod
    def holds(self, contents: Contents) -> Bool:
        """Of each class whether it fulfils the condition, shape (c,)."""

    def coded(self, table: Table) -> tuple[Int, int]:
        """The values of the column as codes, shape (n,), and how many there are.

        Raises:
            TableError: the column is not there, misses a cell, or holds something else than it should.
        """
        table.complete((self.column,))
        codes = table.codes(self.column)
        return codes.codes, len(codes.values)


@dataclass(frozen=True, slots=True)
class DistinctDiversity(Constraint):
    """At least l different values (Machanavajjhala et al., ICDE 2006).

    Attributes:
        l: the least number.
    """

    l: int = 2  # noqa: E741

    def holds(self, contents: Contents) -> Bool:
        """Of each class, shape (c,)."""
        return contents.distinct >= self.l


@dataclass(frozen=True, slots=True)
class EntropyDiversity(Constraint):
    """Entropy at least log l (Machanavajjhala et al., ICDE 2006).

    Attributes:
        l: at least 1; need not be whole.
    """

    l: float = 2.0  # noqa: E741

    def holds(self, contents: Contents) -> Bool:
        """Of each class, shape (c,)."""
        return contents.entropy >= self.l * (1 - 1e-12)


@dataclass(frozen=True, slots=True)
class RecursiveDiversity(Constraint):
    """Recursive (c, l)-diversity: the commonest value has fewer than c times the rows of the l-th and rarer.

    Attributes:
        c: positive.
        l: at least 2.
    """

    c: float = 2.0
    l: int = 2  # noqa: E741

    def holds(self, contents: Contents) -> Bool:
        """Of each class, shape (c,)."""
        return contents.recursive(self.l) < self.c


@dataclass(frozen=True, slots=True)
class Closeness(Constraint):
    """t-closeness: the values of a class are distributed nearly as in the table (Li et al., ICDE 2007).

    Attributes:
        t: the largest distance, in [0, 1].
        ordered: whether the values have an order, which numbers have.
    """

    t: float = 0.2
    ordered: bool = False

    def holds(self, contents: Contents) -> Bool:
        """Of each class, shape (c,)."""
        distance = contents.ordered_distance if self.ordered else contents.distance
        return distance <= self.t + 1e-12


@dataclass(frozen=True, slots=True)
class Presence(Constraint):
    """Delta-presence: who is in the data set cannot be told (Nergiz, Atzori and Clifton, SIGMOD 2007).

    The table is the population that an attacker knows, the column says who of it is in the data set; only
    these are released, and only these count for k.

    Attributes:
        column: of truth values, or of 0 and 1.
        low: the least part of a class that is in the data set, in [0, 1].
        high: the largest part.
    """

    low: float = 0.0
    high: float = 0.5

    def holds(self, contents: Contents) -> Bool:
        """Of each class, shape (c,)."""
        present = contents.values == 1
        inside = np.zeros(len(contents.sizes))
        inside[contents.classes[present]] = contents.shares[present]
        return (inside >= self.low - 1e-12) & (inside <= self.high + 1e-12)

    def coded(self, table: Table) -> tuple[Int, int]:
        """1 for who is in the data set, 0 for others."""
        table.complete((self.column,))
        codes = table.codes(self.column)
        if not all(value in {0, 1} for value in codes.values.tolist()):
            raise TableError(
                f"Column {self.column!r} does not say who is in the data set.", "Write true or false in it."
            )
        return codes.values.astype(np.int64)[codes.codes], 2


WORDS: Final[Mapping[str, type[Constraint]]] = {
    "delta-presence": Presence,
    "distinct-l-diversity": DistinctDiversity,
    "entropy-l-diversity": EntropyDiversity,
    "recursive-cl-diversity": RecursiveDiversity,
    "t-closeness": Closeness,
}
"""The constraints by the word that `model` names in specifications."""


def constraint(given: Any) -> Constraint:
    """A constraint, from itself or a table such as `{ model = "t-closeness", column = "income", t = 0.2 }`.

    Raises:
        SpecError: the table is of no known form.
    """
    if isinstance(given, Constraint):
        return given
    asked = given.get("model") if isinstance(given, Mapping) else given
    kind = WORDS.get(asked) if isinstance(asked, str) else None
    if kind is None or not isinstance(given, Mapping):
        raise SpecError(f"There is no constraint {asked!r}.", near(str(asked), sorted(WORDS)))
    known = {one.name: one.default is MISSING for one in fields(kind)}
    entries = {key: value for key, value in given.items() if key != "model"}
    for key in entries:
        if key not in known:
            raise SpecError(f"The constraint {asked} has an unknown key {key!r}.", near(key, tuple(known)))
    for key, needed in known.items():
        if needed and key not in entries:
            raise SpecError(f"The constraint {asked} lacks the key {key!r}.", 'Write column = "diagnosis".')
    hints = get_type_hints(kind)
    for key, value in entries.items():
        allowed = (int, float) if hints[key] is float else hints[key]
        if not isinstance(value, allowed) or isinstance(value, bool) is not (hints[key] is bool):
            raise SpecError(
                f"The constraint {asked}: {key} = {value!r} is of the wrong type.", "Correct the value."
            )
    return kind(**entries)


class Allowed:
    """Judges classes: size and all constraints.

    Classes that are allowed stay so when they are joined, whatever the constraint.

    Args:
        table: the table that is to be released, with the sensitive columns.
        k: the least number of rows.
        constraints: as `constraint` takes them.

    Attributes:
        presence: the column that says who is in the data set, if delta-presence is asked; else None.
        released: which rows may be released: all without `presence`, shape (n,).

    Raises:
        TableError: k is below 1, or a sensitive column is not there or misses a cell.
        SpecError: a constraint is of no known form.
    """

    def __init__(self, table: Table, k: int, constraints: tuple[Any, ...] = ()) -> None:
        if k < 1:
            raise TableError(f"k is {k}.", "Choose 1 or more.")
        self.k = k
        self.presence: str | None = None
        self.released = np.ones(len(table), dtype=np.bool_)
        self._judged: list[tuple[Constraint, Int, Int]] = []
        for one in map(constraint, constraints):
            codes, kinds = one.coded(table)
            self._judged.append((one, codes, np.bincount(codes, minlength=kinds)))
            if isinstance(one, Presence):
                self.presence = one.column
                self.released &= codes == 1

    @property
    def grows(self) -> bool:
        """Whether a class that is allowed stays so when any rows join it: size and distinct values do."""
        return all(isinstance(one, DistinctDiversity) for one, _, _ in self._judged)

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
        part._judged = [(one, codes[rows], totals) for one, codes, totals in self._judged]
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
        if self.presence is None:
            allowed = np.bincount(classes, minlength=count) >= self.k
        else:
            sizes = np.bincount(classes[self.released[rows]], minlength=count)
            allowed = (sizes >= self.k) | (sizes == 0)
        for one, codes, totals in self._judged:
            fine = np.flatnonzero(allowed)
            if not len(fine):
                break
            place = np.cumsum(allowed) - 1
            kept = allowed[classes]
            contents = Contents.of(place[classes[kept]], len(fine), codes[rows[kept]], totals)
            allowed[fine] = one.holds(contents)
        return allowed

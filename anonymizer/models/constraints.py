"""What a class has to fulfil to be released: privacy models as values."""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass
from typing import Any, Final

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


WORDS: Final = {
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
    try:
        word = given["model"]
        kind = WORDS[word]
        made: Constraint = kind(**{key: value for key, value in given.items() if key != "model"})
    except (TypeError, KeyError):
        asked = given.get("model") if isinstance(given, dict) else given
        raise SpecError(
            f"There is no constraint {asked!r} with these entries.", near(str(asked), sorted(WORDS))
        ) from None
    return made


class Allowed:
    """Judges classes: size and all constraints.

    Args:
        table: the table that is to be released, with the sensitive columns.
        k: the least number of rows.
        constraints: as `constraint` takes them.

    Raises:
        TableError: k is below 1, or a sensitive column is not there or misses a cell.
    """

    def __init__(self, table: Table, k: int, constraints: tuple[Any, ...] = ()) -> None:
        if k < 1:
            raise TableError(f"k is {k}.", "Choose 1 or more.")
        self._k = k
        self._judged: list[tuple[Constraint, Int, Int]] = []
        for one in map(constraint, constraints):
            table.complete((one.column,))
            codes = table.codes(one.column)
            self._judged.append((one, codes.codes, np.bincount(codes.codes, minlength=len(codes.values))))

    @property
    def grows(self) -> bool:
        """Whether classes that are allowed stay so when they are joined: size and distinct values do."""
        return all(isinstance(one, DistinctDiversity) for one, _, _ in self._judged)

    def __call__(self, rows: Int, classes: Int, count: int) -> Bool:
        """Judge classes of some rows.

        Args:
            rows: places in the table, shape (r,).
            classes: of each of them, from 0, shape (r,).
            count: the number of classes.

        Returns:
            Of each class whether it may be released, shape (count,).
        """
        allowed = np.bincount(classes, minlength=count) >= self._k
        for one, codes, totals in self._judged:
            if allowed.any():
                allowed &= one.holds(Contents.of(classes, count, codes[rows], totals))
        return allowed

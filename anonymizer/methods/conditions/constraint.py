"""What a condition on a class is."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass, field, fields
from typing import ClassVar, Final

import numpy as np
from numpy.typing import NDArray

from anonymizer.errors import SpecError
from anonymizer.releases.guarantee import Guarantee
from anonymizer.risk.classes import Contents
from anonymizer.tables.table import Table

Int = NDArray[np.int64]
Bool = NDArray[np.bool_]

LARGEST: Final = 1e9
"""No class is so diverse."""


@dataclass(frozen=True, slots=True)
class Constraint(ABC):
    """A condition on the values of one column in a class; classes that fulfil it do so when they are joined.

    Attributes:
        column: the sensitive column.
        known: sensitive columns that an attacker may know already of the person: the condition must hold as
            well among the rows of a class that agree in them. (Machanavajjhala et al., l-diversity, ACM TKDD
            2007, section 6.2, on several sensitive attributes.)
    """

    column: str
    known: tuple[str, ...] = field(default=(), kw_only=True)

    name: ClassVar[str]
    """The name in specifications, and of the guarantee."""
    grows: ClassVar[bool] = False
    """Whether it stays fulfilled whatever rows join a class."""
    withholds: ClassVar[bool] = False
    """Whether the column serves the judgement only, and is not released."""
    selects: ClassVar[bool] = False
    """Whether the column says which rows are released: its values are 1 and 0."""
    needs_disjoint: ClassVar[bool] = False
    """Whether every possible row may match the labels of one class at most."""

    @abstractmethod
    def holds(self, contents: Contents, levels: Sequence[Int]) -> Bool:
        """Of each class whether it fulfils the condition, shape (c,).

        Args:
            contents: what the classes hold.
            levels: as `levels` returns them.
        """

    def encode(self, table: Table) -> tuple[Int, int]:
        """The values of the column as codes, shape (n,), and how many there are.

        Raises:
            TableError: the column is not there, misses a cell, or holds something else than it should.
        """
        table.complete((self.column,))
        codes = table.codes(self.column)
        return codes.codes, len(codes.values)

    def levels(self, table: Table) -> Sequence[Int]:
        """Of each value its label, level by level; empty for conditions that need no hierarchy.

        Raises:
            HierarchyError: the column needs one and has none.
        """
        del table
        return ()

    def guarantee(self, columns: tuple[str, ...], method: str) -> Guarantee:
        """What a release promises whose classes fulfil the condition.

        Args:
            columns: that the classes are made of.
            method: the name of the method.
        """
        own = {one.name: getattr(self, one.name) for one in fields(self)}
        known = f"Among rows of a class that agree in {', '.join(self.known)} as well." if self.known else ""
        return Guarantee(
            self.name,
            # what makes the constraint again: of truth values those that are true, as 1
            {
                name: +value
                for name, value in own.items()
                if isinstance(value, int | float) and value is not False
            },
            columns=(*columns, self.column),
            condition=" ".join(filter(None, (known, self._condition()))),
            method=method,
            known=self.known,
        )

    def _condition(self) -> str:
        """What the guarantee says beside its numbers."""
        return ""


def within(model: str, name: str, value: float, least: float, most: float) -> None:
    """Check a parameter of a constraint.

    Raises:
        SpecError: it lies outside [least, most].
    """
    if not least <= value <= most:
        raise SpecError(
            f"{model}: {name} is {value}, outside [{least:g}, {most:g}].", "Choose a value in this range."
        )

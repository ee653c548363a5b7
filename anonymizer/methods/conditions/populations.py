"""Conditions by a column that is not released: who belongs together, and who of a population is released."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar, Final

import numpy as np
from numpy.typing import NDArray
from typing_extensions import override

from anonymizer.errors import TableError
from anonymizer.hierarchies.hierarchy import text_of
from anonymizer.methods.conditions.constraint import LARGEST, Constraint, within
from anonymizer.methods.conditions.groups import groups_of
from anonymizer.risk.classes import Contents
from anonymizer.tables.table import Table

Int = NDArray[np.int64]
Float = NDArray[np.float64]
Bool = NDArray[np.bool_]


_TRUTH: Final = {"true": 1, "1": 1, "false": 0, "0": 0}


@dataclass(frozen=True, slots=True)
class Groups(Constraint):
    """Each class has rows of at least k groups, such as households: a class of one family hides nobody.

    A missing cell is a person alone. (Persons in households: Templ, Statistical disclosure control for
    microdata, Springer 2017, chapter 3, the hierarchical files of sdcMicro.)

    Attributes:
        column: that says which rows belong together.
        k: the least number of groups.
    """

    name: ClassVar[str] = "k-groups"
    grows: ClassVar[bool] = True
    withholds: ClassVar[bool] = True
    k: int = 5

    def __post_init__(self) -> None:
        within("k-groups", "k", self.k, 2, LARGEST)

    @override
    def holds(self, contents: Contents, levels: Sequence[Int]) -> Bool:
        return contents.distinct >= self.k

    @override
    def encode(self, table: Table) -> tuple[Int, int]:
        """Each missing cell is a group of its own."""
        return groups_of(table, self.column)


@dataclass(frozen=True, slots=True)
class Selecting(Constraint):
    """The table is the population that an attacker knows; the column says who of it is in the data set.

    Only these are released, and only these count for the k of the method.

    Attributes:
        column: of truth values, of 0 and 1, or of their texts.
    """

    withholds: ClassVar[bool] = True
    selects: ClassVar[bool] = True

    @override
    def encode(self, table: Table) -> tuple[Int, int]:
        """1 for who is in the data set, 0 for others."""
        table.complete((self.column,))
        codes = table.codes(self.column)
        truths = [_TRUTH.get(text_of(value).lower(), -1) for value in codes.values.tolist()]
        if -1 in truths:
            raise TableError(
                f"Column {self.column!r} does not say who is in the data set.", "Write true or false in it."
            )
        return np.array(truths, dtype=np.int64)[codes.codes], 2


@dataclass(frozen=True, slots=True)
class Presence(Selecting):
    """Delta-presence: who is in the data set cannot be told (Nergiz, Atzori and Clifton, SIGMOD 2007).

    Attributes:
        low: the least part of a class that is in the data set, in [0, 1].
        high: the largest part.
    """

    name: ClassVar[str] = "delta-presence"
    needs_disjoint: ClassVar[bool] = True
    low: float = 0.0
    high: float = 0.5

    def __post_init__(self) -> None:
        within("delta-presence", "low", self.low, 0, self.high)
        within("delta-presence", "high", self.high, 0, 1)

    @override
    def holds(self, contents: Contents, levels: Sequence[Int]) -> Bool:
        inside = _inside(contents)
        return (inside >= self.low - 1e-12) & (inside <= self.high + 1e-12)


@dataclass(frozen=True, slots=True)
class KMap(Selecting):
    """k-map: each released row matches at least k people of the population, if not of the release.

    The k of the method may then be 1. (Sweeney, Computational disclosure control, PhD thesis, MIT 2001;
    El Emam and Dankar, Protecting privacy using k-anonymity, JAMIA 2008.)

    Attributes:
        k: the least number of people of the population in a class that is released.
    """

    name: ClassVar[str] = "k-map"
    grows: ClassVar[bool] = True
    k: int = 5

    def __post_init__(self) -> None:
        within("k-map", "k", self.k, 2, LARGEST)

    @override
    def holds(self, contents: Contents, levels: Sequence[Int]) -> Bool:
        """As `Constraint.holds`; classes that nobody is released of are let through."""
        found: Bool = (contents.sizes >= self.k) | (_inside(contents) == 0)
        return found

    @override
    def _condition(self) -> str:
        return "If the table that was given is the whole population."


def _inside(contents: Contents) -> Float:
    """The part of each class that is in the data set, shape (c,)."""
    present = contents.values == 1
    inside = np.zeros(len(contents.sizes))
    inside[contents.classes[present]] = contents.shares[present]
    return inside

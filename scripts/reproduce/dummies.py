"""Differential privacy with dummy data: sensitivities of queries that some tables leave undefined.

Fixed records r are put to every table, so that a query such as t, which has no value where all are alike, has
one. (epsilon', delta')-differential privacy then is what it is without them, for tables D + r and D' + r with
D and D' neighbours.

**The dummy records are not protected, and who knows them has an easier attack** (section 7.3): epsilon' of a
table with dummies is not epsilon of the table, and must not be printed as if it were.

Sensitivities are found here over a finite domain, by trying all neighbours: exact, for small tables and to
check formulas by.

Reference: thesis, Definitions 7.1 to 7.4 and Theorem 7.1; erratum 21.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from itertools import combinations_with_replacement
from math import comb, exp
from typing import Final

from anonymizer.dp.mechanisms import with_laplace
from anonymizer.errors import SpecError

Query = Callable[[Sequence[float]], float]
Records = tuple[float, ...]

_MAX_TABLES: Final = 200_000
"""Tables that are tried at the most."""


@dataclass(frozen=True)
class WithDummies:
    """A query with dummy records, over tables of records of a finite domain.

    Attributes:
        query: of all records, in whatever order, dummies included.
        dummies: r.
        domain: what a record can be.
    """

    query: Query
    dummies: Records
    domain: Records

    def __post_init__(self) -> None:
        if len(set(self.domain)) < 2:
            raise SpecError("A domain of one value has no neighbours.", "Name all values that there are.")

    def value(self, data: Records) -> float:
        """q(D + r)."""
        return self.query((*data, *self.dummies))

    def local(self, data: Records) -> float:
        """The local sensitivity at a table, with dummy data (Definition 7.3)."""
        here = self.value(data)
        return max(abs(self.value(other) - here) for other in self._neighbours(data))

    def overall(self, size: int) -> float:
        """The global sensitivity over tables of so many records (Definition 7.2).

        Raises:
            SpecError: there are too many of them to try.
        """
        return max(self.local(data) for data in self._tables(size))

    def smooth(self, data: Records, beta: float) -> float:
        """The smooth sensitivity at a table (Definition 7.4).

        Args:
            data: the table.
            beta: positive.

        Raises:
            SpecError: there are too many tables of its size to try.
        """
        return max(
            self.local(other) * exp(-beta * distance(data, other)) for other in self._tables(len(data))
        )

    def release(self, data: Records, epsilon: float) -> float:
        """q(D + r) with Laplace noise by the global sensitivity (Theorem 7.1).

        Args:
            data: the table.
            epsilon: epsilon', see the module for what it does not cover.
        """
        return float(with_laplace([self.value(data)], self.overall(len(data)), epsilon)[0])

    def _neighbours(self, data: Records) -> Iterator[Records]:
        for place, own in enumerate(data):
            for value in self.domain:
                if value != own:
                    yield (*data[:place], value, *data[place + 1 :])

    def _tables(self, size: int) -> Iterator[Records]:
        tables = comb(size + len(self.domain) - 1, size)
        if size < 1 or tables > _MAX_TABLES:
            raise SpecError(
                f"There are {tables:,} tables of {size} records.",
                f"Take from one record to so few that they have {_MAX_TABLES:,} tables, or a coarser domain.",
            )
        return combinations_with_replacement(sorted(set(self.domain)), size)


def distance(data: Records, other: Records) -> int:
    """How many records of one table have to be replaced for the other, in whatever order they stand."""
    left = list(other)
    for value in data:
        if value in left:
            left.remove(value)
    return len(left)

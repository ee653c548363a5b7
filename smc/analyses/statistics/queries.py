"""The four statistics: what each adds up locally, how sensitive it is, and how its result reads.

A statistic is a vector of integers that both parties add up over their own rows; one row, added or removed,
changes it by at most its sensitivity. Everything is exact integers in held units (real units times
10**scale).
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from bisect import bisect_right
from collections.abc import Sequence
from dataclasses import dataclass
from decimal import Decimal
from fractions import Fraction
from typing import Any, ClassVar, Final

from smc.analyses.base import Schema, Table
from smc.secret.laplace import DiscreteLaplace

MISS: Final = Fraction(1, 20)
"""An interval misses the true statistic with at most this probability."""


@dataclass(frozen=True, slots=True)
class Estimated:
    """A number in real units with its 95 % interval; None where there is none."""

    value: int | float | str | None
    lower: int | float | str | None
    upper: int | float | str | None


def real(held: int, scale: int) -> int | str:
    """A held integer in real units, exactly: an integer, or a decimal string if there is a scale."""
    return format(Decimal(held).scaleb(-scale), "f") if scale else held


def _around(value: int, width: int, scale: int = 0) -> Estimated:
    return Estimated(real(value, scale), real(value - width, scale), real(value + width, scale))


@dataclass(frozen=True, slots=True)
class Statistic(ABC):
    """A query, resolved against the schema of its column.

    Attributes:
        name: the query's.
        column: the column's name; empty for a count that names none.
        schema: the column's schema.
        epsilon: the query's part of epsilon.
    """

    kind: ClassVar[str]

    name: str
    column: str
    schema: Schema
    epsilon: Fraction

    @property
    @abstractmethod
    def rates(self) -> tuple[Fraction, ...]:
        """Epsilon / sensitivity of every entry of the vector."""

    @property
    @abstractmethod
    def sensitivity(self) -> int:
        """The most by which one row changes the entry that the noise scale is stated for, in held units."""

    @property
    def reach(self) -> int:
        """The largest absolute value that one row adds to an entry, in held units."""
        return self.sensitivity

    @abstractmethod
    def local(self, values: Sequence[int]) -> list[int]:
        """The vector over the own rows; `values` is the column, or any column for a count without one."""

    @abstractmethod
    def estimated(self, words: Sequence[int], laws: Sequence[DiscreteLaplace]) -> Estimated:
        """The result from the opened vector; `laws` is empty if there is no noise."""

    @property
    def noise_scale(self) -> Fraction:
        """Sensitivity / epsilon in the unit of the result."""
        return Fraction(self.sensitivity, 10**self.schema.scale) / self._epsilon_of_scale

    @property
    def _epsilon_of_scale(self) -> Fraction:
        return self.epsilon

    @property
    def unit(self) -> str:
        """The unit of the result."""
        return self.schema.unit

    def table(self, words: Sequence[int], laws: Sequence[DiscreteLaplace]) -> Table | None:
        """A table of its own, for statistics of several numbers."""
        del words, laws
        return None


class Count(Statistic):
    """The number of rows of both sides; one row changes it by 1."""

    __slots__ = ()
    kind = "count"

    @property
    def rates(self) -> tuple[Fraction, ...]:
        """One entry."""
        return (self.epsilon,)

    @property
    def sensitivity(self) -> int:
        """1."""
        return 1

    @property
    def noise_scale(self) -> Fraction:
        """1 / epsilon, in rows."""
        return 1 / self.epsilon

    @property
    def unit(self) -> str:
        """Rows."""
        return "rows"

    def local(self, values: Sequence[int]) -> list[int]:
        """The own row count."""
        return [len(values)]

    def estimated(self, words: Sequence[int], laws: Sequence[DiscreteLaplace]) -> Estimated:
        """The count."""
        return _around(words[0], laws[0].half_width(MISS) if laws else 0)


@dataclass(frozen=True, slots=True)
class Sum(Statistic):
    """The sum of a column, every value clamped to [lower, upper].

    Attributes:
        lower: clamping bound in held units.
        upper: the same.
    """

    kind: ClassVar[str] = "sum"

    lower: int
    upper: int

    @property
    def rates(self) -> tuple[Fraction, ...]:
        """One entry."""
        return (self.epsilon / self.sensitivity,)

    @property
    def sensitivity(self) -> int:
        """The larger of |lower| and |upper|."""
        return max(abs(self.lower), abs(self.upper))

    def local(self, values: Sequence[int]) -> list[int]:
        """The own clamped sum."""
        return [sum(min(max(value, self.lower), self.upper) for value in values)]

    def estimated(self, words: Sequence[int], laws: Sequence[DiscreteLaplace]) -> Estimated:
        """The sum, exact in the column's decimals."""
        return _around(words[0], laws[0].half_width(MISS) if laws else 0, self.schema.scale)


@dataclass(frozen=True, slots=True)
class Mean(Sum):
    """The mean of a clamped column: noisy sum about the centre of the bounds, and noisy count.

    Each has half of the query's epsilon. The interval covers the mean whenever both noises are within
    their own 97.5 % intervals.
    """

    kind: ClassVar[str] = "mean"

    @property
    def centre(self) -> int:
        """The point that values are counted from, in held units."""
        return (self.lower + self.upper) // 2

    @property
    def rates(self) -> tuple[Fraction, ...]:
        """The centred sum, and the count."""
        return (self.epsilon / (2 * self.sensitivity), self.epsilon / 2)

    @property
    def sensitivity(self) -> int:
        """Of the centred sum."""
        return self.upper - self.centre

    @property
    def reach(self) -> int:
        """Of the centred sum or the count."""
        return max(1, self.sensitivity)

    @property
    def _epsilon_of_scale(self) -> Fraction:
        return self.epsilon / 2

    def local(self, values: Sequence[int]) -> list[int]:
        """The own clamped and centred sum, and the own row count."""
        # not super(): a dataclass with slots is another class than the one the body saw
        return [Sum.local(self, values)[0] - len(values) * self.centre, len(values)]

    def estimated(self, words: Sequence[int], laws: Sequence[DiscreteLaplace]) -> Estimated:
        """The mean.

        It is None where the noisy count is not positive; its interval is all of [lower, upper] where the
        count's interval reaches 0.
        """
        total, count = words
        value = self._real(Fraction(total, count)) if count > 0 else None
        widths = [law.half_width(MISS / 2) for law in laws] or [0, 0]
        counts = (count - widths[1], count + widths[1])
        if counts[0] <= 0:
            return Estimated(
                value, self._real(self.lower - self.centre), self._real(self.upper - self.centre)
            )
        lowest = min(Fraction(total - widths[0], rows) for rows in counts)
        highest = max(Fraction(total + widths[0], rows) for rows in counts)
        return Estimated(value, self._real(lowest), self._real(highest))

    def _real(self, centred: Fraction | int) -> float:
        return float((self.centre + centred) / Fraction(10) ** self.schema.scale)


@dataclass(frozen=True, slots=True)
class Histogram(Statistic):
    """Row counts by bin; one row is in at most one bin, so the vector changes by at most 1 in one entry.

    Attributes:
        labels: the bins' names.
        edges: increasing bin edges in held units, bins [a, b) and the last [a, b]; empty for categories.
        indices: the categories' indices in the schema, one per bin; empty for edges.
    """

    kind: ClassVar[str] = "histogram"

    labels: tuple[str, ...]
    edges: tuple[int, ...]
    indices: tuple[int, ...]

    @property
    def rates(self) -> tuple[Fraction, ...]:
        """One entry per bin."""
        return (self.epsilon,) * len(self.labels)

    @property
    def sensitivity(self) -> int:
        """1."""
        return 1

    @property
    def noise_scale(self) -> Fraction:
        """1 / epsilon, in rows."""
        return 1 / self.epsilon

    @property
    def unit(self) -> str:
        """Rows."""
        return "rows"

    def local(self, values: Sequence[int]) -> list[int]:
        """The own counts; rows outside all bins are in none."""
        counts = [0] * len(self.labels)
        places = {index: place for place, index in enumerate(self.indices)}
        for value in values:
            place = self._bin(value) if self.edges else places.get(value)
            if place is not None:
                counts[place] += 1
        return counts

    def _bin(self, value: int) -> int | None:
        if not self.edges[0] <= value <= self.edges[-1]:
            return None
        return min(bisect_right(self.edges, value), len(self.labels)) - 1

    def estimated(self, words: Sequence[int], laws: Sequence[DiscreteLaplace]) -> Estimated:
        """Nothing in the common table: the counts have their own."""
        del words, laws
        return Estimated(None, None, None)

    def table(self, words: Sequence[int], laws: Sequence[DiscreteLaplace]) -> Table:
        """Bin, count and interval; each interval holds for its own bin."""
        widths = [law.half_width(MISS) for law in laws[:1]] * len(words) or [0] * len(words)
        rows = [_around(word, width) for word, width in zip(words, widths, strict=True)]
        columns: dict[str, Sequence[Any]] = {
            "bin": list(self.labels),
            "count": [row.value for row in rows],
            "lower_95": [row.lower for row in rows],
            "upper_95": [row.upper for row in rows],
        }
        return Table(self.name, columns)

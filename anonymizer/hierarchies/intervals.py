"""Hierarchies of numbers: wider and wider intervals."""

from __future__ import annotations

from collections.abc import Callable, Collection, Sequence
from decimal import ROUND_FLOOR, Decimal
from itertools import pairwise
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray
from typing_extensions import override

from anonymizer.errors import HierarchyError
from anonymizer.hierarchies.hierarchy import ANY, Hierarchy, Level, text_of

Int = NDArray[np.int64]
Float = NDArray[np.float64]

_MAX_INTERVALS: Final = 1_000_000
"""Intervals of one level."""

_DIGITS: Final = 15
"""That double precision tells apart."""


class IntervalHierarchy(Hierarchy):
    """Intervals between boundaries, level by level, then `*`.

    A label is `[a, b)`, closed on the left; the first interval of a level may be open below, `< b`, and the
    last one above, `>= a`. Two levels nest if the boundaries of the coarser are among those of the finer.

    Args:
        levels: increasing boundaries of level 1, of level 2 and so on, at least two each; with `open_ends` at
            least one.
        open_ends: whether values below the first and from the last boundary on have intervals of their own;
            else the last interval includes its upper end, and other values are not covered.
        bounds: with `open_ends` the least and the largest number that there can be, by which the loss is
            measured; None is the outermost boundaries, as if nothing lay beyond them.

    Raises:
        HierarchyError: boundaries do not increase, or levels do not nest.
    """

    def __init__(
        self,
        levels: Sequence[Sequence[float] | Float],
        *,
        open_ends: bool = False,
        bounds: tuple[float, float] | None = None,
    ) -> None:
        self._levels = [np.asarray(level, dtype=np.float64) for level in levels]
        self._open = open_ends
        least = 1 if open_ends else 2
        if not self._levels:
            raise HierarchyError("There are no levels.", "Write, for example, levels = [[0, 18, 65, 120]].")
        for number, level in enumerate(self._levels, 1):
            if len(level) < least or not np.isfinite(level).all() or (np.diff(level) <= 0).any():
                raise HierarchyError(
                    f"Level {number}: the boundaries do not increase, or are fewer than {least}.",
                    "Write them in increasing order.",
                )
        for number, (fine, coarse) in enumerate(pairwise(self._levels), 1):
            if not np.isin(coarse, fine).all():
                raise HierarchyError(
                    f"Level {number + 1} has a boundary that level {number} lacks.",
                    "Take the boundaries of a level from the level below.",
                )
        finest = self._levels[0]
        self._ends = (float(finest[0]), float(finest[-1])) if bounds is None else bounds
        if bounds is not None and not (open_ends and bounds[0] <= finest[0] and finest[-1] <= bounds[1]):
            raise HierarchyError(
                f"The bounds {bounds[0]:g} and {bounds[1]:g} do not enclose the boundaries of level 1.",
                "Write lower and upper outside of them, with open_ends = true.",
            )

    @classmethod
    def of_widths(cls, lower: float, upper: float, widths: Sequence[float]) -> IntervalHierarchy:
        """Intervals of equal width from `lower` until `upper` is covered, one level a width.

        Args:
            lower: where the first interval begins.
            upper: the largest value to cover.
            widths: increasing, each a multiple of the one before.

        Raises:
            HierarchyError: a width is not positive, or levels do not nest.
        """
        ends = [lower, upper, *widths]
        if not widths or not np.isfinite(ends).all() or min(widths) <= 0 or not upper > lower:
            raise HierarchyError(
                "Intervals need positive widths and an upper bound above the lower, all of them finite.",
                "Write widths = [10, 20], lower = 0, upper = 120; for values beyond the bounds write "
                "levels = [...] with open_ends = true.",
            )
        if (upper - lower) / min(widths) > _MAX_INTERVALS:
            raise HierarchyError(
                f"Intervals of width {min(widths):g} from {lower:g} to {upper:g} "
                f"are more than {_MAX_INTERVALS:,}.",
                "Write larger widths, or nearer bounds.",
            )
        span = np.ceil((upper - lower) / widths[-1]) * widths[-1]
        return cls([lower + width * np.arange(round(span / width) + 1) for width in widths])

    @property
    def boundaries(self) -> tuple[tuple[float, ...], ...]:
        """Of each level, the finest first."""
        return tuple(tuple(level.tolist()) for level in self._levels)

    @property
    @override
    def height(self) -> int:
        """The levels of intervals, and `*`."""
        return len(self._levels) + 1

    @override
    def bind(self, values: NDArray[Any], column: str) -> tuple[Level, ...]:
        """The levels over the given numbers; loss is a part of the range between the outermost boundaries."""
        numbers = _numbers(values, column)
        own = Level(tuple(map(text_of, values)), np.arange(len(values)), np.zeros(len(values)))
        levels = [self._cut(bounds, numbers, column) for bounds in self._levels]
        top = Level((ANY,), np.zeros(len(values), dtype=np.int64), np.ones(1))
        return (own, *levels, top)

    @override
    def spans(self, level: int, column: str) -> tuple[tuple[str, ...], Float]:
        """The intervals of a level; what is open at its upper end ends at the number before."""
        if level == self.height:
            return (ANY,), np.array([[-np.inf, np.inf]])
        del column
        bounds = self._levels[level - 1]
        places = range(0 if self._open else 1, len(bounds) + self._open)
        ends = np.concatenate(([-np.inf], bounds, [np.inf]))
        upper = np.nextafter(ends[1:], -np.inf)
        if not self._open:
            upper[len(bounds) - 1] = bounds[-1]
        found = np.array([[ends[place], upper[place]] for place in places])
        return tuple(self._label(bounds, place) for place in places), found

    def _cut(self, bounds: Float, numbers: Float, column: str) -> Level:
        places = np.searchsorted(bounds, numbers, side="right")
        if not self._open:
            places[numbers == bounds[-1]] = len(bounds) - 1
            outside = (places == 0) | (places == len(bounds))
            if outside.any():
                raise HierarchyError(
                    f"Column {column!r} has the value {text_of(numbers[outside][0])!r}, outside "
                    f"[{text_of(bounds[0])}, {text_of(bounds[-1])}] of its hierarchy.",
                    "Widen the outermost interval, or set open_ends.",
                )
        used, groups = np.unique(places, return_inverse=True)
        least, largest = self._ends
        whole = max(largest - least, np.finfo(np.float64).tiny)
        ends = np.concatenate(([least], bounds, [largest]))
        loss = np.clip((ends[used + 1] - ends[used]) / whole, 0, 1)
        return Level(tuple(self._label(bounds, int(place)) for place in used), groups.astype(np.int64), loss)

    def _label(self, bounds: Float, place: int) -> str:
        if place == 0:
            return f"< {text_of(bounds[0])}"
        if place == len(bounds):
            return f">= {text_of(bounds[-1])}"
        closing = "]" if place == len(bounds) - 1 and not self._open else ")"
        return f"[{text_of(bounds[place - 1])}, {text_of(bounds[place])}{closing}"


class EqualFrequencyHierarchy(Hierarchy):
    """Intervals with about equally many rows of a table, open at both ends.

    Each boundary has as few digits as part the rows alike, so that it is a number of the table only where the
    next smaller one is that near; it is never the least or the largest.

    Args:
        counts: decreasing numbers of intervals, one a level, each dividing the one before.

    Raises:
        HierarchyError: the counts do not divide each other.
    """

    def __init__(self, counts: Sequence[int]) -> None:
        _check_counts(counts)
        self._counts = tuple(counts)

    @property
    @override
    def height(self) -> int:
        """The levels of intervals, and `*`."""
        return len(self._counts) + 1

    @override
    def bind(self, values: NDArray[Any], column: str) -> tuple[Level, ...]:
        """As `equal_frequency` of the given values, each once; a table's own hierarchy is `fit_to`."""
        return self.fit_to(column, lambda _: (values, np.arange(len(values)))).bind(values, column)

    @property
    @override
    def needs_table(self) -> bool:
        return True

    @override
    def fit_to(
        self,
        column: str,
        cells: Callable[[str], tuple[NDArray[Any], Int]],
        public: Collection[str] = (),
    ) -> Hierarchy:
        """The intervals for the numbers of a table."""
        values, codes = cells(column)
        numbers = _numbers(values, column)[codes[codes >= 0]]
        if not len(numbers):
            raise HierarchyError(
                f"Column {column!r} has no numbers to build intervals of.", "Give another hierarchy."
            )
        return equal_frequency(numbers, self._counts, open_ends=True)


def equal_frequency(
    values: Sequence[float] | Float, counts: Sequence[int], *, open_ends: bool = False
) -> IntervalHierarchy:
    """Intervals that hold about equally many of the values.

    Args:
        values: the values of a column, with repetitions.
        counts: decreasing numbers of intervals, one a level, each dividing the one before.
        open_ends: whether the outermost intervals are open, so that no label tells the least and the largest
            value.

    Raises:
        HierarchyError: the counts do not divide each other, or there are no values.
    """
    _check_counts(counts)
    numbers = np.sort(np.asarray(values, dtype=np.float64))
    if not len(numbers):
        raise HierarchyError("Equal-frequency intervals need values.", "Give at least one.")
    places = np.linspace(0, len(numbers) - 1, counts[0] + 1).round().astype(np.int64)
    if open_ends:
        return _inner(numbers, places, counts)
    finest = numbers[places]
    levels = [np.unique(finest[:: counts[0] // count]) for count in counts]
    if len(levels[0]) < 2:
        levels = [np.array([numbers[0], numbers[0] + 1])]
    return IntervalHierarchy(levels)


def _inner(numbers: Float, places: Int, counts: Sequence[int]) -> IntervalHierarchy:
    """Intervals at the boundaries that lie above the least number; half of the others if that is most."""
    levels: list[Float] = []
    values = np.unique(numbers)
    below = dict(zip(values[1:].tolist(), values[:-1].tolist(), strict=True))
    for count in counts:
        bounds = np.unique(numbers[places[1:-1][counts[0] // count - 1 :: counts[0] // count]])
        bounds = bounds[bounds > numbers[0]]
        if len(bounds) and (not levels or len(bounds) < len(levels[-1])):
            levels.append(bounds)
    above = numbers[numbers > numbers[0]]
    if not levels:
        levels = [above[len(above) // 2 :][:1] if len(above) else numbers[:1]]
    levels = [np.array([_roundest(below.get(end, end), end) for end in level.tolist()]) for level in levels]
    return IntervalHierarchy(levels, open_ends=True, bounds=(float(numbers[0]), float(numbers[-1])))


def _roundest(below: float, number: float) -> float:
    """A number with as few digits as there is above one number and up to another one."""
    if not below < number:
        return number
    if below < 0 <= number:
        return 0.0
    exact, least = Decimal(number), Decimal(below)
    first = max(exact.adjusted(), least.adjusted())
    for place in range(first, first - _DIGITS, -1):
        for near in ((exact + least) / 2, exact):
            found = near.quantize(Decimal(1).scaleb(place), ROUND_FLOOR)
            if least < found and below < float(found) <= number:
                return float(found)
    return number


def _check_counts(counts: Sequence[int]) -> None:
    whole = all(isinstance(count, int) and 0 < count <= _MAX_INTERVALS for count in counts)
    if not counts or not whole or any(a % b or a == b for a, b in pairwise(counts)):
        raise HierarchyError(
            "Equal-frequency intervals need decreasing numbers of intervals that divide each other.",
            "Write counts such as [16, 4, 2].",
        )


def _numbers(values: NDArray[Any], column: str) -> Float:
    try:
        return values.astype(np.float64)
    except (TypeError, ValueError):
        found = next((value for value in values.tolist() if not _is_number(value)), "")
        raise HierarchyError(
            f"Column {column!r} holds {text_of(found)!r}, which is not a number as its hierarchy needs.",
            "Correct the cell, or declare such cells missing by missing_tokens below [csv].",
        ) from None


def _is_number(value: Any) -> bool:
    try:
        float(value)
    except (TypeError, ValueError):
        return False
    return True

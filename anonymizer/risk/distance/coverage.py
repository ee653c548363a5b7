"""(y, p)-coverage: the part of the released records whose partner in the best pairing is within y.

Reference: the RoD paper, section 3.2.1 and Algorithm 1 (zeta and xi there are one count; the coverage is
fulfilled if the part is p or less, erratum 22). The paper's tables have one size (erratum 42); of tables of
different sizes each record of the smaller one has a partner, and the part is of these.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from anonymizer.errors import TableError
from anonymizer.risk.attacks.outcome import Rate
from anonymizer.risk.distance.matching import Matched, cheapest_matching
from anonymizer.risk.distance.space import Float, nearest


@dataclass(frozen=True, slots=True)
class Coverage:
    """The part of the records that a pairing finds within y.

    Attributes:
        y: the distance.
        part: p', in [0, 1].
        interval: the ends of what it can be: both p' where it is exact; else from the lower end of the
            samples' 95 % interval to the part of the records that have any original one within y, which no
            pairing exceeds.
        is_exact: whether the pairing is of the whole tables.
    """

    y: float
    part: float
    interval: tuple[float, float]
    is_exact: bool

    def fulfils(self, p: float) -> bool:
        """Whether (y, p)-coverage is fulfilled, also if p' is at the upper end of its interval."""
        return self.interval[1] <= p


def coverage(original: Float, release: Float, y: float, seed: int | None = None) -> Coverage:
    """Measure (y, p)-coverage; see `coverages`."""
    return coverages(original, release, (y,), seed)[0]


def coverages(
    original: Float, release: Float, distances: Sequence[float], seed: int | None = None
) -> tuple[Coverage, ...]:
    """Measure (y, p)-coverage for several y by one pairing.

    Args:
        original: shape (m, d).
        release: shape (n, d).
        distances: the values of y, each 0 or more.
        seed: of samples where the tables are large; None is the operating system's randomness.

    Raises:
        TableError: a table has no rows, or a y is negative.
    """
    for y in distances:
        if not y >= 0:
            raise TableError(f"The distance y = {y:g} is negative.", "Give 0 or more.")
    found = cheapest_matching(release, original, seed)
    least = None if found.is_exact else nearest(release, original)
    return tuple(_coverage(found, least, y) for y in distances)


def _coverage(found: Matched, least: Float | None, y: float) -> Coverage:
    close = int((found.distances <= y).sum())
    part = close / len(found.distances)
    if least is None:
        return Coverage(y, part, (part, part), True)
    lower, _ = Rate(close, len(found.distances)).interval(0.95)
    upper = float((least <= y).mean())
    return Coverage(y, min(part, upper), (min(lower, upper), upper), False)

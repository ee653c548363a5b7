"""How near a release, a synthetic one too, comes to the records that it was made of, as measures.

Reference: the RoD paper, sections 3.1 and 3.2; see `anonymizer.risk.distance`.
"""

from __future__ import annotations

import sys
from dataclasses import dataclass
from math import log2
from typing import Final

import numpy as np
from typing_extensions import override

from anonymizer.measures.contract.measure import Case, Measure, Need
from anonymizer.measures.contract.story import Grid, Presentation, Tile, number, percent
from anonymizer.measures.risk.points import OfPoints, Points
from anonymizer.risk.distance.coverage import Coverage, coverages
from anonymizer.risk.distance.hitting import hitting_rate
from anonymizer.risk.distance.matching import EXACT_ROWS, REPEATS, SAMPLE_ROWS
from anonymizer.risk.distance.p_privacy import PPrivacy, p_privacy
from anonymizer.risk.distance.space import MAX_TREE, codes_of_both
from anonymizer.risk.distance.voronoi import VoronoiPrivacy, voronoi_privacy
from anonymizer.risk.distance.y_privacy import YPrivacy, y_privacy

NEAR: Final = (0.01, 0.02, 0.05, 0.1, 0.2)
"""The values of y at which coverage is reported."""


def searching(rows: int, columns: int) -> float:
    """What it costs to find the nearest neighbour of each row, as `Measure.cost` counts.

    By a tree the boxes that are looked at grow with the columns, up to all rows.
    """
    seen = rows if columns > MAX_TREE else min(float(rows), 20.0 * 1.6**columns * log2(rows + 2))
    return rows * seen * columns / 100 + 100.0 * rows * columns


@dataclass(frozen=True, slots=True)
class Hits:
    """Released rows that occur in the original.

    Attributes:
        rate: the part of the released rows.
        repeated: the part of the original's rows that occur in it more than once.
        columns: that are compared.
    """

    rate: float
    repeated: float
    columns: int


class HittingRate(Measure[Hits]):
    """Released rows that are rows of the original, cell by cell."""

    name = "hitting-rate"
    title = "Hitting rate"
    kind = "risk"
    counts_rows = True
    needs = (Need.COLUMN,)
    passes = 100.0  # columns are coded, and rows sorted

    @override
    def measure(self, case: Case) -> Hits:
        """As `hitting_rate`, of all shared columns."""
        cells = [codes_of_both(case.original, case.release, name) for name in case.shared]
        rows = np.stack(cells, axis=1).astype(np.float64)
        original, release = rows[: len(case.original)], rows[len(case.original) :]
        _, places, counts = np.unique(original, axis=0, return_inverse=True, return_counts=True)
        repeated = float((counts[places.reshape(-1)] > 1).mean())
        return Hits(hitting_rate(original, release), repeated, len(case.shared))

    @override
    def describe(self, found: Hits) -> Presentation:
        """The rate, beside the part of the rows that the original repeats."""
        return Presentation(
            values={"rate": found.rate, "repeated": found.repeated, "columns": found.columns},
            lines=[("hitting rate", f"{found.rate:.2%} of the released rows occur in the original")],
            text="Released rows that are equal to a row of the original in all shared columns. A low rate "
            "proves nothing, a little noise gives it; a high one shows copies where few rows of the original "
            "are alike.",
            facts=[
                ("Released rows that occur in the original", percent(found.rate)),
                ("Rows of the original that occur there more than once", percent(found.repeated)),
                ("Columns compared", str(found.columns)),
            ],
        )


class CoverageMeasure(OfPoints[tuple[Coverage, ...]]):
    """(y, p)-coverage."""

    name = "coverage"
    title = "(y, p)-coverage"
    kind = "risk"

    @override
    def cost(self, rows: int, columns: int) -> float:
        """One pairing, or those of samples and the nearest neighbours."""
        if rows <= EXACT_ROWS:
            return float(rows) ** 3 / 10
        return REPEATS * float(SAMPLE_ROWS) ** 3 / 10 + searching(rows, columns)

    @override
    def between(self, placed: Points, seed: int | None) -> tuple[Coverage, ...]:
        """As `coverages`, at the distances of `NEAR`."""
        return coverages(placed.original, placed.release, NEAR, seed)

    @override
    def describe_distance(self, one: tuple[Coverage, ...]) -> Presentation:
        """The part within each y, with what it can be."""
        how = "exact" if one[0].is_exact else f"of {REPEATS} samples of {SAMPLE_ROWS} rows"
        return Presentation(
            values={
                "is_exact": one[0].is_exact,
                "by_distance": [
                    {"y": each.y, "part": each.part, "interval": list(each.interval)} for each in one
                ],
            },
            lines=[("coverage", f"{each.part:.2%} within {each.y:g}") for each in one if each.y == 0.05],
            text="Released and original rows are paired one to one, so that the sum of the distances is "
            "least. The release fulfils (y, p)-coverage where at most the part p of the pairs lies within y.",
            facts=[("Pairing", how)],
            grids=[
                Grid(
                    "p' for each y; where the pairing is of samples, the interval reaches from the lower end "
                    "of the samples' 95 % interval to the part of the rows with any original within y.",
                    ("y", "p'", "Interval"),
                    [
                        (
                            number(each.y),
                            percent(each.part),
                            f"{percent(each.interval[0])} – {percent(each.interval[1])}",
                        )
                        for each in one
                    ],
                )
            ],
        )


class YPrivacyMeasure(OfPoints[YPrivacy]):
    """How far released rows are from the nearest original one."""

    name = "y-privacy"
    title = "y-privacy"
    kind = "risk"

    @override
    def cost(self, rows: int, columns: int) -> float:
        """The nearest neighbour of each row."""
        return searching(rows, columns)

    @override
    def between(self, placed: Points, seed: int | None) -> YPrivacy:
        return y_privacy(placed.original, placed.release)

    @override
    def describe_distance(self, one: YPrivacy) -> Presentation:
        """Minimum, median, mean and maximum."""
        return Presentation(
            values={
                "minimum": one.minimum,
                "median": one.median,
                "mean": one.mean,
                "maximum": one.maximum,
            },
            lines=[("y-privacy", f"y = {one.minimum:.4g} at the least, {one.median:.4g} in the median")],
            cards=[Tile(number(one.minimum), "least distance of a released to an original row", worst=True)],
            text="The distance from each released row to the nearest original one; larger is safer. The "
            "least is y: no original row is nearer to a released one than that. In dense tables it is "
            "small whatever was done.",
            facts=[
                ("Least (y)", number(one.minimum)),
                ("Median", number(one.median)),
                ("Mean", number(one.mean)),
                ("Largest", number(one.maximum)),
            ],
        )


class VoronoiMeasure(OfPoints[VoronoiPrivacy]):
    """How far the release is from the points at which nobody could say whom they are of."""

    name = "voronoi-privacy"
    title = "Voronoi privacy"
    kind = "risk"

    @override
    def cost(self, rows: int, columns: int) -> float:
        """Nearest neighbours of both tables, and the earth mover's distance."""
        exact = float(min(rows, EXACT_ROWS)) ** 3 / 10
        return 2 * searching(rows, columns) + exact + 500.0 * rows

    @override
    def between(self, placed: Points, seed: int | None) -> VoronoiPrivacy:
        return voronoi_privacy(placed.original, placed.release, seed)

    @override
    def describe_distance(self, one: VoronoiPrivacy) -> Presentation:
        """The three distances."""
        paired, moved = one.assignment, one.earth_mover
        by_pairs = "tables of different sizes have no pairing"
        if paired is not None:
            how = "exact" if paired.is_exact else "an upper bound from samples"
            by_pairs = f"{number(paired.mean)} ({how})"
        way = "exact" if moved.is_exact else "sliced, a lower bound"
        return Presentation(
            values={
                "nearest": one.nearest,
                "assignment": None if paired is None else paired.mean,
                "assignment_is_exact": paired is not None and paired.is_exact,
                "earth_mover": moved.mean,
                "earth_mover_is_exact": moved.is_exact,
            },
            lines=[("voronoi privacy", f"{one.nearest:.4g} by nearest neighbour, {moved.mean:.4g} moved")],
            text="Halfway between an original row and its nearest neighbour nobody can say whose a released "
            "row is. These midpoints are the safest table that stays near the original; the figure is how "
            "far the release is from it. The paper takes a larger distance for less risk; one near 0 says "
            "that rows lie as close to the original as they can without pointing at anybody.",
            facts=[
                ("By nearest neighbour", number(one.nearest)),
                ("By assignment", by_pairs),
                ("By earth mover's distance", f"{number(moved.mean)} ({way})"),
            ],
        )


class PPrivacyMeasure(Measure[PPrivacy]):
    """How well guesses hit that are put together from what the release holds."""

    name = "p-privacy"
    title = "p-privacy"
    kind = "risk"

    @override
    def lacks(self, case: Case) -> str:
        """It needs columns without gaps."""
        return "" if self.columns(case) else "original and release share no column without missing cells"

    @override
    def columns(self, case: Case) -> tuple[str, ...]:
        """The shared columns without missing cells."""
        tables = (case.original, case.release)
        return tuple(n for n in case.shared if not any(table.missing(n).any() for table in tables))

    @override
    def cost(self, rows: int, columns: int) -> float:
        """Columns are coded, and each pair is tabulated, which takes a while for the shortest table too."""
        return 100.0 * rows * columns + (2_000.0 + 5.0 * rows) * columns**2

    @override
    def measure(self, case: Case) -> PPrivacy:
        """As `p_privacy`; the groups of columns are found in the release."""
        return p_privacy(case.original, case.release, self.columns(case))

    @override
    def describe(self, found: PPrivacy) -> Presentation:
        """p, and what it is made of."""
        # of hundreds of columns there are more rows to put together than a float can count
        candidates = float(min(found.candidates, int(sys.float_info.max)))
        return Presentation(
            values={
                "p": found.p,
                "hits": found.hits,
                "candidates": candidates,
                "groups": [list(group) for group in found.groups],
            },
            lines=[("p-privacy", f"p = {found.p:.4g}")],
            text="An attacker puts together the values of columns that belong together in the release, in "
            "all ways. p is the part of these rows that are original, times the part of the original that is "
            "found; smaller is safer.",
            facts=[
                ("p", number(found.p)),
                ("Original rows that are guessed", f"{found.hits:,}"),
                ("Guesses", number(candidates)),
                ("Columns taken together", "; ".join(", ".join(group) for group in found.groups)),
            ],
        )

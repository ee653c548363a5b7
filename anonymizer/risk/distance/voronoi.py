"""Voronoi privacy: how far a release is from the points at which an attacker could not say whom they are of.

Around each original record lies the region of the points that are nearer to it than to any other. The
released record that is hardest to link lies on a boundary; the point of a boundary that is nearest to a
record is the midpoint between it and its nearest neighbour, in any dimension, so that no diagram is needed
(erratum 24). These midpoints are the table D-hat, and the measure is its distance from the release D: larger
is safer.

D and D-hat are sets, whose rows have no partners (erratum 42). Three distances of sets are here:

    nearest      mean over D of the distance to the nearest point of D-hat; any size
    assignment   mean over the cheapest one-to-one pairing; tables of one size, see `coverage`
    earth mover  least mean way that the mass of D has to go to become D-hat; exact to a stated size, beyond
                 it the mean over random directions (sliced), which is smaller

The paper does not say which it took. In the units of the columns, with a table rebuilt from its footnote, the
assignment comes nearest to its Table 1 (`scripts/reproduce/rod`).

Records that are equal have one region, and one midpoint: it counts as often as they do. A table whose records
are all equal has no boundary.
Reference: the RoD paper, section 3.2.3 and Algorithm 3.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

import numpy as np

from anonymizer.errors import TableError
from anonymizer.risk.distance.earth_mover import Moved, earth_mover
from anonymizer.risk.distance.matching import Matched, cheapest_matching
from anonymizer.risk.distance.space import Float, nearest, neighbours

MAX_DISTINCT: Final = 50_000_000
"""Coordinates of distinct records: beyond, the search would not fit into memory."""


@dataclass(frozen=True, slots=True)
class VoronoiPrivacy:
    """The distance of a release from D-hat; larger is safer.

    Attributes:
        nearest: mean over the released records of the distance to the nearest point of D-hat.
        assignment: mean distance of the cheapest pairing; None where the sizes differ.
        earth_mover: mean way of the mass.
    """

    nearest: float
    assignment: Matched | None
    earth_mover: Moved


def boundary_points(original: Float) -> Float:
    """D-hat: of each record the nearest point of the boundary of its region, shape (m, d).

    Raises:
        TableError: fewer than two records differ, or there are too many.
    """
    distinct, groups = np.unique(original + 0.0, axis=0, return_inverse=True)
    if len(distinct) < 2:
        raise TableError("All records are equal, so that no boundary lies between them.", "Give others.")
    if distinct.size > MAX_DISTINCT:
        raise TableError(f"{len(distinct):,} different records are too many.", "Give a sample of the rows.")
    _, found = neighbours(distinct, distinct, 2)
    # The nearest of the two is the point itself, also where rounding makes another as near.
    beside = np.where(found[:, 0] == np.arange(len(distinct)), found[:, 1], found[:, 0])
    middle: Float = (distinct + distinct[beside]) / 2
    return middle[groups.reshape(-1)]


def voronoi_privacy(original: Float, release: Float, seed: int | None = None) -> VoronoiPrivacy:
    """Measure Voronoi privacy.

    Args:
        original: shape (m, d).
        release: shape (n, d).
        seed: of the random directions, and of samples where a table is large; None is the operating system's
            randomness.

    Raises:
        TableError: the release has no rows, or no two original records differ.
    """
    if not len(release):
        raise TableError("The release has no rows.", "Give at least one.")
    middle = boundary_points(original)
    return VoronoiPrivacy(
        float(nearest(release, middle).mean()),
        cheapest_matching(release, middle, seed) if len(release) == len(middle) else None,
        earth_mover(release, middle, seed),
    )

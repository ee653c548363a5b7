"""The hitting rate: released records that occur in the original cell by cell.

Reference: the RoD paper, section 3.1. It is a part of the released rows here, so that tables of different
sizes have one too; a zero says nothing (a little noise gives it), a large one does.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from anonymizer.errors import TableError
from anonymizer.risk.distance.space import Float


def hitting_rate(original: Float, release: Float) -> float:
    """The part of the released points that are also points of the original, in [0, 1].

    Args:
        original: shape (m, d).
        release: shape (n, d).

    Raises:
        TableError: the release has no rows.
    """
    if not len(release):
        raise TableError("The release has no rows.", "Give at least one.")
    return float(occurs(release, original).mean())


def occurs(points: Float, others: Float) -> NDArray[np.bool_]:
    """Which points are equal to one of others in all coordinates, shape (points,)."""
    together = np.concatenate([points, others]) + 0.0  # -0.0 is 0.0
    _, groups = np.unique(together, axis=0, return_inverse=True)
    groups = groups.reshape(-1)
    return np.isin(groups[: len(points)], groups[len(points) :])

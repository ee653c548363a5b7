"""y-privacy: how far a released record is from the nearest original one.

Reference: the RoD paper, section 3.2.2 and Algorithm 2. Its last operator is unreadable and the text names
several (erratum 23): all of them are here, and the minimum, the worst case, is y.
"""

from __future__ import annotations

from dataclasses import dataclass

from anonymizer.errors import TableError
from anonymizer.risk.distance.space import Float, nearest


@dataclass(frozen=True, slots=True)
class YPrivacy:
    """Distances from released records to the nearest original one; larger is safer.

    Attributes:
        minimum: of the worst record: the release has y-privacy for this y and all below.
        median: half of the records are nearer than this.
        mean: over the records.
        maximum: of the safest record.
    """

    minimum: float
    median: float
    mean: float
    maximum: float


def y_privacy(original: Float, release: Float) -> YPrivacy:
    """Measure y-privacy in O(n log m).

    Args:
        original: shape (m, d).
        release: shape (n, d).

    Raises:
        TableError: a table has no rows.
    """
    if not len(release):
        raise TableError("The release has no rows.", "Give at least one.")
    found = nearest(release, original)
    found.sort()
    middle = len(found) // 2
    median = float(found[middle] if len(found) % 2 else (found[middle - 1] + found[middle]) / 2)
    return YPrivacy(float(found[0]), median, float(found.mean()), float(found[-1]))

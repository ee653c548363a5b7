"""Whether the order of a release's rows tells where they stood.

A list of the names in the order of the original reads the diagnoses off a release in that order. After a
shuffle, and after sorting by what is released, row i may have stood anywhere. The tests have a probability
of false alarm of 2e-9 each (six standard deviations, two-sided), which says nothing on fewer than forty
rows.
"""

from __future__ import annotations

from typing import Final

import numpy as np
from numpy.typing import NDArray

from anonymizer.gate.relations import correlation

Int = NDArray[np.int64]

_FAR: Final = 6.0
_MIN_ROWS: Final = 20


def order_reveals(origin: Int, groups: dict[str, Int]) -> str | None:
    """Look for the order of the original.

    Args:
        origin: where each released row stood, in the order of the release; -1 where it is not known.
        groups: codes of released columns, within the values of which an order may have been kept.

    Returns:
        How the order shows, as the end of a sentence; None if it does not.
    """
    known = np.flatnonzero(origin >= 0)
    if len(known) < _MIN_ROWS:
        return None
    places = np.empty(len(known), dtype=np.int64)
    places[np.argsort(origin[known], kind="stable")] = np.arange(len(known))
    strength = correlation(np.arange(len(known)), places)
    if abs(strength) * np.sqrt(len(known) - 1) > _FAR:
        return f"with a rank correlation of {strength:.3f}"
    if _far(*_rises(places, np.zeros_like(places))):
        return "in long stretches"
    for name, codes in groups.items():
        own = codes[known]
        order = np.argsort(own, kind="stable")
        if _far(*_rises(places[order], own[order])):
            return f"among the rows that are alike in {name}"
    return None


def _rises(places: Int, groups: Int) -> tuple[int, int, int]:
    """Of neighbours in one group how many rise, how many there are, and in how many groups."""
    together = groups[1:] == groups[:-1]
    rising = int(((places[1:] > places[:-1]) & together).sum())
    return rising, int(together.sum()), len(places) - int(together.sum())


def _far(rising: int, steps: int, groups: int) -> bool:
    """In a random order of m rows the number of rises has mean (m - 1) / 2 and variance (m + 1) / 12."""
    variance = (steps + 2 * groups) / 12
    return steps >= _MIN_ROWS and abs(rising - steps / 2) > _FAR * np.sqrt(variance)

"""P-values of several tests, adjusted for their number.

References: Holm, A simple sequentially rejective multiple test procedure, Scand. J. Statist. 6, 1979;
Benjamini and Hochberg, Controlling the false discovery rate, J. R. Statist. Soc. B 57, 1995.
"""

from __future__ import annotations

from collections.abc import Sequence

Values = list[float | None]


def holm(p_values: Sequence[float | None]) -> Values:
    """Those below a level alpha reject any true hypothesis with probability alpha at most.

    Args:
        p_values: of all tests that were asked; None of one that could not be made, which counts as one.

    Returns:
        The adjusted ones, in the same order.
    """
    found: Values = [None] * len(p_values)
    largest = 0.0
    for rank, (value, place) in enumerate(_order(p_values)):
        largest = max(largest, min(1.0, (len(p_values) - rank) * value))
        found[place] = largest
    return found


def benjamini_hochberg(p_values: Sequence[float | None]) -> Values:
    """Of those below a level alpha a part of alpha at most is expected to be false; arguments as of `holm`.

    That holds for tests that are independent, or positively dependent.
    """
    found: Values = [None] * len(p_values)
    least = 1.0
    ordered = _order(p_values)
    for rank in range(len(ordered), 0, -1):
        value, place = ordered[rank - 1]
        least = min(least, len(p_values) * value / rank)
        found[place] = least
    return found


def _order(p_values: Sequence[float | None]) -> list[tuple[float, int]]:
    return sorted((value, place) for place, value in enumerate(p_values) if value is not None)

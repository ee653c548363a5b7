"""Risks of two groups, their difference and ratios, with their intervals and an exact test: in the clear.

A table of two groups holds the rows with an event and those without. Its sampling intervals are Wilson's of a
risk, Newcombe's hybrid score of the difference, Katz's logarithmic of the risk ratio and Woolf's of the odds
ratio. The test is Fisher's with the mid-p of the tables that are as likely as the one that was seen.

References: Wilson, JASA 22, 1927; Newcombe, Interval estimation for the difference between independent
proportions, Statist. Med. 17, 1998, method 10; Katz, Baptista, Azen and Pike, Biometrics 34, 1978; Woolf,
Ann. Hum. Genet. 19, 1955; Lancaster, Significance tests in discrete distributions, JASA 56, 1961.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from math import exp, inf, log, sqrt
from statistics import NormalDist
from typing import Final

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]
Ends = tuple[float, float]

Z: Final = NormalDist().inv_cdf(0.975)
"""The two-sided 95 % quantile of a standard normal."""

RISKS: Final = ("first risk", "second risk")
DIFFERENCE: Final = "risk difference"
RISK_RATIO: Final = "risk ratio"
ODDS_RATIO: Final = "odds ratio"
RANGES: Final[Mapping[str, Ends]] = {
    **dict.fromkeys(RISKS, (0.0, 1.0)),
    DIFFERENCE: (-1.0, 1.0),
    RISK_RATIO: (0.0, inf),
    ODDS_RATIO: (0.0, inf),
}
"""All figures, and what they lie between."""

RATIOS: Final = frozenset({RISK_RATIO, ODDS_RATIO})
"""Figures whose intervals are formed of logarithms."""

_TIED: Final = 1e-7
MAX_TABLES: Final = 10_000_000


def figures(cells: Floats) -> dict[str, Floats]:
    """All figures of tables.

    Args:
        cells: rows with and without the event of the first group, then of the second one; not negative,
            shape (4, n).

    Returns:
        Shape (n,) each; what a table does not have is NaN, and the ratio to 0 is infinite.
    """
    with np.errstate(divide="ignore", invalid="ignore"):
        first, second = cells[0] / (cells[0] + cells[1]), cells[2] / (cells[2] + cells[3])
        values = (
            first,
            second,
            first - second,
            first / second,
            (cells[0] * cells[3]) / (cells[1] * cells[2]),
        )
    return dict(zip(RANGES, values, strict=True))


def sampling_ends(cells: Sequence[float]) -> dict[str, Ends]:
    """The 95 % intervals of all figures for the population that the rows were drawn from.

    Args:
        cells: of one table, as of `figures`.

    Returns:
        The ends; those of `RANGES` for figures that a table with zeros tells nothing of.
    """
    found = dict(RANGES)
    a, b, c, d = cells
    if a + b <= 0 or c + d <= 0:
        return found
    (low, high), (less, more) = (_wilson(a, a + b), _wilson(c, c + d))
    first, second = a / (a + b), c / (c + d)
    found |= {RISKS[0]: (low, high), RISKS[1]: (less, more)}
    down, up = (
        sqrt((first - low) ** 2 + (more - second) ** 2),
        sqrt((high - first) ** 2 + (second - less) ** 2),
    )
    found[DIFFERENCE] = (first - second - down, first - second + up)
    if min(a, c) > 0:
        error = sqrt(max(0.0, 1 / a - 1 / (a + b) + 1 / c - 1 / (c + d)))
        found[RISK_RATIO] = _around(first / second, error)
    if min(cells) > 0:
        found[ODDS_RATIO] = _around(a * d / b / c, sqrt(sum(1 / cell for cell in cells)))
    return found


def join(value: float, noise: Ends, sampling: Ends, *, ratio: bool) -> Ends:
    """The interval that speaks of noise and of sampling: distances of both are added as squares.

    Args:
        value: the figure.
        noise: the ends of the interval that speaks of the noise.
        sampling: of the one that speaks of sampling.
        ratio: whether distances are between logarithms.
    """
    if not ratio:
        return (
            value - sqrt((value - noise[0]) ** 2 + (value - sampling[0]) ** 2),
            value + sqrt((noise[1] - value) ** 2 + (sampling[1] - value) ** 2),
        )
    if value <= 0:
        return 0.0, inf
    low, high = (
        sqrt(sum((_log(end) - log(value)) ** 2 for end in ends)) for ends in zip(noise, sampling, strict=True)
    )
    return value * exp(-low), inf if high == inf else value * exp(high)


def mid_p(cells: Sequence[int]) -> float | None:
    """The p-value of Fisher's test of equal risks, two-sided, with half of the tables that are as likely.

    Args:
        cells: counts, as of `figures`.

    Returns:
        None if a row or column holds nothing, or more than `MAX_TABLES` tables have the same margins.
    """
    a, b, c, d = cells
    row, column, total = a + b, a + c, a + b + c + d
    least, most = max(0, row + column - total), min(row, column)
    if min(row, column, total - row, total - column) <= 0 or most - least >= MAX_TABLES:
        return None
    places = np.arange(least, most, dtype=np.float64)
    steps = np.log((row - places) * (column - places)) - np.log(
        (places + 1) * (total - row - column + places + 1)
    )
    logs = np.concatenate([[0.0], np.cumsum(steps)])
    chances = np.exp(logs - logs.max())
    chances /= chances.sum()
    seen = chances[a - least]
    tied = np.abs(chances - seen) <= _TIED * seen
    return float(min(1.0, chances[(chances < seen) & ~tied].sum() + chances[tied].sum() / 2))


def _wilson(events: float, rows: float) -> Ends:
    share, square = events / rows, Z**2 / rows
    middle = (share + square / 2) / (1 + square)
    width = Z / (1 + square) * sqrt(max(0.0, share * (1 - share) / rows + square / 4 / rows))
    return max(0.0, middle - width), min(1.0, middle + width)


def _around(value: float, error: float) -> Ends:
    return value * exp(-Z * error), value * exp(Z * error)


def _log(value: float) -> float:
    return -inf if value <= 0 else log(value) if value < inf else inf

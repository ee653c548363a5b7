"""The chi-square test of independence, for exact tables and for noisy ones.

With noise the statistic of a table is larger than its usual distribution says, so that distribution would
reject independence far too often. For noisy tables its distribution under independence is simulated instead:
tables with the noisy table's total and margins, each with noise of the same variance, and their statistics
computed in the same way. The p-value is the rank of the observed statistic among them, (1 + larger ones) / (1
+ simulated). The draws follow from a public seed (`draws.py`), the same for all recipients; the noise in the
observed table does not.

Counts are simulated by the normal approximation to the multinomial distribution, which the test itself rests
on, and Gaussian noise by a rounded normal.

References: Gaboardi, Lim, Rogers and Vadhan, Differentially private chi-squared hypothesis testing, ICML 2016
(MCIndep); Wang, Lee and Kifer, Revisiting differentially private hypothesis tests, 2015.
"""

from __future__ import annotations

from math import erfc, exp, lgamma, log, sqrt
from typing import Final

import numpy as np
from numpy.typing import NDArray

from smc.analyses.statistics.kinds.draws import noise_like, normals
from smc.numeric.random import Randomness
from smc.secret.noise.distribution import Distribution

Floats = NDArray[np.float64]

SIMULATED: Final = 9_999
"""Tables drawn for one test: the p-value is a multiple of 1 / 10,000."""

_MAX_AT_ONCE: Final = 1 << 20


def exact_test(table: Floats) -> float | None:
    """The p-value of Pearson's test on exact counts.

    Args:
        table: counts, shape (r, c).

    Returns:
        The p-value; None if fewer than two rows or columns hold anything.
    """
    held = table[table.sum(axis=1) > 0][:, table.sum(axis=0) > 0]
    if min(held.shape) < 2:
        return None
    freedom = (held.shape[0] - 1) * (held.shape[1] - 1)
    return survival(float(_statistic(held[None])[0]), freedom)


def noisy_test(table: Floats, noise: Distribution, random: Randomness) -> float | None:
    """The p-value of the test on noisy counts.

    Args:
        table: noisy counts, shape (r, c) with r, c >= 2.
        noise: of each count.
        random: for the simulation.

    Returns:
        The p-value; None if the table's total is not positive.
    """
    if table.sum() <= 0 or min(table.shape) < 2:
        return None
    observed = float(_statistic(table[None])[0])
    rows, columns = _margins(table[None])
    chances = (rows[0] / rows.sum())[:, None] * (columns[0] / columns.sum())
    above, left = 0, SIMULATED
    while left:
        count = min(left, max(1, _MAX_AT_ONCE // table.size))
        drawn = _multinomial(float(table.sum()), chances, count, random)
        drawn += noise_like(noise, drawn.size, random).reshape(drawn.shape)
        above += int((_statistic(drawn) >= observed).sum())
        left -= count
    return (1 + above) / (1 + SIMULATED)


def survival(statistic: float, freedom: int) -> float:
    """P(X >= statistic) for X of the chi-square distribution, exactly up to rounding.

    Args:
        statistic: not negative.
        freedom: degrees of freedom, at least 1.

    The recurrence Q(a + 1, x) = Q(a, x) + x**a e**-x / Gamma(a + 1) from Q(1/2, x) = erfc(sqrt(x)) or
    Q(1, x) = e**-x, for x = statistic / 2; Abramowitz and Stegun, 6.5.22 and 26.4.4 to 26.4.5.
    """
    x = statistic / 2
    if x <= 0:
        return 1.0
    a = 0.5 if freedom % 2 else 1.0
    found = erfc(sqrt(x)) if freedom % 2 else exp(-x)
    while a < freedom / 2:
        found += exp(a * log(x) - x - lgamma(a + 1))
        a += 1
    return min(found, 1.0)


def _margins(tables: Floats) -> tuple[Floats, Floats]:
    """Sums of rows and of columns of each table, at least 1 each: noise can make them negative."""
    return np.maximum(tables.sum(axis=2), 1), np.maximum(tables.sum(axis=1), 1)


def _statistic(tables: Floats) -> Floats:
    """Pearson's statistic of each table, shape (n,) from (n, r, c)."""
    rows, columns = _margins(tables)
    expected = rows[:, :, None] * columns[:, None, :] / rows.sum(axis=1)[:, None, None]
    found: Floats = ((tables - expected) ** 2 / expected).sum(axis=(1, 2))
    return found


def _multinomial(total: float, chances: Floats, count: int, random: Randomness) -> Floats:
    """Tables of about `total` rows, shape (count, r, c), by the normal approximation."""
    spread = normals(count * chances.size, random).reshape(count, *chances.shape) * np.sqrt(total * chances)
    drawn = total * chances + spread - chances * spread.sum(axis=(1, 2))[:, None, None]
    whole: Floats = np.maximum(np.rint(drawn), 0)
    return whole

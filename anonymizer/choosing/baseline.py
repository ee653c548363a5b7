"""Algorithm 5: epsilon from the largest noise that a count may get.

The noise of a count is Lap(1 / epsilon), and its largest value is taken for two standard deviations,
p = 2 sqrt(2) / epsilon (erratum 26). The algorithm calls p a probability; it is a number of rows. It takes
p for the end of a 95 % interval, as it were of normal noise; the part 1 - e^(-2 sqrt(2)) of Laplace noise,
94.1 %, lies within. The dependency graph and the marginal tables that it makes first play no part in its
result, and so neither does the data.
Reference: the RoD paper, section 3.2.5 and Algorithm 5.
"""

from __future__ import annotations

from math import exp, isfinite, sqrt
from typing import Final

from anonymizer.errors import SpecError
from anonymizer.releases.guarantee import checked_budget

_DEVIATIONS: Final = 2 * sqrt(2)
"""Two standard deviations of Laplace noise of scale 1."""

WITHIN: Final = 1 - exp(-_DEVIATIONS)
"""The part of Laplace noise within two standard deviations."""


def epsilon_for(noise: float, sensitivity: float = 1.0) -> float:
    """The epsilon at which two standard deviations of a count's noise are this many rows.

    Args:
        noise: p, more than 0.
        sensitivity: by how much one record changes the answer, more than 0; 1 for a count.

    Raises:
        SpecError: one is not a positive number, or the epsilon lies outside what the program allows.
    """
    for name, number in (("noise", noise), ("sensitivity", sensitivity)):
        if not (isfinite(number) and number > 0):
            raise SpecError(f"The {name} is {number}.", "Give a number above 0.")
    epsilon = _DEVIATIONS * sensitivity / noise
    checked_budget(epsilon)
    return epsilon


def largest_noise(epsilon: float, sensitivity: float = 1.0) -> float:
    """Two standard deviations of the noise at an epsilon; `epsilon_for` the other way round.

    Raises:
        SpecError: epsilon lies outside what the program allows.
    """
    checked_budget(epsilon)
    return _DEVIATIONS * sensitivity / epsilon

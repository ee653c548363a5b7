"""Draws for the simulations of tests: many at once, in floating point.

They decide nothing about privacy: all that is simulated follows from what the recipients have by then. In a
joint run both parties draw from a seed that they tossed before anything was opened (`noisy.simulation_seed`),
so that all recipients get the same figures and neither party can draw until it likes them. The seed is
public: it is for these simulations only and never for noise, which nobody may know.
"""

from __future__ import annotations

from math import pi
from typing import Final

import numpy as np
from numpy.typing import NDArray

from smc.numeric.random import Randomness
from smc.secret.noise.distribution import Distribution
from smc.secret.noise.laplace import DiscreteLaplace

Floats = NDArray[np.float64]

_SUMMED: Final = 30
"""Up to so many degrees of freedom chi-square variates are sums of squares."""


def uniforms(count: int, random: Randomness) -> Floats:
    """Uniform in (0, 1), shape (count,)."""
    found: Floats = ((random.words(count) >> np.uint64(12)) + 0.5) / (1 << 52)
    return found


def normals(count: int, random: Randomness) -> Floats:
    """Standard normals, by Box and Muller; shape (count,)."""
    half = (count + 1) // 2
    radius = np.sqrt(-2 * np.log(uniforms(half, random)))
    angle = 2 * pi * uniforms(half, random)
    found: Floats = np.concatenate([radius * np.cos(angle), radius * np.sin(angle)])[:count]
    return found


def chi_squares(freedom: int, count: int, random: Randomness) -> Floats:
    """Chi-square variates, shape (count,).

    Sums of squared normals; above 30 degrees of freedom the cube of a normal, whose quantiles are off by less
    than 0.1 % there (Wilson and Hilferty, The distribution of chi-square, PNAS 1931).
    """
    if freedom <= _SUMMED:
        found: Floats = (normals(freedom * count, random).reshape(freedom, count) ** 2).sum(axis=0)
        return found
    part = 2 / (9 * freedom)
    cubed: Floats = freedom * (1 - part + normals(count, random) * np.sqrt(part)) ** 3
    return cubed


def noise_like(distribution: Distribution, count: int, random: Randomness) -> Floats:
    """Draws that are alike to the noise of the protocol, shape (count,)."""
    if isinstance(distribution, DiscreteLaplace):
        waits = -np.log(uniforms(2 * count, random)) / float(distribution.rate)
        whole: Floats = np.floor(waits)
        return whole[:count] - whole[count:]
    found: Floats = np.rint(normals(count, random) * distribution.deviation)
    return found

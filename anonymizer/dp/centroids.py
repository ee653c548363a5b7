"""Noisy centroids of clusters, drawn by OpenDP.

Numbers are brought to a lattice that is finer than the change that one record can make by `FINENESS`, and get
discrete Laplace noise there. Whatever the clusters, one measurement has the same scale in these units, so
that OpenDP accounts for all of them at once. The points of that lattice tell the change that it was made for,
and by it a cell to the cent, so that what is released lies on another one, see `on_public_grid`. Categories
are chosen by their counts with permute-and-flip.

Reference: McKenna and Sheldon, Permute-and-flip: a new mechanism for differentially private selection,
NeurIPS 2020.
"""

from __future__ import annotations

from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from anonymizer.dp import opendp as dp
from anonymizer.dp.noise import mechanism

Int = NDArray[np.int64]
Float = NDArray[np.float64]

FINENESS: Final = 2**20
"""Lattice points in the largest change that one record makes."""
SLACK: Final = 4
"""Lattice points by which rounding, and means in double precision, can add to a change."""
WIDEST: Final = 2.0**30
"""The width of the bounds, in largest changes of a centroid, stays below this: means are exact to `SLACK`."""

PARTS: Final = 2**16
"""The public grid has between so many and twice so many points in the width of the bounds."""


def account(epsilon: float) -> tuple[Any, float]:
    """The measurement for all centroids of a column.

    Args:
        epsilon: for a change within one cluster.

    Returns:
        OpenDP's measurement on lattice points, and the scale of its noise in largest changes.
    """
    scale = (FINENESS + SLACK) / epsilon
    made = mechanism("laplace", scale, whole=True)
    while made.map(FINENESS + SLACK) > epsilon:  # the last digit of OpenDP's rounding
        scale *= 1 + 1e-12
        made = mechanism("laplace", scale, whole=True)
    return made, scale / FINENESS


def noisy(means: Float, changes: Float, low: float, epsilon: float) -> tuple[Float, Float]:
    """Centroids with noise.

    Args:
        means: the centroids, shape (p,).
        changes: of each the largest change that one record makes, shape (p,); where it is 0, the centroid
            gets no noise.
        low: the least number that a record can have.
        epsilon: for a change within one cluster.

    Returns:
        The noisy centroids, not clamped and not yet on the public grid, and the scales of their noise, each
        of shape (p,).
    """
    measurement, unit = account(epsilon)
    drawn = changes > 0
    steps = changes[drawn] / FINENESS
    points = np.round((means[drawn] - low) / steps).astype(np.int64)
    found = means.copy()
    if len(points):
        found[drawn] = low + np.array(measurement(points.tolist()), dtype=np.float64) * steps
    return found, changes * unit


def on_public_grid(numbers: Float, low: float, high: float, finest: float = 0.0) -> Float:
    """Numbers rounded to multiples of a power of two that the declared bounds decide, and nothing else.

    Args:
        numbers: any shape.
        low: the least number that a record can have.
        high: the largest.
        finest: the least distance of released numbers, a power of two or 0. A declared step that is finer
            than the grid of the bounds would tell what the noise was made by, so the coarser of both counts.
    """
    step = max(2.0 ** np.floor(np.log2((high - low) / PARTS)), finest)
    rounded: Float = np.round(numbers / step) * step
    return rounded


def choose_categories(counts: Int, epsilon: float) -> Int:
    """A category for each cluster, likelier the commoner it is there.

    Args:
        counts: how many records of each cluster have each category, shape (p, c).
        epsilon: for a change of one record within one cluster; two counts change by 1 then.

    Returns:
        The categories, shape (p,).
    """
    space = dp.vector_domain(dp.atom_domain(T="i64")), dp.linf_distance(T="i64")
    scale = 2.0 / epsilon
    select: Any = dp.m.make_noisy_max(*space, dp.max_divergence(), scale=scale)
    while select.map(1) > epsilon:
        scale *= 1 + 1e-12
        select = dp.m.make_noisy_max(*space, dp.max_divergence(), scale=scale)
    return np.array([select(row) for row in counts.tolist()], dtype=np.int64)

"""Additive noise by OpenDP: the least scale for a budget, and the measurements themselves.

Sampling is OpenDP's, exact and from the operating system's randomness: there is no seed.

References: Dwork, McSherry, Nissim, Smith, Calibrating noise to sensitivity in private data analysis, TCC
2006; Canonne, Kamath, Steinke, The discrete Gaussian for differential privacy, NeurIPS 2020.
"""

from __future__ import annotations

from functools import lru_cache
from typing import Any, Final

from anonymizer.dp import opendp as dp

DISTRIBUTIONS: Final = ("laplace", "gaussian")

_SCALES: Final = (0.07, 1e10)
"""Of Gaussian noise, by the width of the bounds: the least has an epsilon of more than 100."""
_ROUNDING: Final = 1e-9
_WHOLE: Final = "i64"
# the search for a scale takes longer than all draws for a small table; its result depends on the arguments
# alone, where an int asks for the discrete noise


@lru_cache(maxsize=1024, typed=True)
def laplace(width: float, epsilon: float, delta: float) -> tuple[float, tuple[float, float]]:
    """The least scale of Laplace noise.

    Args:
        width: the largest difference between two cells; an int for the discrete distribution.
        epsilon: of one cell.
        delta: not used; Laplace noise has none.

    Returns:
        The scale, and epsilon and delta of one cell.
    """
    del delta
    whole = isinstance(width, int)
    scale = dp.binary_search_param(
        lambda scale: mechanism("laplace", scale, whole=whole), d_in=width, d_out=epsilon, T=float
    )
    return scale, (mechanism("laplace", scale, whole=whole).map(width), 0.0)


@lru_cache(maxsize=1024, typed=True)
def gaussian(width: float, epsilon: float, delta: float) -> tuple[float, tuple[float, float]]:
    """The least scale of Gaussian noise, as `laplace`; through zero-concentrated differential privacy.

    The loss depends on scale by width alone, so that the least scale is found for cells that differ by 1.
    """
    whole = isinstance(width, int)

    def make_measurement(scale: float, *, whole: bool) -> Any:
        return dp.c.make_fix_delta(
            dp.c.make_zCDP_to_approxDP(mechanism("gaussian", scale, whole=whole)), delta=delta
        )

    by_width = dp.binary_search_param(
        lambda scale: make_measurement(scale, whole=False),
        d_in=1.0,
        d_out=(epsilon, delta),
        T=float,
        bounds=_SCALES,
    )
    scale = by_width * float(width) * (1 + _ROUNDING)
    return scale, make_measurement(scale, whole=whole).map(float(width))


def mechanism(distribution: str, scale: float, *, whole: bool) -> Any:
    """OpenDP's measurement on a vector of cells.

    Args:
        distribution: one of `DISTRIBUTIONS`.
        scale: of the noise.
        whole: whether cells are whole numbers.
    """
    domain = dp.vector_domain(dp.atom_domain(T=_WHOLE) if whole else dp.atom_domain(T=float, nan=False))
    if distribution == "laplace":
        return dp.m.make_laplace(domain, dp.l1_distance(T=_WHOLE if whole else float), scale=scale)
    return dp.m.make_gaussian(domain, dp.l2_distance(T=float), scale=scale)

"""What the thesis prints in Tables 4.5, 4.6 and 4.7."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

EPSILONS: Final = (1.0, 0.9, 0.8, 0.7, 0.6, 0.5)
RATES: Final = (0.9, 0.8, 0.7, 0.6, 0.5)

Grid = Mapping[tuple[float, float], float]
"""n_q by epsilon and sampling rate."""


def _grid(*rows: tuple[float, ...]) -> Grid:
    return {
        (epsilon, rate): value
        for rate, row in zip(RATES, rows, strict=True)
        for epsilon, value in zip(EPSILONS, row, strict=True)
    }


TABLE_4_5: Final = _grid(
    (1.8, 2.2, 2.5, 2.4, 3.1, 3.0),
    (1.5, 1.8, 2.2, 2.6, 2.9, 3.2),
    (1.9, 2.1, 2.1, 2.6, 2.8, 3.1),
    (2.2, 2.4, 3.0, 3.1, 3.4, 3.4),
    (2.8, 2.6, 3.2, 3.8, 3.6, 3.8),
)
TABLE_4_6: Final = _grid(
    (6.8, 7.6, 6.7, 8.1, 8.6, 9.8),
    (7.2, 7.5, 7.9, 9.6, 12.1, 14.1),
    (7.7, 8.0, 8.5, 9.6, 14.1, 16.9),
    (8.3, 8.6, 9.4, 11.3, 16.8, 18.7),
    (8.1, 9.2, 9.6, 14.1, 18.3, 19.3),
)
TABLE_4_7: Final[Mapping[str, tuple[int, float]]] = {
    "1": (4, 0.658),
    "2 (0.5, 0.5)": (4, 0.633),
    "5": (10, 0.647),
    "3 (0.5, 0.9)": (10, 0.636),
    "3 (1.0, 0.5)": (10, 0.695),
    "4": (22, 0.588),
    "3 (0.5, 0.5)": (22, 0.650),
}
"""Of each data set (epsilon, rate) its n_q as the table groups them, and Uti."""

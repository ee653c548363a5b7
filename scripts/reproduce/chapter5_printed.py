"""What the thesis prints in Tables 5.2 to 5.14. Risks by re-identification and linkage, then usefulness."""

from __future__ import annotations

from typing import Final

KS: Final = (2, 4, 6, 8, 10)
RANKS: Final = (10, 20, 30, 40)
NOISES: Final = (0.3, 0.6, 0.9, 1.2, 1.5)
FACTOR_NOISES: Final = (0.05, 0.10, 0.15, 0.20)

NOISES_OF: Final = {"5.13": 0.10, "5.14": 0.15}
"""The noise on factors of the tables of usefulness."""

Key = tuple[str, ...]
Figures = dict[Key, float]
"""By table, row and column, as texts."""


def _grid(table: str, rows: tuple[float, ...], columns: tuple[str, ...], figures: str) -> Figures:
    values = iter(map(float, figures.split()))
    return {(table, f"{row:g}", column): next(values) for row in rows for column in columns}


_R: Final = tuple(f"r = {rank}" for rank in RANKS)
BOTH: Final = ("re-identification", "linkage")

PRINTED: Final[Figures] = {
    **_grid("5.2", (1, 2, 3), ("linkage",), "0.51 0.64 0.80"),
    **_grid("5.3", RANKS, BOTH, "0.98 0.31 1.00 0.45 1.00 0.54 1.00 0.58"),
    **_grid("5.4", KS, BOTH, "0.500 0.185 0.250 0.050 0.167 0.038 0.125 0.027 0.098 0.023"),
    **_grid("5.5", NOISES, BOTH, "1.00 0.33 1.00 0.10 0.95 0.01 0.81 0.03 0.62 0.00"),
    **_grid("5.6", KS, _R, "0.44 0.50 0.50 0.50 0.21 0.24 0.25 0.25 0.12 0.14 0.15 0.16 0.10 0.11 0.11 0.12 "
            "0.08 0.08 0.08 0.08"),
    **_grid("5.7", KS, _R, "0.11 0.15 0.15 0.15 0.05 0.07 0.08 0.07 0.04 0.03 0.03 0.04 0.03 0.03 0.03 0.03 "
            "0.02 0.02 0.02 0.02"),
    **_grid("5.8", FACTOR_NOISES, _R, "0.75 0.95 0.97 1.00 0.42 0.72 0.85 0.86 0.25 0.50 0.61 0.70 "
            "0.18 0.28 0.40 0.49"),
    **_grid("5.9", FACTOR_NOISES, _R, "0.21 0.34 0.34 0.50 0.12 0.15 0.14 0.20 0.07 0.11 0.09 0.10 "
            "0.03 0.03 0.03 0.02"),
    **_grid("5.10", KS, ("Uti",), "0.981 0.936 0.946 0.913 0.932"),
    **_grid("5.11", NOISES, ("Uti",), "0.941 0.876 0.810 0.748 0.744"),
    **_grid("5.12", RANKS, ("Uti",), "0.930 0.959 0.960 0.980"),
    **_grid("5.13", RANKS, ("Uti",), "0.909 0.943 0.943 0.965"),
    **_grid("5.14", RANKS, ("Uti",), "0.868 0.915 0.907 0.935"),
}  # fmt: skip

TITLES: Final = {
    "5.2": ("Table 5.2: linkage of original windows", "window"),
    "5.3": ("Table 5.3: factorization alone (SGD)", "rank"),
    "5.4": ("Table 5.4, experiment 1: k-anonymization", "k"),
    "5.5": ("Table 5.5, experiment 2: Laplace noise", "phi"),
    "5.6": ("Table 5.6, experiment 3: SGD and k-anonymization, re-identification", "k"),
    "5.7": ("Table 5.7, experiment 3: SGD and k-anonymization, linkage", "k"),
    "5.8": ("Table 5.8, experiment 4: SGD and Laplace noise, re-identification", "phi"),
    "5.9": ("Table 5.9, experiment 4: SGD and Laplace noise, linkage", "phi"),
    "5.10": ("Table 5.10: usefulness, k-anonymization", "k"),
    "5.11": ("Table 5.11: usefulness, Laplace noise", "phi"),
    "5.12": ("Table 5.12: usefulness, SGD and k-anonymization, k = 2", "rank"),
    "5.13": ("Table 5.13: usefulness, SGD and Laplace noise, phi = 0.10", "rank"),
    "5.14": ("Table 5.14: usefulness, SGD and Laplace noise, phi = 0.15", "rank"),
}

"""Whether opened figures nearly reveal one person's value, though no combination is about that person alone.

A number that is rounded otherwise from one job to the next differs for everybody, and an exact system of
equations (`parties.disclosure.equations`) sees no combination about few. But roundings even out: what one
person has more than they is left. So the system is looked at in real numbers as well. Of all combinations of
equations w, with a coefficient w_i of each person i,

    h_i = max w_i**2 / (w_1**2 + ... + w_n**2)

is the leverage of the person: whoever knows nothing of the others but how much they vary, by a deviation of
s, finds the person's value to a deviation of s * sqrt((1 - h_i) / h_i) at best. Combinations that are nearly
about a few persons, and not about one, are not seen by it.

Reference: Hoaglin and Welsch, The hat matrix in regression and ANOVA, The American Statistician 32, 1978;
Demmel et al., Communication-optimal parallel and sequential QR and LU factorizations, SIAM J. Sci. Comput.
34, 2012 (tall matrices by pieces).
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from fractions import Fraction
from typing import Final

import numpy as np
from numpy.typing import NDArray

from parties.disclosure.equations import Ints, Shown

Floats = NDArray[np.float64]

AT_ONCE: Final = 4_000_000
"""Coefficients that are held at once."""

_NEARER: Final = 4
"""Of what squares leave open."""

_SAME: Final = 1e-11
"""Combinations that are smaller, of equations of length 1, are nothing but rounding of what computes them."""


def is_nearly_of_one(tables: Sequence[Shown], part: Fraction) -> bool:
    """Whether tables together nearly reveal one person's value, while none of them does alone.

    That is where somebody has a leverage of more than a part, by which the person's value is found to half of
    what one of the tables leaves open, or nearer: what a table tells alone is for the limits that it was
    suppressed by, as of one person who has far more than all others.

    Args:
        tables: what the peer has seen, and is about to see.
        part: the largest leverage; 1 for any.
    """
    if part >= 1 or len(tables) < 2:
        return False
    everybody = np.unique(np.concatenate([table.persons for table in tables]))
    together = _leverages(tables, everybody)
    found = together > float(part)
    for table in tables:
        if not found.any():
            return False
        found &= _NEARER * (1 - together) < 1 - _leverages([table], everybody)
    return bool(found.any())


def _leverages(tables: Sequence[Shown], everybody: NDArray[np.uint64]) -> Floats:
    """The leverage of each person, shape (people,)."""
    who = [np.searchsorted(everybody, table.persons) for table in tables]
    count = sum(len(table.weights) * len(table.equations) for table in tables)
    lengths = np.sqrt(sum((piece**2).sum(axis=0) for _, piece in _pieces(tables, who, len(everybody), count)))
    scale = np.where(lengths > 0, lengths, 1)
    triangle = np.zeros((0, count))
    for _, piece in _pieces(tables, who, len(everybody), count):
        triangle = np.asarray(np.linalg.qr(np.concatenate([triangle, piece / scale]), mode="r"))
    _, sizes, directions = np.linalg.svd(triangle, full_matrices=False)
    kept = sizes > _SAME * sizes.max(initial=0)
    back = directions[kept].T / sizes[kept]
    found = np.zeros(len(everybody))
    for start, piece in _pieces(tables, who, len(everybody), count):
        found[start : start + len(piece)] = ((piece / scale @ back) ** 2).sum(axis=1)
    return found


def _pieces(
    tables: Sequence[Shown], who: Sequence[Ints], people: int, count: int
) -> Iterator[tuple[int, Floats]]:
    """The coefficients of some persons after the other in all equations, shape (persons, equations)."""
    step = max(count, AT_ONCE // max(1, count))
    for start in range(0, people, step):
        piece = np.zeros((min(step, people - start), count))
        place = 0
        for table, persons in zip(tables, who, strict=True):
            chosen = np.flatnonzero((persons >= start) & (persons < start + step))
            cells, rows = table.cells[chosen], persons[chosen] - start
            opened = table.equations.astype(np.float64)
            for weights in table.weights:
                by_cell = np.zeros((len(piece), table.equations.shape[1]))
                np.add.at(by_cell, (rows, cells), weights[chosen])
                piece[:, place : place + len(opened)] = by_cell @ opened.T
                place += len(opened)
        yield start, piece

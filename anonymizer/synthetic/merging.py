"""Cells too rare to be told from noise, as one: their pairs with other columns would be noise alone.

Reference: McKenna, Miklau and Sheldon, Winning the NIST contest: a scalable and general approach to
differentially private synthetic data, Journal of Privacy and Confidentiality 11(3), 2021, section 4.1.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Final

import numpy as np
from numpy.typing import NDArray

from anonymizer.synthetic.budget import Noisy
from anonymizer.synthetic.counting import Coded
from anonymizer.synthetic.network import ConditionalChain
from anonymizer.tables.randomness import Randomness

Int = NDArray[np.int64]
Float = NDArray[np.float64]

_DEVIATIONS: Final = 3.0


@dataclass(frozen=True, slots=True)
class Merging:
    """How the cells of a column are joined.

    Attributes:
        groups: of each cell the place of its group, shape (size,).
        shares: of each cell its part of the group, summing to 1 in each, shape (size,).
    """

    groups: Int = field(repr=False)
    shares: Float = field(repr=False)

    @classmethod
    def of(cls, noisy: Noisy) -> Merging:
        """Join the cells with counts within three deviations of the noise; two or more of them."""
        rare = noisy.values < _DEVIATIONS * noisy.deviation
        if rare.sum() < 2:
            return cls(np.arange(len(rare), dtype=np.int64), np.ones(len(rare)))
        groups = np.where(rare, int((~rare).sum()), np.cumsum(~rare) - 1).astype(np.int64)
        weights = np.where(rare, np.maximum(noisy.values, 0.0), 1.0)
        if not weights[rare].any():
            weights[rare] = 1.0
        return cls(groups, weights / np.bincount(groups, weights)[groups])

    @property
    def size(self) -> int:
        """How many groups there are."""
        return int(self.groups.max()) + 1

    def join(self, values: Float) -> Float:
        """Counts of the groups, shape (size,)."""
        return np.bincount(self.groups, values, minlength=self.size).astype(np.float64)

    def part(self, groups: Int, randomness: Randomness) -> Int:
        """A cell of each group, shape (n,)."""
        order = np.argsort(self.groups, kind="stable")
        steps = np.cumsum(self.shares[order]) - self.groups[order]
        steps[np.append(np.diff(self.groups[order]) > 0, True)] = 1.0
        places = np.searchsorted(
            steps + self.groups[order], groups + randomness.uniform(len(groups)), side="right"
        )
        found: Int = order[np.minimum(places, len(order) - 1)]
        return found


def merge(data: Coded, merging: Sequence[Merging]) -> Coded:
    """A table in which groups stand for their cells."""
    codes = np.stack([one.groups[data.codes[:, place]] for place, one in enumerate(merging)], axis=1)
    return Coded(codes, tuple(one.size for one in merging), data.names)


@dataclass(frozen=True, slots=True)
class MergedChain:
    """A chain over groups of cells.

    Attributes:
        chain: over groups.
        merging: of each column.
    """

    chain: ConditionalChain
    merging: tuple[Merging, ...]

    @property
    def total(self) -> float:
        """The number of rows as it was measured."""
        return self.chain.total

    def draw(self, rows: int, randomness: Randomness) -> Int:
        """Draw rows of cells, shape (rows, d); cells of a group differ by their shares only."""
        groups = self.chain.draw(rows, randomness)
        columns = [one.part(groups[:, place], randomness) for place, one in enumerate(self.merging)]
        return np.stack(columns, axis=1)

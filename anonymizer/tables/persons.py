"""Whose the rows of a table are, where a person may have several: what is promised counts persons then."""

from __future__ import annotations

from dataclasses import dataclass, field, replace

import numpy as np
from numpy.typing import NDArray

Int = NDArray[np.int64]
Float = NDArray[np.float64]


@dataclass(frozen=True, slots=True)
class PersonRows:
    """Whose each row is.

    Attributes:
        codes: of each row its person, from 0, shape (n,).
        most: the declared bound on the rows of one person, at least 1; None where none is declared. It holds
            after the first step of a pipeline, not before.
    """

    codes: Int = field(repr=False)
    most: int | None = None

    def take(self, rows: Int) -> PersonRows:
        """Those of some rows, in the given order."""
        return replace(self, codes=self.codes[rows])

    @property
    def rows(self) -> Int:
        """How many rows each person has, shape (p,); 0 for those of rows that are gone."""
        return np.bincount(self.codes)

    @property
    def repeat(self) -> bool:
        """Whether a person has several rows."""
        return bool((self.rows > 1).any())

    def in_classes(self, classes: Int, count: int) -> Int:
        """The different persons of each class.

        Args:
            classes: of each row, from 0, shape (n,).
            count: the number of classes.

        Returns:
            Shape (count,).
        """
        width = int(self.codes.max(initial=0)) + 1
        return np.bincount(np.unique(classes * width + self.codes) // width, minlength=count)

    def shares(self, classes: Int) -> Float:
        """What each row counts for where each person counts once in each class: 1 / rows, shape (n,)."""
        width = int(self.codes.max(initial=0)) + 1
        _, places, rows = np.unique(classes * width + self.codes, return_inverse=True, return_counts=True)
        found: Float = 1.0 / rows[places]
        return found

    def fewest(self, rows: Int) -> Int:
        """The fewest persons that so many rows of the table can be of, the shape of `rows`."""
        most = np.cumsum(np.sort(self.rows)[::-1])
        return np.where(rows > 0, np.searchsorted(most, rows) + 1, 0)

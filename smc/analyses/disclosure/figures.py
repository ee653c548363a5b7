"""What a figure is about: whoever opens one says it by a value of this module, and the limits follow from it.

| Figure | Limits that apply |
|---|---|
| `Groups` | `minimum_group`: each number of persons reaches it; `dominance`: nobody has more of a sum |
| `Size` | those of matched rows; it has to be the very number that the least intersection was tested on |
| `Rows` | none of persons; policies allow jobs with such results by `row_results`, or not at all |
| `Noisy` | `minimum_group`, on noisy counts, which cost no further loss; the gate has taken the loss |
| `Shares` | none but those of matched rows, as nothing is opened |

Where rows are matched (`Scope.matches`), `minimum_set`, `maximum_ratio` and `minimum_intersection` hold for
every figure. Figures of which parts are withheld, such as tables, curves and clusters, are those of
`smc.analyses.disclosure.exact_figure`.

The numbers of persons and the contributions are secret, and whoever writes an analysis computes them: that
they are those of the figure cannot be seen from shares. What can be seen is tested by the release: that a
kind of figure belongs to the facts of the job, that there are numbers of persons at all, that a size is the
one that was tested, that noise was paid for.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from smc.secret.linear_ints import LinearInts

Count = LinearInts | int
"""A number of persons or rows: secret, of one element, or public."""


@dataclass(frozen=True, slots=True)
class Sum:
    """A sum, by what is added up, see `smc.analyses.disclosure.amounts`.

    Attributes:
        total: the sum of absolute contributions, one secret integer.
        contributions: of each person or row, not negative, shape (n,).
    """

    total: LinearInts
    contributions: LinearInts


@dataclass(frozen=True, slots=True)
class Groups:
    """Figures about several persons taken together; refused as a whole where a limit does not hold.

    Attributes:
        persons: numbers of persons that each have to reach the smallest group. If a recipient can subtract
            persons of its own, the others' number belongs here.
        sums: of which no one may contribute too large a part.
        apart: numbers of persons that a sum distinguishes from the rest; each has to be 0 or a group.
    """

    persons: Sequence[Count]
    sums: Sequence[Sum] = ()
    apart: Sequence[LinearInts] = ()


@dataclass(frozen=True, slots=True)
class Size:
    """The size of the intersection, of one secret integer that the limits were tested on."""


@dataclass(frozen=True, slots=True)
class Rows:
    """Answers about single rows: a bit or a word for each of them, or for each pair."""


@dataclass(frozen=True, slots=True)
class Noisy:
    """Figures with noise that neither party knows, in one vector.

    Attributes:
        counts: for each number, which one counts the rows that it is about; where that is too small, both
            come out as 0. None where the figures are about all rows.
        rows_per_person: the most rows that one person has; a group of m persons has m times as many rows.
        persons: noisy numbers that each have to reach the smallest group, else all is refused.
    """

    counts: NDArray[np.int64] | None = None
    rows_per_person: int = 1
    persons: Sequence[Count] = ()


@dataclass(frozen=True, slots=True)
class Shares:
    """Results that stay shared or encrypted, or random numbers about nobody: nothing is opened."""


About = Groups | Size | Rows | Noisy | Shares

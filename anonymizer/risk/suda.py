"""Special uniques: rows that few quasi-identifiers single out already (SUDA).

A minimal sample unique of a row is a set of columns whose cells no other released row has, while every
smaller part of the set is shared with one. A row with small ones is found by those who know little, and is
likelier to be unique in the population as well.

Reference: Elliot, Manning and Ford, A computational algorithm for handling the special uniques problem,
International Journal of Uncertainty, Fuzziness and Knowledge-Based Systems 10, 2002; scores as in Manning,
Haglin and Keane, A recursive search algorithm for statistical disclosure assessment, Data Mining and
Knowledge Discovery 16, 2008.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from itertools import combinations
from math import comb, factorial

import numpy as np
from numpy.typing import NDArray

from anonymizer.errors import TableError
from anonymizer.risk.classes import class_sizes, number_classes
from anonymizer.risk.measures import sized_classes
from anonymizer.risk.uniqueness import match_probability
from anonymizer.tables.table import Table

Int = NDArray[np.int64]
Float = NDArray[np.float64]


@dataclass(frozen=True, slots=True)
class SpecialUniques:
    """The minimal sample uniques of a release.

    Attributes:
        largest: columns of the largest sets that were looked at.
        sizes: how many minimal sample uniques there are of each number of columns.
        smallest: of each released row the columns of its smallest one, 0 if it has none, shape (n,).
        scores: of each row the sum over its sets of s columns of the product of (d - i) for i from s to
            d - 1, d being all columns: (d - s)!. Shape (n,).
        columns: by column, the part of all scores that comes from sets with it: which column makes the risk.
        dis: of each row its DIS-SUDA score in [0, 1], see `dis_scores`, shape (n,); None where no sampling
            fraction was given.
    """

    largest: int
    sizes: Mapping[int, int]
    smallest: Int = field(repr=False)
    scores: Float = field(repr=False)
    columns: Mapping[str, float]
    dis: Float | None = field(default=None, repr=False)

    @property
    def unique(self) -> float:
        """The part of the rows that some set of columns singles out."""
        return float((self.smallest > 0).mean())


def special_uniques(
    release: Table, largest: int | None = None, fraction: float | None = None
) -> SpecialUniques:
    """Look for them.

    Args:
        release: at least one row and one quasi-identifier.
        largest: columns of the largest sets to look at, at least 1; None is all quasi-identifiers.
        fraction: released rows by people of the population, in (0, 1], if it is known.

    Raises:
        TableError: there are no rows or no quasi-identifiers, or the fraction is impossible.
    """
    names = release.roles.quasi_identifiers
    if not len(release) or not names:
        raise TableError("The table has no rows or no quasi-identifiers.", "Give rows and declare some.")
    most = len(names) if largest is None else min(max(1, largest), len(names))
    codes = [release.codes(name).codes for name in names]
    scores, smallest = np.zeros(len(release)), np.zeros(len(release), dtype=np.int64)
    by_column, sizes = dict.fromkeys(names, 0.0), dict.fromkeys(range(1, most + 1), 0)
    below: dict[tuple[int, ...], Int] = {(): np.array([], dtype=np.int64)}
    for size in range(1, most + 1):
        found: dict[tuple[int, ...], Int] = {}
        weight = float(factorial(len(names) - size))
        for chosen in combinations(range(len(names)), size):
            classes, count = number_classes([codes[place] for place in chosen])
            alone = np.flatnonzero(class_sizes(release, classes, count)[classes] == 1)
            found[chosen] = alone
            known = [below[part] for part in _parts(chosen) if len(below[part])]
            minimal = np.setdiff1d(alone, np.concatenate(known)) if known else alone
            scores[minimal] += weight
            smallest[minimal[smallest[minimal] == 0]] = size
            sizes[size] += len(minimal)
            for place in chosen:
                by_column[names[place]] += weight * len(minimal)
        below = found
    total = float(scores.sum())
    return SpecialUniques(
        largest=most,
        sizes=sizes,
        smallest=smallest,
        scores=scores,
        columns={name: part / total if total else 0.0 for name, part in by_column.items()},
        dis=None if fraction is None else dis_scores(scores, len(names), sized_classes(release)[1], fraction),
    )


def dis_scores(scores: Float, columns: int, of_classes: Int, fraction: float) -> Float:
    """DIS-SUDA: scores as if they were probabilities that a match is right.

    The odds against a right match are, in the mean over the rows with a score S, those of data intrusion
    simulation, and are shared out in proportion to S^-Q with Q = 1 + (8 - d) / 20 of d columns. They rank
    rows on a scale that depends on the sample; no single one is a calibrated probability.

    Args:
        scores: of each row, shape (n,).
        columns: d.
        of_classes: how many each class has, shape (c,).
        fraction: released rows by people of the population, in (0, 1].

    Returns:
        In [0, 1], shape (n,); 0 for rows without a score.

    Raises:
        TableError: the fraction is impossible.

    Reference: Elliot, Integrating file and record level disclosure risk assessment, Inference Control in
        Statistical Databases, LNCS 2316, 2002; the exponent is that of `suda2` in sdcMicro.
    """
    if not 0 < fraction <= 1:
        raise TableError(
            f"The sampling fraction is {fraction}.", "Give released rows by population, up to 1."
        )
    scored = scores > 0
    found = np.zeros(len(scores))
    if scored.any():
        sizes, counts = np.unique(of_classes, return_counts=True)
        match = match_probability(sizes, counts, fraction)
        strength = scores[scored] ** (1 + (8 - columns) / 20)
        found[scored] = 1 / (1 + (1 / match - 1) / (strength * (1 / strength).mean()))
    return found


def sets_to_search(columns: int, largest: int | None = None) -> int:
    """How many sets of columns a search looks at."""
    most = columns if largest is None else min(largest, columns)
    return sum(comb(columns, size) for size in range(1, most + 1))


def _parts(chosen: tuple[int, ...]) -> Iterator[tuple[int, ...]]:
    """The sets with one column less."""
    return (chosen[:place] + chosen[place + 1 :] for place in range(len(chosen)))

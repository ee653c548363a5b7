"""Individual and household risk: each row's chance to be re-identified in the population it stands for.

Where rows carry sampling weights, a row of weight w stands for w people: a class of f rows stands for the
sum of their weights, F^, and the sampled part of it is f / F^. Without weights all classes have the fraction
of the whole sample.
"""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from anonymizer.errors import TableError
from anonymizer.risk.measures import sized_classes
from anonymizer.risk.uniqueness import individual_risk
from anonymizer.tables.table import Table

Int = NDArray[np.int64]
Float = NDArray[np.float64]


@dataclass(frozen=True, slots=True)
class PersonRisk:
    """The risk of each released row.

    Attributes:
        rows: estimated mean of 1 / F, F being the people of the row's class, in (0, 1], shape (n,).
        households: of each row the chance that somebody of its household is re-identified, shape (n,); None
            if no households are known.
    """

    rows: Float = field(repr=False)
    households: Float | None = field(repr=False)

    @property
    def expected(self) -> float:
        """How many rows are re-identified if all are matched."""
        return float(self.rows.sum())


def person_risk(
    release: Table,
    fraction: float | None = None,
    weights: Float | None = None,
    households: Int | None = None,
) -> PersonRisk:
    """Estimate.

    Args:
        release: with quasi-identifiers.
        fraction: released rows by population, in (0, 1]; for those without weights.
        weights: of each row how many people it stands for, at least 1, shape (n,).
        households: of each row the number of its household, from 0, -1 for a person alone, shape (n,).

    Raises:
        TableError: the table has no rows or no quasi-identifiers, neither fraction nor weights are given, or
            one is out of range.

    Reference: Benedetti and Franconi 1998; Franconi and Polettini, Individual risk estimation in mu-Argus,
    Privacy in Statistical Databases 2004; the latter for households too.
    """
    classes, of_classes = sized_classes(release)
    sizes = of_classes[classes]
    if weights is not None:
        wrong = np.flatnonzero(~(np.isfinite(weights) & (weights >= 1)))
        if len(wrong):
            raise TableError(
                f"{len(wrong)} sampling weights are missing or below 1, the first in row {wrong[0] + 1}.",
                "A row stands for itself at least: write weights of 1 or more.",
            )
        if release.persons is not None:
            weights = weights * release.persons.shares(classes)
        sampled = sizes / np.bincount(classes, weights)[classes]
    elif fraction is not None and 0 < fraction <= 1:
        sampled = np.full(len(release), fraction)
    else:
        raise TableError(
            "Nothing says how many people a row stands for.", "Give weights, or a fraction in (0, 1]."
        )
    pairs, back = np.unique(np.stack((sizes, sampled)), axis=1, return_inverse=True)
    rows = individual_risk(pairs[0].astype(np.int64), pairs[1])[back.reshape(-1)]
    return PersonRisk(rows, None if households is None else household_risk(rows, households))


def household_risk(rows: Float, households: Int) -> Float:
    """1 - the product over the members of (1 - risk): one who is found gives the others away.

    Args:
        rows: the risk of each row, in [0, 1], shape (n,).
        households: as `person_risk`.

    Returns:
        Of each row that of its household, shape (n,).
    """
    alone = households < 0
    found = rows.copy()
    if not alone.all():
        safe = np.log1p(-np.minimum(rows[~alone], 1 - 1e-15))
        found[~alone] = -np.expm1(np.bincount(households[~alone], safe)[households[~alone]])
        certain = np.bincount(households[~alone], rows[~alone] >= 1)[households[~alone]] > 0
        found[~alone] = np.where(certain, 1.0, found[~alone])
    return found

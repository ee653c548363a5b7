"""Information loss of a release, all measures at once."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np

from anonymizer.errors import TableError
from anonymizer.risk.attacks.rows import shared_columns
from anonymizer.risk.classes import classes_of
from anonymizer.tables.table import Table
from anonymizer.utility.correlations import Correlations, correlations
from anonymizer.utility.marginals import Marginal, marginal
from anonymizer.utility.penalty import column_penalty
from anonymizer.utility.propensity import Propensity, propensity


@dataclass(frozen=True, slots=True)
class InformationLoss:
    """What a release lost; see the modules of the parts.

    Attributes:
        rows: the part of the original rows that was released, in [0, 1].
        ncp: normalized certainty penalty of each quasi-identifier, in [0, 1]; a row that was not released
            counts 1. NaN where labels are in no hierarchy and name no numbers.
        discernibility: see `discernibility`.
        class_size: mean rows of a class.
        marginals: of each shared column.
        correlations: of all pairs of shared columns.
        propensity: of the shared columns.
    """

    rows: float
    ncp: Mapping[str, float]
    discernibility: int
    class_size: float
    marginals: Mapping[str, Marginal] = field(repr=False)
    correlations: Correlations = field(repr=False)
    propensity: Propensity

    @property
    def mean_ncp(self) -> float:
        """The mean over the quasi-identifiers; NaN if there is none."""
        return float(np.mean(list(self.ncp.values()))) if self.ncp else float("nan")


def information_loss(
    original: Table, release: Table, columns: Sequence[str] | None = None
) -> InformationLoss:
    """Measure.

    Args:
        original: at least one row, with the roles and the hierarchies.
        release: what was made of it, at least one row.
        columns: for marginals, correlations and propensity; None is all shared ones but identifiers.

    Raises:
        TableError: a table has no rows, or lacks a column.
    """
    if not len(original) or not len(release):
        raise TableError("A table has no rows.", "Give at least one.")
    names = shared_columns(original, release) if columns is None else tuple(columns)
    keys = tuple(name for name in original.roles.quasi_identifiers if name in release.names)
    return InformationLoss(
        rows=min(1.0, len(release) / len(original)),
        ncp={key: column_penalty(original, release, key) for key in keys},
        discernibility=discernibility(release, keys, len(original)),
        class_size=average_class_size(release, keys),
        marginals={name: marginal(original, release, name) for name in names},
        correlations=correlations(original, release, names),
        propensity=propensity(original, release, names),
    )


def discernibility(release: Table, columns: Sequence[str], rows: int) -> int:
    """Each released row counts the rows of its class, each suppressed one all rows.

    Args:
        release: at least one row.
        columns: the quasi-identifiers.
        rows: of the original.

    Reference: Bayardo and Agrawal, Data privacy through optimal k-anonymization, ICDE 2005.
    """
    sizes = np.bincount(classes_of(release, columns)[0])
    return int((sizes**2).sum()) + max(0, rows - len(release)) * rows


def average_class_size(release: Table, columns: Sequence[str]) -> float:
    """Rows by classes.

    Args:
        release: at least one row.
        columns: the quasi-identifiers.

    Reference: LeFevre, DeWitt and Ramakrishnan, Mondrian multidimensional k-anonymity, ICDE 2006, where it
    is divided by k as well.
    """
    return len(release) / classes_of(release, columns)[1]

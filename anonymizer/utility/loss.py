"""How large the classes of a release are, as a loss."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from anonymizer.risk.classes import classes_of
from anonymizer.tables.table import Table


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

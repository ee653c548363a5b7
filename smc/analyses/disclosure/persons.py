"""Where limits or epsilon count persons, a side brings one row for each."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from smc.errors import DomainError


def check_one_row_each(persons: NDArray[np.int64] | None) -> None:
    """Check that rows are persons, for figures that count rows and are limited by persons.

    Args:
        persons: of the rows of this side, shape (n,), or None where each row is a person of its own.

    Raises:
        DomainError: two rows are about one person.
    """
    if persons is not None and len(np.unique(persons)) < len(persons):
        raise DomainError(
            "Several rows of this side are about one person, and limits or epsilon count persons.",
            "Bring one row per person, for instance by summing up a person's rows first.",
        )

"""What is checked of the rows of a matching of feature vectors."""

from __future__ import annotations

from typing import Final

from smc.analyses.matching.vectors.parameters import VectorParameters
from smc.analyses.studies.columns import Data, Schema
from smc.errors import DomainError, TooManyRowsError

MAX_PAIRS: Final = 1 << 28
"""Most pairs of one job, each rank counted."""


def feature_schemas(parameters: VectorParameters, data: Data) -> dict[str, Schema]:
    """The declarations of the features."""
    return {name: data[name].schema for name in parameters.columns}


def check_counts(parameters: VectorParameters, alice: int, bob: int) -> None:
    """Check the numbers of rows.

    Raises:
        DomainError: a side has too few.
        TooManyRowsError: both together have too many.
    """
    needed = max(1, parameters.nearest)
    if not alice or bob < needed:
        short = "Alice has no rows" if not alice else f"Bob has {bob} rows of the {needed} that are needed"
        raise DomainError(
            f"{short}; there is nothing to match with.",
            "Use data sets with rows on both sides, and at least parameters.nearest of Bob's.",
        )
    if alice * bob * max(1, parameters.nearest) > MAX_PAIRS:
        raise TooManyRowsError(
            f"{alice} times {bob} rows make too many pairs: each pair is compared.",
            "Match fewer rows in one job.",
        )

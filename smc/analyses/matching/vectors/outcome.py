"""The tables of a matching of feature vectors."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from smc.analyses.matching.vectors.parameters import EUCLIDEAN, VectorParameters
from smc.analyses.matching.vectors.scores import VectorMeasure
from smc.analyses.studies.outcome import Outcome, Table

VectorLinks = NDArray[np.int64]
"""Matches: Alice's row, Bob's row and the rank, shape (k, 3)."""

ROUTE: Final = "inner products of all pairs and comparisons by oblivious transfer"
KEPT: Final = ("The matches went to the other party only.",)
_NUMBERS: Final = (
    "Rows count from 1. A pair has the same number in the tables of both recipients; a partner's number "
    "stands for a row of the other side in this run alone.",
)


def links_of(bits: NDArray[np.bool_], bob: int) -> VectorLinks:
    """Matches from bits of shape (alice, ranks * bob), in order of Alice's numbers and ranks."""
    rows, places = np.nonzero(bits)
    return np.stack([rows, places % bob, places // bob], axis=1).astype(np.int64)


def pairs_table(
    parameters: VectorParameters,
    rows: NDArray[np.int64],
    partners: NDArray[np.int64],
    ranks: NDArray[np.int64],
    details: Mapping[str, Any],
) -> Outcome:
    """The table of a recipient.

    Args:
        parameters: of the job.
        rows: the local rows of the matches, from 0, shape (k,).
        partners: numbers that stand for the peer's rows, from 0, shape (k,).
        ranks: from 0, shape (k,).
        details: of the run.
    """
    columns = {
        "pair": list(range(1, len(rows) + 1)),
        "row": (rows + 1).tolist(),
        "partner": (partners + 1).tolist(),
    }
    if parameters.nearest:
        columns["rank"] = (ranks + 1).tolist()
    return Outcome((Table("pairs", columns),), _NUMBERS, details)


def details_of(parameters: VectorParameters, measure: VectorMeasure, alice: int, bob: int) -> dict[str, Any]:
    """What results say of the run; `alice` and `bob` are their numbers of rows."""
    return {
        "route": ROUTE,
        "engine": "oblivious",
        "similarity": parameters.similarity,
        "threshold": None if parameters.threshold is None else str(parameters.threshold),
        "nearest": parameters.nearest,
        "precision_bits": parameters.precision,
        "score_bits": measure.width,
        "compared": alice * bob,
        "scaling": parameters.scaling.value if parameters.similarity == EUCLIDEAN else "length",
    }

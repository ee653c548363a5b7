"""The `[parameters]` of a matching of feature vectors, checked and frozen."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from fractions import Fraction
from typing import Any, Final

from smc.analyses.records.fixed_point import Scaling
from smc.analyses.records.numbers import number
from smc.analyses.studies.parameters import reject_unknown, take
from smc.errors import UsageError

EUCLIDEAN: Final = "euclidean"
COSINE: Final = "cosine"
MAX_COLUMNS: Final = 4096
MAX_NEAREST: Final = 100
PRECISIONS: Final = (4, 16)

_KEYS: Final = {"columns", "similarity", "threshold", "nearest", "precision", "scaling"}
_PLACE: Final = "parameters"


@dataclass(frozen=True, slots=True)
class VectorParameters:
    """Parsed parameters.

    Attributes:
        columns: the features, under the same names on both sides.
        similarity: `EUCLIDEAN` or `COSINE`.
        threshold: the largest distance or the least cosine of a match; None where the nearest are asked for.
        nearest: how many of Bob's rows each of Alice's is matched with; 0 where a threshold is stated.
        precision: bits of a feature.
        scaling: what distances are measured in.
    """

    columns: tuple[str, ...]
    similarity: str = EUCLIDEAN
    threshold: Fraction | None = None
    nearest: int = 0
    precision: int = 8
    scaling: Scaling = Scaling.NONE


def parse(parameters: Mapping[str, Any]) -> VectorParameters:
    """Check the parameters.

    Raises:
        UsageError: a key is unknown or missing, or a value impossible; names the place.
    """
    reject_unknown(parameters, _KEYS, _PLACE)
    columns = take(parameters, "columns", list, _PLACE)
    if not 1 <= len(columns) <= MAX_COLUMNS or not all(isinstance(name, str) and name for name in columns):
        raise UsageError(
            f"{_PLACE}.columns is not a list of 1 to {MAX_COLUMNS} names.", 'Write ["...", "..."].'
        )
    if len(set(columns)) < len(columns):
        raise UsageError(f"{_PLACE}.columns names a column twice.", "Name each column once.")
    similarity = take(parameters, "similarity", str, _PLACE, EUCLIDEAN)
    if similarity not in (EUCLIDEAN, COSINE):
        raise UsageError(
            f"{_PLACE}.similarity cannot be {similarity!r}.", f"Choose {EUCLIDEAN!r} or {COSINE!r}."
        )
    if ("threshold" in parameters) is ("nearest" in parameters):
        raise UsageError(f"{_PLACE} needs either threshold or nearest.", "Give exactly one of them.")
    precision = take(parameters, "precision", int, _PLACE, 8)
    if not PRECISIONS[0] <= precision <= PRECISIONS[1]:
        raise UsageError(f"{_PLACE}.precision is out of range.", f"Use {PRECISIONS[0]} to {PRECISIONS[1]}.")
    return VectorParameters(
        tuple(columns),
        similarity,
        _threshold(parameters, similarity),
        _nearest(parameters),
        precision,
        _scaling(parameters, similarity),
    )


def _threshold(parameters: Mapping[str, Any], similarity: str) -> Fraction | None:
    if "threshold" not in parameters:
        return None
    value = number(parameters["threshold"], f"{_PLACE}.threshold")
    if similarity == COSINE and not -1 <= value <= 1:
        raise UsageError(f"{_PLACE}.threshold is not a valid cosine.", "Write a number from -1 to 1.")
    if similarity == EUCLIDEAN and value < 0:
        raise UsageError(f"{_PLACE}.threshold is a negative distance.", "Write a number of at least 0.")
    return value


def _nearest(parameters: Mapping[str, Any]) -> int:
    if "nearest" not in parameters:
        return 0
    count = take(parameters, "nearest", int, _PLACE)
    if not 1 <= count <= MAX_NEAREST:
        raise UsageError(f"{_PLACE}.nearest is out of range.", f"Use 1 to {MAX_NEAREST}.")
    return count


def _scaling(parameters: Mapping[str, Any], similarity: str) -> Scaling:
    if "scaling" in parameters and similarity == COSINE:
        raise UsageError(
            f"{_PLACE}.scaling is only for Euclidean distances.",
            "Leave it out: vectors are scaled to length 1.",
        )
    word = take(parameters, "scaling", str, _PLACE, Scaling.NONE.value)
    if word not in [scaling.value for scaling in Scaling]:
        raise UsageError(f"{_PLACE}.scaling cannot be {word!r}.", "Choose 'none' or 'range'.")
    return Scaling(word)

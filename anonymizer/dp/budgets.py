"""A budget shared by columns."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence

from anonymizer.errors import SpecError
from anonymizer.releases.guarantee import MIN_EPSILON
from commons.errors import near


def shares(columns: Sequence[str], weights: Mapping[str, float] | None) -> dict[str, float]:
    """The part of the budget of a record that each column gets; they add up to 1 (sequential composition).

    Args:
        columns: one or more.
        weights: how many times the part of the others a column gets; 1 where it is not named.

    Raises:
        SpecError: a weight is of another column, or not a positive finite number.
    """
    given = dict.fromkeys(columns, 1.0)
    for column, weight in (weights or {}).items():
        if column not in given:
            raise SpecError(
                f"weights name {column!r}, which is not among the columns of the step.", near(column, columns)
            )
        if not (math.isfinite(weight) and weight > 0):
            raise SpecError(f"The weight of {column!r} is {weight}.", "Choose a positive number, such as 2.")
        given[column] = float(weight)
    total = sum(given.values())
    return {column: weight / total for column, weight in given.items()}


def budgets(
    epsilon: float, columns: Sequence[str], weights: Mapping[str, float] | None = None
) -> dict[str, float]:
    """Epsilon of each column; they add up to that of the record.

    Args:
        epsilon: of a record.
        columns: as in `shares`.
        weights: as in `shares`.

    Raises:
        SpecError: as `shares`; or a column gets less than `MIN_EPSILON`.
    """
    found = {column: epsilon * share for column, share in shares(columns, weights).items()}
    least = min(found, key=lambda column: found[column])
    if found[least] < MIN_EPSILON:
        raise SpecError(
            f"Of epsilon {epsilon:g} column {least!r} gets {found[least]:.3g}, less than {MIN_EPSILON:g}.",
            "Raise epsilon, name fewer columns, or weight them more evenly.",
        )
    return found

"""What precision noisy figures over an intersection can be expected to have if all local rows match."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from smc.analyses.matching.aggregates.parameters import AggregateParameters, declare_value, distributions
from smc.analyses.matching.aggregates.tables import MISS, mean_interval
from smc.analyses.records.numbers import text
from smc.analyses.studies.columns import Data, Schema
from smc.analyses.studies.precision import expectation
from smc.forms import Role
from smc.secret.sharing.bounds import Bounds


def expected_precision(
    parameters: AggregateParameters,
    numbers: NDArray[np.int64],
    data: Data,
    role: Role,
    peer: Mapping[str, Schema] | None,
) -> list[dict[str, Any]]:
    """The half widths of the 95 % intervals of the size, and of each sum and mean.

    Args:
        parameters: of the job.
        numbers: the rows that take part, from 0.
        data: the local columns.
        role: whose they are.
        peer: the declarations of the peer's columns; None where they are not known, and neither are the
            widths of its sums.

    Returns:
        Rows as of `expectation`; none without epsilon. Of the mean of a column of the other side nothing is
        known.
    """
    if parameters.epsilon is None:
        return []
    loss = {"epsilon": text(parameters.noisy_epsilon)}
    size = distributions(parameters, ())[0]
    found = [expectation("size", "size", float(size.half_width(MISS)), "rows", loss)]
    for value in parameters.values:
        local = value.side is role
        schema = data[value.column].schema if local else (peer or {}).get(value.column)
        total: float | None = None
        mean: float | None = None
        if schema is not None:
            each = declare_value(value, schema)
            noise = distributions(parameters, (Bounds(each.lower, each.upper),))[1]
            total = float(noise.half_width(MISS)) / 10**each.scale
            if local:
                cells = np.clip(data[value.column].array[numbers], each.lower, each.upper)
                lower, upper = mean_interval(each, len(cells), int(cells.sum()), size, noise)
                mean = (upper - lower) / 2 / 10**each.scale
        unit = schema.unit if schema is not None else ""
        for kind, width in (("sum", total), ("mean", mean)):
            found.append(expectation(f"{kind} of {value.name}", kind, width, unit, loss))
    return found

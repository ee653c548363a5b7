"""The tables of figures about an intersection."""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from smc.analyses.matching.aggregates.parameters import NEIGHBOURS, SIZE, AggregateParameters
from smc.analyses.records.numbers import real
from smc.analyses.studies.outcome import Outcome, Table
from smc.protocols.exchange.bounds import Declared
from smc.secret.laplace import DiscreteLaplace

_MISS: Final = Fraction(1, 20)


def results(
    parameters: AggregateParameters,
    every: Sequence[Declared],
    figures: Sequence[int] | None,
    noises: Sequence[DiscreteLaplace],
) -> Outcome:
    """The table of opened figures.

    Args:
        parameters: as parsed.
        every: the values' declarations.
        figures: the size, then the sum of every value in held units; None for a party that gets none.
        noises: their noise; empty if they are exact.
    """
    details: dict[str, Any] = {"output": parameters.output, "guarantee": "none: exact values"}
    if parameters.epsilon is not None:
        details["guarantee"] = "(epsilon, delta)-differential privacy, computational towards the parties"
        details["neighbours"] = str(NEIGHBOURS)
    if noises:
        details["noise_scales"] = [str(1 / distribution.rate) for distribution in noises]
    if figures is None:
        return Outcome((), ("The results went to the other party only.",), details)
    widths = [distribution.half_width(_MISS) for distribution in noises] or [0] * len(figures)
    if parameters.output == SIZE:
        columns: dict[str, list[Any]] = {"size": [figures[0]]}
        if noises:
            columns |= {"lower_95": [figures[0] - widths[0]], "upper_95": [figures[0] + widths[0]]}
        return Outcome((Table("intersection", columns),), (), details)
    columns = {name: [] for name in ("side", "column", "count", "sum", "mean")}
    if noises:
        columns |= {"sum_lower_95": [], "sum_upper_95": []}
    for value, each, total, width in zip(parameters.values, every, figures[1:], widths[1:], strict=True):
        mean = Fraction(total, figures[0] * 10**each.scale) if figures[0] > 0 else None
        row: list[Any] = [value.side.value, value.column, figures[0], real(total, each.scale)]
        row.append(None if mean is None else float(mean))
        row += [real(total - width, each.scale), real(total + width, each.scale)]
        for name, cell in zip(columns, row, strict=False):
            columns[name].append(cell)
    return Outcome((Table("intersection", columns),), (), details)


def share_outcome(
    parameters: AggregateParameters, shares: Sequence[NDArray[np.uint64]], every: Sequence[Declared]
) -> Outcome:
    """The table of shares, slot by slot.

    Args:
        parameters: as parsed.
        shares: of the member bits and of every value, shape (slots,) each.
        every: the values' declarations.
    """
    names = ["member", *(value.name for value in parameters.values)]
    slots = len(shares[0])
    columns: dict[str, Sequence[Any]] = {"slot": list(range(1, slots + 1))}
    columns |= {name: column.astype(str).tolist() for name, column in zip(names, shares, strict=True)}
    scales = [0, *(each.scale for each in every)]
    details = {
        "output": parameters.output,
        "modulus": "2^64",
        "scales": dict(zip(names, scales, strict=True)),
        "guarantee": "shares: each party's alone are uniform",
    }
    note = (
        "Shares modulo 2^64: both parties' sum up to 1 in the slot of a match and to its values, else to 0; "
        "negative ones are counted from 2^64."
    )
    return Outcome((Table("shares", columns),), (note,), details)

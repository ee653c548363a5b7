"""The tables of figures about an intersection."""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from smc.analyses.matching.aggregates.parameters import NEIGHBOURS, SIZE, FigureParameters
from smc.analyses.records.noisy_means import Ends, mean_ends
from smc.analyses.records.real_units import real
from smc.analyses.studies.outcome import NUMBER, Outcome, Table
from smc.protocols.exchange.bounds import Declared
from smc.secret.noise.laplace import DiscreteLaplace

MISS: Final = Fraction(1, 20)
"""With what probability an interval does not hold the exact value, at most."""

_NOBODY: Final = (
    "The intersection is not distinguishable from nobody, as the interval of its size contains 0."
)
_MEANS: Final = (
    "A mean is the noisy sum over the noisy count, within the bounds of its values; its interval follows "
    "from the joint law of the noise of both. There is none where the count may be 0."
)


def results(
    parameters: FigureParameters,
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
        return Outcome.withhold(details=details)
    size = figures[0]
    if not noises:
        if parameters.output == SIZE:
            return Outcome((Table("intersection", {"size": [size]}),), (), details)
        return Outcome((_exact(parameters, every, figures),), (), details)
    width = noises[0].half_width(MISS)
    notes = (_NOBODY,) if size <= width else ()
    if parameters.output == SIZE:
        columns = {"size": [size], "lower_95": [size - width], "upper_95": [size + width]}
        return Outcome((Table("intersection", columns),), notes, details)
    return Outcome((_noisy(parameters, every, figures, noises),), (*notes, _MEANS), details)


def _exact(parameters: FigureParameters, every: Sequence[Declared], figures: Sequence[int]) -> Table:
    columns: dict[str, list[Any]] = {name: [] for name in ("side", "column", "count", "sum", "mean")}
    for value, each, total in zip(parameters.values, every, figures[1:], strict=True):
        mean = float(Fraction(total, figures[0] * 10**each.scale)) if figures[0] > 0 else None
        row = (value.side.value, value.column, figures[0], real(total, each.scale), mean)
        for cells, cell in zip(columns.values(), row, strict=True):
            cells.append(cell)
    return Table("intersection", columns, {"sum": NUMBER})


def _noisy(
    parameters: FigureParameters,
    every: Sequence[Declared],
    figures: Sequence[int],
    noises: Sequence[DiscreteLaplace],
) -> Table:
    """Counts, sums and means, each with its interval.

    A mean lies between the bounds that its values were clamped to. It is None where the count may be 0.
    """
    heads = [f"{name}{end}" for name in ("count", "sum", "mean") for end in ("", "_lower_95", "_upper_95")]
    columns: dict[str, list[Any]] = {name: [] for name in ("side", "column", *heads)}
    size, half = figures[0], noises[0].half_width(MISS)
    for value, each, total, noise in zip(parameters.values, every, figures[1:], noises[1:], strict=True):
        width = noise.half_width(MISS)
        bounds = (Fraction(each.lower), Fraction(each.upper))
        mean, ends = None, mean_interval(each, size, total, noises[0], noise)
        if size > half:
            mean = float(min(max(Fraction(total, size), bounds[0]), bounds[1]) / 10**each.scale)
        counts = (size, size - half, size + half)
        sums = (real(end, each.scale) for end in (total, total - width, total + width))
        means = (mean, *(end / 10**each.scale for end in ends))
        row = (value.side.value, value.column, *counts, *sums, *means)
        for cells, cell in zip(columns.values(), row, strict=True):
            cells.append(cell)
    return Table("intersection", columns, dict.fromkeys(("sum", "sum_lower_95", "sum_upper_95"), NUMBER))


def mean_interval(
    each: Declared, size: int, total: int, of_size: DiscreteLaplace, of_total: DiscreteLaplace
) -> Ends:
    """The 95 % interval of a mean in held units; from bound to bound where the size may be 0.

    Args:
        each: the bounds of the values.
        size: the noisy one.
        total: the noisy sum.
        of_size: the noise of the size.
        of_total: the noise of the sum.
    """
    bounds = (float(each.lower), float(each.upper))
    return mean_ends(float(total), float(size), (of_total, of_size), MISS, bounds)


def share_outcome(
    parameters: FigureParameters, shares: Sequence[NDArray[np.uint64]], every: Sequence[Declared]
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

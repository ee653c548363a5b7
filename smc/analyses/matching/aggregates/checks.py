"""What is checked of one side's rows before figures about an intersection are computed."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

import numpy as np
from numpy.typing import NDArray

from smc.analyses.disclosure.limits import Limits
from smc.analyses.disclosure.persons import check_one_row_each
from smc.analyses.disclosure.release import Release
from smc.analyses.matching.aggregates.parameters import (
    SIZE,
    STATISTICS,
    FigureParameters,
    declare_value,
)
from smc.analyses.studies.columns import PERSONS, Data, Schema
from smc.forms import Role
from smc.secret.noise.laplace import DiscreteLaplace
from smc.secret.sharing.bounds import Bounds


def counts_persons(parameters: FigureParameters, release: Release | Limits) -> bool:
    """Whether limits that apply, or epsilon, are about persons and not about rows."""
    limited = release.counts_groups or release.counts_matches or release.weighs
    return limited or parameters.epsilon is not None


def check_rows(
    parameters: FigureParameters,
    noises: Callable[[tuple[Bounds, ...]], Sequence[DiscreteLaplace]] | None,
    numbers: NDArray[np.int64],
    data: Data,
    role: Role,
    limits: Limits,
    peer: Mapping[str, Schema] | None,
) -> None:
    """Check what a run would refuse of one side's rows.

    Args:
        parameters: as parsed.
        noises: those of the size and of every sum, by the bounds of the values; None if they are exact.
        numbers: the rows that take part, from 0.
        data: the columns of this side.
        role: which side it is.
        limits: of disclosure, as far as they are known.
        peer: the declarations of the peer's columns; None where they are not known.

    Raises:
        DomainError: as the run of the study.
        UsageError: values are not numbers, bounds of the job do not fit the declared ones, or no noise does.
        DisclosureRefused: there are fewer rows than the smallest group.
    """
    if counts_persons(parameters, limits):
        check_one_row_each(data[PERSONS].array[numbers] if PERSONS in data else None)
    weighs = limits.weighs and parameters.epsilon is None and parameters.output == STATISTICS
    local = {name: column.schema for name, column in data.items()}
    for side, schemas, most in (
        (role, local, len(numbers)),
        (role.other, peer, limits.fewest_matchable(len(numbers))),
    ):
        values = [value for value in parameters.values if value.side is side and schemas is not None]
        every = [declare_value(v, (schemas or {})[v.column]) for v in values]
        bounds = [Bounds(each.lower, each.upper) for each in every]
        check_room(
            bounds, noises(tuple(bounds)) if noises else (), most, limits.weight_factor if weighs else 1
        )
    if parameters.epsilon is None and parameters.output != SIZE:
        limits.check_persons(len(numbers))


def check_room(bounds: Sequence[Bounds], noises: Sequence[DiscreteLaplace], most: int, factor: int) -> None:
    """Check, before rows are aligned, that no sum and no test of a limit can leave 63 bits.

    Args:
        bounds: of every value.
        noises: of the size and of every sum; empty if they are exact.
        most: the largest size that the intersection can have.
        factor: by which sums are multiplied in tests.

    Raises:
        DomainError: one could.
    """
    reach = [distribution.bound for distribution in noises[1:]] or [0] * len(bounds)
    for each, most_noise in zip(bounds, reach, strict=True):
        Bounds(0, 2 * factor * max(1, most) * each.magnitude + most_noise).fit("sum over the intersection")

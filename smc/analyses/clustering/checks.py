"""What is checked of a job's rows and columns before anything is sent, and the daemon's preview of them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from fractions import Fraction
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from smc.analyses.clustering import matched, privacy
from smc.analyses.clustering.census import check_weight
from smc.analyses.clustering.parameters import ClusteringParameters, Layout
from smc.analyses.clustering.scaled import scaled_columns
from smc.analyses.clustering.start import check_room
from smc.analyses.clustering.table import Shape
from smc.analyses.disclosure.limits import Limits
from smc.analyses.disclosure.release import Release
from smc.analyses.records.fixed_point import DeclaredRange, FixedPointColumns, Scaling
from smc.analyses.records.key_parameters import check_keys
from smc.analyses.records.numbers import text
from smc.analyses.studies.columns import PERSONS, Data, Schema
from smc.analyses.studies.precision import expectation, half, with_precision
from smc.analyses.studies.study import Preview
from smc.errors import DomainError, TooManyRowsError, UsageError
from smc.forms import Role

_MAX_INERTIA: Final = 1 << 60


def look(
    parameters: ClusteringParameters,
    data: Data,
    role: Role,
    limits: Limits,
    peer: Mapping[str, Schema] | None,
) -> Preview:
    """What `run` would remark of the local rows, or refuse; see `Study.look`."""
    local_persons(parameters, data)
    names = parameters.values(role)
    count = len(data[names[0]])
    schemas = {name: column.schema for name, column in data.items()}
    if parameters.match is not None:
        check_keys(parameters.match, schemas, role)
        matched.check_limits(parameters, limits)
        each = limits.counts_clusters
        count = len(matched.rows_of(parameters, parameters.match, data, role, one_row_each=each))
        limits.check_sets(count, count)
    columns = likely_grid(parameters, {**(peer or {}), **{name: schemas[name] for name in names}})
    columns.check_stated(parameters.centres, names)
    columns.whole(data, names)
    shape = Shape.of(parameters, columns, count, count)
    notes: tuple[str, ...] = ()
    if parameters.layout is not Layout.HORIZONTAL:
        if parameters.epsilon is None:
            limits.check_persons(shape.most)
        check_enough(parameters, shape)
    elif count < parameters.clusters:
        notes = (
            f"{parameters.clusters} clusters need as many rows of both sides together; here are "
            f"{count}, and with too few of the other side the run is refused.",
        )
    known = parameters.scaling is Scaling.RANGE or (peer is not None and parameters.match is None)
    if parameters.layout is Layout.VERTICAL and not known:
        return Preview(notes)

    def numbers() -> Preview:
        noisy = check_numbers(parameters, shape, limits)
        if noisy is None:
            return Preview()
        units = {name: schema.unit for name, schema in schemas.items()}
        return with_precision(Preview(), expected_precision(noisy, shape.most, units))

    return replace(Preview.of(numbers), notes=notes)


def expected_precision(
    noisy: privacy.NoisyMeans, rows: int, units: Mapping[str, str]
) -> list[dict[str, Any]]:
    """What precision to expect of clusters that have equally many rows, their centres amid the bounds.

    Args:
        noisy: the noise of an iteration.
        rows: of all clusters.
        units: of columns, as far as they are known.
    """
    loss = {"epsilon": text(noisy.part * noisy.iterations)}
    count = rows // noisy.clusters
    found = [expectation("size", "size", float(noisy.count.half_width(privacy.MISS)), "rows", loss)]
    for place, axis in enumerate(noisy.scaled.columns):
        ends = noisy.coordinate(place, Fraction(axis.largest, 2), count)
        width = half(axis.real(ends.lower), axis.real(ends.upper))
        found.append(expectation(f"centre, {axis.name}", "centre", width, units.get(axis.name, ""), loss))
    return found


def likely_grid(parameters: ClusteringParameters, schemas: Mapping[str, Schema]) -> FixedPointColumns:
    """The scaled of a job by one side's declarations, which stand for the other's where that has its own."""
    own = {name: DeclaredRange.of(name, schemas[name]) for name in parameters.names if name in schemas}
    likely = next(iter(own.values()))
    return scaled_columns(parameters, {name: own.get(name, likely) for name in parameters.names})


def local_persons(parameters: ClusteringParameters, data: Data) -> NDArray[np.int64] | None:
    """The numbers of the persons of the local rows, or None where each row is a person.

    Raises:
        UsageError: under epsilon, a person has more rows than the job says.
    """
    if PERSONS not in data:
        return None
    persons = data[PERSONS].array
    if parameters.epsilon is not None and privacy.rows_of_one(persons) > parameters.rows_per_person:
        raise UsageError(
            "A person has more rows on this side than parameters.rows_per_person allows.",
            "Raise it in the job, which both sides see and which adds noise, or use fewer rows.",
        )
    return persons


def check_shape(
    parameters: ClusteringParameters, shape: Shape, limits: Release | Limits
) -> privacy.NoisyMeans | None:
    """Check all that can be known before data move; the noise of an iteration."""
    alice, bob = shape.rows
    if shape.layout is not Layout.HORIZONTAL and shape.owner is None and alice != bob:
        raise DomainError(
            f"Alice has {alice} rows and Bob has {bob}; this layout needs the same rows on both sides.",
            "Use data sets that have the same rows in the same order.",
        )
    check_enough(parameters, shape)
    return check_numbers(parameters, shape, limits)


def check_enough(parameters: ClusteringParameters, shape: Shape) -> None:
    """Check that there are as many rows as clusters.

    Raises:
        DomainError: there are not.
    """
    if shape.most < parameters.clusters:
        raise DomainError(
            f"There are too few rows for {parameters.clusters} clusters: {shape.most}.",
            "Ask for fewer clusters, or use more rows.",
        )


def check_numbers(
    parameters: ClusteringParameters, shape: Shape, limits: Release | Limits
) -> privacy.NoisyMeans | None:
    """Check that numbers fit their words; the noise of an iteration."""
    check_room(parameters, shape)
    if parameters.epsilon is None:
        check_weight(shape, limits.weight_factor)
    if shape.count * (shape.scaled.diagonal << shape.scaled.fraction) >= _MAX_INERTIA:
        raise TooManyRowsError(
            "The inertia of so many rows does not fit into 63 bits.",
            "Lower parameters.precision, or use fewer rows.",
        )
    noisy = privacy.plan(parameters, shape.scaled)
    if noisy is not None:
        noisy.check_room(shape.count)
    return noisy

"""The reference: the same whole numbers in the clear, by the same rules to the last bit."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from fractions import Fraction

import numpy as np
from numpy.typing import NDArray

from smc.analyses.clustering import matched
from smc.analyses.clustering.checks import check_shape
from smc.analyses.clustering.outcome import centres_table, fit_table, labels_table
from smc.analyses.clustering.parameters import ClusteringParameters, Start
from smc.analyses.clustering.scaled import scaled_columns
from smc.analyses.clustering.sides import check_sides
from smc.analyses.clustering.table import Shape
from smc.analyses.disclosure.limits import NO_LIMITS
from smc.analyses.records.fixed_point import FixedPointColumns
from smc.analyses.studies.columns import Data
from smc.analyses.studies.outcome import Outcome
from smc.forms import Role
from smc.numeric.random import Randomness

Whole = NDArray[np.int64]


@dataclass(frozen=True, slots=True)
class FoundClusters:
    """What a run finds.

    Attributes:
        centres: in units of 2**-fraction, shape (k, d).
        labels: of all rows, the number of the cluster, shape (n,).
        sizes: rows of each cluster, shape (k,).
        inertia: the sum of squared distances, in units of 2**-fraction squares of whole numbers.
        iterations: made.
    """

    centres: Whole = field(repr=False)
    labels: Whole = field(repr=False)
    sizes: Whole = field(repr=False)
    inertia: int = field(repr=False)
    iterations: int


def movement_limit(scaled: FixedPointColumns, tolerance: Fraction) -> int:
    """The largest sum of squared movements, in squared units of 2**-fraction, at which a run stops."""
    return int((tolerance * (int(scaled.largest.max()) << scaled.fraction)) ** 2)


def half_norms(scaled: FixedPointColumns, centres: Whole) -> Whole:
    """floor(|c|**2 / 2) in units of 2**-fraction."""
    result: Whole = (centres * centres).sum(axis=1) >> (scaled.fraction + 1)
    return result


def assign_rows(scaled: FixedPointColumns, rows: Whole, centres: Whole) -> Whole:
    """The number of the nearest centre of each row, the first one of equals."""
    scores: Whole = half_norms(scaled, centres)[None] - rows @ centres.T
    found: Whole = scores.argmin(axis=1).astype(np.int64)
    return found


def cluster_rows(
    parameters: ClusteringParameters, scaled: FixedPointColumns, rows: Whole, random: Randomness | None = None
) -> FoundClusters:
    """Cluster rows.

    Args:
        parameters: of the job.
        scaled: its columns.
        rows: whole numbers, shape (n, d).
        random: where random starts come from.
    """
    k = parameters.clusters
    centres = first_centres(parameters, scaled, rows, random or Randomness())
    done = 0
    while done < parameters.iterations:
        sums, sizes = _sums(rows, assign_rows(scaled, rows, centres), k)
        after = _update(parameters, scaled, sums, sizes, centres)
        moved = int(((after - centres) ** 2).sum())
        centres = after
        done += 1
        if parameters.tolerance is not None and moved <= movement_limit(scaled, parameters.tolerance):
            break
    labels = assign_rows(scaled, rows, centres)
    sums, sizes = _sums(rows, labels, k)
    crossed = int((sizes * half_norms(scaled, centres)).sum()) - int((centres * sums).sum())
    inertia = (int((rows * rows).sum()) << scaled.fraction) + 2 * crossed
    return FoundClusters(centres, labels, sizes, inertia, done)


def _sums(rows: Whole, labels: Whole, clusters: int) -> tuple[Whole, Whole]:
    hot = (labels[:, None] == np.arange(clusters)).astype(np.int64)
    return hot.T @ rows, hot.sum(axis=0)


def _update(
    parameters: ClusteringParameters, scaled: FixedPointColumns, sums: Whole, sizes: Whole, centres: Whole
) -> Whole:
    filled = np.maximum(sizes, 1)[:, None]
    if parameters.epsilon is None:
        means = ((sums << scaled.fraction + 1) + filled) // (2 * filled)
        return np.where(sizes[:, None] > 0, means, centres)
    doubled = 2 * sums + (filled - sizes[:, None]) * scaled.largest
    result: Whole = ((doubled << scaled.fraction) + filled) // (2 * filled)
    return result


def first_centres(
    parameters: ClusteringParameters, scaled: FixedPointColumns, rows: Whole, random: Randomness
) -> Whole:
    """The first centres, by the same distribution as inside the protocol."""
    k, count = parameters.clusters, len(rows)
    if parameters.start is Start.GIVEN:
        return scaled.scale_centres(parameters.centres)
    if parameters.start is Start.UNIFORM:
        columns = [random.below((int(most) << scaled.fraction) + 1, k) for most in scaled.largest]
        return np.array(columns, dtype=np.int64).T
    if not count:
        return np.zeros((k, scaled.dimensions), dtype=np.int64)
    if parameters.start is Start.RANDOM:
        fractions = [Fraction(random.below(1 << 18, 1)[0], 1 << 18) + i for i in range(k)]
        return rows[[int(fraction * count / k) for fraction in fractions]] << scaled.fraction
    chosen = rows[random.below(count, 1)]
    weights = None
    for _ in range(1, k):
        distances = ((rows - chosen[-1]) ** 2).sum(axis=1)
        weights = distances if weights is None else np.minimum(weights, distances)
        running = np.cumsum(weights)
        threshold = random.below(max(1, int(running[-1])), 1)[0]
        found = np.flatnonzero(running > threshold)[:1]
        row = rows[found] if len(found) else np.zeros((1, rows.shape[1]), dtype=np.int64)
        chosen = np.concatenate([chosen, row])
    return chosen << scaled.fraction


def reference(
    parameters: ClusteringParameters, alice: Data, bob: Data, recipients: frozenset[Role]
) -> tuple[Outcome, Outcome]:
    """What both would get from a trusted third party, without noise and limits; random starts are new."""
    sides = dict(zip(Role, (alice, bob), strict=True))
    schemas = {
        role: {name: data[name].schema for name in parameters.columns(role)} for role, data in sides.items()
    }
    columns = scaled_columns(parameters, check_sides(parameters, schemas[Role.ALICE], schemas[Role.BOB]))
    joined, shape = plain_table(parameters, columns, sides)
    check_shape(parameters, shape, NO_LIMITS)
    found = cluster_rows(parameters, columns, joined)
    first, second = (
        _plain_outcome(parameters, shape, found, role) if role in recipients else Outcome() for role in Role
    )
    return first, second


def plain_table(
    parameters: ClusteringParameters, columns: FixedPointColumns, sides: Mapping[Role, Data]
) -> tuple[NDArray[np.int64], Shape]:
    """The whole numbers of all rows in the clear, and what would be public of them."""
    if parameters.match is not None:
        joined, counts = matched.join_in_clear(parameters, parameters.match, columns, sides)
        return joined, Shape.of(parameters, columns, *counts)
    blocks = {
        role: columns.whole(data, parameters.values(role)).astype(np.int64) for role, data in sides.items()
    }
    shape = Shape.of(parameters, columns, *(len(blocks[role]) for role in Role))
    joined = np.zeros((shape.count, columns.dimensions), dtype=np.int64)
    for role, block in blocks.items():
        joined[shape.rows_of(role), shape.columns_of(role)[0] : shape.columns_of(role)[-1] + 1] += block
    return joined, shape


def _plain_outcome(
    parameters: ClusteringParameters, shape: Shape, found: FoundClusters, role: Role
) -> Outcome:
    columns: FixedPointColumns = shape.scaled
    tables = [centres_table(columns, found.centres, found.sizes.tolist())]
    if parameters.labels:
        tables.append(labels_table(found.labels[shape.rows_of(role)]))
    if parameters.epsilon is None:
        tables.append(fit_table(columns, found.inertia, found.iterations))
    return Outcome(tuple(tables))

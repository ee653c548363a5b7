"""The first centres, chosen without anybody knowing which rows they are.

A row is chosen by a secret threshold u below the sum T of secret weights: the first one whose running sum is
above u. For weights that are 1 the threshold is uniform in one of k runs of rows; for k-means++ it is T times
a secret uniform fraction of 36 binary digits, so that a row's chance is off by less than 2**-36.

Reference: Arthur and Vassilvitskii, k-means++: the advantages of careful seeding, SODA 2007.
"""

from __future__ import annotations

from typing import Final

import numpy as np
from numpy.typing import NDArray

from smc.analyses.clustering.parameters import ClusteringParameters, Start
from smc.analyses.clustering.table import (
    WORD_BITS,
    SecretTable,
    Shape,
)
from smc.analyses.records.fixed_point import FixedPointColumns
from smc.errors import TooManyRowsError
from smc.protocols.session import Session
from smc.secret import uniform
from smc.secret.bits import SecretBits
from smc.secret.comparison import msb, mux
from smc.secret.ints import SecretInts
from smc.secret.sharing.bounds import Bounds

Word = NDArray[np.uint64]

FRACTION_BITS: Final = 18
"""Binary digits of each half of a uniform fraction."""

POINT_BITS: Final = 24
"""Binary digits of the uniform fraction that a coordinate of a uniform point is made of."""

MAX_WEIGHT: Final = 1 << (63 - FRACTION_BITS)


def check_room(parameters: ClusteringParameters, shape: Shape) -> None:
    """Check that weights fit.

    Raises:
        TooManyRowsError: they do not.
    """
    if parameters.start is Start.PLUS_PLUS and shape.count * shape.scaled.diagonal >= MAX_WEIGHT:
        raise TooManyRowsError(
            "The squared distances of so many rows are too large to choose the first centres by.",
            'Lower the precision, or use start = "random".',
        )


def first_centres(table: SecretTable, parameters: ClusteringParameters) -> SecretInts:
    """The first centres, in units of 2**-fraction, shape (k, d)."""
    scaled, k = table.shape.scaled, parameters.clusters
    bounds = Bounds(0, int(scaled.largest.max()) << scaled.fraction)
    if parameters.start is Start.GIVEN:
        held = scaled.scale_centres(parameters.centres)
        nothing = SecretInts(table.session, np.zeros(held.shape, dtype=np.uint64), Bounds(0, 0))
        return (nothing + held).with_bounds(bounds)
    if parameters.start is Start.UNIFORM:
        return _points(table.session, scaled, k).with_bounds(bounds)
    chosen = _spread(table, k) if parameters.start is Start.PLUS_PLUS else _runs(table, k)
    return (chosen * (1 << scaled.fraction)).with_bounds(bounds)


def _points(session: Session, scaled: FixedPointColumns, clusters: int) -> SecretInts:
    """Points that are uniform in the box of the declared bounds."""
    drawn = uniform.uniform(session, POINT_BITS, clusters * scaled.dimensions)
    spread = drawn.reshape(clusters, scaled.dimensions) * ((scaled.largest << scaled.fraction) + 1)
    return spread.truncate(POINT_BITS)


def _runs(table: SecretTable, clusters: int) -> SecretInts:
    """One row from each of k runs of equal length."""
    running, total = _running(table, _ones(table))
    drawn = uniform.uniform(table.session, FRACTION_BITS, clusters)
    positions = drawn + (np.arange(clusters, dtype=np.int64) << FRACTION_BITS)
    thresholds = (positions * total) // (clusters << FRACTION_BITS)
    return _rows(table, running, thresholds, table.shape.count)


def _spread(table: SecretTable, clusters: int) -> SecretInts:
    """Rows with chances by their squared distance from the nearest one chosen before."""
    session, shape = table.session, table.shape
    most = shape.scaled.diagonal
    weights = _ones(table)
    chosen = [_choose(table, weights, shape.count)]
    norms = table.norms()
    for number in range(1, clusters):
        centre = chosen[-1]
        square = (centre * centre).sum()
        product = table.products(centre.shares.T, WORD_BITS)[:, 0]
        distances = norms - (product << np.uint64(1)) + square.shares
        if number == 1:
            weights = distances
        else:
            nearer = msb.nonnegative(session, weights - distances, Bounds(-most, most))
            weights = weights - mux.select(session, nearer, weights - distances)
        counted = weights if table.valid is None else mux.select(session, table.valid.shares, weights)
        chosen.append(_choose(table, counted, shape.count * most))
    shares = np.concatenate([centre.shares for centre in chosen])
    return SecretInts(session, shares, chosen[0].bounds)


def _ones(table: SecretTable) -> Word:
    """Own shares of weights that are 1 for each valid row."""
    if table.valid is not None:
        return SecretInts.from_bits(table.valid).shares
    return np.full(table.shape.count, table.session.role.name == "ALICE", dtype=np.uint64, like=table.own)


def _running(table: SecretTable, weights: Word) -> tuple[Word, SecretInts]:
    """Running sums, and the sum of weights 0 and 1."""
    running = np.cumsum(weights, dtype=np.uint64)
    return running, SecretInts(table.session, running[-1:], Bounds(0, table.shape.count))


def _choose(table: SecretTable, weights: Word, most: int) -> SecretInts:
    """A row with chances by its weight, shape (1, d); the weights sum to at most `most`."""
    running = np.cumsum(weights, dtype=np.uint64)
    total = SecretInts(table.session, running[-1:], Bounds(0, most))
    weighed = uniform.uniform(table.session, FRACTION_BITS, 2) * total
    threshold = weighed[:1].truncate(FRACTION_BITS) + weighed[1:].truncate(2 * FRACTION_BITS)
    return _rows(table, running, threshold, most)


def _rows(table: SecretTable, running: Word, thresholds: SecretInts, most: int) -> SecretInts:
    """The first rows whose running sum is above each threshold, shape (m, d)."""
    wanted = -thresholds.shares - np.uint64(table.session.role.name == "ALICE")
    differences = (running[:, None] + wanted).reshape(-1)
    above = msb.nonnegative(table.session, differences, Bounds(-most - 1, most - 1))
    above = above.reshape(len(running), len(thresholds))
    above[1:] ^= above[:-1].copy()
    return table.sums(SecretBits(table.session, above)).values.with_bounds(
        Bounds(0, int(table.shape.scaled.largest.max()))
    )


def comparisons(parameters: ClusteringParameters, shape: Shape) -> list[tuple[int, int]]:
    """The large batches of comparisons of `first_centres`: of each how many, and of how many bits."""
    k, n, most = parameters.clusters, shape.count, shape.scaled.diagonal
    if parameters.start is Start.RANDOM:
        return [(n * k, Bounds(-n - 1, n - 1).sign_bits)]
    if parameters.start is not Start.PLUS_PLUS:
        return []
    batches = [(n, Bounds(-n - 1, n - 1).sign_bits)]
    for number in range(1, k):
        if number > 1:
            batches.append((n, Bounds(-most, most).sign_bits))
        batches.append((n, Bounds(-n * most - 1, n * most - 1).sign_bits))
    return batches

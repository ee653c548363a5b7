"""One iteration of Lloyd's algorithm over secret rows and secret centres.

With h_j = floor(|c_j|**2 / 2) row x is nearest to the centre with the least h_j - x c_j, as |x|**2 / 2 is the
same for all of them. Compared are these scores less that of the first centre, which takes k - 1 products.

Reference: Lloyd, Least squares quantization in PCM, IEEE Trans. Inf. Theory 28, 1982; that assignments, sizes
and centres stay secret until the end: Bunn and Ostrovsky, Secure two-party k-means clustering, CCS 2007.
"""

from __future__ import annotations

import numpy as np

from smc.analyses.clustering.table import SecretTable, Shape, Sums
from smc.analyses.records.fixed_point import FixedPointColumns
from smc.secret.bits import SecretBits
from smc.secret.comparison import argmin_one_hot
from smc.secret.division.division import Division
from smc.secret.ints import SecretInts
from smc.secret.sharing.bounds import Bounds
from smc.secret.sharing.prefetch import NO_PREFETCH, Prefetch


def half_norms(scaled: FixedPointColumns, centres: SecretInts) -> SecretInts:
    """floor(|c|**2 / 2) of centres in units of 2**-fraction, in the same units; shape (k,)."""
    return (centres * centres).sum(axis=1).truncate(scaled.fraction + 1)


def comparisons(shape: Shape, clusters: int) -> list[tuple[int, int]]:
    """The large batches of comparisons of `assign`: of each how many, and of how many bits."""
    return argmin_one_hot.comparisons(shape.count, clusters, shape.scaled.differences)


def assign(
    table: SecretTable, centres: SecretInts, own: Prefetch = NO_PREFETCH, later: Prefetch = NO_PREFETCH
) -> SecretBits:
    """The nearest centre of each row, the first one of equals.

    Args:
        table: the rows.
        centres: in units of 2**-fraction, shape (k, d).
        own: what was delivered for this.
        later: what is ordered for the next iteration, to be delivered after this.

    Returns:
        Shape (count, k): one bit of each row is 1, of a row that is not valid none.
    """
    scaled, session = table.shape.scaled, table.session
    halves = half_norms(scaled, centres).shares
    vectors = (centres.shares[1:] - centres.shares[0]).T
    scores = np.zeros((table.shape.count, len(halves)), dtype=np.uint64, like=table.own)
    scores[:, 1:] = halves[1:] - halves[0] - table.products(vectors, scaled.width)
    # Nothing else may be made silently between order and delivery.
    if own.whole:
        later.order(session)
    bits = SecretBits(session, argmin_one_hot.one_hot(session, scores, scaled.differences))
    if not own.whole:
        later.order(session)
    if table.valid is not None:
        bits = bits & table.valid.reshape(-1, 1)
    return bits


def means(
    scaled: FixedPointColumns, doubled: SecretInts, sizes: SecretInts, otherwise: SecretInts | None = None
) -> SecretInts:
    """Quotients, rounded to the nearest unit of 2**-fraction, all in one batch.

    Args:
        scaled: the columns.
        doubled: twice the sums of whole numbers, not negative and at most twice size times largest.
        sizes: positive, shape (k,).
        otherwise: taken where a size is 0, shape (k, d); None where none is.

    Returns:
        Shape (k, d), each from 0 to the column's largest.

    Raises:
        DomainError: by their bounds the sums leave no room.
    """
    wide = sizes.reshape(-1, 1) * np.ones((1, scaled.dimensions), dtype=np.int64)
    numerator = doubled * (1 << scaled.fraction) + wide
    divisor = wide * 2
    positive = Bounds(max(2, divisor.bounds.lower), divisor.bounds.upper)
    way = _division(scaled, len(sizes.shares), numerator.bounds, positive)
    kept = None if otherwise is None else otherwise.shares.reshape(-1)
    shares = way.run(doubled.session, numerator.shares.reshape(-1), divisor.shares.reshape(-1), kept)
    bounds = Bounds(0, int(scaled.largest.max()) << scaled.fraction)
    return SecretInts(doubled.session, shares.reshape(doubled.shape), bounds)


def _division(scaled: FixedPointColumns, clusters: int, numerator: Bounds, divisor: Bounds) -> Division:
    """The division of means, of which none is larger than the largest number, whatever the bounds."""
    largest = int(scaled.largest.max()) << scaled.fraction
    return Division.of(clusters * scaled.dimensions, numerator, divisor, largest)


def update(scaled: FixedPointColumns, sums: Sums, centres: SecretInts) -> SecretInts:
    """The means of the clusters; an empty cluster keeps its centre."""
    return means(scaled, sums.values * 2, sums.sizes, centres)


def has_settled(before: SecretInts, after: SecretInts, limit: int) -> SecretBits:
    """Whether the sum of the squared movements is at most a public limit; one bit."""
    moved = after - before
    return (moved * moved).sum() <= limit

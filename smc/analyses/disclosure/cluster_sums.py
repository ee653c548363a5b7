"""Which clusters have a sum that reveals a few persons, or one; decided in secret before anything opens.

A centre times the size of its cluster is a sum over the rows that it is the mean of, in each column. As of
the sums of tables (`smc.analyses.disclosure.crowds`), the persons of a side who add something else than the
lower bound, than the upper bound, and than each of the commonest values have to be none or a group each, and
none may add too large a part of the sum of that side. Who is in which cluster is secret, so a side marks its
rows before it knows:

    told apart    marks summed over the cluster: 0 rows, or at least m persons. The commonest values are
                  those of all rows of the side. A person with several rows counts where the first row with
                  a mark is, so that some of the persons of a cluster are counted, never more.
    dominated     the sum of the cluster that a row is in, chosen by the row's bits, is compared with what
                  the row's person adds in all rows together, which is at least what it adds to the cluster.

Learns: neither party anything.
Assumes: `smc.secret.comparison.mux`, `smc.secret.comparison.msb`.
Cost: for dominance n d (k - 1) selections and n d comparisons.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from fractions import Fraction

import numpy as np
from numpy.typing import NDArray

from smc.analyses.disclosure.limits import Limits
from smc.pieces import chunks
from smc.secret.bits import SecretBits
from smc.secret.comparison import mux
from smc.secret.linear_ints import LinearInts, concatenate, select
from smc.secret.sharing.bounds import Bounds

_BLOCK = 1 << 17
"""Selections that are made at once."""


@dataclass(frozen=True, slots=True)
class ClusterSums:
    """What the sums of k clusters are made of, of one side's n rows and d columns; secret.

    Attributes:
        rows: with a mark, summed over the clusters, shape (k, m).
        persons: of these, likewise.
        totals: sums of contributions, not negative, shape (k, d).
        added: of each row what its person adds in all rows together, shape (n, d).
        members: which rows lie in which cluster, shape (n, k); at most one bit of a row is 1.
    """

    rows: LinearInts
    persons: LinearInts
    totals: LinearInts
    added: LinearInts
    members: SecretBits


def revealing(sums: Sequence[ClusterSums], limits: Limits) -> SecretBits | None:
    """Which clusters a rule about sums stands against, shape (k,); None where there is no rule.

    Args:
        sums: of each side.
        limits: of both policies.
    """
    found = []
    if limits.minimum_group > 1:
        rows = concatenate([each.rows for each in sums], axis=1)
        persons = concatenate([each.persons for each in sums], axis=1)
        found.append(_any((persons < limits.minimum_group) & (rows >= 1), axis=1))
    if limits.weighs:
        found += [_find_dominated(each, limits.dominance) for each in sums]
    if not found:
        return None
    result = found[0]
    for bits in found[1:]:
        result = result | bits
    return result


def _any(bits: SecretBits, axis: int) -> SecretBits:
    return LinearInts.from_bits(bits).sum(axis=axis) >= 1


def _find_dominated(sums: ClusterSums, part: Fraction) -> SecretBits:
    """Where a person adds more than a part of a sum."""
    rows, k = sums.members.shape
    hits = sums.totals[:, 0] * 0
    for block in _blocks(rows, k, sums.totals.shape[1]):
        members = sums.members[block]
        over = sums.added[block] * part.denominator > _choose(members, sums.totals) * part.numerator
        columns = LinearInts.from_bits(over).sum(axis=1).reshape(-1, 1)
        hits = hits + select(members, columns, columns * 0).sum(axis=0)
    return hits >= 1


def _choose(members: SecretBits, totals: LinearInts) -> LinearInts:
    """The totals of each row's cluster, shape (n, d); of rows in none those of the first."""
    steps = totals.shares[1:] - totals.shares[:1]
    shape = (len(members), *steps.shape)
    bits = np.broadcast_to(members.shares[:, 1:, None], shape)
    words = np.broadcast_to(steps, shape)
    gated = mux.select(members.session, bits.reshape(-1), words.reshape(-1)).reshape(shape)
    shares = totals.shares[:1] + gated.sum(axis=1, dtype=np.uint64)
    return LinearInts.from_shares(members.session, shares, totals.bounds)


def _blocks(rows: int, clusters: int, columns: int) -> Iterator[slice]:
    step = max(1, _BLOCK // (clusters * columns))
    return chunks(rows, step)


@dataclass(frozen=True, slots=True)
class PlainSums:
    """`ClusterSums` in the clear."""

    rows: NDArray[np.int64] = field(repr=False)
    persons: NDArray[np.int64] = field(repr=False)
    totals: NDArray[np.int64] = field(repr=False)
    added: NDArray[np.int64] = field(repr=False)
    members: NDArray[np.bool_] = field(repr=False)


def plain_revealing(sums: Sequence[PlainSums], limits: Limits) -> NDArray[np.bool_]:
    """The same as `revealing` in the clear; nothing where there is no rule."""
    found = np.zeros(len(sums[0].totals), dtype=np.bool_)
    for each in sums:
        if limits.minimum_group > 1:
            found |= ((each.persons < limits.minimum_group) & (each.rows > 0)).any(axis=1)
        if limits.weighs:
            part = limits.dominance
            for cluster, total in enumerate(each.totals):
                inside = each.added[each.members[:, cluster]]
                found[cluster] |= (inside * part.denominator > total * part.numerator).any()
    return found


@dataclass(frozen=True, slots=True)
class SumsShape:
    """What is public of `ClusterSums`.

    Attributes:
        rows: n.
        columns: d.
        marks: m.
        counts: bounds of `rows` and `persons`.
        totals: bounds of `totals`.
        added: bounds of `added`.
    """

    rows: int
    columns: int
    marks: int
    counts: Bounds
    totals: Bounds
    added: Bounds

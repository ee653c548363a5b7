"""Which clusters stay closed, decided on secret sizes and sums before anything is opened.

A cluster is about the persons whose rows its centre is the mean of, and about those whose rows are nearest to
that centre; both have to be many enough. Where each side has rows of its own, a recipient can take its own
out of what it is shown; so then a side has to have no rows at all in a cluster, or many persons enough by
itself. Its sums must not tell of a few of them, or of one (`smc.analyses.disclosure.cluster_sums`). A cluster
that fails is withheld, with its size, centre and labels. So are the next smallest ones until those withheld
are many enough together: the numbers of all rows are public, and the sizes shown give away how many rows are
withheld in all. In other words, with the failing clusters first and then by size, a cluster is withheld if

    some cluster fails,  and  this one does  or  all before it would be too few as one.

If the withheld ones are too few even so, they are all of the clusters. What is about all clusters together is
shown if none is withheld: a recipient takes out of it what it knows of those that are shown.

Reference: primary and complementary suppression: Hundepohl et al., Statistical disclosure control, 2012,
section 4.2; that a party can subtract its own part: `smc.analyses.disclosure.tables`.
"""

from __future__ import annotations

from collections.abc import Sequence
from collections.abc import Set as AbstractSet
from dataclasses import dataclass
from functools import reduce
from operator import add, or_

import numpy as np
from numpy.typing import NDArray
from typing_extensions import override

from smc.analyses.disclosure.audit import Figures
from smc.analyses.disclosure.cluster_sums import ClusterSums, revealing
from smc.analyses.disclosure.exact_figure import ExactFigure, defect
from smc.analyses.disclosure.limits import Agreed
from smc.analyses.disclosure.opener import Opener
from smc.analyses.disclosure.scope import Kind
from smc.forms import Role
from smc.secret.bits import SecretBits
from smc.secret.linear_ints import LinearInts, concatenate, select


@dataclass(frozen=True, slots=True)
class Assignment:
    """One way of counting what each cluster is about, as the sum of disjoint parts.

    Attributes:
        persons: of each part, shape (k,) each, with the bounds that their sum has.
        rows: of each part, where there are several; else none.
    """

    persons: tuple[LinearInts, ...]
    rows: tuple[LinearInts, ...] = ()

    @property
    def counts(self) -> tuple[LinearInts, ...]:
        """All numbers."""
        return self.persons + self.rows

    @property
    def total(self) -> LinearInts:
        """The persons of all parts."""
        return reduce(add, self.persons).bounded(self.persons[0].bounds)

    def of(self, counts: Sequence[LinearInts]) -> Assignment:
        """Other numbers in the same places."""
        return Assignment(tuple(counts[: len(self.persons)]), tuple(counts[len(self.persons) :]))


@dataclass(frozen=True, slots=True)
class OpenedClusters:
    """What came out, in the order of `Clusters`; None for a party that is not a recipient."""

    figures: tuple[NDArray[np.int64] | None, ...]
    whole: NDArray[np.int64] | None
    parts: tuple[NDArray[np.bool_] | None, ...]


@dataclass(frozen=True, slots=True)
class Clusters(ExactFigure[OpenedClusters]):
    """What is to be opened of k clusters; secret.

    Attributes:
        ways: of counting what each cluster is about; none where nothing is limited.
        sums: what the sums over its rows are made of, of each side; none where nothing is limited.
        figures: of each cluster, shape (k,) or (k, n), each with the value that stands for a withheld one.
        whole: a figure about all clusters together, shape (1,), with the same.
        labels: which rows lie in which cluster, shape (n, k); None where nobody receives them.
        parts: of the labels, with who gets them.
    """

    ways: Sequence[Assignment]
    sums: Sequence[ClusterSums]
    figures: Sequence[tuple[LinearInts, int]]
    whole: tuple[LinearInts, int]
    labels: SecretBits | None = None
    parts: Sequence[tuple[slice, AbstractSet[Role]]] = ()

    @property
    @override
    def kinds(self) -> frozenset[Kind]:
        return frozenset({Kind.GROUPS} if self.labels is None else {Kind.GROUPS, Kind.ROWS})

    @override
    def open(self, opener: Opener, limits: Agreed, recipients: AbstractSet[Role]) -> OpenedClusters:
        """Open clusters, of which those that a limit stands against stay closed.

        Raises:
            ProtocolViolation: the peer sent something else than the protocol says.
        """
        both = limits.both
        figures, (whole, blank) = [values for values, _ in self.figures], self.whole
        labels = self.labels
        if both.counts_clusters:
            if not (self.ways and self.sums):
                raise defect(
                    "opens clusters without the numbers of their persons and what their sums are made of"
                )
            hidden = withheld(self.ways, both.least_in_cluster, revealing(self.sums, both))
            for place, (values, mark) in enumerate(self.figures):
                bits = hidden.reshape(-1, 1) if len(values.shape) > 1 else hidden
                figures[place] = select(bits, _constant(values, mark), values)
            whole = select(_some(hidden), _constant(whole, blank), whole)
            labels = None if labels is None else labels & ~hidden.reshape(1, -1)
        return OpenedClusters(
            tuple(opener.ints(values, recipients, Figures()) for values in figures),
            opener.ints(whole, recipients, Figures()),
            tuple(opener.bits(labels[part], to, Figures()) for part, to in self.parts)
            if labels is not None
            else (),
        )


def _constant(like: LinearInts, value: int) -> LinearInts:
    return like * 0 + value


def failing(ways: Sequence[Assignment], minimum: int) -> SecretBits:
    """Which clusters are about too few persons.

    Args:
        ways: of counting, of which all have to be passed.
        minimum: the smallest group that may be shown, at least 1.

    Returns:
        Shape (k,).
    """
    k = len(ways[0].persons[0])
    rows = [part for way in ways for part in way.rows]
    split = [persons for way in ways if way.rows for persons in way.persons]
    few = concatenate([*(way.total for way in ways), *split]) < minimum
    suspects = [few[k * place : k * (place + 1)] for place in range(len(ways))]
    if rows:
        partly = few[k * len(ways) :] & (concatenate(rows) >= 1)
        suspects += [partly[k * place : k * (place + 1)] for place in range(len(rows))]
    return reduce(or_, suspects)


def _earlier(count: int) -> NDArray[np.bool_]:
    """Whether i stands before j, shape (k, k)."""
    places = np.arange(count)
    return places[:, None] < places[None, :]


def _some(bits: SecretBits) -> SecretBits:
    """Whether one of them is 1, shape (1,)."""
    return reduce(or_, [bits[place : place + 1] for place in range(len(bits))])


def withheld(ways: Sequence[Assignment], minimum: int, reveals: SecretBits | None) -> SecretBits:
    """Which clusters are withheld.

    Args:
        ways: of counting; by the last one clusters are ordered.
        minimum: as in `failing`.
        reveals: which clusters fail for another reason, shape (k,).

    Returns:
        Shape (k,).
    """
    fails = failing(ways, minimum)
    fails = fails if reveals is None else fails | reveals
    total = ways[-1].total
    k = len(total)
    order = select(fails, total * 0, total)
    # i comes before j if it has fewer persons, or as many and a lower number
    before = order.reshape(-1, 1) + (~_earlier(k)).astype(np.int64) <= order.reshape(1, -1)
    would_fail = failing(_sums_before(ways, before), minimum)
    return (fails | would_fail) & _some(fails)


def _sums_before(ways: Sequence[Assignment], before: SecretBits) -> list[Assignment]:
    """The numbers of all clusters before each one, taken together."""
    counts = [count for way in ways for count in way.counts]
    k = len(before)
    wide = np.repeat(np.stack([count.shares for count in counts], axis=1), k, axis=1)
    bounds = counts[0].bounds
    values = LinearInts.from_shares(before.session, wide, bounds)
    chosen = SecretBits(before.session, np.tile(before.shares, (1, len(counts))))
    sums = select(chosen, values, values * 0).sum(axis=0).bounded(bounds)
    split = iter([sums[k * place : k * (place + 1)] for place in range(len(counts))])
    return [way.of([next(split) for _ in way.counts]) for way in ways]


Counts = NDArray[np.int64]


def plain_fails(ways: Sequence[Sequence[tuple[Counts, Counts]]], minimum: int) -> NDArray[np.bool_]:
    """The same as `failing` in the clear.

    Args:
        ways: each a list of the parts' persons and rows, shape (k,) each.
        minimum: as there.
    """
    fails = np.zeros(len(ways[0][0][0]), dtype=np.bool_)
    for way in ways:
        fails |= sum(persons for persons, _ in way) < minimum
        if len(way) > 1:
            for persons, rows in way:
                fails |= (rows > 0) & (persons < minimum)
    return fails


def plain_withheld(
    ways: Sequence[Sequence[tuple[Counts, Counts]]], minimum: int, reveals: NDArray[np.bool_] | None = None
) -> NDArray[np.bool_]:
    """The same as `withheld` in the clear, by the words of the rule.

    Args:
        ways: as of `plain_fails`.
        minimum: as there.
        reveals: which clusters fail for another reason, shape (k,).
    """
    fails = plain_fails(ways, minimum)
    fails = fails if reveals is None else fails | reveals
    hidden = fails.copy()
    if not fails.any():
        return hidden
    order = np.where(fails, 0, sum(persons for persons, _ in ways[-1]))
    for place in np.argsort(order, kind="stable"):
        merged = [[tuple(count[hidden].sum(keepdims=True) for count in part) for part in way] for way in ways]
        if not plain_fails(merged, minimum)[0]:
            break
        hidden[place] = True
    return hidden

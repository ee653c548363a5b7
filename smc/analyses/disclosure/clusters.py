"""Which clusters stay closed, decided on secret sizes and sums before anything is opened.

A cluster is about the persons whose rows its centre is the mean of, and about those whose rows are nearest to
that centre; both have to be many enough. Where each side has rows of its own, a recipient can take its own
out of what it is shown; so then a side has to have many persons enough by itself in each cluster, or, where
the policies show zeros, no rows at all. Its sums must not tell of a few of them, or of one
(`smc.analyses.disclosure.cluster_sums`). A cluster that fails is withheld, with its size, centre and labels.
So are the next smallest ones until those withheld are many enough together: the numbers of all rows are
public, and the sizes shown give away how many rows are withheld in all. In other words, with the failing
clusters first and then by size, a cluster is withheld if

    some cluster fails,  and  this one does  or  all before it would be too few as one.

Which clusters are withheld is a result as well: rows of a recipient's own, many at each of some places, put
clusters where it wants them, and those withheld tell where a few of the other side's rows are. So it is one
cluster at most that may fail, or one in ten of many; else all stay closed, by one bit.

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
from typing import Final

import numpy as np
from numpy.typing import NDArray
from typing_extensions import override

from smc.analyses.disclosure.audit import Bit, Figures
from smc.analyses.disclosure.cluster_sums import ClusterSums, revealing
from smc.analyses.disclosure.exact_figure import ExactFigure, defect
from smc.analyses.disclosure.limits import Agreed
from smc.analyses.disclosure.opener import Opener
from smc.analyses.disclosure.scope import Kind
from smc.analyses.disclosure.tables import MOST_WITHHELD
from smc.errors import DisclosureRefused
from smc.forms import Role
from smc.secret.bits import SecretBits
from smc.secret.linear_ints import LinearInts, concatenate, select

_FEW: Final = Bit("whether few enough clusters stay closed")


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
        return reduce(add, self.persons).with_bounds(self.persons[0].bounds)

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
            DisclosureRefused: too many would stay closed, at both sides; nothing was opened.
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
            minimum, zeros = both.least_in_cluster, not both.hides_zeros
            fails = failing(self.ways, minimum, zeros=zeros)
            reveals = revealing(self.sums, both)
            fails = fails if reveals is None else fails | reveals
            if not opener.hold([_few(fails)], _FEW):
                raise _too_many()
            hidden = find_withheld(self.ways, minimum, fails, zeros=zeros)
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


def most_failing(clusters: int) -> int:
    """How many of some clusters may fail; the others are shown."""
    return max(1, int(clusters * MOST_WITHHELD))


def _few(fails: SecretBits) -> SecretBits:
    """Whether no more clusters fail than may, shape (1,)."""
    count = LinearInts.from_bits(fails).sum()
    return count < most_failing(len(fails)) + 1


def _too_many() -> DisclosureRefused:
    return DisclosureRefused(
        "Too many clusters have few persons of a side, or sums that tell of one: which ones are withheld "
        "would tell where these are.",
        "Use fewer clusters, or columns in which the rows of both sides lie alike.",
    )


def failing(ways: Sequence[Assignment], minimum: int, *, zeros: bool) -> SecretBits:
    """Which clusters are about too few persons.

    Args:
        ways: of counting, of which all have to be passed.
        minimum: the smallest group that may be shown, at least 1.
        zeros: whether a side may have nobody in a cluster.

    Returns:
        Shape (k,).
    """
    k = len(ways[0].persons[0])
    rows = [part for way in ways for part in way.rows]
    split = [persons for way in ways if way.rows for persons in way.persons]
    few = concatenate([*(way.total for way in ways), *split]) < minimum
    suspects = [few[k * place : k * (place + 1)] for place in range(len(ways))]
    if rows:
        partly = few[k * len(ways) :]
        partly = partly & (concatenate(rows) >= 1) if zeros else partly
        suspects += [partly[k * place : k * (place + 1)] for place in range(len(rows))]
    return reduce(or_, suspects)


def _earlier(count: int) -> NDArray[np.bool_]:
    """Whether i stands before j, shape (k, k)."""
    places = np.arange(count)
    return places[:, None] < places[None, :]


def _some(bits: SecretBits) -> SecretBits:
    """Whether one of them is 1, shape (1,)."""
    return reduce(or_, [bits[place : place + 1] for place in range(len(bits))])


def find_withheld(ways: Sequence[Assignment], minimum: int, fails: SecretBits, *, zeros: bool) -> SecretBits:
    """Which clusters are withheld.

    Args:
        ways: of counting; by the last one clusters are ordered.
        minimum: as in `failing`.
        fails: which clusters may not be shown, shape (k,).
        zeros: as in `failing`.

    Returns:
        Shape (k,).
    """
    total = ways[-1].total
    k = len(total)
    order = select(fails, total * 0, total)
    # i comes before j if it has fewer persons, or as many and a lower number
    before = order.reshape(-1, 1) + (~_earlier(k)).astype(np.int64) <= order.reshape(1, -1)
    would_fail = failing(_sums_before(ways, before), minimum, zeros=zeros)
    return (fails | would_fail) & _some(fails)


def _sums_before(ways: Sequence[Assignment], before: SecretBits) -> list[Assignment]:
    """The numbers of all clusters before each one, taken together."""
    counts = [count for way in ways for count in way.counts]
    k = len(before)
    wide = np.repeat(np.stack([count.shares for count in counts], axis=1), k, axis=1)
    bounds = counts[0].bounds
    values = LinearInts.from_shares(before.session, wide, bounds)
    chosen = SecretBits(before.session, np.tile(before.shares, (1, len(counts))))
    sums = select(chosen, values, values * 0).sum(axis=0).with_bounds(bounds)
    split = iter([sums[k * place : k * (place + 1)] for place in range(len(counts))])
    return [way.of([next(split) for _ in way.counts]) for way in ways]


Counts = NDArray[np.int64]


def plain_fails(
    ways: Sequence[Sequence[tuple[Counts, Counts]]], minimum: int, *, zeros: bool
) -> NDArray[np.bool_]:
    """The same as `failing` in the clear.

    Args:
        ways: each a list of the parts' persons and rows, shape (k,) each.
        minimum: as there.
        zeros: as there.
    """
    fails = np.zeros(len(ways[0][0][0]), dtype=np.bool_)
    for way in ways:
        fails |= sum(persons for persons, _ in way) < minimum
        if len(way) > 1:
            for persons, rows in way:
                fails |= (persons < minimum) & ((rows > 0) | (not zeros))
    return fails


def plain_withheld(
    ways: Sequence[Sequence[tuple[Counts, Counts]]], minimum: int, fails: NDArray[np.bool_], *, zeros: bool
) -> NDArray[np.bool_]:
    """The same as `find_withheld` in the clear, by the words of the rule.

    Args:
        ways: as of `plain_fails`.
        minimum: as there.
        fails: which clusters may not be shown, shape (k,).
        zeros: as of `plain_fails`.
    """
    hidden = fails.copy()
    if not fails.any():
        return hidden
    order = np.where(fails, 0, sum(persons for persons, _ in ways[-1]))
    for place in np.argsort(order, kind="stable"):
        merged = [[tuple(count[hidden].sum(keepdims=True) for count in part) for part in way] for way in ways]
        if not plain_fails(merged, minimum, zeros=zeros)[0]:
            break
        hidden[place] = True
    return hidden

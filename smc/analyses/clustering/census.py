"""Whom clusters are about, for the limits: persons counted by cluster, and what the sums reveal of them.

A side marks its rows before anything is computed: the first one of each person, and in each column those that
add something else than most others do (`smc.analyses.disclosure.crowds`). The marks are summed over the
clusters like the columns themselves. What counts are the whole numbers that distances are computed of: values
that become the same number are the same to every centre.

    counted    how many persons of each side are in a cluster: of the assignment that the last centres are the
               means of, and of the last one. Matched rows are a person each, so there it is their number.
    summed     marks and columns over the former, of each side apart: a recipient knows its own part. Beside
               a column whose bound is below 0 its absolute values, for dominance
               (`smc.analyses.disclosure.amounts`).

Of matched rows the marks of the party that does not own the slots are brought by the alignment, as its
columns are, and both parties hold shares of them.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from smc.analyses.clustering.parameters import Layout
from smc.analyses.clustering.table import SecretTable, Shape, Sums
from smc.analyses.disclosure.amounts import Amounts
from smc.analyses.disclosure.cluster_sums import ClusterSums, SumsShape
from smc.analyses.disclosure.clusters import Assignment
from smc.analyses.disclosure.crowds import BESIDE_BOUNDS, added_by_persons, firsts, off_bounds, off_commonest
from smc.analyses.disclosure.owned import Owned
from smc.analyses.records.fixed_point import FixedPointColumn
from smc.forms import Role
from smc.secret.bits import SecretBits
from smc.secret.ints import SecretInts
from smc.secret.products import grouped
from smc.secret.products.grouped import Grouping
from smc.secret.sharing.bounds import Bounds

Word = NDArray[np.uint64]
Whole = NDArray[np.int64]
Marks = NDArray[np.uint8]

COMMON: Final = 4
"""How many of the commonest values of a column are watched; clusters may be made of different ones."""

MARKS: Final = BESIDE_BOUNDS + COMMON
"""How many marks each column has."""


def mark_rows(values: Whole, largest: Sequence[int]) -> Marks:
    """1 for rows that differ from the lower bound, the upper, and each of the commonest values of a column.

    Args:
        values: whole numbers of one side's rows, shape (n, d).
        largest: of each column.

    Returns:
        Shape (n, MARKS * d).
    """
    found = np.empty((len(values), MARKS * values.shape[1]), dtype=np.uint8, like=values)
    for place, (column, most) in enumerate(zip(values.T, largest, strict=True)):
        marks = [*off_bounds(column, Owned(Bounds(0, most))), *off_commonest(column, COMMON)]
        found[:, place * MARKS : (place + 1) * MARKS] = np.stack(marks, axis=1)
    return found


def weigh_rows(values: Whole, columns: Sequence[FixedPointColumn]) -> Whole:
    """What the rows of one side add to sums, as dominance looks at it.

    Args:
        values: whole numbers of the side's rows, shape (n, d).
        columns: they are of these; each has a bound that its side's catalog declares.

    Returns:
        The values, then the sizes of those that can be below 0, counted from there; shape (n, d + s), s as of
        `signed_columns`.
    """
    found = [
        Amounts.of(column - axis.nought, Owned(Bounds(-axis.nought, axis.part - axis.nought))).ways
        for column, axis in zip(values.T, columns, strict=True)
    ]
    return np.stack([ways[0] for ways in found] + [way for ways in found for way in ways[1:]], axis=1)


def signed_columns(shape: Shape, side: Role) -> int:
    """How many columns of a side have sizes beside them."""
    return sum(axis.nought > 0 for axis in _axes(shape, side))


def _axes(shape: Shape, side: Role) -> list[FixedPointColumn]:
    return [shape.scaled.columns[place] for place in shape.columns[side is Role.BOB]]


@dataclass(frozen=True, slots=True)
class PersonCounts:
    """This side of what the limits are tested on.

    Attributes:
        table: the rows of both.
        heads: 1 for the first row of each person of this side, and where each side has rows of its own a
            column of ones beside it, shape (n, 1) or (n, 2); None for matched rows.
        marks: of each side whose columns this party holds, or holds shares of modulo 2**w: rows that differ,
            then the first such row of each person unless rows are persons; shape (n, m). They are as wide as
            they have to be, since there are many.
        values: likewise, what `weigh_rows` makes of its columns, shape (n, d + s).
        added: likewise, what each row's person adds to them in all rows together, shape (n, d + s).
    """

    table: SecretTable
    heads: Word | None = field(repr=False)
    marks: Mapping[Role, NDArray[Any]] = field(repr=False)
    values: Mapping[Role, Word] = field(repr=False)
    added: Mapping[Role, Word] = field(repr=False)

    @classmethod
    def of(cls, table: SecretTable, persons: NDArray[np.int64] | None) -> PersonCounts:
        """Of rows that are not matched.

        Args:
            table: the rows of both.
            persons: of this side's rows; None where each row is a person of its own.
        """
        role, shape = table.session.role, table.shape
        whole = table.own.astype(np.int64)
        ones = np.ones((len(whole), 1), dtype=np.int64, like=whole)
        heads = np.hstack([firsts(ones, persons), ones][: _heads(shape)[role]])
        marks = mark_rows(whole, [shape.scaled.columns[place].part for place in shape.columns_of(role)])
        counters = np.hstack([marks, firsts(marks, persons)])
        weighed = weigh_rows(whole, _axes(shape, role))
        added = added_by_persons(weighed, persons)
        counted, summed, most = (part.astype(np.uint64) for part in (heads, weighed, added))
        return cls(table, counted, {role: counters}, {role: summed}, {role: most})

    @classmethod
    def matched(
        cls, table: SecretTable, marks: Mapping[Role, NDArray[Any]], sizes: Mapping[Role, Word]
    ) -> PersonCounts:
        """Of matched rows, each of which is a person.

        Args:
            table: the rows of both.
            marks: of each side that this one holds, or holds shares of.
            sizes: likewise, the last s columns of `weigh_rows`.
        """
        shape = table.shape
        places = shape.columns_of(table.session.role)
        values = {
            side: np.hstack(
                [
                    table.own[:, [places.index(place) for place in shape.columns[side is Role.BOB]]],
                    sizes[side],
                ]
            )
            for side in marks
        }
        return cls(table, None, marks, values, values)

    def counted(
        self, averaged: tuple[SecretBits, Sums], last: tuple[SecretBits, Sums]
    ) -> tuple[Assignment, ...]:
        """The ways of counting persons: those of rows of each side add up, those of common rows do not.

        Args:
            averaged: the rows that the centres are the means of, shape (count, k), and their sums.
            last: the rows that are nearest to the centres, likewise.
        """
        if self.heads is None:
            return tuple(Assignment((sums.sizes,)) for _, sums in (averaged, last))
        session, shape = self.table.session, self.table.shape
        k, bounds = averaged[0].shape[1], Bounds(0, shape.count)
        bits = SecretBits(session, np.hstack([averaged[0].shares, last[0].shares]))
        sides = self._over(bits, {session.role: [self.heads]}, _heads(shape), _heads_width(shape))
        found = []
        for part in (slice(0, k), slice(k, 2 * k)):
            counts = [[SecretInts(session, count[part].copy(), bounds) for count in side.T] for side in sides]
            if shape.layout is Layout.HORIZONTAL:
                (alice, alice_rows), (bob, bob_rows) = counts
                found.append(Assignment((alice, bob), (alice_rows, bob_rows)))
            else:
                found += [Assignment((persons,)) for (persons,) in counts]
        return tuple(found)

    def summed(self, averaged: SecretBits) -> tuple[ClusterSums, ...]:
        """What the sums over rows of secret clusters are made of, Alice's first; bits of shape (count, k)."""
        session, shape = self.table.session, self.table.shape
        own = {side: [self.marks[side], self.values[side]] for side in self.marks}
        sides = self._over(averaged, own, _lengths(shape), shape.sum_bits)
        found = []
        for side, words in zip(Role, sides, strict=True):
            sized = _sums_shape(shape, side)
            counts = SecretInts(session, words[:, : -sized.columns].copy(), sized.counts)
            added = self.added.get(side, np.zeros((sized.rows, sized.columns), dtype=np.uint64))
            found.append(
                ClusterSums(
                    counts[:, : sized.marks],
                    counts[:, -sized.marks :],
                    SecretInts(session, words[:, -sized.columns :].copy(), sized.totals),
                    SecretInts(session, added, sized.added),
                    averaged[shape.rows_of(side)],
                )
            )
        return tuple(found)

    def _over(
        self,
        bits: SecretBits,
        own: Mapping[Role, Sequence[NDArray[Any]]],
        lengths: Mapping[Role, int],
        width: int,
    ) -> list[Word]:
        """Own shares of sums over groups, of each side's columns; of shared ones both parties give shares."""
        session, shape = self.table.session, self.table.shape
        role, groups = session.role, bits.shape[1]
        rows = [part for side in shape.holds(role) for part in own[side]]
        mine, theirs = (bits.shares[shape.rows_of(side)] for side in (role, role.other))
        parts = grouped.sums(
            session, rows, mine, _grouping(shape, role.other, lengths, groups), theirs, width
        )
        total = {side: np.zeros((groups, lengths[side]), dtype=parts[0].dtype) for side in Role}
        for party, part in zip((role, role.other), parts, strict=True):
            start = 0
            for side in shape.holds(party):
                total[side] += part[:, start : start + lengths[side]]
                start += lengths[side]
        words = grouped.extend_shares(session, np.hstack([total[side] for side in Role]), width)
        return np.split(words, [lengths[Role.ALICE]], axis=1)


def check_weight(shape: Shape, factor: int) -> None:
    """Check that sums times the factor of the test for dominance fit.

    Raises:
        DomainError: they do not.
    """
    _sums_shape(shape, Role.ALICE).totals.summed(factor).fit("dominance in a cluster")


def _heads(shape: Shape) -> dict[Role, int]:
    """How many columns count persons, and rows where each side has its own."""
    return dict.fromkeys(Role, 2 if shape.layout is Layout.HORIZONTAL else 1)


def _heads_width(shape: Shape) -> int:
    return grouped.word_bits(shape.count)


def _sums_shape(shape: Shape, side: Role) -> SumsShape:
    """What is public of the sums of a side."""
    columns = len(shape.columns[side is Role.BOB])
    weighed, rows = columns + signed_columns(shape, side), shape.entries(side).rows
    sums = Bounds(0, shape.count * int(shape.scaled.largest.max()))
    return SumsShape(rows, weighed, MARKS * columns, Bounds(0, shape.count), totals=sums, added=sums)


def _lengths(shape: Shape) -> dict[Role, int]:
    """How many columns are summed of each side: rows with marks, persons if these are not rows, values."""
    kinds = 1 if shape.owner is not None else 2
    shapes = {side: _sums_shape(shape, side) for side in Role}
    return {side: kinds * each.marks + each.columns for side, each in shapes.items()}


def _grouping(shape: Shape, role: Role, lengths: Mapping[Role, int], groups: int) -> Grouping:
    """A party's rows as they are summed."""
    return Grouping(shape.entries(role).rows, sum(lengths[side] for side in shape.holds(role)), groups)

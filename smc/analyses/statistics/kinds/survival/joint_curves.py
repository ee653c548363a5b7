"""Curves and a log-rank test in secret: from shares of a table to figures at points.

    Alice, Bob (shares of rows by group, stratum, ending and step)    own rows of each, or sums over matches
      == n at risk: suffix sums, local ==
      == reciprocals of n, n - d of each group, and of n, n - 1 of all groups together, one batch ==
      curves:  h = d / n,  S = products of 1 - h up to each point,  V = sums of d / (n (n - d))
               F of competing kinds: sums of S before times d_c / n, by halves of halves
      test:    q_g = n_g / n,  E_g = sum of d q_g
               covariances: sums of d (n - d) / (n - 1) (q_g [g = h] - q_g q_h)
               under limits of each side alone, in the clear, and then the sums of both

Every step of the times is in it, while only points are opened, and of the test only its sums. All ranges are
known whatever the data are, but for what reciprocals are off by: parts are at most 1, and V is at most 2,
since d / (n (n - d)) = 1 / (n - d) - 1 / n, and the next n is at most n - d.

Reference: studies of this kind are opened in full elsewhere, as by DataSHIELD; the formulas are those of
`smc.analyses.statistics.kinds.survival.life_table`.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from itertools import combinations_with_replacement
from typing import Final

import numpy as np
from numpy.typing import NDArray

from smc.analyses.statistics.kinds.survival.layout import EVENT, SurvivalCells
from smc.analyses.statistics.kinds.survival.life_table import at_risk, log_rank
from smc.analyses.statistics.queries.rows import Ints
from smc.protocols.session import Session
from smc.secret.ints import SecretInts
from smc.secret.reals.reals import SecretReals, join

PART_BITS: Final = 26
"""Fractional bits of parts of those at risk."""

CURVE_BITS: Final = 30
"""Of hazards and curves on the way."""

FACTOR_BITS: Final = 31
"""Of the two reciprocals in the terms of variances, whose product keeps more."""

SLACK: Final = Fraction(1, 1024)
"""Far more than what parts can exceed 1 by, as reciprocals are off by a part of 2**-15 at most."""

Floats = NDArray[np.float64]

_MOST_BITS: Final = 44
_ROOM_BITS: Final = 61


@dataclass(frozen=True, slots=True)
class JointCurves:
    """Figures that neither party sees.

    Attributes:
        at_risk: rows followed beyond the start and each point, shape (groups, points + 1).
        survival: of the same shape.
        variance: of the logarithm of `survival`, of the same shape.
        incidence: of each competing kind of event, of the same shape.
    """

    at_risk: SecretReals
    survival: SecretReals
    variance: SecretReals
    incidence: tuple[SecretReals, ...]


@dataclass(frozen=True, slots=True)
class JointTest:
    """What a log-rank test is made of.

    Attributes:
        observed: events of each group, shape (groups,).
        expected: of each group but the first, shape (groups - 1,).
        covariance: of pairs of groups but the first, each once, by `pairs`.
    """

    observed: SecretReals
    expected: SecretReals
    covariance: SecretReals

    @classmethod
    def within_sides(cls, session: Session, own: Ints, layout: SurvivalCells, most: int) -> JointTest:
        """The sums of the tests of either side, as if sides were strata: no event weighs the other's rows.

        Args:
            session: this side of the run.
            own: local rows by cell, shape (layout.size,).
            layout: of the cells.
            most: rows of a side at most; public.
        """
        observed, expected, covariance = log_rank_sums(own, layout)
        return cls(
            SecretReals.sum_of_both(session, observed, 0, most, 0),
            SecretReals.sum_of_both(session, expected, 0, most, PART_BITS),
            SecretReals.sum_of_both(session, covariance, -most, most, PART_BITS),
        )


def pairs(groups: int) -> list[tuple[int, int]]:
    """The pairs of groups but the first of which covariances are computed, also of a group with itself."""
    return list(combinations_with_replacement(range(1, groups), 2))


def log_rank_sums(cells: Ints, layout: SurvivalCells) -> tuple[Floats, Floats, Floats]:
    """What `JointTest` holds, in the clear, of rows by cell, shape (layout.size,)."""
    ended, beyond = layout.split(cells.astype(np.float64))
    groups = len(layout.groups)
    events = ended[:, :, EVENT].reshape(groups, -1)
    excess, covariance = log_rank(events, at_risk(ended, beyond)[..., :-1].reshape(groups, -1))
    observed = events.sum(axis=1)
    entries = np.array([covariance[one - 1, other - 1] for one, other in pairs(groups)])
    return observed, observed[1:] - excess, entries


class JointTables:
    """Rows by cell, in shares.

    Args:
        cells: how many rows are in each, shape (layout.size,).
        layout: of the cells.
        most: rows in all at most; public.
    """

    def __init__(self, cells: SecretInts, layout: SurvivalCells, most: int) -> None:
        self._layout, self._most = layout, most
        groups, strata, endings = len(layout.groups), len(layout.strata), layout.endings.kinds
        shaped = SecretReals(cells).reshape(groups * strata, layout.width)
        inside = np.arange(layout.steps) * endings
        self._ended = [shaped[:, inside + kind] for kind in range(endings)]
        leavers = join([_sum(self._ended), shaped[:, -1:]], axis=1)
        self._risk = leavers.cumsum(axis=1, reverse=True).known(0, most)

    @classmethod
    def of_both(cls, session: Session, own: Ints, layout: SurvivalCells, most: int) -> JointTables:
        """Of the rows of both sides, each of which has counted its own.

        Args:
            session: this side of the run.
            own: local rows by cell, shape (layout.size,).
            layout: of the cells.
            most: rows of a side at most; public.
        """
        cells = SecretReals.sum_of_both(session, own.astype(np.float64), 0, most, 0)
        return cls(cells.ints, layout, 2 * most)

    def figures(self, *, test: bool) -> tuple[JointCurves, JointTest | None]:
        """All curves, and what the test is made of if it is asked."""
        risk, events = self._by_group(self._risk), self._by_group(_sum(self._ended[1:]))
        before, after = risk[:, :-1], risk[:, :-1] - events
        after = after.known(0, self._most)
        divisors = [before, after]
        if test:
            every = self._by_stratum(self._risk)[:, :-1]
            divisors += [every]
        safe = [each.or_one() for each in divisors]
        if test:
            safe.append((safe[2] - 1).known(0, self._most).or_one())
        reciprocals = self._reciprocals(safe)
        curves = self._curves(risk, events, reciprocals[0], reciprocals[1])
        if not test:
            return curves, None
        return curves, self._test(reciprocals[2], reciprocals[3])

    def _curves(
        self, risk: SecretReals, events: SecretReals, of_risk: SecretReals, of_rest: SecretReals
    ) -> JointCurves:
        layout = self._layout
        ends = [layout.stride * point - 1 for point in range(1, layout.points + 1)]
        hazard = (events * of_risk).known(0, 1 + SLACK)
        both = of_risk.rescale(FACTOR_BITS).ints * of_rest.rescale(FACTOR_BITS).ints
        spread = (events * SecretReals(both).rescale(of_risk.scale)).known(0, 2 + SLACK)
        variance = spread.cumsum(axis=1, at=ends).known(0, 2 + SLACK)
        stays = 1 - hazard.rescale(CURVE_BITS)
        kinds = [
            (self._by_group(each) * of_risk).known(0, 1 + SLACK).rescale(CURVE_BITS)
            for each in self._ended[2:]
        ]
        survival, *incidence = _scans(stays, kinds, layout.stride)
        return JointCurves(
            risk[:, [0, *(end + 1 for end in ends)]],
            _started(survival, 1),
            _started(variance, 0),
            tuple(_started(each, 0) for each in incidence),
        )

    def _test(self, of_every: SecretReals, of_less: SecretReals) -> JointTest:
        groups = len(self._layout.groups)
        events = self._ended[EVENT]
        both = self._by_stratum(events)
        every = self._by_stratum(self._risk)[:, :-1]
        rest = (every - both).known(0, self._most)
        ratio = (rest * of_less).known(0, 2 + SLACK).rescale(PART_BITS)
        strata = len(self._layout.strata)
        own = [self._risk[group * strata : (group + 1) * strata][:, :-1] for group in range(groups)]
        parts = [(each * of_every).known(0, 1 + SLACK).rescale(PART_BITS) for each in own]
        most = self._most
        expected = join([(both * parts[group]).sum(known=(0, most)) for group in range(1, groups)])
        found = []
        for one, other in pairs(groups):
            product = (parts[one] * parts[other]).known(0, 1 + SLACK)
            shared = parts[one] - product if one == other else -product
            found.append(((shared * ratio) * both).sum(known=(-most, most)))
        observed = events.sum(axis=1).reshape(groups, strata).sum(axis=1)
        return JointTest(observed.known(0, most), expected, join(found))

    def _reciprocals(self, counts: Sequence[SecretReals]) -> list[SecretReals]:
        """One divided by each, in one batch."""
        bits = min(_MOST_BITS, _ROOM_BITS - self._most.bit_length())
        sizes = [each.shape[0] * each.shape[1] for each in counts]
        flat = join([each.reshape(-1) for each in counts]).reciprocal(bits).known(0, 1 + SLACK)
        ends = np.cumsum(sizes).tolist()
        return [
            flat[end - size : end].reshape(*each.shape)
            for end, size, each in zip(ends, sizes, counts, strict=True)
        ]

    def _by_group(self, cells: SecretReals) -> SecretReals:
        """Strata added up: shape (groups, ...)."""
        return self._added(cells, by_group=True)

    def _by_stratum(self, cells: SecretReals) -> SecretReals:
        """Groups added up: shape (strata, ...)."""
        return self._added(cells, by_group=False)

    def _added(self, cells: SecretReals, *, by_group: bool) -> SecretReals:
        groups, strata = len(self._layout.groups), len(self._layout.strata)
        places = np.arange(groups * strata).reshape(groups, strata)
        lines = [cells[own].sum(axis=0).reshape(1, -1) for own in (places if by_group else places.T)]
        return join(lines).known(0, self._most)


def _sum(several: Sequence[SecretReals]) -> SecretReals:
    total = several[0]
    for each in several[1:]:
        total += each
    return total


def _started(at_points: SecretReals, start: int) -> SecretReals:
    """Figures at points, with the one of the start before them."""
    zeros = np.zeros((len(at_points), 1), dtype=np.uint64)
    ints = SecretInts.from_shares(at_points.session, zeros, at_points.ints.bounds, at_points.scale)
    return join([SecretReals(ints) + start, at_points], axis=1)


def _scans(stays: SecretReals, parts: Sequence[SecretReals], stride: int) -> list[SecretReals]:
    """Products of `stays` up to the end of each block, and sums of parts times the product before each.

    Of two neighbours (P, A) and (P', A') the joint one is (P P', A + P A'): first within blocks, by halves,
    then over blocks.

    Args:
        stays: shape (groups, steps).
        parts: of the same shape each.
        stride: steps of a block.
    """
    if not parts:
        ends = range(stride - 1, stays.shape[1], stride)
        return [stays.cumprod(axis=1, at=list(ends))]
    groups, steps = stays.shape
    held = [each.reshape(groups * (steps // stride), stride) for each in (stays, *parts)]
    while held[0].shape[1] > 1:
        length = held[0].shape[1]
        first, second = ([each[:, slice(start, length // 2 * 2, 2)] for each in held] for start in (0, 1))
        merged = _merge(first, second)
        held = [join([new, old[:, length // 2 * 2 :]], axis=1) for new, old in zip(merged, held, strict=True)]
    held = [each.reshape(groups, steps // stride) for each in held]
    reach = 1
    while reach < held[0].shape[1]:
        merged = _merge([each[:, :-reach] for each in held], [each[:, reach:] for each in held])
        held = [join([old[:, :reach], new], axis=1) for new, old in zip(merged, held, strict=True)]
        reach *= 2
    return held


def _merge(first: Sequence[SecretReals], second: Sequence[SecretReals]) -> list[SecretReals]:
    """Neighbours joined, with one product of all that is multiplied by the first product."""
    width = first[0].shape[1]
    right = join([each.reshape(-1) for each in second])
    left = join([first[0].reshape(-1)] * len(second))
    products = (left * right).known(-SLACK, 1 + SLACK)
    size = first[0].shape[0] * width
    pieces = [products[place * size : (place + 1) * size].reshape(-1, width) for place in range(len(second))]
    return [
        pieces[0],
        *((old + new).known(-SLACK, 1 + SLACK) for old, new in zip(first[1:], pieces[1:], strict=True)),
    ]

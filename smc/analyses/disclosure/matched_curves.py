"""The opening of curves over the rows that both sides have, at points where the limits of both allow it.

Nobody knows whom such curves are about, so what `smc.analyses.disclosure.curves` tests of each side's own
rows is tested here of secret numbers of matches, by the stricter of both policies: the persons of a curve are
those of both sides.

    secret      which counts reach the smallest group, and which are 0       one batch of comparisons
                at which points figures are shown, by scans over the points
    opened      whether the part of the points that would be withheld, and groups and strata of a test, are as
                the limits ask: one bit, to both
    opened      the figures at points, 0 where they are not shown, and which are; to the recipients

The rules are those of curves of each side: a point is shown where as many persons have an event in the
interval before it as the limits ask for, or nobody where both policies say `zeros = "shown"` and the point
before is shown; a curve ends while as many are followed further; behind the last point of a test as many
events lie, or none. Which points are shown only recipients learn, and these nothing of the counts beside it.
"""

from __future__ import annotations

from collections.abc import Sequence
from collections.abc import Set as AbstractSet
from dataclasses import dataclass, field
from functools import reduce
from operator import and_
from typing import Final

import numpy as np
from numpy.typing import NDArray
from typing_extensions import override

from smc.analyses.disclosure.audit import Bit, Figures
from smc.analyses.disclosure.curves import MOST_HIDDEN, Ints, PointFigures, Shows, open_shown
from smc.analyses.disclosure.limits import Agreed, Limits
from smc.analyses.disclosure.opener import Opener
from smc.analyses.disclosure.suppression import Mask
from smc.errors import DisclosureRefused
from smc.forms import Role
from smc.secret.bits import SecretBits
from smc.secret.linear_ints import LinearInts, concatenate
from smc.secret.sharing.bounds import Bounds

_HOLD: Final = Bit("whether the limits let curves over matched rows be opened")

Bits = NDArray[np.uint8]
"""Local XOR shares."""


@dataclass(frozen=True, slots=True)
class MatchedCurvesPart:
    """Matched persons by group and stratum, and by where and how their follow-up ended; secret.

    Attributes:
        cells: persons interval by interval, in each by ending, of which 0 is without an event; last those who
            are followed beyond the last point; shape (groups * strata, points * endings + 1).
        groups: that are compared.
        endings: in how many ways a follow-up ends.
        tested: whether figures about the first kind of event at all points together are opened, too.
    """

    cells: LinearInts = field(repr=False)
    groups: int
    endings: int
    tested: bool

    @property
    def points(self) -> int:
        """Of the curves, without the start."""
        return (self.cells.shape[1] - 1) // self.endings

    @property
    def marks(self) -> tuple[int, int, int]:
        """The shape of what is shown where: kinds of `Shows`, groups, start and points."""
        return len(Shows), self.groups, self.points + 1


class MatchedCurvesFigure(PointFigures[MatchedCurvesPart]):
    """Those over matched rows."""

    @override
    def open(
        self, opener: Opener, limits: Agreed, recipients: AbstractSet[Role]
    ) -> tuple[Mask, list[Ints]] | None:
        """Open what the limits of both allow; returns and raises as `CurvesFigure.open`."""
        shown = _Limited(limits.both, self.part)
        if shown.holds and not opener.hold(shown.holds, _HOLD):
            raise DisclosureRefused(
                "The limits of the policies stand against the curves: too few matched persons have an event "
                "between points, or a group, or a group in a stratum, has too few for a test.",
                "Set longer distances (every), compare fewer groups, or add noise to the job (epsilon).",
            )
        return open_shown(
            opener, shown.marks, self.part.marks, self.at_points, self.of_all, recipients, Figures()
        )


class _Limited:
    """What may be shown of a part, in secret.

    Attributes:
        marks: where figures are shown, shape (kinds, groups * (points + 1)).
        holds: bits that all have to be 1 for anything to be opened.
    """

    def __init__(self, limits: Limits, part: MatchedCurvesPart) -> None:
        self._part, self._session = part, part.cells.session
        self._least, self._zeros = limits.minimum_group, not limits.hides_zeros
        self.holds: list[SecretBits] = []
        if self._least < 2:
            ones = np.ones((len(Shows), part.groups * (part.points + 1)), dtype=np.uint8)
            alice = self._session.role is Role.ALICE
            self.marks = SecretBits(self._session, ones if alice else np.zeros_like(ones))
            return
        counts = _Counts.of(part)
        self._enough, self._nobody = self._test([*counts.every])
        found = self._show(counts)
        if part.tested:
            self._end_with_enough_behind(found, counts)
        self.holds = [*self._not_too_many_hidden(found[Shows.EVENTS]), *self._tested_groups(counts)]
        self.marks = SecretBits(self._session, np.stack([each.shares.reshape(-1) for each in found]))

    def _test(self, counts: Sequence[LinearInts]) -> tuple[dict[int, SecretBits], dict[int, SecretBits]]:
        """Of all numbers whether they reach the smallest group, and whether they are 0; one batch."""
        flat = concatenate([each.reshape(-1) for each in counts])
        bits = concatenate([flat - self._least, -flat]) >= 0
        size, at = len(flat), 0
        enough, nobody = {}, {}
        for each in counts:
            count = each.shares.size
            enough[id(each)] = bits[at : at + count].reshape(*each.shape)
            nobody[id(each)] = bits[size + at : size + at + count].reshape(*each.shape)
            at += count
        return enough, nobody

    def _reach(self, counts: LinearInts) -> SecretBits:
        """Whether numbers reach the smallest group, or are 0 where that may be shown."""
        enough = self._enough[id(counts)]
        return enough ^ self._nobody[id(counts)] if self._zeros else enough

    def _show(self, counts: _Counts) -> list[SecretBits]:
        """Where figures are shown, of each kind, shape (groups, points + 1)."""
        left = self._enough[id(counts.left)]
        followed = left & SecretBits(self._session, np.repeat(left.shares[:, :1], left.shape[1], axis=1))
        found: list[SecretBits] = []
        for shows in Shows:
            numbers = counts.before[shows]
            starts = reduce(and_, [self._enough[id(each)] for each in numbers])
            goes_on = reduce(and_, [self._reach(each) for each in numbers])
            if found:
                starts, goes_on = (each & found[0][:, 1:] for each in (starts, goes_on))
            later = [each & followed[:, 1:] for each in (starts, goes_on)]
            # At the start nobody is asked for but those who are followed further.
            begun = np.concatenate([followed.shares[:, :1], later[0].shares], axis=1)
            kept = np.concatenate([np.zeros_like(followed.shares[:, :1]), later[1].shares], axis=1)
            found.append(self._carry(begun, kept) if self._zeros else SecretBits(self._session, begun))
        return found

    def _carry(self, begun: Bits, kept: Bits) -> SecretBits:
        """A point is shown where it is by itself, or it may be if the one before is: a scan, by doubling."""
        reach, points = 1, begun.shape[1]
        while reach < points:
            ahead = SecretBits(self._session, np.stack([begun[:, :-reach], kept[:, :-reach]]).reshape(-1))
            own = SecretBits(self._session, np.stack([kept[:, reach:]] * 2).reshape(-1))
            carried = (ahead & own).shares.reshape(2, len(begun), points - reach)
            # What begins by itself also goes on, so that one of both is 0 or both are the same: an OR.
            already = SecretBits(self._session, begun[:, reach:].reshape(-1))
            either = already | SecretBits(self._session, carried[0].reshape(-1))
            begun = np.concatenate([begun[:, :reach], either.shares.reshape(carried[0].shape)], axis=1)
            kept = np.concatenate([kept[:, :reach], carried[1]], axis=1)
            reach *= 2
        return SecretBits(self._session, begun)

    def _or_later(self, bits: SecretBits) -> SecretBits:
        """Whether a bit or one to the right of it is 1, row by row."""
        turned = bits.shares[:, ::-1]
        zeros = SecretBits(self._session, np.zeros_like(turned))
        found = self._carry(turned, (~zeros).shares)
        return SecretBits(self._session, found.shares[:, ::-1])

    def _end_with_enough_behind(self, found: list[SecretBits], counts: _Counts) -> None:
        """End curves where as many events lie behind as limits ask for, so that no test tells of few."""
        behind = self._reach(counts.behind).shares
        none = SecretBits(self._session, np.zeros_like(found[Shows.KINDS].shares[:, :1]))
        # Behind the last point there is nobody, whatever limits ask for.
        may_end = SecretBits(self._session, np.concatenate([behind, (~none).shares], axis=1))
        keeps = self._or_later(found[Shows.KINDS][:, 1:] & may_end)
        for shows in Shows if self._part.endings == 2 else (Shows.KINDS,):
            later = found[shows][:, 1:] & keeps
            shares = np.concatenate([found[shows].shares[:, :1], later.shares], axis=1)
            found[shows] = SecretBits(self._session, shares)

    def _not_too_many_hidden(self, marks: SecretBits) -> list[SecretBits]:
        """No more than a quarter of the points before the end of a curve is hidden, and not all of all."""
        points = marks[:, 1:]
        until = self._or_later(points)
        both = LinearInts.from_bits(SecretBits(self._session, np.concatenate([points.shares, until.shares])))
        sums = both.sum(axis=1)
        shown, last = sums[: self._part.groups], sums[self._part.groups :]
        # last - shown <= last / 4
        part, whole = MOST_HIDDEN.numerator, MOST_HIDDEN.denominator
        some = shown.sum() >= 1
        few_hidden = shown * whole - last * (whole - part) >= 0
        return [*(few_hidden[[group]] for group in range(self._part.groups)), some]

    def _tested_groups(self, counts: _Counts) -> list[SecretBits]:
        """A test has as many persons and events as limits ask for, or none, in each group and stratum."""
        if not self._part.tested:
            return []
        few = [self._enough[id(each)] ^ self._nobody[id(each)] for each in counts.within]
        rows = [bits[[place]] for bits in few for place in range(len(bits))]
        if not self._zeros:
            nobody = self._nobody[id(counts.events)]
            rows += [~nobody[[group]] for group in range(self._part.groups)]
        return rows


@dataclass(frozen=True, slots=True)
class _Counts:
    """Numbers of persons that limits are about; local sums of cells.

    Attributes:
        left: followed beyond the start and each point, shape (groups, points + 1).
        before: of each kind of `Shows`, whose follow-up ends in the interval before each point, as often as
            numbers of them have to be groups, shape (groups, points).
        behind: with the event that is tested behind each point but the last, shape (groups, points - 1).
        events: with that event at all, shape (groups,).
        within: persons, and those with that event, by group and stratum, shape (groups * strata,).
    """

    left: LinearInts
    before: dict[Shows, list[LinearInts]]
    behind: LinearInts
    events: LinearInts
    within: tuple[LinearInts, LinearInts]

    @property
    def every(self) -> list[LinearInts]:
        """All of them."""
        several = [each for numbers in self.before.values() for each in numbers]
        others = (self.left, self.behind, self.events, *self.within)
        return list({id(each): each for each in (*several, *others)}.values())

    @classmethod
    def of(cls, part: MatchedCurvesPart) -> _Counts:
        """Add up the cells."""
        cells, most = part.cells, part.cells.bounds.upper
        session, (rows, width), points = cells.session, cells.shape, part.points

        def counts(shares: NDArray[np.uint64]) -> LinearInts:
            # All are numbers of persons, of whom there are no more than can be in a cell.
            return LinearInts.from_shares(session, np.ascontiguousarray(shares), Bounds(0, most))

        by_group = cells.shares.reshape(part.groups, rows // part.groups, width).sum(axis=1, dtype=np.uint64)
        ended = by_group[:, :-1].reshape(part.groups, points, part.endings)
        leavers = np.concatenate([ended.sum(axis=2, dtype=np.uint64), by_group[:, -1:]], axis=1)
        left = leavers[:, ::-1].cumsum(axis=1, dtype=np.uint64)[:, ::-1]
        kinds = [counts(ended[:, :, kind]) for kind in range(1, part.endings)]
        events = kinds if len(kinds) == 1 else [counts(ended[:, :, 1:].sum(axis=2, dtype=np.uint64))]
        before = {Shows.EVENTS: events, Shows.KINDS: kinds, Shows.LEAVERS: [counts(ended[:, :, 0])]}
        from_here = ended[:, ::-1, 1].cumsum(axis=1, dtype=np.uint64)[:, ::-1]
        apart = cells.shares[:, :-1].reshape(rows, points, part.endings)[:, :, 1].sum(axis=1, dtype=np.uint64)
        return cls(
            counts(left),
            before,
            counts(from_here[:, 1:]),
            counts(from_here[:, 0]),
            (counts(cells.shares.sum(axis=1, dtype=np.uint64)), counts(apart)),
        )

"""The opening of curves over time: figures at points, each side's part as that side's own limits allow it.

    own         at which points few of the side's persons lie between it and the one before; own auditor
    opened      whether both sides go on, one bit of each side whose part the other one gets
    secret      at which points both sides' limits hold, by group      figures at the others become 0
    opened      the figures at points, and which of them are shown; to the recipients

A curve steps where somebody has an event. Who knows its own part, and a curve before and after a step, knows
how many events of the other side lie between. So a side's rows are a table of groups by intervals and by how
their follow-up ended, of which a point shows the cells before it: a point is shown where as many persons have
an event in the interval before it as the side's own limits ask for, or nobody where its policy says
`zeros = "shown"`. Figures of each kind of event beside it are shown where as many have each, and numbers of
rows at risk where as many leave without an event.
What is not shown is in the next figure that is, so whoever subtracts two figures learns of the persons of
one such interval at least. A curve ends while as many persons are followed beyond it. Of a test, which is
about all events, as many lie behind the last point, or none, and as many or none in each group and stratum:
with a stratum more a test differs by what happened in it.

Which points are shown is a result as well: where more than a quarter of those before the end of a curve would
not be, or none is, the part stays closed as a whole. What is shown is told to the auditor as sums of cells,
so that shifted points, another horizon or other groups are held against all that was shown before.

References: as of `smc.analyses.disclosure.tables`.
"""

from __future__ import annotations

from collections.abc import Sequence
from collections.abc import Set as AbstractSet
from dataclasses import dataclass, field
from enum import IntEnum
from fractions import Fraction
from math import prod
from typing import Final, Generic, TypeVar

import numpy as np
from numpy.typing import NDArray
from typing_extensions import override

from smc.analyses.disclosure.audit import Bit, Members, ShownTable, ShownTables, Told
from smc.analyses.disclosure.exact_figure import ExactFigure
from smc.analyses.disclosure.limits import Agreed, Limits
from smc.analyses.disclosure.opener import Opener
from smc.analyses.disclosure.owned import Owned
from smc.analyses.disclosure.suppression import Mask
from smc.errors import DisclosureRefused
from smc.forms import Role
from smc.secret.bits import SecretBits
from smc.secret.linear_ints import LinearInts, concatenate, select
from smc.secret.sharing.bounds import Bounds

Ints = NDArray[np.int64]
P = TypeVar("P")

MOST_HIDDEN: Final = Fraction(1, 4)
"""The largest part of the points before the end of a curve that may stay hidden."""


class Shows(IntEnum):
    """What a figure at a point is about, and so where it is shown."""

    EVENTS = 0
    """Events up to the point."""
    KINDS = 1
    """Events of each kind up to the point."""
    LEAVERS = 2
    """All who leave up to the point."""


@dataclass(frozen=True, slots=True)
class CurvesPart:
    """One side's persons, each of one row, by group and stratum, and by where and how its follow-up ended.

    Attributes:
        cells: persons interval by interval, in each by ending, of which 0 is without an event; last those who
            are followed beyond the last point; shape (groups, strata, points * endings + 1).
        endings: in how many ways a follow-up ends.
        rows: the local rows in these cells.
        tested: whether figures about the first kind of event at all points together are opened, too.
    """

    cells: Ints = field(repr=False)
    endings: int
    rows: Members = field(repr=False)
    tested: bool

    @property
    def marks(self) -> tuple[int, int, int]:
        """The shape of what `show` returns."""
        return len(Shows), self.cells.shape[0], (self.cells.shape[2] - 1) // self.endings + 1

    def show(self, limits: Owned[Limits]) -> Mask:
        """Where this side's limits let figures be shown: by kind of `Shows`, group, and start or point."""
        least, zeros = limits.value.minimum_group, not limits.value.hides_zeros
        found = np.ones(self.marks, dtype=np.bool_)
        if least < 2:
            return found

        ended = self._ended.sum(axis=1)
        leavers = np.concatenate([ended.sum(axis=2), self.cells[:, :, -1].sum(axis=1)[:, None]], axis=1)
        left = leavers[:, ::-1].cumsum(axis=1)[:, ::-1]
        found &= left >= least
        found &= found[:, :, :1]
        for place, cells in enumerate(np.moveaxis(ended, 1, 0), 1):
            events = cells[:, 1:].sum(axis=1, keepdims=True)
            for shows, counts in zip(Shows, (events, cells[:, 1:], cells[:, :1]), strict=True):
                # nobody between two points is nobody since the last figure only if that one is shown
                nobody = (counts == 0) & found[shows, :, place - 1, None] & zeros
                found[shows, :, place] &= ((counts >= least) | nobody).all(axis=1)
            found[1:, :, place] &= found[Shows.EVENTS, :, place]
        for group, events in enumerate(ended[:, :, 1] if self.tested else ()):
            shown = found[Shows.KINDS, group]
            while shown[1:].any():
                last = int(np.flatnonzero(shown)[-1])
                behind = int(events[last:].sum())
                if last == len(events) or behind >= least or (zeros and behind == 0):
                    break
                found[slice(None) if self.endings == 2 else Shows.KINDS, group, last] = False
        return found

    def refusal(self, limits: Owned[Limits], shown: Mask) -> DisclosureRefused | None:
        """Why this side's limits stand against its part as a whole; None where they do not."""
        least = limits.value.minimum_group
        if least < 2:
            return None
        for marks in shown[Shows.EVENTS]:
            last = int(np.flatnonzero(marks)[-1]) if marks.any() else 0
            hidden = last - int(marks[1 : last + 1].sum())
            if hidden > last * MOST_HIDDEN or not shown[Shows.EVENTS, :, 1:].any():
                return DisclosureRefused(
                    f"More than one point in {MOST_HIDDEN.denominator} of a curve would be withheld of this "
                    "party's part: too few have an event between it and the point before.",
                    "Set longer distances (every), compare fewer groups, or add noise to the job (epsilon).",
                )
        events, persons = self._ended[..., 1].sum(axis=2), self.cells.sum(axis=2)
        few = any(((counts > 0) & (counts < least)).any() for counts in (events, persons))
        if self.tested and (few or (limits.value.hides_zeros and not events.sum(axis=1).all())):
            return DisclosureRefused(
                "A group, or a group in a stratum, has too few persons or events of this party for a test.",
                "Compare larger groups in larger strata, or add noise to the job (epsilon).",
            )
        return None

    def tell(self, shown: Mask) -> ShownTables:
        """What the peer learns of this part, as sums of its cells; of a test how many events there are."""
        places = np.arange(self.cells.size).reshape(self.cells.shape)
        sums = []
        for group, own in enumerate(places):
            inside = own[:, :-1].reshape(len(own), -1, self.endings)
            for start, end in _runs(shown[Shows.EVENTS, group]):
                sums.append(inside[:, start:end, 1:])
            for start, end in _runs(shown[Shows.KINDS, group]) if self.endings > 2 else ():
                sums += [inside[:, start:end, kind] for kind in range(1, self.endings)]
            for start, end in _runs(shown[Shows.LEAVERS, group]):
                sums.append(inside[:, start:end])
            sums += [own] if shown[Shows.LEAVERS, group, 0] else []
            sums += list(inside[:, :, 1]) if self.tested else []
        found = np.zeros((len(sums), self.cells.size), dtype=np.bool_)
        for equation, cells in zip(found, sums, strict=True):
            equation[cells.reshape(-1)] = True
        return ShownTables((ShownTable(self.rows, found),))

    @property
    def _ended(self) -> Ints:
        """Shape (groups, strata, points, endings)."""
        return self.cells[:, :, :-1].reshape(*self.cells.shape[:2], -1, self.endings)


@dataclass(frozen=True, slots=True)
class PointFigures(ExactFigure[tuple[Mask, list[Ints]] | None], Generic[P]):
    """Figures at points, and figures about all of them.

    Attributes:
        part: whom they are about.
        at_points: held integers of both sides together, shape (groups, points + 1), and what they show.
        of_all: further ones of any shape; of a part that is `tested`.
    """

    part: P
    at_points: Sequence[tuple[Shows, LinearInts]]
    of_all: Sequence[LinearInts]


class CurvesFigure(PointFigures[CurvesPart]):
    """Those about the rows of both, of which a side's own part is `part`."""

    @override
    def open(
        self, opener: Opener, limits: Agreed, recipients: AbstractSet[Role]
    ) -> tuple[Mask, list[Ints]] | None:
        """Open what each side's own limits allow.

        Returns:
            Where figures are shown, of each kind; and the held integers, 0 where they are not. None for a
            party that is not a recipient.

        Raises:
            DisclosureRefused: a side does not let its part be opened; at both sides, and nothing was.
            ProtocolViolation: the peer sent something else than the protocol says.
        """
        session, part, why = opener.session, self.part, None
        own = np.ones(part.marks, dtype=np.bool_)
        told = part.tell(own)
        if session.role.other in recipients:  # else nobody else sees the part
            own = part.show(limits.own)
            told = part.tell(own)
            why = part.refusal(limits.own, own) or (None if opener.auditor.allows(told) else _together())
        if not opener.agree(Bit("whether a side's part of curves is opened"), answer=why is None):
            raise why or DisclosureRefused(
                "The other party does not let its part of the curves be opened: too few of its persons have "
                "an event between points, or together with earlier exact figures they would tell of few "
                "persons.",
                "Set longer distances (every), compare fewer groups, or add noise to the job (epsilon).",
            )
        flat = own.reshape(len(own), -1).astype(np.uint8)
        first, second = (
            SecretBits(session, flat if session.role is role else np.zeros_like(flat)) for role in Role
        )
        return open_shown(opener, first & second, own.shape, self.at_points, self.of_all, recipients, told)


def open_shown(
    opener: Opener,
    shown: SecretBits,
    shape: tuple[int, ...],
    at_points: Sequence[tuple[Shows, LinearInts]],
    of_all: Sequence[LinearInts],
    recipients: AbstractSet[Role],
    told: Told,
) -> tuple[Mask, list[Ints]] | None:
    """Open figures where secret bits say so, and these with them.

    Args:
        opener: all opening goes through it.
        shown: where figures of each kind are shown, shape (kinds, groups * (points + 1)).
        shape: (kinds, groups, points + 1).
        at_points: as of `CurvesFigure`.
        of_all: likewise.
        recipients: who gets them.
        told: what the other one learns by it.

    Returns:
        As `CurvesFigure.open`.

    Raises:
        ProtocolViolation: the peer sent something else than the protocol says.
    """
    session = opener.session
    figures = [LinearInts.from_bits(shown)]
    for shows, values in at_points:
        nothing = LinearInts.from_shares(session, np.zeros_like(values.shares.reshape(-1)), Bounds(0, 0))
        held = LinearInts.from_shares(session, values.shares.reshape(-1), values.bounds)
        figures.append(select(shown[int(shows)], held, nothing))
    figures += [LinearInts.from_shares(session, each.shares, each.bounds) for each in of_all]
    opened = opener.ints(concatenate([each.reshape(-1) for each in figures]), recipients, told)
    if opened is None:
        return None
    shapes = [shape, *(values.shape for _, values in at_points), *(each.shape for each in of_all)]
    pieces = np.split(opened, np.cumsum([prod(each) for each in shapes])[:-1])
    marks, *rest = (piece.reshape(each) for piece, each in zip(pieces, shapes, strict=True))
    return marks == 1, rest


def _runs(shown: Mask) -> list[tuple[int, int]]:
    """The intervals from each shown point to the next; a curve that is not shown at the start has none."""
    places = np.flatnonzero(shown)
    if not len(places) or places[0]:
        return []
    return list(zip(places[:-1].tolist(), places[1:].tolist(), strict=True))


def _together() -> DisclosureRefused:
    return DisclosureRefused(
        "Together with exact figures that were released before these curves would tell of fewer persons than "
        "this party's policy allows; or that could not be checked.",
        "Use the same points and groups as before, or add noise to the job (epsilon).",
    )

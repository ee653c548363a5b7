"""When slots are followed, in secret: sums over those at risk, and the hazard that each has been under.

    owner of the slots (parts of intervals, shape (slots, intervals))        both (shares of weights, hazards)
      == rows of parts times the other's share of weights, encrypted ==      weights of those at risk
      == rows of parts times the other's share of hazards, encrypted ==      cumulative hazard of each slot

The other party learns neither when a slot is followed nor how time is cut.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

import numpy as np
from numpy.typing import NDArray

from smc.analyses.models.intervals import EACH, INTERVALS, PERIODS
from smc.analyses.models.matched_own import FOLLOWED_SCALE, OwnTimes
from smc.forms import Role
from smc.protocols.session import Session
from smc.secret.ints import SecretInts
from smc.secret.reals.fixed_rows import FixedRows, OwnedColumns, RowsLayout
from smc.secret.reals.near import public, shift
from smc.secret.reals.reals import SecretReals, join
from smc.secret.sharing.bounds import WORD_BITS, Bounds

HAZARD_SCALE: Final = 24
"""Fractional bits of hazards."""

_LOOKUP_SCALE: Final = HAZARD_SCALE + FOLLOWED_SCALE

MOST_HAZARD: Final = 1 << 8
"""Cumulative hazards, of a row of weight 1, are at most this."""

Word = NDArray[np.uint64]


@dataclass(frozen=True, slots=True)
class SecretTimes:
    """When slots are followed.

    Attributes:
        owner: of the slots, who knows it.
        followed: through which parts of intervals, beside a column of the other party.
        happened: in which interval the event was, likewise.
        periods: through which parts of periods.
    """

    owner: Role
    followed: FixedRows
    happened: FixedRows
    periods: OwnedColumns

    @classmethod
    def of(
        cls, session: Session, owner: Role, member: NDArray[np.uint8], held: OwnTimes | None, times: int
    ) -> SecretTimes:
        """Of what the owner knows; nothing is sent.

        Args:
            session: this side of the run.
            owner: of the slots.
            member: local shares of which slots are matches, shape (slots,); for its shape.
            held: at the owner, by slot.
            times: how often sums are taken, at most.
        """
        slots = len(member)
        if held is None:
            ones = np.ones((slots, 1), dtype=np.int64, like=member)
            periods = np.zeros((slots, PERIODS), dtype=np.int64, like=member)
            held = OwnTimes(ones << FOLLOWED_SCALE, ones, periods)
        return cls(
            owner,
            FixedRows(session, _layout(slots, owner, FOLLOWED_SCALE, times), held.followed),
            FixedRows(session, _layout(slots, owner, 0, 1), held.happened),
            OwnedColumns(session, owner, held.periods, FOLLOWED_SCALE),
        )

    def first(self, count: int) -> SecretTimes:
        """The first slots; local."""
        followed, happened = self.followed.first(count), self.happened.first(count)
        return SecretTimes(self.owner, followed, happened, self.periods.first(count))

    def events(self, happened: SecretReals) -> SecretInts:
        """How many events there are in each interval, shape (`INTERVALS`,).

        Args:
            happened: 1 for a match that ends with the event, else 0, shape (slots,).
        """
        return self._select_own(self.happened.transposed(happened)).ints

    def at_risk(self, weights: SecretReals) -> SecretReals:
        """The weights of those at risk in each interval, by the part through which they are.

        Args:
            weights: shape (slots,).
        """
        return self._select_own(self.followed.transposed(weights))

    def hazards(self, hazards: SecretReals) -> SecretReals:
        """The cumulative hazard that each slot has been under, with `HAZARD_SCALE` fractional bits.

        Args:
            hazards: of the intervals, not negative, of which the sum is stated, with as many fractional bits.
        """
        zero = hazards[:1] - hazards[:1]
        order = [hazards, zero] if self.owner is Role.ALICE else [zero, hazards]
        found = self.followed.predictor(join(order), 1 << (WORD_BITS - _LOOKUP_SCALE))
        most = MOST_HAZARD << _LOOKUP_SCALE
        (words,) = shift(self.followed.session, (found.words, Bounds(0, most), FOLLOWED_SCALE))
        # What a shift leaves out is one on average.
        words = words + public(self.followed.session, 1)
        bounds = Bounds(-1, (MOST_HAZARD << HAZARD_SCALE) + 1)
        ints = SecretInts.from_shares(self.followed.session, words, bounds, HAZARD_SCALE)
        return SecretReals(ints, hazards.statements)

    def _select_own(self, values: SecretReals) -> SecretReals:
        """Those of the owner's columns."""
        return values[:INTERVALS] if self.owner is Role.ALICE else values[1:]


def by_period(values: SecretInts) -> SecretInts:
    """Sums over the intervals of each period; local."""
    return values.reshape(PERIODS, EACH).sum(axis=1)


def _layout(slots: int, owner: Role, scale: int, times: int) -> RowsLayout:
    """The owner's columns, and one of the other party, which has to have one."""
    alice, bob = (INTERVALS, 1) if owner is Role.ALICE else (1, INTERVALS)
    return RowsLayout(slots, alice, bob, 0, scale, times)

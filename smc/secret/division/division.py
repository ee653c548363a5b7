"""Shared integers divided by shared positive ones: by long division, or by a start and two Newton steps.

    Alice, Bob (shares of n and y)
      == digit after digit (`smc.secret.division.long_division`) ==
      or
      == a start, its refinement, a last correction (`smc.secret.division.newton`) ==

Both are exact. Long division takes about eight rounds for each two bits of the quotient, the other way about
40 rounds whatever the quotient, and of short ones more bytes. `Division.of` takes what costs less, a round
counted as 64 kB.

Inputs: shares modulo 2**64 of n >= 0 and y >= 1 within public bounds.
Outputs: shares modulo 2**64 of the quotients, rounded down.
Learns: neither party anything.
Assumes: `smc.secret.division.long_division`, `smc.secret.division.newton`.
Cost: `cost`.
Reference: see there.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache
from typing import Final

import numpy as np
from numpy.typing import NDArray

from smc.errors import DomainError
from smc.forms import Role
from smc.protocols.against import Against
from smc.protocols.session import Session
from smc.protocols.spec import Cost, Procedure
from smc.protocols.transfer_costs import TRANSFERS
from smc.secret.comparison import msb, mux
from smc.secret.comparison.records import cost_nonnegative, cost_select
from smc.secret.division import long_division
from smc.secret.division import newton as goldschmidt
from smc.secret.division.long_division import Digit, check_divisor
from smc.secret.division.newton_steps import Steps
from smc.secret.sharing.bounds import Bounds

Word = NDArray[np.uint64]

_ROUND_BYTES: Final = 1 << 16


@dataclass(frozen=True, slots=True)
class Division:
    """How integers are divided: the same at both parties.

    Attributes:
        count: how many.
        method: the digits of long division, or the steps of the other way.
        divisor: bounds of y.
        owner: the party whose shares are the divisors themselves, the other's being zero; None if neither.
    """

    count: int
    method: tuple[Digit, ...] | Steps
    divisor: Bounds
    owner: Role | None = None

    @classmethod
    @cache
    def of(
        cls,
        count: int,
        numerator: Bounds,
        divisor: Bounds,
        largest: int | None = None,
        owner: Role | None = None,
    ) -> Division:
        """The cheapest way.

        Args:
            count: how many.
            numerator: bounds of n, not negative.
            divisor: bounds of y.
            largest: of the quotients, where more is known of them than the bounds of both say.
            owner: of the divisors.

        Raises:
            DomainError: y could be zero or negative, or a multiple of it would not fit.
        """
        check_divisor(divisor)
        most = numerator.upper // divisor.lower
        most = most if largest is None else min(most, largest)
        ways = [cls(count, steps, divisor, owner) for steps in Steps.of(numerator, divisor, most)]
        try:
            digits = tuple(long_division.digits(numerator, divisor, largest))
        except DomainError:
            if not ways:
                raise
        else:
            ways.insert(0, cls(count, digits, divisor, owner))
        return min(ways, key=_weight)

    def cost(self, *, zeros: bool = False) -> Cost:
        """The exact cost of `run`: flights and bytes, without the set-up of oblivious transfer.

        Args:
            zeros: whether divisors can be 0.
        """
        if isinstance(self.method, Steps):
            return goldschmidt.cost(self.count, self.method, zeros=zeros)
        cost = long_division.cost(self.count, list(self.method), self.owner)
        if zeros:
            cost = cost_nonnegative(self.count, self._above) + cost_select(2 * self.count) + cost
        return cost

    @property
    def _above(self) -> Bounds:
        """Of the divisor less its lower bound, where it can be 0."""
        return Bounds(-self.divisor.lower, self.divisor.upper - self.divisor.lower)

    def run(self, session: Session, numerator: Word, divisor: Word, otherwise: Word | None = None) -> Word:
        """Divide, rounding down.

        Args:
            session: this side of the run.
            numerator: local shares of integers that are not negative, shape (count,).
            divisor: local shares of positive integers, shape (count,).
            otherwise: local shares of what comes out where the divisor is 0, and the numerator too, shape
                (count,); None if no divisor is. No party owns the divisors then.

        Returns:
            Local shares, shape (count,).

        Raises:
            ProtocolViolation: the peer sent something else than the protocol says.
        """
        if isinstance(self.method, Steps):
            return goldschmidt.divide(session, numerator, divisor, self.method, otherwise)
        if otherwise is not None:
            smallest = np.full_like(divisor, self.divisor.lower if session.role is Role.ALICE else 0)
            zero = msb.nonnegative(session, divisor - smallest, self._above)
            zero ^= np.uint8(session.role is Role.ALICE)
            more = mux.select(session, np.tile(zero, 2), np.concatenate([smallest, otherwise]))
            more, kept = np.split(more, 2)
            digits = list(self.method)
            return kept + long_division.divide(session, numerator, divisor + more, digits)
        return long_division.divide(session, numerator, divisor, list(self.method), self.owner)


def _weight(way: Division) -> int:
    cost = way.cost()
    return cost.alice_bytes + cost.bob_bytes + _ROUND_BYTES * cost.rounds


def cost_within(
    count: int, numerator: Bounds, divisor: Bounds, largest: int | None = None, owner: Role | None = None
) -> Cost:
    """The exact cost of dividing integers within bounds, the cheapest way."""
    return Division.of(count, numerator, divisor, largest, owner).cost()


SPEC: Final = Procedure(
    name="division",
    against=Against.PRIVATE,
    module=__name__,
    cost=cost_within,
    setups=(TRANSFERS,),
    example={"count": 100, "numerator": Bounds(0, 1 << 20), "divisor": Bounds(1, 1000)},
)

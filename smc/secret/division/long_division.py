"""Shared integers divided by shared positive ones: long division with digits of two bits.

    Alice, Bob (shares of n and y)
      digit after digit:   == comparisons of three multiples ==    == selection of what is subtracted ==

    r = n;   for j = top, top - 2, ..., 0:   b_t = [r >= t y 2**j] for t = 1, 2, 3, in one batch
                                             r = r - (b_1 + b_2 + b_3) y 2**j,   digit = b_1 + b_2 + b_3
    quotient = sum of digit 2**j = floor(n / y)

The result is exact. There is no first guess and no series, thus nothing to tune to the size of the divisor.

Inputs: shares modulo 2**64 of n >= 0 and y >= 1 within public bounds.
Outputs: shares modulo 2**64 of the quotients, rounded down.
Learns: neither party anything.
Assumes: `smc.secret.comparison.msb`, `smc.secret.comparison.mux`.
Cost: `cost`; per digit a comparison of three pairs and a selection.
Reference: duetto; long division in base 4.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
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
from smc.secret.comparison.records import cost_nonnegative, cost_select, cost_to_words
from smc.secret.products.words import word
from smc.secret.sharing.bounds import Bounds

Word = NDArray[np.uint64]

_DIGIT_BITS = 2


@dataclass(frozen=True, slots=True)
class Digit:
    """What is public of one step.

    Attributes:
        exponent: j, of the digit's weight 2**j.
        multiples: those t of which t y 2**j can be as small as the remainder.
        bounds: of the differences that are compared with zero.
    """

    exponent: int
    multiples: tuple[int, ...]
    bounds: Bounds


def digits(numerator: Bounds, divisor: Bounds, largest: int | None = None) -> list[Digit]:
    """The steps of a division, the first digit first.

    Args:
        numerator: bounds of n, not negative.
        divisor: bounds of y.
        largest: of the quotients, where more is known of them than the bounds of both say; None where not.

    Raises:
        DomainError: y could be zero or negative, or a multiple of it would not fit.
    """
    check_divisor(divisor)
    most = numerator.upper // divisor.lower
    most = most if largest is None else min(most, largest)
    length = most.bit_length()
    result = []
    rest = min(numerator.upper, (most + 1) * divisor.upper - 1)
    for exponent in reversed(range(0, length, _DIGIT_BITS)):
        step = divisor.shift(exponent)
        multiples = tuple(t for t in range(1, 1 << _DIGIT_BITS) if t * step.lower <= rest)
        bounds = Bounds(-multiples[-1] * step.upper, rest - step.lower).fit("divide")
        result.append(Digit(exponent, multiples, bounds))
        # What is left is below one multiple of the step.
        rest = min(rest, step.upper - 1)
    return result


def check_divisor(divisor: Bounds) -> None:
    """Check that a divisor is positive by its bounds.

    Raises:
        DomainError: it could be zero or negative.
    """
    if divisor.lower < 1:
        raise DomainError(
            "divide: by its declared bounds the divisor could be zero or negative.",
            "Declare a positive lower bound for it, or select a positive number where it is not positive.",
        )


def divide(
    session: Session, numerator: Word, divisor: Word, steps: list[Digit], owner: Role | None = None
) -> Word:
    """Divide, rounding down.

    Args:
        session: this side of the run.
        numerator: local shares of integers that are not negative, shape (n,).
        divisor: local shares of positive integers, shape (n,).
        steps: from `digits`.
        owner: the party whose shares are the divisors themselves, the other's being zero; None if neither.

    Returns:
        Local shares, shape (n,).

    Raises:
        ProtocolViolation: the peer sent something else than the protocol says.
    """
    count = len(numerator)
    rest = numerator.copy()
    found = []
    for step in steps:
        scaled = divisor << np.uint64(step.exponent)
        # The bits for t = 1, 2, 3 are 1, 1, ... and then 0, ...: their sum is the digit, and each of them
        # takes one more multiple off the remainder.
        differences = np.concatenate([rest - word(t) * scaled for t in step.multiples])
        bits = msb.nonnegative(session, differences, step.bounds)
        found.append(bits)
        # Nobody needs the remainder of the last digit.
        if step.exponent:
            taken = mux.select(session, bits, np.tile(scaled, len(step.multiples)), owner)
            rest -= taken.reshape(-1, count).sum(axis=0, dtype=np.uint64)
    result = np.zeros(count, dtype=np.uint64)
    if found:
        counted = session.oblivious.bits_to_arithmetic(np.concatenate(found)).reshape(-1, count)
        for row, exponent in zip(counted, _weights(steps), strict=True):
            result += row << np.uint64(exponent)
    return result


def _weights(steps: list[Digit]) -> Iterator[int]:
    return (step.exponent for step in steps for _ in step.multiples)


def cost(count: int, steps: list[Digit], owner: Role | None = None) -> Cost:
    """The exact cost of `divide`: flights and bytes, without the set-up of oblivious transfer."""
    total = Cost()
    for step in steps:
        total += cost_nonnegative(count * len(step.multiples), step.bounds)
        if step.exponent:
            total += cost_select(count * len(step.multiples), owner)
    return total + cost_to_words(count * sum(len(step.multiples) for step in steps))


def cost_within(count: int, numerator: Bounds, divisor: Bounds) -> Cost:
    """The exact cost of `divide` of integers within bounds."""
    return cost(count, digits(numerator, divisor))


SPEC: Final = Procedure(
    name="long-division",
    against=Against.PRIVATE,
    module=__name__,
    cost=cost_within,
    setups=(TRANSFERS,),
    example={"count": 1000, "numerator": Bounds(0, 1000), "divisor": Bounds(1, 10)},
)

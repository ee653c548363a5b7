"""Division of shared integers by public ones, rounded down, exactly.

    Alice (a)                                         Bob (b)
      a mod 2**f                     == comparison ==   b mod 2**f              the carry c
      top bit of a                   == transfers ==    top bit of b            the wrap w, and c as a number

For x = a + b - w 2**64 with 0 <= x < 2**63 the wrap w is the OR of the shares' top bits: were both 0, a + b
could not wrap; were both 1, it would have to; and with one of them a sum without wrap would be too large.

    by 2**f:   floor(x / 2**f) = floor(a / 2**f) + floor(b / 2**f) - w 2**(64 - f) + c
               c = [a mod 2**f + b mod 2**f >= 2**f], a comparison of f bits
    by d:      2**64 = Q d + R,   t = a mod d + b mod d - w R in (-d, 2 d)
               floor(x / d) = floor(a / d) + floor(b / d) - w Q - 1 + [t >= 0] + [t >= d]

Integers that can be negative are moved up by a multiple of the divisor first. Neither the wrap nor the carry
is guessed: no result is off with some probability or by one. A result without the carry is cheaper,
but once opened it would tell something of the discarded bits to those who know their own share: `shift_near`
is for what is corrected later and never opened.

Inputs: shares modulo 2**64 of n integers within public bounds; 2**f or d, public.
Outputs: shares modulo 2**64 of the quotients, rounded down.
Learns: neither party anything.
Assumes: `smc.oblivious`, `smc.secret.comparison.msb`.
Cost: `cost_shift`, `cost_divide`, `cost_shift_near`.
Reference: the wrap from the top bits: Huang, Lu, Hong and Ding, Cheetah, USENIX Security 2022, section 4;
exact truncation and division: Rathee et al., CrypTFlow2, CCS 2020, section 4 and appendix.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

import numpy as np
from numpy.typing import NDArray

from smc.forms import Role
from smc.network import Network
from smc.oblivious import cost as oblivious
from smc.protocols.against import Against
from smc.protocols.session import Session
from smc.protocols.spec import Cost, Procedure
from smc.protocols.transfer_costs import (
    TRANSFERS,
    cost_comparison,
    cost_of,
)
from smc.secret.comparison import msb
from smc.secret.comparison.records import cost_nonnegative, cost_to_words
from smc.secret.products.words import word
from smc.secret.sharing.bounds import WORD_BITS, Bounds

Word = NDArray[np.uint64]
Bit = NDArray[np.uint8]


def shifted_bounds(bounds: Bounds, bits: int) -> Bounds:
    """Bounds of `shift`.

    Raises:
        DomainError: the integers leave no room for the offset.
    """
    base = bounds.lower >> bits
    Bounds(0, bounds.upper - (base << bits)).fit("truncate")
    return Bounds(base, bounds.upper >> bits)


def shift(session: Session, words: Word, bounds: Bounds, bits: int) -> Word:
    """Divide by 2**bits, rounding down.

    Args:
        session: this side of the run.
        words: local shares, shape (n,).
        bounds: of the integers, accepted by `shifted_bounds`.
        bits: 1 to 62.

    Returns:
        Local shares, shape (n,).

    Raises:
        ProtocolViolation: the peer sent something else than the protocol says.
    """
    alice = session.role is Role.ALICE
    base = bounds.lower >> bits
    # Moved by a multiple of 2**bits so that nothing is negative, as the wrap wants it; the result moves back.
    own = words - word(base << bits) if alice else words
    tops = (own >> np.uint64(63)).astype(np.uint8)
    ones = np.uint64((1 << bits) - 1)
    low = own & ones
    silent = session.takes_silent(len(words), bits)
    if alice:
        # a + b < 2**bits is 2**bits - 1 - a >= b; one of the two shares is flipped.
        carries = session.oblivious.greater_equal_x(ones - low, bits, silent=silent) ^ np.uint8(1)
    else:
        carries = session.oblivious.greater_equal_y(low, bits, silent=silent)
    products = _products(session, np.concatenate([tops, carries]))
    # OR is t_A + t_B - t_A t_B, XOR is c_A + c_B - 2 c_A c_B: bits of both become numbers by one product
    # each.
    wraps = tops - products[: len(own)]
    result: Word = (own >> np.uint64(bits)) - (wraps << np.uint64(WORD_BITS - bits))
    result += carries - (products[len(own) :] << np.uint64(1))
    if alice:
        result += word(base)
    return result


def shift_near(session: Session, parts: Sequence[tuple[Word, Bounds, int]]) -> list[Word]:
    """Divide by powers of two without the carries: rounded down, or one less than that.

    Which of both it is depends on the shares: the results must not be opened.

    Args:
        session: this side of the run.
        parts: local shares of any shape, bounds of the integers, accepted by `shifted_bounds`, and 1 to 62
            bits; all in one batch.

    Returns:
        Local shares of each part.

    Raises:
        ProtocolViolation: the peer sent something else than the protocol says.
    """
    if not parts:
        return []
    alice = session.role is Role.ALICE
    moved = [
        words - word((bounds.lower >> bits) << bits) if alice else words for words, bounds, bits in parts
    ]
    tops = [(words >> np.uint64(63)).astype(np.uint8).reshape(-1) for words in moved]
    products = _products(session, np.concatenate(tops))
    result = []
    for own, top, (_, bounds, bits) in zip(moved, tops, parts, strict=True):
        wraps = (top - products[: len(top)]).reshape(own.shape)
        products = products[len(top) :]
        near = (own >> np.uint64(bits)) - (wraps << np.uint64(WORD_BITS - bits))
        result.append(near + word(bounds.lower >> bits) if alice else near)
    return result


def _products(session: Session, bits: Bit) -> Word:
    """Shares of Alice's bits times Bob's."""
    if session.role is Role.ALICE:
        return session.oblivious.correlate(bits.astype(np.uint64))
    return session.oblivious.receive(bits)


def divided_bounds(bounds: Bounds, divisor: int) -> Bounds:
    """Bounds of `divide`.

    Raises:
        DomainError: the integers leave no room for the offset, or the divisor is too large.
    """
    base = bounds.lower // divisor
    Bounds(0, bounds.upper - base * divisor).fit("divide")
    _rest_bounds(divisor).fit("divide")
    return Bounds(base, bounds.upper // divisor)


def _rest_bounds(divisor: int) -> Bounds:
    """Of t and t - d."""
    return Bounds(1 - 2 * divisor, 2 * divisor - 2)


def divide(session: Session, words: Word, bounds: Bounds, divisor: int) -> Word:
    """Divide by a public integer, rounding down.

    Args:
        session: this side of the run.
        words: local shares, shape (n,).
        bounds: of the integers, accepted by `divided_bounds`.
        divisor: at least 2.

    Returns:
        Local shares, shape (n,).

    Raises:
        ProtocolViolation: the peer sent something else than the protocol says.
    """
    alice = session.role is Role.ALICE
    base = bounds.lower // divisor
    own = words - word(base * divisor) if alice else words
    tops = (own >> np.uint64(63)).astype(np.uint8)
    wraps = tops - _products(session, tops)
    quotient, remainder = divmod(1 << WORD_BITS, divisor)
    rest = own % np.uint64(divisor) - wraps * word(remainder)
    # t and t - d lie in (-2 d, 2 d): both signs come from one batch of comparisons.
    below = rest - np.uint64(divisor) if alice else rest
    found = msb.nonnegative(session, np.concatenate([rest, below]), _rest_bounds(divisor))
    counted = session.oblivious.bits_to_arithmetic(found)
    result = own // np.uint64(divisor) - wraps * word(quotient)
    result += counted[: len(own)] + counted[len(own) :]
    if alice:
        result += word(base - 1)
    return result


def cost_shift(count: int, bits: int, network: Network | None = None) -> Cost:
    """The exact cost of `shift`: flights and bytes, without the set-up of oblivious transfer."""
    return cost_comparison(count, bits, network) + cost_of(oblivious.bits_to_arithmetic(2 * count))


def cost_shift_near(count: int) -> Cost:
    """The exact cost of `shift_near` of so many integers in all."""
    return cost_of(oblivious.bits_to_arithmetic(count)) if count else Cost()


def cost_divide(count: int, divisor: int) -> Cost:
    """The exact cost of `divide`."""
    return (
        cost_of(oblivious.bits_to_arithmetic(count))
        + cost_nonnegative(2 * count, _rest_bounds(divisor))
        + cost_to_words(2 * count)
    )


SPEC_SHIFT: Final = Procedure(
    name="truncation",
    against=Against.PRIVATE,
    module=__name__,
    cost=cost_shift,
    setups=(TRANSFERS,),
    example={"count": 1000, "bits": 16},
)


SPEC_SHIFT_NEAR: Final = Procedure(
    name="truncation-without-carry",
    against=Against.PRIVATE,
    module=__name__,
    cost=cost_shift_near,
    setups=(TRANSFERS,),
    example={"count": 1000},
)


SPEC_DIVIDE: Final = Procedure(
    name="division-by-public",
    against=Against.PRIVATE,
    module=__name__,
    cost=cost_divide,
    setups=(TRANSFERS,),
    example={"count": 1000, "divisor": 7},
)

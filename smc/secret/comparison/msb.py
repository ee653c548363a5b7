"""Signs and zeros of integers that are shared modulo 2**64.

    Alice (d_A)                                       Bob (d_B)
      2**w - 1 - low(d_A), or low(d_A) == comparison == low(d_B), or low(-d_B)
      her bit of it ^ msb(d_A)                          his bit of it ^ msb(d_B)

For |d| bounded by 2**w the shares modulo 2**(w + 1) suffice, and the narrower they are, the cheaper:

    d >= 0   iff   msb(d_A) xor msb(d_B) xor [2**w - 1 - low(d_A) >= low(d_B)],   low: the lower w bits
    d == 0   iff   u = v for u = d_A and v = -d_B modulo 2**w

Inputs: shares modulo 2**64 of n integers d within public bounds.
Outputs: XOR shares of [d >= 0], or of [d == 0].
Learns: neither party anything.
Assumes: the oblivious comparison, `smc.protocols.comparison.oblivious`; where the network makes it cheaper,
the silent one, `smc.protocols.comparison.silent`.
Cost: `records.cost_nonnegative`, `records.cost_zero`: one comparison of w bits each, see
`transfer_costs.takes_silent`.
Reference: the identity of `smc.protocols.comparison.shared`.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from smc.forms import Role
from smc.protocols.session import Session
from smc.secret.sharing.bounds import Bounds

Word = NDArray[np.uint64]
Bit = NDArray[np.uint8]


def public_bits(session: Session, values: Bit) -> Bit:
    """XOR shares of bits that both know: they are Alice's."""
    return values if session.role is Role.ALICE else np.zeros_like(values)


def nonnegative(session: Session, words: Word, bounds: Bounds) -> Bit:
    """Whether shared integers are not negative.

    Args:
        session: this side of the run.
        words: local shares, shape (n,).
        bounds: of the integers; where they settle the answer nothing is sent.

    Returns:
        Local XOR shares, shape (n,).

    Raises:
        ProtocolViolation: the peer sent something else than the protocol says.
    """
    settled = settled_sign(bounds)
    if settled is not None:
        return public_bits(session, np.full(len(words), settled, dtype=np.uint8, like=words))
    width = bounds.sign_bits
    ones = np.uint64((1 << width) - 1)
    low = words & ones
    top = (words >> np.uint64(width) & np.uint64(1)).astype(np.uint8)
    silent = session.takes_silent(len(words), width)
    if session.role is Role.ALICE:
        return session.oblivious.greater_equal_x(ones - low, width, silent=silent) ^ top
    return session.oblivious.greater_equal_y(low, width, silent=silent) ^ top


def zero(session: Session, words: Word, bounds: Bounds) -> Bit:
    """Whether shared integers are zero.

    Args:
        session: this side of the run.
        words: local shares, shape (n,).
        bounds: of the integers; where they settle the answer nothing is sent.

    Returns:
        Local XOR shares, shape (n,).

    Raises:
        ProtocolViolation: the peer sent something else than the protocol says.
    """
    if not bounds.contains(0, 0) or bounds.magnitude == 0:
        settled = bounds.magnitude == 0
        return public_bits(session, np.full(len(words), settled, dtype=np.uint8, like=words))
    width = bounds.magnitude.bit_length()
    ones = np.uint64((1 << width) - 1)
    alice = session.role is Role.ALICE
    own = (words if alice else np.negative(words)) & ones
    silent = session.takes_silent(len(words), width)
    return session.oblivious.equal(own, width, holds_x=alice, silent=silent)


def settled_sign(bounds: Bounds) -> bool | None:
    """Whether integers are not negative, where their bounds say so; None where these do not settle it."""
    if bounds.lower >= 0:
        return True
    return False if bounds.upper < 0 else None

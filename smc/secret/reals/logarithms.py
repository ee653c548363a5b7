"""Natural logarithms of few secret numbers, such as a total.

    Alice, Bob (shares of v, 1 to 2**L - 1 units)
      == comparisons of v with powers of two ==      c_k = [v >= 2**k]
      == selection ==                                z = v 2**(L-1) - sum_k c_k v 2**(L-1-k),   1 <= z < 2
      == products ==                                 u = 2 z - 3,  u**2,  u**3 u**4,  u**5 ... u**8
      ln v = ln 2 sum_k c_k + sum_i p_i u**i

What a polynomial of degree 8 leaves is below 2**-21; comparisons are many for each number, and their number
is that of its bits.

Assumes: `smc.secret.comparison.msb`, `smc.secret.comparison.mux`, products and shifts of words.
Reference: minimax polynomials by interpolation at Chebyshev's points: Trefethen, Approximation theory and
approximation practice, 2013.
"""

from __future__ import annotations

from math import log
from typing import Final

import numpy as np
from numpy.typing import NDArray

from smc.errors import DomainError
from smc.secret.bits import SecretBits
from smc.secret.comparison import msb, mux
from smc.secret.ints import SecretInts
from smc.secret.reals.near import publics
from smc.secret.reals.reals import SecretReals, join
from smc.secret.sharing.bounds import Bounds
from smc.secret.sharing.fixed import Fixed

Floats = NDArray[np.float64]

SCALE: Final = 26
"""Fractional bits of logarithms."""

_DEGREE: Final = 8
_MOST_BITS: Final = 61


def logarithms(numbers: SecretReals) -> SecretReals:
    """Natural logarithms, off by less than 2**-20; about 70 rounds.

    Args:
        numbers: positive by their range, shape (n,).

    Raises:
        DomainError: by its range a number could be zero or negative, or has too many bits.
    """
    ints = numbers.ints
    length = ints.bounds.upper.bit_length()
    if ints.bounds.lower < 1 or length > _MOST_BITS:
        raise DomainError(
            "A logarithm is of a number that by its range could be zero or negative, or is too large.",
            "State its range with `within`.",
        )
    session, words = ints.session, ints.shares
    powers = np.arange(1, length, dtype=np.uint64)
    least = words - publics(session, [1 << int(power) for power in powers])[:, None]
    reached = msb.nonnegative(
        session, least.reshape(-1), Bounds(1 - (1 << (length - 1)), ints.bounds.upper - 2)
    )
    raised = words << (np.uint64(length - 1) - powers)[:, None]
    taken = mux.select(session, reached, raised.reshape(-1)).reshape(raised.shape)
    whole = (words << np.uint64(length - 1)) - taken.sum(axis=0, dtype=np.uint64)
    mantissa = SecretInts.from_shares(session, whole, Bounds(1 << (length - 1), (1 << length) - 1))
    z = SecretReals(
        SecretInts.from_shares(session, mantissa.shares, mantissa.bounds, length - 1), numbers.statements
    )
    u = (z.rescale(SCALE).known(1, 2) * 2 - 3).known(-1, 1)
    square = (u * u).known(0, 1)
    third = (join([u, square]) * _twice(square)).known(-1, 1)
    first = join([u, square, third])
    fourth = third[len(u) :]
    powers_of = join([first, (first * join([fourth] * 4)).known(-1, 1)]).reshape(_DEGREE, len(u))
    coefficients = _coefficients()
    found = Fixed.of(coefficients[None, 1:], SCALE) @ powers_of
    counted = SecretInts.from_bits(SecretBits(session, reached)).reshape(length - 1, len(u)).sum(axis=0)
    exponents = SecretReals(counted) * Fixed.of(log(2), SCALE)
    shift = float(coefficients[0]) - ints.scale * log(2)
    return found.reshape(len(u)) + exponents + Fixed.of(shift, SCALE)


def _twice(numbers: SecretReals) -> SecretReals:
    return join([numbers, numbers])


def _coefficients() -> Floats:
    """Of ln((3 + u) / 2) for u from -1 to 1, by powers of u, shape (9,)."""
    points = np.cos(np.pi * (np.arange(_DEGREE + 1) + 0.5) / (_DEGREE + 1))
    powers = np.vander(points, increasing=True)
    return np.asarray(np.linalg.solve(powers, np.log((3 + points) / 2)), dtype=np.float64)

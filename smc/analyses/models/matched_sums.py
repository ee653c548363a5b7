"""Sums over matched rows in the order of a model's coefficients, and what goes along with them."""

from __future__ import annotations

from math import ceil, log2
from typing import Final

import numpy as np

from smc.analyses.models.matched_rows import MatchedRows
from smc.secret.ints import SecretInts
from smc.secret.reals.reals import SecretReals
from smc.secret.sharing.bounds import Bounds
from smc.secret.sharing.fixed import Fixed

_MATRIX_BITS: Final = 40
_RIGHT_BITS: Final = 44
_MOST_BITS: Final = 16


_ROOM: Final = 61
"""Bits of sums over all slots."""


def fraction_bits(matched: MatchedRows, largest: int, factors: int) -> int:
    """Fractional bits of numbers, so few that sums over all slots of them times covariates fit a word.

    Args:
        matched: the rows.
        largest: of the numbers.
        factors: how many covariates each is multiplied by.
    """
    used = factors * matched.rows.layout.scale + largest.bit_length() + len(matched.member).bit_length()
    return max(0, min(_MOST_BITS, _ROOM - used))


def matrix_of(gram: SecretReals, matched: MatchedRows, bits: int) -> SecretReals:
    """X' w X in the order of the coefficients, stated to be below 2**bits."""
    top = 1 << bits
    ordered = gram[np.ix_(matched.places, matched.places)].within(-top, top)
    return ordered.rescale(max(0, min(ordered.scale, _MATRIX_BITS - bits)))


def right_of(values: SecretReals, matched: MatchedRows, bits: int) -> SecretReals:
    """X' r in the order of the coefficients, stated to be below 2**(bits + 2)."""
    return right_within(values[matched.places], bits)


def right_within(values: SecretReals, bits: int) -> SecretReals:
    """The same of numbers that are in that order."""
    top = 4 << bits
    ordered = values.within(-top, top)
    return ordered.rescale(max(0, min(ordered.scale, _RIGHT_BITS - ceil(log2(top)))))


def scale(values: SecretReals, bits: int) -> SecretReals:
    """The numbers divided by a power of two; local."""
    ints = values.ints
    held = SecretInts.from_shares(ints.session, ints.shares, ints.bounds, ints.scale + bits)
    return SecretReals(held, values.statements)


def constants(like: SecretReals, values: list[float]) -> SecretReals:
    """Public numbers with the scale of others."""
    nothing = np.zeros(len(values), dtype=np.uint64)
    zeros = SecretInts.from_shares(like.session, nothing, Bounds(0, 0), like.scale)
    return SecretReals(zeros + Fixed.of(np.array(values), like.scale))


def clip(values: SecretReals, most: int) -> SecretReals:
    """The numbers, and the ends of the range from -most to most in the place of those beyond."""
    top = constants(values, [most] * len(values))
    lower = top.select(values.ints > most, values)
    found = (-top).select(values.ints < -most, lower)
    return found.known(-most, most)

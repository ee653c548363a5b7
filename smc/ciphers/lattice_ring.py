"""The ring Z_q[X] / (X^N + 1) for q a power of 2**18, in numpy: limbs and a complex transform.

An element modulo q = 2**(18 L) is L limbs of 18 bits, the least first, in arrays of shape (L, ..., N).
Since q is a power of two, to leave low bits out is a shift, and shares modulo 2**w need no conversion. A
product is taken limb by limb, in the frequency domain: N real coefficients are N / 2 complex values,

    P(z_k) at z_k = exp(-i pi (4 k + 1) / N),  k = 0, ..., N / 2 - 1,

the other half of the roots of X^N + 1 being their conjugates. As z_k^(N/2) = -i, P(z_k) is the discrete
Fourier transform of length N / 2 of (p_j - i p_(j + N/2)) exp(-i pi j / N).

Of a product often only every m-th coefficient is wanted, P_0 in P(X) = sum_r X^r P_r(X^m). Its values are the
means of P over the m roots with the same z^m, which are those whose k are equal modulo N / (2 m):
`fold_products` takes them, and what is left is an element of the ring of degree N / m.

Rounding to integers is exact while the error of the transform stays below 1/2; `transform_error` bounds it.

Reference: Gentleman and Sande, AFIPS 1966, for the error of the transform; the folding of the roots is the
decimation of Cooley and Tukey, 1965.
"""

from __future__ import annotations

from functools import cache
from math import log2, prod
from typing import Final

import numpy as np
from numpy.typing import NDArray

from smc.errors import ProtocolViolation
from smc.numeric.shapes import of_shape, shape_array

Whole = NDArray[np.int64]
Word = NDArray[np.uint64]
Spectrum = NDArray[np.complex128]

LIMB_BITS: Final = 18
_LIMB: Final = 1 << LIMB_BITS
_MASK: Final = np.uint64(_LIMB - 1)
_OCTET: Final = 8
_RUN_LIMBS: Final = 3
"""Limbs of an element that are packed as one word."""

_ROUNDING: Final = 2.0**-53


@cache
def _twists(degree: int) -> Spectrum:
    twists: Spectrum = np.exp(-1j * np.pi * np.arange(degree // 2) / degree)
    twists.flags.writeable = False
    return twists


@of_shape(
    lambda coefficients: shape_array((*coefficients.shape[:-1], coefficients.shape[-1] // 2), np.complex128)
)
def forward(coefficients: Whole) -> Spectrum:
    """The values of polynomials at the roots.

    Args:
        coefficients: shape (..., N) for a power of two N >= 2, below 2**53 in size.

    Returns:
        Shape (..., N / 2).
    """
    degree = coefficients.shape[-1]
    half = degree // 2
    twisted = np.empty((*coefficients.shape[:-1], half), dtype=np.complex128)
    twisted.real = coefficients[..., :half]
    twisted.imag = coefficients[..., half:]
    np.conjugate(twisted, out=twisted)
    twisted *= _twists(degree)
    return np.fft.fft(twisted)


@of_shape(lambda values: shape_array((*values.shape[:-1], 2 * values.shape[-1]), np.int64))
def backward(values: Spectrum) -> Whole:
    """The polynomials with whole coefficients that have these values: the inverse of `forward`.

    Args:
        values: shape (..., N / 2); changed.

    Returns:
        The nearest integers, shape (..., N).
    """
    half = values.shape[-1]
    twisted = np.fft.ifft(values)
    twisted *= np.conjugate(_twists(2 * half))
    result = np.empty((*values.shape[:-1], 2 * half), dtype=np.int64)
    np.rint(twisted.real, out=result[..., :half], casting="unsafe")
    np.rint(-twisted.imag, out=result[..., half:], casting="unsafe")
    return result


def transform_error(degree: int, left: float, right: float) -> float:
    """What a coefficient of a product may be off by, for Euclidean norms of the factors' coefficients."""
    return _ROUNDING * 3 * log2(degree) * left * right


@of_shape(lambda words, shift, limbs: shape_array((limbs, *words.shape), np.int64))
def shift_words(words: Word, shift: int, limbs: int) -> Whole:
    """Words times 2**shift modulo q, as unsigned limbs.

    Args:
        words: shape (...).
        shift: not negative.
        limbs: L.

    Returns:
        Shape (L, ...), each in [0, 2**18).
    """
    result = np.zeros((limbs, *words.shape), dtype=np.int64)
    for limb in range(limbs):
        away = LIMB_BITS * limb - shift
        if away <= -LIMB_BITS or away >= 64:
            continue
        moved = words >> np.uint64(away) if away >= 0 else words << np.uint64(-away)
        result[limb] = (moved & _MASK).astype(np.int64)
    return result


@of_shape(lambda limbs: limbs)
def carry(limbs: Whole) -> Whole:
    """The same elements with limbs in [0, 2**18): carries go up, and over the top they are multiples of q.

    Args:
        limbs: shape (L, ...), below 2**62 in size; changed.

    Returns:
        The same array.
    """
    for limb in range(len(limbs) - 1):
        limbs[limb + 1] += limbs[limb] >> LIMB_BITS
        limbs[limb] &= _LIMB - 1
    limbs[-1] &= _LIMB - 1
    return limbs


@of_shape(lambda limbs: limbs)
def balance(limbs: Whole) -> Whole:
    """The same elements with limbs in [-2**17, 2**17), for transforms with smaller errors.

    Args:
        limbs: shape (L, ...), below 2**62 in size; changed.

    Returns:
        The same array.
    """
    half = _LIMB >> 1
    for limb in range(len(limbs)):
        limbs[limb] += half
        if limb + 1 < len(limbs):
            limbs[limb + 1] += limbs[limb] >> LIMB_BITS
        limbs[limb] &= _LIMB - 1
        limbs[limb] -= half
    return limbs


@of_shape(lambda limbs, bits: shape_array(limbs.shape[1:], np.uint64))
def highest(limbs: Whole, bits: int) -> Word:
    """The highest bits of elements, rounded to the nearest, modulo 2**bits.

    Args:
        limbs: shape (L, ...), below 2**61 in size; changed.
        bits: at most 64, and fewer than q has.

    Returns:
        Shape (...), each in [0, 2**bits).
    """
    low = _round(limbs, bits)
    value = np.zeros(limbs.shape[1:], dtype=np.uint64)
    for place in range(low // LIMB_BITS, len(limbs)):
        limb, shift = limbs[place].astype(np.uint64), LIMB_BITS * place - low
        value |= limb << np.uint64(shift) if shift >= 0 else limb >> np.uint64(-shift)
    return value


@of_shape(lambda limbs, bits: shape_array((limb_count(bits), *limbs.shape[1:]), np.int64))
def highest_limbs(limbs: Whole, bits: int) -> Whole:
    """The highest bits of elements, rounded to the nearest: the limbs that hold them, and 0 below.

    Args:
        limbs: shape (L, ...), below 2**61 in size; changed.
        bits: at most as many as q has.

    Returns:
        The highest of them, shape (S, ...), each in [0, 2**18).
    """
    away, odd = divmod(_round(limbs, bits), LIMB_BITS)
    limbs[away] &= -1 << odd
    return limbs[away:]


def _round(limbs: Whole, bits: int) -> int:
    """Add half of the lowest bit that is kept, carry, and give how many bits are not."""
    low = LIMB_BITS * len(limbs) - bits
    if low:
        limbs[(low - 1) // LIMB_BITS] += 1 << ((low - 1) % LIMB_BITS)
    carry(limbs)
    return low


def limb_count(bits: int) -> int:
    """Limbs that hold the highest bits of elements, S."""
    return -(-bits // LIMB_BITS)


def packed_size(count: int, bits: int) -> int:
    """Bytes of `count` words of so many bits: whole groups of eight words."""
    return -(-count // _OCTET) * bits


@of_shape(lambda words, bits: shape_array(packed_size(len(words), bits), np.uint8))
def pack_words(words: Word, bits: int) -> NDArray[np.uint8]:
    """Words of at most 57 bits without gaps, eight of them in as many bytes as they have bits.

    Args:
        words: shape (n,), each below 2**bits.
        bits: 1 to 57.

    Returns:
        Shape (packed_size(n, bits),).
    """
    groups = np.zeros((-(-len(words) // _OCTET), _OCTET), dtype=np.uint64)
    groups.reshape(-1)[: len(words)] = words
    result = np.zeros((len(groups), bits), dtype=np.uint8)
    for place in range(_OCTET):
        octet, shift = divmod(place * bits, _OCTET)
        moved = groups[:, place] << np.uint64(shift)
        for number in range((shift + bits + _OCTET - 1) // _OCTET):
            result[:, octet + number] |= (moved >> np.uint64(_OCTET * number)).astype(np.uint8)
    return result.reshape(-1)


@of_shape(lambda data, count, bits: shape_array(count, np.uint64))
def unpack_words(data: NDArray[np.uint8], count: int, bits: int) -> Word:
    """The words that `pack_words` has packed, shape (count,).

    Raises:
        ProtocolViolation: the padding of the last group is not zero.
    """
    groups = data.reshape(-1, bits)
    result = np.zeros((len(groups), _OCTET), dtype=np.uint64)
    mask = np.uint64((1 << bits) - 1)
    for place in range(_OCTET):
        octet, shift = divmod(place * bits, _OCTET)
        value = result[:, place]
        for number in range((shift + bits + _OCTET - 1) // _OCTET):
            value |= groups[:, octet + number].astype(np.uint64) << np.uint64(_OCTET * number)
        value >>= np.uint64(shift)
        value &= mask
    words = result.reshape(-1)
    if words[count:].any():
        raise ProtocolViolation("The padding of packed words from the peer is not zero.")
    return words[:count]


def _runs(bits: int) -> list[int]:
    """The bits that limbs of an element are packed in, three at once, from the highest on."""
    whole, rest = divmod(bits, _RUN_LIMBS * LIMB_BITS)
    return [_RUN_LIMBS * LIMB_BITS] * whole + ([rest] if rest else [])


def packed_limbs_size(count: int, bits: int) -> int:
    """Bytes of the highest bits of so many elements."""
    return sum(packed_size(count, part) for part in _runs(bits))


@of_shape(lambda limbs, bits: shape_array(packed_limbs_size(prod(limbs.shape[1:]), bits), np.uint8))
def pack_limbs(limbs: Whole, bits: int) -> NDArray[np.uint8]:
    """What `highest_limbs` gives without gaps.

    Args:
        limbs: shape (S, ...).
        bits: of each element.

    Returns:
        Shape (packed_limbs_size(n, bits),) for n elements.
    """
    flat = limbs.reshape(len(limbs), -1)
    result, end = [], len(flat)
    for part in _runs(bits):
        start = max(0, end - _RUN_LIMBS)
        words = _join(flat[start:end])
        result.append(pack_words(words >> np.uint64(LIMB_BITS * (end - start) - part), part))
        end = start
    return np.concatenate(result)


@of_shape(lambda limbs: shape_array(limbs.shape[1:], np.uint64))
def _join(limbs: Whole) -> Word:
    """Up to three limbs as words."""
    words: Word = limbs[0].astype(np.uint64)
    for place in range(1, len(limbs)):
        words |= limbs[place].astype(np.uint64) << np.uint64(LIMB_BITS * place)
    return words


@of_shape(lambda data, shape, bits: shape_array((limb_count(bits), *shape), np.int64))
def unpack_limbs(data: NDArray[np.uint8], shape: tuple[int, ...], bits: int) -> Whole:
    """The limbs that `pack_limbs` has packed, shape (S, ...).

    Raises:
        ProtocolViolation: the padding of a last group is not zero.
    """
    data, count, size = data.reshape(-1), prod(shape), limb_count(bits)
    result = np.empty((size, count), dtype=np.int64)
    begin, end = 0, size
    for part in _runs(bits):
        start, after = max(0, end - _RUN_LIMBS), begin + packed_size(count, part)
        words = unpack_words(data[begin:after], count, part) << np.uint64(LIMB_BITS * (end - start) - part)
        for place in range(start, end):
            moved = words >> np.uint64(LIMB_BITS * (place - start))
            result[place] = (moved & _MASK).astype(np.int64)
        begin, end = after, start
    return result.reshape(size, *shape)


@of_shape(
    lambda left, right, every: shape_array(
        (len(left), right.shape[1], left.shape[-1] // every), np.complex128
    )
)
def fold_products(left: Spectrum, right: Spectrum, every: int) -> Spectrum:
    """Every `every`-th coefficient of sums of products, in the frequency domain.

    Args:
        left: shape (n, d, N / 2).
        right: shape (d, k, N / 2).
        every: a power of two, m.

    Returns:
        The values of the elements of degree N / m that have coefficients 0, m, 2 m, ... of the sums over d of
        left times right, shape (n, k, N / (2 m)).
    """
    size = left.shape[-1] // every
    # One matrix product for each k modulo N / (2 m); the m roots that are folded stand beside d.
    rows = left.reshape(*left.shape[:2], every, size).transpose(3, 0, 1, 2).reshape(size, len(left), -1)
    columns = right.reshape(*right.shape[:2], every, size).transpose(3, 0, 2, 1)
    products = rows @ columns.reshape(size, -1, right.shape[1])
    products /= every
    return np.ascontiguousarray(products.transpose(1, 2, 0))

"""Comparison of shares modulo any M by one or two comparisons of plain values.

    Alice (x^A, y^A)                                  Bob (x^B, y^B)
      d^A = x^A - y^A mod M                             d^B = x^B - y^B mod M
    delta = 1  iff  d = d^A + d^B mod M lies in [0, M/2)

    M = 2**k:  delta = msb(d^A) xor msb(d^B) xor [2**(k-1) - 1 - low(d^A) >= low(d^B)]
    other M:   delta = [d^A >= L] xor [d^A >= R] xor [L > R],  L = -d^B mod M,  R = ceil(M/2) - d^B mod M

Inputs: SS-SS, shares modulo M of integers of `bits` bits, 2**(bits+1) <= M <= 2**256.
Outputs: SS with modulus 2.
Learns: nobody anything; the inner comparison's inputs are functions of the local shares.
Assumes: what the inner comparison assumes.
Cost: that of the inner comparison: once for k - 1 bits if M = 2**k, else twice for the bits of M, in one
    batch.
Reference: duetto; the bridge from shares modulo 2**k asked for by erratum 6. It tells the sign of the
    difference, as eq. 3.4 of the thesis does.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from smc.forms import ComparisonType, Form
from smc.protocols.against import Against
from smc.protocols.session import Session
from smc.protocols.spec import Cost, Parameters, Sharing, Spec, Subprotocol
from smc.values import Nothing, Plain, Share, of_array

Inner = Callable[[Parameters, Plain | Nothing, Plain | Nothing], Share]

MODULUS_BITS = 256
"""The largest M is 2**256; larger moduli, such as a Paillier N, go through ciphertexts."""

_WORD_BITS = 64


def applies(parameters: Parameters) -> bool:
    """Whether the modulus is a number and large enough to tell the sign of a difference."""
    modulus = parameters.modulus_in
    return isinstance(modulus, int) and 2 << parameters.bits <= modulus <= 1 << MODULUS_BITS


def _is_power_of_two(modulus: int) -> bool:
    return modulus & (modulus - 1) == 0


def _fits_words(modulus: int) -> bool:
    """Whether shares are words, so that all arithmetic is numpy's."""
    return _is_power_of_two(modulus) and modulus <= 1 << _WORD_BITS


def _words(values: Sequence[int]) -> NDArray[np.uint64]:
    if isinstance(values, np.ndarray):
        return values.astype(np.uint64, copy=False)
    return np.fromiter(values, dtype=np.uint64, count=len(values))


def _split(modulus: int, x: Share, y: Share) -> tuple[NDArray[np.uint8], NDArray[np.uint64]]:
    """The local difference modulo 2**k <= 2**64: its top bits, and the k - 1 bits below them."""
    differences = _words(x.values) - _words(y.values)
    top = np.uint64(modulus.bit_length() - 2)
    bits = (differences >> top).astype(np.uint8) & np.uint8(1)
    return bits, differences & np.uint64(modulus // 2 - 1)


def _differences(modulus: int, x: Share, y: Share) -> list[int]:
    """The local difference modulo any M; words of an array would wrap modulo 2**64 instead."""
    return [(int(a) - int(b)) % modulus for a, b in zip(x.values, y.values, strict=True)]


def _with_tops(tops: NDArray[np.uint8], low: Share) -> Share:
    return Share(of_array(tops ^ np.asarray(low.values, dtype=np.uint8)), 2)


def alice(session: Session, parameters: Parameters, x: Share, y: Share, inner: Inner) -> Share:
    """Alice: has the points of the inner comparison."""
    del session
    modulus = parameters.number_in
    within = inner_parameters(parameters)
    if _fits_words(modulus):
        tops, lows = _split(modulus, x, y)
        points = np.uint64(modulus // 2 - 1) - lows
        return _with_tops(tops, inner(within, Plain(of_array(points)), Nothing(len(x))))
    differences = _differences(modulus, x, y)
    if _is_power_of_two(modulus):
        half = modulus // 2
        low = inner(within, Plain([half - 1 - d % half for d in differences]), Nothing(len(x)))
        return Share([d // half ^ b for d, b in zip(differences, low.values, strict=True)], 2)
    ends = inner(within, Plain(differences + differences), Nothing(within.count))
    return Share([a ^ b for a, b in zip(ends.values[: len(x)], ends.values[len(x) :], strict=True)], 2)


def bob(session: Session, parameters: Parameters, x: Share, y: Share, inner: Inner) -> Share:
    """Bob: has the thresholds of the inner comparison."""
    del session
    modulus = parameters.number_in
    within = inner_parameters(parameters)
    if _fits_words(modulus):
        tops, lows = _split(modulus, x, y)
        return _with_tops(tops, inner(within, Nothing(len(x)), Plain(of_array(lows))))
    differences = _differences(modulus, x, y)
    if _is_power_of_two(modulus):
        half = modulus // 2
        low = inner(within, Nothing(len(x)), Plain([d % half for d in differences]))
        return Share([d // half ^ b for d, b in zip(differences, low.values, strict=True)], 2)
    starts = [-d % modulus for d in differences]
    stops = [((modulus + 1) // 2 - d) % modulus for d in differences]
    ends = inner(within, Nothing(within.count), Plain(starts + stops))
    return Share(
        [
            a ^ b ^ int(start > stop)
            for a, b, start, stop in zip(
                ends.values[: len(x)], ends.values[len(x) :], starts, stops, strict=True
            )
        ],
        2,
    )


def inner_parameters(parameters: Parameters) -> Parameters:
    """Once k - 1 bits for M = 2**k, else twice the bits of M - 1."""
    modulus = parameters.number_in
    width = (modulus - 1).bit_length()
    if _is_power_of_two(modulus):
        return replace(parameters, bits=width - 1, modulus_in=None, modulus_out=None)
    return replace(parameters, count=2 * parameters.count, bits=width, modulus_in=None, modulus_out=None)


def cost(parameters: Parameters) -> Cost:
    """Nothing besides the inner comparison."""
    del parameters
    return Cost()


SPEC = Spec(
    name="shared",
    against=Against.PRIVATE,
    inputs=(Form.SS, Form.SS),
    output=Form.SS,
    takes=Sharing.NUMBER,
    gives=Sharing.XOR,
    alice=alice,
    bob=bob,
    cost=cost,
    subprotocol=Subprotocol(ComparisonType(Form.PN, Form.NP, Form.SS), inner_parameters),
    applies=applies,
    arrays=True,
)

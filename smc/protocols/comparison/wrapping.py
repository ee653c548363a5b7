"""Comparison of shares that use their whole modulus, by comparisons of plain values.

    Alice (x^A, y^A)                                  Bob (x^B, y^B)
      d^A = x^A - y^A mod M,  e^A = [x^A < y^A]         d^B = x^B - y^B mod M,  e^B = [x^B < y^B]
    carry(u) = [u^A + u^B >= M] = 1 ^ [M - 1 - u^A >= u^B]        for u = x, y, d, in one batch
    [x < y] = carry(x) ^ carry(y) ^ carry(d) ^ e^A ^ e^B

    With D = x - y + M [x < y]: d^A + d^B = D + M carry(d), and also x^A - y^A + x^B - y^B + M (e^A + e^B)
    = x - y + M (carry(x) - carry(y) + e^A + e^B), so [x < y] = carry(x) - carry(y) - carry(d) + e^A + e^B.

    A number that Alice knows counts as her share, with 0 as Bob's: it has no carry.

Inputs: SS-SS, shares modulo M of integers of `bits` bits, 2**bits <= M < 2**(bits+1); or PN-SS, or SS-PN.
Outputs: SS with modulus 2.
Learns: nobody anything; the inner comparison's inputs are functions of the local shares.
Assumes: what the inner comparison assumes.
Cost: that of the inner comparison for the bits of M - 1, in one batch: three times if both are shared, else
    twice. A modulus of one bit more takes one comparison only (`shared`): with none to spare, the function
    has twice as many input bits, since shares modulo M of x - y do not tell its sign. A choice for every
    four of these bits would be twice the choices of one comparison, before anything is combined; here they
    are three times as many, since the digits of x - y choose again. To choose by digits of x and y together
    was counted and is dearer: two bits of each make a choice of 32 with the borrow, whose answers of six bits
    take 46 bytes for two places, where three choices of 16 take 72 for four.
Reference: duetto; the carry of an addition is a cocycle: Isaksen, A cohomological viewpoint on elementary
    school arithmetic, American Mathematical Monthly 109, 2002.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from functools import partial
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from smc.forms import ComparisonType, Form
from smc.protocols.against import Against
from smc.protocols.session import Session
from smc.protocols.spec import Cost, Parameters, Sharing, Spec, Subprotocol
from smc.values import Nothing, Plain, Share, of_array

Inner = Callable[[Parameters, Plain | Nothing, Plain | Nothing], Share]
Half = Plain | Share | Nothing

MODULUS_BITS: Final = 256
"""The largest M is 2**256."""

_WORDS: Final = 1 << 64


def applies(parameters: Parameters) -> bool:
    """Whether the values use the whole modulus, which is a number."""
    modulus = parameters.modulus_in
    least = 1 << parameters.bits
    return isinstance(modulus, int) and least <= modulus < 2 * least and modulus <= 1 << MODULUS_BITS


def alice(session: Session, parameters: Parameters, x: Half, y: Half, inner: Inner) -> Share:
    """Alice: has the points of the inner comparison."""
    del session
    own, below = _parts(parameters, x, y)
    most = parameters.number_in - 1
    points = [(np.uint64(most) if part.dtype == np.uint64 else most) - part for part in own]
    count = len(own) * len(x)
    ends = inner(inner_parameters(parameters, len(own)), Plain(_sequence(points)), Nothing(count))
    # x >= y is the complement of all carries, each of which is the complement of a comparison
    constant = np.uint8(1 ^ len(own) & 1)
    return Share(of_array(_fold(ends, len(own)) ^ below ^ constant), 2)


def bob(session: Session, parameters: Parameters, x: Half, y: Half, inner: Inner) -> Share:
    """Bob: has the thresholds of the inner comparison."""
    del session
    own, below = _parts(parameters, x, y)
    count = len(own) * len(x)
    ends = inner(inner_parameters(parameters, len(own)), Nothing(count), Plain(_sequence(own)))
    return Share(of_array(_fold(ends, len(own)) ^ below), 2)


def _parts(parameters: Parameters, x: Half, y: Half) -> tuple[list[NDArray[Any]], NDArray[np.uint8]]:
    """The local shares of x and y, as far as they are shared, and of x - y; and whether that one borrows."""
    modulus = parameters.number_in
    left, right = (_numbers(value, modulus) for value in (x, y))
    below = np.array(left < right, dtype=np.uint8)
    if modulus <= _WORDS:
        differences = left - right + below * np.uint64(modulus % _WORDS)
    else:
        differences = left - right + below.astype(object) * modulus
    shared = [part for part, value in ((left, x), (right, y)) if isinstance(value, Share)]
    return [*shared, differences], below


def _numbers(value: Half, modulus: int) -> NDArray[Any]:
    """The local share; a number that only Alice knows is hers."""
    values = [0] * len(value) if isinstance(value, Nothing) else value.values
    return np.array(values, dtype=np.uint64 if modulus <= _WORDS else object)


def _sequence(parts: list[NDArray[Any]]) -> Any:
    whole = np.concatenate(parts)
    return of_array(whole) if whole.dtype == np.uint64 else whole.tolist()


def _fold(ends: Share, parts: int) -> NDArray[np.uint8]:
    """The XOR of the results for the parts of each pair."""
    bits = np.asarray(ends.values, dtype=np.uint8).reshape(parts, -1)
    folded: NDArray[np.uint8] = np.bitwise_xor.reduce(bits, axis=0)
    return folded


def inner_parameters(parameters: Parameters, parts: int) -> Parameters:
    """So many comparisons for each pair, of the bits of M - 1."""
    width = (parameters.number_in - 1).bit_length()
    return replace(parameters, count=parts * parameters.count, bits=width, modulus_in=None, modulus_out=None)


def cost(parameters: Parameters) -> Cost:
    """Nothing besides the inner comparison."""
    del parameters
    return Cost()


def _spec(name: str, x: Form, y: Form) -> Spec:
    parts = 1 + (x, y).count(Form.SS)
    return Spec(
        name=name,
        against=Against.PRIVATE,
        inputs=(x, y),
        output=Form.SS,
        alice=alice,
        bob=bob,
        cost=cost,
        takes=Sharing.NUMBER,
        gives=Sharing.XOR,
        subprotocol=Subprotocol(
            ComparisonType(Form.PN, Form.NP, Form.SS), partial(inner_parameters, parts=parts)
        ),
        applies=applies,
        arrays=True,
    )


SPEC: Final = _spec("wrapping", Form.SS, Form.SS)
SPEC_X_KNOWN: Final = _spec("wrapping-x-known", Form.PN, Form.SS)
SPEC_Y_KNOWN: Final = _spec("wrapping-y-known", Form.SS, Form.PN)

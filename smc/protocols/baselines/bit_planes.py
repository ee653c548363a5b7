"""Bits of a batch by place, and what can be done with encrypted ones without a message."""

from __future__ import annotations

from collections.abc import Sequence

from smc.ciphers.paillier import Ciphertexts, Paillier


def bit_planes(values: Sequence[int], bits: int) -> list[list[int]]:
    """The bits of a batch by place, shape (bits, batch), the least significant first."""
    return [[int(value) >> place & 1 for value in values] for place in range(bits)]


def flatten(planes: Sequence[Sequence[int]]) -> list[int]:
    """The planes one after the other."""
    return [bit for plane in planes for bit in plane]


def differing(cipher: Paillier, encrypted: Ciphertexts, known: Sequence[int]) -> Ciphertexts:
    """Ciphertexts of encrypted bits xor known bits.

    Every ciphertext is turned over and the right one of the two kept, so that the work does not depend on
    the known bits.
    """
    count = len(encrypted)
    ones = cipher.add_plain(Ciphertexts(cipher.public, [1] * count), [1] * count)
    turned = cipher.subtract(ones, encrypted)
    chosen = [
        turn if bit else keep for bit, keep, turn in zip(known, encrypted.values, turned.values, strict=True)
    ]
    return Ciphertexts(cipher.public, chosen)


def total(cipher: Paillier, parts: Sequence[Ciphertexts]) -> Ciphertexts:
    """Ciphertexts of the sums over the parts, entry by entry; there is at least one part."""
    result = parts[0]
    for part in parts[1:]:
        result = cipher.add(result, part)
    return result


def first_differences(
    cipher: Paillier, x: Ciphertexts, y: Sequence[Sequence[int]], offsets: Sequence[int]
) -> tuple[list[Ciphertexts], Ciphertexts]:
    """Where encrypted x and known y differ first, seen from the most significant bit.

    Args:
        cipher: the cipher of x.
        x: the bits of x, plane after plane, the least significant first.
        y: the planes of y.
        offsets: s, one small number for each entry of the batch.

    Returns:
        For each place i the ciphertexts of s + x_i - y_i + 3 d, where d counts the places above i at which x
        and y differ: for s of 1 or -1 that is zero if and only if d is 0 and x_i - y_i = -s. And the
        ciphertexts of the number of all places at which they differ.
    """
    count = len(offsets)
    differences = differing(cipher, x, flatten(y))
    above = Ciphertexts(cipher.public, [1] * count)
    found: list[Ciphertexts] = []
    for place in range(len(y) - 1, -1, -1):
        rows = slice(place * count, (place + 1) * count)
        known = [s - bit for s, bit in zip(offsets, y[place], strict=True)]
        found.append(cipher.add_plain(total(cipher, [x[rows], above, above, above]), known))
        above = cipher.add(above, differences[rows])
    return found[::-1], above

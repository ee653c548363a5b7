"""The curve's half of base transfers: endemic transfers on secp256k1, for any number of them with one A.

    sender                                  receiver (choices c_i)
      a random, A = aG        -- A -->
                              <-- R_i0, R_i1 --   r_i, R_i(1-c) random; R_ic = r_i G - H(i, c, R_i(1-c))
      k_ij = H'(a (R_ij + H(i, j, R_i(1-j))))     k_ic = H'(r_i A)

Neither message waits for the other. H maps to the curve and is named by the receiver's nonce and role.

Inputs: choices at the receiver.
Outputs: both secrets of each transfer at the sender, that of the choice at the receiver.
Learns: the sender nothing, whatever it sends: the two points of a transfer are uniform and independent for
either choice. The receiver one secret of each transfer, whatever it sends: of the two points H(i, 0, R_i1)
and H(i, 1, R_i0) it has asked one last, and then both R_i0 and R_i1 were fixed, so that it knows no discrete
logarithm of the point that this one is added to.
Assumes: strong Diffie-Hellman on secp256k1 (the computational problem, also beside an oracle that tells
whether Z = aY), H and H' as random oracles; about 128 bits. The library multiplies by secret numbers in
constant time. H takes as many tries as it has to, for points that are sent; the receiver evaluates it for
both sides, so that the sum of its tries says nothing of the choice. What does depend on it is which of two
places of a list Python reads and writes.
Reference: Masny and Rindal, Endemic oblivious transfer, CCS 2019; index and transcript in every hash, as
batches need: McQuoid, Rosulek and Roy, Batching base oblivious transfers, ASIACRYPT 2021. Both were not at
hand: this was rebuilt from the constructions as commonly described, see docs/proofs/base-transfers.md.
"""

from __future__ import annotations

import hashlib
from itertools import count as counted
from typing import Final

import numpy as np
from coincurve import PrivateKey, PublicKey
from coincurve.utils import GROUP_ORDER_INT
from numpy.typing import NDArray

from smc.errors import ProtocolViolation
from smc.numeric.random import Randomness
from smc.oblivious.bitmatrix import Bit

POINT_BYTES: Final = 33

_DOMAIN: Final = b"duetto/oblivious/base-to-curve/1"


def _scalar(random: Randomness) -> bytes:
    return (1 + random.below(GROUP_ORDER_INT - 1, 1)[0]).to_bytes(32, "big")


def _point(data: bytes) -> PublicKey:
    try:
        return PublicKey(data)
    except ValueError:
        raise ProtocolViolation(
            "A point from the peer in the set-up of oblivious transfer is not on the curve.",
            "Do not run the job again before the other institution has checked its installation.",
        ) from None


def _sum(left: PublicKey, right: PublicKey) -> PublicKey:
    """The sum; a peer that makes it the point at infinity ends the session, and learns nothing."""
    try:
        return PublicKey.combine_keys([left, right])
    except ValueError:
        raise ProtocolViolation("Two points in the set-up of oblivious transfer cancel out.") from None


def _plain(point: PublicKey) -> bytes:
    """With both coordinates, so that reading it takes no root."""
    return point.format(compressed=False)


def _uniform(random: Randomness) -> bytes:
    """A uniform point, of which nobody knows more."""
    while True:
        data = random.bytes(POINT_BYTES)
        try:
            return PublicKey(bytes([2 | data[0] & 1]) + data[1:]).format()
        except ValueError:
            continue  # half of all numbers are no coordinates of points


def to_curve(name: bytes, index: int, side: int, other: bytes, *, negated: bool = False) -> PublicKey:
    """H, a uniform point: the first digest of a counter that is a coordinate, with the sign from there.

    Args:
        name: of the receiver and its run.
        index: of the transfer.
        side: to whose point the hash is added.
        other: the point of the other side.
        negated: gives -H.
    """
    prefix = _DOMAIN + name + index.to_bytes(2, "big") + bytes([side]) + other
    for number in counted():
        digest = hashlib.shake_256(prefix + number.to_bytes(4, "big")).digest(POINT_BYTES)
        try:
            return PublicKey(bytes([2 | (digest[0] & 1) ^ negated]) + digest[1:])
        except ValueError:
            continue
    raise AssertionError  # for the type checker: the loop has no end


class CurveReceiver:
    """The receiver of transfers.

    Args:
        name: of this party and its run, which no other run has.
        choices: bits, shape (n,).
        random: the source of scalars.

    Attributes:
        points: R_i0 and R_i1, for the sender, shape (n, 66).
    """

    def __init__(self, name: bytes, choices: Bit, random: Randomness) -> None:
        self._scalars: list[PrivateKey] = []
        rows = bytearray()
        for index, choice in enumerate(choices.tolist()):
            own = PrivateKey(_scalar(random))
            other = _uniform(random)
            chosen = _sum(own.public_key, to_curve(name, index, choice, other, negated=True)).format()
            # Not used: so that both points cost the tries of both hashes.
            to_curve(name, index, 1 - choice, chosen)
            self._scalars.append(own)
            rows += other + chosen if choice else chosen + other
        self.points = np.frombuffer(rows, dtype=np.uint8).reshape(-1, 2 * POINT_BYTES)

    def secrets(self, point: bytes) -> list[bytes]:
        """Those of the choices, of 32 bytes, by the sender's A.

        Raises:
            ProtocolViolation: it is not a point of the curve.
        """
        data = _plain(_point(point))
        return [scalar.ecdh(data) for scalar in self._scalars]


class CurveSender:
    """The sender of transfers.

    Args:
        random: the source of the scalar.

    Attributes:
        point: A, for the receiver.
    """

    def __init__(self, random: Randomness) -> None:
        self._scalar = PrivateKey(_scalar(random))
        self.point = self._scalar.public_key.format()

    def secrets(self, name: bytes, points: NDArray[np.uint8]) -> list[tuple[bytes, bytes]]:
        """Both secrets of each transfer, of 32 bytes.

        Args:
            name: of the receiver and its run.
            points: from there, shape (n, 66).

        Raises:
            ProtocolViolation: one is not a point of the curve.
        """
        return [self._pair(name, index, row.tobytes()) for index, row in enumerate(points)]

    def _pair(self, name: bytes, index: int, row: bytes) -> tuple[bytes, bytes]:
        zero, one = row[:POINT_BYTES], row[POINT_BYTES:]
        return (
            self._scalar.ecdh(_plain(_sum(_point(zero), to_curve(name, index, 0, one)))),
            self._scalar.ecdh(_plain(_sum(_point(one), to_curve(name, index, 1, zero)))),
        )

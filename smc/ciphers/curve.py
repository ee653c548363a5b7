"""The group of secp256k1, written additively, with its identity.

A `Point` is a point of libsecp256k1, which has no value for the identity, or None for the identity. The group
has prime order and cofactor 1: every point on the curve but the identity generates it, so a compressed point
that decodes is a group element and nothing else has to be checked. Scalars are integers modulo `ORDER`.

The library multiplies a given point in time that depends on the scalar; `generate` is constant-time.
"""

from __future__ import annotations

from typing import Final, TypeAlias

from coincurve import PublicKey
from coincurve.utils import GROUP_ORDER_INT

from smc.errors import ProtocolViolation, UsageError

Point: TypeAlias = PublicKey | None
"""A group element; None is the identity."""

ORDER: Final[int] = GROUP_ORDER_INT
"""The prime order of the group."""

POINT_BYTES: Final = 33
"""Bytes of an encoded point."""


def _scalar_bytes(scalar: int) -> bytes:
    return int(scalar).to_bytes(32, "big")


def generate(scalar: int) -> Point:
    """The multiple of the standard generator."""
    scalar %= ORDER
    return PublicKey.from_valid_secret(_scalar_bytes(scalar)) if scalar else None


def multiply(point: Point, scalar: int) -> Point:
    """The multiple of a point."""
    scalar %= ORDER
    return point.multiply(_scalar_bytes(scalar)) if scalar and point is not None else None


def add(left: Point, right: Point) -> Point:
    """The sum of two points."""
    if left is None:
        return right
    if right is None:
        return left
    try:
        return PublicKey.combine_keys([left, right])
    except ValueError:  # the library's word for the identity; both summands are valid points
        return None


def shift(point: Point, scalar: int) -> Point:
    """The sum of a point and the multiple of the standard generator."""
    scalar %= ORDER
    if point is None:
        return generate(scalar)
    try:
        return point.add(_scalar_bytes(scalar))
    except ValueError:  # the identity again; the scalar is in range
        return None


def same(left: Point, right: Point) -> bool:
    """Whether two points are the same."""
    if left is None or right is None:
        return left is right
    return bool(left.format() == right.format())


def encode_point(point: Point) -> bytes:
    """The compressed point, `POINT_BYTES` bytes; the identity has no encoding and never travels.

    Raises:
        UsageError: the point is the identity.
    """
    if point is None:
        raise UsageError(
            "The point at infinity cannot be encoded.", "Randomise it first, by adding an encryption of zero."
        )
    data: bytes = point.format()
    return data


def decode_point(data: bytes) -> PublicKey:
    """A compressed point that came from outside.

    Raises:
        ProtocolViolation: the bytes are not a compressed point of the curve.
    """
    try:
        if len(data) == POINT_BYTES:
            return PublicKey(data)
    except ValueError:
        pass
    raise ProtocolViolation(
        "A point from the peer is not on the curve.",
        "Do not run the job again before the other institution has checked its installation.",
    ) from None

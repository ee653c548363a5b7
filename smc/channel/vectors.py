"""Vectors that messages are made of: residues, bits and rows of bytes, with their checks."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from smc.errors import ProtocolViolation, UsageError
from smc.numeric.shapes import Traced, of_shape, shape_array


def check_data(values: object) -> None:
    """Check that what is to be sent has values, and not a shape alone.

    Raises:
        UsageError: it has none: what a run over shapes made has come into another one.
    """
    if isinstance(values, Traced):
        raise UsageError(
            "A message has no data: it was made in a run over shapes.",
            "This is a defect of the program; such a run has a channel of its own.",
        )


def byte_width(modulus: int) -> int:
    """Bytes that hold every integer in [0, modulus)."""
    return max(1, ((modulus - 1).bit_length() + 7) // 8)


def residues_bytes(modulus: int, count: int) -> int:
    """Bytes of `count` integers in [0, modulus): eight to a byte if they are bits."""
    return (count + 7) // 8 if modulus == 2 else byte_width(modulus) * count


@dataclass(frozen=True, slots=True)
class Residues:
    """Integers in [0, modulus), each in the same number of bytes; bits are packed."""

    values: Sequence[int] = field(repr=False)
    modulus: int

    def encode(self) -> bytes:
        """Big-endian integers of `byte_width(modulus)` bytes, or packed bits."""
        check_data(self.values)
        if self.modulus == 2:
            return Bits(np.array(self.values, dtype=np.uint8)).encode()
        width = byte_width(self.modulus)
        if isinstance(self.values, np.ndarray) and self.values.dtype == np.uint64:
            return self.values.astype(">u8").view(np.uint8).reshape(-1, 8)[:, 8 - width :].tobytes()
        return b"".join(int(value).to_bytes(width, "big") for value in self.values)


@dataclass(frozen=True, slots=True)
class ExpectedResidues:
    """Demands `count` integers in [0, modulus)."""

    modulus: int
    count: int

    @property
    def size(self) -> int:
        """Bytes."""
        return residues_bytes(self.modulus, self.count)

    def decode(self, data: bytes) -> list[int]:
        """The integers.

        Raises:
            ProtocolViolation: one lies outside [0, modulus).
        """
        if self.modulus == 2:
            return [int(bit) for bit in ExpectedBits(self.count).decode(data)]
        width = byte_width(self.modulus)
        values = [int.from_bytes(data[i : i + width], "big") for i in range(0, len(data), width)]
        if any(value >= self.modulus for value in values):
            raise ProtocolViolation("An integer from the peer lies outside its modulus.")
        return values


@dataclass(frozen=True, slots=True)
class ExpectedResidueWords:
    """Demands `count` integers in [0, modulus), 2 <= modulus <= 2**64, as an array."""

    modulus: int
    count: int

    @property
    def size(self) -> int:
        """Bytes."""
        return residues_bytes(self.modulus, self.count)

    def decode(self, data: bytes) -> NDArray[np.uint64]:
        """The integers, shape (count,).

        Raises:
            ProtocolViolation: one lies outside [0, modulus).
        """
        if self.modulus == 2:
            return ExpectedBits(self.count).decode(data).astype(np.uint64)
        padded = np.zeros((self.count, 8), dtype=np.uint8)
        width = byte_width(self.modulus)
        padded[:, 8 - width :] = np.frombuffer(data, dtype=np.uint8).reshape(-1, width)
        values = padded.view(">u8").reshape(-1).astype(np.uint64)
        if np.any(values > np.uint64(self.modulus - 1)):
            raise ProtocolViolation("An integer from the peer lies outside its modulus.")
        return values


@dataclass(frozen=True, slots=True)
class Bits:
    """Bits, eight to a byte, the last byte padded with zeros."""

    values: NDArray[np.uint8] = field(repr=False)

    def encode(self) -> bytes:
        """Packed bits, the most significant first."""
        check_data(self.values)
        return np.packbits(self.values).tobytes()


@dataclass(frozen=True, slots=True)
class ExpectedBits:
    """Demands `count` bits."""

    count: int

    @property
    def size(self) -> int:
        """Bytes."""
        return (self.count + 7) // 8

    def decode(self, data: bytes) -> NDArray[np.uint8]:
        """The bits, one per byte of the array.

        Raises:
            ProtocolViolation: the padding is not zero.
        """
        bits = np.unpackbits(np.frombuffer(data, dtype=np.uint8))
        if bits[self.count :].any():
            raise ProtocolViolation("The padding of a bit vector from the peer is not zero.")
        return bits[: self.count]


@dataclass(frozen=True, slots=True)
class ByteRows:
    """A two-dimensional array of bytes."""

    values: NDArray[np.uint8] = field(repr=False)

    def encode(self) -> bytes:
        """The rows, one after the other."""
        check_data(self.values)
        return self.values.tobytes()


@of_shape(lambda data: ByteRows(shape_array((1, len(data)), np.uint8)))
def byte_row(data: bytes) -> ByteRows:
    """Bytes as a row of them."""
    return ByteRows(np.frombuffer(data, dtype=np.uint8)[None])


@dataclass(frozen=True, slots=True)
class ExpectedByteRows:
    """Demands `rows` rows of `width` bytes."""

    rows: int
    width: int

    @property
    def size(self) -> int:
        """Bytes."""
        return self.rows * self.width

    def decode(self, data: bytes) -> NDArray[np.uint8]:
        """The array, shape (rows, width)."""
        return np.frombuffer(data, dtype=np.uint8).reshape(self.rows, self.width)


@dataclass(frozen=True, slots=True)
class Words:
    """Integers modulo 2**64."""

    values: NDArray[np.uint64] = field(repr=False)

    def encode(self) -> bytes:
        """Little-endian words."""
        check_data(self.values)
        return self.values.astype("<u8").tobytes()


@dataclass(frozen=True, slots=True)
class ExpectedWords:
    """Demands `count` integers modulo 2**64."""

    count: int

    @property
    def size(self) -> int:
        """Bytes."""
        return 8 * self.count

    def decode(self, data: bytes) -> NDArray[np.uint64]:
        """The words."""
        return np.frombuffer(data, dtype="<u8").astype(np.uint64)

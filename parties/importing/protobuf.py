"""Reads messages of protocol buffers field by field, without what they are declared by.

Nothing is nested here: a field that is a message is bytes, which the caller reads in turn if it knows it.
Reference: Protocol Buffers, Encoding.
"""

from __future__ import annotations

import struct
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Final

_VARINT, _FIXED64, _BYTES, _FIXED32 = 0, 1, 2, 5
_VARINT_BYTES: Final = 10
_SIGN: Final = 1 << 63


@dataclass(frozen=True, slots=True)
class Fields:
    """The fields of a message by their numbers, in their order.

    Attributes:
        found: whole numbers below 2**64 and bytes, which fixed ones are too.
    """

    found: dict[int, list[int | bytes]] = field(default_factory=dict)

    def blobs(self, number: int) -> list[bytes]:
        """All bytes of a field. Raises TypeError where one is none."""
        blobs = [each for each in self.found.get(number, []) if isinstance(each, bytes)]
        if len(blobs) != len(self.found.get(number, [])):
            raise TypeError
        return blobs

    def text(self, number: int) -> str:
        """The last text of a field, empty without. Raises TypeError or ValueError."""
        blobs = self.blobs(number)
        return blobs[-1].decode() if blobs else ""

    def whole(self, number: int) -> int:
        """The last whole number of a field, 0 without. Raises TypeError."""
        numbers = self.wholes(number)
        return numbers[-1] if numbers else 0

    def wholes(self, number: int) -> list[int]:
        """All signed whole numbers of a field, packed or not. Raises ValueError."""
        numbers: list[int] = []
        for each in self.found.get(number, []):
            numbers += [each] if isinstance(each, int) else _unpack(each)
        return [each - (1 << 64) if each >= _SIGN else each for each in numbers]

    def singles(self, number: int) -> list[float]:
        """All singles of a field, packed or not. Raises TypeError or ValueError."""
        joined = b"".join(self.blobs(number))
        if len(joined) % 4:
            raise ValueError
        return [each for (each,) in struct.iter_unpack("<f", joined)]


def read_fields(data: bytes) -> Fields:
    """The fields of a message.

    Raises:
        ValueError: it ends within a field, or has one of no known kind.
    """
    fields = Fields()
    for number, value in _fields(data):
        fields.found.setdefault(number, []).append(value)
    return fields


def _fields(data: bytes) -> Iterator[tuple[int, int | bytes]]:
    place = 0
    while place < len(data):
        tag, place = _varint(data, place)
        kind = tag & 7
        if kind == _VARINT:
            value, place = _varint(data, place)
            yield tag >> 3, value
            continue
        if kind == _BYTES:
            size, place = _varint(data, place)
        elif kind in (_FIXED32, _FIXED64):
            size = 4 if kind == _FIXED32 else 8
        else:
            raise ValueError
        if size > len(data) - place:
            raise ValueError
        yield tag >> 3, data[place : place + size]
        place += size


def _varint(data: bytes, place: int) -> tuple[int, int]:
    value = 0
    for count, byte in enumerate(data[place : place + _VARINT_BYTES]):
        value |= (byte & 0x7F) << 7 * count
        if byte < 0x80:
            if value >> 64:
                raise ValueError
            return value, place + count + 1
    raise ValueError


def _unpack(data: bytes) -> list[int]:
    numbers, place = [], 0
    while place < len(data):
        value, place = _varint(data, place)
        numbers.append(value)
    return numbers

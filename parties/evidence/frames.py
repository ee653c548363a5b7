"""Frames that came in, as bytes in a file.

A record is a head of fixed size, the kind, and the data:

    lane 2 | sequence 8 | depth 8 | total 8 | length of kind 1 | length of data 4
"""

from __future__ import annotations

import struct
from collections.abc import Iterator
from typing import Final

from parties.errors import DataError
from smc.channel.message import FRAME_BYTES, MAX_LANES, Frame

_HEAD: Final = struct.Struct(">HQQQBI")
_MOST: Final = 1 << 62


def encode_frame(frame: Frame) -> bytes:
    """A record."""
    kind = frame.kind.encode()
    numbers = (frame.lane, frame.sequence, frame.depth, frame.total)
    return _HEAD.pack(*numbers, len(kind), len(frame.data)) + kind + bytes(frame.data)


def decode_frames(data: bytes) -> Iterator[Frame]:
    """The frames of records one after the other, which may come from anybody.

    Raises:
        DataError: the records are malformed.
    """
    start = 0
    while start < len(data):
        try:
            lane, sequence, depth, total, length, size = _HEAD.unpack_from(data, start)
            start += _HEAD.size
            kind = data[start : start + length].decode("ascii")
            body = data[start + length : start + length + size]
        except (struct.error, ValueError):
            raise _malformed_error() from None
        start += length + size
        fits = lane <= MAX_LANES and max(sequence, depth, total) < _MOST and size <= FRAME_BYTES
        if not fits or start > len(data):
            raise _malformed_error()
        yield Frame(sequence, kind, depth, total, body, lane)


def _malformed_error() -> DataError:
    return DataError("The frames of the evidence are malformed.", "Ask for the evidence again.")

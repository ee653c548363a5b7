"""What a process and its worker say to each other, over a pair of sockets: JSON, and bytes."""

from __future__ import annotations

import json
import socket
import struct
from collections.abc import Callable, Sequence
from contextlib import suppress
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

ASK_SECONDS: Final = 0.25
"""So often a process asks, while its worker lets it wait, whether the work is still wanted."""

_SIZES: Final = struct.Struct("!QQ")

Words = dict[str, Any]


class Pipe:
    """One end. What comes is from a process that this one has started, or was started by.

    Args:
        end: a connected stream socket; it is closed with the pipe.
        asks: called every `ASK_SECONDS` while the other process neither takes nor gives anything; what it
            raises ends the wait, and the pipe is of no further use.
    """

    def __init__(self, end: socket.socket, asks: Callable[[], None] | None = None) -> None:
        self._end = end
        self._asks = asks
        end.settimeout(None if asks is None else ASK_SECONDS)

    def put(self, words: Words, *data: bytes | memoryview) -> None:
        """Send words, and data after them.

        Raises:
            OSError: the other process is gone.
        """
        text = json.dumps(words).encode()
        head = _SIZES.pack(len(text), sum(len(part) for part in data)) + text
        for part in (head, *data):
            self._all(self._end.send, memoryview(part))

    def get(self) -> tuple[Words, memoryview]:
        """The next words, and their data.

        Raises:
            EOFError: the other process is gone.
            OSError: likewise.
        """
        text, data = _SIZES.unpack(self._exactly(_SIZES.size))
        words: Words = json.loads(bytes(self._exactly(text)))
        return words, self._exactly(data)

    def close(self) -> None:
        """End both directions and wake whoever waits; may be called twice and from any thread."""
        with suppress(OSError):  # the other process is gone
            self._end.shutdown(socket.SHUT_RDWR)
        self._end.close()

    def _exactly(self, size: int) -> memoryview:
        made = memoryview(bytearray(size))
        self._all(self._end.recv_into, made)
        return made

    def _all(self, step: Callable[[memoryview], int], left: memoryview) -> None:
        """Send from, or receive into, all that is left."""
        while left:
            try:
                done = step(left)
            except TimeoutError:
                if self._asks is not None:
                    self._asks()
                continue
            if not done:
                raise EOFError("the other process is gone")
            left = left[done:]


def array_data(arrays: Sequence[NDArray[Any]]) -> list[memoryview]:
    """The bytes of arrays, which the words before them describe."""
    return [np.ascontiguousarray(array).view(np.uint8).data.cast("B") for array in arrays if array.size]


def shapes(arrays: Sequence[NDArray[Any]]) -> list[list[Any]]:
    """What describes arrays: type and shape of each."""
    return [[array.dtype.str, list(array.shape)] for array in arrays]


def arrays_of(described: Sequence[Sequence[Any]], data: memoryview) -> tuple[NDArray[Any], ...]:
    """The arrays that are described, over their bytes, which are one after the other."""
    found, start = [], 0
    for kind, shape in described:
        count = int(np.prod(shape, dtype=np.int64))
        array = np.frombuffer(data, dtype=np.dtype(kind), count=count, offset=start).reshape(shape)
        found.append(array)
        start += array.nbytes
    return tuple(found)

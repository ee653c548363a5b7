"""What a daemon and the worker of a lane say to each other, over a pair of sockets: JSON, and bytes."""

from __future__ import annotations

import json
import socket
import struct
from collections.abc import Callable, Sequence
from contextlib import suppress
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from smc.channel.channel import Clock, Traffic
from smc.channel.message import Frame
from smc.oblivious.lanes import LaneAnswer, LaneCall

ASK_SECONDS: Final = 0.25
"""So often the daemon asks, while a worker lets it wait, whether the session is still wanted."""

_SIZES: Final = struct.Struct("!II")

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


# What is said


def frame_words(frame: Frame) -> Words:
    """A frame but for its data and its lane."""
    return {"frame": [frame.sequence, frame.kind, frame.depth, frame.total]}


def frame_of(words: Words, data: memoryview, lane: int) -> Frame:
    """The frame of a lane that they stand for."""
    sequence, kind, depth, total = words["frame"]
    return Frame(sequence, kind, depth, total, data, lane)


def call_words(call: LaneCall, clock: Clock) -> Words:
    """A call but for its arrays' data."""
    return {
        "call": call.method,
        "options": dict(call.options),
        "clock": [clock.heard, clock.said, clock.last],
        "arrays": _shapes(call.arrays),
    }


def call_of(words: Words, data: memoryview) -> tuple[LaneCall, Clock]:
    """The call that they stand for."""
    return LaneCall(words["call"], _arrays(words, data), words["options"]), Clock(*words["clock"])


def answer_words(answer: LaneAnswer) -> Words:
    """An answer but for its arrays' data."""
    traffic, clock = answer.traffic, answer.clock
    return {
        "answer": [traffic.sent, traffic.received, traffic.messages, traffic.rounds],
        "clock": [clock.heard, clock.said, clock.last],
        "arrays": _shapes(answer.arrays),
    }


def answer_of(words: Words, data: memoryview) -> LaneAnswer:
    """The answer that they stand for."""
    return LaneAnswer(_arrays(words, data), Traffic(*words["answer"]), Clock(*words["clock"]))


def array_data(arrays: Sequence[NDArray[Any]]) -> list[memoryview]:
    """The bytes of arrays, which the words before them describe."""
    return [np.ascontiguousarray(array).data.cast("B") for array in arrays if array.size]


def _shapes(arrays: Sequence[NDArray[Any]]) -> list[list[Any]]:
    return [[array.dtype.str, list(array.shape)] for array in arrays]


def _arrays(words: Words, data: memoryview) -> tuple[NDArray[Any], ...]:
    found, start = [], 0
    for kind, shape in words["arrays"]:
        count = int(np.prod(shape, dtype=np.int64))
        array = np.frombuffer(data, dtype=np.dtype(kind), count=count, offset=start).reshape(shape)
        found.append(array)
        start += array.nbytes
    return tuple(found)

"""The daemon's end of a lane whose engine is in a process of its own."""

from __future__ import annotations

import sys
from typing import Final

from parties.lanes.pipe import answer_of, call_words, frame_of, frame_words
from parties.workers.pipe import Words, array_data
from parties.workers.process import Worker
from smc.channel.channel import Clock
from smc.channel.transport import Transport
from smc.errors import (
    DomainError,
    DuettoError,
    InconsistentTransfers,
    OutOfMemory,
    ProtocolViolation,
    UsageError,
)
from smc.forms import Role
from smc.oblivious.lane_engine import LaneEngine
from smc.oblivious.lanes import LaneAnswer, LaneCall, LaneEnd, LaneLost

_ERRORS: Final[dict[str, type[DuettoError]]] = {
    kind.__name__: kind
    for kind in (InconsistentTransfers, ProtocolViolation, DomainError, UsageError, OutOfMemory)
}


class LaneWorker(Worker):
    """A process that waits to become the engine of a lane.

    Raises:
        OSError: the system lets no more processes start.
    """

    def __init__(self) -> None:
        super().__init__("parties.lanes.worker")


class LaneProcess:
    """One end of a lane; a `smc.oblivious.lanes.LaneEnd`.

    Args:
        role: this side's role.
        number: the lane's number, from 1.
        transport: of the lane.
        worker: that nobody else uses.
        seed: see `LaneEngine`.
    """

    def __init__(
        self, role: Role, number: int, transport: Transport, worker: LaneWorker, seed: bytes | None = None
    ) -> None:
        self._number = number
        self._transport = transport
        self._worker = worker
        self._put({"role": role.value, "lane": number, "seed": None if seed is None else seed.hex()})

    def run(self, call: LaneCall, clock: Clock) -> LaneAnswer:
        """Do a part of a batch, and carry the lane's frames meanwhile.

        Raises:
            LaneLost: the worker is gone, or failed in a way that it should not.
            DuettoError: what the engine or the transport raised.
        """
        self._put(call_words(call, clock), *array_data(call.arrays))
        while True:
            words, data = self._get()
            if "frame" in words:
                self._transport.send(frame_of(words, data, self._number))
            elif "wants" in words:
                frame = self._transport.receive()
                self._put(frame_words(frame), frame.data)
            elif "answer" in words:
                return answer_of(words, data)
            else:
                raise self._error(words)

    def close(self) -> None:
        """End the worker; from any thread, also twice."""
        self._worker.close()

    def _put(self, words: Words, *data: bytes | memoryview) -> None:
        try:
            self._worker.pipe.put(words, *data)
        except OSError:
            raise self._lost_error() from None

    def _get(self) -> tuple[Words, memoryview]:
        try:
            return self._worker.pipe.get()
        except (EOFError, OSError):
            raise self._lost_error() from None

    def _error(self, words: Words) -> DuettoError:
        kind = _ERRORS.get(words["error"])
        if kind is None:
            return LaneLost(f"Lane {self._number} failed with {words['error']}.")
        return kind(words["what"], words["hint"])

    def _lost_error(self) -> LaneLost:
        return LaneLost(f"The process of lane {self._number} {self._worker.why()}.")


class LaneWorkers:
    """The workers of one session. They start at once, as Python takes a while, and end with it.

    Without a lock on the interpreter, where threads work side by side, there are none.

    Args:
        count: lanes of the session; 1 for none but its own.

    Raises:
        LaneLost: they cannot be started.
    """

    def __init__(self, count: int) -> None:
        self._all: list[LaneWorker] = []
        try:
            for _ in range(count if count > 1 and _has_lock() else 0):
                self._all.append(LaneWorker())
        except OSError as error:
            self.close()
            raise LaneLost(f"No process could be started for a lane: {error.strerror}.") from None
        self._waiting = list(self._all)

    @property
    def pids(self) -> tuple[int, ...]:
        """The numbers of their processes."""
        return tuple(worker.pid for worker in self._all)

    def open(self, role: Role, number: int, transport: Transport, seed: bytes | None = None) -> LaneEnd:
        """This party's end of a lane, see `smc.oblivious.lanes.LaneOpener`.

        Raises:
            LaneLost: its worker is gone already.
        """
        if not self._waiting:
            return LaneEngine(role, number, transport, seed)
        return LaneProcess(role, number, transport, self._waiting.pop(), seed)

    def close(self) -> None:
        """End all of them."""
        for worker in self._all:
            worker.close()


def _has_lock() -> bool:
    """Whether threads of this Python take turns: so they do before 3.13, and in its usual build."""
    found = getattr(sys, "_is_gil_enabled", None)
    return found is None or bool(found())

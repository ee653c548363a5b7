"""The worker of a lane: `python -m parties.lanes.worker`, with one end of a pipe as its standard input.

It is told a role and a lane's number, then what to do, one call after the other. It has no keys, opens no
file and no connection; the frames of its lane go through the daemon, which it ends with.
"""

from __future__ import annotations

from parties.lanes.pipe import answer_words, call_of, frame_of, frame_words
from parties.workers.pipe import Pipe, Words, array_data
from parties.workers.process import end_with_parent
from smc.channel.message import Frame
from smc.errors import DuettoError, OutOfMemory
from smc.forms import Role
from smc.oblivious.lane_engine import LaneEngine


class DaemonTransport:
    """Sends and gets the frames of a lane through the daemon; a `smc.channel.transport.Transport`.

    Args:
        pipe: to the daemon, which reads frames while a call is worked on.
        number: the lane's.
    """

    def __init__(self, pipe: Pipe, number: int) -> None:
        self._pipe = pipe
        self._number = number

    def send(self, frame: Frame) -> None:
        """Hand a frame over."""
        self._pipe.put(frame_words(frame), frame.data)

    def receive(self) -> Frame:
        """Ask for the next frame, and wait for it."""
        self._pipe.put({"wants": "frame"})
        return frame_of(*self._pipe.get(), self._number)

    def close(self) -> None:
        """End the pipe, and with it the worker."""
        self._pipe.close()


def work(pipe: Pipe) -> None:
    """Answer calls until the daemon ends the pipe."""
    words, _ = pipe.get()
    number, seed = words["lane"], words["seed"]
    seed = None if seed is None else bytes.fromhex(seed)
    engine = LaneEngine(Role(words["role"]), number, DaemonTransport(pipe, number), seed)
    while True:
        words, data = pipe.get()
        try:
            answer = engine.run(*call_of(words, data))
        except DuettoError as error:
            pipe.put(_failure(type(error).__name__, error))
        except MemoryError:
            pipe.put(_failure(OutOfMemory.__name__, OutOfMemory()))
        else:
            pipe.put(answer_words(answer), *array_data(answer.arrays))


def _failure(name: str, error: DuettoError) -> Words:
    return {"error": name, "what": error.what, "hint": error.hint}


def main() -> None:
    """Work at the pipe that is the standard input."""
    try:
        work(end_with_parent())
    except (EOFError, OSError):
        return  # the daemon has ended the lane


if __name__ == "__main__":
    main()

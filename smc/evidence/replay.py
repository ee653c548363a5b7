"""A run made again at one side, from its seed and the frames that came in: what it must have sent."""

from __future__ import annotations

from collections import defaultdict, deque
from collections.abc import Callable, Iterable
from concurrent.futures import BrokenExecutor, ThreadPoolExecutor
from typing import Any, Final

from smc.channel.channel import Channel
from smc.channel.message import Frame
from smc.errors import DuettoError, OutOfMemory, PeerLost
from smc.evidence.record import Chain
from smc.forms import Role
from smc.numeric.random import Randomness
from smc.protocols.full_session import FullSession

_POOR: Final = "This machine lacks memory, threads or a file to make the run again."
_NO_THREAD: Final = "can't start new thread"
"""What Python says in a `RuntimeError`, and by nothing else, where the system lets no more threads start."""


class NotReplayed(DuettoError):  # noqa: N818 - a state of the record
    """The machine did not suffice to make the run again, so that nobody knows what the program sends."""

    code = "not-replayed"
    advice = "Run the audit again on a machine with as much memory as the party's, with nothing else to do."


class ReplayTransport:
    """Gives a program the frames that came, lane by lane, and takes what it sends into a chain.

    A lane gets its own frames in their order whenever it asks. So nothing of a replay depends on how fast a
    machine is, or on the order in which the frames of different lanes are shown, which nobody has signed.

    Args:
        frames: that came.

    Attributes:
        sent: what the program sends.
    """

    def __init__(self, frames: Iterable[Frame]) -> None:
        lanes: defaultdict[int, deque[Frame]] = defaultdict(deque)
        for frame in frames:
            lanes[frame.lane].append(frame)
        self._lanes = dict(lanes)
        self.sent = Chain()

    def send(self, frame: Frame) -> None:
        """Take a frame in."""
        self.sent.add(frame)

    def receive(self) -> Frame:
        """The next frame of the session itself; raises as `receive_of`."""
        return self.receive_of(0)

    def receive_of(self, lane: int) -> Frame:
        """The next frame that came for a lane.

        Raises:
            PeerLost: there is none.
        """
        waiting = self._lanes.get(lane)
        if not waiting:
            raise PeerLost("The record ends here.")
        return waiting.popleft()

    def close(self) -> None:
        """Nobody waits."""


def replay(
    program: Callable[[FullSession], Any],
    role: Role,
    seed: bytes,
    frames: Iterable[Frame],
    *,
    workers: int = 2,
    **given: Any,
) -> Chain:
    """Run one side of a program again.

    Args:
        program: what the party ran, with its data.
        role: of the party.
        seed: of its run.
        frames: that came in, of each lane in their order.
        workers: threads for the arithmetic; nothing that is sent depends on them.
        given: what else the session had: network, lanes and keys, see `FullSession`.

    Returns:
        What it sends. The program may fail, as it did in the run or on data that it cannot read: then it is
        what it sends before.

    Raises:
        NotReplayed: this machine lacks memory, threads or a file for it.
    """
    transport = ReplayTransport(frames)
    with ThreadPoolExecutor(workers) as executor:
        session = FullSession(role, Channel(transport), executor, Randomness.of_run(seed), **given)
        try:
            program(session)
            session.verify()
            session.channel.finish()
        except Exception as problem:  # data that are shown can be anything
            if _is_lack(problem):
                raise NotReplayed(_POOR) from None
            # else as in the run, or because the record ends: what counts is what was sent
        finally:
            session.close()
    return transport.sent


def _is_lack(problem: Exception) -> bool:
    """Whether a program ended since the machine lacks something, and not by what it was given."""
    if isinstance(problem, RuntimeError):
        return isinstance(problem, BrokenExecutor) or _NO_THREAD in str(problem)
    return isinstance(problem, MemoryError | OSError | OutOfMemory)

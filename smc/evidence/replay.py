"""A run made again at one side, from its seed and the frames that came in: what it must have sent."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from concurrent.futures import ThreadPoolExecutor
from threading import Condition
from typing import Any, ClassVar, Final

from smc.channel.channel import Channel
from smc.channel.message import Frame
from smc.errors import DuettoError, OutOfMemory, PeerLost
from smc.evidence.record import Came, Chain
from smc.forms import Role
from smc.numeric.random import Randomness
from smc.protocols.full_session import FullSession

_POOR: Final = "This machine lacks memory, or a file, to make the run again."
_LATE: Final = "The program did not come in time to where the next frame of the record was read."
WAITING_SECONDS: Final = 600.0
"""A frame is read after those that were sent before it on its lane. A program that does not send them in this
time runs on too slow a machine, or is another than the one that ran, or the record says so falsely."""


class NotReplayed(DuettoError):  # noqa: N818 - a state of the record
    """The machine did not suffice to make the run again, so that nobody knows what the program sends."""

    code = "not-replayed"
    advice = "Run the audit again on a machine that is as fast as the party's, with nothing else to do."


class ReplayTransport:
    """Gives a program the frames that came, and takes what it sends into a chain.

    Args:
        frames: that came, in their order.
        waiting: seconds that a frame may wait for what was sent before it.

    Attributes:
        sent: what the program sends.
        is_late: whether a frame has waited in vain for what was sent before it.
    """

    is_record: ClassVar[bool] = True

    def __init__(self, frames: Iterable[Came], waiting: float = WAITING_SECONDS) -> None:
        self._frames = iter(frames)
        self._waiting = waiting
        self._changed = Condition()
        self._closed = False
        self.sent = Chain()
        self.is_late = False

    def send(self, frame: Frame) -> None:
        """Take a frame in."""
        self.sent.add(frame)
        with self._changed:
            self._changed.notify_all()

    def receive(self) -> Frame:
        """The next frame that came.

        Lanes go on side by side, and nothing here holds one back that is ahead of the others. So a frame
        waits until its lane has sent what it had sent when the frame was read: then no lane gets more frames
        ahead than it had in the run.

        Raises:
            PeerLost: there is none, or the program does not come to where it was read.
        """
        came = next(self._frames, None)
        if came is None:
            raise PeerLost("The record ends here.")
        lane = came.frame.lane
        with self._changed:
            if not self._changed.wait_for(
                lambda: self._closed or self.sent.count(lane) >= came.after, self._waiting
            ):
                self.is_late = True
                raise PeerLost(_LATE)
        return came.frame

    def close(self) -> None:
        """Wake whoever waits."""
        with self._changed:
            self._closed = True
            self._changed.notify_all()


def replay(
    program: Callable[[FullSession], Any],
    role: Role,
    seed: bytes,
    frames: Iterable[Came],
    *,
    workers: int = 2,
    waiting: float = WAITING_SECONDS,
    **given: Any,
) -> Chain:
    """Run one side of a program again.

    Args:
        program: what the party ran, with its data.
        role: of the party.
        seed: of its run.
        frames: that came in, in their order.
        workers: threads for the arithmetic; nothing that is sent depends on them.
        waiting: see `ReplayTransport`.
        given: what else the session had: network, lanes and keys, see `FullSession`.

    Returns:
        What it sends. The program may fail, as it did in the run or on data that it cannot read: then it is
        what it sends before.

    Raises:
        NotReplayed: it does not come in time to where a frame of the record was read, or this machine lacks
            memory or a file for it.
    """
    transport = ReplayTransport(frames, waiting)
    with ThreadPoolExecutor(workers) as executor:
        session = FullSession(role, Channel(transport), executor, Randomness.of_run(seed), **given)
        try:
            program(session)
            session.verify()
            session.channel.finish()
        except (MemoryError, OSError, OutOfMemory):
            raise NotReplayed(_POOR) from None
        except Exception:  # noqa: S110 - data that are shown can be anything
            pass  # as in the run, or because the record ends: what counts is what was sent
        finally:
            transport.close()
            session.close()
    if transport.is_late:
        raise NotReplayed(_LATE)
    return transport.sent

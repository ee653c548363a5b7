"""Checks of transports: order, both directions at once, silence, close, and a stream that ends too early."""

from __future__ import annotations

import threading
from collections.abc import Callable, Sequence
from contextlib import AbstractContextManager
from functools import partial
from typing import Final

from smc.channel.channel import Channel, Transport
from smc.channel.message import FRAME_BYTES, Frame
from smc.errors import DuettoError, PeerAborted, PeerLost
from smc.testing.demands import ConformanceError, demand

Connect = Callable[[], AbstractContextManager[tuple[Transport, Transport]]]
"""Makes both ends of a fresh connection, on which silence ends after a second or so, and closes it."""

_PATIENCE: Final = 30.0
"""Seconds within which a check has to end."""
_SOON: Final = 0.7
"""Seconds within which a close wakes whoever waits: less than silence takes."""


def check_transport(connect: Connect) -> tuple[str, ...]:
    """Run all checks of a transport, each on a connection of its own.

    Args:
        connect: makes connections.

    Returns:
        The names of the checks, all passed.

    Raises:
        ConformanceError: a check failed; the text names it, and what the transport raised.
    """
    for check in CHECKS:
        with connect() as ends:
            _Work(partial(check, *ends)).result(check.__name__)
    return tuple(check.__name__ for check in CHECKS)


def frames_keep_their_order(one: Transport, other: Transport) -> None:
    """What is sent arrives once, whole and in order."""
    frames = [Frame(n, "kind", n + 1, 2, n.to_bytes(2, "big")) for n in range(300)]
    frames[7] = Frame(7, "kind", 8, 0, b"")
    sender = _Work(partial(_send_all, one, frames))
    got = [other.receive() for _ in frames]
    sender.result("send")
    demand(got == frames, "Frames arrive changed or in another order.", "Deliver them in order, each once.")


def both_directions_work_at_once(one: Transport, other: Transport) -> None:
    """Both sides may send before they receive, also what is larger than a buffer."""
    frames = [Frame(n, "kind", 1, FRAME_BYTES, bytes([n]) * FRAME_BYTES) for n in range(5)]
    got: dict[int, list[Frame]] = {}

    def talk(place: int, end: Transport) -> None:
        _send_all(end, frames)
        got[place] = [end.receive() for _ in frames]

    workers = [_Work(partial(talk, place, end)) for place, end in enumerate((one, other))]
    for worker in workers:
        worker.result("send or receive")
    demand(got == {0: frames, 1: frames}, "Frames that cross each other are lost.", "Keep both ways apart.")


def silence_ends(one: Transport, other: Transport) -> None:
    """A peer that says nothing is a lost peer, after a while."""
    del other
    _lost(one.receive, "receive returns although the peer has sent nothing.")


def close_wakes_the_reader(one: Transport, other: Transport) -> None:
    """Whoever waits on an end that is closed learns of it at once."""
    del other
    failures: list[DuettoError] = []

    def read() -> None:
        try:
            one.receive()
        except PeerLost as error:
            failures.append(error)

    reader = _Work(read)
    one.close()
    demand(
        reader.ends_within(_SOON), "close does not wake who waits in receive.", "End both directions at once."
    )
    reader.result("receive")
    demand(bool(failures), "receive returns on a closed end.", "Raise PeerLost.")


def a_cut_is_not_an_end(one: Transport, other: Transport) -> None:
    """What was sent before a cut arrives; then the peer is lost, not finished."""
    one.send(Frame(0, "kind", 1, 1, b"x"))
    one.close()
    demand(other.receive().data == b"x", "What was sent before a cut is lost.", "Deliver it first.")
    _lost(Channel(other).finish, "A cut connection looks like a clean end.")


def closing_twice_is_allowed(one: Transport, other: Transport) -> None:
    """Whoever cleans up need not know whether somebody has."""
    del other
    one.close()
    one.close()


def an_abort_carries_its_code(one: Transport, other: Transport) -> None:
    """The peer learns by which code a side gave up."""
    Channel(one).abort("some-code")
    try:
        Channel(other).finish()
    except PeerAborted as error:
        demand("some-code" in str(error), "An abort arrives without its code.", "Deliver it whole.")
        return
    raise ConformanceError("An abort does not arrive.", "Deliver what was sent before the end.")


def both_sides_can_end(one: Transport, other: Transport) -> None:
    """Both sides end at once, and neither waits for ever."""
    for worker in [_Work(Channel(end).finish) for end in (one, other)]:
        worker.result("finish")


CHECKS: Final = (
    frames_keep_their_order,
    both_directions_work_at_once,
    silence_ends,
    close_wakes_the_reader,
    a_cut_is_not_an_end,
    closing_twice_is_allowed,
    an_abort_carries_its_code,
    both_sides_can_end,
)
"""All checks, each of the two ends of a fresh connection."""


def _send_all(end: Transport, frames: Sequence[Frame]) -> None:
    for frame in frames:
        end.send(frame)


class _Work:
    """Something that is done in a thread of its own, since it may never end."""

    def __init__(self, work: Callable[[], object]) -> None:
        self._work = work
        self._failure: Exception | None = None
        self._thread = threading.Thread(target=self._run, daemon=True)
        self._thread.start()

    def _run(self) -> None:
        try:
            self._work()
        except Exception as problem:
            self._failure = problem

    def ends_within(self, seconds: float) -> bool:
        """Whether it has ended after so many seconds at most."""
        self._thread.join(seconds)
        return not self._thread.is_alive()

    def result(self, what: str) -> None:
        """Wait for its end, which is a good one.

        Raises:
            ConformanceError: it does not end, or has failed.
        """
        demand(
            self.ends_within(_PATIENCE),
            f"{what} waits longer than {_PATIENCE:.0f} seconds.",
            "Send and receive must not wait for each other, and no wait may be without end.",
        )
        if isinstance(self._failure, ConformanceError):
            raise self._failure
        if self._failure is not None:
            raise ConformanceError(
                f"{what}: {type(self._failure).__name__}: {self._failure}",
                "The transport should not raise this here, or frames were lost on it.",
            ) from self._failure


def _lost(work: Callable[[], object], what: str) -> None:
    try:
        work()
    except PeerLost:
        return
    raise ConformanceError(what, "Raise PeerLost.")

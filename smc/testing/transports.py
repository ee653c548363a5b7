"""Checks of transports: order, both directions at once, silence, close, and a stream that ends too early."""

from __future__ import annotations

import threading
from collections.abc import Callable, Sequence
from contextlib import AbstractContextManager
from functools import partial
from typing import Final

from smc.channel.channel import Channel
from smc.channel.message import FRAME_BYTES, Frame
from smc.channel.transport import Transport
from smc.errors import DuettoError, PeerAborted, PeerLost
from smc.testing.demands import ConformanceError, demand

Connect = Callable[[], AbstractContextManager[tuple[Transport, Transport]]]
"""Makes both ends of a fresh connection, on which silence ends after a second or so, and closes them."""

_PATIENCE: Final = 20.0
"""Seconds within which a step of a check has to end."""


def check_transport(connect: Connect) -> tuple[str, ...]:
    """Run all checks of a transport, each on a connection of its own.

    Args:
        connect: makes connections.

    Returns:
        The names of the checks, all passed.

    Raises:
        ConformanceError: a check failed. Another error comes from the transport, which should not raise it.
    """
    for check in CHECKS:
        with connect() as ends:
            check(*ends)
    return tuple(check.__name__ for check in CHECKS)


def frames_keep_their_order(one: Transport, other: Transport) -> None:
    """What is sent arrives once, whole and in order."""
    frames = [Frame(n, "kind", n + 1, 2, n.to_bytes(2, "big")) for n in range(300)]
    sender = _start(partial(_send_all, one, frames))
    got = [other.receive() for _ in frames]
    _end(sender, "send")
    demand(got == frames, "Frames arrive changed or in another order.", "Deliver them in order, each once.")


def both_directions_work_at_once(one: Transport, other: Transport) -> None:
    """Both sides may send before they receive, also what is larger than a buffer, and views of messages."""
    view = memoryview(bytes(range(5)) * FRAME_BYTES)
    frames = [Frame(n, "kind", 1, 5 * FRAME_BYTES, view[n * FRAME_BYTES :][:FRAME_BYTES]) for n in range(5)]
    got: dict[int, list[Frame]] = {}

    def talk(place: int, end: Transport) -> None:
        _send_all(end, frames)
        got[place] = [end.receive() for _ in frames]

    workers = [_start(partial(talk, place, end)) for place, end in enumerate((one, other))]
    for worker in workers:
        _end(worker, "send or receive")
    demand(got == {0: frames, 1: frames}, "Frames that cross each other are lost.", "Keep both ways apart.")


def silence_ends(one: Transport, other: Transport) -> None:
    """A peer that says nothing is a lost peer, after a while."""
    del other
    _lose(one.receive, "receive returns although the peer has sent nothing.")


def close_wakes_the_reader(one: Transport, other: Transport) -> None:
    """Whoever waits on an end that is closed learns of it at once."""
    del other
    failures: list[DuettoError] = []

    def read() -> None:
        try:
            one.receive()
        except PeerLost as error:
            failures.append(error)

    reader = _start(read)
    one.close()
    _end(reader, "receive")
    demand(bool(failures), "receive returns on a closed end.", "Raise PeerLost.")


def a_cut_is_not_an_end(one: Transport, other: Transport) -> None:
    """What was sent before a cut arrives; then the peer is lost, not finished."""
    one.send(Frame(0, "kind", 1, 1, b"x"))
    one.close()
    demand(other.receive().data == b"x", "What was sent before a cut is lost.", "Deliver it first.")
    _lose(Channel(other).finish, "A cut connection looks like a clean end.")


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
    for worker in [_start(Channel(end).finish) for end in (one, other)]:
        _end(worker, "finish")


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


def _start(work: Callable[[], object]) -> threading.Thread:
    thread = threading.Thread(target=work, daemon=True)
    thread.start()
    return thread


def _end(thread: threading.Thread, what: str) -> None:
    thread.join(_PATIENCE)
    demand(
        not thread.is_alive(),
        f"{what} waits longer than {_PATIENCE:.0f} seconds.",
        "Send and receive must not wait for each other, and no wait may be without end.",
    )


def _lose(work: Callable[[], object], what: str) -> None:
    try:
        work()
    except PeerLost:
        return
    raise ConformanceError(what, "Raise PeerLost.")

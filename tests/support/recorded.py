"""Runs of two sides that can be made again, with the record of each; one side may deviate on the way out."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from typing import Any

from smc.channel.channel import Channel
from smc.channel.memory import memory_pair
from smc.channel.message import Frame
from smc.errors import DuettoError
from smc.evidence.record import Chain, InMemory, Recorder
from smc.evidence.replay import replay
from smc.evidence.verdict import Verdict, judge
from smc.forms import Role
from smc.numeric.random import Randomness
from smc.protocols.full_session import FullSession

SECONDS = 30
Bend = Callable[[Frame], Frame]
Side = Callable[[FullSession], Any]


@dataclass
class Recorded:
    """One side of a run.

    Attributes:
        role: whose.
        seed: of its randomness.
        given: what its session had besides.
        sent: what it sent.
        received: what it says that came.
        frames: those that came.
        error: by which it ended, if by one.
    """

    role: Role
    seed: bytes
    given: Mapping[str, Any]
    sent: Chain
    received: Chain
    frames: InMemory
    error: DuettoError | None = None

    def verdict(self, side: Side, **changed: Any) -> Verdict:
        """What an audit of this side says, of a program that may have changed."""
        return judge(self.sent, replay(side, self.role, self.seed, self.frames, **{**self.given, **changed}))


def named(each: Recorded, side: Side) -> tuple[str, int]:
    """The kind of the message at which an audit convicts a side, and how many of that kind came before."""
    found = each.verdict(side).deviation
    assert found is not None
    said = [frame.kind for frame in each.sent.lanes()[found.lane]]
    assert said[found.number] == found.kind
    return found.kind, said[: found.number].count(found.kind)


class Bending:
    """A transport whose outgoing frames are changed before they are recorded."""

    def __init__(self, transport: Recorder, bend: Bend) -> None:
        self._transport, self._bend = transport, bend
        self.receive, self.close = transport.receive, transport.close

    def send(self, frame: Frame) -> None:
        self._transport.send(self._bend(frame))


def first_of(kind: str) -> Bend:
    """Changes one bit of the first frame of a kind."""
    seen = []

    def bend(frame: Frame) -> Frame:
        if frame.kind != kind or seen or not len(frame.data):
            return frame
        seen.append(frame)
        data = bytearray(frame.data)
        data[len(data) // 2] ^= 1
        return Frame(frame.sequence, frame.kind, frame.depth, frame.total, bytes(data), frame.lane)

    return bend


def recorded(
    side: Side,
    *,
    bends: Mapping[Role, Bend] | None = None,
    keys: tuple[Any, Any] = (None, None),
    **given: Any,
) -> dict[Role, Recorded]:
    """Run a program at both sides under fixed seeds.

    Args:
        side: of either role.
        bends: how frames of a role are changed on their way out.
        keys: the Paillier keys of both.
        given: what sessions have besides.
    """
    runs, transports = {}, dict(zip(Role, memory_pair(SECONDS), strict=True))
    for role, own, other in zip(Role, keys, keys[::-1], strict=True):
        cipher = {"own_key": own, "peer_key": other.public if other else None}
        recorder = Recorder(transports[role], InMemory())
        runs[role] = Recorded(
            role,
            role.value.encode() * 4,
            {**cipher, **given},
            recorder.sent,
            recorder.received,
            recorder._keeper,
        )
        transports[role] = Bending(recorder, bends[role]) if bends and role in bends else recorder

    def run(role: Role) -> None:
        with ThreadPoolExecutor(2) as executor:
            made = runs[role]
            channel = Channel(transports[role])
            session = FullSession(role, channel, executor, Randomness.of_run(made.seed), **made.given)
            try:
                side(session)
                session.verify()
                channel.finish()
            except DuettoError as error:
                made.error = error
                transports[role].close()
            finally:
                session.close()

    with ThreadPoolExecutor(2) as sides:
        for done in [sides.submit(run, role) for role in Role]:
            done.result()
    return runs

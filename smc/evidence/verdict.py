"""What a replay says of a party: it followed the program, or at which message it did not."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from smc.channel.message import END
from smc.evidence.record import Chain, Said


@dataclass(frozen=True, slots=True)
class Departure:
    """The first frame that a party sent otherwise than the program.

    Attributes:
        lane: of the conversation, 0 for that of the session itself.
        number: of the frame in its lane and direction, from 0.
        kind: of the message that the party sent there, or left out where it had come to the end.
    """

    lane: int
    number: int
    kind: str


@dataclass(frozen=True, slots=True)
class Verdict:
    """Of one party's part in a run.

    Attributes:
        deviation: where it left the program; None if what it sent is what the program sends.
        ended: whether it had sent all to the end. A run that was cut says nothing of what did not come.
    """

    deviation: Departure | None
    ended: bool

    @property
    def is_cleared(self) -> bool:
        """Whether the party sent what the program sends, as far as the run went."""
        return self.deviation is None


def judge(sent: Chain, program: Chain) -> Verdict:
    """Hold what a party sent against what its program sends.

    Args:
        sent: the chain of what the party sent, whose head the peer has too.
        program: that of the replay.
    """
    lanes, right = sent.lanes(), program.lanes()
    ended = bool(lanes.get(0)) and lanes[0][-1].kind == END
    pairs = ((lane, lanes.get(lane, ()), right.get(lane, ())) for lane in sorted({*lanes, *right}))
    found = [deviation for pair in pairs if (deviation := _first(*pair, ended=ended)) is not None]
    # Lanes go on side by side, so what is first in the session counts before what is first in a lane.
    return Verdict(min(found, key=lambda each: (each.lane > 0, each.number), default=None), ended)


def _first(lane: int, frames: Sequence[Said], expected: Sequence[Said], *, ended: bool) -> Departure | None:
    """The first frame of a lane that is not the program's; none if the run was cut before."""
    for number, frame in enumerate(frames):
        if number >= len(expected) or frame != expected[number]:
            return Departure(lane, number, frame.kind)
    if ended and len(frames) < len(expected):
        return Departure(lane, len(frames), expected[len(frames)].kind)
    return None

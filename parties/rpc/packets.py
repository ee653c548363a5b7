"""Frames on the wire: every field of what a peer sends is checked before anything is built from it."""

from __future__ import annotations

from parties.rpc.pb.duetto.v1 import peer_pb2 as pb
from smc.channel.message import ABORT, END, FRAME_BYTES, MESSAGE_BYTES, Frame, is_kind
from smc.errors import ProtocolViolation

_COUNTER_LIMIT = 1 << 48
_CODE_BYTES = 64
_MAX_WORDS = 2
"""Packets of the handshake that one side sends: Opening and Confirm, Answer, Resume or Resumed."""


class Arrivals:
    """Looks at packets of one direction as they come, on whatever call, before anything is kept of them.

    What is refused here never waits in memory for a session that computes: packets without content, words of
    the handshake out of their place, and frames that are not the next one.
    """

    def __init__(self) -> None:
        self._frames = 0
        self._words = 0

    def check(self, packet: pb.Packet) -> None:
        """Check the next packet.

        Raises:
            ProtocolViolation: it is empty, or its place is not here.
        """
        content = packet.WhichOneof("content")
        if content is None:
            raise ProtocolViolation("The peer sent an empty packet.")
        if content == "frame":
            kind, sequence = packet.frame.kind, packet.frame.sequence
            if not is_kind(kind):
                raise ProtocolViolation("The kind of a frame from the peer is not the name of a message.")
            if sequence != self._frames:
                raise ProtocolViolation(
                    f"{kind}: frame {self._frames} was expected, but frame {sequence} came."
                )
            self._frames += 1
            return
        self._words += 1
        if content != "refusal" and (self._frames or self._words > _MAX_WORDS):
            raise ProtocolViolation(f"A frame was expected, but the peer sent {content}.")


def is_end(packet: pb.Packet) -> bool:
    """Whether the sender has come to the end of the session."""
    return packet.frame.kind == END


def is_failure(packet: pb.Packet) -> bool:
    """Whether the sender ends the session before its end."""
    return packet.HasField("refusal") or packet.frame.kind == ABORT


def to_packet(frame: Frame) -> pb.Packet:
    """The packet that carries a frame."""
    return pb.Packet(
        frame=pb.Frame(
            sequence=frame.sequence, kind=frame.kind, depth=frame.depth, total=frame.total, data=frame.data
        )
    )


def to_frame(packet: pb.Packet) -> Frame:
    """The frame in a packet.

    Raises:
        ProtocolViolation: the packet carries no frame, or a field of it is outside its limits.
    """
    content = packet.WhichOneof("content")
    if content != "frame":
        raise ProtocolViolation(f"A frame was expected, but the peer sent {content or 'an empty packet'}.")
    frame = packet.frame
    if not is_kind(frame.kind):
        raise ProtocolViolation("The kind of a frame from the peer is not the name of a message.")
    if frame.sequence >= _COUNTER_LIMIT or frame.depth >= _COUNTER_LIMIT:
        raise ProtocolViolation(f"{frame.kind}: a counter of the frame is out of range.")
    if frame.total > MESSAGE_BYTES:
        raise ProtocolViolation(
            f"{frame.kind}: the peer announced {frame.total} bytes; at most {MESSAGE_BYTES} are allowed."
        )
    if len(frame.data) > min(frame.total, FRAME_BYTES):
        raise ProtocolViolation(
            f"{frame.kind}: a frame carries {len(frame.data)} bytes, more than is allowed."
        )
    limit = {END: 0, ABORT: _CODE_BYTES}.get(frame.kind)
    if limit is not None and (frame.total > limit or frame.total != len(frame.data)):
        raise ProtocolViolation(f"{frame.kind}: the frame does not have the size that it should.")
    return Frame(frame.sequence, frame.kind, frame.depth, frame.total, frame.data)

"""Packets that have come: every field of what a peer sends is checked before anything is built from it."""

from __future__ import annotations

from parties.rpc.codec import Packet
from parties.rpc.pb.duetto.v1 import peer_pb2 as pb
from smc.channel.message import ABORT, END, FRAME_BYTES, MAX_LANES, MESSAGE_BYTES, Frame, is_kind
from smc.errors import ProtocolViolation

PACKET_BYTES = 512
"""What a waiting packet counts on top of its content, so that small ones are bounded in number, too."""

_COUNTER_LIMIT = 1 << 48
_CODE_BYTES = 64
_TURNS = ("resume", "resumed")
_MAX_WORDS = 2
"""Packets of the handshake that one side sends: Opening and Confirm, Answer, Resume or Resumed."""


class Arrivals:
    """Looks at packets of one direction as they come, on whatever call, before anything is kept of them.

    What is refused here never waits in memory for a session that computes: packets without content, words of
    the handshake out of their place, and frames that are not the next one of their lane.
    """

    def __init__(self) -> None:
        self._frames = [0] * (MAX_LANES + 1)
        self._words = 0

    def check(self, packet: Packet) -> None:
        """Check the next packet.

        Raises:
            ProtocolViolation: it is empty, or its place is not here.
        """
        if isinstance(packet, Frame):
            kind, sequence, lane = packet.kind, packet.sequence, packet.lane
            if not is_kind(kind):
                raise ProtocolViolation("The kind of a frame from the peer is not the name of a message.")
            if lane > MAX_LANES or (lane and kind in (END, ABORT)):
                raise ProtocolViolation(f"{kind}: a frame came for lane {lane}, where there can be none.")
            if sequence != self._frames[lane]:
                raise ProtocolViolation(
                    f"{kind}: frame {self._frames[lane]} was expected, but frame {sequence} came."
                )
            self._frames[lane] += 1
            return
        word = packet.WhichOneof("content")
        if word is None:
            raise ProtocolViolation("The peer sent an empty packet.")
        self._words += 1
        if word != "refusal" and (any(self._frames) or self._words > _MAX_WORDS):
            raise ProtocolViolation(f"A frame was expected, but the peer sent {word}.")


def size(packet: Packet) -> int:
    """What a packet counts in bytes while it waits to be read."""
    content = len(packet.data) if isinstance(packet, Frame) else packet.ByteSize()
    return content + PACKET_BYTES


def is_end(packet: Packet) -> bool:
    """Whether the sender has come to the end of the session."""
    return isinstance(packet, Frame) and packet.kind == END


def is_failure(packet: Packet) -> bool:
    """Whether the sender ends the session before its end."""
    return packet.kind == ABORT if isinstance(packet, Frame) else packet.HasField("refusal")


def is_turn(packet: Packet) -> bool:
    """Whether another stream takes the call over now: nothing more is read before."""
    return isinstance(packet, pb.Packet) and packet.WhichOneof("content") in _TURNS


def to_word(packet: Packet) -> pb.Packet:
    """A packet of the handshake.

    Raises:
        ProtocolViolation: it is a frame.
    """
    if isinstance(packet, Frame):
        raise ProtocolViolation("The peer sent a frame before the two sides had agreed on a session.")
    return packet


def to_frame(packet: Packet) -> Frame:
    """A frame whose fields are within their limits.

    Raises:
        ProtocolViolation: the packet is no frame, or a field of it is outside its limits.
    """
    if not isinstance(packet, Frame):
        word = packet.WhichOneof("content") or "an empty packet"
        raise ProtocolViolation(f"A frame was expected, but the peer sent {word}.")
    if not is_kind(packet.kind):
        raise ProtocolViolation("The kind of a frame from the peer is not the name of a message.")
    if packet.sequence >= _COUNTER_LIMIT or packet.depth >= _COUNTER_LIMIT:
        raise ProtocolViolation(f"{packet.kind}: a counter of the frame is out of range.")
    if packet.total > MESSAGE_BYTES:
        raise ProtocolViolation(
            f"{packet.kind}: the peer announced {packet.total} bytes; at most {MESSAGE_BYTES} are allowed."
        )
    if len(packet.data) > min(packet.total, FRAME_BYTES):
        raise ProtocolViolation(
            f"{packet.kind}: a frame carries {len(packet.data)} bytes, more than is allowed."
        )
    if packet.lane > MAX_LANES:
        raise ProtocolViolation(f"{packet.kind}: the peer sent a frame for lane {packet.lane}.")
    limit = {END: 0, ABORT: _CODE_BYTES}.get(packet.kind)
    if limit is not None and (packet.total > limit or packet.total != len(packet.data)):
        raise ProtocolViolation(f"{packet.kind}: the frame does not have the size that it should.")
    return packet

"""Frames over a gRPC stream: the `Transport` of a session between two daemons."""

from __future__ import annotations

from parties.rpc.codec import Packet
from parties.rpc.packets import to_frame
from parties.rpc.refusal import refusal_error
from parties.rpc.stream import PacketStream
from smc.channel.message import ABORT, Frame
from smc.channel.transport import abort_error
from smc.errors import PeerLost, ProtocolViolation


class GrpcTransport:
    """A `smc.channel.channel.Transport` over a packet stream.

    Args:
        stream: a stream whose handshake is done.
    """

    def __init__(self, stream: PacketStream) -> None:
        self._stream = stream

    def send(self, frame: Frame) -> None:
        """Queue a frame; blocks while too much is queued.

        Raises:
            PeerAborted: the peer has ended the session and said so.
            PeerLost: the peer is gone or does not read.
        """
        try:
            self._stream.send(frame, last=frame.kind == ABORT)
        except PeerLost:
            self._explain()
            raise

    def receive(self) -> Frame:
        """The next frame, checked field by field.

        Raises:
            ProtocolViolation: what came is not a valid frame.
            PeerAborted: the peer has ended the session and said so.
            PeerRefused: the peer, who had the last word in the handshake, does not take part.
            PeerLost: the peer is gone or silent past the deadline.
        """
        packet = self._stream.receive()
        self._check_refusal(packet)
        frame = to_frame(packet)
        if frame.kind == ABORT and not frame.lane:
            raise abort_error(frame, self._stream.peer)
        return frame

    def close(self) -> None:
        """End both directions after sending what is queued; wake whoever waits."""
        self._stream.close()

    def _check_refusal(self, packet: Packet) -> None:
        if not isinstance(packet, Frame) and packet.HasField("refusal"):
            raise refusal_error(self._stream.peer, packet.refusal.code)

    def _explain(self) -> None:
        """Raise what the peer said before it ended the stream, if it said something."""
        packet = self._stream.last_words()
        if packet is None:
            return
        self._check_refusal(packet)
        try:
            frame = to_frame(packet)
        except ProtocolViolation:
            return
        if frame.kind == ABORT:
            raise abort_error(frame, self._stream.peer) from None

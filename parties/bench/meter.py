"""Counts what a transport hands to gRPC."""

from __future__ import annotations

from dataclasses import replace

from parties.rpc.packets import to_packet
from smc.channel.channel import Transport
from smc.channel.message import Frame


class MeteredTransport:
    """Passes frames on and counts the bytes of their packets.

    Args:
        inner: what really sends; may be an emulated link.

    Attributes:
        sent: bytes of serialised packets sent so far, without the framing of HTTP/2 and TLS.
    """

    def __init__(self, inner: Transport) -> None:
        self._inner = inner
        self.sent = 0

    def send(self, frame: Frame) -> None:
        """Count a frame and send it. Raises as the inner transport does."""
        self.sent += packet_bytes(frame)
        self._inner.send(frame)

    def receive(self) -> Frame:
        """The next frame of the inner transport."""
        return self._inner.receive()

    def close(self) -> None:
        """Close the inner transport."""
        self._inner.close()


def packet_bytes(frame: Frame) -> int:
    """Bytes of the packet that carries a frame, without making a copy of its data."""
    body = to_packet(replace(frame, data=b"")).frame.ByteSize()
    if frame.data:
        body += _field_bytes(len(frame.data))
    return _field_bytes(body)


def _field_bytes(length: int) -> int:
    """Bytes of a protobuf field of a given length: tag, length in groups of seven bits, content."""
    return 1 + max(1, -(-length.bit_length() // 7)) + length

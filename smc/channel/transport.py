"""What moves frames to and from the peer, and the frame by which a peer ends a session."""

from __future__ import annotations

from typing import Protocol

from smc.channel.message import Frame
from smc.errors import PeerAborted

_CODE_BYTES = 64


class Transport(Protocol):
    """Moves frames to and from the peer, in order."""

    def send(self, frame: Frame) -> None:
        """Hand a frame over; may block while the peer is slow.

        Raises:
            PeerLost: the peer is gone, or did not read within the deadline.
        """
        ...

    def receive(self) -> Frame:
        """The next frame.

        Raises:
            PeerAborted: the peer has ended the session and said so; or that frame is returned.
            PeerLost: the peer is gone, or nothing came within the deadline.
        """
        ...

    def close(self) -> None:
        """End both directions and wake whoever waits; may be called twice and from any thread."""
        ...


def abort_data(code: str) -> bytes:
    """The data of the frame that ends a session with a code."""
    return code.encode()[:_CODE_BYTES]


def abort_error(frame: Frame, peer: str = "The peer") -> PeerAborted:
    """The error that a frame of kind `ABORT` stands for, by the name of the peer where that is known."""
    code = bytes(frame.data[:_CODE_BYTES]).decode("ascii", "replace")
    code = "".join(c for c in code if c.isalnum() or c in "-_") or "unknown"
    return PeerAborted(f"{peer} ended the session with code {code!r}.")

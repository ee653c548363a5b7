"""Which process, of which account, is at the other end of a Unix socket: the system's word, not its own."""

from __future__ import annotations

import socket
import struct
import sys
from typing import Final, NamedTuple

_UCRED: Final = struct.Struct("=iII")


class SocketPeer(NamedTuple):
    """A process as the system saw it when it connected, or began to listen.

    Attributes:
        pid: its number; 0 if it cannot be seen from here, as from another container.
        uid: of its account.
    """

    pid: int
    uid: int


def peer_process(connection: socket.socket) -> SocketPeer | None:
    """The process at the other end of a Unix socket; None where the system does not say."""
    if sys.platform != "linux":
        return None
    pid, uid, _ = _UCRED.unpack(connection.getsockopt(socket.SOL_SOCKET, socket.SO_PEERCRED, _UCRED.size))
    return SocketPeer(pid, uid)

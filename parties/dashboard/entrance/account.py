"""Whose connection it is: a dashboard talks to programs of its own account only.

A port on a loopback address is open to every account of the machine, and so a stolen session could be used
from all of them. Linux says to whom each end of a connection belongs: of a Unix socket the socket itself, of
TCP the table of connections. Other systems do not say it of TCP; there the names and sessions have to do.
"""

from __future__ import annotations

import math
import os
import socket
import struct
import sys
from pathlib import Path
from time import monotonic
from typing import Final

from parties.pki.socket_peer import peer_process

_TABLES: Final = {socket.AF_INET: "tcp", socket.AF_INET6: "tcp6"}
_PROC: Final = Path("/proc/self/net")
"""Not `/proc/net`, which services that see their own processes only do not have."""

_ESTABLISHED: Final = "01"
"""The state; ends that were closed belong to nobody and are listed under the account 0."""

_UID: Final = 3
"""Fields after the state: queues, timer, retransmissions, and then whose it is."""


def is_known() -> bool:
    """Whether this system says to whom the other end of a TCP connection belongs."""
    return sys.platform == "linux"


class Tables:
    """The tables of connections, each read once for all that were accepted before: a long one takes long.

    Args:
        folder: where Linux lists connections.
    """

    def __init__(self, folder: Path = _PROC) -> None:
        self._folder = folder
        self._read: dict[socket.AddressFamily, tuple[float, str]] = {}

    def of(self, family: socket.AddressFamily, accepted: float) -> str:
        """The table of a family of addresses, read after a moment of the monotonic clock.

        Raises:
            OSError: it cannot be read.
        """
        when, text = self._read.get(family, (-math.inf, ""))
        if when <= accepted:
            when = monotonic()
            text = (self._folder / _TABLES[family]).read_text("ascii")
            self._read[family] = (when, text)
        return text


TABLES: Final = Tables()


def is_own(connection: socket.socket, tables: Tables = TABLES, accepted: float = math.inf) -> bool:
    """Whether the other end of a connection from this machine belongs to the account of this process.

    Where the system could say so and does not, because the other end is gone or in another network, it does
    not. Where it never says so, every connection counts as own.

    Args:
        connection: this end.
        tables: what Linux lists.
        accepted: when it was there already, by the monotonic clock; the table is not older than that.
    """
    if connection.family == socket.AF_UNIX:
        process = peer_process(connection)
        return process is None or process.uid == os.geteuid()
    if not is_known():
        return True
    try:
        other, here = (_to_table_form(name) for name in (connection.getpeername(), connection.getsockname()))
        text = tables.of(connection.family, accepted)
    except OSError:
        return False
    _, found, rest = text.partition(f": {other} {here} {_ESTABLISHED} ")
    return bool(found) and int(rest.split(maxsplit=_UID + 1)[_UID]) == os.geteuid()


def _to_table_form(name: tuple[str, int] | tuple[str, int, int, int]) -> str:
    """An address and its port as the tables have them: words of four bytes in the machine's order."""
    family = socket.AF_INET6 if len(name) == 4 else socket.AF_INET
    packed = socket.inet_pton(family, name[0])
    words = struct.unpack(f"={len(packed) // 4}I", packed)
    return "".join(f"{word:08X}" for word in words) + f":{name[1]:04X}"

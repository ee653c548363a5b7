"""Whether the local daemon is there, and what it says of itself."""

from __future__ import annotations

from typing import Any, Final

from parties.client.party import Party
from parties.config import Config, Peer
from parties.errors import DaemonUnavailable, JobError
from parties.pki.home import socket_path
from parties.pki.lock import running_pid
from smc.errors import DuettoError

ASK_SECONDS: Final = 5.0
"""How long the daemon may take to say that it is there."""


def ask_daemon(config: Config, pid: int) -> dict[str, Any]:
    """What the local daemon, which runs as process `pid`, says of itself within a few seconds.

    Raises:
        DaemonUnavailable: it says nothing.
    """
    try:
        with Party(config.path) as party:
            return party.status(ASK_SECONDS)
    except (DaemonUnavailable, JobError):
        raise DaemonUnavailable(
            f"Process {pid} holds the lock of {config.name}, but does not answer at {socket_path(config)} "
            f"within {ASK_SECONDS:g} seconds.",
            "It may still be starting; else look at its log, and stop it with `duetto party stop`.",
        ) from None


def is_reversed(config: Config, peer: Peer) -> bool:
    """Whether the daemon calls a peer over a connection that the peer keeps open; False if nobody says."""
    try:
        pid = running_pid(config)
        return pid is not None and peer.name in ask_daemon(config, pid)["reversed"]
    except DuettoError:
        return False

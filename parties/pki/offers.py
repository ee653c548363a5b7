"""Renewed certificates that peers have announced: kept beside the pinned file until somebody accepts them.

A party whose next certificate is made sends its pairing file with each greeting. The greeting comes over a
connection with the pinned certificate, and the file is signed by the pinned signing key; what is not a
renewal of the pinned file (see `parties.pki.pairing.succeeds`) is never kept.
"""

from __future__ import annotations

import hashlib
import logging
import threading
import time
from collections import deque
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Final

from parties.config import Config, Peer
from parties.errors import PairingError
from parties.pki import certificate, pairing
from parties.pki.files import write_atomically
from parties.pki.home import add_peer, load_pairing, own_pairing
from parties.pki.pairing import Pairing
from smc.errors import DuettoError

SECONDS_BETWEEN: Final = 60.0
"""Between two new announcements of one peer that are looked at."""

_REMEMBERED: Final = 64

log = logging.getLogger("duetto.renewal")


def find_offer(config: Config, peer: Peer) -> Pairing | None:
    """The renewal that a peer has announced, checked again; None if there is none that is still to accept."""
    try:
        found = pairing.read(_path(config, peer.name))
    except PairingError:
        return None
    return found if _is_newer(found, load_pairing(config, peer)) else None


def accept(config: Config, name: str, found: Pairing | None = None) -> Peer:
    """Pin the renewal that a peer has announced.

    Args:
        config: of this party.
        name: the peer.
        found: what `find_offer` returned and somebody has looked at; None is what is announced now.

    Raises:
        ConfigError: no such peer is paired.
        PairingError: it has announced nothing that is still to accept, or all certificates of it have ended.
    """
    peer = config.peer(name)
    found = found or find_offer(config, peer)
    if found is None:
        raise PairingError(
            f"{name!r} has announced no renewed certificate that is still to accept.",
            f"If {name!r} has renewed, ask for its pairing file, and run `duetto pair` with it.",
        )
    accepted = add_peer(config, found)
    _path(config, name).unlink(missing_ok=True)
    return accepted


@dataclass(slots=True)
class _Heard:
    """The announcements of a peer that were looked at last, and when that was."""

    digests: deque[bytes] = field(default_factory=lambda: deque(maxlen=_REMEMBERED))
    last: float = -SECONDS_BETWEEN


class Renewals:
    """What is announced to peers and heard of them. Thread-safe.

    Args:
        config: of this party; without one nothing is announced and nothing heard.
        clock: says what time it is, in seconds from any moment.
    """

    def __init__(self, config: Config | None = None, clock: Callable[[], float] = time.monotonic) -> None:
        self._config = config
        self._clock = clock
        self._lock = threading.Lock()
        self._heard: dict[str, _Heard] = {}
        self._due: set[str] = set()
        self.own = b""
        if config is not None:
            self.follow(config)

    def follow(self, config: Config) -> None:
        """Take up a configuration, and announce what the pairing file of this party says now."""
        try:
            found = own_pairing(config)
        except PairingError as error:
            log.warning("nothing is announced to peers: %s", error)
            with self._lock:
                self._config, self._heard, self.own = config, {}, b""
            return
        several = len(certificate.split(found.identity.certificates)) > 1
        with self._lock:
            self._config, self._heard = config, {}
            self.own = found.text.encode() if several else b""

    def hear(self, peer: str, data: bytes) -> None:
        """Keep what a peer announces if it is a renewal; otherwise say in the log what is wrong.

        To look at one costs half a second, and the log a line. So a peer has one new announcement looked at
        in a minute, the next ones are heard when it greets again, and what was refused lately stays refused.
        """
        digest = hashlib.sha256(data).digest()
        with self._lock:
            if self._config is None or not data:
                return
            heard = self._heard.setdefault(peer, _Heard())
            now = self._clock()
            if digest in heard.digests or now - heard.last < SECONDS_BETWEEN:
                return
            heard.last = now
            heard.digests.append(digest)
            config = self._config
            try:
                self._keep(config, config.peer(peer), data)
            except (DuettoError, OSError, UnicodeDecodeError) as error:
                log.warning(
                    "the renewal that %(peer)s announces is not taken: %(error)s",
                    {"peer": peer, "error": error},
                )

    def due(self) -> tuple[str, ...]:
        """The peers whose renewals the rule of the configuration accepts; each is named once."""
        with self._lock:
            due, self._due = self._due, set()
        return tuple(sorted(due))

    def _keep(self, config: Config, peer: Peer, data: bytes) -> None:
        found, pinned = pairing.parse(data.decode()), load_pairing(config, peer)
        if found.fingerprint == pinned.fingerprint:
            return
        if found.identity.name != peer.name or not _is_newer(found, pinned):
            raise PairingError(
                f"it is not a later certificate of {peer.name!r} under the signing key that is paired.",
                "Ask the peer what it has renewed.",
            )
        pairing.require_valid(found)
        write_atomically(_path(config, peer.name), found.text.encode() + b"\n")
        # Another address, or an earlier end, is for a person to accept: the rule is about renewals.
        is_usual = found.address == peer.address and pairing.vouched_for(found, pinned)
        if config.accept_renewals and is_usual:
            self._due.add(peer.name)
        else:
            log.warning(
                "%(peer)s has announced a renewed certificate: run `duetto keys accept %(peer)s`",
                {"peer": peer.name},
            )


def _is_newer(found: Pairing, pinned: Pairing) -> bool:
    return found.fingerprint != pinned.fingerprint and pairing.succeeds(found, pinned)


def _path(config: Config, name: str) -> Path:
    return config.home / "peers" / f"{name}.offered"

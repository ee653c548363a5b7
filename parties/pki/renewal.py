"""Renewal of the TLS certificate: a second one beside the first, under the same name and signing key.

The first is shown to peers until an hour before it ends, the second from then on. Both stand in the pairing
file, which the signing key signs, so a peer that has paired once accepts it without comparing fingerprints,
on any day until the first one ends. Nobody has to act on the same day as somebody else.
"""

from __future__ import annotations

import datetime as dt
import fcntl
import os
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass

from parties.config import Config
from parties.pki import certificate, pairing
from parties.pki.files import write_atomically
from parties.pki.home import load_identity, own_pairing
from parties.pki.identity import CHANGE
from parties.pki.lock import require_here
from parties.pki.pairing import Pairing
from parties.pki.protection import write_key


@dataclass(frozen=True, slots=True)
class Renewal:
    """What a renewal came to.

    Attributes:
        pairing: this party's pairing file now.
        used_from: when the new certificate is shown to peers.
        ends: when it ends.
        made: whether it was made now; False where an earlier renewal still lies ahead.
    """

    pairing: Pairing
    used_from: dt.datetime
    ends: dt.datetime
    made: bool


def renew(config: Config, *, at_once: bool = False, now: dt.datetime | None = None) -> Renewal:
    """Make the next TLS certificate of this party and write its pairing file anew.

    A renewal that is not in use yet is kept: to renew twice is to renew once.

    Args:
        config: of this party.
        at_once: let the present certificate count no more, and use a new one from now on; for a key that
            somebody else may have.
        now: the time; None is now.

    Raises:
        ConfigError: the keys cannot be read, or the home has moved.
        PairingError: the pairing file is missing or damaged.
    """
    require_here(config)
    with _alone(config):
        return _renew(config, now or dt.datetime.now(dt.UTC), at_once=at_once)


@contextmanager
def _alone(config: Config) -> Iterator[None]:
    """Wait until no other process renews; the system releases the lock of one that was killed."""
    descriptor = os.open(config.home / "keys", os.O_RDONLY | os.O_DIRECTORY)
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX)
        yield
    finally:
        os.close(descriptor)


def _renew(config: Config, now: dt.datetime, *, at_once: bool) -> Renewal:
    before = own_pairing(config)
    identity = load_identity(config)
    shown = identity.in_use(now)
    waiting = identity.renewed is not None and shown.certificate == identity.certificate
    if at_once or not waiting:
        kept = (
            ()
            if at_once or certificate.ends(shown.certificate) <= now
            else ((shown.certificate, shown.tls_key),)
        )
        folder = config.home / "keys"
        pairs = (*kept, certificate.make(config.name, now))
        write_key(folder / "tls.pem", b"".join(key + pem for pem, key in pairs))
        for name in ("tls.crt", "tls.key"):
            (folder / name).unlink(missing_ok=True)
        identity = load_identity(config)
    found = before
    if not before.counter or before.identity.certificates != pairing.shown_certificates(identity, now):
        found = pairing.describe(identity, before.address, now, after=before.counter)
        write_atomically(config.home / f"{config.name}.pair", found.text.encode() + b"\n")
    used_from = certificate.ends(identity.certificate) - CHANGE if identity.renewed else now
    return Renewal(
        found, max(used_from, now), certificate.ends(identity.certificates), at_once or not waiting
    )

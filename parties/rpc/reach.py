"""Why a peer cannot be reached: name, connection, TLS or certificate, found out step by step."""

from __future__ import annotations

import datetime as dt
import hashlib
import socket
import ssl
import time
from dataclasses import dataclass
from enum import Enum
from typing import Final

from parties.config import Address
from parties.errors import PeerUnreachable, PeerUntrusted
from parties.pki import Identity, PeerIdentity, certificate
from parties.rpc import tls
from smc.errors import PeerError

_REFUSALS: Final = 2
"""Handshakes that the peer has to refuse before it is said that it does; one may have been cut by chance."""


class Stage(Enum):
    """How far a connection got; each stage but the last names the step that failed."""

    NAME = "name"
    TCP = "tcp"
    TLS = "tls"
    PIN = "pin"
    DATE = "date"
    TRUST = "trust"
    OPEN = "open"

    @property
    def is_on_the_way(self) -> bool:
        """Whether what lies between the two sides, a firewall say, may be what failed."""
        return self in (Stage.NAME, Stage.TCP, Stage.TLS)


@dataclass(frozen=True, slots=True)
class Reach:
    """The outcome of an attempt to connect.

    Attributes:
        stage: how far it got.
        what: what happened.
        hint: what to do about it.
        seconds: time that setting up the TCP connection took.
    """

    stage: Stage
    what: str
    hint: str = ""
    seconds: float = 0.0

    def error(self) -> PeerError:
        """The error for a call that failed; an open way means that it may be tried again."""
        if self.stage in (Stage.PIN, Stage.DATE, Stage.TRUST):
            return PeerUntrusted(self.what, self.hint)
        return PeerUnreachable(self.what, self.hint or "Try again later.")


def reach(address: Address, peer: PeerIdentity, identity: Identity, timeout: float = 5.0) -> Reach:
    """Resolve, connect, shake hands, compare the certificate, and see whether the local one is taken.

    The first handshake is done without trust in any certificate, since the purpose is to see which one
    comes, and without a certificate of this party. Only after the peer has shown that it holds the paired
    one, this party's certificate is shown to it.
    """
    found = _look(address, peer, timeout)
    return _show(found, address, peer, identity, timeout) if found.stage is Stage.OPEN else found


def _show(found: Reach, address: Address, peer: PeerIdentity, identity: Identity, timeout: float) -> Reach:
    try:
        trusted = any(tls.is_trusted(address, identity, timeout) for _ in range(_REFUSALS))
    except OSError as error:
        return Reach(
            Stage.TLS,
            f"The connection to {peer.name!r} at {address} broke ({type(error).__name__}).",
            "Try again; if that stays so, something between the two sides cuts it.",
            found.seconds,
        )
    if trusted:
        return found
    return Reach(
        Stage.TRUST,
        f"{peer.name!r} is there and has the paired certificate, but ends the connection; "
        "it does not know this party's certificate or holds it for expired.",
        "See in `duetto doctor` whether it has ended: then run `duetto keys renew` and let "
        f"{peer.name!r} run `duetto pair` with the new file. Else pair the two parties again, both ways.",
        found.seconds,
    )


def _look(address: Address, peer: PeerIdentity, timeout: float) -> Reach:
    try:
        found = socket.getaddrinfo(address.host.strip("[]"), address.port, type=socket.SOCK_STREAM)
    except OSError:
        return Reach(
            Stage.NAME, f"{address.host} has no address.", "Correct the peer's address or the name service."
        )
    target = found[0][4]
    started = time.monotonic()
    try:
        connection = socket.create_connection((str(target[0]), address.port), timeout)
    except OSError as error:
        return Reach(
            Stage.TCP,
            f"Nothing answers at {address} ({error.strerror or type(error).__name__}).",
            f"Start the daemon of {peer.name!r}, correct its address, or open the port in the firewall. "
            "One of both daemons has to be able to dial the other.",
        )
    with connection:
        seconds = time.monotonic() - started
        return _shake_hands(connection, address, peer, seconds)


def _shake_hands(connection: socket.socket, address: Address, peer: PeerIdentity, seconds: float) -> Reach:
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
    context.check_hostname = False
    context.verify_mode = ssl.CERT_NONE
    context.minimum_version = ssl.TLSVersion.TLSv1_3
    context.set_alpn_protocols(["h2"])
    try:
        with context.wrap_socket(connection) as secured:
            shown = secured.getpeercert(binary_form=True)
    except OSError:
        return Reach(
            Stage.TLS,
            f"What answers at {address} does not speak TLS 1.3.",
            "Correct the address, or take the proxy in between out of the way.",
            seconds,
        )
    pins = certificate.pins(peer.certificates)
    digest = hashlib.sha256(shown).hexdigest() if shown else ""
    if not shown or digest not in pins:
        return Reach(
            Stage.PIN,
            f"What answers at {address} does not have the certificate that was paired for {peer.name!r}.",
            f"If {peer.name!r} has a new certificate, run `duetto pair` with its new file; "
            "else somebody intercepts the connection.",
            seconds,
        )
    now = dt.datetime.now(dt.UTC)
    if (begin := certificate.begin(shown)) > now:
        return Reach(
            Stage.DATE,
            f"The certificate of {peer.name!r} is valid from {begin:%Y-%m-%d %H:%M} UTC on, and by this "
            f"machine's clock it is {now:%Y-%m-%d %H:%M} UTC.",
            "Set the clock of this machine; if it is right, ask "
            f"{peer.name!r} to set its own and to run `duetto keys renew`.",
            seconds,
        )
    if pins[digest] <= now:
        return Reach(
            Stage.DATE,
            f"The certificate of {peer.name!r} has ended.",
            f"Ask {peer.name!r} to run `duetto keys renew`, and run `duetto pair` with the file that it "
            "writes.",
            seconds,
        )
    return Reach(Stage.OPEN, f"{peer.name} answers at {address} with the paired certificate.", "", seconds)

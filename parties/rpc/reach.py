"""Why a peer cannot be reached: name, connection, TLS or certificate, found out step by step."""

from __future__ import annotations

import socket
import ssl
import time
from dataclasses import dataclass
from enum import Enum

from parties.config import Address
from parties.errors import PeerUnreachable, PeerUntrusted
from parties.pki import PeerIdentity, certificate
from smc.errors import PeerError


class Stage(Enum):
    """How far a connection got; each stage but the last names the step that failed."""

    NAME = "name"
    TCP = "tcp"
    TLS = "tls"
    PIN = "pin"
    DATE = "date"
    OPEN = "open"


@dataclass(frozen=True, slots=True)
class Reach:
    """The outcome of an attempt to connect.

    Attributes:
        stage: how far it got.
        what: what happened.
        mend: what to do about it.
        seconds: time that setting up the TCP connection took.
    """

    stage: Stage
    what: str
    mend: str = ""
    seconds: float = 0.0

    def error(self) -> PeerError:
        """The error for a call that failed; an open way means that the peer refused our certificate."""
        if self.stage in (Stage.NAME, Stage.TCP, Stage.TLS):
            return PeerUnreachable(self.what, self.mend)
        if self.stage is Stage.OPEN:
            return PeerUntrusted(
                "The peer is there and has the paired certificate, but ends the connection; "
                "it does not know this party's certificate or holds it for expired.",
                "Pair the two parties again, both ways; `duetto doctor` shows the dates.",
            )
        return PeerUntrusted(self.what, self.mend)


def reach(address: Address, peer: PeerIdentity, timeout: float = 5.0) -> Reach:
    """Resolve, connect, shake hands, and compare the certificate; nothing is sent.

    The handshake is done without trust in any certificate, since the purpose is to see which one comes.
    """
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
            f"Start the daemon of {peer.name!r}, correct its address, or open the port in the firewall.",
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
    if shown is None or ssl.DER_cert_to_PEM_cert(shown).strip() != peer.certificate.decode().strip():
        return Reach(
            Stage.PIN,
            f"What answers at {address} does not have the certificate that was paired for {peer.name!r}.",
            f"If {peer.name!r} has new keys, pair again with its new file; else somebody stands in between.",
            seconds,
        )
    if certificate.days_left(peer.certificate) < 0:
        return Reach(
            Stage.DATE,
            f"The certificate of {peer.name!r} has expired.",
            f"{peer.name!r} makes new keys with `duetto init`; then pair again.",
            seconds,
        )
    return Reach(Stage.OPEN, f"{peer.name} answers at {address} with the paired certificate.", "", seconds)

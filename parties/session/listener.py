"""What listens on the port for peers: a gRPC server whose certificates never change, and its successors.

gRPC cannot change the certificates of a server safely while it shakes hands, see `parties.rpc.tls`. So where
they change, another server begins to listen on the same port, and only then the one before ends: it takes no
further connection, tells its peers to go, and lives as long as calls are under way.
"""

from __future__ import annotations

import errno
import logging
import socket
import threading
from collections.abc import Callable, Collection
from contextlib import suppress
from typing import Final

import grpc

from parties.config import Address
from parties.errors import ConfigError
from parties.pki import Identity, PeerIdentity
from parties.rpc import tls
from parties.rpc.connections import Connections

LINGER_SECONDS: Final = 86400.0
"""How long calls may go on over connections of a server that has a successor."""

log = logging.getLogger(__name__)


class Listener:
    """Listens on one port, with the certificates that are to be shown and let in now.

    Not thread-safe: its owner changes one thing at a time.

    Args:
        address: where to listen; port 0 lets the system choose.
        make: makes a server with all its services, which listens nowhere yet.
        connections: bounds the connections of the port.
        own: this party with the certificate to show.
        peers: who is let in.

    Raises:
        ConfigError: the address cannot be listened on.
    """

    def __init__(
        self,
        address: Address,
        make: Callable[[], grpc.Server],
        connections: Connections,
        own: Identity,
        peers: Collection[PeerIdentity],
    ) -> None:
        self._make = make
        self._connections = connections
        self._shows = _certificates(own, peers)
        self._retired: list[tuple[grpc.Server, threading.Event]] = []
        self.address = address
        self._require_free()
        self._server, bound = self._bind(own)
        self.address = Address(address.host, bound)

    def start(self) -> None:
        """Begin to serve."""
        self._server.start()
        self._connections.start(self.address.port)

    def show(self, own: Identity, peers: Collection[PeerIdentity], *, cut: bool = False) -> bool:
        """Show this certificate and let in these peers from now on.

        Args:
            own: this party with the certificate to show.
            peers: who is let in.
            cut: whether to end the calls of all connections that exist.

        Returns:
            Whether another server listens now.

        Raises:
            ConfigError: the port cannot be listened on any more.
        """
        self._retired = [(server, over) for server, over in self._retired if not over.is_set()]
        shows = _certificates(own, peers)
        if shows == self._shows:
            return False
        before, earlier = self._server, self._shows
        self._shows = shows
        try:
            self._server, _ = self._bind(own)
        except ConfigError:
            self._shows = earlier
            raise
        self._server.start()
        self._retired.append((before, before.stop(LINGER_SECONDS)))
        log.info("the port for peers has other certificates; connections over the earlier ones end")
        if cut:
            for server, _ in self._retired:
                server.stop(0)
        return True

    def stop(self, grace: float) -> None:
        """Let running calls end within `grace` seconds, then cut them off."""
        self._connections.stop()
        ends = [server.stop(grace) for server in (self._server, *(server for server, _ in self._retired))]
        for end in ends:
            end.wait()

    def _bind(self, own: Identity) -> tuple[grpc.Server, int]:
        server = self._make()
        credentials = tls.server_credentials(own, self._shows[-1], self._connections.wake)
        with suppress(RuntimeError):
            if bound := server.add_secure_port(str(self.address), credentials):
                return server, bound
        raise self._port_taken()

    def _require_free(self) -> None:
        """Refuse a port that another program listens on: those that both allow it could share a port."""
        if not self.address.port:
            return
        with suppress(socket.gaierror):
            for family, kind, protocol, _, where in socket.getaddrinfo(
                self.address.host.strip("[]"), self.address.port, type=socket.SOCK_STREAM
            ):
                try:
                    with socket.socket(family, kind, protocol) as plain:
                        plain.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
                        plain.bind(where)
                except OSError as problem:
                    if problem.errno == errno.EADDRINUSE:
                        raise self._port_taken() from None

    def _port_taken(self) -> ConfigError:
        return ConfigError(
            f"{self.address} cannot be listened on.",
            "Choose another address in [listen], or end what uses it.",
        )


def _certificates(own: Identity, peers: Collection[PeerIdentity]) -> tuple[bytes, bytes, bytes]:
    """What a server shows and whom it lets in; without peers nobody but this party."""
    roots = b"\n".join(sorted(peer.certificates.strip() for peer in peers)) or own.certificate
    return own.certificate, own.tls_key, roots

"""TLS between paired parties: both show their certificate, each trusts exactly the other's.

Why no TLS 1.2 handshake succeeds: see `parties.rpc.process`, which sets gRPC's cipher suites.
`speaks_old_tls` asks a port, so that a daemon can refuse to serve where the setting had no effect.
"""

from __future__ import annotations

import hashlib
import os
import resource
import socket
import ssl
from collections.abc import Callable, Mapping, Sequence
from contextlib import closing, suppress
from typing import Final, cast

import grpc

from parties.config import Address, Keepalive
from parties.pki import Identity, PeerIdentity, certificate
from parties.rpc import process
from smc.channel.message import FRAME_BYTES

MESSAGE_LIMIT = 2 * FRAME_BYTES
"""The largest gRPC message, in bytes, that either side takes."""

HANDSHAKE_MS = 5_000
"""How long a stranger may hold a connection before TLS has let it in."""

IDLE_MS = 300_000
"""How long a connection of a peer may be without a call; the peer's next call makes another."""

MOST_CONNECTIONS: Final = 2048
"""Connections of the port at once, where files suffice: of peers, and of strangers until they are counted."""

_SERVER_PERMITS_MS = 1000
_MIN_BACKOFF_MS = 500
_MAX_BACKOFF_MS = 2000
_CONNECT_MS = 10_000
_STREAMS = 64
_WINDOW_BYTES = 8 << 20
HYBRID_GROUP: Final = "X25519MLKEM768"
"""The key exchange that whoever breaks elliptic curves later cannot open in recorded traffic."""

_GROUP: Final = "ssl_negotiated_key_exchange_group"
_HANDSHAKE: Final = b"\x16"
"""The first byte of an answer that goes on; an alert begins with another."""


def server_credentials(own: Identity, roots: bytes, shaking: Callable[[], None]) -> grpc.ServerCredentials:
    """Credentials of a server that lets in the given peers only, each by its own certificate.

    They never change: gRPC frees the old ones while handshakes that began at the same moment take them up
    (grpc/grpc#36693), so another certificate wants another server. The fetcher, which would bring new ones,
    only hears that a connection has come.

    Args:
        own: this party with the certificate to show.
        roots: the certificates of the peers, PEM; at least one.
        shaking: is called as a handshake begins, by a thread of gRPC; must not block or raise.

    Raises:
        ConfigError: this process was not set up for TLS 1.3 only.
    """
    process.check()

    def unchanged() -> grpc.ServerCertificateConfiguration:
        shaking()
        return None  # type: ignore[return-value]  # "as before"; the stubs do not know it

    first = grpc.ssl_server_certificate_configuration([(own.tls_key, own.certificate)], roots)
    return grpc.dynamic_ssl_server_credentials(first, unchanged, require_client_authentication=True)


def dial(identity: Identity, peer: PeerIdentity, address: Address, keepalive: Keepalive) -> grpc.Channel:
    """A channel to a peer that trusts the peer's certificates only; it connects when first used.

    It shows the certificate of `identity`, whatever follows it.

    Raises:
        ConfigError: this process was not set up for TLS 1.3 only.
    """
    process.check()
    credentials = grpc.ssl_channel_credentials(peer.certificates, identity.tls_key, identity.certificate)
    options = (
        *_shared_options(keepalive),
        ("grpc.ssl_target_name_override", certificate.host_name(peer.name)),
        # After a failed attempt gRPC fails all calls until its back-off is over; a peer that was restarted
        # is not to be held for absent much longer than it was.
        ("grpc.initial_reconnect_backoff_ms", _MIN_BACKOFF_MS),
        ("grpc.max_reconnect_backoff_ms", _MAX_BACKOFF_MS),
        ("grpc.min_reconnect_backoff_ms", _CONNECT_MS),
    )
    return grpc.secure_channel(str(address), credentials, options)


def server_options(keepalive: Keepalive) -> tuple[tuple[str, int | str], ...]:
    """Options of the server: sizes, streams, keepalive.

    Pings of the client are permitted from one a second on, below the least keepalive that a configuration
    can have; so no two configurations quarrel about too many pings.
    """
    return (
        *_shared_options(keepalive),
        ("grpc.max_concurrent_streams", _STREAMS),
        ("grpc.http2.min_ping_interval_without_data_ms", _SERVER_PERMITS_MS),
        ("grpc.http2.min_recv_ping_interval_without_data_ms", _SERVER_PERMITS_MS),
        # The next server listens before the last one ends, see `parties.session.listener`.
        ("grpc.so_reuseport", 1),
        ("grpc.server_handshake_timeout_ms", HANDSHAKE_MS),
        ("grpc.max_connection_idle_ms", IDLE_MS),
        # Beyond, gRPC closes what comes before it shakes hands, faster than `connections` can count.
        ("grpc.max_allowed_incoming_connections", most_connections()),
    )


def most_connections() -> int:
    """Connections that one server of the port has at most: half of the files are left for all else."""
    files, _ = resource.getrlimit(resource.RLIMIT_NOFILE)
    return MOST_CONNECTIONS if files == resource.RLIM_INFINITY else min(MOST_CONNECTIONS, files // 2)


def key_exchange_of(context: grpc.ServicerContext) -> str:
    """The group by which the connection of a call agreed on its keys; empty if gRPC does not say."""
    found = cast(Mapping[str, Sequence[bytes]], context.auth_context()).get(_GROUP, ())
    return b"".join(found).decode("ascii", "replace")


def pin_of(context: grpc.ServicerContext) -> str:
    """The SHA-256, hexadecimal, of the certificate that the caller showed; empty if it showed none."""
    shown = cast(Mapping[str, Sequence[bytes]], context.auth_context())
    pem = next(iter(shown.get("x509_pem_cert", ())), b"")
    try:
        return hashlib.sha256(ssl.PEM_cert_to_DER_cert(pem.decode("ascii"))).hexdigest()
    except ValueError:
        return ""


def is_trusted(address: Address, identity: Identity, timeout: float) -> bool:
    """Whether the server at `address` goes on after a handshake with this party's certificate.

    In TLS 1.3 the handshake is over for the client before the server has judged the client's certificate;
    what the server does next tells: HTTP/2 begins with a frame of settings, a refusal with the end.

    Raises:
        OSError: the connection broke, or nothing came in time.
    """
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
    context.check_hostname = False
    context.verify_mode = ssl.CERT_NONE
    context.minimum_version = ssl.TLSVersion.TLSv1_3
    context.set_alpn_protocols(["h2"])
    # Python takes keys from files only; this one is in memory.
    with open(os.memfd_create("duetto-tls"), "w+b") as file:
        file.write(identity.tls_key.strip() + b"\n" + identity.certificate)
        file.flush()
        context.load_cert_chain(f"/proc/self/fd/{file.fileno()}")
    plain = socket.create_connection((address.host.strip("[]"), address.port), timeout)
    with closing(plain), context.wrap_socket(plain) as secured:
        try:
            return secured.recv(1) != b""
        except ssl.SSLError:
            return False


def speaks_old_tls(address: Address, timeout: float = 10.0) -> bool:
    """Whether a server answers a greeting of TLS 1.2 with one of its own, whatever it asks for later."""
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
    context.check_hostname = False
    context.verify_mode = ssl.CERT_NONE
    context.maximum_version = ssl.TLSVersion.TLSv1_2
    context.set_alpn_protocols(["h2"])
    greeting = ssl.MemoryBIO()
    with suppress(ssl.SSLWantReadError):
        context.wrap_bio(ssl.MemoryBIO(), greeting).do_handshake()
    with socket.create_connection((address.host.strip("[]"), address.port), timeout) as plain:
        try:
            plain.sendall(greeting.read())
            return plain.recv(1) == _HANDSHAKE
        except OSError:
            return False


def _shared_options(keepalive: Keepalive) -> tuple[tuple[str, int | str], ...]:
    return (
        ("grpc.max_send_message_length", MESSAGE_LIMIT),
        ("grpc.max_receive_message_length", MESSAGE_LIMIT),
        ("grpc.max_metadata_size", 8192),
        ("grpc.absolute_max_metadata_size", 8192),
        ("grpc.default_compression_algorithm", 0),
        ("grpc.enable_http_proxy", 0),
        ("grpc.enable_retries", 0),
        ("grpc.keepalive_time_ms", 1000 * keepalive.seconds),
        ("grpc.keepalive_timeout_ms", 1000 * keepalive.timeout_seconds),
        ("grpc.http2.ping_timeout_ms", 1000 * keepalive.timeout_seconds),
        ("grpc.keepalive_permit_without_calls", 0),
        ("grpc.http2.max_pings_without_data", 0),
        # A fixed window in place of one that is probed with pings: these would be timed like keepalive.
        ("grpc.http2.bdp_probe", 0),
        ("grpc.http2.lookahead_bytes", _WINDOW_BYTES),
    )

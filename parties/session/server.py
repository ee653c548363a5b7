"""The port for peers: TLS with client certificates, the service `duetto.v1.Peer`, and the health service."""

from __future__ import annotations

import datetime as dt
import functools
import logging
import threading
from collections.abc import Callable, Iterator, Mapping
from concurrent.futures import ThreadPoolExecutor
from typing import Final

import grpc
from grpc_health.v1 import health, health_pb2, health_pb2_grpc
from typing_extensions import override

from parties.config import Address, Keepalive
from parties.errors import ConfigError
from parties.pki import Identity, PeerIdentity, certificate
from parties.pki.offers import Renewals
from parties.ports.interfaces import MESSAGE_LIMIT, JobPort
from parties.ports.terms import Terms
from parties.rpc import tls
from parties.rpc.client import PROBE_BLOB, PROBE_BYTES
from parties.rpc.codec import Packet, ServedRun
from parties.rpc.connections import Connections
from parties.rpc.greeting import check_greeting, make_greeting
from parties.rpc.pb.duetto.v1 import peer_pb2 as pb
from parties.rpc.pb.duetto.v1 import peer_pb2_grpc
from parties.rpc.refusal import code_of, refuse
from parties.session.listener import Listener
from parties.session.pins import Pins
from parties.session.runner import SessionRunner
from smc.errors import DuettoError, ProtocolViolation

SERVICE: Final = "duetto.v1.Peer"

_CALLS = 8
"""Calls of one peer at once besides its sessions."""

_PEERS = 16
"""For so many peers there are threads at least, since peers can be paired while the daemon runs."""

_SPARE_THREADS = 8
"""Threads in which calls beyond a peer's share are refused."""

_QUEUE = 1024
"""Calls that may wait for a thread; beyond, gRPC refuses calls of whomever."""

_PROBES = 2

log = logging.getLogger(__name__)


class PeerService(peer_pb2_grpc.PeerServicer):
    """What peers may call.

    Args:
        identity: this party's keys.
        pins: says who calls.
        runner: runs sessions.
        port: the jobs.
        terms: the local versions and parameters.
        renewals: of certificates, announced and heard with greetings.
    """

    def __init__(
        self,
        identity: Identity,
        pins: Pins,
        runner: SessionRunner,
        port: JobPort,
        terms: Terms,
        renewals: Renewals | None = None,
    ) -> None:
        self._renewals = renewals or Renewals()
        self._identity = identity
        self._pins = pins
        self._runner = runner
        self._port = port
        self._terms = terms
        self._probes = threading.BoundedSemaphore(_PROBES)

    @override
    def Hello(self, request: pb.Greeting, context: grpc.ServicerContext) -> pb.Greeting:
        """Answer a greeting; a mismatch of versions is for the caller to judge and for the log."""
        peer = self._pins.name(context)
        try:
            theirs = check_greeting(request, peer)
        except Exception as error:
            refuse(context, code_of(error, f"Greeting of {peer}"))
        try:
            self._terms.agree(theirs)
        except DuettoError as error:
            log.warning("greeting of %s: %s", peer, error)
        self._renewals.hear(peer, request.renewal)
        return make_greeting(self._identity, self._terms, self._renewals.own, tls.key_exchange_of(context))

    @override
    def Propose(self, request: pb.JobMessage, context: grpc.ServicerContext) -> pb.JobMessage:
        """Hand a proposal to the jobs."""
        return self._job_call(self._port.propose, request, context)

    @override
    def Tell(self, request: pb.JobMessage, context: grpc.ServicerContext) -> pb.JobMessage:
        """Hand the peer's word about a job to the jobs."""
        return self._job_call(self._port.tell, request, context)

    @override
    def Run(self, request_iterator: Iterator[Packet], context: grpc.ServicerContext) -> Iterator[bytes]:
        """Run a session in a thread of its own; this thread only sends."""
        peer = self._pins.name(context)
        stream = self._runner.stream(peer)

        def serve() -> None:
            self._runner.serve(stream, functools.partial(self._port.accept_session, peer))

        call = stream.call
        ending = threading.Timer(min(self._pins.seconds_left(context), threading.TIMEOUT_MAX), context.cancel)
        ending.daemon = True

        def over() -> None:
            ending.cancel()
            call.abandon()

        if context.add_callback(over):
            ending.start()
        else:
            call.abandon()
        call.start(request_iterator, context.cancel)
        threading.Thread(target=serve, name=f"session-{peer}", daemon=True).start()
        return call.outgoing()

    @override
    def Probe(self, request_iterator: Iterator[pb.Blob], context: grpc.ServicerContext) -> Iterator[pb.Blob]:
        """Answer each blob with one of the size that it wants."""
        peer = self._pins.name(context)
        if not self._probes.acquire(blocking=False):
            refuse(context, "busy")
        moved = 0
        try:
            for number, blob in enumerate(request_iterator):
                moved += max(len(blob.data), blob.want)
                if (
                    blob.sequence != number
                    or max(len(blob.data), blob.want) > PROBE_BLOB
                    or moved > PROBE_BYTES
                ):
                    log.warning("probe of %s is over its limits", peer)
                    refuse(context, ProtocolViolation.code)
                yield pb.Blob(sequence=number, data=bytes(blob.want))
        finally:
            self._probes.release()

    def _job_call(
        self, call: Callable[[str, bytes], bytes], request: pb.JobMessage, context: grpc.ServicerContext
    ) -> pb.JobMessage:
        peer = self._pins.name(context)
        try:
            if len(request.body) > MESSAGE_LIMIT:
                raise ProtocolViolation(f"A message of {len(request.body)} bytes is longer than the limit.")
            return pb.JobMessage(body=call(peer, request.body))
        except Exception as error:
            refuse(context, code_of(error, f"{call.__name__} of {peer}"))


class PeerServer:
    """The server on the port for peers.

    Args:
        address: where it listens; port 0 lets the system choose.
        identity: this party's keys.
        peers: the paired parties by name.
        keepalive: how the loss of a peer is noticed.
        sessions: sessions that may run at once; with the number of peers it sets the number of threads.
        runner: runs sessions.
        port: the jobs.
        terms: the local versions and parameters.
        clock: says what time it is.
        renewals: of certificates, announced and heard with greetings.

    Raises:
        ConfigError: the address cannot be listened on.
    """

    def __init__(
        self,
        address: Address,
        identity: Identity,
        peers: Mapping[str, PeerIdentity],
        *,
        keepalive: Keepalive,
        sessions: int,
        runner: SessionRunner,
        port: JobPort,
        terms: Terms,
        clock: Callable[[], dt.datetime] = lambda: dt.datetime.now(dt.UTC),
        renewals: Renewals | None = None,
    ) -> None:
        calls = sessions + _CALLS
        self._identity, self._clock = identity, clock
        connections = Connections()
        self._pins = Pins(peers, calls, clock, connections)
        threads = max(len(peers), _PEERS) * calls + _SPARE_THREADS
        pool = ThreadPoolExecutor(threads, thread_name_prefix="peer")
        service = PeerService(identity, self._pins, runner, port, terms, renewals)
        self._health = health.HealthServicer()

        def make() -> grpc.Server:
            server = grpc.server(
                pool,
                interceptors=[self._pins, ServedRun()],
                options=tls.server_options(keepalive),
                maximum_concurrent_rpcs=threads + _QUEUE,
            )
            peer_pb2_grpc.add_PeerServicer_to_server(service, server)  # type: ignore[no-untyped-call]
            health_pb2_grpc.add_HealthServicer_to_server(self._health, server)
            return server

        self._changing = threading.Lock()
        self._listener = Listener(address, make, connections, self._shown(), self._pins.peers)
        self.address = self._listener.address

    def start(self) -> None:
        """Begin to serve.

        Raises:
            ConfigError: the port takes part in handshakes older than TLS 1.3.
        """
        self._listener.start()
        if tls.speaks_old_tls(_reachable(self.address)):
            self._listener.stop(0)
            raise ConfigError(
                "The port speaks TLS older than 1.3; gRPC was imported before its cipher suites were set.",
                "Start the daemon with `duetto party start`, in a process of its own.",
            )
        self._tell(health_pb2.HealthCheckResponse.SERVING)

    def set_identity(self, identity: Identity) -> None:
        """Show the certificates of this identity from now on; its other keys are as before.

        Where the certificate that was shown is given up before its end, all connections are cut: somebody
        else may have its key.
        """
        with self._changing:
            shown = self._shown().certificate
            self._identity = identity
            is_given_up = shown not in identity.certificates and certificate.ends(shown) > self._clock()
            self._listener.show(self._shown(), self._pins.peers, cut=is_given_up)

    def set_peers(self, peers: Mapping[str, PeerIdentity]) -> None:
        """Let these peers in from now on, and no others.

        Calls that are under way go on, but for those over certificates that are pinned no more.
        """
        with self._changing:
            self._pins.set_peers(peers)
            self._listener.show(self._shown(), self._pins.peers)

    def follow_dates(self) -> None:
        """Show the certificate that is to be shown now."""
        with self._changing:
            self._listener.show(self._shown(), self._pins.peers)

    def _shown(self) -> Identity:
        return self._identity.in_use(self._clock())

    def drain(self) -> None:
        """Tell the health service that no new work is taken."""
        self._tell(health_pb2.HealthCheckResponse.NOT_SERVING)

    def stop(self, grace: float) -> None:
        """Let running calls end within `grace` seconds, then cut them off."""
        self._listener.stop(grace)

    def _tell(self, status: int) -> None:
        for service in ("", SERVICE):
            self._health.set(service, status)


def _reachable(address: Address) -> Address:
    loopback = {"0.0.0.0": "127.0.0.1", "[::]": "[::1]"}  # noqa: S104 - names what was configured
    return Address(loopback.get(address.host, address.host), address.port)

"""The port for peers: TLS with client certificates, the service `duetto.v1.Peer`, and the health service."""

from __future__ import annotations

import datetime as dt
import functools
import logging
import threading
from collections.abc import Callable, Collection, Iterator, Mapping
from concurrent.futures import ThreadPoolExecutor
from typing import Any, Final

import grpc
from grpc_health.v1 import health, health_pb2, health_pb2_grpc

from parties.config import Address, Keepalive
from parties.errors import ConfigError, PeerBusy
from parties.pki import Identity, PeerIdentity, certificate
from parties.pki.offers import Renewals
from parties.ports.interfaces import MESSAGE_LIMIT, JobPort
from parties.ports.terms import Terms
from parties.rpc import tls
from parties.rpc.client import PROBE_BLOB, PROBE_BYTES
from parties.rpc.codec import Packet, ServedRun
from parties.rpc.greeting import check_greeting, make_greeting
from parties.rpc.pb.duetto.v1 import peer_pb2 as pb
from parties.rpc.pb.duetto.v1 import peer_pb2_grpc
from parties.rpc.refusal import code_of, refuse
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
_KINDS = ("unary_unary", "unary_stream", "stream_unary", "stream_stream")

log = logging.getLogger(__name__)


class Pins(grpc.ServerInterceptor):  # type: ignore[type-arg]
    """Lets a call through only if its certificate is pinned for a peer, whatever the service.

    TLS has already demanded a certificate of one of the peers; this is the second, independent look, and it
    says which peer calls. A peer has so many calls at once and no more, so that none holds all threads.

    Args:
        peers: the paired parties by name.
        calls: calls that one peer may have running at once.
        clock: says what time it is.
    """

    def __init__(
        self,
        peers: Mapping[str, PeerIdentity],
        calls: int,
        clock: Callable[[], dt.datetime] = lambda: dt.datetime.now(dt.UTC),
    ) -> None:
        self._calls = calls
        self._clock = clock
        self._rooms: Mapping[str, threading.BoundedSemaphore] = {}
        self.set_peers(peers)

    @property
    def peers(self) -> Collection[PeerIdentity]:
        """The peers that are let in now."""
        return self._peers.values()

    def set_peers(self, peers: Mapping[str, PeerIdentity]) -> None:
        """Let these peers in from now on, and no others."""
        rooms = {name: self._rooms.get(name) or threading.BoundedSemaphore(self._calls) for name in peers}
        self._rooms = {**self._rooms, **rooms}  # a call of a peer that is gone gives its room back
        self._peers = dict(peers)
        self._names = {
            pin: (name, end)
            for name, peer in peers.items()
            for pin, end in certificate.pins(peer.certificates).items()
        }

    def name(self, context: grpc.ServicerContext) -> str:
        """The name of the calling peer; ends the call if its certificate is not pinned or has ended.

        TLS looks at the date when a connection is made; this looks at each call, since connections last.
        """
        name, end = self._names.get(tls.pin_of(context), ("", None))
        if end is None:
            log.warning("a caller with an unknown certificate was refused")
            refuse(context, "peer-untrusted")
        if end <= self._clock():
            log.warning("a call of %s was refused: the certificate of its connection has ended", name)
            refuse(context, "peer-untrusted")
        return name

    def seconds_left(self, context: grpc.ServicerContext) -> float:
        """For how long the certificate of a caller that was let in is valid yet."""
        _, end = self._names[tls.pin_of(context)]
        return max((end - self._clock()).total_seconds(), 0.0)

    def intercept_service(
        self,
        continuation: Callable[[grpc.HandlerCallDetails], grpc.RpcMethodHandler[Any, Any] | None],
        handler_call_details: grpc.HandlerCallDetails,
    ) -> grpc.RpcMethodHandler[Any, Any] | None:
        """Put the check before the handler."""
        handler: Any = continuation(handler_call_details)
        if handler is None:
            return None
        kind = next(kind for kind in _KINDS if getattr(handler, kind))
        make = getattr(grpc, f"{kind}_rpc_method_handler")
        checked: grpc.RpcMethodHandler[Any, Any] = make(
            self._checked(getattr(handler, kind)), handler.request_deserializer, handler.response_serializer
        )
        return checked

    def _checked(self, behaviour: Callable[..., Any]) -> Callable[..., Any]:
        @functools.wraps(behaviour)
        def first_look(request: Any, context: grpc.ServicerContext, *rest: Any) -> Any:
            room = self._rooms[self.name(context)]
            if not room.acquire(blocking=False):
                refuse(context, PeerBusy.code)
            if not context.add_callback(room.release):  # the call is over already
                room.release()
            return behaviour(request, context, *rest)

        return first_look


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

    def Hello(self, request: pb.Greeting, context: grpc.ServicerContext) -> pb.Greeting:  # noqa: N802
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
        return make_greeting(self._identity, self._terms, self._renewals.own)

    def Propose(self, request: pb.JobMessage, context: grpc.ServicerContext) -> pb.JobMessage:  # noqa: N802
        """Hand a proposal to the jobs."""
        return self._job_call(self._port.propose, request, context)

    def Tell(self, request: pb.JobMessage, context: grpc.ServicerContext) -> pb.JobMessage:  # noqa: N802
        """Hand the peer's word about a job to the jobs."""
        return self._job_call(self._port.tell, request, context)

    def Run(  # noqa: N802
        self, request_iterator: Iterator[Packet], context: grpc.ServicerContext
    ) -> Iterator[bytes]:
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

    def Probe(  # noqa: N802
        self, request_iterator: Iterator[pb.Blob], context: grpc.ServicerContext
    ) -> Iterator[pb.Blob]:
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
        self._identity = identity
        self._pins = Pins(peers, calls, clock)
        threads = max(len(peers), _PEERS) * calls + _SPARE_THREADS
        self._server = grpc.server(
            ThreadPoolExecutor(threads, thread_name_prefix="peer"),
            interceptors=[self._pins, ServedRun()],
            options=tls.server_options(keepalive),
            maximum_concurrent_rpcs=threads + _QUEUE,
        )
        peer_pb2_grpc.add_PeerServicer_to_server(  # type: ignore[no-untyped-call]
            PeerService(identity, self._pins, runner, port, terms, renewals), self._server
        )
        self._health = health.HealthServicer()
        health_pb2_grpc.add_HealthServicer_to_server(self._health, self._server)
        credentials = tls.server_credentials(lambda: self._identity.in_use(clock()), lambda: self._pins.peers)
        try:
            bound = self._server.add_secure_port(str(address), credentials)
        except RuntimeError:
            bound = 0
        if not bound:
            raise ConfigError(
                f"{address} cannot be listened on.",
                "Choose another address in [listen], or end what uses it.",
            )
        self.address = Address(address.host, bound)

    def start(self) -> None:
        """Begin to serve.

        Raises:
            ConfigError: the port takes part in handshakes older than TLS 1.3.
        """
        self._server.start()
        if tls.speaks_old_tls(_reachable(self.address)):
            self._server.stop(None)
            raise ConfigError(
                "The port speaks TLS older than 1.3; gRPC was imported before its cipher suites were set.",
                "Start the daemon with `duetto party start`, in a process of its own.",
            )
        self._tell(health_pb2.HealthCheckResponse.SERVING)

    def set_identity(self, identity: Identity) -> None:
        """Show the certificates of this identity from now on; its other keys are as before."""
        self._identity = identity

    def set_peers(self, peers: Mapping[str, PeerIdentity]) -> None:
        """Let these peers in from now on, and no others; calls that are under way go on."""
        self._pins.set_peers(peers)

    def drain(self) -> None:
        """Tell the health service that no new work is taken."""
        self._tell(health_pb2.HealthCheckResponse.NOT_SERVING)

    def stop(self, grace: float) -> None:
        """Let running calls end within `grace` seconds, then cut them off."""
        self._server.stop(grace).wait()

    def _tell(self, status: int) -> None:
        for service in ("", SERVICE):
            self._health.set(service, status)


def _reachable(address: Address) -> Address:
    loopback = {"0.0.0.0": "127.0.0.1", "[::]": "[::1]"}  # noqa: S104 - names what was configured
    return Address(loopback.get(address.host, address.host), address.port)

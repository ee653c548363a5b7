"""The port for peers: TLS with client certificates, the service `duetto.v1.Peer`, and the health service."""

from __future__ import annotations

import datetime as dt
import functools
import logging
import threading
from collections.abc import Callable, Iterator, Mapping
from concurrent.futures import ThreadPoolExecutor
from typing import Final, TypeVar

import grpc
from grpc_health.v1 import health, health_pb2, health_pb2_grpc
from typing_extensions import override

from parties.config import Address, Keepalive
from parties.errors import ConfigError
from parties.pki import Identity, PeerIdentity, certificate
from parties.pki.offers import Renewals
from parties.ports.interfaces import JobPort
from parties.ports.terms import Terms
from parties.rpc import tls
from parties.rpc.client import PROBE_BLOB, PROBE_BYTES
from parties.rpc.codec import Packet, ServedRun
from parties.rpc.connections import Connections
from parties.rpc.pb.duetto.v1 import peer_pb2 as pb
from parties.rpc.pb.duetto.v1 import peer_pb2_grpc, reverse_pb2, reverse_pb2_grpc
from parties.rpc.refusal import code_of, refuse
from parties.rpc.stream import PacketStream
from parties.session.answering import Answering
from parties.session.links import Links
from parties.session.listener import Listener
from parties.session.pins import Pins
from parties.session.runner import SessionRunner
from smc.errors import ProtocolViolation

T = TypeVar("T")

SERVICE: Final = "duetto.v1.Peer"

_CALLS = 10
"""Calls of one peer at once besides its sessions; two of them for its link and the one that follows it."""

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
        pins: says who calls.
        runner: runs sessions.
        answering: answers what needs no stream.
    """

    def __init__(self, pins: Pins, runner: SessionRunner, answering: Answering) -> None:
        self._pins = pins
        self._runner = runner
        self._answering = answering
        self._probes = threading.BoundedSemaphore(_PROBES)

    @override
    def Hello(self, request: pb.Greeting, context: grpc.ServicerContext) -> pb.Greeting:
        """Answer a greeting; a mismatch of versions is for the caller to judge and for the log."""
        group = tls.key_exchange_of(context)
        return self._answer(lambda peer: self._answering.hello(peer, request, group), "Greeting", context)

    @override
    def Propose(self, request: pb.JobMessage, context: grpc.ServicerContext) -> pb.JobMessage:
        """Hand a proposal to the jobs."""
        return self._answer(lambda peer: self._answering.propose(peer, request), "Propose", context)

    @override
    def Tell(self, request: pb.JobMessage, context: grpc.ServicerContext) -> pb.JobMessage:
        """Hand the peer's word about a job to the jobs."""
        return self._answer(lambda peer: self._answering.tell(peer, request), "Tell", context)

    @override
    def Run(self, request_iterator: Iterator[Packet], context: grpc.ServicerContext) -> Iterator[bytes]:
        """Run a session in a thread of its own; this thread only sends."""
        peer = self._pins.name(context)
        stream = self._runner.stream(peer)

        def serve() -> None:
            self._runner.serve(stream, functools.partial(self._answering.port.accept_session, peer))

        found = start_call(stream, request_iterator, context, self._pins)
        threading.Thread(target=serve, name=f"session-{peer}", daemon=True).start()
        return found

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
                    log.warning("probe of %(peer)s is over its limits", {"peer": peer})
                    refuse(context, ProtocolViolation.code)
                yield pb.Blob(sequence=number, data=bytes(blob.want))
        finally:
            self._probes.release()

    def _answer(self, answer: Callable[[str], T], doing: str, context: grpc.ServicerContext) -> T:
        peer = self._pins.name(context)
        try:
            return answer(peer)
        except Exception as error:
            refuse(context, code_of(error, f"{doing} of {peer}", peer=peer))


class ReverseService(reverse_pb2_grpc.ReverseServicer):
    """What peers may call so that this party can call them: see `parties.session.links`.

    Args:
        pins: says who calls.
        links: the links of peers.
    """

    def __init__(self, pins: Pins, links: Links) -> None:
        self._pins = pins
        self._links = links

    @override
    def Link(
        self, request_iterator: Iterator[reverse_pb2.ReverseAnswer], context: grpc.ServicerContext
    ) -> Iterator[reverse_pb2.ReverseCall]:
        """Send calls of this party for as long as the peer keeps the stream open."""
        peer = self._pins.name(context)
        link = self._links.attach(peer)
        context.send_initial_metadata(())  # by this the peer sees that it got through

        def read() -> None:
            link.read(request_iterator)
            context.cancel()  # type: ignore[no-untyped-call]

        until_over(context, self._pins, lambda: self._links.detach(link))
        threading.Thread(target=read, name=f"link-{peer}", daemon=True).start()
        return iter(link.queue)

    @override
    def Run(self, request_iterator: Iterator[Packet], context: grpc.ServicerContext) -> Iterator[bytes]:
        """Give the call to the session that has waited longest for one."""
        peer = self._pins.name(context)
        stream = self._links.take(peer)
        if stream is None:
            refuse(context, "no-session")
        return start_call(stream, request_iterator, context, self._pins)


def until_over(context: grpc.ServicerContext, pins: Pins, over: Callable[[], object]) -> None:
    """End a call at the latest when the certificate of its connection ends; do something when it is over."""
    ending = threading.Timer(min(pins.seconds_left(context), threading.TIMEOUT_MAX), context.cancel)
    ending.daemon = True

    def both() -> None:
        ending.cancel()
        over()

    if context.add_callback(both):
        ending.start()
    else:
        over()


def start_call(
    stream: PacketStream, incoming: Iterator[Packet], context: grpc.ServicerContext, pins: Pins
) -> Iterator[bytes]:
    """Let a call carry the packets of a stream; returns what it sends."""
    call = stream.call
    until_over(context, pins, call.abandon)
    call.start(incoming, context.cancel)
    return call.outgoing()


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
        links: of peers that this party cannot dial; without it they are of no use.

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
        links: Links | None = None,
    ) -> None:
        calls = sessions + _CALLS
        self._identity, self._clock = identity, clock
        connections = Connections()
        self._pins = Pins(peers, calls, clock, connections)
        threads = max(len(peers), _PEERS) * calls + _SPARE_THREADS
        pool = ThreadPoolExecutor(threads, thread_name_prefix="peer")
        service = PeerService(self._pins, runner, Answering(identity, port, terms, renewals))
        self._links = links or Links()
        reverse = ReverseService(self._pins, self._links)
        self._health = health.HealthServicer()

        def make() -> grpc.Server:
            server = grpc.server(
                pool,
                interceptors=[self._pins, ServedRun()],
                options=tls.server_options(keepalive),
                maximum_concurrent_rpcs=threads + _QUEUE,
            )
            peer_pb2_grpc.add_PeerServicer_to_server(service, server)  # type: ignore[no-untyped-call]
            reverse_pb2_grpc.add_ReverseServicer_to_server(reverse, server)  # type: ignore[no-untyped-call]
            health_pb2_grpc.add_HealthServicer_to_server(self._health, server)
            return server

        self._changing = threading.Lock()
        self._listener = Listener(address, make, connections, self._shown_identity(), self._pins.peers)
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
            shown = self._shown_identity().certificate
            self._identity = identity
            is_given_up = shown not in identity.certificates and certificate.ends(shown) > self._clock()
            self._show(cut=is_given_up)

    def set_peers(self, peers: Mapping[str, PeerIdentity]) -> None:
        """Let these peers in from now on, and no others.

        Calls that are under way go on, but for those over certificates that are pinned no more.
        """
        with self._changing:
            self._pins.set_peers(peers)
            self._links.set_peers(peers)
            self._show()

    def follow_dates(self) -> None:
        """Show the certificate that is to be shown now."""
        with self._changing:
            self._show()

    def _show(self, *, cut: bool = False) -> None:
        if self._listener.show(self._shown_identity(), self._pins.peers, cut=cut):
            self._links.end()  # else they would keep the server before alive; the peers open others

    def _shown_identity(self) -> Identity:
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

"""Calls to one peer; every failure becomes an error that names its cause."""

from __future__ import annotations

import statistics
import time
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from typing import Any, Final, TypeVar

import grpc

from parties.config import Address, Keepalive
from parties.errors import PairingError, PeerUnreachable
from parties.pki import Identity, PeerIdentity
from parties.ports.interfaces import MESSAGE_LIMIT
from parties.ports.terms import Terms
from parties.rpc import tls
from parties.rpc.codec import REVERSE_RUN, dialled_run
from parties.rpc.greeting import check_greeting
from parties.rpc.pb.duetto.v1 import peer_pb2 as pb
from parties.rpc.pb.duetto.v1 import peer_pb2_grpc, reverse_pb2_grpc
from parties.rpc.pb.duetto.v1 import reverse_pb2 as reverse_pb
from parties.rpc.reach import Stage, reach
from parties.rpc.refusal import not_connected, translate
from parties.rpc.stream import PacketStream
from smc.errors import ProtocolViolation

T = TypeVar("T")

CALL_SECONDS: Final = 30.0
READY_SECONDS: Final = 8.0
"""How long a connection to a peer that answers may take; above the longest back-off of `parties.rpc.tls`."""

PROPOSAL_SECONDS: Final = 600.0
"""A proposal lets the peer read its data before it answers."""

PROBE_BLOB: Final = 256 << 10
"""The largest blob of a probe, in bytes."""

PROBE_BYTES: Final = 8 << 20
"""Bytes by which the bandwidth of each direction is measured."""


@dataclass(frozen=True, slots=True)
class Hello:
    """What a peer said of itself.

    Attributes:
        version: the wire version that both sides speak.
        release: its release, for people.
        clock_seconds: how far its clock is ahead of the local one; exact to the time of the call.
        renewal: the pairing file that it announces, not yet checked; empty if none.
        key_exchange: the group that TLS negotiated for the connection, by its word; empty if it does not say.
    """

    version: int
    release: str
    clock_seconds: float
    renewal: bytes = b""
    key_exchange: str = ""


def read_answer(answer: pb.Greeting, started: float, peer: PeerIdentity, terms: Terms) -> Hello:
    """What a peer has answered to a greeting, once it is compared with what is known of it.

    Args:
        answer: its greeting.
        started: when it was greeted, in seconds since 1970.
        peer: its public keys.
        terms: the local versions and parameters.

    Raises:
        VersionMismatch: the two sides speak no common version.
        PairingError: the peer uses another Paillier key, or another name, than was paired.
        ProtocolViolation: a field is malformed.
    """
    middle = (started + time.time()) / 2
    version = terms.agree(check_greeting(answer, peer.name))
    if answer.key.hex() != peer.paillier.fingerprint:
        raise PairingError(
            f"{peer.name} uses another Paillier key than was paired.",
            "Pair the two parties again, both ways.",
            code="keys",
        )
    return Hello(version, answer.release, answer.unix_ms / 1000 - middle, answer.renewal, answer.key_exchange)


def check_body(body: bytes, doing: str) -> None:
    """Refuse to send what the peer would not take.

    Raises:
        ProtocolViolation: the body of a job message is longer than the limit.
    """
    if len(body) > MESSAGE_LIMIT:
        raise ProtocolViolation(
            f"{doing}: a message of {len(body)} bytes is longer than the limit.",
            "Shorten the job file, or split it into several jobs.",
        )


def checked_answer(answer: pb.JobMessage, doing: str, peer: str) -> bytes:
    """The body of an answer.

    Raises:
        ProtocolViolation: it is longer than the limit.
    """
    if len(answer.body) > MESSAGE_LIMIT:
        raise ProtocolViolation(f"{doing}: the answer of {peer} is longer than the limit.")
    return answer.body


@dataclass(frozen=True, slots=True)
class Line:
    """A measured connection.

    Attributes:
        rtt_ms: median round-trip time of a small message.
        up_mbit: rate to the peer, 10**6 bits per second.
        down_mbit: rate from the peer.
    """

    rtt_ms: float
    up_mbit: float
    down_mbit: float


class PeerClient:
    """The connection to one peer; made when first used and kept. Safe for many threads.

    Args:
        identity: this party's keys, with the certificate that it shows.
        peer: the peer's public keys.
        address: where it listens.
        keepalive: how its loss is noticed.
        greet: makes this party's greeting.
        terms: the local versions and parameters.
    """

    def __init__(
        self,
        identity: Identity,
        peer: PeerIdentity,
        *,
        address: Address,
        keepalive: Keepalive,
        greet: Callable[[], pb.Greeting],
        terms: Terms,
    ) -> None:
        self.peer = peer
        self.address = address
        self._identity = identity
        self._greet = greet
        self._terms = terms
        self._channel = tls.dial(identity, peer, address, keepalive)
        self._stub: Any = peer_pb2_grpc.PeerStub(self._channel)  # type: ignore[no-untyped-call]
        self._reverse: Any = reverse_pb2_grpc.ReverseStub(self._channel)  # type: ignore[no-untyped-call]
        self._run = dialled_run(self._channel)
        self._reverse_run = dialled_run(self._channel, REVERSE_RUN)

    def hello(self) -> Hello:
        """Compare versions, parameters and keys with the peer.

        Raises:
            VersionMismatch: they speak no common version.
            PairingError: the peer uses another Paillier key than was paired.
            PeerError: of the kind that the failure has.
        """
        started = time.time()
        answer: pb.Greeting = self._call(
            "Hello", lambda: self._stub.Hello(self._greet(), timeout=CALL_SECONDS)
        )
        return read_answer(answer, started, self.peer, self._terms)

    def propose(self, contract: bytes) -> bytes:
        """Send a proposal and return the answer.

        Raises:
            PeerError: of the kind that the failure has; `PeerRefused` carries the peer's code.
        """
        return self._job_call("Propose", contract, PROPOSAL_SECONDS)

    def tell(self, standing: bytes) -> bytes:
        """Tell where a job stands and return where it stands for the peer. Raises as `propose`."""
        return self._job_call("Tell", standing, CALL_SECONDS)

    def open(self, stream: PacketStream) -> None:
        """Start a stream to the peer; that there is no connection shows when it is used."""
        self._start(stream, self._run)

    def open_reverse(self, stream: PacketStream) -> None:
        """Start a stream in which the peer takes the dialler's part, as it has asked; see `open`."""
        self._start(stream, self._reverse_run)

    def link(self, answers: Iterable[reverse_pb.ReverseAnswer]) -> Any:
        """Open the stream by which the peer calls back.

        Args:
            answers: to its calls; gRPC takes them in a thread of its own.

        Returns:
            gRPC's call, which yields `ReverseCall`.

        Raises:
            PeerUnreachable: the connection was closed.
        """
        return self._begin(lambda: self._reverse.Link(iter(answers)))

    def measure(self, pings: int = 11) -> Line:
        """Measure latency and bandwidth.

        Args:
            pings: round trips whose median is the latency.

        Raises:
            PeerError: of the kind that the failure has.
        """
        trips = [self._probe(1, 0, 0) for _ in range(pings)]
        trip = statistics.median(trips)
        count = PROBE_BYTES // PROBE_BLOB
        up = max(self._probe(count, PROBE_BLOB, 0) - trip, 1e-6)
        down = max(self._probe(count, 0, PROBE_BLOB) - trip, 1e-6)
        return Line(1000 * trip, 8e-6 * PROBE_BYTES / up, 8e-6 * PROBE_BYTES / down)

    def close(self) -> None:
        """Close the connection."""
        self._channel.close()

    def _probe(self, count: int, size: int, want: int) -> float:
        def blobs() -> Iterator[pb.Blob]:
            for number in range(count):
                yield pb.Blob(sequence=number, want=want, data=bytes(size))

        def run() -> float:
            started = time.monotonic()
            sizes = [len(blob.data) for blob in self._stub.Probe(blobs(), timeout=4 * CALL_SECONDS)]
            if sizes != [want] * count:
                raise ProtocolViolation("The peer did not answer a probe as it should.")
            return time.monotonic() - started

        return self._call("Probe", run)

    def _job_call(self, method: str, body: bytes, seconds: float) -> bytes:
        check_body(body, method)
        call = getattr(self._stub, method)
        answer: pb.JobMessage = self._call(method, lambda: call(pb.JobMessage(body=body), timeout=seconds))
        return checked_answer(answer, method, self.peer.name)

    def _start(self, stream: PacketStream, run: Callable[[Iterator[bytes]], Any]) -> None:
        call = stream.call
        dialled = self._begin(lambda: run(call.outgoing()))
        if not dialled.add_callback(call.abandon):
            call.abandon()
        call.start(dialled, dialled.cancel)

    def _begin(self, call: Callable[[], Any]) -> Any:
        """Begin a call that streams."""
        try:
            return call()
        except ValueError:  # which gRPC raises where the channel is closed: another follows, or none
            raise PeerUnreachable(
                f"The connection to {self.peer.name} was closed.", "Try again with the one that follows it."
            ) from None

    def _call(self, doing: str, call: Callable[[], T]) -> T:
        """Make a call; where there was no connection, find out why, and repeat it once if there is a way."""
        try:
            return call()
        except grpc.RpcError as error:
            failure = error
        if not not_connected(failure):
            raise translate(failure, self.peer.name, doing)
        found = reach(self.address, self.peer, self._identity)
        if found.stage is not Stage.OPEN:
            raise found.error()
        # The peer is there and trusts this party: the channel was in back-off, and fails calls untried.
        try:
            grpc.channel_ready_future(self._channel).result(timeout=READY_SECONDS)
            return call()
        except grpc.FutureTimeoutError:
            pass
        except grpc.RpcError as error:
            if not not_connected(error):
                raise translate(error, self.peer.name, doing) from None
        raise PeerUnreachable(
            f"{self.peer.name} answers at {self.address}, but no connection to it lasts.",
            f"Try again later; see what `duetto doctor --peer {self.peer.name}` finds.",
        )

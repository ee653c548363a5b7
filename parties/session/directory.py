"""The paired peers, as the jobs reach them: the implementation of `PeerPort`."""

from __future__ import annotations

import datetime as dt
import threading
from collections.abc import Callable, Mapping
from contextlib import nullcontext
from typing import Final, TypeVar

from parties.config import Config, Peer
from parties.errors import PeerUnreachable
from parties.pki import Identity, PeerIdentity, certificate
from parties.pki.home import load_peer
from parties.pki.identity import CHANGE
from parties.pki.offers import Renewals
from parties.ports.interfaces import Outage, SessionTask
from parties.ports.terms import Terms
from parties.rpc.client import PeerClient
from parties.rpc.greeting import make_greeting
from parties.rpc.pb.duetto.v1 import peer_pb2 as pb
from parties.rpc.stream import PacketStream
from parties.session.links import Link, LinkClient, Links
from parties.session.runner import SessionRunner
from smc.errors import DuettoError, PeerLost

T = TypeVar("T")

LINK_SECONDS: Final = 5.0
"""How long a peer that cannot be dialled may take to open a link again, before it is dialled all the same."""

_NEVER = dt.datetime.max.replace(tzinfo=dt.UTC)


def utc_now() -> dt.datetime:
    """The time of now."""
    return dt.datetime.now(dt.UTC)


def load_peers(config: Config) -> dict[str, PeerIdentity]:
    """The public keys of all configured peers, by name.

    Raises:
        PairingError: a pairing file is damaged or not the pinned one.
    """
    return {peer.name: load_peer(config, peer) for peer in config.peers}


class PeerDirectory:
    """One connection to each peer, made when first used. Safe for many threads.

    Args:
        config: the configuration.
        identity: this party's keys.
        peers: the peers' public keys by name.
        runner: runs sessions.
        terms: the local versions and parameters.
        clock: says what time it is.
        renewals: of certificates, announced and heard with greetings.
        links: streams of peers that this party cannot dial; without it those cannot be reached.
    """

    def __init__(
        self,
        config: Config,
        identity: Identity,
        peers: Mapping[str, PeerIdentity],
        runner: SessionRunner,
        terms: Terms | None = None,
        clock: Callable[[], dt.datetime] = utc_now,
        renewals: Renewals | None = None,
        links: Links | None = None,
    ) -> None:
        self._links = links or Links()
        self._renewals = renewals or Renewals()
        self._config = config
        self._identity = identity
        self._peers = peers
        self._runner = runner
        self._terms = terms or Terms()
        self._clock = clock
        self._lock = threading.Lock()
        self._ends: dict[str, dt.datetime] = {}
        self._ending: list[tuple[dt.datetime, PeerClient]] = []
        self._clients = {peer.name: self._connect(peer, peers[peer.name]) for peer in config.peers}

    def set_peers(self, config: Config, peers: Mapping[str, PeerIdentity]) -> None:
        """Reach these peers from now on; connections to those that stay as they were stay open.

        So do those to peers that only have a further certificate, for the sessions that are under way.
        """
        before, known, ends = (
            self._clients,
            {peer.name: peer for peer in self._config.peers},
            dict(self._ends),
        )
        kept = {name for name in before.keys() & peers.keys() if self._covers(peers[name], self._peers[name])}
        self._clients = {
            peer.name: before[peer.name]
            if known.get(peer.name) == peer and self._peers[peer.name] == peers[peer.name]
            else self._connect(peer, peers[peer.name])
            for peer in config.peers
        }
        self._config, self._peers = config, peers
        for name, client in before.items():
            if self._clients.get(name) is client:
                continue
            if name in kept:
                self._ending.append((ends[name], client))
            else:
                client.close()

    def set_identity(self, identity: Identity) -> None:
        """Show the certificates of this identity from now on; its other keys are as before.

        A connection with a certificate that is given up is closed: somebody else may have its key.
        """
        with self._lock:
            shown = self._identity.in_use(self._clock()).certificate
            self._identity = identity
            for peer in self._config.peers:
                self._renew(peer)
            if shown not in identity.certificates:
                for _, client in self._ending:
                    client.close()
                self._ending = []

    def follow_dates(self) -> None:
        """Take new connections where a certificate is about to end, and close those where one has ended.

        A session that is under way keeps its connection until then.
        """
        now = self._clock()
        with self._lock:
            for peer in self._config.peers:
                if now >= self._ends[peer.name] - CHANGE:
                    self._renew(peer)
            for end, client in self._ending:
                if now >= end:
                    client.close()
            self._ending = [(end, client) for end, client in self._ending if now < end]

    def names(self) -> tuple[str, ...]:
        """The names of the paired parties."""
        return tuple(self._clients)

    def public(self, peer: str) -> PeerIdentity:
        """The public keys of a peer.

        Raises:
            ConfigError: no such peer is paired.
        """
        return self.client(peer).peer

    def client(self, peer: str) -> PeerClient:
        """The connection to a peer.

        Raises:
            ConfigError: no such peer is paired.
        """
        self.follow_dates()
        return self._clients[self._config.peer(peer).name]

    def greet(self, peer: str) -> None:
        """Compare versions and keys with a peer, and hear what it announces. Raises as `PeerClient.hello`."""
        self._renewals.hear(peer, self._by_some_way(peer, lambda way: way.hello()).renewal)

    def propose(self, peer: str, contract: bytes) -> bytes:
        """Greet, send a proposal, and return the answer.

        Raises:
            PeerError: of the kind that the failure has; `PeerRefused` carries the peer's code.
        """
        self.greet(peer)
        return self._by_some_way(peer, lambda way: way.propose(contract))

    def tell(self, peer: str, standing: bytes) -> bytes:
        """Tell where a job stands and return where it stands for the peer. Raises as `propose`."""
        return self._by_some_way(peer, lambda way: way.tell(standing))

    def run_session(self, peer: str, task: SessionTask) -> None:
        """Greet, dial, agree, run the task in this thread and end the session in order.

        Raises:
            DuettoError: what the task raised, or what went wrong with the peer.
        """
        failure: DuettoError | None = None
        try:
            with nullcontext() if task.idle else self._runner.place(peer):
                self.greet(peer)
                self._runner.dial(peer, task, lambda stream: self._open(peer, stream))
        except DuettoError as error:
            failure = error
            raise
        finally:
            task.ended(failure)

    def cancel_session(self, job_id: str) -> bool:
        """End the running session of a job; says whether there was one."""
        return self._runner.cancel(job_id)

    def give_way(self) -> None:
        """Take note that a job comes: what is done in idle time ends."""
        self._runner.give_way()

    def outage(self, job_id: str) -> Outage | None:
        """For how long the running session of a job has had no connection; None if it has one."""
        return self._runner.outage(job_id)

    def is_reversed(self, peer: str) -> bool:
        """Whether a peer cannot be dialled, and keeps a connection open over which it is called."""
        return self._links.is_reversed(peer)

    def close(self) -> None:
        """Close all connections."""
        for client in (*self._clients.values(), *(client for _, client in self._ending)):
            client.close()

    def _by_some_way(self, peer: str, call: Callable[[PeerClient | LinkClient], T]) -> T:
        """Make a call over a connection of this party, or over one that the peer keeps open.

        What got through last comes first, and the other only where a call does not get through. It may have
        come all the same: a call that is made twice does what it does once.
        """
        direct, link = self.client(peer), self._link(peer)
        try:
            if link is None or self._links.can_dial(peer):
                return call(direct)
            return call(self._over(link, direct))
        except (PeerUnreachable, PeerLost):
            later = self._link(peer)
            if later is not None and (later is not link or self._links.can_dial(peer)):
                return call(self._over(later, direct))
            if link is None or self._links.can_dial(peer):
                raise
        return call(direct)

    def _open(self, peer: str, stream: PacketStream) -> None:
        """Give a stream its call; at each attempt anew, since connections change while a session runs."""
        link = self._link(peer)
        if link is None or self._links.can_dial(peer):
            self.client(peer).open(stream)
        else:
            self._links.open(link, stream)

    def _link(self, peer: str) -> Link | None:
        """The link of a peer; if there is none now, it is waited for a while where the peer has to dial."""
        return self._links.wait_for(peer, LINK_SECONDS)

    def _over(self, link: Link, direct: PeerClient) -> LinkClient:
        return LinkClient(link, direct.peer, self._greeting, self._terms)

    def _covers(self, after: PeerIdentity, before: PeerIdentity) -> bool:
        """Whether all certificates of a peer that are valid yet stay pinned."""
        now = self._clock()
        valid = {pin for pin, end in certificate.pins(before.certificates).items() if end > now}
        return valid <= certificate.pins(after.certificates).keys()

    def _renew(self, peer: Peer) -> None:
        self._ending.append((self._ends[peer.name], self._clients[peer.name]))
        self._clients[peer.name] = self._connect(peer, self._peers[peer.name])

    def _connect(self, peer: Peer, identity: PeerIdentity) -> PeerClient:
        now = self._clock()
        own = self._identity.in_use(now)
        # A connection is good while all certificates are that it may rest on; those that have ended are none.
        dates = (
            *certificate.pins(own.certificate).values(),
            *certificate.pins(identity.certificates).values(),
        )
        self._ends[peer.name] = min((end for end in dates if end - CHANGE > now), default=_NEVER)
        return PeerClient(
            own,
            identity,
            address=peer.address,
            keepalive=self._config.keepalive,
            greet=self._greeting,
            terms=self._terms,
        )

    def _greeting(self) -> pb.Greeting:
        return make_greeting(self._identity, self._terms, self._renewals.own)

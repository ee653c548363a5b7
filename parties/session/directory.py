"""The paired peers, as the jobs reach them: the implementation of `PeerPort`."""

from __future__ import annotations

from collections.abc import Mapping

from parties.config import Config, Peer
from parties.pki import Identity, PeerIdentity
from parties.pki.home import load_peer
from parties.ports.interfaces import Outage, SessionTask
from parties.ports.terms import Terms
from parties.rpc.client import PeerClient
from parties.rpc.greeting import make_greeting
from parties.rpc.pb.duetto.v1 import peer_pb2 as pb
from parties.session.runner import SessionRunner
from smc.errors import DuettoError


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
    """

    def __init__(
        self,
        config: Config,
        identity: Identity,
        peers: Mapping[str, PeerIdentity],
        runner: SessionRunner,
        terms: Terms | None = None,
    ) -> None:
        self._config = config
        self._identity = identity
        self._peers = peers
        self._runner = runner
        self._terms = terms or Terms()
        self._clients = {peer.name: self._connect(peer, peers[peer.name]) for peer in config.peers}

    def set_peers(self, config: Config, peers: Mapping[str, PeerIdentity]) -> None:
        """Reach these peers from now on; connections to those that stay as they were stay open."""
        before, known = self._clients, {peer.name: peer for peer in self._config.peers}
        self._clients = {
            peer.name: before[peer.name]
            if known.get(peer.name) == peer and self._peers[peer.name] == peers[peer.name]
            else self._connect(peer, peers[peer.name])
            for peer in config.peers
        }
        self._config, self._peers = config, peers
        for name, client in before.items():
            if self._clients.get(name) is not client:
                client.close()

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
        return self._clients[self._config.peer(peer).name]

    def propose(self, peer: str, contract: bytes) -> bytes:
        """Greet, send a proposal, and return the answer.

        Raises:
            PeerError: of the kind that the failure has; `PeerRefused` carries the peer's code.
        """
        self.client(peer).hello()
        return self.client(peer).propose(contract)

    def tell(self, peer: str, standing: bytes) -> bytes:
        """Tell where a job stands and return where it stands for the peer. Raises as `propose`."""
        return self.client(peer).tell(standing)

    def run_session(self, peer: str, task: SessionTask) -> None:
        """Greet, dial, agree, run the task in this thread and end the session in order.

        Raises:
            DuettoError: what the task raised, or what went wrong with the peer.
        """
        failure: DuettoError | None = None
        try:
            client = self.client(peer)
            with self._runner.place(peer):
                client.hello()
                self._runner.dial(peer, task, client.open)
        except DuettoError as error:
            failure = error
            raise
        finally:
            task.ended(failure)

    def cancel_session(self, job_id: str) -> bool:
        """End the running session of a job; says whether there was one."""
        return self._runner.cancel(job_id)

    def outage(self, job_id: str) -> Outage | None:
        """For how long the running session of a job has had no connection; None if it has one."""
        return self._runner.outage(job_id)

    def close(self) -> None:
        """Close all connections."""
        for client in self._clients.values():
            client.close()

    def _connect(self, peer: Peer, identity: PeerIdentity) -> PeerClient:
        return PeerClient(
            self._identity,
            identity,
            address=peer.address,
            keepalive=self._config.keepalive,
            greet=self._greeting,
            terms=self._terms,
        )

    def _greeting(self) -> pb.Greeting:
        return make_greeting(self._identity, self._terms)

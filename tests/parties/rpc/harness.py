"""Two parties on loopback, in one process or two, for tests of the network."""

from __future__ import annotations

import json
import subprocess
import sys
import threading
from collections.abc import Callable, Iterator, Mapping
from concurrent.futures import Executor
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from functools import cache
from pathlib import Path

from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey

from parties.config import Address, Config, Keepalive, Limits, Peer
from parties.errors import JobError
from parties.ledger.heads import Heads
from parties.pki import Identity, PeerIdentity, certificate
from parties.pki.offers import Renewals
from parties.ports.interfaces import SessionHeader, SessionTask
from parties.ports.terms import Terms
from parties.session.directory import PeerDirectory
from parties.session.links import Links
from parties.session.runner import Closing, SessionRunner, Wrap
from parties.session.server import PeerServer
from smc.errors import DuettoError
from smc.forms import Role
from smc.protocols.session import Session
from tests.support import keys

REPOSITORY = Path(__file__).parents[3]
JOB = "0123456789abcdef"
DIGEST = bytes(range(32))
QUICK = Limits(sessions=2, message_seconds=5, job_seconds=30, reconnect_seconds=0)


@cache
def identity(name: str, role: Role) -> Identity:
    """An identity with a real key of 2048 bits."""
    pem, tls_key = certificate.make(name)
    return Identity(name, pem, tls_key, Ed25519PrivateKey.generate(), keys.real(role))


def public(own: Identity) -> PeerIdentity:
    """What its peer knows of it."""
    return PeerIdentity(own.name, own.signing.public_key(), own.paillier.public, own.certificate)


NORTH = identity("north", Role.ALICE)
SOUTH = identity("south", Role.BOB)


@dataclass
class Jobs:
    """A `JobPort` that answers from what a test put into it."""

    tasks: dict[str, SessionTask] = field(default_factory=dict)
    headers: list[SessionHeader] = field(default_factory=list)
    answer: Callable[[str, bytes], bytes] = lambda peer, body: peer.encode() + b":" + body

    def propose(self, peer: str, contract: bytes) -> bytes:
        return self.answer(peer, contract)

    def tell(self, peer: str, standing: bytes) -> bytes:
        return self.answer(peer, standing)

    def accept_session(self, peer: str, header: SessionHeader) -> SessionTask:
        self.headers.append(header)
        if header.job_id not in self.tasks:
            raise JobError("There is no such job.", code="no-job")
        return self.tasks[header.job_id]

    def stop(self) -> None:
        return


@dataclass
class Party:
    """One running party."""

    identity: Identity
    config: Config
    runner: SessionRunner
    server: PeerServer
    jobs: Jobs


def configuration(
    own: Identity, peers: Mapping[str, Address], limits: Limits = QUICK, keepalive: Keepalive | None = None
) -> Config:
    """A configuration that no file holds."""
    nowhere = Path("/nonexistent")
    return Config(
        path=nowhere / "duetto.toml",
        name=own.name,
        home=nowhere,
        listen=Address("127.0.0.1", 0),
        policy=nowhere,
        catalog=nowhere,
        limits=limits,
        keepalive=keepalive or Keepalive(),
        peers=tuple(Peer(name, address, nowhere, "") for name, address in peers.items()),
    )


@contextmanager
def listening(
    own: Identity,
    *known: PeerIdentity,
    limits: Limits = QUICK,
    keepalive: Keepalive | None = None,
    terms: Terms | None = None,
    wrap: Wrap | None = None,
    heads: Heads | None = None,
    cluster: Executor | None = None,
    port: int = 0,
    renewals: Renewals | None = None,
    closing: Closing | None = None,
    links: Links | None = None,
) -> Iterator[Party]:
    """A party whose port for peers is open."""
    config = configuration(own, {}, limits, keepalive)
    peers = {peer.name: peer for peer in known}
    extra = {} if wrap is None else {"wrap": wrap}
    runner = SessionRunner(own, peers, limits, terms, heads=heads, cluster=cluster, closing=closing, **extra)
    jobs = Jobs()
    server = PeerServer(
        Address("127.0.0.1", port),
        own,
        peers,
        keepalive=config.keepalive,
        sessions=limits.sessions,
        runner=runner,
        port=jobs,
        terms=terms or Terms(),
        renewals=renewals,
        links=links,
    )
    server.start()
    try:
        yield Party(own, config, runner, server, jobs)
    finally:
        server.drain()
        runner.stop()
        server.stop(2)
        runner.close()


@contextmanager
def dialling(
    own: Identity,
    peer: PeerIdentity,
    address: Address,
    limits: Limits = QUICK,
    keepalive: Keepalive | None = None,
    terms: Terms | None = None,
    wrap: Wrap | None = None,
    heads: Heads | None = None,
    renewals: Renewals | None = None,
    links: Links | None = None,
) -> Iterator[PeerDirectory]:
    """The way of a party to its peer."""
    config = configuration(own, {peer.name: address}, limits, keepalive)
    extra = {} if wrap is None else {"wrap": wrap}
    runner = SessionRunner(own, {peer.name: peer}, limits, terms, heads=heads, **extra)
    directory = PeerDirectory(config, own, {peer.name: peer}, runner, terms, renewals=renewals, links=links)
    try:
        yield directory
    finally:
        runner.stop()
        directory.close()
        runner.close()


@dataclass
class Ending:
    """How a session ended on one side."""

    error: DuettoError | None = None
    over: threading.Event = field(default_factory=threading.Event)

    def __call__(self, error: DuettoError | None) -> None:
        self.error = error
        self.over.set()

    def wait(self, seconds: float = 20) -> DuettoError | None:
        assert self.over.wait(seconds), "the session did not end"
        return self.error


def task(
    role: Role, run: Callable[[Session], None], ended: Ending | None = None, **changes: object
) -> SessionTask:
    """A task of the job `JOB`."""
    made = SessionTask(job_id=JOB, job_digest=DIGEST, role=role, run=run, ended=ended or Ending())
    return replace(made, **changes)


@contextmanager
def child(behaviour: str, **settings: object) -> Iterator[tuple[subprocess.Popen[str], Address]]:
    """SOUTH as a process of its own that serves NORTH and behaves as `tests.parties.rpc.child` says."""
    south = {
        "certificate": SOUTH.certificate.decode(),
        "tls_key": SOUTH.tls_key.decode(),
        "north": NORTH.certificate.decode(),
        "behaviour": behaviour,
        **settings,
    }
    process = subprocess.Popen(
        [sys.executable, "-m", "tests.parties.rpc.child"],
        cwd=REPOSITORY,
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    )
    assert process.stdin is not None
    assert process.stdout is not None
    try:
        process.stdin.write(json.dumps(south) + "\n")
        process.stdin.flush()
        line = process.stdout.readline()
        assert line.startswith("port "), line
        yield process, Address("127.0.0.1", int(line.split()[1]))
    finally:
        process.kill()
        process.wait(10)
        process.stdin.close()
        process.stdout.close()

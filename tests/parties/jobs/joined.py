"""Two parties in one process: their managers, joined by a `PeerPort` without a network."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing, suppress
from dataclasses import dataclass
from fractions import Fraction
from pathlib import Path
from typing import Any

from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey

from parties.config import Address, Compute, Config, Limits
from parties.contracts.state import State
from parties.errors import ConfigError, PeerUnreachable
from parties.jobs.agreement.decisions import Person
from parties.jobs.manager import JobManager, RetryPolicy
from parties.ledger.accounting import Account
from parties.pki.identity import Identity, PeerIdentity
from parties.pki.signing import SigningKey
from parties.ports.interfaces import Outage, SessionHeader
from parties.rpc.refusal import refusal_error
from parties.session.pools import PoolStore
from smc.channel.channel import Channel
from smc.channel.memory import memory_pair
from smc.errors import Cancelled, DuettoError, PeerError
from smc.forms import Role
from smc.pieces import asking
from smc.protocols.full_session import FullSession
from tests.parties.jobs.addition import Addition
from tests.support.keys import toy


class Network:
    """The way between the parties; it can be cut."""

    def __init__(self) -> None:
        self.managers: dict[str, JobManager] = {}
        self.identities: dict[str, PeerIdentity] = {}
        self.down = False
        self.spoil: dict[str, Any] = {}
        self._pool = ThreadPoolExecutor(2)
        self._transports: dict[str, Any] = {}
        self._given_up: set[str] = set()
        self.stores: dict[str, PoolStore] = {}
        self.asked: Callable[[str, Role], None] = lambda job_id, role: None
        self.said: list[tuple[str, bytes]] = []
        self.seconds = 10.0
        self.outages: dict[str, Outage] = {}
        self.bends: dict[Role, Callable[[Any], Any]] = {}

    def port(self, name: str) -> Port:
        return Port(self, name)

    def call(self, verb: str, me: str, peer: str, body: bytes) -> bytes:
        if self.down or peer not in self.managers:
            raise PeerUnreachable(f"{peer} cannot be reached.", "Start it.")
        self.said.append((verb, body))
        try:
            answer = getattr(self.managers[peer], verb)(me, body)
        except DuettoError as error:
            self.said.append((verb, error.stable_code.encode()))
            raise refusal_error(peer, error.stable_code) from None
        self.said.append((verb, answer))
        return self.spoil[verb](answer) if verb in self.spoil else answer

    def session(self, me: str, peer: str, task: Any) -> None:
        if self.down or peer not in self.managers:
            raise PeerUnreachable(f"{peer} cannot be reached.", "Start it.")
        keys = {name: self.identities[name].paillier.fingerprint for name in (me, peer)}
        header = SessionHeader(bytes(32), task.job_id, task.job_digest, task.role, keys[me], keys[peer])
        try:
            theirs = self.managers[peer].accept_session(me, header)
        except DuettoError as error:
            raise refusal_error(peer, error.stable_code) from None
        if task.evidence is not None and theirs.evidence is not None:
            for one, other in ((task.evidence, theirs.evidence), (theirs.evidence, task.evidence)):
                one.commit(other.commitment)
                one.give(other.public)
        ends = memory_pair(self.seconds)
        self._transports[task.job_id] = ends
        other = self._pool.submit(self._side, theirs, ends[1])
        try:
            error = self._side(task, ends[0])
        finally:
            other.result(20)
        if error is not None:
            raise error

    def cancel(self, job_id: str) -> bool:
        self._given_up.add(job_id)
        for end in self._transports.get(job_id, ()):
            end.close()
        return job_id in self._transports

    def _session(self, task: Any, channel: Channel) -> FullSession:
        own, peer = (next(n for n, r in ROLES.items() if r is role) for role in (task.role, task.role.other))
        pools = self.stores[own].with_peer(peer) if self.stores else None
        return FullSession(
            task.role,
            channel,
            self._pool,
            *([] if task.evidence is None else [task.evidence.randomness()]),
            own_key=toy(task.role),
            peer_key=toy(task.role.other).public,
            report=task.report,
            precomputed=pools if task.evidence is None else None,
            network=task.network,
            lanes=task.lanes,
        )

    def _wanted(self, task: Any) -> None:
        self.asked(task.job_id, task.role)
        if task.job_id in self._given_up:
            raise Cancelled("The session was ended.")

    @staticmethod
    def _finish(task: Any, channel: Channel) -> None:
        if task.evidence is None:
            channel.finish()
        else:
            task.evidence.finish(channel)

    def _side(self, task: Any, transport: Any) -> DuettoError | None:
        if task.evidence is not None:
            transport = task.evidence.record(transport)
        channel = Channel(self.bends.get(task.role, lambda each: each)(transport))
        failure: DuettoError | None = None
        try:
            with asking(lambda: self._wanted(task)), closing(self._session(task, channel)) as session:
                try:
                    task.run(session)
                    session.verify()
                finally:
                    if task.evidence is not None and session.has_own:
                        task.evidence.took_key()
                self._finish(task, channel)
        except DuettoError as error:
            failure = error
        except Exception as error:
            failure = DuettoError(f"A defect: {type(error).__name__}.", code="internal")
        if failure is not None and not isinstance(failure, PeerError | Cancelled):
            with suppress(DuettoError):
                channel.abort(failure.stable_code)
        transport.close()
        task.ended(failure)
        return failure


@dataclass
class Port:
    """One party's `PeerPort` on the network."""

    network: Network
    me: str

    def names(self) -> tuple[str, ...]:
        return tuple(name for name in self.network.identities if name != self.me)

    def public(self, peer: str) -> PeerIdentity:
        if peer not in self.names():
            raise ConfigError(f"No peer {peer!r} is paired.", "Pair it.")
        return self.network.identities[peer]

    def propose(self, peer: str, contract: bytes) -> bytes:
        return self.network.call("propose", self.me, peer, contract)

    def tell(self, peer: str, standing: bytes) -> bytes:
        return self.network.call("tell", self.me, peer, standing)

    def run_session(self, peer: str, task: Any) -> None:
        self.network.session(self.me, peer, task)

    def cancel_session(self, job_id: str) -> bool:
        return self.network.cancel(job_id)

    def outage(self, job_id: str) -> Outage | None:
        return self.network.outages.get(job_id)

    def is_reversed(self, peer: str) -> bool:
        return False

    def give_way(self) -> None:
        return


CATALOG = """
[datasets.numbers]
source = "numbers.csv"
[datasets.numbers.columns.value]
type = "integer"
lower = 0
upper = 1000
unit = "{unit}"
"""
POLICY = """
[[rules]]
name = "additions"
analyses = ["addition"]
peers = ["*"]
datasets = ["numbers"]
columns = ["value"]
recipients = ["both"]
epsilon_per_job = "1"
epsilon_total = "{total}"
approval = "{approval}"
"""
JOB = """
[job]
analysis = "addition"
title = "both sums"
alice = "north"
bob = "south"
recipients = ["alice", "bob"]
[alice]
dataset = "numbers"
columns = {{ v = "value" }}
[bob]
dataset = "numbers"
columns = {{ v = "value" }}
[parameters]
epsilon = "{epsilon}"
[limits]
seconds = 60
"""
ROLES = {"north": Role.ALICE, "south": Role.BOB}


def job_file(epsilon: str = "0") -> str:
    return JOB.format(epsilon=epsilon)


class Pair:
    """North and south, with their folders; they make their signing keys unless some are given."""

    def __init__(self, folder: Path, signing_keys: Mapping[str, SigningKey] | None = None) -> None:
        self.folder = folder
        self.network = Network()
        self.analysis = {name: Addition() for name in ROLES}
        self.lanes = dict.fromkeys(ROLES, 1)
        self._identities: dict[str, Identity] = {}
        for number, name in enumerate(ROLES):
            home = folder / name
            home.mkdir()
            (home / "numbers.csv").write_text(f"value\n{10 + number}\n{20 + number}\n")
            self.declare(name)
            self.allow(name)
            signing = (signing_keys or {}).get(name) or Ed25519PrivateKey.generate()
            self._identities[name] = Identity(name, b"", b"", signing, toy(ROLES[name]))
            self.network.identities[name] = PeerIdentity(
                name, signing.public_key(), toy(ROLES[name]).public, b""
            )
        for name in ROLES:
            self.start(name)

    def declare(self, name: str, unit: str = "years") -> None:
        (self.folder / name / "catalog.toml").write_text(CATALOG.format(unit=unit))

    def allow(self, name: str, total: str = "10", approval: str = "auto") -> None:
        (self.folder / name / "policy.toml").write_text(POLICY.format(total=total, approval=approval))

    def forbid(self, name: str) -> None:
        (self.folder / name / "policy.toml").write_text("")

    def config(self, name: str) -> Config:
        home = self.folder / name
        return Config(
            path=home / "duetto.toml",
            name=name,
            home=home,
            listen=Address("127.0.0.1", 0),
            policy=home / "policy.toml",
            catalog=home / "catalog.toml",
            limits=Limits(sessions=2),
            compute=Compute(lanes=self.lanes[name]),
        )

    def start(self, name: str, *, resume: bool = True) -> JobManager:
        manager = JobManager(
            self.config(name),
            self._identities[name],
            self.network.port(name),
            analyses={"addition": self.analysis[name]},
            patience=RetryPolicy(dial_seconds=(0.05, 0.1), ask_seconds=0.2, watch_seconds=0),
        )
        self.network.managers[name] = manager
        if resume:
            manager.resume()
        return manager

    def stop(self, name: str) -> None:
        manager = self.network.managers.pop(name, None)
        if manager is not None:
            manager.stop()

    @property
    def north(self) -> JobManager:
        return self.network.managers["north"]

    @property
    def south(self) -> JobManager:
        return self.network.managers["south"]

    def close(self) -> None:
        for analysis in self.analysis.values():
            for stop in analysis.stops.values():
                stop.set()
        for name in ROLES:
            self.stop(name)


ANN = Person("Ann", 1000)


def approve(manager: JobManager, job_id: str) -> Any:
    """Let Ann approve a job as it stands."""
    return manager.approve(job_id, ANN, manager.store.digest(manager.store.find(job_id).job_id).hex())


def wait_until(manager: JobManager, job_id: str, wanted: Callable[[State], bool]) -> Any:
    """The job when it is here and in a state that is wanted; fails after 20 seconds."""

    def reached() -> bool:
        return any(job.job_id == job_id and wanted(job.state) for job in manager.store.all())

    assert manager.store.wait_for(reached, 20)
    return manager.store.get(job_id)


def wait_final(manager: JobManager, job_id: str) -> Any:
    """The job when it has ended."""
    return wait_until(manager, job_id, lambda state: state.is_final)


def wait_state(manager: JobManager, job_id: str, *states: State) -> Any:
    """The job when it has reached one of some states."""
    return wait_until(manager, job_id, states.__contains__)


def result_of(manager: JobManager, job_id: str) -> Any:
    """The document of a result."""
    return json.loads(manager.result(job_id))


def spent(manager: JobManager, peer: str) -> Fraction:
    """The epsilon that a party's ledger has for a peer."""
    return manager.ledger.spending(Account.of("numbers"), peer).loss.epsilon


def run(pair: Pair, text: str = "", sender: str = "north") -> tuple[str, Any, Any]:
    """Submit a job and wait for its end: its name, and how it ended for north and south."""
    job_id = pair.network.managers[sender].submit(text or job_file()).job_id
    return job_id, wait_final(pair.north, job_id), wait_final(pair.south, job_id)

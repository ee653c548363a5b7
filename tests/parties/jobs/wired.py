"""Two managers of jobs over real connections, which go through proxies that can be cut."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import replace
from fractions import Fraction
from pathlib import Path

from parties.config import Address, Limits
from parties.contracts.state import State
from parties.jobs.agreement.courier import RetryPolicy
from parties.jobs.manager import JobManager
from parties.ledger.book import open_ledger
from parties.ledger.entries import SPENT
from parties.ledger.heads import open_heads
from parties.ports.terms import Terms
from parties.session.answering import Answering
from parties.session.directory import PeerDirectory
from parties.session.keeper import Keeper, Means
from parties.session.links import Links
from parties.session.runner import SessionRunner
from parties.session.server import PeerServer
from tests.parties.jobs.addition import Addition
from tests.parties.jobs.joined import CATALOG, POLICY, result_of, spent, wait_final
from tests.parties.rpc.harness import NORTH, SOUTH, configuration, public
from tests.parties.rpc.proxy import Proxy, proxied
from tests.parties.session.cut_sessions import Counting

IDENTITIES = {"north": NORTH, "south": SOUTH}
OTHER = {"north": "south", "south": "north"}
LIMITS = Limits(sessions=2, message_seconds=20, job_seconds=60, reconnect_seconds=20)


class Door:
    """The `JobPort` of a manager that is made later."""

    def __init__(self) -> None:
        self.manager: JobManager | None = None

    def __getattr__(self, name: str):
        return getattr(self.manager, name)


class Wired:
    """Two parties, each of which reaches the other through a proxy.

    Attributes:
        around: by party, the frame around which something is done, and what.
        approval: what both policies say of approvals.
        ask_seconds: how often both ask after jobs.

    Args:
        folder: for the homes.
        limits: of both.
        keeps: whether they keep streams open to each other, as daemons do.
    """

    def __init__(self, folder: Path, limits: Limits, *, keeps: bool = False) -> None:
        self.keeps = keeps
        self.approval, self.ask_seconds = "auto", 0.2
        self.keepers: dict[str, Keeper] = {}
        self.servers: dict[str, PeerServer] = {}
        self.links = {name: Links(lambda peer, name=name: self._here(name, peer)) for name in IDENTITIES}
        self.folder = folder
        self.limits = limits
        self.around: dict[str, tuple[tuple[str, int], object]] = {}
        self.managers: dict[str, JobManager] = {}
        self.runners: dict[str, SessionRunner] = {}
        self.proxies: dict[str, Proxy] = {}
        self._doors = {name: Door() for name in IDENTITIES}
        self._ledgers = {}

    def cut(self, seconds: float = 0.0) -> None:
        """Cut both ways to the other."""
        for proxy in self.proxies.values():
            proxy.cut(seconds)

    def serve(self, name: str) -> PeerServer:
        """Make the home of a party and open its port."""
        home, own, peer = self.folder / name, IDENTITIES[name], public(IDENTITIES[OTHER[name]])
        home.mkdir()
        (home / "numbers.csv").write_text("value\n10\n20\n" if name == "north" else "value\n11\n21\n")
        (home / "catalog.toml").write_text(CATALOG.format(unit="years"))
        (home / "policy.toml").write_text(POLICY.format(total="10", approval=self.approval))
        self._ledgers[name] = ledger = open_ledger(home)
        heads = open_heads(home, name, own.signing, ledger)
        self.runners[name] = SessionRunner(
            own, {peer.name: peer}, self.limits, wrap=lambda inner: self._wrapped(name, inner), heads=heads
        )
        server = self.servers[name] = PeerServer(
            Address("127.0.0.1", 0),
            own,
            {peer.name: peer},
            keepalive=configuration(own, {}).keepalive,
            sessions=self.limits.sessions,
            runner=self.runners[name],
            port=self._doors[name],
            terms=Terms(),
            links=self.links[name],
        )
        server.start()
        return server

    def manage(self, name: str, address: Address) -> PeerDirectory:
        """Begin with the jobs of a party that reaches the other at an address."""
        home, own, peer = self.folder / name, IDENTITIES[name], public(IDENTITIES[OTHER[name]])
        config = replace(
            configuration(own, {peer.name: address}, self.limits),
            path=home / "duetto.toml",
            home=home,
            policy=home / "policy.toml",
            catalog=home / "catalog.toml",
        )
        directory = PeerDirectory(config, own, {peer.name: peer}, self.runners[name], links=self.links[name])
        self.managers[name] = self._doors[name].manager = JobManager(
            config,
            own,
            directory,
            analyses={"addition": Addition()},
            patience=RetryPolicy(dial_seconds=(0.05, 0.1), ask_seconds=self.ask_seconds),
            ledger=self._ledgers[name],
        )
        self.managers[name].resume()
        if self.keeps:
            answering = Answering(own, self._doors[name])
            self.keepers[name] = Keeper(
                Means(directory, self.runners[name], answering, self.links[name], 2, (0.05, 0.1))
            )
            self.keepers[name].follow()
        return directory

    def _here(self, name: str, peer: str) -> None:
        if name in self.managers:
            self.managers[name].here(peer)

    def _wrapped(self, name: str, inner):
        place, act = self.around.get(name, (("", 0), None))
        return Counting(inner, place, act)


@contextmanager
def wired(
    folder: Path,
    limits: Limits = LIMITS,
    *,
    deaf: Address | None = None,
    approval: str = "auto",
    ask_seconds: float = 0.2,
) -> Iterator[Wired]:
    """Both parties at work.

    Args:
        folder: for the homes.
        limits: of both.
        deaf: where south believes that north is; then only north can dial, and both keep streams open.
        approval: what both policies say of approvals.
        ask_seconds: how often both ask after jobs.
    """
    pair = Wired(folder, limits, keeps=deaf is not None)
    pair.approval, pair.ask_seconds = approval, ask_seconds
    with ExitStack() as stack:
        servers = {name: pair.serve(name) for name in IDENTITIES}
        pair.proxies = {
            name: stack.enter_context(proxied(servers[OTHER[name]].address)) for name in IDENTITIES
        }
        ways = {name: proxy.address for name, proxy in pair.proxies.items()} | (
            {"south": deaf} if deaf is not None else {}
        )
        directories = [pair.manage(name, ways[name]) for name in IDENTITIES]
        try:
            yield pair
        finally:
            for name in IDENTITIES:
                servers[name].drain()
                pair.runners[name].stop()
            for name in IDENTITIES:
                pair.runners[name].drain(10)
                pair.managers[name].stop()
            for keeper in pair.keepers.values():
                keeper.stop()
            for name in IDENTITIES:
                pair.links[name].end()
                servers[name].stop(1)
                pair.runners[name].close()
            for directory in directories:
                directory.close()


def losses(manager: JobManager) -> list[str]:
    return [entry.event for entry in manager.ledger.entries() if entry.event == SPENT]


def finished_once(pair: Wired, job_id: str) -> None:
    for name, other in OTHER.items():
        manager = pair.managers[name]
        record = wait_final(manager, job_id)
        assert record.state is State.FINISHED, (name, record.error_code, record.error_what)
        (table,) = result_of(manager, job_id)["outcome"]["tables"]
        assert table["columns"]["total"] == [62]
        assert spent(manager, other) == Fraction(1, 2)
        assert len(losses(manager)) == 1

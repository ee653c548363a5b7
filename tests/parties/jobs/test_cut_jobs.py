"""Whole jobs of two managers over real connections that are cut: one result, one loss, one end for both."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import replace
from fractions import Fraction
from pathlib import Path

import pytest

from parties.config import Address, Limits
from parties.contracts.state import State
from parties.jobs.agreement.courier import RetryPolicy
from parties.jobs.manager import JobManager
from parties.ledger.book import open_ledger
from parties.ledger.entries import SPENT
from parties.ledger.heads import open_heads
from parties.ports.terms import Terms
from parties.session.directory import PeerDirectory
from parties.session.runner import SessionRunner
from parties.session.server import PeerServer
from tests.parties.jobs.addition import Addition
from tests.parties.jobs.joined import CATALOG, POLICY, job_file, result_of, spent, wait_final
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
    """

    def __init__(self, folder: Path, limits: Limits) -> None:
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
        (home / "policy.toml").write_text(POLICY.format(total="10", approval="auto"))
        self._ledgers[name] = ledger = open_ledger(home)
        heads = open_heads(home, name, own.signing, ledger)
        self.runners[name] = SessionRunner(
            own, {peer.name: peer}, self.limits, wrap=lambda inner: self._wrapped(name, inner), heads=heads
        )
        server = PeerServer(
            Address("127.0.0.1", 0),
            own,
            {peer.name: peer},
            keepalive=configuration(own, {}).keepalive,
            sessions=self.limits.sessions,
            runner=self.runners[name],
            port=self._doors[name],
            terms=Terms(),
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
        directory = PeerDirectory(config, own, {peer.name: peer}, self.runners[name])
        self.managers[name] = self._doors[name].manager = JobManager(
            config,
            own,
            directory,
            analyses={"addition": Addition()},
            patience=RetryPolicy(dial_seconds=(0.05, 0.1), ask_seconds=0.2),
            ledger=self._ledgers[name],
        )
        self.managers[name].resume()
        return directory

    def _wrapped(self, name: str, inner):
        place, act = self.around.get(name, (("", 0), None))
        return Counting(inner, place, act)


@contextmanager
def wired(folder: Path, limits: Limits = LIMITS) -> Iterator[Wired]:
    """Both parties at work."""
    pair = Wired(folder, limits)
    with ExitStack() as stack:
        servers = {name: pair.serve(name) for name in IDENTITIES}
        pair.proxies = {
            name: stack.enter_context(proxied(servers[OTHER[name]].address)) for name in IDENTITIES
        }
        directories = [pair.manage(name, pair.proxies[name].address) for name in IDENTITIES]
        try:
            yield pair
        finally:
            for name in IDENTITIES:
                servers[name].drain()
                pair.runners[name].stop()
            for name in IDENTITIES:
                pair.runners[name].drain(10)
                pair.managers[name].stop()
            for name in IDENTITIES:
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


FRAMES = {"send": 4, "receive": 4}
"""What is announced and written of the loss, the sum, and END."""
EVERYWHERE = [
    (name, (doing, number))
    for name in IDENTITIES
    for doing, count in FRAMES.items()
    for number in range(1, count + 1)
]
SAMPLE = EVERYWHERE[1::4]


@pytest.mark.parametrize(
    ("name", "place"),
    [pytest.param(*each, marks=() if each in SAMPLE else pytest.mark.slow) for each in EVERYWHERE],
)
def test_a_job_that_is_cut_anywhere_spends_once_and_finishes_on_both_sides(tmp_path, name, place):
    with wired(tmp_path) as pair:
        met = []
        pair.around[name] = (place, lambda: met.append(pair.cut()))
        job_id = pair.managers["north"].submit(job_file("1/2")).job_id
        finished_once(pair, job_id)
        assert met == [None]


def test_cuts_all_the_time_change_nothing(tmp_path):
    """At whatever moment: greetings, proposals, handshakes, frames and words are all cut."""
    with wired(tmp_path) as pair:
        jobs = []
        for pause in (0.0, 0.01, 0.02, 0.03, 0.05, 0.08):
            jobs.append(pair.managers["north"].submit(job_file("1/2")).job_id)
            threading.Timer(pause, pair.cut).start()
            for name in IDENTITIES:
                assert wait_final(pair.managers[name], jobs[-1]).state.is_final
        ends = {tuple(pair.managers[n].store.summary(j).state for n in IDENTITIES) for j in jobs}
        assert ends == {(State.FINISHED, State.FINISHED)}
        for name, other in OTHER.items():
            assert len(losses(pair.managers[name])) == len(jobs)
            assert spent(pair.managers[name], other) == Fraction(len(jobs), 2)


def test_past_the_limit_a_job_fails_on_both_sides_and_what_was_spent_stays_spent(tmp_path):
    with wired(tmp_path, replace(LIMITS, reconnect_seconds=1)) as pair:
        pair.around["north"] = (("receive", 2), lambda: pair.cut(2.5))
        job_id = pair.managers["north"].submit(job_file("1/2")).job_id
        ends = {name: wait_final(manager, job_id) for name, manager in pair.managers.items()}
        assert {end.state for end in ends.values()} == {State.FAILED}
        assert {end.error_code for end in ends.values()} <= {"peer-lost", "peer-failed"}
        assert "peer-lost" in {end.error_code for end in ends.values()}
        assert all(len(losses(manager)) <= 1 for manager in pair.managers.values())

"""Two parties that keep pools for each other: a server, a store and what fills it, each."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from parties.config import Address, Config, Limits
from parties.errors import PeerBusy
from parties.kept_pools import KeptPools
from parties.pki import Identity
from parties.ports.terms import Terms
from parties.session.directory import PeerDirectory
from parties.session.filling import Filler, Rhythm
from parties.session.pools import PoolStore
from parties.session.runner import SessionRunner
from parties.session.server import PeerServer
from tests.parties.rpc.harness import NORTH, SOUTH, Jobs, configuration, public

QUICK = Rhythm(look=0.02, gap=0.0, second=0.2, busy=(0.02, 0.1), refused=(0.05, 0.1))
LIMITS = Limits(sessions=1, message_seconds=5, job_seconds=30, reconnect_seconds=0)
OWN = {"north": NORTH, "south": SOUTH}


def kept(name: str, **changes: Any) -> KeptPools:
    """What north or south wants; changes are of both sides' meaning."""
    return replace(KeptPools(other(name), "north", 8, 64, 3), **changes)


def other(name: str) -> str:
    return "south" if name == "north" else "north"


@dataclass
class Side:
    """One party: a server, a way to the peer, a store and what fills it."""

    config: Config
    store: PoolStore
    runner: SessionRunner
    jobs: Jobs
    directory: PeerDirectory = field(init=False)
    filler: Filler = field(init=False)
    server: PeerServer = field(init=False)
    notes: list[dict[str, Any]] = field(default_factory=list)

    @property
    def names(self) -> set[bytes]:
        return {file.stored.name for file in self.store.list()}

    def run(self, work: Callable[..., None], **changes: Any) -> None:
        """A session that looks like a filling to the peer and does something else."""
        asked = self.filler._task(self.config.pools[0])
        self.directory.run_session(self.config.pools[0].peer, replace(asked, run=work, **changes))


@contextmanager
def served(
    own: Identity, peer: Identity, home: Path, pools: tuple[KeptPools, ...], rhythm: Rhythm, quiet: float
) -> Iterator[Side]:
    (home / "keys").mkdir(mode=0o700, parents=True)
    config = replace(configuration(own, {peer.name: Address("127.0.0.1", 1)}, LIMITS), home=home, pools=pools)
    store, known = PoolStore(home), {peer.name: public(peer)}
    runner = SessionRunner(own, known, LIMITS, pools=store, quiet_seconds=quiet)
    side = Side(config, store, runner, Jobs())
    side.directory = PeerDirectory(config, own, known, runner)

    def note(**about: Any) -> None:
        side.notes.append(about)

    side.filler = Filler(config, store, side.directory, runner, side.jobs, note, rhythm)
    side.server = PeerServer(
        Address("127.0.0.1", 0),
        own,
        known,
        keepalive=config.keepalive,
        sessions=LIMITS.sessions,
        runner=runner,
        port=side.filler,
        terms=Terms(),
    )
    side.server.start()
    try:
        yield side
    finally:
        side.server.drain()
        runner.stop()
        side.filler.end()
        side.server.stop(2)
        side.directory.close()
        runner.close()


Make = Callable[..., tuple[Side, Side]]


def idle_after(seconds: float, *sides: Side) -> None:
    """From now on these parties are idle after so many seconds without a job, be it `NEVER`."""
    for side in sides:
        side.runner._shares._quiet_seconds = seconds


NEVER = 600.0
"""Seconds that no test waits, however slow the machine is."""


def insist(side: Side, work: Callable[..., None]) -> None:
    """Run it as soon as the peer is done with the session before."""
    while True:
        try:
            side.run(work)
        except PeerBusy:
            time.sleep(0.01)
        else:
            return


def count_calls(owner: object, name: str) -> list[object]:
    calls: list[object] = []
    before = getattr(owner, name)

    def counted(*words: Any) -> Any:
        calls.append(words)
        return before(*words)

    setattr(owner, name, counted)
    return calls

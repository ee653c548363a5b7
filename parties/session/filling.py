"""Pools that are filled in idle time, as the configurations of both parties say.

    first by name (dials)                                      second
      idle, and less is kept than the steward wants
      opening: digest of what is wanted             -------->  wants the same, and is idle too
      names of all pools                            <------->  names of all pools
      deletes halves without another half                      deletes halves without another half
      makes some of the pools that are missing      <------->  makes as many, and keeps each at once

Nothing that the peer says decides how much is made: both sides compute it from their own configuration and
the pools that both have. A filling is a session without a job: it needs no place, begins when no job has run
or come for some seconds, is short, and ends when one comes. What it was making is gone then; a half that only
one side has kept is deleted when the stocks are compared next.

The party whose name is first in the order of letters dials. The other one does if too little is kept for a
minute, since the first may be unable to reach it. After a refusal or a failure a side waits, twice as long
each time. A peer that loses its halves again and again is refused until the hour is over.
"""

from __future__ import annotations

import logging
import shutil
import threading
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from functools import partial
from typing import TYPE_CHECKING, Final

from parties.config import Config
from parties.errors import PeerBusy, PoolError, StorageError
from parties.kept_pools import MAX_POOLS, KeptPools
from parties.ports.interfaces import JobPort, SessionHeader, SessionTask
from parties.ports.terms import digest
from parties.session.directory import PeerDirectory
from parties.session.pools import PoolStore
from parties.session.runner import GAVE_WAY, SessionRunner
from smc.errors import Cancelled, DuettoError, PeerAborted
from smc.forms import Role

if TYPE_CHECKING:
    from smc.protocols.full_session import FullSession

PREFIX: Final = "pool-"
"""Sessions of this name are fillings."""

MIN_FREE_BYTES: Final = 1 << 30
"""With less room on the disk nothing is filled, since a full disk stops the ledger and all jobs."""

MOST_LOST: Final = 2 * MAX_POOLS
"""So many pools with one peer may be lost in an hour, by crashes or since it has deleted its halves."""

PORTION_BITS: Final = 1 << 22
"""Bits of comparisons that are made in one session, if that is more than one pool."""

PORTION_POOLS: Final = 16
"""Pools that are made in one session."""

DEADLINE_SECONDS: Final = 10.0
"""When a filling ends in any case; it takes a second or two."""

_HOUR: Final = 3600.0
_STOP_SECONDS: Final = 10.0
log = logging.getLogger("duetto.pools")


@dataclass(frozen=True, slots=True)
class Rhythm:
    """How long a side waits, in seconds.

    Attributes:
        look: between two looks at what is kept.
        gap: least pause between two fillings that a peer may begin.
        second: how long too little is kept before the side dials that is not the first.
        busy: first and longest pause after the peer was busy, or ended a filling.
        refused: first and longest pause after any other refusal or failure.
    """

    look: float = 2.0
    gap: float = 1.0
    second: float = 60.0
    busy: tuple[float, float] = (5.0, 300.0)
    refused: tuple[float, float] = (60.0, 3600.0)


@dataclass(slots=True)
class _Due:
    """When a kind of pools is looked at again on the side that dials."""

    at: float = 0.0
    short_since: float | None = None
    failures: int = 0
    code: str = ""


@dataclass(slots=True)
class _Account:
    """What was made with a peer, and lost, in this hour and since the audit log has heard of it."""

    hour: float = 0.0
    lost: int = 0
    accepted: float = -_HOUR
    told: float = 0.0
    sums: dict[str, int] = field(default_factory=dict)


Note = Callable[..., None]


class Filler:
    """Keeps as many pools with each peer as both stewards want; stands before the jobs as the peers' port.

    Args:
        config: what is wanted.
        store: the pools.
        directory: the way to the peers.
        runner: says whether this party is idle.
        jobs: what all other calls of peers are for.
        note: writes a line of the audit log, with what was made in the last hour.
        rhythm: how long it waits.
        require_open: raises if nothing is run with a peer.
    """

    def __init__(
        self,
        config: Config,
        store: PoolStore,
        directory: PeerDirectory,
        runner: SessionRunner,
        jobs: JobPort,
        note: Note,
        rhythm: Rhythm | None = None,
        require_open: Callable[[str], None] = lambda _: None,
    ) -> None:
        self._config = config
        self._store = store
        self._directory = directory
        self._runner = runner
        self._jobs = jobs
        self._note = note
        self._require_open = require_open
        self._rhythm = rhythm or Rhythm()
        self._lock = threading.Lock()
        self._due: dict[KeptPools, _Due] = {}
        self._accounts: dict[str, _Account] = {}
        self._stopping = threading.Event()
        self._thread = threading.Thread(target=self._go, name="duetto-pools", daemon=True)

    def start(self) -> None:
        """Begin to look after the pools."""
        self._thread.start()

    def follow(self, config: Config) -> None:
        """Keep what this configuration says from now on; whoever refused is asked again."""
        with self._lock:
            self._config, self._due = config, {}

    def end(self) -> None:
        """Begin no more fillings, and write down what the audit log has not heard of."""
        self._stopping.set()
        if self._thread.is_alive():
            self._thread.join(_STOP_SECONDS)
        for peer in list(self._accounts):
            self._tell(peer, at_once=True)

    # What peers ask: see `parties.ports.interfaces.JobPort`

    def propose(self, peer: str, contract: bytes) -> bytes:
        """Hand a proposal to the jobs, for which fillings end."""
        self._runner.give_way()
        return self._jobs.propose(peer, contract)

    def tell(self, peer: str, standing: bytes) -> bytes:
        """Hand the peer's word about a job to the jobs."""
        return self._jobs.tell(peer, standing)

    def accept_session(self, peer: str, header: SessionHeader) -> SessionTask:
        """The local part in a filling, if the peer wants what this configuration says; or in a job's session.

        Raises:
            PoolError: nothing like that is wanted here, or too much was lost.
            PeerBusy: the last filling was just now.
            PeerClosed: nothing is run with the peer.
            StorageError: the disk is nearly full.
            DuettoError: what the jobs raise.
        """
        if not header.job_id.startswith(PREFIX):
            return self._jobs.accept_session(peer, header)
        found = [kept for kept in self._config.pools if self._digest(kept) == header.job_digest]
        kept = next((kept for kept in found if kept.peer == peer), None)
        if kept is None:
            raise PoolError(
                f"{peer} wants to fill pools that this configuration does not name, or names otherwise.",
                "Write the same below [[pools]] on both sides, or nothing on either.",
                code="pool-unstated",
            )
        now = time.monotonic()
        with self._lock:
            account = self._account(peer, now)
            if now - account.accepted < self._rhythm.gap:
                raise PeerBusy(f"{peer} fills pools faster than it may.", "It is tried again later.")
            account.accepted = now
        self._check(peer)
        return self._task(kept)

    def stop(self) -> None:
        """End all work of the jobs."""
        self._jobs.stop()

    # The side that dials

    def _go(self) -> None:
        while not self._stopping.wait(self._rhythm.look):
            try:
                self.look()
            except Exception as problem:  # a full disk, say; the next look comes
                log.error("pools cannot be looked after: %s: %s", type(problem).__name__, problem)

    def look(self) -> None:
        """Fill what is short and due, one kind after the other, while this party is idle."""
        for kept in self._config.pools:
            if self._stopping.is_set() or not self._runner.is_quiet:
                return
            with self._lock:
                due = self._due.setdefault(kept, _Due())
            if time.monotonic() >= due.at:
                self._fill(kept, due)

    def _is_short(self, kept: KeptPools, due: _Due) -> bool:
        """Whether too little is kept, on the side that does not dial first for some time."""
        if self._store.count(kept) >= kept.ready:
            due.short_since = None
            return False
        now = time.monotonic()
        due.short_since = due.short_since or now
        return self._config.name < kept.peer or now - due.short_since >= self._rhythm.second

    def _fill(self, kept: KeptPools, due: _Due) -> None:
        """Fill a portion of one kind, if it is short."""
        try:
            if not self._is_short(kept, due):
                return
            self._check(kept.peer)
            self._directory.run_session(kept.peer, self._task(kept))
        except DuettoError as error:
            if _gave_way(error):
                return
            first, longest = (
                self._rhythm.busy if isinstance(error, PeerBusy | PeerAborted) else self._rhythm.refused
            )
            due.at = time.monotonic() + min(longest, first * 2 ** min(due.failures, 20))
            due.failures += 1
            if error.stable_code != due.code:  # not at each attempt
                log.info(
                    "pools with %(peer)s are not filled now: %(error)s", {"peer": kept.peer, "error": error}
                )
            due.code = error.stable_code

    # Both sides

    def _check(self, peer: str) -> None:
        """Check that the peer is not closed, that there is room, and that it has not lost too much."""
        self._require_open(peer)
        if shutil.disk_usage(self._config.home).free < MIN_FREE_BYTES:
            raise StorageError("The disk is nearly full, so that no pools are filled.", "Make room.")
        with self._lock:
            if self._account(peer, time.monotonic()).lost > MOST_LOST:
                raise PoolError(
                    f"More than {MOST_LOST} pools with {peer} were lost within an hour.",
                    "Look at the logs of both sides for the reason; they are filled again after the hour.",
                    code="pool-losses",
                )

    def _task(self, kept: KeptPools) -> SessionTask:
        stated = self._digest(kept)
        return SessionTask(
            job_id=PREFIX + stated.hex()[:32],
            job_digest=stated,
            role=Role.ALICE if self._config.name < kept.peer else Role.BOB,
            run=partial(self._run, kept),
            deadline_seconds=DEADLINE_SECONDS,
            ended=partial(self._tell, kept.peer),
            idle=True,
        )

    def _digest(self, kept: KeptPools) -> bytes:
        """What is wanted, with both names: the same on both sides if the stewards want the same."""
        names = sorted((self._config.name, kept.peer))
        figures = (kept.x_at, *map(str, (kept.bits, kept.comparisons, kept.ready)))
        return digest(b"duetto kept pools", *(text.encode() for text in (*names, *figures)))

    def _run(self, kept: KeptPools, session: FullSession) -> None:
        """One side of a filling; unless a job came here, one that fails counts as a loss."""
        try:
            self._make(kept, session)
        except Exception as error:
            if not _gave_way(error):
                self._count(kept.peer, lost=1)
            raise
        with self._lock:
            self._due[kept] = _Due()

    def _make(self, kept: KeptPools, session: FullSession) -> None:
        """Compare the stocks, delete lost halves, and make a portion of what is missing."""
        from smc.oblivious.pool import PoolInfo  # with its protocols, as below: few daemons need them
        from smc.protocols.stock import compare_stock

        stock = compare_stock(session, MAX_POOLS)
        self._store.discard(kept.peer, [pool.name for pool in stock.lost])
        self._count(kept.peer, lost=len(stock.lost))
        missing = kept.ready - sum(map(kept.counts, stock.common))
        room = MAX_POOLS - len(stock.common)
        portion = max(1, min(PORTION_POOLS, PORTION_BITS // (kept.comparisons * kept.bits)))
        for _ in range(min(missing, room, portion)):
            pool = session.oblivious.fill_pool(kept.comparisons, kept.bits, holds_x=kept.holds_x)
            made = PoolInfo.of(pool)
            self._store.put(kept.peer, made, pool.export())
            self._count(kept.peer, pools=1, comparisons=made.comparisons)

    def _account(self, peer: str, now: float) -> _Account:
        account = self._accounts.setdefault(peer, _Account(hour=now, told=-_HOUR))
        if now - account.hour > _HOUR:
            account.hour, account.lost = now, 0
        return account

    def _count(self, peer: str, **more: int) -> None:
        with self._lock:
            account = self._account(peer, time.monotonic())
            account.lost += more.get("lost", 0)
            for name, number in more.items():
                account.sums[name] = account.sums.get(name, 0) + number

    def _tell(self, peer: str, error: DuettoError | None = None, *, at_once: bool = False) -> None:
        """Write what was made and lost since the last line, once an hour; however a filling has ended."""
        del error
        now = time.monotonic()
        with self._lock:
            account = self._account(peer, now)
            if not account.sums.get("pools") and not account.sums.get("lost"):
                return
            if not at_once and now - account.told < _HOUR:
                return
            account.told, sums, account.sums = now, account.sums, {}
        try:
            self._note(peer=peer, **sums)
        except DuettoError as problem:
            log.error(
                "what was made with %(peer)s is not in the audit log: %(problem)s",
                {"peer": peer, "problem": problem},
            )


def _gave_way(error: Exception) -> bool:
    """Whether a job came on this side."""
    return isinstance(error, Cancelled) and error.stable_code == GAVE_WAY

"""What the entries of a ledger come to, kept up to date entry by entry."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field
from datetime import timedelta

from parties.clock import Clock, text
from parties.ledger.accounting import Account, Spent
from parties.ledger.entries import APPROVED, COUNTERSIGNED, DECISIONS, EXACT, RELEASES, RUN, SPENT, Entry
from parties.ledger.moments import written_by

DAY = timedelta(days=1)
"""For so long an entry counts as one of the last 24 hours."""


@dataclass(frozen=True, slots=True)
class _Whose:
    """Whom an entry is about: what accounts and peers are distinguished by."""

    account: str
    dataset: str
    peer: str

    def is_of(self, account: Account, peer: str | None) -> bool:
        return peer in (None, self.peer) and account.covers(self.account, self.dataset)


@dataclass(slots=True)
class _Sums:
    """What the entries about the same people and peer come to."""

    spent: Spent = field(default_factory=Spent)
    exact: Counter[str] = field(default_factory=Counter)
    runs: list[Entry] = field(default_factory=list)


class Tally:
    """What the entries of one ledger come to.

    Args:
        entries: the first entries, in their order.
    """

    def __init__(self, entries: Iterable[Entry] = ()) -> None:
        self._sums: dict[_Whose, _Sums] = defaultdict(_Sums)
        self._jobs: dict[str, list[Entry]] = defaultdict(list)
        self._words: dict[str, dict[int, str]] = defaultdict(dict)
        self._unsigned: dict[str, list[Entry]] = {}
        self._idle: dict[str, dict[str, Entry]] = defaultdict(dict)
        self._times: list[str] = []
        self._latest = ""
        self._in_order = True
        self._first_seen: dict[int, float] = {}
        for entry in entries:
            self.add(entry)

    def add(self, entry: Entry) -> None:
        """Count the next entry."""
        self._in_order = self._in_order and entry.time >= self._latest
        self._latest = max(self._latest, entry.time)
        self._times.append(entry.time)
        self._jobs[entry.job].append(entry)
        if entry.event in (*RELEASES, RUN):
            sums = self._sums[_Whose(entry.account, entry.dataset, entry.peer)]
            if entry.event == SPENT:
                sums.spent += entry.loss
            elif entry.event == EXACT:
                sums.exact[entry.persons] += 1
            else:
                sums.runs.append(entry)
        if entry.rule and entry.event in (RUN, APPROVED):
            self._idle[entry.peer][entry.hash] = entry
            self._idle[entry.peer].pop(entry.subject, None)
        if entry.event in RELEASES:
            self._unsigned.setdefault(entry.job, []).append(entry)
        elif entry.event == COUNTERSIGNED:
            self._words[entry.peer][entry.peer_sequence] = entry.peer_hash
            self._unsigned.pop(entry.job, None)
            for done in self._jobs[entry.job]:
                self._idle[entry.peer].pop(done.hash, None)

    def spending(self, account: Account, peer: str | None) -> Spent:
        """What has been spent on an account towards a peer; towards all peers if it is None."""
        return sum((sums.spent for sums in self._of(account, peer)), Spent())

    def exact(self, account: Account, peer: str) -> Counter[str]:
        """The sets of persons about whom exact figures were released to a peer.

        Returns:
            How many releases there were of each, by the digest of the set.
        """
        return sum((sums.exact for sums in self._of(account, peer)), Counter())

    def runs(self, account: Account, peer: str) -> list[Entry]:
        """The runs on an account with a peer, in no particular order."""
        return [entry for sums in self._of(account, peer) for entry in sums.runs]

    def of_job(self, job: str) -> tuple[Entry, ...]:
        """The entries of a job in their order."""
        return tuple(self._jobs.get(job, ()))

    def has(self, job: str, event: str) -> bool:
        """Whether a job has an entry of that kind."""
        return any(entry.event == event for entry in self.of_job(job))

    def decision(self, job: str) -> Entry | None:
        """The last decision about a contract with that digest."""
        return next((entry for entry in reversed(self.of_job(job)) if entry.event in DECISIONS), None)

    def has_signed(self, peer: str, sequence: int) -> bool:
        """Whether a peer has signed for the entry of that number of its own ledger before."""
        return sequence in self._words.get(peer, ())

    def last_seen(self, peer: str) -> tuple[int, str] | None:
        """Number and hash of the latest entry of a peer's ledger for which its word is kept."""
        words = self._words.get(peer)
        return max(words.items()) if words else None

    def to_sign(self, peer: str | None = None) -> list[Entry]:
        """Releases that lack the peer's signature, in their order.

        Args:
            peer: the peer; None for all of them.
        """
        found = (entry for entries in self._unsigned.values() for entry in entries)
        return [entry for entry in found if peer in (None, entry.peer)]

    def idle(self, peer: str) -> Iterable[Entry]:
        """Approvals by rules and starts of jobs with a peer that came to no result."""
        return self._idle.get(peer, {}).values()

    def in_a_day(self, clock: Clock, days: int = 1) -> Callable[[Entry], bool]:
        """Says of an entry whether it counts as one of the last 24 hours, see `parties.ledger.moments`.

        One of which nobody knows when it was written counts for 24 hours after it was seen here first.

        Args:
            clock: the time now; if the clock has stepped, the earlier of what it can be.
            days: ask for so many times 24 hours instead.
        """
        span, earliest, seconds = days * DAY, clock.earliest(), clock.elapsed()
        now, since = text(earliest), text(earliest - span)
        if self._in_order and self._latest <= now:
            return lambda entry: entry.time >= since
        written = written_by(self._times, now)
        for number, time in enumerate(written):
            if time is None:
                self._first_seen.setdefault(number, seconds)

        def counts(entry: Entry) -> bool:
            time = written[entry.sequence]
            if time is not None:
                return time >= since
            return seconds - self._first_seen[entry.sequence] < span.total_seconds()

        return counts

    def _of(self, account: Account, peer: str | None) -> Iterator[_Sums]:
        return (sums for whose, sums in self._sums.items() if whose.is_of(account, peer))

"""What the entries of a ledger come to, kept up to date entry by entry."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta

from parties.ledger.accounting import Account, Spent
from parties.ledger.entries import APPROVED, COUNTERSIGNED, DECISIONS, EXACT, RELEASES, RUN, SPENT, Entry

_TIME = "%Y-%m-%dT%H:%M:%SZ"


def utc_now() -> str:
    """The time as RFC 3339 in UTC, to the second."""
    return datetime.now(UTC).strftime(_TIME)


def day_before(time: str) -> str:
    """24 hours before a time, both RFC 3339 in UTC to the second."""
    moment = datetime.strptime(time, _TIME).replace(tzinfo=UTC)
    return (moment - timedelta(days=1)).strftime(_TIME)


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
        for entry in entries:
            self.add(entry)

    def add(self, entry: Entry) -> None:
        """Count the next entry."""
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

    def spent(self, account: Account, peer: str | None) -> Spent:
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

    def signed(self, peer: str, sequence: int) -> bool:
        """Whether a peer has signed for the entry of that number of its own ledger before."""
        return sequence in self._words.get(peer, ())

    def last_seen(self, peer: str) -> tuple[int, str] | None:
        """Number and hash of the latest entry of a peer's ledger for which its word is kept."""
        words = self._words.get(peer)
        return max(words.items()) if words else None

    def unsigned(self, peer: str | None = None, since: str = "") -> list[Entry]:
        """Releases that lack the peer's signature, in their order.

        Args:
            peer: the peer; None for all of them.
            since: the earliest time, RFC 3339 in UTC; empty for all.
        """
        found = (entry for entries in self._unsigned.values() for entry in entries)
        return [entry for entry in found if peer in (None, entry.peer) and entry.time >= since]

    def idle(self, peer: str, since: str) -> int:
        """How many approvals by rules and starts of jobs with a peer since some time came to no result."""
        return sum(entry.time >= since for entry in self._idle.get(peer, {}).values())

    def _of(self, account: Account, peer: str | None) -> Iterator[_Sums]:
        return (sums for whose, sums in self._sums.items() if whose.is_of(account, peer))

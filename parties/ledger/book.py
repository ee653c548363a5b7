"""A party's ledger: what jobs may still do, and what they do, written before a result is opened."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Final

from parties.clock import CLOCK, Clock
from parties.errors import BudgetError, PolicyError
from parties.ledger.accounting import LOSS_BITS, Account, Budget, RunLimits, Runs, Spent
from parties.ledger.chain import ChainFile
from parties.ledger.entries import (
    COUNTERSIGNED,
    EXACT,
    RUN,
    SIGNED,
    SPENT,
    Entry,
    LedgerError,
    require,
)
from parties.ledger.signed import NOT_ANNOUNCED, Signed
from smc.analyses.studies.loss import Loss

UNSIGNED_PER_DAY: Final = 3
"""Releases to one peer in 24 hours that may lack its signature: a peer can announce one and stop."""

IDLE_PER_DAY: Final = 2000
"""Jobs with one peer in 24 hours that rules approve or that begin, and that come to no result."""


def open_ledger(home: Path) -> Ledger:
    """The ledger in the folder of a party."""
    return Ledger(home / "ledger.jsonl")


class Ledger:
    """One party's ledger. Safe among threads and processes; a daemon has one object of it.

    Every operation takes an exclusive lock, reads the file and checks the chain, so threads and processes see
    one order of spending.

    Args:
        path: the file; it is made when first written.
        clock: the time to write into entries, and by which the last hours are counted.
    """

    def __init__(self, path: Path, clock: Clock = CLOCK) -> None:
        self.path: Final = path
        self.clock: Final = clock
        self._file = ChainFile(path, clock.stamp)
        self._reserved: dict[str, tuple[Account, str, Loss]] = {}

    # What it says

    def entries(self) -> tuple[Entry, ...]:
        """All entries, checked.

        Raises:
            LedgerError: the chain is broken or the file unreadable.
        """
        with self._file.lock():
            return tuple(self._file.read().entries)

    def spending(self, account: Account, peer: str | None) -> Spent:
        """What has been spent so far on an account towards a peer; towards all peers if it is None.

        Raises:
            LedgerError: as `entries`.
        """
        with self._file.lock():
            return self._file.read().tally.spending(account, peer)

    def runs(self, account: Account, peer: str, rule: str) -> Runs:
        """How often jobs on an account began with a peer under a rule. Raises as `entries`."""
        with self._file.lock():
            return self._runs(account, peer, rule)

    def exact(self, account: Account, peer: str) -> Counter[str]:
        """About which sets of persons exact figures were released, see `Tally.exact`. Raises as `entries`."""
        with self._file.lock():
            return self._file.read().tally.exact(account, peer)

    def to_sign(self) -> list[Entry]:
        """Releases that lack the peer's signature, in their order. Raises as `entries`."""
        with self._file.lock():
            return self._file.read().tally.to_sign()

    def decision(self, job: str) -> Entry | None:
        """The last decision about a contract with that digest, hexadecimal. Raises as `entries`."""
        with self._file.lock():
            return self._file.read().tally.decision(job)

    def is_older(self, entry: Entry, days: int) -> bool:
        """Whether an entry was written longer ago; one whose time cannot be is as old as what follows it.

        Args:
            entry: of this ledger.
            days: how long ago.

        Raises:
            LedgerError: as `entries`.
        """
        with self._file.lock():
            return not self._file.read().tally.in_a_day(self.clock, days)(entry)

    def head(self) -> Entry | None:
        """The last entry, if there is one. Raises as `entries`."""
        with self._file.lock():
            return next(reversed(self._file.read().entries), None)

    def of_job(self, job: str) -> tuple[Entry, ...]:
        """The entries of a job in their order.

        Args:
            job: digest of the job's contract, hexadecimal.

        Raises:
            LedgerError: as `entries`.
        """
        with self._file.lock():
            return self._file.read().tally.of_job(job)

    def last_seen(self, peer: str) -> tuple[int, str] | None:
        """Number and hash of the latest entry of the peer's ledger for which this party keeps its word.

        Raises:
            LedgerError: as `entries`.
        """
        with self._file.lock():
            return self._file.read().tally.last_seen(peer)

    def require(self, sequence: int, entry_hash: str) -> None:
        """Check that an entry of which the peer keeps the hash is still in the local ledger.

        Raises:
            LedgerError: it is not: the local ledger has gone back.
        """
        with self._file.lock():
            require(self._file.read().entries, sequence, entry_hash)

    # What is written into it

    def begin(self, job: str, account: Account, dataset: str, peer: str, limits: RunLimits) -> Entry:
        """Check how often jobs may run and write that one begins, as one operation.

        Args:
            job: digest of the job's contract, hexadecimal; a job can begin once.
            account: whom it is about.
            dataset: the local data set.
            peer: the other party.
            limits: of the rule that allows it.

        Raises:
            PolicyError: that is too often, or too many jobs with the peer came to nothing.
            LedgerError: the job has begun before, or the ledger is broken or cannot be written.
        """
        with self._file.lock():
            if self._file.read().tally.has(job, RUN):
                raise LedgerError("This job has run before.", "Submit it as a new job.")
            self._check_idle(peer)
            limits.check(self._runs(account, peer, limits.rule), f"Account {account.name!r} with {peer!r}")
            content = {"account": account.name, "dataset": dataset, "rule": limits.rule}
            return self._file.append(event=RUN, job=job, peer=peer, **content)

    def adopt(self, runs: Iterable[tuple[str, str, str]]) -> None:
        """Count runs that the ledger does not know yet, such as those from before it knew any.

        Args:
            runs: job, data set and peer of each. They count for every rule.

        Raises:
            LedgerError: the ledger is broken or cannot be written.
        """
        with self._file.lock():
            tally = self._file.read().tally
            missing = [run for run in runs if not tally.has(run[0], RUN)]
            if missing:
                self._file.extend(
                    [
                        {"event": RUN, "job": job, "dataset": dataset, "account": dataset, "peer": peer}
                        for job, dataset, peer in missing
                    ]
                )

    def decide(
        self,
        event: str,
        job: str,
        peer: str,
        *,
        actor: str = "",
        uid: int = -1,
        rule: str = "",
        subject: str = "",
    ) -> Entry:
        """Write a decision about a job.

        Args:
            event: `approved`, `denied` or `cancelled`.
            job: digest of the contract as it was shown, hexadecimal.
            peer: the other party.
            actor: who decided; empty if a rule did.
            uid: the account of that person at the local machine; -1 if a rule decided.
            rule: the rule that decided; empty if a person did.
            subject: the hash of the approval on which this one rests; empty if it rests on none.

        Raises:
            PolicyError: a rule decided, and too many jobs with the peer came to nothing.
            LedgerError: the ledger is broken or cannot be written.
        """
        with self._file.lock():
            self._file.read()
            if rule and not subject:
                self._check_idle(peer)
            return self._file.append(
                event=event, job=job, peer=peer, actor=actor, uid=uid, rule=rule, subject=subject
            )

    def sign(self, content: Mapping[str, str], check: Callable[[Sequence[Entry]], None]) -> Entry:
        """Write what a person has signed, after all entries were looked at, as one operation.

        Args:
            content: the fields of an entry `signed`.
            check: raises if the entries that there are do not let it be written.

        Raises:
            LedgerError: the ledger is broken or cannot be written.
        """
        with self._file.lock():
            check(self._file.read().entries)
            return self._file.append(event=SIGNED, **content)

    def note(self, event: str, job: str = "", peer: str = "", **content: str | int) -> Entry:
        """Write an entry that counts nowhere, unless there is the very same; the one that says it.

        Args:
            event: `log-head`, `due` or `verdict`.
            job: digest of the job's contract, hexadecimal, if it is about one.
            peer: the other party of that job.
            content: the other fields of the event.

        Raises:
            LedgerError: the ledger is broken or cannot be written.
        """
        with self._file.lock():
            for entry in reversed(self._file.read().tally.of_job(job)):
                if entry.event == event and all(getattr(entry, name) == content[name] for name in content):
                    return entry
            return self._file.append(event=event, job=job, peer=peer, **content)

    @contextmanager
    def reserve(self, job: str, account: Account, peer: str, loss: Loss, budget: Budget) -> Iterator[None]:
        """Check the budget and hold the loss back for one job, in memory, until it is written or given up.

        Raises:
            BudgetError: all losses together would pass the budget, or the loss has too many digits, or too
                many releases of the last 24 hours lack the peer's signature.
            LedgerError: the job has spent already, or the ledger is broken.
        """
        with self._file.lock():
            self._check(job, account, peer, loss, budget)
            tally = self._file.read().tally
            counts = tally.in_a_day(self.clock)
            late = [
                entry for entry in tally.to_sign(peer) if entry.job not in self._reserved and counts(entry)
            ]
            if len(late) >= UNSIGNED_PER_DAY:
                raise BudgetError(
                    f"{len(late)} releases to {peer!r} of the last 24 hours lack its signature: it announced "
                    "them, and then the sessions broke.",
                    "Look at `duetto ledger show`, ask that party what happened, and try again tomorrow.",
                )
            self._reserved[job] = (account, peer, loss)
        try:
            yield
        finally:
            with self._file.lock():
                self._reserved.pop(job, None)

    def spend(
        self,
        job: str,
        account: Account,
        dataset: str,
        peer: str,
        loss: Loss,
        budget: Budget,
        announced: Signed = NOT_ANNOUNCED,
    ) -> Entry:
        """Check the budget and write the loss, as one operation; on return it is on disk.

        Args:
            job: digest of the job's contract, hexadecimal; a job can spend once.
            account: whose loss it is.
            dataset: the local data set.
            peer: the other party.
            loss: the loss.
            budget: what may be spent on the account towards the peer.
            announced: the peer's word that it will write its own.

        Raises:
            BudgetError: all losses together would pass the budget, or the loss has too many digits.
            LedgerError: the job has spent already, or the ledger is broken or cannot be written.
        """
        if not loss:
            raise LedgerError(
                "A privacy loss of nothing is not written to the ledger.",
                "Record jobs without noise as exact.",
            )
        with self._file.lock():
            self._check(job, account, peer, loss, budget)
            return self._file.append(
                event=SPENT,
                job=job,
                dataset=dataset,
                peer=peer,
                account=account.name,
                epsilon=str(loss.epsilon),
                delta=str(loss.delta),
                rho=str(loss.rho),
                **announced.fields(),
            )

    def release(
        self,
        job: str,
        account: Account,
        dataset: str,
        peer: str,
        persons: str,
        announced: Signed = NOT_ANNOUNCED,
    ) -> Entry:
        """Write that exact figures are about to be opened; on return it is on disk.

        Args:
            job: digest of the job's contract, hexadecimal; a job can do so once.
            account: whom they are about.
            dataset: the local data set.
            peer: the other party.
            persons: the digest of the set of local persons, hexadecimal.
            announced: the peer's word that it will write the same.

        Raises:
            LedgerError: the job has released before, or the ledger is broken or cannot be written.
        """
        with self._file.lock():
            if self._file.read().tally.has(job, EXACT):
                raise LedgerError("This job has released its figures before.", "Submit it as a new job.")
            return self._file.append(
                event=EXACT,
                job=job,
                dataset=dataset,
                peer=peer,
                account=account.name,
                persons=persons,
                **announced.fields(),
            )

    def countersign(
        self,
        subject: Entry,
        peer_sequence: int,
        peer_hash: str,
        word: Signed,
    ) -> Entry:
        """Keep the peer's signed word that it has written its own entry.

        Args:
            subject: the last local entry of the same job.
            peer_sequence: the number of the peer's entry.
            peer_hash: the hash of the peer's entry, hexadecimal.
            word: the peer's signature, checked by the caller.

        Raises:
            LedgerError: the peer's ledger has gone back, or the local ledger is broken or cannot be written.
        """
        with self._file.lock():
            if self._file.read().tally.has_signed(subject.peer, peer_sequence):
                raise LedgerError(
                    f"{subject.peer!r} has signed the same entry number of its ledger for two jobs.",
                    "Ask that party whether it restored an old copy of its ledger.",
                )
            return self._file.append(
                event=COUNTERSIGNED,
                job=subject.job,
                peer=subject.peer,
                subject=subject.hash,
                peer_sequence=peer_sequence,
                peer_hash=peer_hash,
                **word.fields(),
            )

    @property
    def torn(self) -> tuple[Path, ...]:
        """Pieces of lines that a crash cut off and that were moved aside."""
        return self._file.torn

    def _check(self, job: str, account: Account, peer: str, loss: Loss, budget: Budget) -> None:
        """Check a loss against the budget and what other jobs have spent or reserved; the lock is held."""
        numbers = (loss.epsilon, loss.delta, loss.rho)
        if any(max(number.numerator, number.denominator).bit_length() > LOSS_BITS for number in numbers):
            raise BudgetError(
                "The privacy loss of the job has too many digits for the ledger.",
                "Write epsilon and delta as short fractions, such as 1/10.",
            )
        tally = self._file.read().tally
        if tally.has(job, SPENT):
            raise LedgerError("This job has spent its budget before.", "Submit it as a new job.")
        if not loss:
            return
        before = tally.spending(account, peer)
        for other, (whose, towards, held) in self._reserved.items():
            if other != job and towards == peer and whose.name == account.name:
                before += held
        before.check(budget, loss, f"Account {account.name!r} with {peer!r}")

    def _check_idle(self, peer: str) -> None:
        """Keep a peer that proposes or begins jobs without end from filling the ledger; the lock is held."""
        tally = self._file.read().tally
        if sum(map(tally.in_a_day(self.clock), tally.idle(peer))) >= IDLE_PER_DAY:
            raise PolicyError(
                f"In 24 hours {IDLE_PER_DAY} approvals and starts of jobs with {peer!r} came to no result.",
                "Look at `duetto ledger log`, ask that party what happened, and try again tomorrow.",
            )

    def _runs(self, account: Account, peer: str, rule: str) -> Runs:
        tally = self._file.read().tally
        runs = [entry for entry in tally.runs(account, peer) if entry.rule in (rule, "")]
        return Runs(sum(map(tally.in_a_day(self.clock), runs)), len(runs))

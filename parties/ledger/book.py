"""The ledger file: append-only, locked, forced to disk before anybody goes on."""

from __future__ import annotations

import fcntl
import os
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from datetime import UTC, datetime
from pathlib import Path

from parties.errors import BudgetError
from parties.ledger.accounting import LOSS_BITS, Account, Budget, Spent
from parties.ledger.entries import (
    COUNTERSIGNED,
    GENESIS,
    SPENT,
    Entry,
    LedgerError,
    check_chain,
    parse_line,
)
from smc.analyses.loss import Loss


def utc_now() -> str:
    """The time as RFC 3339 in UTC, to the second."""
    return datetime.now(UTC).strftime("%Y-%m-%dT%H:%M:%SZ")


def open_ledger(home: Path) -> Ledger:
    """The ledger in the folder of a party."""
    return Ledger(home / "ledger.jsonl")


class Ledger:
    """One party's ledger.

    Every operation takes an exclusive lock on a file beside the ledger, reads the whole file and checks the
    chain, so threads and processes see one order of spending. What was checked before and is still there byte
    by byte is not parsed again.

    Args:
        path: the file; it is made when first written.
        clock: the time to write into entries.
    """

    def __init__(self, path: Path, clock: Callable[[], str] = utc_now) -> None:
        self.path = path
        self._clock = clock
        self._known: tuple[bytes, list[Entry]] = (b"", [])

    def entries(self) -> tuple[Entry, ...]:
        """All entries, checked.

        Raises:
            LedgerError: the chain is broken or the file unreadable.
        """
        with self._locked():
            return tuple(self._read())

    def spent(self, account: Account, peer: str) -> Spent:
        """What has been spent so far on an account towards a peer.

        Raises:
            LedgerError: as `entries`.
        """
        return spent(self.entries(), account, peer)

    def head(self) -> Entry | None:
        """The last entry, if there is one.

        Raises:
            LedgerError: as `entries`.
        """
        return next(reversed(self.entries()), None)

    def of_job(self, job: str) -> tuple[Entry, ...]:
        """The entries of a job: what it spent, and the peer's word for it.

        Args:
            job: digest of the job's contract, hexadecimal.

        Raises:
            LedgerError: as `entries`.
        """
        return tuple(entry for entry in self.entries() if entry.job == job)

    def spend(self, job: str, account: Account, dataset: str, peer: str, loss: Loss, budget: Budget) -> Entry:
        """Check the budget and write the loss, as one operation; on return it is on disk.

        Args:
            job: digest of the job's contract, hexadecimal; a job can spend once.
            account: whose loss it is.
            dataset: the own data set.
            peer: the other party.
            loss: the loss.
            budget: what may be spent on the account towards the peer.

        Raises:
            BudgetError: all losses together would pass the budget, or the loss has too many digits.
            LedgerError: the job has spent already, or the ledger is broken or cannot be written.
        """
        if not loss:
            raise LedgerError("A loss of nothing is not written to the ledger.")
        numbers = (loss.epsilon, loss.delta, loss.rho)
        if any(max(number.numerator, number.denominator).bit_length() > LOSS_BITS for number in numbers):
            raise BudgetError(
                "The privacy loss of the job has too many digits for the ledger.",
                "Write epsilon and delta as short fractions, such as 1/10.",
            )
        with self._locked():
            entries = self._read()
            if any(entry.job == job and entry.event == SPENT for entry in entries):
                raise LedgerError("This job has spent its budget before.", "Submit it as a new job.")
            before = spent(entries, account, peer)
            before.check(budget, loss, f"Account {account.name!r} with {peer!r}")
            return self._append(
                entries,
                event=SPENT,
                job=job,
                dataset=dataset,
                peer=peer,
                account=account.name,
                epsilon=str(loss.epsilon),
                delta=str(loss.delta),
                rho=str(loss.rho),
            )

    def countersign(
        self,
        subject: Entry,
        peer_sequence: int,
        peer_hash: str,
        signature: bytes,
        *,
        peer_role: str,
        peer_seen: str,
    ) -> Entry:
        """Keep the peer's signed word that it has written its own loss.

        Args:
            subject: the own entry of the same job.
            peer_sequence: the number of the peer's entry.
            peer_hash: the hash of the peer's entry, hexadecimal.
            signature: the peer's signature, checked by the caller.
            peer_role: the peer's role in the job.
            peer_seen: the head of the own ledger that the peer signed with its entry, hexadecimal.

        Raises:
            LedgerError: the peer's ledger has gone back, or the own ledger is broken or cannot be written.
        """
        with self._locked():
            entries = self._read()
            if any(e.peer_sequence == peer_sequence for e in _countersignatures(entries, subject.peer)):
                raise LedgerError(
                    f"{subject.peer!r} has signed the same entry number of its ledger for two jobs.",
                    "Ask that party whether it restored an old copy of its ledger.",
                )
            return self._append(
                entries,
                event=COUNTERSIGNED,
                job=subject.job,
                dataset=subject.dataset,
                peer=subject.peer,
                account=subject.account,
                subject=subject.hash,
                peer_sequence=peer_sequence,
                peer_hash=peer_hash,
                signature=signature.hex(),
                peer_role=peer_role,
                peer_seen=peer_seen,
            )

    def last_seen(self, peer: str) -> tuple[int, str] | None:
        """Number and hash of the latest entry of the peer's ledger for which this party keeps its word.

        Raises:
            LedgerError: as `entries`.
        """
        found = ((e.peer_sequence, e.peer_hash) for e in _countersignatures(self.entries(), peer))
        return max(found, default=None)

    def require(self, sequence: int, entry_hash: str) -> None:
        """Check that an entry of which the peer keeps the hash is still in the own ledger.

        Raises:
            LedgerError: it is not: the own ledger has gone back.
        """
        entries = self.entries()
        if sequence >= len(entries) or entries[sequence].hash != entry_hash:
            raise LedgerError(
                f"The ledger is older than what the peer has seen: entry {sequence} is missing or another.",
                "The ledger was restored from an old copy; bring back the newest one.",
            )

    @property
    def torn(self) -> tuple[Path, ...]:
        """Pieces of lines that a crash cut off and that were moved aside."""
        return tuple(sorted(self.path.parent.glob(f"{self.path.name}.torn-*")))

    @contextmanager
    def _locked(self) -> Iterator[None]:
        try:
            lock = os.open(self.path.with_name(self.path.name + ".lock"), os.O_RDWR | os.O_CREAT, 0o600)
        except OSError as problem:
            raise _unusable(self.path, problem) from None
        try:
            fcntl.flock(lock, fcntl.LOCK_EX)
            yield
        except OSError as problem:
            raise _unusable(self.path, problem) from None
        finally:
            os.close(lock)

    def _read(self) -> list[Entry]:
        try:
            data = self.path.read_bytes()
        except FileNotFoundError:
            return []
        known, before = self._known
        if not data.startswith(known):
            known, before = b"", []
        *lines, tail = data[len(known) :].split(b"\n")
        fresh: list[Entry] = []
        for number, line in enumerate(lines, len(before)):
            try:
                fresh.append(parse_line(line))
            except (ValueError, RecursionError):
                raise LedgerError(
                    f"The ledger is broken: entry {number} cannot be read.",
                    "Compare it with a backup and with the peer's countersignatures; do not edit it.",
                ) from None
        check_chain(fresh, before[-1] if before else None)
        entries, whole = [*before, *fresh], len(data) - len(tail)
        self._known = (data[:whole], entries)
        return self._mended(entries, tail, whole) if tail else entries

    def _mended(self, entries: list[Entry], tail: bytes, start: int) -> list[Entry]:
        """Handle a last line without newline: the trace of a crash while writing."""
        try:
            whole = [*entries, parse_line(tail)]
            check_chain(whole)
        except (ValueError, RecursionError, LedgerError):
            aside = self.path.with_name(f"{self.path.name}.torn-{len(entries)}-{start}")
            _write(aside, tail, os.O_TRUNC)
            with self.path.open("r+b") as file:
                file.truncate(start)
                os.fsync(file.fileno())
            return entries
        # Only the newline is missing: the loss counts, since it may have been announced.
        _write(self.path, b"\n", os.O_APPEND)
        return whole

    def _append(self, entries: list[Entry], **content: str | int) -> Entry:
        previous = entries[-1].hash if entries else GENESIS
        entry = Entry(len(entries), previous, self._clock(), **content).sealed()  # type: ignore[arg-type]
        _write(self.path, entry.line(), os.O_APPEND)
        return entry


def _countersignatures(entries: Iterable[Entry], peer: str) -> Iterator[Entry]:
    return (entry for entry in entries if entry.event == COUNTERSIGNED and entry.peer == peer)


def spent(entries: Iterable[Entry], account: Account, peer: str | None) -> Spent:
    """What entries have spent on an account towards a peer; towards all peers if it is None."""
    total = Spent()
    for entry in entries:
        if (
            entry.event == SPENT
            and peer in (None, entry.peer)
            and account.covers(entry.account, entry.dataset)
        ):
            total += entry.loss
    return total


def _write(path: Path, data: bytes, mode: int) -> None:
    """Write and force to disk, file and folder."""
    file = os.open(path, os.O_WRONLY | os.O_CREAT | mode, 0o600)
    try:
        view = memoryview(data)
        while view:
            view = view[os.write(file, view) :]
        os.fsync(file)
    finally:
        os.close(file)
    folder = os.open(path.parent, os.O_RDONLY)
    try:
        os.fsync(folder)
    finally:
        os.close(folder)


def _unusable(path: Path, problem: OSError) -> LedgerError:
    return LedgerError(
        f"The ledger {path.name} cannot be used: {problem.strerror or type(problem).__name__}.",
        "Check the disk and the rights of the file.",
    )

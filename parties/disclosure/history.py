"""Who took part in earlier exact jobs, and the refusal of jobs that differ from one in a few persons only.

Two exact sums over sets of persons that differ in one person give away that person. For each job that
releases exact figures the set of local persons is kept, as hashes under a secret of the home, and a further
job for the same people and peer is refused if its set differs from an earlier one in 1 to m - 1 persons.
Equal sets are allowed: they tell of nobody more, and are counted as runs.

Exact tables are compared more closely: each stands in the file with the cells of every person, and all that a
peer has seen of a population are one system of equations (`parties.disclosure.equations`).

The file (`parties.disclosure.log`) holds one record a job with the hashes, 8 bytes each, and one record a
table, unless an earlier record has the same.

A clustering without noise stands alone: the lines between its clusters are known, and rows between two lines,
or a line and an edge of a table, are a group that nobody has counted.

What this cannot see: the other party may vary its rows between two jobs, and of sums over intersections and
of clusters nobody knows which persons they are about. Against both there are noise and `runs_total`.

Reference: Denning, Denning and Schwartz, The tracker, ACM TODS 4, 1979; Hundepohl et al., Statistical
disclosure control, 2012, section 4.4 (differencing).
"""

from __future__ import annotations

import hashlib
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, contextmanager, suppress
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Final

import numpy as np

from parties.disclosure.equations import Shown, System
from parties.disclosure.leverage import is_nearly_of_one
from parties.disclosure.log import (
    WORD_BYTES,
    HistoryError,
    LogRecord,
    OverlapError,
    SealedLog,
    damaged_error,
    open_sealed_log,
)
from parties.disclosure.participants import ParticipantSet, Persons, difference
from parties.disclosure.records import (
    FigureRecord,
    JobRecord,
    SignedRecord,
    TableRecord,
    check_together,
)
from parties.disclosure.secret import Secret
from parties.ledger.accounting import Account
from smc.errors import DuettoError

PERSON_BYTES: Final = 8


Known = Callable[[], Counter[str]]

_Log = SealedLog[JobRecord | TableRecord]
_Record = LogRecord[JobRecord | TableRecord]


def utc_now() -> str:
    """The time as RFC 3339 in UTC, to the second."""
    return datetime.now(UTC).strftime("%Y-%m-%dT%H:%M:%SZ")


class History:
    """The exact jobs of one party. Safe among threads and processes.

    Args:
        home: the party's folder.
        clock: the time to write into records.
    """

    def __init__(self, home: Path, clock: Callable[[], str] = utc_now) -> None:
        self.path = home / "exact-jobs.log"
        self.secret_file: Final = Secret(home, self.path)
        self._clock = clock
        self._parsed: list[_Record] = []
        self._judged: tuple[bytes, bool] | None = None

    def secret(self) -> bytes:
        """The secret for the hashes, 32 bytes; made on first use.

        Raises:
            HistoryError: it is lost while records need it.
            ConfigError: the file is open to others.
        """
        with self._open():
            return self.secret_file.read()

    def records(self) -> tuple[JobRecord, ...]:
        """All jobs, the oldest first.

        Raises:
            HistoryError: the file is damaged.
        """
        with self._open() as log:
            return tuple(record.head for record in log.records() if isinstance(record.head, JobRecord))

    def unlisted(self, account: Account, peer: str, known: Known) -> tuple[JobRecord, ...]:
        """The jobs of which neither the ledger nor a table is kept, the oldest first.

        They ran before ledgers listed exact releases, or a kill cut them off. What their tables showed is
        not in the system of equations, so a further job cannot be held against it.

        Args:
            account: the population.
            peer: the other party.
            known: as of `ParticipantSet`; read after the records, each of which then has its entry.

        Raises:
            HistoryError: the file is damaged.
        """
        records, tables = [], set()
        with self._open() as log:
            for record in log.records():
                head = record.head
                if isinstance(head, TableRecord):
                    tables.add(head.job)
                elif head.peer == peer and account.covers(head.account, head.dataset):
                    records.append(head)
        left, found = Counter(known()), []
        for head in reversed(records):
            if left[head.digest] > 0:
                left[head.digest] -= 1
            elif head.job not in tables:
                found.append(head)
        return tuple(reversed(found))

    def nearest(self, account: Account, peer: str, job: str) -> int | None:
        """In how many persons a job's set differs from the nearest one of an earlier job, as they are kept.

        Args:
            account: the population.
            peer: the other party.
            job: the name of the job.

        Returns:
            Their number; None if all are equal to it, or if there are no earlier ones, or nothing of the job.

        Raises:
            HistoryError: the file is damaged.
        """
        with self._open() as log:
            sets: dict[str, _Record] = {}
            earlier: set[str] = set()
            for record in log.records():
                head = record.head
                if not isinstance(head, JobRecord):
                    continue
                if head.stored:
                    sets[head.digest] = record
                if head.job == job:
                    own = self._persons(log, sets, head.digest)
                    apart = (difference(own, self._persons(log, sets, one)) for one in earlier)
                    return min(filter(None, apart), default=None)
                if head.peer == peer and account.covers(head.account, head.dataset):
                    earlier.add(head.digest)
        return None

    def check(self, participants: ParticipantSet) -> None:
        """Check a job against the earlier ones; nothing is written.

        Raises:
            OverlapError: it differs from one in too few persons.
            HistoryError: the file or its secret is damaged, or lacks a set that the ledger names.
        """
        with self._open() as log:
            self._compare(log, participants)

    @contextmanager
    def recorded(self, participants: ParticipantSet, is_released: Callable[[], bool]) -> Iterator[str]:
        """Check a job once more and keep its persons on disk before the ledger gets its entry inside.

        The file stays locked until then: others see both or neither. If the ledger gets none, the record is
        taken back, or later exact jobs would be left to a person for good (`unlisted`).

        Args:
            participants: of the job.
            is_released: whether the ledger has the entry; asked if the inside raises.

        Yields:
            The digest of their set, hexadecimal.

        Raises:
            OverlapError: it differs from an earlier one in too few persons.
            HistoryError: the file or its secret is damaged, lacks a set that the ledger names, or cannot be
                written.
        """
        with self._open() as log:
            known = self._compare(log, participants)
            hashes = participants.persons.astype("<u8").tobytes()
            digest = hashlib.sha256(hashes).hexdigest()
            count = len(participants.persons)
            record = FigureRecord(
                participants.job,
                self._clock(),
                participants.account.name,
                participants.dataset,
                participants.peer,
                self.secret_file.fingerprint(),
                count,
                digest,
                0 if digest in known else count,
                participants.whom.value if participants.whom is not None else "",
            )
            log.append(record, hashes if record.stored else b"")
            try:
                yield digest
            except BaseException:
                with suppress(DuettoError, OSError):  # then the record stays
                    if not is_released():
                        log.withdraw()
                raise

    def allows(self, participants: ParticipantSet, tables: Sequence[Shown]) -> bool:
        """Whether tables may be opened to the other party after all that it has seen.

        Args:
            participants: of the job.
            tables: what would be opened.

        Raises:
            HistoryError: the file or its secret is damaged.
        """
        with self._open() as log:
            return not self._reveals(log, participants, tables)

    def record_tables(self, participants: ParticipantSet, tables: Sequence[Shown]) -> None:
        """Check tables once more and keep them, as one operation; on return they are on disk.

        Raises:
            OverlapError: another job has opened one meanwhile, with which they would reveal too much.
            HistoryError: the file or its secret is damaged, or cannot be written.
        """
        with self._open() as log:
            if self._reveals(log, participants, tables):
                raise OverlapError(
                    f"Together with earlier exact tables the results would reveal figures about fewer than "
                    f"{participants.minimum} persons, or a sum that one person dominates.",
                    "Use the same groups and edges as before, or add noise to the job (epsilon).",
                )
            for table in tables:
                self._append(log, participants, table)

    def _append(self, log: _Log, participants: ParticipantSet, table: Shown) -> None:
        content = table.encoded()
        digest = hashlib.sha256(content).hexdigest()
        known = {each.head.table for each in log.records() if isinstance(each.head, TableRecord)}
        fields = (
            participants.job,
            participants.account.name,
            participants.dataset,
            participants.peer,
            self.secret_file.fingerprint(),
            digest,
            len(table.persons),
            table.equations.shape[1],
            len(table.equations),
            table.summed,
            0 if digest in known else len(content) // WORD_BYTES,
        )
        record = TableRecord(*fields) if table.signed is None else SignedRecord(*fields, len(table.signed))
        log.append(record, content if record.stored else b"")

    def _reveals(self, log: _Log, participants: ParticipantSet, tables: Sequence[Shown]) -> bool:
        """Whether tables, with all that the peer has seen of the population, tell of too few persons.

        A job asks before it opens tables and as it keeps them; the last answer stands while all is the same.
        """
        earlier, fresh = self._system(log, participants, tables)
        system = System([*earlier, *fresh])
        group = participants.group if participants.group > 1 else participants.minimum
        what = hashlib.sha256(
            repr((group, participants.minimum, participants.dominance, len(fresh))).encode()
        )
        for table in system.tables:
            what.update(repr((table.equations.shape, table.summed, table.signed is None)).encode())
            what.update(hashlib.sha256(table.encoded()).digest())
        if self._judged is None or self._judged[0] != what.digest():
            found = (
                system.pins_down(group, participants.minimum)
                or system.is_dominated(participants.dominance, len(fresh))
                or is_nearly_of_one(system.tables, participants.dominance)
            )
            self._judged = (what.digest(), found)
        return self._judged[1]

    def _system(
        self, log: _Log, participants: ParticipantSet, new: Sequence[Shown]
    ) -> tuple[list[Shown], list[Shown]]:
        """The tables that the peer has seen of a population, and the new ones among others, each once."""
        found: dict[str, TableRecord] = {}
        stored: dict[str, _Record] = {}
        keys = set()
        for record in log.records():
            head = record.head
            if not isinstance(head, TableRecord):
                continue
            if head.stored:
                stored[head.table] = record
            alike = participants.account.covers(head.account, head.dataset)
            if alike and head.peer == participants.peer:
                keys.add(head.key)
                found[head.table] = head
        self.secret_file.check(keys)
        tables = []
        for digest, head in found.items():
            data = _verified(self.path, log, stored.get(digest), digest)
            shape = (head.equations, head.cells)
            signed = head.signed if isinstance(head, SignedRecord) else 0
            shown = Shown.decoded(data, head.entries, shape, head.summed, signed)
            tables.append(replace(shown, persons=participants.renamed(shown.persons)))
        fresh = {hashlib.sha256(table.encoded()).hexdigest(): table for table in new}
        return tables, [table for digest, table in fresh.items() if digest not in found]

    def _compare(self, log: _Log, participants: ParticipantSet) -> set[str]:
        """Compare with all earlier jobs; returns the digests of the sets that are stored."""
        own = hashlib.sha256(participants.persons.astype("<u8").tobytes()).hexdigest()
        earlier: dict[str, JobRecord] = {}
        stored: dict[str, _Record] = {}
        there: Counter[str] = Counter()
        keys = set()
        for record in log.records():
            head = record.head
            if not isinstance(head, JobRecord):
                continue
            if head.stored:
                stored[head.digest] = record
            alike = participants.account.covers(head.account, head.dataset)
            if alike and head.peer == participants.peer:
                keys.add(head.key)
                earlier.setdefault(head.digest, head)
                check_together(head, participants)
                there[head.digest] += 1
        self.secret_file.check(keys)
        if lost := (participants.known - there).total():
            raise HistoryError(
                f"{self.path.name} lacks {lost} records: the ledger says that exact figures about these sets "
                f"of persons were released to {participants.peer!r} (account {participants.account.name!r}).",
                f"Restore {self.path.name} and keys/{self.secret_file.path.name} from a backup as new as the "
                "ledger. Until then only jobs with noise (epsilon) run.",
            )
        for digest, head in earlier.items():
            sizes = abs(head.persons - len(participants.persons))
            if digest == own or (sizes >= participants.minimum and not len(participants.aliases)):
                continue
            kept = self._persons(log, stored, digest)
            earlier_persons = np.unique(participants.renamed(kept))
            if 0 < difference(earlier_persons, participants.persons) < participants.minimum:
                raise OverlapError(
                    f"Its persons of this party differ from those of job {head.job} in fewer than "
                    f"{participants.minimum}; both results together would reveal figures about these few.",
                    "Add noise to the job (epsilon), or use the same rows as before.",
                )
        return set(stored)

    def _persons(self, log: _Log, stored: Mapping[str, _Record], digest: str) -> Persons:
        """The set with that digest."""
        data = _verified(self.path, log, stored.get(digest), digest)
        return np.frombuffer(data, dtype="<u8").astype(np.uint64)

    def _open(self) -> AbstractContextManager[_Log]:
        return open_sealed_log(self.path, (JobRecord, FigureRecord, TableRecord, SignedRecord), self._parsed)


def _verified(path: Path, log: _Log, record: _Record | None, digest: str) -> bytes:
    data = b"" if record is None else log.read(record)
    if hashlib.sha256(data).hexdigest() != digest:
        raise damaged_error(path.name, 0 if record is None else record.start)
    return data

"""Who took part in earlier exact jobs, and the refusal of jobs that differ from one in a few persons only.

Two exact sums over sets of persons that differ in one person give away that person. For each job that
releases exact figures the set of own persons is kept, as hashes under a secret of the home, and a further job
for the same people and peer is refused if its set differs from an earlier one in 1 to m - 1 persons. Equal
sets are allowed: they tell of nobody more, and are counted as runs.

The file is append-only and holds one record a job: a line of JSON, then the hashes, 8 bytes each, unless an
earlier record of the same set has them. A record is on disk before results are opened; what a crash leaves of
a shorter one is no record, and nothing was opened for it.

What this cannot see: the other party may vary its own rows between two jobs, and several earlier jobs may
together give away what none of them does. Against both there are noise and `runs_total`.

Reference: Denning, Denning and Schwartz, The tracker, ACM TODS 4, 1979; Hundepohl et al., Statistical
disclosure control, 2012, section 4.4 (differencing).
"""

from __future__ import annotations

import fcntl
import hashlib
import json
import os
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import asdict, dataclass, fields, replace
from datetime import UTC, datetime
from pathlib import Path
from typing import BinaryIO, Final

import numpy as np
from numpy.typing import NDArray

from parties.errors import ConfigError, PolicyError
from parties.ledger.accounting import Account
from parties.pki.files import PRIVATE, read_private, write_atomically

SECRET_BYTES: Final = 32
PERSON_BYTES: Final = 8

Persons = NDArray[np.uint64]
"""Hashes of persons, sorted, each once; shape (n,)."""

_HEAD_BYTES: Final = 1 << 12


class OverlapError(PolicyError):
    """An exact job is about almost the same persons as an earlier one; add noise or use the same rows."""

    code = "overlap"


class HistoryError(PolicyError):
    """The record of earlier exact jobs cannot be trusted or written; exact jobs are refused."""

    code = "history"


@dataclass(frozen=True, slots=True)
class Record:
    """One exact job.

    Attributes:
        job: name of the job.
        time: when its results were about to be opened, RFC 3339 in UTC; for people.
        account: the population.
        dataset: the own data set.
        peer: the other party.
        key: which secret made the hashes, hexadecimal.
        persons: how many took part.
        digest: of the hashes, hexadecimal.
        stored: how many hashes follow the line.
        seal: a checksum of all the above, hexadecimal, so that damage is not taken for the trace of a crash.
    """

    job: str
    time: str
    account: str
    dataset: str
    peer: str
    key: str
    persons: int
    digest: str
    stored: int
    seal: str = ""

    def sealed(self) -> Record:
        """The record with its checksum."""
        content = json.dumps(asdict(self) | {"seal": ""}, sort_keys=True).encode()
        return replace(self, seal=hashlib.blake2b(content, digest_size=8).hexdigest())


@dataclass(frozen=True, slots=True)
class Attendance:
    """The own persons of one job.

    Attributes:
        job: name of the job.
        account: the population, with its data sets.
        dataset: the own data set.
        peer: the other party.
        persons: who takes part.
        minimum: the least number of persons in which it differs from any other, unless in none.
        known: the digests of the sets about which the ledger says that exact figures were released; a record
            has to be there of each.
    """

    job: str
    account: Account
    dataset: str
    peer: str
    persons: Persons
    minimum: int
    known: frozenset[str] = frozenset()


def persons_of(identities: NDArray[np.void] | None) -> Persons:
    """The set of persons with these 16-byte hashes (`parties.catalog.persons.identities`); none of None.

    The first half of each is kept: two of a million persons coincide with a probability below 2**-24 and then
    count as one.
    """
    if identities is None:
        return np.empty(0, dtype=np.uint64)
    halves = np.ascontiguousarray(identities).view("<u8").reshape(-1, 2)[:, 0]
    found: Persons = np.unique(halves.astype(np.uint64))
    return found


def difference(one: Persons, other: Persons) -> int:
    """The number of persons in one of two sets and not in the other."""
    return len(one) + len(other) - 2 * len(np.intersect1d(one, other, assume_unique=True))


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
        self._secret_path = home / "keys" / "exact-jobs.key"
        self._clock = clock

    def secret(self) -> bytes:
        """The secret for the hashes, 32 bytes; made on first use.

        Raises:
            HistoryError: it is lost while records need it.
            ConfigError: the file is open to others.
        """
        with self._locked():
            return self._secret()

    def records(self) -> tuple[Record, ...]:
        """All jobs, the oldest first.

        Raises:
            HistoryError: the file is damaged.
        """
        with self._locked(), self._open() as file:
            return tuple(record for record, _ in _records(file))

    def check(self, attendance: Attendance) -> None:
        """Check a job against the earlier ones; nothing is written.

        Raises:
            OverlapError: it differs from one in too few persons.
            HistoryError: the file or its secret is damaged, or lacks a set that the ledger names.
        """
        with self._locked(), self._open() as file:
            self._compare(file, attendance)

    def record(self, attendance: Attendance) -> str:
        """Check a job once more and keep its persons, as one operation; on return they are on disk.

        Returns:
            The digest of their set, hexadecimal.

        Raises:
            OverlapError: it differs from an earlier one in too few persons.
            HistoryError: the file or its secret is damaged, lacks a set that the ledger names, or cannot be
                written.
        """
        with self._locked(), self._open() as file:
            known = self._compare(file, attendance)
            hashes = attendance.persons.astype("<u8").tobytes()
            digest = hashlib.sha256(hashes).hexdigest()
            record = Record(
                attendance.job,
                self._clock(),
                attendance.account.name,
                attendance.dataset,
                attendance.peer,
                _fingerprint(self._secret()),
                len(attendance.persons),
                digest,
                0 if digest in known else len(attendance.persons),
            ).sealed()
            file.write(json.dumps(asdict(record), sort_keys=True).encode() + b"\n")
            file.write(hashes if record.stored else b"")
            file.flush()
            os.fsync(file.fileno())
        return digest

    def _compare(self, file: BinaryIO, attendance: Attendance) -> set[str]:
        """Compare with all earlier sets; returns the digests of those that are stored.

        The file is left at its end, without what a crash may have left there.
        """
        own = hashlib.sha256(attendance.persons.astype("<u8").tobytes()).hexdigest()
        earlier: dict[str, Record] = {}
        places: dict[str, tuple[int, int]] = {}
        end = 0
        for record, start in _records(file):
            if record.stored:
                places[record.digest] = (start, record.stored)
            alike = attendance.account.covers(record.account, record.dataset)
            if alike and record.peer == attendance.peer:
                self._check_key(record)
                earlier.setdefault(record.digest, record)
            end = start + record.stored * PERSON_BYTES
        if lost := len(attendance.known - set(earlier)):
            raise HistoryError(
                f"{self.path.name} lacks {lost} sets of persons: the ledger says that exact figures about "
                f"them were released to {attendance.peer!r} (account {attendance.account.name!r}).",
                f"Restore {self.path.name} and keys/{self._secret_path.name} from a backup as new as the "
                "ledger. Until then only jobs with noise (epsilon) run.",
            )
        for digest, record in earlier.items():
            sizes = abs(record.persons - len(attendance.persons))
            if digest == own or sizes >= attendance.minimum:
                continue
            if 0 < difference(_stored(file, places, record), attendance.persons) < attendance.minimum:
                raise OverlapError(
                    f"Its own persons differ from those of job {record.job} in fewer than "
                    f"{attendance.minimum}; both results together would tell about these few.",
                    "Add noise to the job (epsilon), or use the same rows as before.",
                )
        file.seek(end)
        file.truncate()
        return set(places)

    def _check_key(self, record: Record) -> None:
        if record.key != _fingerprint(self._secret()):
            raise HistoryError(
                f"{self._secret_path.name} is not the secret that {self.path.name} was written with.",
                "Restore both from the same backup.",
            )

    def _secret(self) -> bytes:
        if not self._secret_path.exists():
            if self.path.exists() and self.path.stat().st_size:
                raise HistoryError(
                    f"{self._secret_path.name} is lost, and with it the means to compare with earlier jobs.",
                    "Restore it from a backup.",
                )
            write_atomically(self._secret_path, os.urandom(SECRET_BYTES), PRIVATE)
        secret = read_private(self._secret_path)
        if len(secret) != SECRET_BYTES:
            raise HistoryError(f"{self._secret_path.name} is damaged.", "Restore it from a backup.")
        return secret

    @contextmanager
    def _locked(self) -> Iterator[None]:
        try:
            self._secret_path.parent.mkdir(mode=0o700, exist_ok=True)
            lock = os.open(self.path.with_name(self.path.name + ".lock"), os.O_RDWR | os.O_CREAT, PRIVATE)
        except OSError as problem:
            raise self._unusable(problem) from None
        try:
            fcntl.flock(lock, fcntl.LOCK_EX)
            yield
        except OSError as problem:
            raise self._unusable(problem) from None
        finally:
            os.close(lock)

    @contextmanager
    def _open(self) -> Iterator[BinaryIO]:
        file = os.open(self.path, os.O_RDWR | os.O_CREAT | os.O_NOFOLLOW, PRIVATE)
        with os.fdopen(file, "r+b") as stream:
            if os.fstat(stream.fileno()).st_mode & 0o077:
                raise ConfigError(f"{self.path} is open to other users.", f"Run `chmod 600 {self.path}`.")
            yield stream

    def _unusable(self, problem: OSError) -> HistoryError:
        return HistoryError(
            f"The record of exact jobs {self.path.name} cannot be used: "
            f"{problem.strerror or type(problem).__name__}.",
            "Check the disk and the rights of the file.",
        )


def _records(file: BinaryIO) -> Iterator[tuple[Record, int]]:
    """The whole records and where their hashes start; a piece at the end is left out."""
    size = file.seek(0, os.SEEK_END)
    place = 0
    while place < size:
        file.seek(place)
        line = file.readline(_HEAD_BYTES)
        if not line.endswith(b"\n"):
            if place + len(line) == size:
                return
            raise _damaged(place)
        record = _parse(line, place)
        start = place + len(line)
        place = start + record.stored * PERSON_BYTES
        if place > size:
            return
        yield record, start


def _parse(line: bytes, place: int) -> Record:
    try:
        content = json.loads(line)
        record = Record(**content)
        kinds = {field.name: int if field.name in ("persons", "stored") else str for field in fields(Record)}
        if any(type(content[name]) is not kind for name, kind in kinds.items()):
            raise ValueError
        if record.stored not in (0, record.persons) or record.persons < 0 or record != record.sealed():
            raise ValueError
    except (ValueError, TypeError, RecursionError):
        raise _damaged(place) from None
    return record


def _stored(file: BinaryIO, places: dict[str, tuple[int, int]], record: Record) -> Persons:
    start, count = places.get(record.digest, (0, 0))
    file.seek(start)
    data = file.read(count * PERSON_BYTES)
    if hashlib.sha256(data).hexdigest() != record.digest:
        raise _damaged(start)
    return np.frombuffer(data, dtype="<u8").astype(np.uint64)


def _fingerprint(secret: bytes) -> str:
    return hashlib.blake2b(b"duetto exact jobs", key=secret, digest_size=8).hexdigest()


def _damaged(place: int) -> HistoryError:
    return HistoryError(
        f"The record of exact jobs is damaged near byte {place}.",
        "Restore it from a backup; without it no exact job can be compared with earlier ones.",
    )

"""A file of records of which each carries the hash of the one before; lines are added, never changed.

It has the form of the ledger of joint jobs and no code in common with it: neither package imports the other.
"""

from __future__ import annotations

import errno
import fcntl
import glob
import hashlib
import json
import os
import pwd
import stat
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, Final, Self

from anonymizer.errors import LedgerError

GENESIS: Final = "0" * 64
"""What stands as the hash before the first record."""
FORMAT: Final = 1

_DOMAIN: Final = b"duetto record of releases v1\0"
_BACKUP: Final = "Compare it with a backup; do not edit it."


@dataclass(frozen=True, slots=True)
class Record:
    """One line.

    Attributes:
        sequence: its number, from 0 without gaps.
        previous: hash of the record before, hexadecimal.
        time: when it was written, RFC 3339 in UTC to the second.
        account: of the machine that wrote it, by name.
        uid: of that account.
        event: what happened, a word.
        content: of the event, plain JSON values.
        hash: of all the others, hexadecimal.
    """

    sequence: int
    previous: str
    time: str
    account: str
    uid: int
    event: str
    content: Mapping[str, Any] = field(repr=False)
    hash: str = ""

    def sealed(self) -> Self:
        """The same with its hash."""
        return replace(self, hash=self._digest())

    @property
    def is_sealed(self) -> bool:
        """Whether the hash is that of the others."""
        return self.hash == self._digest()

    def to_document(self) -> dict[str, Any]:
        """As plain JSON values."""
        names = (name for name in self.__slots__ if name != "content")
        return {
            "format": FORMAT,
            "content": dict(self.content),
            **{name: getattr(self, name) for name in names},
        }

    def line(self) -> bytes:
        """The line in the file, its end included."""
        return _canonical(self.to_document()) + b"\n"

    @classmethod
    def from_line(cls, line: bytes) -> Self:
        """Read a line.

        Raises:
            ValueError: it is no record.
        """
        document = json.loads(line)
        if not isinstance(document, dict) or set(document) != {"format", *cls.__slots__}:
            raise ValueError("not a record")
        kinds = {"format": int, "sequence": int, "uid": int, "content": dict}
        for name, value in document.items():
            if type(value) is not kinds.get(name, str):
                raise ValueError("wrong type")
        if document.pop("format") != FORMAT:
            raise ValueError("another format")
        return cls(**document)

    def _digest(self) -> str:
        document = self.to_document()
        del document["hash"]
        return hashlib.sha256(_DOMAIN + _canonical(document)).hexdigest()


_MAKE: Final = os.O_CREAT | os.O_EXCL
_TORN: Final = ".torn-"


def now() -> str:
    """The time by the clock of the machine, RFC 3339 in UTC to the second."""
    return datetime.now(UTC).strftime("%Y-%m-%dT%H:%M:%SZ")


class RecordFile:
    """The file of records; safe among processes.

    Args:
        path: the file; it is made when first written.
        clock: the time that is written into records.
    """

    def __init__(self, path: Path, clock: Callable[[], str] = now) -> None:
        self.path: Final = path
        self._clock = clock

    def read(self) -> tuple[Record, ...]:
        """All records, checked. Without the lock: a line that is being written does not count yet.

        Raises:
            LedgerError: the file is unreadable, or a record does not continue the one before.
        """
        return self._read()[0]

    @property
    def losses(self) -> tuple[str, ...]:
        """Where records lie that were not whole, a sentence each: a crash has left them, or somebody."""
        tail = self._read()[2]
        found = [f"The last line of {self.path} is not a whole record and does not count."] if tail else []
        found += [
            f"{place} holds a record that was not whole and does not count."
            for place in sorted(self.path.parent.glob(f"{glob.escape(self.path.name)}{_TORN}*"))
        ]
        return tuple(f"{one} Compare the releases with a copy of the ledger." for one in found)

    @contextmanager
    def locked(self) -> Iterator[Writing]:
        """Hold the file, for those who write; others wait.

        Raises:
            LedgerError: as `read`, or the file cannot be written.
        """
        try:
            file, is_new = _open_locked(self.path)
        except OSError as problem:
            raise _unusable(self.path, problem) from None
        try:
            records, data, tail = self._read()
            if tail:
                self._mend(file, records, data, tail)
                records = self.read()
            yield Writing(self.path, file, list(records), self._clock)
        finally:
            # an own file that stayed empty says nothing, and others who wait for it look again
            if is_new and not os.fstat(file).st_size:
                self.path.unlink(missing_ok=True)
            os.close(file)

    def _read(self) -> tuple[tuple[Record, ...], bytes, bytes]:
        """The records, the whole lines, and what follows the last end of a line."""
        try:
            data = self.path.read_bytes()
        except FileNotFoundError:
            data = b""
        except OSError as problem:
            raise _unusable(self.path, problem) from None
        *lines, tail = data.split(b"\n")
        found: list[Record] = []
        for number, line in enumerate(lines):
            try:
                one = Record.from_line(line)
            except (ValueError, RecursionError):
                raise LedgerError(
                    f"{self.path.name} is broken: record {number} cannot be read.", _BACKUP
                ) from None
            self._check(one, found)
            found.append(one)
        return tuple(found), data[: len(data) - len(tail)], tail

    def _check(self, one: Record, before: list[Record] | tuple[Record, ...]) -> None:
        previous = before[-1].hash if before else GENESIS
        if one.sequence != len(before) or one.previous != previous or not one.is_sealed:
            raise LedgerError(
                f"{self.path.name} is broken at record {len(before)}: it does not continue the one before.",
                _BACKUP,
            )

    def _mend(self, file: int, records: tuple[Record, ...], data: bytes, tail: bytes) -> None:
        """Handle a last line without its end, the trace of a crash; the lock is held."""
        try:
            self._check(Record.from_line(tail), records)
        except (ValueError, RecursionError, LedgerError):
            aside = self.path.with_name(f"{self.path.name}{_TORN}{len(records)}")
            aside.write_bytes(tail)
            os.ftruncate(file, len(data))
            os.fsync(file)
            return
        # only the end is missing: the record counts, since the release may have got its name
        os.write(file, b"\n")
        os.fsync(file)


@dataclass(slots=True)
class Writing:
    """The file while it is locked.

    Attributes:
        path: of the file.
        file: its descriptor.
        records: that it has.
        clock: the time that is written into records.
    """

    path: Path
    file: int
    records: list[Record]
    clock: Callable[[], str] = field(repr=False)

    def append(self, event: str, content: Mapping[str, Any]) -> Record:
        """Write a record; on return it is on the disk.

        Raises:
            LedgerError: it cannot be written; the file is as before.
        """
        previous = self.records[-1].hash if self.records else GENESIS
        account, uid = who()
        one = Record(len(self.records), previous, self.clock(), account, uid, event, content).sealed()
        size = os.fstat(self.file).st_size
        try:
            view = memoryview(one.line())
            while view:
                view = view[os.write(self.file, view) :]
            os.fsync(self.file)
            _sync(self.path.parent)
        except OSError as problem:
            os.ftruncate(self.file, size)
            raise _unusable(self.path, problem) from None
        self.records.append(one)
        return one


def who() -> tuple[str, int]:
    """The account that runs the program: its name, or "" where it has none, and its number."""
    uid = os.geteuid()
    try:
        return pwd.getpwuid(uid).pw_name, uid
    except KeyError:
        return "", uid


def _open_locked(path: Path) -> tuple[int, bool]:
    """Open a file that grows at its end, and wait for its lock; whether it was made here.

    Raises:
        OSError: it cannot be opened, or is a folder, device or pipe.
    """
    while True:
        is_new = not path.exists()
        if not is_new and not path.is_file():
            raise OSError(errno.EINVAL, "it is not an ordinary file")
        try:
            # without waiting for a writer, should it have become a pipe
            file = os.open(path, os.O_RDWR | os.O_APPEND | os.O_NONBLOCK | (_MAKE if is_new else 0), 0o666)
        except (FileExistsError, FileNotFoundError):
            if path.parent.is_dir():
                continue  # another process has made it or taken it away
            raise
        try:
            fcntl.flock(file, fcntl.LOCK_EX)
            found = os.fstat(file)
            if not stat.S_ISREG(found.st_mode):
                raise OSError(errno.EINVAL, "it is not an ordinary file")
            if path.exists() and os.path.samestat(found, path.stat()):
                return file, is_new
        except BaseException:
            os.close(file)
            raise
        os.close(file)  # whoever had it has taken it away


def _sync(folder: Path) -> None:
    place = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(place)
    finally:
        os.close(place)


def _canonical(document: Mapping[str, Any]) -> bytes:
    return json.dumps(document, sort_keys=True, separators=(",", ":"), allow_nan=False).encode()


def _unusable(path: Path, problem: OSError) -> LedgerError:
    return LedgerError(
        f"{path} cannot be used: {problem.strerror or type(problem).__name__}.",
        "Releases are recorded beside their table: give it a place on the disk that may be written.",
    )

"""A file of records of which each carries the hash of the one before; lines are added, never changed."""

from __future__ import annotations

import json
import os
import pwd
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field, fields
from datetime import UTC, datetime
from functools import partial
from pathlib import Path
from typing import Any, Final, Self

from typing_extensions import override

from anonymizer.errors import LedgerError
from commons.logs.chain import ChainedLog
from commons.logs.lines import Line

FORMAT: Final = 1


@dataclass(frozen=True, slots=True)
class Record(Line):
    """One line.

    Attributes:
        account: of the machine that wrote it, by name.
        uid: of that account.
        event: what happened, a word.
        content: of the event, plain JSON values.
    """

    account: str
    uid: int
    event: str
    content: Mapping[str, Any] = field(repr=False)

    @property
    @override
    def domain(self) -> bytes:
        return b"duetto record of releases v1\0"

    @override
    def body(self) -> dict[str, Any]:
        return {"format": FORMAT} | {name: getattr(self, name) for name in _NAMES if name != "hash"}

    @classmethod
    def from_line(cls, line: bytes) -> Self:
        """Read a line.

        Raises:
            ValueError: it is no record.
        """
        document = json.loads(line)
        if not isinstance(document, dict) or set(document) != _NAMES | {"format"}:
            raise ValueError("not a record")
        kinds = {"format": int, "sequence": int, "uid": int, "content": dict}
        for name, value in document.items():
            if type(value) is not kinds.get(name, str):
                raise ValueError("wrong type")
        if document.pop("format") != FORMAT:
            raise ValueError("another format")
        return cls(**document)


_NAMES: Final = frozenset(one.name for one in fields(Record))


def now() -> str:
    """The time by the clock of the machine, RFC 3339 in UTC to the second."""
    return datetime.now(UTC).strftime("%Y-%m-%dT%H:%M:%SZ")


class RecordFile:
    """The file of records; safe among processes.

    Args:
        path: the file; it is made when first written.
    """

    def __init__(self, path: Path) -> None:
        self.path: Final = path
        self._records: list[Record] = []
        words = partial(_ledger_error, path), partial(_unusable, path)
        self._log = ChainedLog(path, Record.from_line, *words, mode=0o666)

    def read(self) -> tuple[Record, ...]:
        """All records, checked. Without the lock: a line that is being written does not count yet.

        Raises:
            LedgerError: the file is unreadable, or a record does not continue the one before.
        """
        return tuple(self._log.read().lines)

    @property
    def losses(self) -> tuple[str, ...]:
        """Where records lie that were not whole, a sentence each: a crash has left them, or somebody."""
        found = []
        if self._log.read().tail:
            found.append(f"The last line of {self.path} is not a whole record and does not count.")
        found += [
            f"{place} holds a record that was not whole and does not count." for place in self._log.torn
        ]
        return tuple(f"{one} Compare the releases with a copy of the ledger." for one in found)

    @contextmanager
    def lock(self) -> Iterator[list[Record]]:
        """Hold the file, for those who write; others wait. Nothing is laid beside it.

        Yields:
            All records; those that are appended come to them.

        Raises:
            LedgerError: as `read`, or the file cannot be written.
        """
        with self._log.lock(beside=False):
            found = self._log.read()
            self._log.repair(found)
            self._records = found.lines
            yield found.lines

    def append(self, event: str, content: Mapping[str, Any]) -> Record:
        """Write a record, while the file is held; on return it is on the disk.

        Raises:
            LedgerError: it cannot be written; the file is as before.
        """
        whose = who()
        (made,) = self._log.extend(
            [lambda number, previous: Record(number, previous, now(), *whose, event, content).seal()]
        )
        self._records.append(made)
        return made


def who() -> tuple[str, int]:
    """The account that runs the program: its name, or "" where it has none, and its number."""
    uid = os.geteuid()
    try:
        return pwd.getpwuid(uid).pw_name, uid
    except KeyError:
        return "", uid


def _ledger_error(path: Path, number: int, how: str) -> LedgerError:
    return LedgerError(
        f"{path.name} is broken: record {number} {how}.", "Compare it with a backup; do not edit it."
    )


def _unusable(path: Path, problem: OSError) -> LedgerError:
    return LedgerError(
        f"{path} cannot be used: {problem.strerror or type(problem).__name__}.",
        "Releases are recorded beside their table: give it a place on the disk that may be written, or name "
        "another by --ledger.",
    )

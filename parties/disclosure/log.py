"""Append-only files of what must be remembered of earlier results: a sealed line of JSON, then its bytes.

A record is on disk before results are opened; what a crash leaves of a shorter one is not a record, and
nothing was opened for it. Damage elsewhere is noticed by the seal, a checksum, and is an error.
"""

from __future__ import annotations

import hashlib
import json
import os
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import asdict, dataclass, field, fields
from pathlib import Path
from shlex import quote
from typing import Any, BinaryIO, ClassVar, Final, Generic, Protocol, TypeVar

from commons.logs.files import LogFile, lock_beside, open_log
from parties.errors import ConfigError, PolicyError

WORD_BYTES: Final = 8

_HEAD_BYTES: Final = 1 << 12
_TYPES: Final = {"int": int, "str": str}


class HistoryError(PolicyError):
    """What is known of earlier exact jobs cannot be trusted or written; exact jobs are refused."""

    code = "history"


class OverlapError(PolicyError):
    """An exact job is about almost the same persons as an earlier one; add noise or use the same rows."""

    code = "overlap"


class Head(Protocol):
    """A dataclass whose fields are numbers and texts."""

    __dataclass_fields__: ClassVar[dict[str, Any]]

    @property
    def stored(self) -> int:
        """The words of `WORD_BYTES` bytes behind the line."""


_Head = TypeVar("_Head", bound=Head)


@dataclass(frozen=True, slots=True)
class LogRecord(Generic[_Head]):
    """One record of a log.

    Attributes:
        line: its fields, as they stand in the file.
        head: what they say.
        start: where its bytes stand in the file.
        length: how many they are.
    """

    line: bytes = field(repr=False)
    head: _Head
    start: int
    length: int


class SealedLog(Generic[_Head]):
    """A log while it is open; made by `open_sealed_log`.

    Args:
        file: the open file, held.
        stream: the same for reading; writing passes its buffer by.
        kinds: what heads there are, which differ in the names or types of their fields.
        parsed: the records as they were when the file was read last, empty at first; kept up to date here.
            Every line is read again, and parsed again unless it is the same in the same place.
    """

    def __init__(
        self,
        file: LogFile,
        stream: BinaryIO,
        kinds: Sequence[type[_Head]],
        parsed: list[LogRecord[_Head]],
    ) -> None:
        self._log = file
        self._file = stream
        self._kinds = [({each.name: _TYPES[str(each.type)] for each in fields(kind)}, kind) for kind in kinds]
        self._parsed = parsed
        self._is_read = False

    def records(self) -> Sequence[LogRecord[_Head]]:
        """The whole records, the oldest first; a piece of one at the end is left out.

        Raises:
            HistoryError: the file is damaged.
        """
        if not self._is_read:
            self._parsed[:] = self._read()
            self._is_read = True
        return self._parsed

    def read(self, record: LogRecord[_Head]) -> bytes:
        """The bytes of a record."""
        self._file.seek(record.start)
        return self._file.read(record.length)

    def append(self, head: _Head, data: bytes) -> None:
        """Write a record behind the last whole one; on return it is on disk, and after an error it is not."""
        content = asdict(head)
        content["seal"] = _seal(content)
        last = self.records()[-1:]
        self._is_read = False
        line = json.dumps(content, sort_keys=True).encode() + b"\n"
        self._log.append(line + data, last[0].start + last[0].length if last else 0)

    def withdraw(self) -> None:
        """Take the last whole record back; on return it is gone from the disk."""
        last = self.records()[-1]
        self._is_read = False
        self._log.cut(last.start - len(last.line))

    def _read(self) -> list[LogRecord[_Head]]:
        found: list[LogRecord[_Head]] = []
        size = self._file.seek(0, os.SEEK_END)
        place = self._file.seek(0)
        while place < size:
            line = self._file.readline(_HEAD_BYTES)
            if not line.endswith(b"\n"):
                if place + len(line) == size:
                    break
                raise damaged_error(self._log.path.name, place)
            start = place + len(line)
            record = self._parsed[len(found)] if len(found) < len(self._parsed) else None
            if record is None or record.line != line or record.start != start:
                head = self._head(line, place)
                record = LogRecord(line, head, start, head.stored * WORD_BYTES)
            place = start + record.length
            if place > size:
                break
            if record.length:
                self._file.seek(place)
            found.append(record)
        return found

    def _head(self, line: bytes, place: int) -> _Head:
        try:
            content = json.loads(line)
            seal = content.pop("seal")
            types = {name: type(value) for name, value in content.items()}
            (kind,) = (kind for wanted, kind in self._kinds if wanted == types)
            if content["stored"] < 0 or seal != _seal(content):
                raise ValueError
        except (ValueError, TypeError, KeyError, AttributeError, RecursionError):
            raise damaged_error(self._log.path.name, place) from None
        return kind(**content)


@contextmanager
def open_sealed_log(
    path: Path, kinds: Sequence[type[_Head]], parsed: list[LogRecord[_Head]]
) -> Iterator[SealedLog[_Head]]:
    """Open a log, made on first use, while no other thread or process has it open.

    Args:
        path: its file.
        kinds: as of `SealedLog`.
        parsed: as of `SealedLog`; it is changed while the log is open only.

    Raises:
        HistoryError: it cannot be used.
        ConfigError: it is open to other users.
    """
    try:
        with lock_beside(path), open_log(path, os.O_NOFOLLOW) as file:
            if os.fstat(file.descriptor).st_mode & 0o077:
                raise ConfigError(f"{path} is open to other users.", f"Run `chmod 600 {quote(str(path))}`.")
            with open(file.descriptor, "rb", closefd=False) as stream:
                yield SealedLog(file, stream, kinds, parsed)
    except OSError as problem:
        raise _unusable(path, problem) from None


def damaged_error(name: str, place: int) -> HistoryError:
    """The error of a log that is damaged."""
    return HistoryError(
        f"The record of exact jobs {name} is damaged near byte {place}.",
        "Restore it from a backup; without it no exact job can be compared with earlier ones.",
    )


def _unusable(path: Path, problem: OSError) -> HistoryError:
    return HistoryError(
        f"The record of exact jobs {path.name} cannot be used: {problem.strerror or type(problem).__name__}.",
        "Check the disk and the rights of the file.",
    )


def _seal(head: Mapping[str, Any]) -> str:
    content = json.dumps({**head, "seal": ""}, sort_keys=True).encode()
    return hashlib.blake2b(content, digest_size=8).hexdigest()

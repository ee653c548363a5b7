"""Append-only files of what must be remembered of earlier results: a sealed line of JSON, then its bytes.

A record is on disk before results are opened; what a crash leaves of a shorter one is not a record, and
nothing was opened for it. Damage elsewhere is noticed by the seal, a checksum, and is an error.
"""

from __future__ import annotations

import fcntl
import hashlib
import json
import os
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from shlex import quote
from typing import Any, BinaryIO, Final

from parties.errors import ConfigError, PolicyError
from parties.pki.files import PRIVATE

WORD_BYTES: Final = 8

_HEAD_BYTES: Final = 1 << 12


class HistoryError(PolicyError):
    """What is known of earlier exact jobs cannot be trusted or written; exact jobs are refused."""

    code = "history"


class OverlapError(PolicyError):
    """An exact job is about almost the same persons as an earlier one; add noise or use the same rows."""

    code = "overlap"


@dataclass(frozen=True, slots=True)
class LogRecord:
    """One record of a log.

    Attributes:
        head: its fields, as written; without the seal.
        start: where its bytes stand in the file.
        length: how many they are.
    """

    head: Mapping[str, Any]
    start: int
    length: int


class SealedLog:
    """A log while it is open; made by `opened`.

    Args:
        file: the open file.
        kinds: what heads there are: the fields of each, with their types. All have `stored`, which counts
            the words of `WORD_BYTES` bytes behind the line.
    """

    def __init__(self, file: BinaryIO, kinds: Sequence[Mapping[str, type]]) -> None:
        self._file = file
        self._kinds = kinds

    def pieces(self) -> Iterator[LogRecord]:
        """The whole records, the oldest first; a piece of one at the end is left out.

        Raises:
            HistoryError: the file is damaged.
        """
        size = self._file.seek(0, os.SEEK_END)
        place = 0
        while place < size:
            self._file.seek(place)
            line = self._file.readline(_HEAD_BYTES)
            if not line.endswith(b"\n"):
                if place + len(line) == size:
                    return
                raise damaged(self._file.name, place)
            head = self._head(line, place)
            start, length = place + len(line), head["stored"] * WORD_BYTES
            place = start + length
            if place > size:
                return
            yield LogRecord(head, start, length)

    def read(self, piece: LogRecord) -> bytes:
        """The bytes of a record."""
        self._file.seek(piece.start)
        return self._file.read(piece.length)

    def append(self, head: Mapping[str, Any], data: bytes) -> None:
        """Write a record behind the last whole one; on return it is on disk."""
        end = 0
        for piece in self.pieces():
            end = piece.start + piece.length
        self._file.seek(end)
        self._file.truncate()
        content = {**head, "seal": _seal(head)}
        self._file.write(json.dumps(content, sort_keys=True).encode() + b"\n" + data)
        self._file.flush()
        os.fsync(self._file.fileno())

    def _head(self, line: bytes, place: int) -> dict[str, Any]:
        try:
            head = json.loads(line)
            seal = head.pop("seal")
            types = {name: type(value) for name, value in head.items()}
            if types not in self._kinds or head["stored"] < 0 or seal != _seal(head):
                raise ValueError
        except (ValueError, TypeError, KeyError, AttributeError, RecursionError):
            raise damaged(self._file.name, place) from None
        return head  # type: ignore[no-any-return]


@contextmanager
def opened(path: Path, kinds: Sequence[Mapping[str, type]]) -> Iterator[SealedLog]:
    """Open a log, made on first use, while no other thread or process has it open.

    Args:
        path: its file.
        kinds: as of `SealedLog`.

    Raises:
        HistoryError: it cannot be used.
        ConfigError: it is open to other users.
    """
    try:
        lock = os.open(path.with_name(path.name + ".lock"), os.O_RDWR | os.O_CREAT, PRIVATE)
    except OSError as problem:
        raise _unusable(path, problem) from None
    try:
        fcntl.flock(lock, fcntl.LOCK_EX)
        file = os.open(path, os.O_RDWR | os.O_CREAT | os.O_NOFOLLOW, PRIVATE)
        with open(path, "r+b", opener=lambda *_: file) as stream:
            if os.fstat(file).st_mode & 0o077:
                raise ConfigError(f"{path} is open to other users.", f"Run `chmod 600 {quote(str(path))}`.")
            yield SealedLog(stream, kinds)
    except OSError as problem:
        raise _unusable(path, problem) from None
    finally:
        os.close(lock)


def damaged(name: str, place: int) -> HistoryError:
    """The error of a log that is damaged."""
    return HistoryError(
        f"The record of exact jobs {Path(name).name} is damaged near byte {place}.",
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

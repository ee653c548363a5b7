"""The file of a ledger: append-only, locked, forced to disk before anybody goes on."""

from __future__ import annotations

import errno
import fcntl
import os
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Final

from parties.ledger.entries import GENESIS, Entry, LedgerError, check_chain, parse_line
from parties.ledger.tally import Tally


@dataclass(slots=True)
class Known:
    """What has been read and checked.

    Attributes:
        data: whole lines.
        entries: the same as entries.
        tally: what they come to.
    """

    data: bytes = field(default=b"", repr=False)
    entries: list[Entry] = field(default_factory=list)
    tally: Tally = field(default_factory=Tally)


class ChainFile:
    """A file of entries.

    Each reading looks at the whole file. What was checked before and is still there byte by byte is not
    parsed again.

    Args:
        path: the file; it is made when first written.
        clock: the time to write into entries.
    """

    def __init__(self, path: Path, clock: Callable[[], str]) -> None:
        self.path: Final = path
        self._clock = clock
        self._known = Known()

    @property
    def torn(self) -> tuple[Path, ...]:
        """Pieces of lines that a crash cut off and that were moved aside."""
        return tuple(sorted(self.path.parent.glob(f"{self.path.name}.torn-*")))

    @contextmanager
    def locked(self) -> Iterator[None]:
        """Hold the lock that all other methods need; on a file beside the ledger, so it keeps out processes.

        Raises:
            LedgerError: the file cannot be used.
        """
        try:
            lock = _open_lock(self.path)
        except OSError as problem:
            raise _unusable(self.path, problem) from None
        try:
            fcntl.flock(lock, fcntl.LOCK_EX)
            yield
        except OSError as problem:
            raise _unusable(self.path, problem) from None
        finally:
            os.close(lock)

    def read(self) -> Known:
        """What is in the file, checked.

        Raises:
            LedgerError: the chain is broken or the file unreadable.
        """
        try:
            data = self.path.read_bytes()
        except FileNotFoundError:
            data = b""
        known = self._known if data.startswith(self._known.data) else Known()
        *lines, tail = data[len(known.data) :].split(b"\n")
        fresh: list[Entry] = []
        for number, line in enumerate(lines, len(known.entries)):
            try:
                fresh.append(parse_line(line))
            except (ValueError, RecursionError):
                raise LedgerError(
                    f"The ledger is broken: entry {number} cannot be read.",
                    "Compare it with a backup and with the peer's countersignatures; do not edit it.",
                ) from None
        check_chain(fresh, known.entries[-1] if known.entries else None)
        known.entries.extend(fresh)
        for entry in fresh:
            known.tally.add(entry)
        known.data = data[: len(data) - len(tail)]
        self._known = known
        if tail:
            self._hint(known, tail)
            return self.read()
        return known

    def _hint(self, known: Known, tail: bytes) -> None:
        """Handle a last line without newline: the trace of a crash while writing."""
        try:
            check_chain([parse_line(tail)], known.entries[-1] if known.entries else None)
        except (ValueError, RecursionError, LedgerError):
            start = len(known.data)
            aside = self.path.with_name(f"{self.path.name}.torn-{len(known.entries)}-{start}")
            _write(aside, tail, os.O_TRUNC)
            with self.path.open("r+b") as file:
                file.truncate(start)
                os.fsync(file.fileno())
            return
        # Only the newline is missing: the entry counts, since it may have been announced.
        _write(self.path, b"\n", os.O_APPEND)

    def append(self, **content: str | int) -> Entry:
        """Write the next entry and force it to disk; the file has been read since it was locked."""
        return self.extend([content])[0]

    def extend(self, contents: Sequence[Mapping[str, str | int]]) -> list[Entry]:
        """The same for the next entries, in one piece."""
        written: list[Entry] = []
        previous = self._known.entries[-1:]
        for number, content in enumerate(contents, len(self._known.entries)):
            before = previous[-1].hash if previous else GENESIS
            previous = [Entry(number, before, self._clock(), **content).sealed()]  # type: ignore[arg-type]
            written += previous
        try:
            _write(self.path, b"".join(entry.line() for entry in written), os.O_APPEND)
        except OSError:
            with suppress(OSError), self.path.open("r+b") as file:
                file.truncate(len(self._known.data))  # it was not announced; a whole line would count
                os.fsync(file.fileno())
            raise
        return written


def _open_lock(ledger: Path) -> int:
    """Open the file to lock: the ledger itself where nothing can be written, as on a copy for auditors."""
    try:
        return os.open(ledger.with_name(ledger.name + ".lock"), os.O_RDWR | os.O_CREAT, 0o600)
    except OSError as problem:
        if problem.errno != errno.EROFS:
            raise
    return os.open(ledger, os.O_RDONLY)


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

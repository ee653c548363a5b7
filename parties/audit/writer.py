"""Writes the audit log: each line is on the disk before what it names is done."""

from __future__ import annotations

import os
import threading
from collections.abc import Callable, Iterable
from pathlib import Path
from time import monotonic as _now_seconds
from typing import Final

from parties.audit.files import FILE_BYTES, FOLDER, files, name_of, read_file
from parties.audit.lines import (
    GENESIS,
    MAX_LINE,
    REFUSED,
    TORN,
    AuditError,
    AuditLine,
    bounded,
    parse_line,
)
from parties.pki.files import PRIVATE, PRIVATE_FOLDER, write_atomically

REFUSALS_AN_HOUR: Final = 60
"""Lines about refused proposals of one peer in an hour; further ones are counted in the next line."""

Event = tuple[str, dict[str, str | int]]
"""What happened, and what about it, see `AuditLine`."""


class Audit:
    """The audit log of a home. Thread-safe; one process writes.

    What a crash cut off from the last line is moved aside, and a line says so.

    Args:
        home: the folder of the party.
        now: the time to write into lines.

    Raises:
        AuditError: the last file is not as it was written, or the folder cannot be used.
    """

    def __init__(self, home: Path, now: Callable[[], str]) -> None:
        self._folder: Final = home / FOLDER
        self._now = now
        self._lock = threading.Lock()
        self._last: AuditLine | None = None
        self._path = self._folder / name_of(0)
        self._size = 0
        self._left_over = False
        self._refusals: dict[str, tuple[float, int]] = {}
        try:
            self._folder.mkdir(mode=PRIVATE_FOLDER, exist_ok=True)
            torn = self._open()
        except OSError as problem:
            raise _unusable(self._folder, problem) from None
        if torn:
            self.write(TORN, file=torn)

    @property
    def head(self) -> tuple[int, str]:
        """Number and hash of the last line, to be noted elsewhere; -1 and zeros if there is none."""
        with self._lock:
            return (self._last.number, self._last.hash) if self._last else (-1, GENESIS)

    @property
    def last_time(self) -> str:
        """When the last line was written, RFC 3339 in UTC; empty if there is none."""
        with self._lock:
            return self._last.time if self._last else ""

    def write(self, event: str, **about: str | int) -> None:
        """Write one line and force it to disk.

        Raises:
            AuditError: it cannot be written, or another program has changed the file.
        """
        self.extend([(event, about)])

    def extend(self, events: Iterable[Event]) -> None:
        """The same for several lines, in one piece."""
        with self._lock:
            lines: list[AuditLine] = []
            last = self._last
            for event, about in events:
                number, previous = (last.number + 1, last.hash) if last else (0, GENESIS)
                last = AuditLine(number, previous, self._now(), event, bounded(about)).sealed()
                if len(last.written()) > MAX_LINE:
                    raise ValueError("more fields than a line can have")
                lines.append(last)
            if not lines:
                return
            if self._size >= FILE_BYTES:
                self._path, self._size = self._folder / name_of(lines[0].number), 0
            try:
                self._append(b"".join(line.written() for line in lines))
            except OSError as problem:
                raise _unusable(self._path, problem) from None
            self._last = last

    def refused(self, peer: str, job: str, code: str) -> None:
        """Write that a proposal of a peer was refused, which nothing else keeps.

        A peer may propose as often as it likes and has not the power to fill the disk: beyond
        `REFUSALS_AN_HOUR` lines nothing is written, and the next line that is says how many were left out.

        Raises:
            AuditError: as `write`.
        """
        about: dict[str, str | int] = {"peer": peer, "job": job, "code": code}
        with self._lock:
            begun, count = self._refusals.get(peer, (0.0, 0))
            now = _now_seconds()
            if not begun or now - begun > 3600:
                if count > REFUSALS_AN_HOUR:
                    about["left_out"] = count - REFUSALS_AN_HOUR
                begun, count = now, 0
            self._refusals[peer] = (begun, count + 1)
        if count < REFUSALS_AN_HOUR:
            self.write(REFUSED, **about)

    # How it is done

    def _open(self) -> str:
        """Find the end of the log; the name of the file with what a crash has cut off, or nothing."""
        paths = files(self._folder)
        if not paths:
            return ""
        self._path = paths[-1]
        before = read_file(paths[-2], None)[0][-1:] if len(paths) > 1 else []
        lines, tail = read_file(self._path, before[0] if before else None)
        self._last = lines[-1] if lines else (before[0] if before else None)
        whole = b"".join(line.written() for line in lines)
        self._size = len(whole)
        if not tail:
            return ""
        try:
            line = parse_line(tail)
        except (ValueError, RecursionError):
            line = None
        if line is not None and line.follows(self._last):  # only the newline is missing: it counts
            self._size += len(tail)
            self._append(b"\n")
            self._last = line
            return ""
        pieces = len(list(self._folder.glob("*.torn-*")))
        aside = self._path.with_name(f"{self._path.name}.torn-{pieces}")
        write_atomically(aside, tail, PRIVATE)
        self._left_over = True  # and goes with the line that says so
        return aside.name

    def _append(self, data: bytes) -> None:
        is_new = not self._path.exists()
        file = os.open(self._path, os.O_WRONLY | os.O_CREAT | os.O_APPEND, PRIVATE)
        try:
            found = os.fstat(file).st_size
            if found > self._size and self._left_over:
                os.ftruncate(file, self._size)
            elif found != self._size:
                raise AuditError(
                    f"Another program has written to {self._path}.",
                    "Stop the daemon, and look at the file with `duetto log verify`.",
                )
            self._left_over = True
            view = memoryview(data)
            while view:
                view = view[os.write(file, view) :]
            os.fsync(file)
        finally:
            os.close(file)
        self._left_over = False
        self._size += len(data)
        if is_new:
            folder = os.open(self._folder, os.O_RDONLY)
            try:
                os.fsync(folder)
            finally:
                os.close(folder)


def _unusable(path: Path, problem: OSError) -> AuditError:
    return AuditError(
        f"The audit log {path} cannot be written: {problem.strerror or type(problem).__name__}.",
        "Free space on the disk, or give this user the right to write there.",
    )

"""Writes the audit log: each line is on the disk before what it names is done."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterable, Mapping
from functools import partial
from pathlib import Path
from time import monotonic as _now_seconds
from typing import Final

from commons.logs.lines import Link
from parties.audit.files import FILE_BYTES, FOLDER, files, log_file, name_of, unusable
from parties.audit.lines import MAX_LINE, REFUSED, TORN, AuditLine, bound_texts
from parties.pki.files import PRIVATE_FOLDER

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
        self._refusals: dict[str, tuple[float, int]] = {}
        self._hear: Callable[[AuditLine], None] = lambda _: None
        try:
            self._folder.mkdir(mode=PRIVATE_FOLDER, exist_ok=True)
        except OSError as problem:
            raise unusable(self._folder, problem) from None
        paths = files(self._folder) or [self._folder / name_of(0)]
        before = log_file(paths[-2], None).read().lines[-1:] if len(paths) > 1 else []
        self._log = log_file(paths[-1], before[0] if before else None)
        found = self._log.read()
        torn = self._log.repair(found)
        self._last = next(reversed([*before, *found.lines]), None)
        if torn is not None:
            self.write(TORN, file=torn.name)

    @property
    def head(self) -> Link:
        """Number and hash of the last line, to be noted elsewhere; -1 and zeros if there is none."""
        with self._lock:
            return self._log.end

    @property
    def last_time(self) -> str:
        """When the last line was written, RFC 3339 in UTC; empty if there is none."""
        with self._lock:
            return self._last.time if self._last else ""

    def listen(self, hear: Callable[[AuditLine], None]) -> None:
        """Call this with each line that is written from now on; it may neither wait nor raise."""
        self._hear = hear

    def write(self, event: str, **about: str | int) -> None:
        """Write one line and force it to disk.

        Raises:
            AuditError: it cannot be written, or another program has changed the file.
        """
        self.extend([(event, about)])

    def extend(self, events: Iterable[Event]) -> None:
        """The same for several lines, in one piece."""
        with self._lock:
            makes = [partial(self._line, event, about) for event, about in events]
            if not makes:
                return
            if self._log.size >= FILE_BYTES:
                self._log = log_file(self._folder / name_of(self._log.end[0] + 1), self._last)
            lines = self._log.extend(makes)
            self._last = lines[-1]
            for line in lines:
                self._hear(line)

    def write_refusal(self, peer: str, job: str, code: str) -> None:
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

    def _line(self, event: str, about: Mapping[str, str | int], number: int, previous: str) -> AuditLine:
        line = AuditLine(number, previous, self._now(), event, bound_texts(about)).seal()
        if len(line.line()) > MAX_LINE:
            raise ValueError("more fields than a line can have")
        return line

"""Stamps in a thread of the daemon, when heads have changed and the time has come; nothing waits for it."""

from __future__ import annotations

import logging
import threading
from collections.abc import Callable
from datetime import datetime, timedelta
from pathlib import Path
from typing import Final

from commons.logs.lines import Link
from parties.clock import Clock, moment
from parties.ledger.book import Ledger
from parties.ledger.entries import LOG_HEAD
from parties.stamp_settings import StampSettings
from parties.stamps.files import FOLDER, Failure, note_failure, read_failure, read_stamp, stamp_paths
from parties.stamps.taking import Taken, take_stamp
from parties.stamps.tokens import time_of
from smc.errors import DuettoError

RETRY_SECONDS: Final = 3600.0
"""After a failure it is tried again so much later."""

_LOOK_SECONDS: Final = 60.0
_STOP_SECONDS: Final = 1.0
_LOG: Final = logging.getLogger("duetto.stamps")

Take = Callable[[Path, str, StampSettings, Ledger, Link | None], Taken]
"""Takes a stamp, see `take_stamp`."""


class Stamper:
    """Takes stamps for a daemon. Thread-safe.

    Args:
        home: the folder of the party.
        party: its name.
        settings: how often and by whom; None for never.
        ledger: the ledger.
        log: the head of the audit log; None if it has no line.
        take: `take_stamp`, unless a test passes another.
    """

    def __init__(
        self,
        home: Path,
        party: str,
        settings: StampSettings | None,
        ledger: Ledger,
        log: Callable[[], Link | None],
        *,
        take: Take = take_stamp,
    ) -> None:
        self._home, self._party, self._ledger, self._log = home, party, ledger, log
        self._settings, self._followed, self._take = settings, settings, take
        self._clock: Final[Clock] = ledger.clock
        self._changed = threading.Condition()
        self._stopping = False
        self._not_before = 0.0
        self._failure = ""
        self._thread = threading.Thread(target=self._run, name="stamps", daemon=True)

    def start(self) -> None:
        """Begin."""
        found = read_failure(self._home)
        self._failure = found.why if found is not None else ""
        self._thread.start()

    def follow(self, settings: StampSettings | None) -> None:
        """Stamp by these settings from now on, and try at once what has failed by others."""
        with self._changed:
            if settings != self._settings:
                self._settings, self._not_before = settings, 0.0
                self._changed.notify_all()

    def stop(self) -> None:
        """End; a stamp that is being asked for now is not taken."""
        with self._changed:
            self._stopping = True
            self._changed.notify_all()
        if self._thread.is_alive():
            self._thread.join(_STOP_SECONDS)

    def look(self) -> None:
        """Take a stamp if one is due; a failure is logged when it is another than the last, and kept."""
        with self._changed:
            settings = self._followed = self._settings
            if settings is None or self._clock.elapsed() < self._not_before:
                return
        why, pause = "", 0.0
        try:
            if not self._is_due(settings):
                return
            self._take(self._home, self._party, settings, self._ledger, self._log())
            pause = settings.every * 3600.0
        except DuettoError as error:
            why = error.what
        except Exception as problem:  # stamps are never worth the daemon
            why = f"{type(problem).__name__}: {problem}"
        with self._changed:
            if settings == self._settings:  # else others are to be followed at once
                self._not_before = self._clock.elapsed() + (RETRY_SECONDS if why else pause)
        if why and why != self._failure:
            _LOG.warning("no stamp was taken, and it is tried every hour: %s", why)
        elif self._failure and not why:
            _LOG.info("a stamp was taken again")
        if why or self._failure:
            self._note(why)
        self._failure = why

    def _run(self) -> None:
        while True:
            self.look()
            with self._changed:
                self._changed.wait_for(
                    lambda: self._stopping or self._settings != self._followed, _LOOK_SECONDS
                )
                if self._stopping:
                    return

    def _note(self, why: str) -> None:
        try:
            note_failure(self._home, Failure(self._clock.stamp(), why) if why else None)
        except (DuettoError, OSError) as problem:
            _LOG.warning("what became of a stamp cannot be kept: %s", problem)

    def _is_due(self, settings: StampSettings) -> bool:
        """Whether the heads have changed since the last stamp, and that is long enough ago."""
        found = self._last_stamp() if settings.url else self._last_entry()
        if found is None:
            return True
        time, ledger, log = found
        now = self._clock.now()
        # A time that lies ahead says that one of the two clocks is wrong, and not for how long.
        if time <= now < time + timedelta(hours=settings.every):
            return False
        head = self._ledger.head()
        ledger_stays = not settings.url or ledger == (head.link if head is not None else None)
        return not (ledger_stays and log == self._log())

    def _last_stamp(self) -> tuple[datetime, Link | None, Link | None] | None:
        for path in reversed(stamp_paths(self._home / FOLDER)):
            try:
                stamp = read_stamp(path)
                return time_of(stamp.answer), stamp.statement.ledger, stamp.statement.log
            except DuettoError:  # `duetto ledger verify` tells of it
                continue
        return None

    def _last_entry(self) -> tuple[datetime, Link | None, Link | None] | None:
        for entry in reversed(self._ledger.entries()):
            if entry.event == LOG_HEAD:
                return moment(entry.time), None, (entry.log_line, entry.log_hash)
        return None

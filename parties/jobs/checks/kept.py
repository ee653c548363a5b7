"""Data of jobs that were read a moment ago, so that a job is not read anew at each of its steps.

A job is checked when it is submitted, proposed and run, by catalog and policy as they are then. Of a file
that is the same (`catalog.declarations.stamps`) and declared as before, what was read for the job is taken
again.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Hashable
from dataclasses import dataclass, field
from typing import Any, Final

from parties.jobs.checks.local_data import LocalData

_SECONDS: Final = 600
"""So long data are held after they were read or taken last."""
_ENTRY_BYTES: Final = 96
"""Of a text or an integer in a list, about."""


@dataclass(slots=True)
class _Kept:
    what: Any = field(repr=False)
    stamp: Hashable
    data: LocalData = field(repr=False)
    size: int
    used: float


class KeptData:
    """What was read last. Thread-safe.

    Args:
        most: bytes that all of it may take.
    """

    def __init__(self, most: int) -> None:
        self._most = most
        self._lock = threading.Lock()
        self._held: list[_Kept] = []

    def get(self, what: Any, stamp: Hashable) -> LocalData | None:
        """What was read.

        Args:
            what: was read: job, declarations and keys, compared by value.
            stamp: of its file now.
        """
        with self._lock:
            self._drop_old()
            for one in self._held:
                if one.stamp == stamp and one.what == what:
                    one.used = time.monotonic()
                    return one.data
        return None

    def keep(self, what: Any, stamp: Hashable, data: LocalData) -> None:
        """Keep what was read, if it is not too large; others go that were not used for longest."""
        size = _size(data)
        if size > self._most:
            return
        with self._lock:
            self._held = [one for one in self._held if one.what != what]
            self._held.append(_Kept(what, stamp, data, size, time.monotonic()))
            self._held.sort(key=lambda one: one.used)
            while sum(one.size for one in self._held) > self._most:
                self._held.pop(0)
        timer = threading.Timer(_SECONDS + 1, self._forget)
        timer.daemon = True
        timer.start()

    def _forget(self) -> None:
        with self._lock:
            self._drop_old()

    def _drop_old(self) -> None:
        since = time.monotonic() - _SECONDS
        self._held = [one for one in self._held if one.used >= since]


def _size(data: LocalData) -> int:
    held: list[Any] = [column.values for column in data.columns.values()]
    held += [one for one in (data.identities, data.numbers, data.aliases) if one is not None]
    return sum(getattr(one, "nbytes", len(one) * _ENTRY_BYTES) for one in held)

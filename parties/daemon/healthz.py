"""Whether the daemon can run jobs, for a monitor on the same machine: `http://127.0.0.1:PORT/healthz`.

What `duetto party health` finds, with nothing but the names of the checks: no path, peer, date or count.
"""

from __future__ import annotations

import json
import threading
import time
from collections.abc import Callable, Iterable
from http import HTTPStatus
from typing import Final

from parties.findings import DRAINING, Finding, ill_of
from parties.session.draining import Drain

PATH: Final = "/healthz"
FRESH_SECONDS: Final = 30.0
"""How long what was found is told again: a check reads the whole ledger and audit log."""


class Health:
    """Makes the checks when somebody asks, and not again before some time has passed. Thread-safe.

    Args:
        examine: makes all checks.
        drain: says at once whether the daemon begins jobs.
        clock: says what time it is, in seconds from any moment.
    """

    def __init__(
        self,
        examine: Callable[[], Iterable[Finding]],
        drain: Drain,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self._examine = examine
        self._drain = drain
        self._clock = clock
        self._lock = threading.Lock()
        self._found: tuple[float, frozenset[str]] | None = None

    def answer(self) -> tuple[HTTPStatus, bytes]:
        """Status and JSON: 200 where jobs can run, else 503; `ill` names the checks by which they cannot."""
        ill = sorted(self._ill() | ({DRAINING} if self._drain.state is not None else set()))
        status = HTTPStatus.SERVICE_UNAVAILABLE if ill else HTTPStatus.OK
        return status, json.dumps({"healthy": not ill, "ill": ill}).encode()

    def _ill(self) -> frozenset[str]:
        with self._lock:
            if self._found is None or self._clock() - self._found[0] >= FRESH_SECONDS:
                ill = frozenset(finding.check for finding in ill_of(self._examine()))
                self._found = self._clock(), ill
            return self._found[1]

"""Asks the service for a stamp, by a process of its own that is ended when its time is over.

A service that never answers, answers without end or drips costs the daemon the wait of one thread.
"""

from __future__ import annotations

import json
import sys
from typing import Final

from parties.errors import StampError
from parties.processes import run_bounded
from parties.stamp_settings import StampSettings
from parties.stamps.tokens import MAX_ANSWER
from parties.texts import escape_unprintable

MAX_REASON: Final = 300
"""Letters of what the process says of its failure."""

_FETCHER: Final = (sys.executable, "-P", "-m", "parties.stamps.fetcher")
_TRY: Final = "Correct `[stamps]` in duetto.toml, and try `duetto ledger stamp`."


def fetch(settings: StampSettings, request: bytes) -> bytes:
    """The service's answer, of which nothing is checked but that it is not too long.

    Args:
        settings: which service, and how long it may take.
        request: DER.

    Raises:
        StampError: there is none in time.
    """
    task = {"url": settings.url, "request": request.hex(), "seconds": settings.seconds}
    try:
        ended = run_bounded(_FETCHER, json.dumps(task).encode(), settings.seconds + 1, MAX_ANSWER + 1)
    except OSError as problem:
        raise StampError(f"No process for the stamp starts: {problem.strerror}.", _TRY) from None
    if ended.status is None:
        raise StampError(f"{settings.host} took longer than {settings.seconds} seconds.", _TRY)
    if ended.status:
        reason = escape_unprintable(ended.said.decode(errors="replace"))[:MAX_REASON]
        raise StampError(reason or f"The process for the stamp ended with status {ended.status}.", _TRY)
    return ended.said

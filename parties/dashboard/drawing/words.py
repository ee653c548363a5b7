"""How numbers, times and states are written on pages."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Final

_STATES: Final = {
    "waiting-own-approval": "waits for you",
    "proposed": "proposed to the peer",
    "waiting-peer": "waits for the peer",
    "approved": "approved, about to run",
    "running": "running",
    "kept": "result kept, ending",
    "finished": "finished",
    "failed": "failed",
    "denied": "denied",
    "cancelled": "cancelled",
}


def state(value: str) -> str:
    """The state of a job for people."""
    return _STATES.get(value, value)


def when(text: str) -> str:
    """A time of the daemon, RFC 3339 in UTC, to the minute."""
    moment = _moment(text)
    return text if moment is None else f"{moment:%Y-%m-%d %H:%M} UTC"


def age(text: str) -> str:
    """How long ago a time of the daemon was."""
    moment = _moment(text)
    return "" if moment is None else f"{duration(max(0.0, (datetime.now(UTC) - moment).total_seconds()))} ago"


def duration(seconds: float) -> str:
    """A duration by its largest unit, and by tenths where it is short."""
    if seconds < 10:
        return f"{seconds:.1f} s"
    for size, unit in ((86400, "d"), (3600, "h"), (60, "min")):
        if seconds >= 2 * size:
            return f"{seconds / size:.0f} {unit}"
    return f"{seconds:.0f} s"


def byte_count(count: float) -> str:
    """A number of bytes with a decimal prefix."""
    for size, unit in ((1e9, "GB"), (1e6, "MB"), (1e3, "kB")):
        if count >= size:
            return f"{count / size:.3g} {unit}"
    return f"{count:.0f} B"


def _moment(text: str) -> datetime | None:
    try:
        return datetime.fromisoformat(text)
    except ValueError:
        return None

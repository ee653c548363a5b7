"""States and times of jobs as people read them, on pages and on the screen."""

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


def state_words(value: str) -> str:
    """The state of a job for people."""
    return _STATES.get(value, value)


def short_duration(seconds: float) -> str:
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


def age(text: str) -> str:
    """How long ago a time of the daemon was; empty if it is none."""
    moment = moment_of(text)
    if moment is None:
        return ""
    passed = (datetime.now(UTC) - moment).total_seconds()
    return "just now" if passed < 1 else f"{short_duration(float(round(passed)))} ago".replace(".0 s", " s")


def local_time(text: str) -> str:
    """A time of the daemon to the minute, by the clock of this machine; today's without the date."""
    moment = moment_of(text)
    if moment is None:
        return text
    here = moment.astimezone()
    return f"{here:%H:%M}" if here.date() == datetime.now().astimezone().date() else f"{here:%Y-%m-%d %H:%M}"


def moment_of(text: str) -> datetime | None:
    """A time of the daemon, RFC 3339 in UTC; None if it is none."""
    try:
        return datetime.fromisoformat(text)
    except ValueError:
        return None

"""How numbers, times and states are written on pages."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import UTC, datetime
from fractions import Fraction
from typing import Any, Final

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

_FIELDS: Final = {
    "with --sheet": "under “Sheet of an Excel file”",
    "with --name": "under “Name of the data set”",
    "choose types with --type COLUMN=text": "choose the type text for columns",
}
"""Options of commands that hints name, and where a page has the same."""


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


def limits(found: Mapping[str, Any]) -> list[str]:
    """Limits of disclosure as sentences; none for a limit that limits nothing.

    Args:
        found: the limits by name, as contracts have them: `minimum_group`, `dominance`, ...
    """
    group, matches, rows = (int(found.get(f"minimum_{what}", 0)) for what in ("group", "intersection", "set"))
    dominance, ratio = Fraction(found.get("dominance", 1)), Fraction(found.get("maximum_ratio", 0))
    return [
        said
        for limits_something, said in (
            (group > 0, f"No figure is about fewer than {group} persons."),
            (
                group > 1 and found.get("zeros") == "shown",
                "Cells of tables in which this side has nobody are shown.",
            ),
            (dominance < 1, f"No single person makes up more than {float(100 * dominance):.3g} % of a sum."),
            (rows > 0, f"Each side brings at least {rows} rows to a matching."),
            (
                ratio > 0,
                f"No side brings more than {float(ratio):.3g} times the other’s rows to a matching.",
            ),
            (matches > 0, f"Nothing is said about fewer than {matches} matches."),
        )
        if limits_something
    ]


def hint(text: str) -> str:
    """A hint as it helps somebody who has this page, and no command line."""
    for option, field in _FIELDS.items():
        text = text.replace(option, field)
    return text


def _moment(text: str) -> datetime | None:
    try:
        return datetime.fromisoformat(text)
    except ValueError:
        return None

"""How long things take, for people."""

from __future__ import annotations

from typing import Any

from parties.cli.output import Screen


def duration(seconds: float) -> str:
    """A time for people: `0.4 s`, `12 s`, `3 min 5 s`, `2 h 10 min`, `4 d 3 h`."""
    if seconds < 10:
        return f"{max(seconds, 0.001):.1g} s" if seconds < 1 else f"{seconds:.1f} s"
    parts: list[str] = []
    rest = round(seconds)
    for unit, size in (("d", 86400), ("h", 3600), ("min", 60), ("s", 1)):
        count, rest = divmod(rest, size)
        if count or parts:
            parts.append(f"{count} {unit}")
    return " ".join(part for part in parts[:2] if not part.startswith("0 "))


def print_cheaper(out: Screen, estimate: dict[str, Any]) -> None:
    """Warn of a plan that takes a hundred times as long as another one to the same result."""
    if cheaper := estimate.get("cheaper"):
        out.print(
            f"warning: this takes about {duration(estimate['seconds'])}; with {cheaper['change']} below "
            f"[parameters] it takes about {duration(cheaper['seconds'])} (engine {cheaper['engine']})."
        )

"""States and times of jobs as people read them, on pages and on the screen."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from datetime import UTC, datetime
from typing import Any, Final

from parties.evidence.store import BROKEN_OFF, COIN, DUE, JUDGED, KEPT, PASSED, RUNNING, SETTLED
from smc.analyses.studies.columns import PERSONS

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


def draining_words(draining: Mapping[str, float]) -> str:
    """How far a daemon has come to rest, after `draining:`; see `Party.drain`."""
    count = int(draining["sessions"])
    running = f"{count} job{'s' * (count != 1)} running"
    return f"{running}, no other begins; the daemon ends within {draining['seconds_left']:.0f} s"


DUE_BECAUSE: Final = {COIN: "by its coin", BROKEN_OFF: "since it broke off"}
"""Why a run is due for an audit, for people."""


def audit_lines(audit: Mapping[str, Any], when: Callable[[str], str] | None = None) -> Iterator[str]:
    """What is said of a covert job for people; nothing of another job.

    That is its level, where the record of its run stands, and which columns are those of earlier jobs.

    Args:
        audit: as of `parties.jobs.covert.audit_document`.
        when: writes a time of the daemon; `local_time` if None.
    """
    if not audit:
        return
    yield audit["words"]
    if audit["standing"]:
        yield f"Its run: {standing_words(audit['standing'], when or local_time)}."
    alike: dict[tuple[str, ...], list[str]] = {}
    for same in audit["same"]:
        alike.setdefault((same["party"], *same["jobs"]), []).append(same["column"])
    for (party, newest, *before), columns in alike.items():
        named = [column for column in columns if column != PERSONS]
        what = f"column{'s' * (len(named) > 1)} {', '.join(named)}" if named else ""
        whole = " and ".join(filter(None, (what, "who rows are about" if PERSONS in columns else "")))
        others = f" and {len(before)} before it" if before else ""
        yield f"The same at {party} as in job {newest[:8]}{others}: {whole}."


def standing_words(standing: Mapping[str, str], when: Callable[[str], str]) -> str:
    """Where the record of a covert run stands, see `parties.evidence.store.Standing`.

    Args:
        standing: its entries.
        when: writes a time of the daemon.
    """
    state = standing["state"]
    due = f"due for an audit {DUE_BECAUSE[standing['why']]}" if standing["why"] else "not due for an audit"
    left = {
        RUNNING: "it goes on",
        DUE: f"{due}; its record is kept until you delete it",
        KEPT: f"{due}; its record is kept until {when(standing['until'])}",
        PASSED: f"{due}; a receipt is kept",
        JUDGED: f"{due}; its record is deleted" if standing["why"] else "its record is deleted",
    }[state]
    verdicts = [("you are", standing["verdict"]), (f"{standing['peer']} is", standing["peer_verdict"])]
    return "; ".join([left, *(f"{who} {verdict}" for who, verdict in verdicts if verdict)])


def next_step(standing: Mapping[str, str]) -> str:
    """The command that comes next for the record of a covert run, if one does; see docs/covert.md.

    Args:
        standing: as of `standing_words`.
    """
    job_id = standing["job_id"]
    if standing["state"] != DUE:
        return ""
    if standing["verdict"] in SETTLED:
        return f"duetto evidence delete {job_id}"
    return f"duetto evidence bundle {job_id} --auditor auditor.json -o {job_id}.bundle"


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

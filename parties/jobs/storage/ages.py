"""How old the rows of jobs are at most, whatever the clock said when they were written.

A row bears the time of the wall clock, which may have been wrong then. Three things bound it all the same.
What this process wrote it wrote so many steady seconds ago. Rows are numbered in the order in which they
came, so a job is younger than those before it. And one whose time does not fit those of the others came
before the next that does (`parties.ledger.moments`); where there is none it was here when this process began.
What deletes, ends or counts by age takes the latest time that is left.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta

from parties.clock import TOLERANCE, moment, text
from parties.ledger.moments import written_by


@dataclass(frozen=True, slots=True)
class Times:
    """When a job was proposed and when it changed last, RFC 3339 in UTC."""

    created: str
    updated: str


@dataclass(frozen=True, slots=True)
class Seconds:
    """The same for what this process wrote, in seconds since the machine started.

    Attributes:
        created: None if an earlier process wrote it.
        updated: the last change.
    """

    created: float | None
    updated: float


def latest(
    rows: Sequence[tuple[str, Times]],
    seconds: Mapping[str, Seconds],
    now: datetime,
    elapsed: float,
    begun: float,
) -> dict[str, Times]:
    """The latest times that jobs can have.

    Args:
        rows: names and times of all jobs, in the order in which they came.
        seconds: when this process wrote some of them.
        now: the time.
        elapsed: the same in seconds since the machine started.
        begun: when this process began to look, the same way.
    """
    found: dict[str, Times] = {}
    highest = ""
    this, first = text(now), before(now, elapsed - begun)
    for (job_id, own), bound in zip(rows, written_by([t.created for _, t in rows], this), strict=True):
        created = max(bound or first, highest)
        if own.created <= this:
            highest = max(highest, own.created)
        times = Times(created, max(own.updated, created))
        if wrote := seconds.get(job_id):
            times = exact(times, wrote, now, elapsed)
        found[job_id] = times
    return found


def exact(times: Times, wrote: Seconds, now: datetime, elapsed: float) -> Times:
    """The times of a row that this process wrote, as far as it did."""
    created = times.created if wrote.created is None else before(now, elapsed - wrote.created)
    return Times(created, before(now, elapsed - wrote.updated))


def is_off(one: str, other: str) -> bool:
    """Whether two times are further apart than a clock usually is wrong."""
    return abs(moment(one) - moment(other)) > TOLERANCE


def before(now: datetime, seconds: float) -> str:
    """The time so many seconds ago."""
    return text(now - timedelta(seconds=seconds))

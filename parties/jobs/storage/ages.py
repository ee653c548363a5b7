"""How old the rows of jobs are at most, whatever the clock said when they were written.

A row bears the time of the wall clock, which may have been wrong then. Three things bound it all the same.
What this process wrote it wrote so many steady seconds ago. Rows are numbered in the order in which they
came: one whose time is before that of an earlier row, or ahead of now, came before the next that is in order;
where there is none it was here when this process began. What deletes, ends or counts by age takes the latest
time that is left. `parties.ledger.moments` takes the likeliest times, since there nothing may count for too
long; here a paid result is at stake, and one row that is in order is enough to doubt those after it.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta

from parties.clock import TOLERANCE, moment, text


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
    this, first = text(now), before(now, elapsed - begun)
    found: dict[str, Times] = {}
    for (job_id, own), created in zip(rows, _latest([t.created for _, t in rows], this, first), strict=True):
        times = Times(created, max(own.updated, created))
        if wrote := seconds.get(job_id):
            times = exact(times, wrote, now, elapsed)
        found[job_id] = times
    return found


def _latest(times: Sequence[str], now: str, otherwise: str) -> list[str]:
    """The latest times of rows in their order: their own, or of the next in order, or `otherwise`."""
    highest, in_order = "", []
    for time in times:
        in_order.append(highest <= time <= now)
        highest = time if in_order[-1] else highest
    following, found = otherwise, []
    for time, fits in zip(reversed(times), reversed(in_order), strict=True):
        following = time if fits else following
        found.append(following)
    return found[::-1]


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

"""When entries were written, as far as their own times, their order and the clock say.

The order of the entries is certain, since each carries the hash of the one before; their times are those of
a clock that may have been wrong. The longest run of entries whose times follow each other, none of them ahead
of now, is taken to be right. Any other entry was written before the next of these, so it counts by the time
of that one: neither a clock that was ahead for a minute nor one that was behind takes an entry out of the
last hours or keeps it there for months.

Reference: Schensted, Longest increasing and decreasing subsequences, Canadian Journal of Mathematics, 1961.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Sequence


def written_by(times: Sequence[str], now: str) -> list[str | None]:
    """The latest time at which each entry can have been written.

    Args:
        times: of the entries in their order, RFC 3339 in UTC.
        now: the time, the same way.

    Returns:
        For each entry its own time, or that of the next one that is right if this is later; None where no
        entry that is right follows one whose time is not: it may have been written just now.
    """
    right = _in_order(times, now)
    found: list[str | None] = []
    following: str | None = None
    for place in reversed(range(len(times))):
        own = times[place]
        if place in right:
            following = own
        found.append(max(own, following) if following is not None and own <= now else following)
    return found[::-1]


def _in_order(times: Sequence[str], now: str) -> set[int]:
    """The places of a longest run of times that follow each other and do not lie ahead of now.

    Of several runs of that length it is one of the latest times, so that more counts.
    """
    rank = {time: -number for number, time in enumerate(sorted({*times}))}
    ends: list[int] = []
    places: list[int] = []
    after: list[int | None] = [None] * len(times)
    for place in reversed(range(len(times))):
        if times[place] > now:
            continue
        length = bisect_right(ends, rank[times[place]])
        after[place] = places[length - 1] if length else None
        ends[length : length + 1] = [rank[times[place]]]
        places[length : length + 1] = [place]
    found = set()
    first = places[-1] if places else None
    while first is not None:
        found.add(first)
        first = after[first]
    return found

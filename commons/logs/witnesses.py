"""What others say that a chain of lines had, held against the lines that it has."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from enum import Enum

from commons.logs.lines import Line, Link


class Standing(Enum):
    """Whether a line is as somebody has seen it."""

    THERE = "there"
    MISSING = "missing"
    CHANGED = "changed"
    ELSEWHERE = "elsewhere"
    """It comes before the first line, in a file that was moved away."""


@dataclass(frozen=True, slots=True)
class Witness:
    """Somebody's word on a line.

    Attributes:
        head: its number and hash.
        time: when it was there, RFC 3339 in UTC.
        source: who says so, such as `entry 12 of the ledger`.
    """

    head: Link
    time: str
    source: str


def standing(lines: Sequence[Line], head: Link) -> Standing:
    """Whether a line is still there as it was seen.

    Args:
        lines: all lines that there are, a whole chain, perhaps without its beginning.
        head: number and hash of the line.
    """
    if not lines or head[0] > lines[-1].sequence:
        return Standing.MISSING
    place = head[0] - lines[0].sequence
    if place < -1:
        return Standing.ELSEWHERE
    own = lines[0].previous if place == -1 else lines[place].hash
    return Standing.THERE if own == head[1] else Standing.CHANGED


def find_contradicted(lines: Sequence[Line], witnesses: Iterable[Witness]) -> list[Witness]:
    """Whose lines are missing or changed, in the order of the lines."""
    wrong = (Standing.MISSING, Standing.CHANGED)
    return sorted((one for one in witnesses if standing(lines, one.head) in wrong), key=_place)


def contradictions(lines: Sequence[Line], witnesses: Sequence[Witness], line: str, log: str) -> list[str]:
    """What witnesses say against a log: of the first line and of the last that they speak of.

    Args:
        lines: all lines that there are.
        witnesses: what others say.
        line: what a line is called, such as `Entry`.
        log: what the log is called, such as `ledger`.
    """
    wrong = find_contradicted(lines, witnesses)
    told = wrong[:1] + [one for one in wrong[-1:] if one.head != wrong[0].head]
    found = [_sentence(lines, one, line, log) for one in told]
    if more := len(wrong) - len(told):
        found[-1] += f" {more} more {'speaks' if more == 1 else 'speak'} against the {log} as well."
    newest = max(witnesses, key=_place, default=None)
    if newest is not None and standing(lines, newest.head) is Standing.ELSEWHERE:
        found.append(
            f"{line} {newest.head[0]}, the newest that is witnessed ({newest.source}, {newest.time}), is in "
            f"a file of the {log} that was moved away, so that nothing here is. Bring the file back."
        )
    return found


def _place(one: Witness) -> tuple[Link, str]:
    return one.head, one.time


def _sentence(lines: Sequence[Line], said: Witness, line: str, log: str) -> str:
    there = f"It was there at {said.time}, by {said.source}."
    if standing(lines, said.head) is Standing.CHANGED:
        return f"{line} {said.head[0]} of the {log} has another hash than it had. {there}"
    end = f"ends with {line.lower()} {lines[-1].sequence}" if lines else "is empty"
    return f"{line} {said.head[0]} of the {log} is missing: the {log} {end}. {there}"

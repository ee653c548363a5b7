"""A job to check an analysis on: both sides' data, in other orders too, and runs of it in one process."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, Final, cast

import numpy as np
from typing_extensions import override

from smc.analyses.disclosure.limits import Limits
from smc.analyses.disclosure.opener import Gate, open_gate
from smc.analyses.studies.columns import PERSONS, Column, Data, Schema
from smc.analyses.studies.outcome import Outcome
from smc.analyses.studies.runner import run_study
from smc.analyses.studies.study import Study
from smc.channel.channel import Channel, Traffic, nothing
from smc.channel.message import Expected, Message
from smc.forms import Role
from smc.pair import run_pair
from smc.protocols.session import Session

BOTH: Final = frozenset(Role)
Seen = Callable[[Message], None]
"""Called with each message that a party sends."""


@dataclass(frozen=True, slots=True)
class Case:
    """A job to check an analysis on.

    Attributes:
        parameters: the `[parameters]` of a job file.
        alice: Alice's columns, by their names in the job.
        bob: Bob's columns, as many rows.
        other: other data of Alice with the same declarations and numbers of rows; with them a run has to
            send as much as with the first ones. None where the case has none.
        recipients: who gets results.
        compare: whether the results of a run are those of the reference; not where they are noisy, or hold
            random numbers.
    """

    parameters: Mapping[str, Any]
    alice: Data = field(repr=False)
    bob: Data = field(repr=False)
    other: Data | None = field(default=None, repr=False)
    recipients: frozenset[Role] = BOTH
    compare: bool = True


def sides_of(case: Case) -> dict[Role, Data]:
    """The columns of each role."""
    return {Role.ALICE: case.alice, Role.BOB: case.bob}


def schemas_of(data: Data) -> dict[str, Schema]:
    """The declarations of columns."""
    return {name: column.schema for name, column in data.items() if name != PERSONS}


def other_orders(count: int) -> tuple[Sequence[int], ...]:
    """Two other orders of so many rows."""
    return (range(count)[::-1], [*range(1, count), *range(min(1, count))])


def reorder(data: Data, order: Sequence[int]) -> Data:
    """The same rows in another order."""
    return {name: _column_in(column, order) for name, column in data.items()}


def _column_in(column: Column, order: Sequence[int]) -> Column:
    if isinstance(column.values, np.ndarray):
        return replace(column, values=column.values[list(order)])
    return replace(column, values=cast(Sequence[int], [column.values[place] for place in order]))


class _Watched(Channel):
    """A channel that shows the messages that it sends."""

    def __init__(self, inner: Channel, seen: Seen) -> None:
        self._inner, self._seen = inner, seen

    @property
    @override
    def traffic(self) -> Traffic:
        return self._inner.traffic

    @override
    def send(self, message: Message) -> None:
        self._seen(message)
        self._inner.send(message)

    @override
    def recv(self, kind: type[Message], /, *expected: Expected[Any]) -> Any:
        return self._inner.recv(kind, *expected)

    @override
    def set_unchecked(self, unchecked: bool) -> None:
        self._inner.set_unchecked(unchecked)

    @override
    def finish(self, hear: Callable[[], None] = nothing) -> None:
        self._inner.finish(hear)

    @override
    def abort(self, code: str) -> None:
        self._inner.abort(code)


def _ignore(message: Message) -> None:
    del message


def run_case(
    study: Study, case: Case, limits: Limits, gate: Gate = open_gate, seen: Seen = _ignore
) -> tuple[tuple[Outcome, Outcome], tuple[Traffic, Traffic]]:
    """What both parties get, and what each has sent."""
    sides = sides_of(case)

    def side(session: Session) -> tuple[Outcome, Traffic]:
        watched = replace(session, channel=_Watched(session.channel, seen))
        outcome = run_study(study, watched, sides[session.role], case.recipients, limits.of_both, gate)
        return outcome, session.channel.traffic

    (first, sent), (second, answered) = run_pair(side, timeout=120)
    return (first, second), (sent, answered)

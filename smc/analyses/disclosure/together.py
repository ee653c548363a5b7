"""Several figures of one job, settled together before one of them is opened.

    by turns    each part computes up to where it would test, tell or open something, and waits there
    own         what all parts would show of this side's rows, held against each other and against all that
                the peer has seen before, as one system
    secret      what the limits ask of secret numbers, of all parts
    opened      whether all of it holds, for both sides; else nothing more
                gate     the ledgers
    by turns    each part goes on and opens

Two figures of the same rows can be subtracted from each other, and which of several is refused is a result,
too. So no part learns of another, and there is one answer for all: where secret numbers are tested, one bit
in which the answers of both sides are included; else one bit of each side.

A part cannot be refused any more once others have opened: what it shows later is what it has stated.

Reference: as of `smc.analyses.disclosure.audit`.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from collections.abc import Set as AbstractSet
from contextlib import suppress
from dataclasses import dataclass, field
from functools import reduce
from operator import and_
from typing import Final, TypeVar

import numpy as np
from typing_extensions import override

from smc.analyses.disclosure.audit import Auditor, Bit, ShownTable, ShownTables, Told
from smc.analyses.disclosure.limits import Limits
from smc.analyses.disclosure.opener import Opener
from smc.analyses.disclosure.owned import Owned
from smc.analyses.disclosure.release import Release
from smc.analyses.disclosure.scope import Scope
from smc.analyses.disclosure.turns import Turn
from smc.errors import DisclosureRefused
from smc.forms import Role
from smc.secret.bits import SecretBits

_ALL: Final = Bit("whether all figures of a job may be opened")

T = TypeVar("T")


@dataclass(slots=True)
class PartStatement:
    """What a part has stated until it waits.

    Attributes:
        stop: lets the part wait.
        tables: what it would show of this side's rows.
        holds: what limits ask of secret numbers.
        answers: whether this side lets it go on, each time that it was asked.
        settled: whether all parts may go on.
    """

    stop: Callable[[], None]
    tables: list[ShownTable] = field(default_factory=list)
    holds: list[SecretBits] = field(default_factory=list)
    answers: list[bool] = field(default_factory=list)
    settled: bool = False

    def wait(self) -> None:
        """Wait for the other parts, unless all is settled."""
        if not self.settled:
            self.stop()


class _PartAuditor:
    """The auditor of a part: what it asks is answered for all parts at once."""

    def __init__(self, whole: Auditor, stated: PartStatement) -> None:
        self._whole = whole
        self._stated = stated

    @property
    def judges(self) -> bool:
        """As of the whole."""
        return self._whole.judges

    def allows(self, told: Told) -> bool:
        """Yes, until all parts are settled: then they have been asked for together."""
        if self._stated.settled or not isinstance(told, ShownTables):
            return self._whole.allows(told)
        self._stated.tables += told.tables
        return True

    def record(self, told: Told) -> None:
        """Keep what was not kept when the parts were settled."""
        if isinstance(told, ShownTables) and all(self._is_stated(table) for table in told.tables):
            return
        self._whole.record(told)

    def _is_stated(self, table: ShownTable) -> bool:
        return any(table is each for each in self._stated.tables)


class PartOpener(Opener):
    """The opener of a part: it opens nothing before all parts are settled.

    Args:
        whole: of the job.
        stated: where it is kept what the part states.
    """

    def __init__(self, whole: Opener, stated: PartStatement) -> None:
        super().__init__(whole.session, lambda channel: None, _PartAuditor(whole.auditor, stated))
        self._whole = whole
        self._stated = stated

    @override
    def commit_loss(self) -> None:
        self._stated.wait()
        self._whole.commit_loss()

    @override
    def pass_gate(self) -> None:
        self._stated.wait()
        self._whole.pass_gate()

    @override
    def hold(self, limits: Sequence[SecretBits], told: Bit) -> bool:
        if self._stated.settled:
            return super().hold(limits, told)
        self._stated.holds += limits
        return True

    @override
    def agree(self, told: Bit, *, answer: bool) -> bool:
        if self._stated.settled:
            return self._whole.agree(told, answer=answer)
        self._stated.answers.append(answer)
        if answer:
            self._stated.wait()
        else:
            with suppress(_GivenUpError):  # the part says why
                self._stated.wait()
        return self._stated.settled


class _GivenUpError(Exception):
    """Thrown into parts that wait when the job ends; those that own limits stand against then say why."""


def run_together(release: Release, parts: Sequence[tuple[Scope, Callable[[Release], T]]]) -> list[T]:
    """Run the parts of a job by turns, and settle them before one opens anything.

    Args:
        release: of the job, whose facts say that it has parts.
        parts: what each may open, and its program, which is given a release of its own; the same on both
            sides, in the same order.

    Returns:
        What the programs give.

    Raises:
        DisclosureRefused: a limit stands against one of them, or against all together; at both sides, and
            nothing was opened.
        DuettoError: what a part raises; the others are given up.
    """
    release._join([scope for scope, _ in parts])
    opener = release._opener
    stated: list[PartStatement] = []
    turns: list[Turn[T]] = []
    for scope, program in parts:
        turn, own = _part(release, scope, program)
        turns.append(turn)
        stated.append(own)
    try:
        for turn in turns:
            turn.go_on()
        _settle(opener, release._agreed.own, release._recipients, stated)
        for each in stated:
            each.settled = True
        for turn in turns:
            while turn.is_waiting:
                turn.go_on()
    except BaseException as error:
        raised = [turn.give_up(_GivenUpError()) for turn in turns]
        if isinstance(error, _GivenUpError):
            raise next(each for each in raised if isinstance(each, DisclosureRefused)) from None
        raise
    return [turn.result for turn in turns]


def _part(release: Release, scope: Scope, program: Callable[[Release], T]) -> tuple[Turn[T], PartStatement]:
    """A part that has not begun; it ends as a job does."""

    def run() -> T:
        own_release = release._of_part(scope, PartOpener(release._opener, own))
        found = program(own_release)
        own_release.close()
        return found

    turn: Turn[T] = Turn(run)
    own = PartStatement(turn.stop)
    return turn, own


def _settle(
    opener: Opener, own: Owned[Limits], recipients: AbstractSet[Role], stated: Sequence[PartStatement]
) -> None:
    """Find out whether all parts may go on, and keep what they show.

    Raises:
        DisclosureRefused: they may not; at both sides.
        _GivenUpError: likewise, as this side's limits stand against one of them, which says why.
    """
    session = opener.session
    shown = ShownTables(tuple(table for each in stated for table in each.tables))
    is_heard = session.role.other in recipients
    here = all(answer for each in stated for answer in each.answers)
    why: Exception | None = None if here else _GivenUpError()
    if here and shown.tables and is_heard:
        several = sum(bool(each.tables) for each in stated) > 1
        if several and own.value.allow_one_figure and not opener.auditor.judges:
            why = _unknown_persons()
        elif not opener.auditor.allows(shown):
            why = _revealing()
    is_asked = any(each.answers for each in stated)
    holds = [bits for each in stated for bits in each.holds]
    goes_on = True
    if holds:
        if is_asked:
            answer = np.array([why is None], dtype=np.uint8)
            holds += [
                SecretBits(session, answer if session.role is role else np.zeros_like(answer))
                for role in Role
            ]
        goes_on = bool(opener.pattern(reduce(and_, holds), _ALL).all())
    elif is_asked:
        goes_on = opener.agree(_ALL, answer=why is None)
    if not goes_on:
        raise why or _refusal()
    if shown.tables:
        opener.announce(recipients, shown)


def _revealing() -> DisclosureRefused:
    return DisclosureRefused(
        "The figures of the job together, or with exact figures that were released before, would reveal "
        "figures of fewer persons than this party's policy allows, or a sum that one person dominates; or "
        "that could not be checked.",
        "Use the same groups and edges in all of them, ask for fewer, or add noise (epsilon).",
    )


def _unknown_persons() -> DisclosureRefused:
    return DisclosureRefused(
        "The data set does not say whom a row is about, so that nobody can hold the exact figures of the job "
        "against each other.",
        'Write person = "COLUMN" below the data set in the catalog, or ask for one figure a job.',
    )


def _refusal() -> DisclosureRefused:
    return DisclosureRefused(
        "A limit of the policies stands against a figure of the job, or against all of them together: too "
        "few persons or matches stand behind one, or one person dominates it. No figure was opened.",
        "Use larger groups, the same ones in all figures, or fewer figures; or add noise (epsilon).",
    )

"""Parts of a job: none opens anything before all are settled, by one answer."""

from __future__ import annotations

from dataclasses import dataclass, field
from fractions import Fraction

import numpy as np
import pytest

from smc.analyses.disclosure.audit import Bit, Figures, Members, ShownTables
from smc.analyses.disclosure.crowds import Crowds
from smc.analyses.disclosure.figures import Groups
from smc.analyses.disclosure.limits import Agreed, Limits
from smc.analyses.disclosure.owned import Owned
from smc.analyses.disclosure.release import Release
from smc.analyses.disclosure.scope import Kind, Scope
from smc.analyses.disclosure.tables import TablePart, TablesFigure
from smc.analyses.disclosure.together import run_together
from smc.analyses.disclosure.turns import Turn
from smc.errors import DisclosureRefused, DomainError
from smc.forms import Role
from smc.pair import run_pair
from smc.pieces import asking, check_cancelled
from smc.secret.ints import SecretInts
from smc.secret.sharing.bounds import Bounds

BOTH = frozenset(Role)
PART = Scope(frozenset({Kind.GROUPS}))
WHOLE = Scope(frozenset({Kind.GROUPS}), figures=3, apart=1, together=True)


@dataclass
class Told:
    """An auditor that keeps what it is asked and told."""

    judges: bool = True
    allowed: bool = True
    asked: list = field(default_factory=list)
    told: list = field(default_factory=list)

    def allows(self, told):
        self.asked.append(told)
        return self.allowed

    def record(self, told):
        self.told.append(told)


def table(*counts):
    """A side's part of a table: each person has a row of its own."""
    cells = np.repeat(np.arange(len(counts)), counts)
    numbers = np.array([counts])
    members = Members(np.arange(len(cells)), cells)
    return TablePart(numbers, Crowds.of(numbers), {}, (), members)


def tables(*counts):
    """A part that opens a table."""

    def run(release, session, said):
        said.append("computes")
        found = release.exact(TablesFigure([table(*counts)], 1000, margins=False, axes=(len(counts),)), BOTH)
        said.append("opened")
        return found[0].counts.tolist()

    return run


def total(persons):
    """A part whose limits are tested in secret, as over matched rows."""

    def run(release, session, said):
        said.append("computes")
        held = [
            SecretInts.from_plain(
                session, [persons] if session.role is role else None, role, Bounds(0, 99), 1
            )
            for role in Role
        ]
        count = held[0] + held[1]
        opened = release.open(count, BOTH, Groups((count,)))
        said.append("opened")
        return opened.tolist()

    return run


FIVE = Limits(minimum_group=5)


def joined(*parts, limits=FIVE, auditors=None, scope=WHOLE):
    """What both sides get of parts that are run together, and what happened at Alice's."""
    auditors = auditors or {role: Told() for role in Role}
    said = []

    def side(session):
        heard = said if session.role is Role.ALICE else []
        gate = lambda _: heard.append("gate")  # noqa: E731
        release = Release(session, scope, BOTH, limits.of_both, gate, auditors[session.role])
        programs = [(PART, lambda own, part=part: part(own, session, heard)) for part in parts]
        found = run_together(release, programs)
        release.close()
        return found

    return run_pair(side), said, auditors


def test_all_parts_compute_before_one_opens():
    (alice, bob), said, _ = joined(tables(10, 20), total(6), tables(30))
    assert alice == bob == [[[20, 40]], [12], [[60]]]
    assert said == [*["computes"] * 3, "gate", *["opened"] * 3]


def test_what_parts_show_is_asked_and_kept_as_one():
    _, _, auditors = joined(tables(10, 20), tables(30))
    for auditor in auditors.values():
        (asked,) = (each for each in auditor.asked if isinstance(each, ShownTables))
        assert [each.equations.shape for each in asked.tables] == [(2, 2), (1, 1)]
        assert [each for each in auditor.told if isinstance(each, ShownTables)] == [asked]


@pytest.mark.parametrize("place", [0, 1, 2])
def test_whichever_part_is_refused_no_one_opens(place):
    """By a side's own limits, which say why at that side."""
    parts = [tables(10, 20), tables(10, 30), total(6)]
    parts[place] = tables(1, 2, 50)
    auditors = {role: Told() for role in Role}
    with pytest.raises(DisclosureRefused, match="More than one cell in 10"):
        joined(*parts, auditors=auditors)
    for auditor in auditors.values():
        assert not any(isinstance(each, ShownTables | Figures) for each in auditor.told)
        assert sum(isinstance(each, Bit) for each in auditor.told) == 1


def test_a_limit_on_secret_numbers_is_one_bit_for_all_parts():
    """Together with what each side says of its own part."""
    for parts in ([total(6), total(2)], [total(2), tables(10, 20)], [tables(10, 20), total(6), total(1)]):
        auditors = {role: Told() for role in Role}
        with pytest.raises(DisclosureRefused, match="No figure was opened"):
            joined(*parts, auditors=auditors)
        for auditor in auditors.values():
            (bit,) = auditor.told
            assert isinstance(bit, Bit)


def test_one_side_alone_refuses_for_both():
    auditors = {Role.ALICE: Told(), Role.BOB: Told(allowed=False)}
    with pytest.raises(DisclosureRefused):
        joined(tables(10, 20), tables(30), auditors=auditors)
    assert not any(isinstance(each, ShownTables) for each in auditors[Role.ALICE].told)


def test_who_cannot_judge_shows_one_table_alone():
    """An auditor that does not know persons cannot hold two tables against each other."""
    blind = lambda: {role: Told(judges=False) for role in Role}  # noqa: E731
    joined(tables(10, 20), auditors=blind())
    joined(tables(10, 20), tables(30), auditors=blind(), limits=Limits())
    with pytest.raises(DisclosureRefused, match="does not say whom a row is about"):
        joined(tables(10, 20), tables(30), auditors=blind())


def test_what_a_part_raises_ends_all_of_them():
    def failing(release, session, said):
        raise DomainError("A value is wrong.", "Correct it.")

    auditors = {role: Told() for role in Role}
    with pytest.raises(DomainError, match="A value is wrong"):
        joined(tables(10, 20), failing, tables(30), auditors=auditors)
    assert not any(auditor.told for auditor in auditors.values())


def test_a_part_opens_nothing_that_it_has_not_stated():
    """What it shows once others have opened is asked for by itself."""

    def twice(release, session, said):
        release.exact(TablesFigure([table(10, 20)], 1000, margins=False, axes=(2,)), BOTH)
        return release.exact(TablesFigure([table(30)], 1000, margins=False, axes=(1,)), BOTH)

    with pytest.raises(DisclosureRefused, match="more figures than the facts"):
        joined(twice)


def test_parts_are_bounded_by_the_facts_of_the_job():
    for scope in (PART, Scope(frozenset({Kind.GROUPS}), figures=1, together=True)):
        with pytest.raises(DisclosureRefused, match="parts that open what the facts"):
            joined(tables(10, 20), tables(30), scope=scope)
    noisy = Scope(frozenset({Kind.NOISY}), figures=3, together=True)
    with pytest.raises(DisclosureRefused, match="parts that open what the facts"):
        joined(tables(10, 20), scope=noisy)


def test_a_job_of_parts_opens_nothing_by_itself():
    def side(session):
        release = Release(session, WHOLE, BOTH, Limits().of_both)
        release.exact(TablesFigure([table(10, 20)], 1000, margins=False, axes=(2,)), BOTH)

    with pytest.raises(DisclosureRefused, match="settled together"):
        run_pair(side)


def test_each_side_is_held_to_its_own_limits():
    """A peer without limits does not lift those of the other."""
    auditors = {role: Told() for role in Role}

    def side(session):
        own = Limits(minimum_group=5) if session.role is Role.BOB else Limits()
        agreed = Agreed(Owned(own), Limits(minimum_group=5, dominance=Fraction(1)))
        release = Release(session, WHOLE, BOTH, agreed, auditor=auditors[session.role])
        few = tables(2, 50, 60)
        return run_together(release, [(PART, lambda own_release: few(own_release, session, []))])

    alice, bob = run_pair(side)
    assert alice == bob
    assert alice[0][0][1:] == [100, 120]


# turns


def test_programs_take_turns_and_ask_the_question_of_who_began_them():
    said, turns = [], []

    def program(name):
        def run():
            check_cancelled()
            said.append(f"{name} begins")
            turns[name].stop()
            said.append(f"{name} ends")
            return name

        return run

    with asking(lambda: said.append("asked")):
        turns += [Turn(program(name)) for name in range(2)]
        for turn in turns:
            turn.go_on()
    assert said == ["asked", "0 begins", "asked", "1 begins"]
    for turn in turns:
        assert turn.is_waiting
        turn.go_on()
        assert not turn.is_waiting
    assert [turn.result for turn in turns] == [0, 1]
    assert said[4:] == ["0 ends", "1 ends"]


def test_a_program_that_is_given_up_ends():
    turns = []

    def run():
        turns[0].stop()

    turns.append(Turn(run))
    assert turns[0].give_up(DomainError("Not begun.")) is None
    turns[0].go_on()
    error = DomainError("Given up.")
    assert turns[0].give_up(error) is error
    assert not turns[0].is_waiting
    assert turns[0].give_up(error) is None

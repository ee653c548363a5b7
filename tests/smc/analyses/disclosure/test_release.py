"""A release enforces limits itself: analyses that forget them, or say what is not so, get nothing opened."""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction

import numpy as np
import pytest

from smc.analyses.disclosure.clusters import Clusters
from smc.analyses.disclosure.figures import Groups, Noisy, Rows, Shares, Size, Sum
from smc.analyses.disclosure.limits import NO_LIMITS, Limits
from smc.analyses.disclosure.opener import open_gate
from smc.analyses.disclosure.release import MAX_STEPS, Release
from smc.analyses.disclosure.tables import TablesFigure
from smc.analyses.studies.facts import Asked, ExactFigures, Facts, RowBounds, Whom
from smc.analyses.studies.loss import Loss
from smc.analyses.studies.runner import run_study
from smc.errors import DisclosureRefused, UsageError
from smc.forms import Role
from smc.pair import run_pair
from smc.secret.ints import SecretInts
from smc.secret.sharing.bounds import Bounds
from smc.secret.sharing.opening import OpenedBits, OpenedShares
from tests.smc.analyses.table_parts import part

BOTH = frozenset(Role)
ROWS = 4
STRICT = Limits(minimum_group=1000)
LARGE_SETS = Limits(minimum_set=1000)
LARGE_INTERSECTION = Limits(minimum_intersection=1000)
OPENING = {OpenedBits, OpenedShares}


class Watched:
    """A channel that lists the openings that are sent."""

    def __init__(self, channel):
        self._channel = channel
        self.opened = []

    def __getattr__(self, name):
        return getattr(self._channel, name)

    def send(self, message):
        if type(message) in OPENING:
            self.opened.append(message)
        self._channel.send(message)


class Program:
    """An analysis that is a function of a session, two secret columns of four rows, and a release."""

    name = "program"

    def __init__(self, program, declared):
        self._program = program
        self._facts = declared

    def check_recipients(self, recipients):
        """Anybody may receive."""

    def facts(self, recipients):
        del recipients
        return self._facts

    def run(self, session, data, recipients, release):
        del data
        columns = [
            SecretInts.from_plain(
                session, np.arange(ROWS) + 1 if session.role is role else None, role, Bounds(0, 100), (ROWS,)
            )
            for role in Role
        ]
        return self._program(release, *columns, recipients)


def attempt(program, declared, limits, *, recipients=BOTH, gate=open_gate):
    """What both sides get, or why they are refused, and what each has sent to open something."""

    def side(session):
        session.channel = Watched(session.channel)
        study = Program(program, declared)
        try:
            found = run_study(study, session, {}, recipients, limits.of_both, gate)
        except DisclosureRefused as error:
            found = error
        return found, session.channel.opened

    return run_pair(side, side)


def refused(*arguments, bits=0, **options):
    """That both sides are refused, with nothing opened but so many bits by each."""
    for found, opened in attempt(*arguments, **options):
        assert isinstance(found, DisclosureRefused), found
        assert [type(message) for message in opened] == [OpenedBits] * bits
        assert all(len(message.encode()) == 1 for message in opened)
    return found


def total(x, y):
    return (x * y).sum()


def facts(*, exact=False, rows=False, epsilon=0, matches=False):
    return Facts(
        pairs_by_position=False,
        matches=matches,
        lpn=False,
        row_results=rows,
        comparison_type=None,
        exact=ExactFigures(1, Whom.MATCHES) if exact else None,
        sorts_by=frozenset(),
        keeps_missing=frozenset(),
        loss=Loss(Fraction(epsilon)),
        bounds=RowBounds(),
        asked=Asked(),
    )


NOTHING, GROUPS, SINGLE, NOISY = facts(), facts(exact=True), facts(rows=True), facts(epsilon=1)
MATCHED = facts(exact=True, rows=True, matches=True)


def test_four_rows_under_a_smallest_group_of_a_thousand_are_not_added_up():
    def products(release, x, y, recipients):
        return release.open(total(x, y), recipients, Groups((ROWS,)))

    refused(products, GROUPS, STRICT)
    found = attempt(products, GROUPS, Limits(minimum_group=ROWS))
    assert [value.tolist() for value, _ in found] == [[30], [30]]


def test_secret_numbers_of_persons_are_tested_in_secret():
    def products(release, x, y, recipients):
        persons = SecretInts.from_bits(x >= 0).sum()
        return release.open(total(x, y), recipients, Groups((persons,)))

    refused(products, GROUPS, STRICT, bits=1)
    assert attempt(products, GROUPS, Limits(minimum_group=ROWS))[0][0].tolist() == [30]


def test_a_figure_about_persons_needs_their_number():
    refused(lambda r, x, y, to: r.open(total(x, y), to, Groups(())), GROUPS, STRICT)
    with pytest.raises(TypeError):
        attempt(lambda r, x, y, to: r.open(total(x, y), to), GROUPS, STRICT)
    with pytest.raises(AttributeError):
        attempt(lambda r, x, y, to: r.ints(total(x, y), to), GROUPS, STRICT)


def test_one_person_must_not_dominate_a_sum():
    def weighed(release, x, y, recipients):
        parts = x * y
        return release.open(parts.sum(), recipients, Groups((ROWS,), (Sum(parts.sum(), parts),)))

    refused(weighed, GROUPS, Limits(dominance=Fraction(1, 2)), bits=1)
    assert attempt(weighed, GROUPS, Limits(dominance=Fraction(3, 5)))[0][0].tolist() == [30]


def table(release, x, y, recipients):
    (found,) = release.exact(TablesFigure([part([9, 2, 8, 7])], 100, margins=False, axes=(4,)), recipients)
    return found.counts.tolist()


def test_a_table_withholds_its_small_cells():
    for found, opened in attempt(table, GROUPS, Limits(minimum_group=3)):
        assert found == [[18, 0, 16, 14]]
        assert [type(message) for message in opened] == [OpenedShares]
    refused(table, GROUPS, STRICT, bits=0)


def test_clusters_need_the_numbers_of_their_persons():
    def clusters(release, x, y, recipients):
        return release.exact(Clusters((), (), ((x + y, -1),), (x.sum(), -1)), recipients)

    refused(clusters, GROUPS, STRICT)
    assert attempt(clusters, GROUPS, NO_LIMITS)[0][0].figures[0].tolist() == [2, 4, 6, 8]


def test_answers_about_rows_are_for_jobs_whose_facts_say_so():
    def answers(release, x, y, recipients):
        return release.open(x >= y, recipients, Rows())

    refused(answers, GROUPS, NO_LIMITS)
    assert attempt(answers, SINGLE, STRICT)[0][0].all()


def test_protocols_with_outputs_of_their_own_are_not_run_where_they_are_not_allowed():
    ran = []

    def answers(release, x, y, recipients):
        del x, y, recipients
        return release.protocol(Rows(), ran.append, 1)

    refused(answers, GROUPS, NO_LIMITS)
    refused(answers, facts(rows=True, matches=True), NO_LIMITS)
    assert not ran
    attempt(answers, SINGLE, NO_LIMITS)
    assert ran == [1, 1]


@pytest.mark.parametrize(
    ("about", "declared"),
    [
        (Rows(), GROUPS),
        (Shares(), GROUPS),
        (Noisy(), GROUPS),
        (Groups((10**6,)), SINGLE),
        (Shares(), NOTHING),
        (Size(), GROUPS),
    ],
)
def test_a_figure_is_about_what_the_run_was_declared_to_be(about, declared):
    """An aggregate that claims to be about rows, or to be noisy, is refused unless the facts say so."""
    refused(lambda r, x, y, to: r.open(total(x, y), to, about), declared, NO_LIMITS)


def test_noise_that_nothing_was_spent_for_is_no_noise():
    def noisy(release, x, y, recipients):
        return release.open(total(x, y), recipients, Noisy())

    refused(noisy, NOTHING, NO_LIMITS)
    refused(noisy, GROUPS, NO_LIMITS)
    assert attempt(noisy, NOISY, STRICT)[0][0].tolist() == [30]


def test_noisy_figures_are_withheld_by_the_counts_that_they_name():
    def noisy(release, x, y, recipients):
        return release.open(x + y, recipients, Noisy(np.array([3, 3, 2, 3])))

    assert attempt(noisy, NOISY, Limits(minimum_group=7))[0][0].tolist() == [2, 4, 0, 8]
    refused(lambda r, x, y, to: r.open(x + y, to, Noisy(persons=(x.sum(),))), NOISY, STRICT, bits=1)


def matched(release, x, y, recipients, *, sets=(ROWS, ROWS), size=None):
    release.sets(*sets)
    counted = SecretInts.from_bits(x == y).sum() if size is None else size
    release.intersection(lambda: (counted,))
    return release.open(counted, recipients, Size())


def test_an_intersection_needs_its_sizes():
    def without_sets(release, x, y, recipients):
        release.intersection(lambda: (x.sum(),))
        return release.open(total(x, y), recipients, Groups((ROWS,)))

    def without_size(release, x, y, recipients):
        release.sets(ROWS, ROWS)
        return release.open(x == y, recipients, Rows())

    refused(without_sets, MATCHED, NO_LIMITS)
    refused(without_size, MATCHED, NO_LIMITS)
    refused(lambda r, x, y, to: r.open(x == y, to, Rows()), MATCHED, NO_LIMITS)
    refused(matched, GROUPS, NO_LIMITS)
    assert attempt(matched, MATCHED, Limits(minimum_intersection=4, minimum_set=4))[0][0].tolist() == [4]


def test_small_sets_and_intersections_are_refused():
    refused(matched, MATCHED, LARGE_SETS)
    refused(matched, MATCHED, LARGE_INTERSECTION)
    refused(lambda *a: matched(*a, sets=(1000, 1000)), MATCHED, LARGE_INTERSECTION, bits=1)
    refused(lambda *a: matched(*a, sets=(ROWS, 9)), MATCHED, Limits(maximum_ratio=Fraction(2)))


def test_a_size_is_the_one_that_was_tested():
    def another(release, x, y, recipients):
        release.sets(ROWS, ROWS)
        release.intersection(lambda: (SecretInts.from_bits(x == y).sum(),))
        return release.open(total(x, y), recipients, Size())

    refused(another, MATCHED, NO_LIMITS)


def test_only_recipients_of_the_job_get_anything():
    refused(
        lambda r, x, y, to: r.open(total(x, y), BOTH, Groups((ROWS,))),
        GROUPS,
        NO_LIMITS,
        recipients=frozenset({Role.ALICE}),
    )


def test_a_run_that_opened_nothing_here_has_no_result():
    refused(lambda r, x, y, to: "a figure from elsewhere", GROUPS, NO_LIMITS)
    assert attempt(lambda r, x, y, to: r.admit(Shares()), NOTHING, STRICT)[0][0] is None


def test_a_run_that_left_a_limit_untested_has_no_result():
    def late(release, x, y, recipients):
        found = release.open(total(x, y), recipients, Groups((ROWS,)))
        release.persons(3)
        return found

    for found, _ in attempt(late, GROUPS, NO_LIMITS):
        assert isinstance(found, DisclosureRefused)


def test_steps_are_single_bits_about_groups(monkeypatch):
    def step(release, x, y, recipients):
        release.step((x >= y)[:1])
        return release.open(total(x, y), recipients, Groups((ROWS,)))

    refused(step, SINGLE, NO_LIMITS)
    assert attempt(step, GROUPS, NO_LIMITS)[0][0].tolist() == [30]
    refused(lambda r, x, y, to: r.step(x >= y), GROUPS, NO_LIMITS)

    assert MAX_STEPS == 1000
    monkeypatch.setattr("smc.analyses.disclosure.release.MAX_STEPS", 30)

    def chatter(release, x, y, recipients):
        for _ in range(60):
            release.step((x >= y)[:1])

    found, opened = attempt(chatter, GROUPS, NO_LIMITS)[0]
    assert isinstance(found, DisclosureRefused)
    assert len(opened) == 30


def test_the_gate_is_passed_once_and_before_the_first_opening():
    told = []

    def both(release, x, y, recipients):
        del recipients
        first = release.open(x + y, {Role.BOB}, Groups((ROWS,)))
        return first, release.open(y + 1, BOTH, Groups((ROWS,)))

    def gate(channel):
        told.append((channel.traffic.sent, channel.traffic.received))

    (alice, _), (bob, _) = attempt(both, GROUPS, NO_LIMITS, gate=gate)
    assert told == [(0, 0)] * 2
    assert alice[0] is None
    assert bob[0].tolist() == [2, 4, 6, 8]
    assert alice[1].tolist() == bob[1].tolist() == [2, 3, 4, 5]


FIGURES = {
    "groups": (GROUPS, lambda r, x, y, to: r.open(total(x, y), to, Groups((ROWS,)))),
    "secret groups": (GROUPS, lambda r, x, y, to: r.open(total(x, y), to, Groups((x.sum(),)))),
    "table": (GROUPS, table),
    "rows": (SINGLE, lambda r, x, y, to: r.open(x >= y, to, Rows())),
    "noisy": (NOISY, lambda r, x, y, to: r.open(x + y, to, Noisy())),
    "intersection": (MATCHED, matched),
    "shares": (NOTHING, lambda r, x, y, to: r.admit(Shares())),
    "step": (GROUPS, lambda r, x, y, to: r.step((x >= y)[:1])),
}


@pytest.mark.parametrize("name", FIGURES)
def test_a_gate_that_raises_keeps_everything_closed(name):
    declared, program = FIGURES[name]
    channels = []

    def gate(channel):
        channels.append(channel)
        raise UsageError("The loss could not be written.")

    with pytest.raises(UsageError, match="written"):
        attempt(program, declared, Limits(minimum_group=2), gate=gate)
    assert all(not channel.opened for channel in channels)


@pytest.mark.parametrize("limits", [Limits(minimum_group=2), Limits(dominance=Fraction(1, 2))])
def test_a_job_without_noise_holds_one_figure(limits):
    """Several are refused before the analysis runs, and more than were stated before they open."""
    several = replace(GROUPS, exact=ExactFigures(2, Whom.MATCHES))
    ran = []

    def silent(release, x, y, recipients):
        ran.append(release)

    found = refused(silent, several, limits)
    assert "holds one figure" in found.what
    assert not ran

    def twice(release, x, y, recipients):
        one = release.open(total(x, y), recipients, Groups((ROWS,)))
        return one, release.open(x + y, recipients, Groups((ROWS,)))

    for outcome, _ in attempt(twice, GROUPS, limits):
        assert isinstance(outcome, DisclosureRefused)
        assert outcome.stable_code == "release"
    for program in (silent, twice):  # nobody minds where nothing is limited
        for outcome, _ in attempt(program, several, NO_LIMITS):
            assert "figure" not in str(outcome)


def test_a_release_cannot_be_made_without_limits():
    with pytest.raises(TypeError):
        Release()

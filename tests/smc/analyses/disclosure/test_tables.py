"""Each side withholds of its part what its own limits say, and no attacker narrows a small cell."""

from __future__ import annotations

import itertools
import math
from dataclasses import replace
from fractions import Fraction
from functools import partial

import numpy as np
import pytest
from hypothesis import given, reject
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from smc.analyses.disclosure.audit import ShownTable, Unaudited
from smc.analyses.disclosure.limits import Agreed, Limits
from smc.analyses.disclosure.opened import Totals
from smc.analyses.disclosure.opener import open_gate
from smc.analyses.disclosure.owned import Owned
from smc.analyses.disclosure.release import Release
from smc.analyses.disclosure.scope import Kind, Scope
from smc.analyses.disclosure.suppression import roomy_from
from smc.analyses.disclosure.tables import MAX_WITHHELD, TablesFigure, join_parts, suppress
from smc.errors import DisclosureRefused, PeerAborted, PeerLost, UsageError
from smc.forms import Role
from smc.pair import run_pair
from smc.protocols.agreement import Agreement
from tests.smc.analyses.table_parts import part
from tests.smc.analyses.transcripts import watched

BOTH = frozenset(Role)
BOB = frozenset({Role.BOB})
REACH = 1 << 20
ZEROS = Limits(minimum_group=3, zeros="shown")
"""Three, with zeros shown."""
THREE = Limits(minimum_group=3)


def pair_of(table, **more):
    """Alice's and Bob's part; a single table is the part of each."""
    return [part(each, **more) for each in (table if isinstance(table, tuple) else (table, table))]


def plain(sides, limits=THREE, *, margins=False):
    """What recipients get, in the clear."""
    return join_parts(
        sides, [suppress(Owned(limits), each, margins=margins) for each in sides], margins=margins
    )


def opened(
    sides,
    limits=THREE,
    *,
    theirs=None,
    recipients=BOTH,
    margins=False,
    gate=open_gate,
    auditor=None,
    seen=None,
):
    """What Alice and Bob get, Alice under the first limits and Bob under the second."""
    own = dict(zip(Role, (limits, limits if theirs is None else theirs), strict=True))
    parts = dict(zip(Role, sides, strict=True))

    def side(session):
        if seen is not None:
            session = watched(session, seen)
        agreed = Agreed(Owned(own[session.role]), limits.stricter(own[Role.BOB]))
        scope = Scope(frozenset({Kind.GROUPS}))
        release = Release(session, scope, recipients, agreed, gate, auditor or Unaudited())
        mine = parts[session.role]
        found = release.exact(TablesFigure([mine], REACH, margins, mine.counts.shape), recipients)
        return None if found is None else found[0]

    return run_pair(side, side)


def same(one, other):
    """Whether two opened tables agree."""
    assert (one.shown == other.shown).all()
    assert (one.shown_rows == other.shown_rows).all()
    assert (one.shown_columns == other.shown_columns).all()
    assert one.shown_total == other.shown_total
    assert one.notes == other.notes
    assert (one.counts == other.counts).all()
    pairs = [(one.count_totals, other.count_totals)]
    for name in other.values:
        assert (one.values[name] == other.values[name]).all()
        pairs.append((one.value_totals.get(name), other.value_totals.get(name)))
    for left, right in pairs:
        assert (left is None) == (right is None)
        if left is not None:
            assert (left.rows == right.rows).all()
            assert (left.columns == right.columns).all()
            assert left.total == right.total
    return True


LARGE = [[20, 11, 2, 30], [17, 12, 9, 14], [40, 22, 15, 19]]
WIDE = [[*row, *[50] * 8] for row in LARGE]
"""So wide that a tenth of its cells may be withheld."""
TABLES = {
    "all totals beside one small cell": (LARGE, True, True),
    "row totals only": ([[20, 2, 9], [5, 5, 40]], True, False),
    "column totals only": ([[20, 5], [2, 5], [9, 40]], False, True),
    "no room": ([[20, 6, 1, 6], [6, 6, 6, 6], [6, 6, 6, 6]], False, False),
}


@pytest.mark.parametrize("name", TABLES)
def test_small_cells_and_what_would_give_them_away_stay_closed(name):
    table, rows, columns = TABLES[name]
    sides = pair_of(table)
    first, second = opened(sides, margins=True)
    expected = plain(sides, margins=True)
    assert same(first, expected)
    assert same(second, expected)
    small = np.array(table) < 3
    assert not first.shown[small].any()
    assert not first.counts[~first.shown].any()
    affected_rows, affected_columns = small.any(axis=1), small.any(axis=0)
    assert (first.shown_rows[affected_rows] == rows).all()
    assert (first.shown_columns[affected_columns] == columns).all()
    assert first.notes
    assert first.withheld == (~first.shown).sum()


def test_zeros_are_withheld_unless_the_policy_shows_them():
    sides = pair_of([[0, 20, 9, 8]])
    assert opened(sides)[0].shown.tolist() == [[False, True, True, True]]
    assert opened(sides, ZEROS)[0].shown.all()
    mixed = opened(sides, ZEROS, theirs=THREE)
    assert [each.shown.tolist() for each in mixed] == [[[False, True, True, True]]] * 2


def test_the_oldest_patients_diagnosis_does_not_follow_from_zeros_beside_a_withheld_cell():
    """Of the row of 96 to 97 years all cells are 0 but one: beside shown zeros it would be the patient's."""
    rows = [[40, 30, 20, 25, 60, 12], [15, 12, 11, 13, 10, 12], [0, 0, 0, 0, 0, 1]]
    with pytest.raises(DisclosureRefused, match="one cell only"):
        opened(pair_of(rows), replace(ZEROS, minimum_group=10), margins=True)
    sides = pair_of([[*row, *[60] * 60] for row in rows])
    got, _ = opened(sides, Limits(minimum_group=10), margins=True)
    assert not got.shown[2, :6].any()


@pytest.mark.parametrize("table", [[[50, 0], [20, 20]], [[50, 30], [0, 30]], [[50, 0, 0]]])
def test_a_line_with_persons_in_one_cell_alone_is_not_shown_beside_zeros(table):
    with pytest.raises(DisclosureRefused, match="one cell only"):
        opened(pair_of(table), ZEROS)
    opened(pair_of(table), ZEROS, recipients=frozenset())
    opened(pair_of([[50]]), ZEROS)


def test_without_limits_everything_is_open():
    seen = []
    sides = pair_of(LARGE)
    first, second = opened(
        sides, Limits(), margins=True, gate=lambda channel: seen.append(channel.traffic.sent)
    )
    assert first.shown.all()
    assert first.shown_total
    assert first.count_totals.total == 2 * np.sum(LARGE)
    assert first.count_totals.rows.tolist() == (2 * np.sum(LARGE, axis=1)).tolist()
    assert not first.notes
    assert second.counts.tolist() == (2 * np.array(LARGE)).tolist()
    assert seen == [0, 0]


def test_one_dimension_with_a_total_withholds_two_cells():
    sides = pair_of([2, 30, 40, 50])
    first, _ = opened(sides, margins=True)
    assert first.shown.tolist() == [[False, False, True, True]]
    assert first.shown_total
    assert first.count_totals.total == 244
    assert same(first, plain(sides, margins=True))


def test_what_one_side_has_too_few_of_is_closed_however_many_the_other_has():
    """A recipient subtracts its own part; what is left has to be a group."""
    sides = pair_of(([[100, 1], [50, 30]], [[2, 100], [40, 60]]))
    first, second = opened(sides)
    assert first.shown.tolist() == second.shown.tolist() == [[False, False], [True, True]]
    assert first.counts.tolist() == [[0, 0], [90, 90]]
    assert same(first, plain(sides))


def test_the_persons_count_not_the_rows():
    first, _ = opened(pair_of([[50, 60], [70, 80]], persons=[[1, 20], [30, 40]]))
    assert first.shown.tolist() == [[False, True], [True, True]]


def test_one_dominating_person_closes_a_sum():
    limits = Limits(dominance=Fraction("0.8"))
    sides = pair_of([40, 50, 60, 70], sums=[90, 100, 100, 100], largest=[90, 80, 10, 10])
    first, second = opened(sides, limits)
    assert first.shown.tolist() == [[False, True, True, True]]
    assert first.values["sum"].tolist() == [[0, 200, 200, 200]]
    assert same(second, plain(sides, limits))


def test_a_total_over_withheld_cells_must_not_be_dominated_either():
    limits = Limits(3, Fraction(1, 2))
    counts = [[2, 30, 40], [50, 60, 70], [50, 60, 70]]
    values, even = np.full((3, 3), 100), np.full((3, 3), 5)
    for top, open_totals in ((5, True), (150, False)):
        largest = even.copy()
        largest[0, 0] = top
        sums = values.copy()
        sums[0, 0] = 180
        sides = pair_of(counts, sums=sums, largest=largest)
        first, _ = opened(sides, limits, margins=True)
        assert same(first, plain(sides, limits, margins=True))
        assert first.shown_total is open_totals
        assert bool(first.shown_rows[0]) is open_totals
        assert bool(first.value_totals["sum"].rows[0]) is open_totals


def test_only_recipients_get_the_table():
    for recipients in (frozenset({Role.ALICE}), BOB):
        got = dict(zip(Role, opened(pair_of(LARGE), recipients=recipients, margins=True), strict=True))
        assert {role for role in Role if got[role] is not None} == recipients


@pytest.mark.parametrize("limits", [THREE, Limits(minimum_group=500), Limits(2, Fraction(1, 100))])
def test_who_is_no_recipient_learns_nothing_of_the_pattern(limits):
    """Counts of a victim that alone gets its table, under limits that the peer has chosen, or the victim."""
    heard = []
    for table in (LARGE, np.array(LARGE) + 400, np.zeros((3, 4)), np.ones((3, 4))):
        for ours, theirs in ((limits, THREE), (THREE, limits)):
            seen = {role: [] for role in Role}
            sides = pair_of((np.full((3, 4), 1000), table))
            opened(sides, ours, theirs=theirs, recipients=BOB, margins=True, seen=seen)
            assert {type(message) for message in seen[Role.ALICE]} == {Agreement}
            heard.append([message.answer.encode() for message in seen[Role.ALICE]])
    assert heard == [[b"\x01"]] * len(heard)


def test_the_peer_moves_no_threshold_of_the_other_side():
    """Whatever smallest group or dominance Alice asks for, what Bob sends her of his part is the same."""
    sides = pair_of(([[500] * 12] * 3, WIDE), sums=np.full((3, 12), 100), largest=np.full((3, 12), 30))
    sent = []
    for ours in (THREE, Limits(minimum_group=12), Limits(minimum_group=17), Limits(3, Fraction(29, 100))):
        seen = {role: [] for role in Role}
        opened(sides, ours, theirs=THREE, recipients=frozenset({Role.ALICE}), margins=True, seen=seen)
        sent.append([repr(message.encode()) for message in seen[Role.ALICE]])
    assert sent == sent[:1] * len(sent)


def test_what_is_sent_does_not_depend_on_the_pattern():
    def sizes(table):
        seen = {role: [] for role in Role}
        opened(pair_of(table), recipients=frozenset({Role.ALICE}), margins=True, seen=seen)
        return [len(message.encode()) for role in Role for message in seen[role]]

    other = np.array(LARGE) + 100
    assert sizes(LARGE) == sizes(other) == sizes((other, other + 50))


def test_a_table_of_which_much_would_be_withheld_is_refused_with_one_bit():
    few = np.full((1, 2000), 40)
    few[0, : MAX_WITHHELD + 1] = 1
    eleven = np.full((1, 100), 40)
    eleven[0, :11] = 1
    for table in (few, eleven, [[1, 2, 30, 40]]):
        for recipients in (BOTH, frozenset({Role.ALICE})):
            seen = {role: [] for role in Role}
            full = np.full_like(np.array(table), 50)
            with pytest.raises((DisclosureRefused, PeerAborted)):
                opened(pair_of((full, table)), recipients=recipients, seen=seen)
            assert all(type(message) is Agreement for role in Role for message in seen[role])
    opened(pair_of((full, [[1, 20, 30, 40]])))
    few[0, MAX_WITHHELD] = 40
    opened(pair_of((np.full_like(few, 50), few)))
    # nobody hears of a part that only its owner gets
    assert opened(pair_of((np.full_like(few, 50), np.ones_like(few))), recipients=BOB)[1].withheld == 2000


class Watcher(Unaudited):
    """An auditor that keeps what it is told, and refuses if asked to."""

    def __init__(self, *, refuses=False):
        self.asked, self.told, self._refuses = [], [], refuses

    def allows(self, told):
        self.asked.append(told)
        return not self._refuses

    def record(self, told):
        self.told.append(told)


def test_the_auditor_is_asked_before_anything_opens():
    auditor, seen = Watcher(refuses=True), {role: [] for role in Role}
    with pytest.raises(DisclosureRefused):
        opened(pair_of(LARGE), auditor=auditor, seen=seen)
    assert auditor.asked
    assert all(type(message) is Agreement for role in Role for message in seen[role])


def test_nothing_is_opened_before_the_gate():
    def gate(channel):
        raise UsageError("No budget.")

    with pytest.raises((UsageError, PeerLost)):
        opened(pair_of(LARGE), gate=gate)


def test_what_does_not_fit_is_refused():
    crooked = replace(part(LARGE), values={"sum": np.ones((1, 1), np.int64)})
    with pytest.raises(UsageError, match="shapes"):
        opened([crooked, crooked])


def published(tables, *, zeros=False):
    """What is opened of a part, and the two bits of each cell, which we let an attacker know."""
    (table,) = tables
    found = plain([part(table)], THREE if zeros else ZEROS, margins=True)
    small = (table >= (0 if zeros else 1)) & (table < 3)
    return small, (table >= roomy_from(3)) & ~small, found


def naive(tables):
    """The same with all totals, and nothing withheld but the small cells."""
    small, roomy, found = published(tables)
    table = sum(tables)
    rows, columns = np.ones(len(table), np.bool_), np.ones(len(table.T), np.bool_)
    totals = Totals(table.sum(axis=1), table.sum(axis=0), int(table.sum()))
    counts = np.where(small, 0, table)
    opened = replace(
        found, shown=~small, counts=counts, shown_rows=rows, shown_columns=columns, count_totals=totals
    )
    return small, roomy, opened


class TooManyTablesError(Exception):
    """There are too many tables to be tried."""


def attack(table, publish=published, small_counts=(1, 2), most=100_000):
    """The combinations of small counts that remain possible for who sees everything that is opened of a part.

    Args:
        table: the part that is attacked.
        publish: what is opened.
        small_counts: the range of a small count.
        most: tables that are tried.

    Returns:
        The combinations that are left, of all tables whose other withheld cells have at most 16; and all.
    """
    table = np.array(table)
    small, roomy, found = publish([table])
    hidden = ~found.shown
    places = list(zip(*np.nonzero(hidden), strict=True))
    theirs = small & np.isin(table, small_counts)
    ranges = [range(6, 17) if roomy[p] else small_counts if small[p] else (0, 3, 4, 5) for p in places]
    if math.prod(map(len, ranges)) > most:
        raise TooManyTablesError
    guesses = np.array(list(itertools.product(*ranges)), dtype=np.int64)
    tried = np.repeat(table[None], len(guesses), axis=0)
    tried[:, hidden] = guesses
    fits = (tried.sum(axis=2) == table.sum(axis=1))[:, found.shown_rows].all(axis=1)
    fits &= (tried.sum(axis=1) == table.sum(axis=0))[:, found.shown_columns].all(axis=1)
    possible, everything = set(), set(itertools.product(small_counts, repeat=int(theirs.sum())))
    left = tried[fits]
    for place in range(len(left)):
        filled = left[place * 7919 % len(left)]  # far apart, so that all combinations are soon seen
        again = publish([filled])
        if (again[0] == small).all() and (again[1] == roomy).all() and looks_the_same(found, again[2]):
            possible.add(tuple(int(filled[p]) for p in places if theirs[p]))
        if everything <= possible:
            break
    return possible & everything, everything


def looks_the_same(one, other):
    """Whether the same cells and totals are open, with the same numbers in them."""
    return (
        (one.counts == other.counts).all()
        and (one.shown == other.shown).all()
        and (one.shown_rows == other.shown_rows).all()
        and (one.shown_columns == other.shown_columns).all()
        and one.shown_total == other.shown_total
        and (one.count_totals.rows == other.count_totals.rows).all()
        and (one.count_totals.columns == other.count_totals.columns).all()
        and one.count_totals.total == other.count_totals.total
    )


ATTACKED = [
    [[9, 8, 2], [10, 12, 9], [9, 9, 9]],
    [[8, 6, 2], [7, 6, 7], [9, 6, 7]],
    [[6, 6, 1], [6, 6, 6], [9, 9, 9]],
    [[1, 2, 9], [9, 9, 9]],
    [[1, 8, 9], [2, 9, 7]],
    [[2, 7, 8, 9]],
    [[1, 1, 6, 9]],
    [[2, 6, 0, 5]],
    [[1, 6, 0, 5]],
    [[2, 7, 0, 5]],
    [[2, 4], [6, 7]],
    [[2, 9], [9, 1], [9, 9]],
]


@pytest.mark.parametrize("table", ATTACKED)
def test_every_combination_of_small_counts_remains_possible(table):
    possible, everything = attack(table)
    assert possible == everything


def test_of_withheld_zeros_no_combination_is_excluded():
    """The corner tells c - p - q: one below what c has at least, were p = q = 0 not possible."""
    table = [[1, 0, 16], [16, 16, roomy_from(3)]]
    possible, everything = attack(table, partial(published, zeros=True), (0, 1, 2), most=140_000)
    assert possible == everything
    assert (0, 0) in possible


SHAPES = st.sampled_from([(1, 4), (2, 3), (3, 2), (3, 3)])
COUNTS = st.sampled_from([0, 1, 2, 3, 6, 7, 8, 9])


@given(SHAPES.flatmap(lambda shape: arrays(np.int64, shape, elements=COUNTS)), st.booleans())
def test_no_random_table_narrows_a_small_cell(table, zeros):
    counts = (0, 1, 2) if zeros else (1, 2)
    try:
        possible, everything = attack(table, partial(published, zeros=zeros), counts)
    except TooManyTablesError:
        reject()
    assert possible == everything


def test_the_attacker_finds_what_naive_totals_give_away():
    possible, everything = attack([[2, 9], [8, 9]], naive)
    assert possible == {(2,)}
    assert len(everything) == 2


@pytest.mark.parametrize("counts", [[[5, 6, 7]], [[5], [6], [7]]])
def test_a_line_is_told_once_with_its_total(counts):
    """A cell is its own row's total, and a histogram's only line is all: no number counts twice."""
    one = part(counts)
    shown = ShownTable.of(one.members, suppress(Owned(Limits()), one, margins=True), margins=True)
    assert len(shown.equations) == one.counts.size + 1

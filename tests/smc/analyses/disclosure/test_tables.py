"""Tables come out as the plain twin says, and no attacker narrows a small cell."""

from __future__ import annotations

import itertools
import math
from dataclasses import replace
from fractions import Fraction
from functools import partial

import numpy as np
import pytest
from hypothesis import given, reject, settings
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from smc.analyses.disclosure.limits import Limits
from smc.analyses.disclosure.opened import Totals
from smc.analyses.disclosure.opener import open_gate
from smc.analyses.disclosure.plain import plain_table
from smc.analyses.disclosure.release import Release
from smc.analyses.disclosure.scope import Kind, Scope
from smc.analyses.disclosure.suppression import roomy_from
from smc.analyses.disclosure.tables import GroupTable
from smc.errors import PeerLost, UsageError
from smc.forms import Role
from smc.pair import run_pair
from smc.secret.bounds import Bounds
from smc.secret.ints import SecretInts

BOTH = frozenset(Role)
THREE = Limits(minimum_group=3)


def shared(session, table):
    """Two parts, each the input of its side."""
    return [
        SecretInts.from_plain(
            session, part if session.role is owner else None, owner, Bounds(0, 1 << 20), part.shape
        )
        for owner, part in zip(Role, parts(table), strict=True)
    ]


def parts(table):
    """Alice's and Bob's part; a single table is the part of each."""
    both = table if isinstance(table, tuple) else (table, table)
    return [np.array(part, dtype=np.int64) for part in both]


def plain(table, limits, *, values=None, largest=None, persons=None, **options):
    """The plain twin on the same parts."""
    return plain_table(
        limits,
        parts(table),
        values={name: parts(entry) for name, entry in (values or {}).items()},
        largest={name: parts(entry) for name, entry in (largest or {}).items()},
        persons=parts(table if persons is None else persons),
        cover=parts(table if persons is None else persons),
        **options,
    )


def opened(
    table, limits, *, recipients=BOTH, values=None, largest=None, persons=None, gate=open_gate, **options
):
    """What Alice and Bob get."""

    def side(session):
        counts = shared(session, table)
        cells = GroupTable(
            counts,
            *[counts if persons is None else shared(session, persons)] * 2,
            {name: shared(session, entry) for name, entry in (values or {}).items()},
            {name: shared(session, entry) for name, entry in (largest or {}).items()},
        )
        return release_of(session, limits, gate).table(cells, recipients, **options)

    return run_pair(side, side)


def release_of(session, limits, gate=open_gate):
    return Release(session, Scope(frozenset({Kind.GROUPS})), BOTH, limits, gate)


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
TABLES = {
    "all totals beside one small cell": (LARGE, True, True),
    "row totals only": ([[20, 2, 9], [1, 30, 40]], True, False),
    "column totals only": ([[20, 2], [9, 8], [1, 30]], False, True),
    "no room": ([[20, 6, 1, 6], [6, 6, 0, 6], [6, 6, 6, 6]], False, False),
    "small everywhere": ([[1, 20], [20, 2]], False, False),
}


@pytest.mark.parametrize("name", TABLES)
def test_small_cells_and_what_would_give_them_away_stay_closed(name):
    table, rows, columns = TABLES[name]
    first, second = opened(table, THREE, margins=True)
    expected = plain(table, THREE, margins=True)
    assert same(first, expected)
    assert same(second, expected)
    small = (np.array(table) > 0) & (np.array(table) < 3)
    assert not first.shown[small].any()
    assert not first.counts[~first.shown].any()
    affected_rows, affected_columns = small.any(axis=1), small.any(axis=0)
    assert (first.shown_rows[affected_rows] == rows).all()
    assert (first.shown_columns[affected_columns] == columns).all()
    assert first.notes
    assert first.withheld == (~first.shown).sum()


def test_zeros_are_shown_unless_asked_otherwise():
    table = [[0, 20, 9, 8]]
    assert opened(table, THREE)[0].shown.all()
    assert opened(table, THREE, zeros=True)[0].shown.tolist() == [[False, True, True, True]]


def test_without_limits_everything_is_open_and_no_pattern_is_sent():
    seen = []
    first, second = opened(
        LARGE, Limits(), margins=True, gate=lambda channel: seen.append(channel.traffic.sent)
    )
    assert first.shown.all()
    assert first.shown_total
    assert first.count_totals.total == 2 * np.sum(LARGE)
    assert first.count_totals.rows.tolist() == (2 * np.sum(LARGE, axis=1)).tolist()
    assert not first.notes
    assert second.counts.tolist() == (2 * np.array(LARGE)).tolist()
    assert seen == [1, 1]  # whether the auditors agree


def test_one_dimension_with_a_total_withholds_two_cells():
    first, _ = opened([2, 30, 40, 50], THREE, margins=True)
    assert first.shown.tolist() == [[False, False, True, True]]
    assert first.shown_total
    assert first.count_totals.total == 244
    assert same(first, plain([2, 30, 40, 50], THREE, margins=True))


def test_what_one_side_has_too_few_of_is_closed_however_many_the_other_has():
    """A recipient subtracts its own part; what is left has to be a group."""
    table = ([[100, 1], [50, 0]], [[1, 100], [0, 60]])
    first, second = opened(table, THREE)
    assert first.shown.tolist() == second.shown.tolist() == [[False, False], [True, True]]
    assert first.counts.tolist() == [[0, 0], [50, 60]]
    assert same(first, plain(table, THREE))


def test_one_side_alone_may_have_all_rows():
    def side(session):
        own = SecretInts.from_plain(
            session, np.array([2, 9]) if session.role is Role.BOB else None, Role.BOB, Bounds(0, 99), 2
        )
        return release_of(session, THREE).table(GroupTable([own], [own], [own]), BOTH)

    assert run_pair(side, side)[0].counts.tolist() == [[0, 9]]


def test_the_persons_count_not_the_rows():
    rows, persons = [[50, 60], [70, 80]], [[1, 20], [30, 40]]
    first, _ = opened(rows, THREE, persons=persons)
    assert first.shown.tolist() == [[False, True], [True, True]]


def test_one_dominating_person_closes_a_sum():
    limits = Limits(dominance=Fraction("0.8"))
    counts = [[40, 50], [60, 70]]
    indicator = {"income times indicator": [[90, 100], [100, 100]]}
    largest = {"income times indicator": [[90, 80], [81, 10]]}
    first, second = opened(counts, limits, values=indicator, largest=largest)
    assert first.shown.tolist() == [[False, True], [False, True]]
    assert first.values["income times indicator"].tolist() == [[0, 200], [0, 200]]
    assert same(second, plain(counts, limits, values=indicator, largest=largest))


def test_a_total_over_withheld_cells_must_not_be_dominated_either():
    limits = Limits(3, Fraction(1, 2))
    counts = [[2, 30, 40], [50, 60, 70], [50, 60, 70]]
    values, even = np.full((3, 3), 100), np.full((3, 3), 5)
    for top, open_totals in ((5, True), (150, False)):
        largest = even.copy()
        largest[0, 0] = top
        sums = values.copy()
        sums[0, 0] = 180
        arguments = {"values": {"x": sums}, "largest": {"x": largest}, "margins": True}
        first, _ = opened(counts, limits, **arguments)
        assert same(first, plain(counts, limits, **arguments))
        assert first.shown_total is open_totals
        assert bool(first.shown_rows[0]) is open_totals
        assert "x" in first.value_totals
        assert bool(first.value_totals["x"].rows[0]) is open_totals


@pytest.mark.parametrize("recipients", [{Role.ALICE}, {Role.BOB}])
def test_only_recipients_get_the_table(recipients):
    got = dict(zip(Role, opened(LARGE, THREE, recipients=frozenset(recipients), margins=True), strict=True))
    assert [role for role in Role if got[role] is not None] == list(recipients)


def test_what_is_sent_depends_on_the_pattern_only():
    def traffic(table):
        def side(session):
            counts = shared(session, table)
            release = release_of(session, THREE)
            release.table(GroupTable(counts, counts, counts), frozenset({Role.ALICE}), margins=True)
            return session.channel.traffic.sent, session.channel.traffic.rounds

        return run_pair(side, side)

    other = np.array(LARGE) + 100
    other[0, 2] = 1
    other = (other, other + 50)
    assert traffic(LARGE) == traffic(other)


def test_nothing_is_opened_before_the_gate():
    def gate(channel):
        raise UsageError("No budget.")

    with pytest.raises((UsageError, PeerLost)):
        opened(LARGE, THREE, gate=gate)


def test_what_does_not_fit_is_refused():
    with pytest.raises(UsageError, match="shapes"):
        opened(LARGE, THREE, values={"x": [[1]]})
    with pytest.raises(UsageError, match="not one of the tables"):
        opened([[4]], THREE, largest={"x": [[1]]})


def published(tables, *, zeros=False):
    """What is opened of counts, and the two bits of each cell that both parties see."""
    found = plain_table(THREE, tables, persons=tables, cover=tables, margins=True, zeros=zeros)
    least = 0 if zeros else 1
    small = np.logical_or.reduce([(table >= least) & (table < 3) for table in tables])
    return small, np.logical_and.reduce([table >= roomy_from(3) for table in tables]) & ~small, found


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


def attack(table, own=None, publish=published, small_counts=(1, 2)):
    """The combinations of small counts that remain possible for who sees everything that is opened.

    Args:
        table: the part that is attacked.
        own: the part that the attacker knows; None if there is none, for an attacker from outside.
        publish: what is opened.
        small_counts: the range of a small count.

    Returns:
        The combinations that are left, of all tables whose other withheld cells have at most 16; and all.
    """
    table = np.array(table)
    known = [] if own is None else [np.array(own)]
    small, roomy, found = publish([table, *known])
    hidden = ~found.shown
    places = list(zip(*np.nonzero(hidden), strict=True))
    mine = np.zeros_like(small) if own is None else small & np.isin(known[0], small_counts)
    theirs = small & np.isin(table, small_counts)
    ranges = [
        range(6, 17) if roomy[p] else range(17) if mine[p] else small_counts if small[p] else (0, 3, 4, 5)
        for p in places
    ]
    if math.prod(map(len, ranges)) > 100_000:
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
        again = publish([filled, *known])
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


SHAPES = st.sampled_from([(1, 4), (2, 3), (3, 2), (3, 3)])
COUNTS = st.sampled_from([0, 1, 2, 3, 6, 7, 8, 9])


@settings(max_examples=30, deadline=None)
@given(SHAPES.flatmap(lambda shape: arrays(np.int64, shape, elements=COUNTS)), st.booleans())
def test_no_random_table_narrows_a_small_cell(table, zeros):
    counts = (0, 1, 2) if zeros else (1, 2)
    try:
        possible, everything = attack(table, None, partial(published, zeros=zeros), counts)
    except TooManyTablesError:
        reject()
    assert possible == everything


INSIDE = [
    ([[9, 8, 2], [10, 12, 9], [9, 9, 9]], [[9, 8, 20], [10, 12, 9], [9, 9, 9]]),
    ([[9, 8, 2], [10, 12, 9]], [[9, 8, 20], [10, 12, 1]]),
    ([[9, 2], [9, 10]], [[9, 0], [9, 1]]),
    ([[2, 7, 8, 0]], [[50, 70, 2, 90]]),
    ([[1, 6, 0, 5]], [[9, 9, 0, 5]]),
]


@pytest.mark.parametrize(("table", "own"), INSIDE)
def test_the_other_party_learns_no_more_by_subtracting_its_own_part(table, own):
    possible, everything = attack(table, own)
    assert possible == everything


@settings(max_examples=12, deadline=None)
@given(SHAPES.flatmap(lambda shape: st.tuples(*[arrays(np.int64, shape, elements=COUNTS)] * 2)))
def test_no_random_pair_of_parts_narrows_a_small_cell(pair):
    try:
        possible, everything = attack(*pair)
    except TooManyTablesError:
        reject()
    assert possible == everything


def test_the_attacker_finds_what_naive_totals_give_away():
    possible, everything = attack([[2, 9], [8, 9]], None, naive)
    assert possible == {(2,)}
    assert len(everything) == 2
    assert attack([[2, 9], [8, 9]], [[50, 9], [8, 9]], naive)[0] == {(2,)}

"""At which points a side's own limits let curves be shown, and what its auditor is told of them."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from smc.analyses.disclosure.audit import Members, Unaudited
from smc.analyses.disclosure.curves import CurvesFigure, CurvesPart, Shows
from smc.analyses.disclosure.limits import Agreed, Limits
from smc.analyses.disclosure.opener import open_gate
from smc.analyses.disclosure.owned import Owned
from smc.analyses.disclosure.release import Release
from smc.analyses.disclosure.scope import Kind, Scope
from smc.errors import DisclosureRefused
from smc.forms import Role
from smc.pair import run_pair
from smc.secret.linear_ints import LinearInts
from smc.secret.sharing.bounds import Bounds

THREE = Limits(minimum_group=3)
ZEROS = Limits(minimum_group=3, zeros="shown")
BOTH = frozenset(Role)


def part(events, leavers=None, beyond=9, tested=False):
    """One group and stratum, with a kind of events for each list."""
    kinds = [leavers or [9] * len(events), *(events if isinstance(events[0], list) else [events])]
    kinds[0] = leavers or [9] * len(kinds[1])
    cells = np.array([*np.array(kinds).T.reshape(-1), beyond], dtype=np.int64)[None, None]
    persons = np.arange(cells.sum())
    members = Members(persons, np.repeat(np.arange(cells.size), cells.reshape(-1)))
    return CurvesPart(cells, len(kinds), members, tested)


def shown(one, limits=THREE, shows=Shows.EVENTS):
    return "".join("x" if mark else "." for mark in one.show(Owned(limits))[shows, 0])


@pytest.mark.parametrize(
    ("events", "limits", "expected"),
    [
        ([3, 4, 5], THREE, "xxxx"),
        ([3, 2, 5], THREE, "xx.x"),
        ([3, 0, 5], THREE, "xx.x"),
        ([3, 0, 5], ZEROS, "xxxx"),
        ([2, 0, 5], ZEROS, "x..x"),  # nobody after a few would show the few
        ([1, 1, 1], THREE, "x..."),
        ([1, 1, 1], Limits(), "xxxx"),
        ([1, 1, 1], Limits(minimum_group=1), "xxxx"),
    ],
)
def test_points_are_shown_where_enough_have_an_event_before_them(events, limits, expected):
    assert shown(part(events), limits) == expected


def test_a_curve_ends_while_enough_are_followed_further():
    assert shown(part([5, 5, 5], [0, 0, 0], beyond=2)) == "xxx."
    assert shown(part([5, 5, 5], [0, 0, 0], beyond=3)) == "xxxx"
    assert shown(part([2], [0], beyond=0)) == ".."


def test_kinds_and_leavers_are_shown_where_enough_have_each():
    one = part([[5, 5, 5, 5], [4, 1, 0, 3]], [4, 4, 2, 4])
    assert [shown(one, shows=shows) for shows in Shows] == ["xxxxx", "xx..x", "xxx.x"]
    assert shown(one, ZEROS, Shows.KINDS) == "xx..x"
    assert shown(part([[5, 5], [0, 0]], [0, 0]), ZEROS, Shows.KINDS) == "xxx"


def test_of_a_test_enough_events_lie_behind_the_last_point():
    assert shown(part([5, 5, 2], tested=True)) == "xx.."  # 7 lie behind it
    assert shown(part([5, 5, 0], tested=True)) == "xx.."
    assert shown(part([5, 5, 0], tested=True), ZEROS) == "xxxx"
    assert shown(part([5, 5, 2])) == "xxx."


def stands_against(one, limits=THREE):
    return one.refusal(Owned(limits), one.show(Owned(limits))) is not None


def test_a_part_of_which_many_points_would_be_hidden_stays_closed():
    assert not stands_against(part([5, 1, 5, 5]))
    assert stands_against(part([5, 1, 1, 5]))
    assert not stands_against(part([5, 5, 1, 1]))  # the curve ends
    assert stands_against(part([1, 1, 1, 1]))  # nothing would be shown
    assert not stands_against(part([1, 1, 1, 1]), Limits())


def test_a_test_wants_enough_persons_and_events_in_each_group_and_stratum():
    one = part([5, 5], tested=True)
    assert not stands_against(one)
    few = CurvesPart(np.concatenate([one.cells, one.cells // 5], axis=1), 2, one.rows, True)
    assert stands_against(few)
    none = CurvesPart(np.concatenate([one.cells, 0 * one.cells], axis=1), 2, one.rows, True)
    assert not stands_against(none)
    nobody = CurvesPart(np.concatenate([one.cells, 0 * one.cells]), 2, one.rows, True)
    assert stands_against(nobody)
    assert not stands_against(nobody, ZEROS)


CELLS = arrays(np.int64, (2, 2, 4 * 3 + 1), elements=st.integers(0, 6))


def cumulated(one, marks):
    """What follows of what is told: sums from the start to each shown point, and those of a test."""
    found = []
    for shows in Shows:
        for point in range(1, marks.shape[2]):
            up_to = np.zeros_like(marks)
            up_to[shows, :, 0], up_to[shows, :, point] = marks[shows, :, 0], marks[shows, :, point]
            found += list(one.tell(up_to).tables[0].equations)
    return np.unique(np.array([*found, *one.tell(marks).tables[0].equations]), axis=0)


@given(CELLS, st.booleans(), st.sampled_from([THREE, ZEROS, Limits(minimum_group=5)]))
def test_no_sum_that_is_told_and_no_difference_of_two_is_about_a_few(cells, tested, limits):
    rows = Members(np.arange(cells.sum()), np.repeat(np.arange(cells.size), cells.reshape(-1)))
    one = CurvesPart(cells, 3, rows, tested)
    marks = one.show(Owned(limits))
    if one.refusal(Owned(limits), marks) is not None:
        return
    known = cumulated(one, marks).reshape(-1, cells.size)
    counts = known @ cells.reshape(-1)
    assert all(count == 0 or count >= limits.minimum_group for count in counts.tolist())
    for inner, few in zip(known, counts.tolist(), strict=True):
        holds = (known >= inner).all(axis=1) & (known != inner).any(axis=1)
        apart = counts[holds] - few
        assert ((apart == 0) | (apart >= limits.minimum_group)).all()


def opened(parts, limits=(THREE, THREE), recipients=BOTH, values=None):
    """What Alice and Bob get of a curve of their joint figures, and what their auditors were told."""
    heard = {role: [] for role in Role}

    class Listening(Unaudited):
        def __init__(self, role):
            self.role = role

        def record(self, told):
            heard[self.role].append(told)

    def side(session):
        own = limits[0] if session.role is Role.ALICE else limits[1]
        agreed = Agreed(Owned(own), limits[0].stricter(limits[1]))
        scope = Scope(frozenset({Kind.GROUPS}))
        release = Release(session, scope, recipients, agreed, open_gate, Listening(session.role))
        mine = parts[0] if session.role is Role.ALICE else parts[1]
        points = mine.marks[2]
        figures = [
            LinearInts.from_plain(
                session,
                np.arange(points)[None] + 100 if session.role is role else None,
                role,
                Bounds(0, 1000),
                (1, points),
            )
            for role in Role
        ]
        return release.exact(
            CurvesFigure(mine, [(Shows.EVENTS, figures[0] + figures[1])], [figures[0][0]]), recipients
        )

    return run_pair(side, side), heard


def test_a_figure_opens_where_both_sides_show_it():
    (alice, bob), heard = opened([part([5, 1, 5, 5, 5]), part([5, 5, 5, 5, 2])])
    for marks, (figures, of_all) in (alice, bob):
        assert marks[Shows.EVENTS, 0].tolist() == [True, True, False, True, True, False]
        assert figures[0].tolist() == [200, 202, 0, 206, 208, 0]
        assert of_all.tolist() == [100, 101, 102, 103, 104, 105]
    assert len(heard[Role.ALICE]) == len(heard[Role.BOB]) == 2


def test_of_a_party_whose_part_nobody_receives_nothing_is_withheld_nor_told():
    (alice, bob), heard = opened([part([5, 1, 1, 1]), part([5, 5, 5, 5])], recipients=frozenset({Role.ALICE}))
    assert bob is None
    assert alice[0].all()
    assert len(heard[Role.ALICE]) == 1  # that it goes on, which says nothing of its part


def test_one_sides_limits_close_the_curves_at_both():
    with pytest.raises(DisclosureRefused):
        opened([part([5, 1, 1, 5]), part([5, 5, 5, 5])])
    (alice, _), _ = opened([part([5, 1, 1, 5]), part([5, 5, 5, 5])], limits=(Limits(), THREE))
    assert alice[0].all()

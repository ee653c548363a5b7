"""Figures about tolerant matches under limits: what is withheld, opened, and shown by messages."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest

from smc.analyses.disclosure.limits import NO_LIMITS, Limits
from smc.analyses.studies.columns import PERSONS, Column, Schema
from smc.errors import DisclosureRefused, DomainError
from smc.forms import Role
from smc.pair import run_pair
from smc.protocols.exchange.bounds import Declarations
from smc.protocols.exchange.row_counts import Counts
from tests.smc.analyses.matching import tolerant_runs as people
from tests.smc.analyses.matching.linked_runs import ONE_EACH, job, pairs_of, tables, with_values
from tests.smc.analyses.matching.tolerant_runs import BOTH, OPEN, ClosedError, check_noise, closed, part, side
from tests.support import openings
from tests.support.transcript import shapes, transcripts


@pytest.mark.parametrize("output", ["size", "statistics"])
def test_nothing_but_the_figures_is_opened(monkeypatch, output):
    """A word for each figure, whatever the number of rows; no word and no bit about a row or a pair."""
    for rows in (12, 40):
        alice, bob = tables(rows, rows)
        _, seen = transcripts(monkeypatch, side(job(output), alice, bob))
        for received in seen.values():
            opened = [len(body) for kind, body in received if kind in openings.OPENINGS]
            assert opened == [8 * (1 if output == "size" else 4)]


def test_messages_do_not_depend_on_the_data(monkeypatch):
    """All rows equal, or nothing in common: same messages, same sizes, and bytes that look like noise."""
    alice, bob = tables(40, 0)
    same = with_values(part(people.tables(40, 40)[0], [0] * 40))
    limits = Limits(minimum_group=1, dominance=Fraction(99, 100))
    transcript = [
        transcripts(monkeypatch, side(job("size"), *both, limits=limits))[1]
        for both in ((same, same), (alice, bob))
    ]
    assert shapes(transcript[0]) == shapes(transcript[1])
    transcript = [transcripts(monkeypatch, side(job(), *both))[1] for both in ((same, same), (alice, bob))]
    assert shapes(transcript[0]) == shapes(transcript[1])
    for seen in transcript:
        check_noise(seen, OPEN | {Declarations.__name__})


def test_what_a_side_sees_before_the_figures_is_the_same_for_all_values(monkeypatch):
    """Under a refused limit, other pairs and other values give one opened bit, and it is the same."""
    alice, bob = tables(20, 15)
    for change in ({}, {"cost": [0] * 20, "days": [365] * 20}):
        few = side(job(), with_values(alice, **change), bob, limits=Limits(minimum_intersection=20))

        def run(session, few=few):
            with pytest.raises(DisclosureRefused, match="fewer matches or persons"):
                few(session)

        _, seen = transcripts(monkeypatch, run)
        for received in seen.values():
            assert [len(body) for kind, body in received if kind in openings.OPENINGS] == [1]


@pytest.mark.parametrize("output", ["size", "statistics"])
def test_a_least_intersection_holds(output):
    alice, bob = tables(30, 20)
    size = len(pairs_of(job(), alice, bob))
    enough = side(job(output), alice, bob, limits=Limits(minimum_intersection=size))
    run_pair(enough, enough)
    few = side(job(output), alice, bob, limits=Limits(minimum_intersection=size + 1))
    with pytest.raises(DisclosureRefused):
        run_pair(few, few)


def test_a_minimum_group_holds_for_sums_and_not_for_sizes():
    alice, bob = tables(30, 20)
    size = len(pairs_of(job(), alice, bob))
    few = side(job(), alice, bob, limits=Limits(minimum_group=size + 1))
    with pytest.raises(DisclosureRefused):
        run_pair(few, few)
    run = side(job("size"), alice, bob, limits=Limits(minimum_group=size + 1))
    run_pair(run, run)


@pytest.mark.parametrize("holder", list(Role))
@pytest.mark.parametrize("apart", [1, 2, 3])
def test_a_sum_does_not_tell_of_the_few_who_differ_from_the_rest(holder, apart):
    """On either side, of the pairs: unpaired rows with values of their own do not help."""
    sides = dict(zip(Role, tables(30, 20), strict=True))
    paired = pairs_of(job(), *sides.values())[:, list(Role).index(holder)]
    days = np.arange(30) % 7 + 100
    days[paired] = 40
    days[paired[:apart]] = 41
    sides[holder] = with_values(sides[holder], days=days)
    study = job(values=[{"side": holder.value, "column": "days"}])
    run = side(study, *sides.values(), limits=Limits(minimum_group=3))
    if apart < 3:
        with pytest.raises(DisclosureRefused):
            run_pair(run, run)
    else:
        assert run_pair(run, run) == study.reference(*sides.values(), BOTH)


@pytest.mark.parametrize("holder", list(Role))
@pytest.mark.parametrize("sign", [1, -1])
def test_a_dominant_row_is_refused_if_it_is_paired(holder, sign):
    sides = dict(zip(Role, tables(30, 20), strict=True))
    paired = pairs_of(job(), *sides.values())[:, list(Role).index(holder)]
    alone = np.setdiff1d(np.arange(30), paired)
    limits = Limits(dominance=Fraction(1, 2))
    study = job(values=[{"side": holder.value, "column": "cost"}])
    for row, refused in ((paired[4], True), (alone[0], False)):
        cost = np.full(30, 100)
        cost[row] = sign * 40_000
        sides[holder] = with_values(sides[holder], cost=cost)
        run = side(study, *sides.values(), limits=limits)
        if refused:
            with pytest.raises(DisclosureRefused):
                run_pair(run, run)
        else:
            run_pair(run, run)


def test_sets_are_checked_before_anything_else_is_sent(monkeypatch):
    alice, bob = tables(20, 15, bob_rows=5)
    for limits in (Limits(minimum_set=6), Limits(maximum_ratio=Fraction(3))):

        def run(session, limits=limits):
            with pytest.raises(DisclosureRefused):
                side(job(), alice, bob, limits=limits)(session)

        _, seen = transcripts(monkeypatch, run)
        assert all([kind for kind, _ in rows] == [Counts.__name__] for rows in seen.values())


@pytest.mark.parametrize("limits", [NO_LIMITS, Limits(minimum_group=3)])
def test_nothing_is_opened_before_the_gate(monkeypatch, limits):
    alice, bob = tables(20, 20)

    def run(session):
        with pytest.raises(ClosedError):
            side(ONE_EACH, alice, bob, limits=limits, gate=closed)(session)

    _, seen = transcripts(monkeypatch, run)
    opened = [body for rows in seen.values() for kind, body in rows if kind in openings.OPENINGS]
    assert all(len(body) == 1 for body in opened)


def test_limits_about_persons_want_a_row_for_each():
    alice, bob = tables(12, 12)
    repeated = {**alice, PERSONS: Column(np.arange(12) // 2, Schema("integer"))}
    run = side(ONE_EACH, repeated, bob)
    run_pair(run, run)
    for study, limits in (
        (ONE_EACH, Limits(minimum_group=2)),
        (job("size"), Limits(minimum_group=2)),
        (job("size"), Limits(minimum_intersection=2)),
    ):
        limited = side(study, repeated, bob, limits=limits)
        with pytest.raises(DomainError, match="one person"):
            run_pair(limited, limited)
    assert job().preview(repeated, Role.ALICE, Limits(minimum_group=2)).refusal is not None
    assert job().preview(alice, Role.ALICE, Limits(minimum_group=2)).refusal is None

"""Exact figures about the pairs of a tolerant matching: against the reference, and who learns what."""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction

import numpy as np
import pytest

from smc.analyses.disclosure.limits import NO_LIMITS, Limits
from smc.analyses.disclosure.opener import Opener
from smc.analyses.matching.analysis import MATCHING
from smc.analyses.studies.columns import DAYS as DATES
from smc.analyses.studies.columns import Column, Schema
from smc.errors import DisclosureRefused, DomainError, ProtocolViolation
from smc.forms import Role
from smc.pair import run_pair
from tests.smc.analyses.matching import tolerant_runs as people
from tests.smc.analyses.matching.linked_runs import VALUES, figures, job, pairs_of, tables, with_values
from tests.smc.analyses.matching.tolerant_runs import ALICE, BOB, BOTH, PASSES, RANKED, joined, part, side
from tests.support import openings
from tests.support.grids import crossed
from tests.support.transcript import transcripts


@pytest.mark.parametrize(
    ("output", "changes", "bob_rows"),
    crossed(["size", "statistics"], [{}, {"rounds": 3}, RANKED], [None, 17, 1]),
)
def test_joint_and_plain_runs_agree(output, changes, bob_rows):
    alice, bob = tables(bob_rows=bob_rows)
    study = job(output, **changes)
    run = side(study, alice, bob)
    found = run_pair(run, run)
    assert found == study.reference(alice, bob, BOTH)
    assert found[0] == found[1]
    if bob_rows is None:
        shown = figures(found[0])
        assert (shown["size"] if output == "size" else shown["count"])[0] > 20


def test_the_figures_are_sums_over_the_pairs():
    """By hand from the pairs that the matching with output = "pairs" shows."""
    alice, bob = tables()
    run = side(MATCHING.parse({"method": "tolerant", "output": "pairs", **PASSES}), alice, bob)
    shown = joined(*run_pair(run, run))
    run = side(job(), alice, bob)
    found = figures(run_pair(run, run)[0])
    days = sum(int(bob["days"].array[j]) for _, j in shown)
    rows = {Role.ALICE: [i for i, _ in shown], Role.BOB: [j for _, j in shown]}
    costs = [
        sum(int(data["cost"].array[row]) for row in rows[role])
        for role, data in ((Role.ALICE, alice), (Role.BOB, bob))
    ]
    assert found["count"] == [len(shown)] * 3
    assert list(map(Fraction, found["sum"])) == [days, *(Fraction(cost, 100) for cost in costs)]
    assert found["mean"][0] == pytest.approx(days / len(shown))
    assert (found["side"], found["column"]) == (["bob", "alice", "bob"], ["days", "cost", "cost"])


def test_columns_may_be_derived():
    alice, bob = tables(20, 15)
    study = job(
        values=[{"side": "alice", "column": "stay"}],
        derived={"stay": {"from": "came", "to": "went", "unit": "days"}},
    )
    dates = Schema("integer", lower=18_000, upper=19_000, unit=DATES)
    came = Column(18_100 + np.arange(20) * 13, dates)
    went = Column(came.array + np.arange(20) % 9, dates)
    alice = {**alice, "came": came, "went": went}
    run = side(study, alice, bob)
    found = run_pair(run, run)
    assert found == study.reference(alice, bob, BOTH)
    rows = pairs_of(study.study, alice, bob)[:, 0]
    assert figures(found[0])["sum"] == [int((rows % 9).sum())]


@pytest.mark.parametrize("recipients", [ALICE, BOB])
def test_one_recipient_gets_the_figures_and_the_other_nothing(monkeypatch, recipients):
    alice, bob = tables(20, 15)
    run = side(job(), alice, bob, recipients)
    outcomes = dict(zip(Role, run_pair(run, run), strict=True))
    (role,) = recipients
    assert outcomes[role.other].tables == ()
    assert figures(outcomes[role])["count"][0] > 5
    _, seen = transcripts(monkeypatch, run)
    assert not {kind for kind, _ in seen[role.other]} & openings.OPENINGS


@pytest.mark.parametrize("empty", list(Role))
@pytest.mark.parametrize("output", ["size", "statistics"])
def test_a_side_without_rows_pairs_nothing(empty, output):
    sides = dict(zip(Role, people.tables(5, 5)[:2], strict=True))
    sides[empty] = part(sides[empty], [])
    alice, bob = (with_values(data) for data in sides.values())
    run = side(job(output), alice, bob, ALICE)
    outcomes = run_pair(run, run)
    assert outcomes == job(output).reference(alice, bob, ALICE)
    demanding = side(job(output), alice, bob, limits=Limits(minimum_intersection=1))
    with pytest.raises(DisclosureRefused):
        run_pair(demanding, demanding)


def test_values_outside_their_bounds_and_sums_without_room_are_refused_before_records_are_encoded(
    monkeypatch,
):
    monkeypatch.setattr("smc.analyses.matching.linked.run.prepare", None)
    alice, bob = tables(12, 12)
    run = side(job(), with_values(alice, cost=[900_001] * 12), with_values(bob, cost=[900_001] * 12))
    with pytest.raises(DomainError, match="outside its declared bounds"):
        run_pair(run, run)
    one = job(values=[{"side": "bob", "column": "days"}])
    days = bob["days"]
    wide = bob | {"days": replace(days, schema=replace(days.schema, upper=10**18))}
    run = side(one, alice, wide)
    with pytest.raises(DomainError, match="63"):
        run_pair(run, run)
    assert one.preview(wide, Role.BOB, NO_LIMITS).refusal is not None


@pytest.mark.parametrize("cheat", list(Role))
def test_an_impossible_figure_is_refused(monkeypatch, cheat):
    alice, bob = tables(12, 8)
    honest = Opener.ints

    def ints(self, values, recipients, told):
        if self.session.role is cheat:
            values = values.from_shares(self.session, values.shares + np.uint64(1 << 60), values.bounds)
        return honest(self, values, recipients, told)

    monkeypatch.setattr(Opener, "ints", ints)
    run = side(job("size"), alice, bob, frozenset([cheat.other]))
    with pytest.raises(ProtocolViolation, match="outside"):
        run_pair(run, run)


def test_facts_and_leakage_say_who_learns_what():
    """Who chose the summed values, or knows them, takes from a sum which rows match."""
    study = job(values=VALUES[:1])
    for recipients in (ALICE, BOB):
        facts = study.facts(recipients)
        assert facts.row_results
        assert facts.exact
        assert facts.matches
    one = study.leakage(BOTH)
    for lines in (one.alice, one.bob):
        assert any("chose the summed values, or knows them" in line for line in lines)
    assert "how many rows were paired" in one.alice[0]
    assert not any("paired" in line for line in study.leakage(BOB).alice)
    assert not job("size").facts(BOTH).row_results


def test_rows_left_out_are_told_before_a_run():
    alice, _ = tables(60, 45)
    crowded = {**alice, "born": Column(["1"] * 60, Schema("text"))}
    study = job(overflow="refuse", blocking=[["born:value"]])
    assert study.preview(crowded, Role.ALICE, NO_LIMITS).refusal is not None
    seen = job().preview(alice, Role.ALICE, NO_LIMITS)
    assert seen.refusal is None
    assert seen.details

"""Exact figures about the pairs of a tolerant matching: against the reference, limits, and who sees what."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest

from parties.bench.people import FIELDS
from smc.analyses.disclosure.limits import NO_LIMITS, Limits
from smc.analyses.disclosure.opener import Opener, open_gate
from smc.analyses.matching.analysis import MATCHING
from smc.analyses.matching.linked.parameters import moved_pairs
from smc.analyses.matching.tolerant.plain import plain_links
from smc.analyses.matching.tolerant.records import prepare, read_texts
from smc.analyses.studies.columns import DAYS as DATES
from smc.analyses.studies.columns import PERSONS, Column, Schema
from smc.analyses.studies.runner import run_study
from smc.errors import DisclosureRefused, DomainError, ProtocolViolation, UsageError
from smc.forms import Role
from smc.oblivious.base_ot import BaseChoices, BaseOffer
from smc.pair import run_pair
from smc.protocols.exchange.bounds import Declarations
from smc.protocols.exchange.row_counts import Counts
from tests.smc.analyses.matching.tolerant import test_tolerant as people
from tests.support import openings
from tests.support.grids import crossed
from tests.support.transcript import BYTES_BOUND, byte_statistic, shapes, transcripts

BOTH = frozenset(Role)
ALICE, BOB = frozenset([Role.ALICE]), frozenset([Role.BOB])
COST = Schema("decimal", scale=2, lower=-50_000, upper=900_000)
DAYS = Schema("integer", lower=0, upper=365)
VALUES = [
    {"side": "bob", "column": "days"},
    {"side": "alice", "column": "cost"},
    {"side": "bob", "column": "cost"},
]
PASSES = {
    "fields": [{"column": name} for name in FIELDS],
    "bits": 192,
    "threshold": "0.5",
    "blocking": [["born:value"], ["surname:soundex"], ["town:prefix3"]],
    "bucket": 5,
    "load": 3,
    "overflow": "accept",
}


def job(output="statistics", **changes):
    values = {"values": VALUES} if output == "statistics" else {}
    given = {"method": "tolerant", "output": output, **PASSES, **values, **changes}
    return MATCHING.parse({key: value for key, value in given.items() if value is not None})


def with_values(data, cost=None, days=None):
    rows = len(data["surname"])
    cost = [(7919 * row) % 950_001 - 50_000 for row in range(rows)] if cost is None else cost
    days = [(31 * row) % 366 for row in range(rows)] if days is None else days
    return {
        **data,
        "cost": Column(np.array(cost, dtype=np.int64), COST),
        "days": Column(np.array(days, dtype=np.int64), DAYS),
    }


def tables(rows=60, common=45, bob_rows=None):
    alice, bob, _ = people.tables(rows, common, bob_rows)
    return with_values(alice), with_values(bob)


def pairs_of(study, alice, bob):
    """The pairs that are summed over, in the clear."""
    matching = study.parameters.matching
    buckets = matching.buckets((len(alice["surname"]), len(bob["surname"])))
    sides = (prepare(matching, read_texts(matching, data), buckets) for data in (alice, bob))
    return plain_links(matching, *sides)


RANKED = {"ranks": 2, "bucket": None, "load": None}


def side(study, alice, bob, recipients=BOTH, limits=NO_LIMITS, gate=open_gate):
    def run(session):
        data = alice if session.role is Role.ALICE else bob
        return run_study(study, session, data, recipients, limits, gate)

    return run


def figures(outcome):
    (table,) = outcome.tables
    return {name: list(cells) for name, cells in table.columns.items()}


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
    shown = people.joined(*run_pair(run, run))
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


@pytest.mark.parametrize("output", ["size", "statistics"])
def test_nothing_but_the_figures_is_opened(monkeypatch, output):
    """A word for each figure, whatever the number of rows; no word and no bit about a row or a pair."""
    for rows in (12, 40):
        alice, bob = tables(rows, rows)
        _, seen = transcripts(monkeypatch, side(job(output), alice, bob))
        for received in seen.values():
            opened = [len(body) for kind, body in received if kind in openings.OPENINGS]
            assert opened == [8 * (1 if output == "size" else 4)]


SHOWN = {openings.SHARES, openings.BITS, Counts.__name__, BaseOffer.__name__, BaseChoices.__name__}


def test_messages_do_not_depend_on_the_data(monkeypatch):
    """All rows equal, or nothing in common: same messages, same sizes, and bytes that look like noise."""
    alice, bob = tables(40, 0)
    same = with_values(people.part(people.tables(40, 40)[0], [0] * 40))
    limits = Limits(minimum_group=1, dominance=Fraction(99, 100))
    transcript = [
        transcripts(monkeypatch, side(job("size"), *both, limits=limits))[1]
        for both in ((same, same), (alice, bob))
    ]
    assert shapes(transcript[0]) == shapes(transcript[1])
    transcript = [transcripts(monkeypatch, side(job(), *both))[1] for both in ((same, same), (alice, bob))]
    assert shapes(transcript[0]) == shapes(transcript[1])
    for seen in transcript:
        for rows in seen.values():
            for kind in {kind for kind, _ in rows} - SHOWN - {Declarations.__name__}:
                data = b"".join(body for name, body in rows if name == kind)
                if len(data) > 3000:
                    assert byte_statistic(data) < BYTES_BOUND, kind


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
    class ClosedError(Exception):
        pass

    def closed(channel):
        raise ClosedError

    alice, bob = tables(20, 20)

    def run(session):
        with pytest.raises(ClosedError):
            side(job(), alice, bob, limits=limits, gate=closed)(session)

    _, seen = transcripts(monkeypatch, run)
    opened = [body for rows in seen.values() for kind, body in rows if kind in openings.OPENINGS]
    assert all(len(body) == 1 for body in opened)


@pytest.mark.parametrize("empty", list(Role))
@pytest.mark.parametrize("output", ["size", "statistics"])
def test_a_side_without_rows_pairs_nothing(empty, output):
    sides = dict(zip(Role, people.tables(5, 5)[:2], strict=True))
    sides[empty] = people.part(sides[empty], [])
    alice, bob = (with_values(data) for data in sides.values())
    run = side(job(output), alice, bob, ALICE)
    outcomes = run_pair(run, run)
    assert outcomes == job(output).reference(alice, bob, ALICE)
    demanding = side(job(output), alice, bob, limits=Limits(minimum_intersection=1))
    with pytest.raises(DisclosureRefused):
        run_pair(demanding, demanding)


def test_limits_about_persons_want_a_row_for_each():
    alice, bob = tables(12, 12)
    repeated = {**alice, PERSONS: Column(np.arange(12) // 2, Schema("integer"))}
    run = side(job(), repeated, bob)
    run_pair(run, run)
    limited = side(job(), repeated, bob, limits=Limits(minimum_group=2))
    with pytest.raises(DomainError, match="one person"):
        run_pair(limited, limited)
    assert job().preview(repeated, Role.ALICE, Limits(minimum_group=2)).refusal is not None
    assert job().preview(alice, Role.ALICE, Limits(minimum_group=2)).refusal is None


def test_values_outside_their_bounds_and_sums_without_room_are_refused_before_records_are_encoded(
    monkeypatch,
):
    monkeypatch.setattr("smc.analyses.matching.linked.run.prepare", None)
    alice, bob = tables(12, 12)
    run = side(job(), with_values(alice, cost=[900_001] * 12), with_values(bob, cost=[900_001] * 12))
    with pytest.raises(DomainError, match="outside its declared bounds"):
        run_pair(run, run)
    wide = job(values=[{"side": "bob", "column": "days", "upper": "1000000000000000000"}])
    run = side(wide, alice, bob)
    with pytest.raises(DomainError, match="63"):
        run_pair(run, run)
    assert wide.preview(bob, Role.BOB, NO_LIMITS).refusal is not None


@pytest.mark.parametrize("cheat", list(Role))
def test_an_impossible_figure_is_refused(monkeypatch, cheat):
    alice, bob = tables(12, 8)
    honest = Opener.ints

    def ints(self, values, recipients):
        if self.session.role is cheat:
            values = values.from_shares(self.session, values.shares + np.uint64(1 << 60), values.bounds)
        return honest(self, values, recipients)

    monkeypatch.setattr(Opener, "ints", ints)
    run = side(job("size"), alice, bob, frozenset([cheat.other]))
    with pytest.raises(ProtocolViolation, match="outside"):
        run_pair(run, run)


@pytest.mark.parametrize("rounds", [1, 3])
def test_noise_is_refused_with_the_reason_and_both_ways_of_the_hint_work(rounds):
    with pytest.raises(UsageError, match="tolerant matches") as caught:
        job(epsilon="1", rounds=rounds)
    reason = "up to 68 pairs" if rounds == 1 else "a chain of pairs"
    assert reason in str(caught.value)
    assert caught.value.hint == "Leave epsilon out for exact figures, or match by exact keys."
    job(rounds=rounds)
    exact = {"method": "exact", "keys": ["surname"], "output": "statistics", "values": VALUES, "epsilon": "1"}
    assert MATCHING.parse(exact).facts(BOTH).loss


RANKED = {"bucket": None, "load": None, "overflow": None}


def test_what_a_row_moves_among_ranks_is_said_where_noise_is_refused():
    for ranks, pairs in ((1, 14), (2, 24)):
        with pytest.raises(UsageError, match=f"up to {pairs} pairs .* changes which side claims"):
            job(epsilon="1", ranks=ranks, **RANKED)


@pytest.mark.parametrize(("ranks", "bucket"), [(1, None), (2, None), (None, 2)])
def test_a_row_moves_no_more_pairs_than_is_said(ranks, bucket):
    """Keys, names and so scores that many rows share: whoever is there meets and displaces others."""
    changes = {
        "fields": [{"column": name} for name in PARTS],
        "threshold": "0.2",
        "blocking": [["one:value"], ["two:value"], ["three:value"]],
    }
    changes |= {"ranks": ranks, **RANKED} if ranks else {"bucket": bucket, "load": None}
    parsed = job("size", **changes).parameters.matching
    drawn = np.random.default_rng(5)
    most = 0
    for _ in range(40):
        counts = (24, 30)  # Alice's rows claim, with one row less of either side, too
        sides = [drawn.integers(0, 9, (rows, len(PARTS))) for rows in counts]
        whole = [np.arange(rows) for rows in counts]
        pairs = linked(parsed, sides, whole)
        for side in (0, 1):
            fewer = list(whole)
            fewer[side] = np.delete(whole[side], drawn.integers(0, counts[side]))
            most = max(most, len(pairs ^ linked(parsed, sides, fewer)))
    assert 3 <= most <= moved_pairs(parsed)


PARTS = ("one", "two", "three")


def linked(parsed, sides, rows):
    """The pairs of these rows of both sides, in as many buckets however many there are."""
    schema, held = Schema("text"), []
    buckets = 1 if parsed.ranks else parsed.buckets(tuple(len(side) for side in sides))
    for side, taken in zip(sides, rows, strict=True):
        cells = zip(PARTS, side[taken].T, strict=True)
        data = {name: Column([f"{name}{number}" for number in column], schema) for name, column in cells}
        held.append(prepare(parsed, read_texts(parsed, data), buckets))
    pairs = plain_links(parsed, *held)
    return {(int(rows[0][left]), int(rows[1][right])) for left, right in pairs}


@pytest.mark.parametrize(
    ("changes", "part"),
    [
        ({"one_to_one": "none"}, "count a row several times"),
        ({"one_to_one": "largest"}, "have to be opened"),
        ({"output": "shares"}, "output cannot be 'shares'"),
        ({"show": ["surname"]}, "unknown key 'show'"),
        ({"values": []}, "0 columns do not fit"),
        ({"output": "size", "values": VALUES}, "do not fit the output 'size'"),
    ],
)
def test_what_does_not_fit_is_refused(changes, part):
    with pytest.raises(UsageError, match=part) as caught:
        job(**changes)
    assert caught.value.hint


def test_a_job_must_not_narrow_the_declared_bounds():
    alice, bob = ({name: column.schema for name, column in data.items()} for data in tables(5, 5))
    job().check(alice, bob)
    with pytest.raises(UsageError, match="narrower"):
        job(values=[{"side": "bob", "column": "days", "upper": "100"}]).check(alice, bob)
    with pytest.raises(UsageError, match="not a column of numbers"):
        job(values=[{"side": "bob", "column": "surname"}]).check(alice, bob)


def test_facts_and_leakage_say_who_learns_what():
    """Who holds a summed column can choose its values, so an own sum is about single rows."""
    study = job(values=VALUES[:1])
    assert not study.facts(ALICE).row_results
    assert study.facts(BOB).row_results
    assert study.facts(ALICE).exact
    assert study.facts(ALICE).matches
    one = study.leakage(BOTH)
    assert not any("choose its values" in line for line in one.alice)
    assert any("choose its values" in line for line in one.bob)
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

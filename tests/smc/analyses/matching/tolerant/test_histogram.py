"""A least score that is chosen in the run: the histogram, its guarantee, what it shows, and what it costs.

The audit alarms falsely once in a thousand, on draws of a fixed seed.
"""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest

from parties.bench.people import people
from smc.analyses.disclosure.limits import NO_LIMITS, Limits
from smc.analyses.matching.analysis import MATCHING
from smc.analyses.matching.suggestion import menu
from smc.analyses.matching.tolerant import rank_join, valley
from smc.analyses.matching.tolerant.histogram import EDGES, MAX_DELTA, NEIGHBOURS, Chosen, sensitivity
from smc.analyses.matching.tolerant.plain import Claims
from smc.analyses.matching.tolerant.records import prepare, read_texts
from smc.analyses.matching.tolerant.study import TOLERANT
from smc.analyses.matching.tolerant.word_layout import WordLayout
from smc.analyses.studies.columns import PERSONS, Column, Schema
from smc.analyses.studies.loss import Loss
from smc.errors import DisclosureRefused, DomainError, UsageError
from smc.forms import Role
from smc.numeric.random import Randomness
from smc.pair import run_pair
from tests.smc.analyses.matching.tolerant_runs import (
    ALICE,
    BOB,
    BOTH,
    LINEAR,
    ClosedError,
    by_ranks,
    check_estimate,
    closed,
    joined,
    part,
    side,
    tables,
)
from tests.smc.analyses.statistics.test_losses import RUNS, draws, log_ratio, loss_at_least, random
from tests.support import openings
from tests.support.grids import crossed
from tests.support.transcript import shapes, transcripts

TEXT = Schema("text")
BINS = len(EDGES)


def without_rarity(fields):
    return [{key: each[key] for key in each if key != "rarity"} for each in fields]


LOCAL = LINEAR | {"fields": without_rarity(LINEAR["fields"])}
"""Local terms that depend on a row alone."""


def parameters(ranks=1, **changes):
    return by_ranks(ranks, **{"histogram": {"epsilon": "1"}, "threshold": "0.6", **changes})


def silence(monkeypatch):
    monkeypatch.setattr(rank_join.noise, "draw", lambda _, several: np.zeros(len(several), dtype=np.uint64))


def test_wide_words_give_what_narrow_ones_do(monkeypatch):
    silence(monkeypatch)
    monkeypatch.setattr(rank_join.WordLayout, "of", lambda counts, score_bits: WordLayout(64, score_bits))
    alice, bob, _ = tables()
    run = side(parameters(), alice, bob)
    assert joined(*run_pair(run, run)) == joined(*parameters().reference(alice, bob, BOTH))


@pytest.mark.parametrize(
    ("ranks", "bob_rows", "turned", "changes"),
    [
        *crossed([1, 2], [None, 17, 1], [False, True], [{}]),
        *crossed([1], [None, 17], [False, True], [LOCAL]),
    ],
)
def test_joint_and_plain_runs_agree_without_noise(monkeypatch, ranks, bob_rows, turned, changes):
    silence(monkeypatch)
    alice, bob, _ = tables(bob_rows=bob_rows)
    alice, bob = (bob, alice) if turned else (alice, bob)
    parsed = parameters(ranks, **changes)
    run = side(parsed, alice, bob)
    found, wanted = run_pair(run, run), parsed.reference(alice, bob, BOTH)
    assert joined(*found) == joined(*wanted)
    assert [one.details for one in found] == [one.details for one in wanted]
    counts = found[0].details["histogram"]["rows"]
    assert len(joined(*found)) <= sum(counts) <= min(60, bob_rows or 60)


@pytest.mark.parametrize("ranks", [1, 2])
def test_pairs_are_those_of_the_score_that_the_noisy_histogram_gives(monkeypatch, ranks):
    alice, bob, _ = tables()
    parsed = parameters(ranks)
    run = side(parsed, alice, bob)
    outcomes = run_pair(run, run)
    details = outcomes[0].details
    assert details == outcomes[1].details
    given = parsed.parameters
    moved = valley.adjustment(details["histogram"]["rows"], given.histogram)
    assert details["least_score"] == moved
    assert details["stated_least_score"] == 0
    assert any(f"moved by {moved} units" in note for note in outcomes[0].notes)
    monkeypatch.setattr(valley, "adjustment", lambda *_: moved)
    assert joined(*outcomes) == joined(*parsed.reference(alice, bob, BOTH))


@pytest.mark.parametrize("changes", [{}, LOCAL])
def test_claims_are_compared_and_counted_exactly(changes):
    """All margins that there are and rows of nobody, beside edges that some meet exactly."""
    alice, _, _ = tables(5, 5)
    parsed = parameters(1, **changes).parameters
    records = prepare(parsed, read_texts(parsed, alice), 1)
    score = records.score
    ranks = np.arange(score.most_rank + 1, dtype=np.uint64)
    least = [0, 1, 62, 63, 64, EDGES[-1] - EDGES[0]]

    def run(session):
        joined = rank_join.RankJoin(session, parsed, records, dict.fromkeys(Role, 5), BOTH, None)
        mask = np.arange(1, len(ranks) + 1, dtype=np.uint64) * np.uint64(0x9E3779B97F4A7C15)
        return joined._reach(mask if session.role is Role.ALICE else ranks - mask, least)

    first, second = run_pair(run, run)
    wanted = [ranks >= np.uint64(one * score.unit + 1) for one in least]
    assert ((first ^ second) == np.array(wanted)).all()


def test_a_band_is_a_number_of_the_noisy_histogram(monkeypatch):
    """People are told how many pairs they would have to look at, and by no other opening."""
    alice, bob, _ = tables(20, 15)
    parsed = parameters(histogram={"epsilon": "1", "band": 9})
    outcomes, seen = transcripts(monkeypatch, side(parsed, alice, bob))
    details = outcomes[0].details
    found = Chosen(details["least_score"], tuple(details["histogram"]["rows"]))
    assert details["histogram"]["band"] == found.near(9)
    assert any("within 9 units" in note for note in outcomes[0].notes)
    for received in seen.values():
        opened = [len(body) for kind, body in received if kind in openings.OPENINGS]
        assert opened == [8 * BINS, 8 * 20]


def test_stretches_do_not_change_the_counts(monkeypatch):
    silence(monkeypatch)
    alice, bob, _ = tables(24, 20)
    parsed = parameters()
    monkeypatch.setattr(rank_join, "STRETCH_CLAIMS", 50)
    run = side(parsed, alice, bob)
    assert run_pair(run, run)[0].details == parsed.reference(alice, bob, BOTH)[0].details
    monkeypatch.undo()
    monkeypatch.setattr(rank_join, "STRETCH_CLAIMS", 50)
    check_estimate(parsed, alice, bob, BOTH)


@pytest.mark.parametrize("ranks", [1, 2])
def test_estimates_are_exact(ranks):
    alice, bob, _ = tables(20, 15)
    check_estimate(parameters(ranks), alice, bob, BOTH)


def counts(parsed, alice, bob):
    records = [prepare(parsed.parameters, read_texts(parsed.parameters, data), 1) for data in (alice, bob)]
    return np.array(Claims.of(parsed.parameters, *records).counts)


def keyed(ranks, passes):
    return TOLERANT.parse(
        {
            "fields": [{"column": "name", "weight": 5, "bits": 512}],
            "threshold": "0.6",
            "blocking": [[f"key{number}:value"] for number in range(passes)],
            "ranks": ranks,
            "overflow": "accept",
            "histogram": {"epsilon": "1"},
        }
    )


def rows_of(rows, passes):
    """Columns of rows, each a name and its keys by pass."""
    names = {"name": Column([name for name, _ in rows], TEXT)}
    keys = {
        f"key{number}": Column([held.get(number, "") for _, held in rows], TEXT) for number in range(passes)
    }
    return names | keys


NAME = "abcdefghijklmnopqrst"


def near(letters, mark):
    """A name that begins like `NAME` for so many letters and then is its own."""
    return NAME[:letters] + mark * (len(NAME) - letters)


def worst(passes, turned):
    """Neighbours: a row that is the nearest of a row in each pass, or of another row in each pass.

    Each of these has a second nearest, which it meets in another pass.
    """
    claiming = [("a", number) for number in range(passes)] + [("c", number) for number in range(passes)]
    alice, others = [], []
    for kind, number in claiming:
        second = (number + 1) % passes
        own = near(20 if kind == "a" else 18, "z")
        alice.append((own, {number: kind, second: f"{kind}{number}"}))
        others.append((near(14 if kind == "a" else 12, "y"), {second: f"{kind}{number}"}))
    moved = [(NAME, dict.fromkeys(range(passes), kind)) for kind in "ac"]
    bob = [[row, *others] for row in moved]
    sides = [rows_of(alice, passes), *(rows_of(rows, passes) for rows in bob)]
    return sides[0], *(sides[1:] if not turned else sides[:0:-1])


@pytest.mark.parametrize(("passes", "turned"), crossed([2, 8], [False, True]))
def test_a_row_that_is_the_nearest_of_many_moves_as_many_counts_as_stated(passes, turned):
    alice, bob, other = worst(passes, turned)
    parsed = keyed(1, passes)
    moved = np.abs(counts(parsed, alice, bob) - counts(parsed, alice, other)).sum()
    assert moved == 4 * passes
    assert parsed.parameters.histogram.sensitivity == sensitivity(passes, 1) == 4 * passes + 2


@pytest.mark.parametrize("ranks", [1, 2, 3])
def test_replaced_rows_move_no_more_counts_than_stated(ranks):
    passes, source = 3, np.random.default_rng(7)
    parsed = keyed(ranks, passes)
    stated, most = parsed.parameters.histogram.sensitivity, 0

    def drawn():
        keys = {number: "abc"[source.integers(3)] for number in range(passes) if source.random() < 0.8}
        return near(int(source.integers(8, 21)), "xyz"[source.integers(3)]), keys

    for _ in range(150):
        sizes = source.integers(1, 14, 2)
        sides = [[drawn() for _ in range(size)] for size in sizes]
        changed = [list(rows) for rows in sides]
        which = source.integers(2)
        changed[which][source.integers(sizes[which])] = drawn() if source.random() < 0.8 else ("", {})
        one, two = (counts(parsed, *(rows_of(rows, passes) for rows in both)) for both in (sides, changed))
        most = max(most, int(np.abs(one - two).sum()))
    assert stated / 7 < most <= stated


def audited(scale=1):
    """The loss that draws show between the worst neighbours of eight passes, at epsilon 1."""
    parsed = keyed(1, 8)
    alice, bob, other = worst(8, turned=False)
    shift = counts(parsed, alice, bob) - counts(parsed, alice, other)
    distribution = parsed.parameters.histogram.noise
    source = random("histogram")
    values = np.stack([draws(distribution, RUNS // 4, source) for _ in range(BINS)], axis=1)
    weak = np.trunc(values / scale).astype(np.int64)
    each = [distribution] * BINS
    return loss_at_least(log_ratio(weak + shift, shift, each), log_ratio(weak, shift, each))


def test_the_histogram_keeps_its_epsilon():
    assert 0.4 < audited() <= 1
    assert audited(3) > 1


PEOPLE, COMMON = 4000, 2400
BEST = 2
"""The best least score of the usual recipe for them, without rarity."""


def f_measure(claims, moved):
    """Of people of whom row k of Alice is row k of Bob for the first `COMMON`."""
    links = claims.links(moved)
    right = int(((links[:, 0] == links[:, 1]) & (links[:, 0] < COMMON)).sum())
    return 2 * right / (len(links) + COMMON)


@pytest.mark.parametrize(("away", "most"), [(-20, 0.014), (0, 0.007), (20, 0.005)])
def test_a_choice_loses_little_of_what_the_best_score_finds(away, most):
    """Wherever it begins. In the clear, with noise of epsilon 1 in ten draws."""
    data = people(Randomness.from_seed(b"people", "tests of histograms"), PEOPLE, COMMON, family=3)
    given = menu.recipe(data[Role.ALICE].keys(), PEOPLE, has_dashes=False)
    del given["method"]
    given["fields"] = without_rarity(given["fields"])
    given |= {"least_score": BEST + away, "histogram": {"epsilon": "1"}}
    parsed = TOLERANT.parse(given).parameters
    claims = Claims.of(parsed, *(prepare(parsed, read_texts(parsed, data[role]), 1) for role in Role))
    best = max(f_measure(claims, moved) for moved in range(EDGES[0], EDGES[-1]))
    noise = draws(parsed.histogram.noise, 10 * BINS, random("people")).reshape(10, BINS)
    chosen = [valley.adjustment((claims.counts + one).tolist(), parsed.histogram) for one in noise]
    assert best > 0.98
    assert best - np.mean([f_measure(claims, one) for one in chosen]) < most


def test_the_loss_is_stated():
    parsed = parameters(2)
    facts = parsed.facts(BOTH)
    assert facts.loss == Loss(Fraction(1), MAX_DELTA)
    assert facts.row_results
    assert not facts.exact
    assert not by_ranks(2).facts(BOTH).loss


def test_both_learn_the_histogram_and_their_pairs_and_nothing_else(monkeypatch):
    alice, bob, _ = tables(20, 15)
    parsed = parameters()
    outcomes, seen = transcripts(monkeypatch, side(parsed, alice, bob))
    assert outcomes[0].details == outcomes[1].details
    for received in seen.values():
        opened = [len(body) for kind, body in received if kind in openings.OPENINGS]
        assert opened == [8 * BINS, 8 * 20]
    stated = parsed.leakage(BOTH)
    for lines in (stated.alice, stated.bob):
        assert any("noise that neither party knows" in line and str(NEIGHBOURS) in line for line in lines)
    assert not any("the threshold," in line for line in stated.public)
    assert any("how far it may move" in line for line in stated.public)


@pytest.mark.parametrize("recipients", [ALICE, BOB, frozenset()])
def test_whoever_sees_the_histogram_is_a_recipient(recipients):
    """So that policies are asked about both."""
    alice, bob, _ = tables(20, 15)
    with pytest.raises(UsageError, match="ecipients"):
        parameters().check_recipients(recipients)
    run = side(parameters(), alice, bob, recipients)
    with pytest.raises(UsageError):
        run_pair(run, run)


def test_messages_do_not_depend_on_the_data(monkeypatch):
    alice, bob, _ = tables(20, 15)
    same = part(alice, [0] * 20)
    parsed = parameters()
    _, crowded = transcripts(monkeypatch, side(parsed, same, same))
    _, sparse = transcripts(monkeypatch, side(parsed, alice, bob))
    assert shapes(crowded) == shapes(sparse)


def test_nothing_is_opened_before_the_loss_is_spent(monkeypatch):
    alice, bob, _ = tables(20, 15)

    def run(session):
        with pytest.raises(ClosedError):
            side(parameters(), alice, bob, limits=Limits(minimum_intersection=1), gate=closed)(session)

    _, seen = transcripts(monkeypatch, run)
    assert not {kind for rows in seen.values() for kind, _ in rows} & openings.OPENINGS


def test_too_few_noisy_claims_and_too_few_matches_are_refused(monkeypatch):
    """The first by the noisy counts before the histogram, the second as without a histogram."""
    silence(monkeypatch)
    alice, bob, _ = tables()
    parsed = parameters()
    wanted = parsed.reference(alice, bob, BOTH)
    pairs, claims = len(joined(*wanted)), sum(wanted[0].details["histogram"]["rows"])
    enough = side(parsed, alice, bob, limits=Limits(minimum_intersection=pairs))
    assert len(joined(*run_pair(enough, enough))) == pairs < claims

    for minimum, opened in ((claims + 1, 1), (pairs + 1, 3)):

        def run(session, minimum=minimum):
            with pytest.raises(DisclosureRefused, match="fewer matches or persons"):
                side(parsed, alice, bob, limits=Limits(minimum_intersection=minimum))(session)

        _, seen = transcripts(monkeypatch, run)
        for received in seen.values():
            assert len([kind for kind, _ in received if kind in openings.OPENINGS]) == opened


def test_rows_are_persons():
    alice, bob, _ = tables(20, 15)
    parsed = parameters()
    twice = alice | {PERSONS: Column(np.array([0, *range(19)]), Schema("integer", lower=0))}
    assert isinstance(parsed.preview(twice, Role.ALICE, NO_LIMITS).refusal, DomainError)
    run = side(parsed, twice, bob)
    with pytest.raises(DomainError, match="about one person"):
        run_pair(run, run)


@pytest.mark.parametrize("empty", list(Role))
def test_a_side_without_rows_has_no_histogram(empty):
    alice, bob, _ = tables(5, 5)
    alice, bob = (part(alice, []), bob) if empty is Role.ALICE else (alice, part(bob, []))
    parsed = parameters()
    run = side(parsed, alice, bob)
    outcomes = run_pair(run, run)
    assert outcomes == parsed.reference(alice, bob, BOTH)
    assert outcomes[0].details["histogram"]["rows"] is None


@pytest.mark.parametrize(
    ("changes", "said"),
    [
        ({"histogram": {"epsilon": "0"}}, "epsilon"),
        ({"histogram": {"epsilon": "-1"}}, "epsilon"),
        ({"histogram": {"epsilon": "100"}}, "delta"),
        ({"histogram": {}}, "epsilon is missing"),
        ({"histogram": "1"}, "not a table"),
        ({"histogram": {"epsilon": "1", "edges": []}}, "edges"),
        ({"histogram": {"epsilon": "1", "lowest": -55}}, "lowest is out of range"),
        ({"histogram": {"epsilon": "1", "lowest": 1}}, "lowest is out of range"),
        ({"histogram": {"epsilon": "1", "highest": 31}}, "highest is out of range"),
        ({"histogram": {"epsilon": "1", "highest": -1}}, "highest is out of range"),
        ({"histogram": {"epsilon": "1", "highest": "9"}}, "whole number"),
        ({"histogram": {"epsilon": "1", "band": 34}}, "band is out of range"),
        ({"ranks": None}, "ranks"),
        ({"ranks": None, "mode": "none"}, "ranks"),
    ],
)
def test_wrong_histograms_are_refused(changes, said):
    with pytest.raises(UsageError, match=said):
        parameters(**changes)


def test_figures_about_secret_pairs_need_a_stated_score():
    given = {
        "method": "tolerant",
        "output": "size",
        "fields": [{"column": "name"}],
        "threshold": "0.7",
        "blocking": [["name:value"]],
        "ranks": 1,
        "histogram": {"epsilon": "1"},
    }
    with pytest.raises(UsageError, match="histogram does not go with"):
        MATCHING.parse(given)

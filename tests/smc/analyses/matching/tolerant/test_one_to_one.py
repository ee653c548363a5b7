"""One-to-one pairing over all passes: nearest first, whatever the order of the passes."""

from __future__ import annotations

from dataclasses import replace
from itertools import pairwise

import numpy as np
import pytest

from parties.bench.people import FIELDS, people
from parties.bench.workloads import made_up
from smc.analyses.disclosure.limits import NO_LIMITS
from smc.analyses.matching.tolerant.one_to_one import OneToOne
from smc.analyses.matching.tolerant.plain import compared_pairs
from smc.analyses.matching.tolerant.records import prepare, read_texts
from smc.analyses.matching.tolerant.study import TOLERANT
from smc.analyses.studies.columns import Column, Schema
from smc.analyses.studies.runner import run_study
from smc.forms import Role
from smc.pair import run_pair

BOTH = frozenset(Role)
TEXT = Schema("text")
MANY = 16


def parameters(**changes):
    given = {
        "fields": [{"column": name, "bits": 32} for name in FIELDS],
        "threshold": "0.4",
        "blocking": [["surname:soundex", "town:value"], ["born:value"], ["given_name:prefix2"]],
        "bucket": 6,
        "load": 2,
        "overflow": "accept",
    }
    return TOLERANT.parse({**given, **changes})


def families(rows, common):
    """People in families of three, of whom the two sides have some in common: Bob's in another order."""
    source = made_up()
    data = people(source, rows, common, family=3)
    order = source.permutation(rows)
    bob = {
        name: Column([column.texts[row] for row in order], TEXT) for name, column in data[Role.BOB].items()
    }
    return data[Role.ALICE], bob, {(int(row), place) for place, row in enumerate(order) if row < common}


def joint(parsed, alice, bob):
    """The pairs of a joint run."""

    def run(session):
        own = alice if session.role is Role.ALICE else bob
        return run_study(parsed, session, own, BOTH, NO_LIMITS.of_both)

    rows = [outcome.tables[0].columns["row"] for outcome in run_pair(run, run)]
    return {(a - 1, b - 1) for a, b in zip(*rows, strict=True)}


def plain(parsed, alice, bob):
    first, _ = parsed.reference(alice, bob, BOTH)
    columns = first.tables[0].columns
    return {(a - 1, b - 1) for a, b in zip(columns["row"], columns["partner"], strict=True)}


def met(parsed, alice, bob):
    """The best rank of each pair that matches and met in a pass; the higher, the nearer."""
    buckets = parsed.parameters.buckets((len(alice["born"]), len(bob["born"])))
    sides = (
        prepare(parsed.parameters, read_texts(parsed.parameters, data), buckets) for data in (alice, bob)
    )
    found = {}
    for a, b, score in compared_pairs(parsed.parameters, *sides).tolist():
        found[a, b] = max(score, found.get((a, b), 0))
    return found


def greedy(pairs):
    """One pair after the other by falling score; of equal scores in the order of passes."""
    rows, columns, chosen = set(), set(), set()
    for a, b in sorted(pairs, key=lambda pair: -pairs[pair]):
        if a not in rows and b not in columns:
            chosen.add((a, b))
            rows.add(a)
            columns.add(b)
    return chosen


def test_a_sister_who_meets_first_does_not_take_the_place_of_the_person():
    """The surname of the true record is misspelt, so it meets in the second pass only."""
    others = {"name": ["xq"] * 14, "surname": [f"{n:05}" for n in range(14)], "born": ["1900-09-09"] * 14}
    alice = {"name": ["anna"], "surname": ["meier"], "born": ["1960-01-02"]}
    bob = {"name": ["anne", "anna"], "surname": ["meier", "weier"], "born": ["1962-11-12", "1960-01-02"]}
    data = [{name: Column(side[name] + others[name], TEXT) for name in side} for side in (alice, bob)]
    given = {
        "fields": [{"column": name, "bits": 256} for name in alice],
        "threshold": "0.4",
        "blocking": [["surname:value"], ["born:value"]],
        "load": 1,
    }
    parsed = TOLERANT.parse(given)
    first = TOLERANT.parse({**given, "blocking": given["blocking"][:1]})
    assert {pair for pair in met(first, *data) if pair[0] == 0} == {(0, 0)}
    assert {pair for pair in met(parsed, *data) if pair[0] == 0} == {(0, 0), (0, 1)}
    assert plain(first, *data) & {(0, 0), (0, 1)} == {(0, 0)}
    found = joint(parsed, *data)
    assert found == plain(parsed, *data)
    assert found & {(0, 0), (0, 1)} == {(0, 1)}


@pytest.mark.parametrize("rounds", [1, 2, 3])
def test_no_row_of_a_pair_has_a_nearer_partner_that_is_free(rounds):
    alice, bob, _ = families(60, 40)
    parsed = parameters(rounds=rounds)
    found = joint(parsed, alice, bob)
    assert found == plain(parsed, alice, bob)
    assert len(found) > 25
    scores = met(parsed, alice, bob)
    partners = [dict(found), {b: a for a, b in found}]
    for (a, b), score in scores.items():
        for this, other, side in ((a, b, 0), (b, a, 1)):
            if this in partners[side]:
                kept = scores[(this, partners[0][this]) if side == 0 else (partners[1][this], this)]
                assert score <= kept or other in partners[1 - side]


def test_in_the_first_round_both_rows_of_a_pair_are_nearest_of_all():
    alice, bob, _ = families(60, 40)
    parsed = parameters()
    scores = met(parsed, alice, bob)
    for a, b in joint(parsed, alice, bob):
        assert scores[a, b] == max(score for pair, score in scores.items() if pair[0] == a or pair[1] == b)


def test_rounds_go_on_to_the_greedy_pairing_of_all_pairs_that_met():
    alice, bob, _ = families(300, 200)
    by_rounds = [plain(parameters(rounds=rounds), alice, bob) for rounds in range(1, MANY + 1)]
    assert all(fewer <= more for fewer, more in pairwise(by_rounds))
    assert by_rounds[-1] == by_rounds[-2]
    scores = met(parameters(), alice, bob)
    if len(set(scores.values())) == len(scores):
        assert by_rounds[-1] == greedy(scores)
    total = sum(scores[pair] for pair in by_rounds[-1])
    assert total >= 0.98 * sum(scores[pair] for pair in greedy(scores))


def test_pairs_that_meet_in_every_pass_are_chosen_once():
    alice, _, _ = families(12, 12)
    parsed = parameters(blocking=[["born:value"], ["surname:value"], ["born:value", "surname:value"]])
    found = joint(parsed, alice, alice)
    assert found == {(row, row) for row in range(12)}


def by_passes(parsed, alice, bob):
    """Another rule: pass by pass, nearest first within a bucket; who is taken stays taken."""
    buckets = parsed.parameters.buckets((len(alice["born"]), len(bob["born"])))
    sides = [
        prepare(parsed.parameters, read_texts(parsed.parameters, data), buckets) for data in (alice, bob)
    ]
    rows, columns, chosen = set(), set(), set()
    for number in range(len(parsed.parameters.blocking)):
        one = [replace(side, layouts=side.layouts[number : number + 1]) for side in sides]
        pairs = {(a, b): score for a, b, score in compared_pairs(parsed.parameters, *one).tolist()}
        free = {
            pair: score for pair, score in pairs.items() if pair[0] not in rows and pair[1] not in columns
        }
        for a, b in greedy(free):
            chosen.add((a, b))
            rows.add(a)
            columns.add(b)
    return chosen


def f_measure(found, truth):
    return 2 * len(found & truth) / (len(found) + len(truth))


@pytest.mark.parametrize("threshold", ["0.4", "0.5", "0.6"])
def test_more_of_the_pairs_are_right_than_pass_by_pass(threshold):
    alice, bob, truth = families(900, 600)
    parsed = parameters(threshold=threshold, bucket=16, load=6)
    nearest, first = (f_measure(rule(parsed, alice, bob), truth) for rule in (plain, by_passes))
    assert nearest > first
    largest = plain(parameters(threshold=threshold, bucket=16, load=6, one_to_one="largest"), alice, bob)
    assert nearest > f_measure(largest, truth)


def test_marks_and_scores_stay_secret_if_the_result_is_opened_to_one(monkeypatch):
    """A row with alike pairs but without a partner looks to its owner like any other row without one."""
    alice, bob, _ = families(60, 40)
    parsed = parameters()
    opened = []
    honest = OneToOne._open_to

    def watched(self, words, role):
        found = honest(self, words, role)
        if found is not None:
            opened.append(found)
        return found

    monkeypatch.setattr(OneToOne, "_open_to", watched)

    def run(session):
        own = alice if session.role is Role.ALICE else bob
        return run_study(parsed, session, own, frozenset([Role.ALICE]), NO_LIMITS.of_both)

    run_pair(run, run)
    (words,) = opened
    alike = {a for a, _ in met(parsed, alice, bob)}
    without = [row for row in alike if row not in dict(plain(parsed, alice, bob))]
    assert without
    assert not words[without].any()
    assert np.count_nonzero(words) == len(plain(parsed, alice, bob))

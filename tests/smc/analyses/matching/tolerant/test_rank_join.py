"""Tolerant matching where rows of one key and rank meet: against the plain rule, costs, and what is seen."""

from __future__ import annotations

import numpy as np
import pytest

from smc.analyses.disclosure.limits import NO_LIMITS, Limits
from smc.analyses.matching.tolerant import rank_join
from smc.analyses.matching.tolerant.blocking import KeyPart
from smc.analyses.matching.tolerant.plain import all_links, plain_links
from smc.analyses.matching.tolerant.ranks import rank
from smc.analyses.matching.tolerant.records import prepare, read_texts
from smc.analyses.matching.tolerant.study import TOLERANT
from smc.analyses.matching.tolerant.word_layout import WordLayout
from smc.analyses.studies.columns import Column, Schema
from smc.errors import DisclosureRefused, DomainError, ProtocolViolation, UsageError
from smc.forms import Role
from smc.pair import run_pair
from smc.secret.joins.joins import CarriedValues
from smc.secret.orders.permutation import SwitchCorrections
from smc.secret.products.common_ones import OverlapCorrections
from tests.smc.analyses.matching.tolerant_runs import (
    ALICE,
    BOB,
    BOTH,
    LINEAR,
    OPEN,
    ClosedError,
    check_estimate,
    check_noise,
    closed,
    joined,
    part,
    side,
    tables,
)
from tests.smc.analyses.matching.tolerant_runs import by_ranks as parameters
from tests.smc.analyses.matching.tolerant_runs import parameters as in_buckets
from tests.support import openings
from tests.support.grids import crossed
from tests.support.seeds import seeded
from tests.support.transcript import shapes, transcripts, truncated

TIES = [[0, 1, 0, 2, 0, 0, 1, 0, 0], [1, 0, 0, 0, 0, 3, 0]]


@pytest.mark.parametrize(
    ("ranks", "bob_rows", "turned", "changes"),
    [
        *crossed([1, 2, 3], [None, 17, 1], [False, True], [{}]),
        *crossed([1, 2], [None, 17], [False, True], [LINEAR]),
    ],
)
def test_joint_and_plain_runs_agree(ranks, bob_rows, turned, changes):
    alice, bob, _ = tables(bob_rows=bob_rows)
    alice, bob = (bob, alice) if turned else (alice, bob)
    parsed = parameters(ranks, **changes)
    run = side(parsed, alice, bob)
    found = joined(*run_pair(run, run))
    assert found == joined(*parsed.reference(alice, bob, BOTH))
    assert len({a for a, _ in found}) == len({b for _, b in found}) == len(found)
    if bob_rows is None:
        assert len(found) > 20


@pytest.mark.parametrize("score_bits", [8, 11])
def test_words_are_as_narrow_as_the_numbers_of_rows_allow(score_bits):
    most = (1 << (29 - score_bits)) - 1
    for counts, bits in (((1, 1), 32), ((most, 5), 32), ((most + 1, 5), 64), ((5, most + 1), 64)):
        layout = WordLayout.of(counts, score_bits)
        assert layout.bits == bits
        assert 2 * max(counts) + 1 < 1 << int(layout.top_bit)
        assert layout.number_bit + layout.top_bit == 64


def test_wide_words_give_what_narrow_ones_do(monkeypatch):
    monkeypatch.setattr(rank_join.WordLayout, "of", lambda counts, score_bits: WordLayout(64, score_bits))
    alice, bob, _ = tables()
    run = side(parameters(1), alice, bob)
    found = joined(*run_pair(run, run))
    assert found == joined(*parameters(1).reference(alice, bob, BOTH))
    assert len(found) > 20


@pytest.mark.parametrize("turned", [False, True])
def test_records_that_are_all_alike_agree_as_well(turned):
    """Ties throughout, ranks that are taken, and pairs that meet in every pass: claims clash."""
    people, _, _ = tables(12, 12)
    alice, bob = (part(people, rows) for rows in (TIES[::-1] if turned else TIES))
    for ranks in (1, 3, 8):
        parsed = parameters(ranks)
        run = side(parsed, alice, bob)
        found = joined(*run_pair(run, run))
        assert found == joined(*parsed.reference(alice, bob, BOTH))
        assert len(found) > 1


def test_of_two_rows_that_claim_one_the_nearer_gets_it():
    """And of the other one neither side learns anything, though it is alike."""
    texts = ["margarethe schulz", "margarethe schulze"], ["margarethe schulze"]
    data = [
        {"name": Column(list(names), Schema("text")), "all": Column(["x"] * len(names), Schema("text"))}
        for names in (texts[0], [*texts[1], "bert bach", "carl carow"])
    ]
    parsed = TOLERANT.parse(
        {"fields": [{"column": "name"}], "threshold": "0.5", "blocking": [["all:value"]], "ranks": 3}
    )
    run = side(parsed, *data)
    first, second = run_pair(run, run)
    assert joined(first, second) == {(1, 0)} == joined(*parsed.reference(*data, BOTH))
    assert [len(outcome.tables[0].columns["row"]) for outcome in (first, second)] == [1, 1]


def test_each_pair_of_ranks_meets_once_and_every_row_offers_as_many_items():
    """Whatever the keys are: of rows without a key, and of those past the last rank, nothing meets."""
    random = seeded()
    texts = {"key": ["a", "a", "b", "", "a", "b"], "other": list("uvwxyz")}
    salt = b"salt"
    layouts = [rank([KeyPart("key", "value")], texts, "other", 2, "0/") for _ in Role]
    assert layouts[0].full == 1
    assert layouts[0].keyless == 1
    assert len(layouts[0].rows) == 4
    items = [layout.items(role, salt, random) for layout, role in zip(layouts, Role, strict=True)]
    assert [len(own) for own in items] == [12, 12]
    names = [[tuple(item) for item in own.tolist()] for own in items]
    assert all(len(set(own)) == 12 for own in names)
    places = [{name: number // 2 for number, name in enumerate(own)} for own in names]
    met = [(places[0][name], places[1][name]) for name in places[0].keys() & places[1].keys()]
    ranked = {key: [row for row in layouts[0].rows if texts["key"][row] == key] for key in "ab"}
    assert sorted(met) == sorted((a, b) for rows in ranked.values() for a in rows for b in rows)


def test_rows_of_a_key_are_ranked_by_another_field():
    """So that sides that have the same people in another order let the same of them take part."""
    texts = {"key": ["k"] * 30, "other": [f"person {number}" for number in range(30)]}
    order = seeded().permutation(30)
    turned = {name: [column[row] for row in order] for name, column in texts.items()}
    found = [rank([KeyPart("key", "value")], side, "other", 5, "s") for side in (texts, turned)]
    assert set(found[0].rows) == {order[row] for row in found[1].rows}


def test_passes_find_what_comparing_everything_finds():
    """Not quite all of it: a pair has to meet in a pass."""
    alice, bob, truth = tables(300, 200)
    parsed = parameters(4)
    records = [prepare(parsed.parameters, read_texts(parsed.parameters, data), 1) for data in (alice, bob)]
    found = {tuple(link) for link in plain_links(parsed.parameters, *records)}
    everything = {tuple(link[:2]) for link in all_links(*records)}
    assert found <= everything
    assert len(found & truth) > 0.9 * len(everything & truth)


@pytest.mark.parametrize(("ranks", "recipients"), crossed([1, 2], [ALICE, BOB, BOTH]))
def test_estimates_are_exact(ranks, recipients):
    alice, bob, _ = tables(20, 15)
    check_estimate(parameters(ranks), alice, bob, recipients)


def test_stretches_do_not_change_the_result(monkeypatch):
    alice, bob, _ = tables(24, 20)
    parsed = parameters()
    wanted = joined(*parsed.reference(alice, bob, BOTH))
    monkeypatch.setattr(rank_join, "STRETCH_SLOTS", 17)
    run = side(parsed, alice, bob)
    assert joined(*run_pair(run, run)) == wanted
    check_estimate(parsed, alice, bob, BOTH)


def test_messages_do_not_depend_on_the_data(monkeypatch):
    """All rows equal, or no keys at all: same messages, same sizes, and bytes that look like noise."""
    alice, bob, _ = tables(40, 40)
    same = part(alice, [0] * 40)
    keyless = {name: Column([""] * 40, column.schema) for name, column in alice.items()}
    parsed = parameters()
    _, crowded = transcripts(monkeypatch, side(parsed, same, same))
    _, sparse = transcripts(monkeypatch, side(parsed, alice, bob))
    _, none = transcripts(monkeypatch, side(parsed, keyless, bob))
    assert shapes(crowded) == shapes(sparse) == shapes(none)
    for seen in (crowded, sparse, none):
        check_noise(seen)
        assert any(kind == CarriedValues.__name__ for kind, _ in seen[Role.ALICE])
        assert any(kind == CarriedValues.__name__ for kind, _ in seen[Role.BOB])


def test_a_result_is_opened_to_its_recipient_only(monkeypatch):
    alice, bob, _ = tables(20, 15)
    for recipients, (role,) in ((ALICE, ALICE), (BOB, BOB)):
        _, seen = transcripts(monkeypatch, side(parameters(), alice, bob, recipients))
        assert not {kind for kind, _ in seen[role.other]} & openings.OPENINGS
        assert [kind for kind, _ in seen[role] if kind in OPEN].count(openings.SHARES) == 1


@pytest.mark.parametrize("role", Role)
def test_what_is_opened_is_a_number_and_nothing_of_the_score(monkeypatch, role):
    """Words of rows with a partner are its number in this run and a mark, above zeros."""
    alice, bob, _ = tables(40, 30)
    opened = []
    honest = rank_join.RankJoin._open_to

    def watched(self, words, recipient):
        found = honest(self, words, recipient)
        if found is not None:
            opened.append(found)
        return found

    monkeypatch.setattr(rank_join.RankJoin, "_open_to", watched)
    run = side(parameters(), alice, bob, frozenset([role]))
    run_pair(run, run)
    (words,) = opened
    assert len(words) == 40
    shift = 64 - 32 + 11 + 2
    assert (words % (1 << shift) == 0).all()
    assert ((words >> shift)[words > 0] % 2 == 1).all()
    assert (words >> (shift + 1) <= 40).all()


def test_too_few_matches_are_not_opened(monkeypatch):
    alice, bob, _ = tables()
    parsed = parameters()
    pairs = joined(*parsed.reference(alice, bob, BOTH))
    enough = side(parsed, alice, bob, limits=Limits(minimum_intersection=len(pairs)))
    assert joined(*run_pair(enough, enough)) == pairs
    refused = []

    def run(session):
        with pytest.raises(DisclosureRefused, match="fewer matches or persons"):
            side(parsed, alice, bob, limits=Limits(minimum_intersection=len(pairs) + 1))(session)
        refused.append(session.role)

    _, seen = transcripts(monkeypatch, run)
    assert set(refused) == BOTH
    for received in seen.values():
        assert [len(body) for kind, body in received if kind in openings.OPENINGS] == [1]


def test_nothing_is_opened_before_the_gate(monkeypatch):
    alice, bob, _ = tables(20, 15)

    def run(session):
        with pytest.raises(ClosedError):
            side(parameters(), alice, bob, limits=NO_LIMITS, gate=closed)(session)

    _, seen = transcripts(monkeypatch, run)
    assert not {kind for rows in seen.values() for kind, _ in rows} & openings.OPENINGS


@pytest.mark.parametrize(
    ("kind", "sender"),
    [
        *crossed([CarriedValues.__name__, SwitchCorrections.__name__], Role),
        (OverlapCorrections.__name__, Role.ALICE),
    ],
)
def test_messages_of_another_size_are_refused(monkeypatch, kind, sender):
    alice, bob, _ = tables(12, 8)
    channels = truncated(monkeypatch, kind)
    run = side(parameters(), alice, bob)

    def watched(session):
        if session.role is sender:
            channels.append(session.channel)
        return run(session)

    with pytest.raises(ProtocolViolation):
        run_pair(watched, watched)


def test_rows_past_the_last_rank_are_counted_and_refused():
    alice, _, _ = tables(40, 30)
    crowd = part(alice, [0] * 40)
    parsed = parameters(2, overflow="refuse")
    with pytest.raises(DomainError, match="past the last rank of their key over all passes"):
        parsed.reference(crowd, crowd, BOTH)
    notes = parsed.preview(crowd, Role.ALICE, NO_LIMITS).notes
    assert any("95 % of this side's rows are past the last rank of their key" in note for note in notes)


@pytest.mark.parametrize("changes", [{"bucket": 4}, {"load": 3}, {"rounds": 2}, {"mode": "none"}])
def test_ranks_do_not_go_with_what_is_for_buckets(changes):
    with pytest.raises(UsageError, match="ranks"):
        parameters(**changes)


@pytest.mark.parametrize("ranks", [0, 9, "2"])
def test_ranks_have_a_range(ranks):
    with pytest.raises(UsageError):
        parameters(ranks)


def test_leakage_names_the_ranks_and_says_that_items_do_not_show_keys():
    parsed = parameters(2)
    stated = parsed.leakage(ALICE)
    assert stated.alice
    assert not stated.bob
    assert any("ranks" in line for line in stated.public)
    assert not any("buckets" in line for line in stated.public)
    assert np.array_equal(stated.alice, in_buckets().leakage(ALICE).alice)

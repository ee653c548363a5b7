"""Tolerant matching: joint runs against the plain rule, limits, and what the parties see."""

from __future__ import annotations

import json

import numpy as np
import pytest

from parties.bench.people import FIELDS
from smc.analyses.disclosure.limits import Limits
from smc.analyses.disclosure.opener import Opener
from smc.analyses.matching.tolerant import places
from smc.analyses.matching.tolerant.plain import all_links, plain_links
from smc.analyses.matching.tolerant.records import prepare, read_texts
from smc.analyses.matching.tolerant.study import TOLERANT
from smc.analyses.studies.columns import DAYS, Column, Schema
from smc.errors import DisclosureRefused, DomainError, ProtocolViolation
from smc.forms import Role
from smc.oblivious.circuits import Openings
from smc.oblivious.correlated_transfers import TransferColumns
from smc.oblivious.transfers import TransferCorrections
from smc.pair import run_pair
from smc.protocols.exchange.row_counts import Counts
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
    parameters,
    part,
    side,
    tables,
)
from tests.support import openings
from tests.support.grids import crossed
from tests.support.transcript import shapes, transcripts, truncated

MODES = ["none", "greedy", "largest"]


@pytest.mark.parametrize(
    ("mode", "bob_rows", "changes"),
    [*crossed(MODES, [None, 17, 1], [{}]), *crossed(MODES, [None], [LINEAR])],
)
def test_joint_and_plain_runs_agree(mode, bob_rows, changes):
    alice, bob, _ = tables(bob_rows=bob_rows)
    parsed = parameters(mode, **changes)
    run = side(parsed, alice, bob)
    found, wanted = joined(*run_pair(run, run)), joined(*parsed.reference(alice, bob, BOTH))
    if mode == "largest":
        assert len(found) == len(wanted)
        similar = joined(*parameters("none", **changes).reference(alice, bob, BOTH))
        assert found <= similar
    else:
        assert found == wanted
    if mode != "none":
        assert len({a for a, _ in found}) == len({b for _, b in found}) == len(found)
    if bob_rows is None:
        assert len(found) > 20


@pytest.mark.parametrize("mode", ["none", "greedy"])
def test_records_that_are_all_alike_agree_as_well(mode):
    """Ties throughout, full buckets, and pairs that meet in every pass."""
    alice, bob, _ = tables(12, 12)
    alice, bob = part(alice, [0, 1, 0, 2, 0, 0, 1, 0, 0]), part(alice, [1, 0, 0, 0, 0, 3, 0])
    parsed = parameters(mode, rounds=6) if mode == "greedy" else parameters(mode)
    run = side(parsed, alice, bob)
    found = joined(*run_pair(run, run))
    assert found == joined(*parsed.reference(alice, bob, BOTH))
    assert len(found) > 4


def test_stretches_do_not_change_the_result(monkeypatch):
    alice, bob, _ = tables(24, 20)
    parsed = parameters()
    wanted = joined(*parsed.reference(alice, bob, BOTH))
    monkeypatch.setattr(places, "STRETCH_PAIRS", 3 * 25)
    run = side(parsed, alice, bob)
    assert joined(*run_pair(run, run)) == wanted
    check_estimate(parsed, alice, bob, BOTH)


@pytest.mark.parametrize(("mode", "recipients"), crossed(MODES, [ALICE, BOB]))
def test_one_recipient_learns_its_rows_and_the_other_nothing(mode, recipients):
    alice, bob, _ = tables(40, 30)
    parsed = parameters(mode, show=["surname"])
    run = side(parsed, alice, bob, recipients)
    outcomes = dict(zip(Role, run_pair(run, run), strict=True))
    plain = dict(zip(Role, parsed.reference(alice, bob, recipients), strict=True))
    (role,) = recipients
    assert outcomes[role.other].tables == plain[role.other].tables == ()
    columns, wanted = outcomes[role].tables[0].columns, plain[role].tables[0].columns
    assert len(columns["row"]) == len(wanted["row"]) > 10
    if mode != "largest":
        assert sorted(columns["row"]) == sorted(wanted["row"])
    data = alice if role is Role.ALICE else bob
    assert columns["surname"] == [data["surname"].texts[row - 1] for row in columns["row"]]
    assert outcomes[role].notes == plain[role].notes
    json.dumps([columns, outcomes[role].details])


def test_partners_are_numbered_at_random():
    alice, bob, _ = tables(40, 40)
    run = side(parameters(threshold="0.4"), alice, bob, ALICE)
    seen = []
    for _ in range(2):
        outcome, _ = run_pair(run, run)
        columns = outcome.tables[0].columns
        assert all(1 <= number <= 40 for number in columns["partner"])
        assert len(set(columns["partner"])) == len(columns["partner"]) > 20
        seen.append(dict(zip(columns["row"], columns["partner"], strict=True)))
    assert seen[0] != seen[1]


def test_most_pairs_are_found_and_right():
    """The greedy pairing finds what the rule over all pairs finds, blocked, and errs less."""
    alice, bob, truth = tables(200, 160)
    parsed = parameters(bucket=16, load=6, threshold="0.5")
    both = [
        prepare(parsed.parameters, read_texts(parsed.parameters, data), parsed.parameters.buckets((200, 200)))
        for data in (alice, bob)
    ]
    everything = {tuple(link[:2]) for link in all_links(*both).tolist()}
    blocked = {
        tuple(link) for link in plain_links(parameters("none", bucket=16, load=6).parameters, *both).tolist()
    }
    run = side(parsed, alice, bob)
    found = joined(*run_pair(run, run))
    assert blocked <= everything
    assert len(found & truth) > 0.9 * len(everything & truth)
    assert len(found - truth) <= len(everything - truth)
    assert len(truth & everything) > 0.8 * len(truth)


@pytest.mark.parametrize(
    ("changes", "recipients"), crossed([{"mode": "none"}, {}, {"rounds": 3}], [ALICE, BOB, BOTH])
)
def test_estimates_are_exact(changes, recipients):
    alice, bob, _ = tables(20, 15)
    check_estimate(parameters(**changes), alice, bob, recipients)


@pytest.mark.parametrize("mode", ["none", "greedy"])
def test_messages_do_not_depend_on_the_data(monkeypatch, mode):
    """All rows equal, or nothing in common: same messages, same sizes, and bytes that look like noise."""
    alice, bob, _ = tables(40, 40)
    same = part(alice, [0] * 40)
    parsed = parameters(mode)
    _, crowded = transcripts(monkeypatch, side(parsed, same, same))
    _, sparse = transcripts(monkeypatch, side(parsed, alice, bob))
    assert shapes(crowded) == shapes(sparse)
    for seen in (crowded, sparse):
        check_noise(seen)
        for rows in seen.values():
            kinds = {kind for kind, _ in rows}
            assert {TransferColumns.__name__, TransferCorrections.__name__, Openings.__name__} <= kinds


def test_a_result_is_opened_to_its_recipient_only(monkeypatch):
    alice, bob, _ = tables(20, 15)
    for mode in MODES:
        _, seen = transcripts(monkeypatch, side(parameters(mode), alice, bob, ALICE))
        assert not {kind for kind, _ in seen[Role.BOB]} & openings.OPENINGS
        assert [kind for kind, _ in seen[Role.ALICE] if kind in OPEN].count(openings.SHARES) == 1


@pytest.mark.parametrize("mode", MODES)
def test_too_few_matches_are_not_opened(monkeypatch, mode):
    alice, bob, _ = tables()
    parsed = parameters(mode)
    pairs = joined(*parsed.reference(alice, bob, BOTH))
    rows = min(len({a for a, _ in pairs}), len({b for _, b in pairs}))
    if mode == "largest":
        similar = joined(*parameters("none").reference(alice, bob, BOTH))
        rows = min(len({a for a, _ in similar}), len({b for _, b in similar}))
    enough = side(parsed, alice, bob, limits=Limits(minimum_intersection=rows))
    assert len(joined(*run_pair(enough, enough))) == len(pairs)
    refused = []

    def run(session):
        with pytest.raises(DisclosureRefused, match="fewer matches or persons"):
            side(parsed, alice, bob, limits=Limits(minimum_intersection=rows + 1))(session)
        refused.append(session.role)

    _, seen = transcripts(monkeypatch, run)
    assert set(refused) == BOTH
    for received in seen.values():
        assert [len(body) for kind, body in received if kind in openings.OPENINGS] == [1]


def test_sets_are_checked_before_anything_else_is_sent(monkeypatch):
    alice, bob, _ = tables(20, 15, bob_rows=5)
    for limits in (Limits(minimum_set=6), Limits(maximum_ratio=3)):

        def run(session, limits=limits):
            with pytest.raises(DisclosureRefused):
                side(parameters(), alice, bob, limits=limits)(session)

        _, seen = transcripts(monkeypatch, run)
        assert all([kind for kind, _ in rows] == [Counts.__name__] for rows in seen.values())


@pytest.mark.parametrize(("mode", "minimum"), crossed(MODES, [0, 1]))
def test_nothing_is_opened_before_the_gate(monkeypatch, mode, minimum):
    alice, bob, _ = tables(20, 15)

    def run(session):
        with pytest.raises(ClosedError):
            side(parameters(mode), alice, bob, limits=Limits(minimum_intersection=minimum), gate=closed)(
                session
            )

    _, seen = transcripts(monkeypatch, run)
    assert not {kind for rows in seen.values() for kind, _ in rows} & openings.OPENINGS


@pytest.mark.parametrize("empty", list(Role))
def test_a_side_without_rows_matches_nothing(empty):
    alice, bob, _ = tables(5, 5)
    if empty is Role.ALICE:
        alice = part(alice, [])
    else:
        bob = part(bob, [])
    run = side(parameters(), alice, bob)
    outcomes = run_pair(run, run)
    assert outcomes == parameters().reference(alice, bob, BOTH)
    assert all(outcome.tables[0].columns["row"] == [] for outcome in outcomes)
    demanding = side(parameters(), alice, bob, limits=Limits(minimum_intersection=1))
    with pytest.raises(DisclosureRefused):
        run_pair(demanding, demanding)


def test_empty_records_and_missing_fields_match_nothing():
    empty = {name: Column(["", "", "x"], Schema("text")) for name in FIELDS}
    parsed = parameters("none", blocking=[["extra:value"]])
    empty["extra"] = Column([1, 1, 1], Schema("integer"))
    run = side(parsed, empty, empty)
    outcomes = run_pair(run, run)
    assert joined(*outcomes) == {(2, 2)} == joined(*parsed.reference(empty, empty, BOTH))
    assert any("2 local rows have no text" in note for note in outcomes[0].notes)


def test_numbers_and_categories_are_compared_as_texts():
    def data(numbers, indices):
        labels = Schema("category", categories=("Berlin", "Hamburg"))
        return {"n": Column(np.array(numbers), Schema("integer")), "c": Column(indices, labels)}

    parsed = TOLERANT.parse(
        {
            "fields": [{"column": "n"}, {"column": "c"}],
            "threshold": "0.8",
            "blocking": [["n:prefix2"]],
            "one_to_one": "none",
        }
    )
    alice, bob = data([123456, 123999, 700000], [0, 1, 0]), data([123457, 123999], [0, 1])
    run = side(parsed, alice, bob)
    assert joined(*run_pair(run, run)) == {(0, 0), (1, 1)}


DAYS_OF_BIRTH = [-25_567, -12_000, -1, 0, 1, 999, 1_000, 9_999, 10_000, 10_956]
"""From 1900-01-01 to 1999-12-31, and on both sides of 1972-09-27."""


@pytest.mark.parametrize("recipe", [{}, {"normalization": ["date"]}])
def test_persons_of_any_age_are_found_by_the_year_of_their_birth(recipe):
    """As dates of a catalog on one side, as texts on the other where a recipe reads them."""
    days = Column(np.array(DAYS_OF_BIRTH), Schema("integer", lower=-30_000, upper=20_000, unit=DAYS))
    texts = Column(list(map(str, days.array.astype("datetime64[D]"))), Schema("text"))
    parsed = TOLERANT.parse(
        {
            "fields": [{"column": "born", **recipe}],
            "threshold": "1",
            "blocking": [["born:year"]],
            "one_to_one": "none",
        }
    )
    other = texts if recipe else days
    records = [
        prepare(parsed.parameters, read_texts(parsed.parameters, {"born": side}), 10)
        for side in (days, other)
    ]
    assert [records_of.layouts[0].keyless for records_of in records] == [0, 0]
    outcomes = parsed.reference({"born": days}, {"born": other}, BOTH)
    assert joined(*outcomes) == {(row, row) for row in range(len(DAYS_OF_BIRTH))}


def test_columns_have_one_length():
    alice, bob, _ = tables(5, 5)
    wrong = {**alice, "born": Column(["19600101"], Schema("text"))}
    with pytest.raises(DomainError, match="different lengths"):
        parameters().reference(wrong, bob, BOTH)


@pytest.mark.parametrize(("mode", "cheat"), crossed(["none", "greedy"], Role))
def test_impossible_words_are_refused(monkeypatch, mode, cheat):
    """A share that was changed opens to a number that no row has."""
    alice, bob, _ = tables(12, 8)
    honest = Opener.ints

    def ints(self, values, recipients, told):
        if self.session.role is cheat:
            values = values.from_shares(self.session, values.shares + np.uint64(1 << 40), values.bounds)
        return honest(self, values, recipients, told)

    monkeypatch.setattr(Opener, "ints", ints)
    run = side(parameters(mode), alice, bob, frozenset([cheat.other]))
    with pytest.raises(ProtocolViolation, match="opened value is outside"):
        run_pair(run, run)


@pytest.mark.parametrize(
    "kind",
    [
        Counts.__name__,
        TransferColumns.__name__,
        openings.SHARES,
        OverlapCorrections.__name__,
        SwitchCorrections.__name__,
    ],
)
def test_messages_of_another_size_are_refused(monkeypatch, kind):
    alice, bob, _ = tables(12, 8)
    channels = truncated(monkeypatch, kind)
    run = side(parameters(), alice, bob)

    def watched(session):
        if session.role is Role.BOB:
            channels.append(session.channel)
        return run(session)

    with pytest.raises(ProtocolViolation):
        run_pair(watched, watched)


@pytest.mark.parametrize("mode", MODES)
def test_leakage_says_who_learns_what(mode):
    parsed = parameters(mode)
    one = parsed.leakage(ALICE)
    assert one.alice
    assert not one.bob
    assert ("passes" in " ".join(one.alice)) is (mode != "greedy")
    assert any("bringing many variants of a record" in line for line in one.alice)
    both = parsed.leakage(BOTH)
    assert both.alice == both.bob == one.alice


def test_leakage_says_what_fitted_terms_tell_and_what_choosers_learn_of_rarity():
    plain, fitted = parameters().leakage(ALICE), parameters(**LINEAR).leakage(ALICE)
    assert any("says something of how it is" in line for line in fitted.public)
    assert not any("says something" in line for line in plain.public)
    assert any("how frequent a paired row's values are" in line for line in fitted.alice)
    assert not any("frequent" in line for line in plain.alice)
    assert not any("frequent" in line for line in fitted.bob)


def test_progress_is_told():
    alice, bob, _ = tables(8, 5)
    told = []

    def run(session):
        if session.role is Role.ALICE:
            session.report = lambda stage, done, of: told.append((stage, done, of))
        return side(parameters(), alice, bob)(session)

    run_pair(run, run)
    assert told == [("encode", 0, 1), ("encode", 1, 1), *(("pass", done, 6) for done in range(7))]

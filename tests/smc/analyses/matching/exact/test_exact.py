"""Exact matching with the output `keys`: against the plain twin, its limits, its parameters."""

from __future__ import annotations

import tomllib
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from smc.analyses.disclosure.limits import NO_LIMITS, Limits
from smc.analyses.matching.analysis import MATCHING
from smc.analyses.studies.columns import DAYS, Column, Schema
from smc.analyses.studies.loss import Loss
from smc.analyses.studies.outcome import DATE
from smc.analyses.studies.runner import run_study
from smc.analyses.studies.setting import RunSetting
from smc.analyses.studies.traced import estimate_cost
from smc.channel.channel import Channel
from smc.errors import DisclosureRefused, DomainError, UsageError
from smc.forms import Role
from smc.pair import run_pair
from smc.protocols.exchange.records import counts_cost
from smc.protocols.public_records import TOSS_COST

BOTH = frozenset(Role)
TEXT = Schema("text")
CITY = Schema("category", categories=("Köln", "Aachen", "Bonn"))
NUMBER = Schema("integer", lower=-(10**6), upper=10**6)


def parsed(**parameters):
    """Parameters of a job."""
    return MATCHING.parse({"method": "exact", "keys": ["id"], **parameters})


def texts(*values):
    """A side with a column of texts."""
    return {"id": Column(list(values), TEXT)}


def numbers(*values):
    """A side with a column of whole numbers."""
    return {"id": Column(list(values), NUMBER)}


def joint(study, alice, bob, recipients=BOTH, limits=NO_LIMITS):
    """Both outcomes and both traffics."""

    def side(data):
        def run(session):
            outcome = run_study(study, session, data, recipients, limits.of_both)
            return outcome, session.channel.traffic

        return run

    (a, there), (b, back) = run_pair(side(alice), side(bob))
    return (a, b), (there, back)


def tables(outcome):
    """Tables by name."""
    return {
        table.name: {name: list(cells) for name, cells in table.columns.items()} for table in outcome.tables
    }


def test_who_matches():
    alice, bob = texts("anna", "ben", " cem ", "dora"), texts("cem", "eva", "anna")
    (a, b), _ = joint(parsed(), alice, bob)
    assert tables(a) == {"matches": {"row": [1, 3], "id": ["anna", " cem "]}, "intersection": {"size": [2]}}
    assert tables(b) == {"matches": {"row": [1, 3], "id": ["cem", "anna"]}, "intersection": {"size": [2]}}


@pytest.mark.parametrize("recipients", [BOTH, frozenset({Role.ALICE}), frozenset({Role.BOB})])
@pytest.mark.parametrize("sizes", [(0, 0), (0, 2), (3, 0), (1, 1), (2, 50), (50, 2), (50, 50)])
def test_all_sizes_and_recipients_against_the_plain_twin(sizes, recipients):
    alice, bob = (numbers(*range(start, start + size)) for start, size in zip((0, 1), sizes, strict=True))
    study = parsed()
    outcomes, traffic = joint(study, alice, bob, recipients)
    assert outcomes == study.reference(alice, bob, recipients)
    for role, outcome in zip(Role, outcomes, strict=True):
        assert bool(outcome.tables) == (role in recipients)
    if sizes[0] == sizes[1]:
        estimate = estimate_cost(study, {}, recipients, RunSetting((sizes[0], sizes[0])))
        assert [each.sent for each in traffic] == [estimate.alice_bytes, estimate.bob_bytes]
        assert max(each.rounds for each in traffic) == estimate.rounds


words = st.lists(st.sampled_from(["a", "b", "A", " a", "ä", "a\u0308", "00", "0", "x y", "x  y"]), max_size=8)


@given(
    words,
    words,
    st.sampled_from(["multiset", "distinct"]),
    st.permutations(["trim", "lower", "strip-accents"]),
)
@settings(max_examples=15, deadline=None)
def test_any_texts_against_the_plain_twin(first, second, duplicates, steps):
    study = parsed(duplicates=duplicates, normalization={"id": steps[:2]})
    alice, bob = texts(*first), texts(*second)
    assert joint(study, alice, bob)[0] == study.reference(alice, bob, BOTH)


def test_what_becomes_of_copies():
    alice, bob = texts("a", "b", "a", "a", "c"), texts("a", "c", "a", "c")
    multiset = joint(parsed(duplicates="multiset"), alice, bob)[0]
    assert [tables(each)["matches"]["row"] for each in multiset] == [[1, 3, 5], [1, 2, 3]]
    distinct = joint(parsed(duplicates="distinct"), alice, bob)[0]
    assert [tables(each)["matches"]["row"] for each in distinct] == [[1, 5], [1, 2]]
    with pytest.raises(DomainError, match="2 rows of alice repeat the key") as caught:
        parsed().reference(alice, bob, BOTH)
    assert "'a'" not in str(caught.value)


def test_nothing_is_sent_where_the_own_keys_repeat(monkeypatch):
    sent = []
    monkeypatch.setattr(Channel, "send", lambda self, message: sent.append(message))
    with pytest.raises(DomainError):
        run_pair(
            lambda s: run_study(parsed(), s, texts("a", "a"), BOTH, NO_LIMITS.of_both),
            lambda s: run_study(parsed(), s, texts("a", "a"), BOTH, NO_LIMITS.of_both),
            timeout=5,
        )
    assert not sent


def test_columns_are_joined_without_confusion():
    study = parsed(keys=["id", "name"])

    def side(*pairs):
        return {"id": Column([x for x, _ in pairs], TEXT), "name": Column([y for _, y in pairs], TEXT)}

    alice, bob = side(("ab", "c"), ("x", "y"), ("p", "q")), side(("a", "bc"), ("y", "x"), ("p", "q"))
    (a, b), _ = joint(study, alice, bob)
    assert tables(a)["matches"] == tables(b)["matches"] == {"row": [3], "id": ["p"], "name": ["q"]}


def test_kinds_meet_by_their_texts():
    alice = {"id": Column(["0042", "7", "Köln"], TEXT)}
    bob = numbers(42, 8, 7)
    study = parsed(normalization={"id": ["trim", "strip-leading-zeros"]})
    assert tables(joint(study, alice, bob)[0][1])["matches"] == {"row": [1, 3], "id": [42, 7]}
    assert tables(joint(parsed(), alice, bob)[0][1])["matches"] == {"row": [3], "id": [7]}
    city = {"id": Column([1, 0], CITY)}
    found = joint(parsed(normalization={"id": ["lower"]}), alice, city)[0]
    assert [tables(each)["matches"]["id"] for each in found] == [["Köln"], ["Köln"]]


def test_sizes_of_messages_depend_on_row_counts_only(monkeypatch):
    seen = []
    honest = Channel.send
    for second in (range(30), range(1000, 1030), [10**6 - place for place in range(30)]):
        sizes = []

        def send(self, message, into=sizes):
            into.append((type(message).__name__, len(message.encode())))
            honest(self, message)

        monkeypatch.setattr(Channel, "send", send)
        joint(parsed(), numbers(*range(20)), numbers(*second))
        seen.append(sorted(sizes))
    assert seen[0] == seen[1] == seen[2]


@pytest.mark.parametrize(
    "limits", [Limits(minimum_set=3), Limits(maximum_ratio=Fraction(5, 4))], ids=["set", "ratio"]
)
def test_sets_outside_the_limits_are_refused_before_anything_else(limits):
    told = []

    def side(data):
        def run(session):
            with pytest.raises(DisclosureRefused):
                run_study(parsed(), session, data, BOTH, limits.of_both)
            told.append(session.channel.traffic.sent)

        return run

    run_pair(side(texts("a", "b")), side(texts("a", "b", "c")))
    assert told == [counts_cost(1).alice_bytes] * 2


def test_a_small_intersection_is_refused_and_a_large_one_is_not():
    alice, bob = texts("a", "b", "c"), texts("b", "c", "d")
    assert tables(joint(parsed(), alice, bob, limits=Limits(minimum_intersection=2))[0][0])["matches"][
        "row"
    ] == [2, 3]

    def side(data):
        def run(session):
            with pytest.raises(DisclosureRefused):
                run_study(parsed(), session, data, BOTH, Limits(minimum_intersection=3).of_both)

        return run

    run_pair(side(alice), side(bob))


def test_the_gate_is_passed_before_masks_are_sent():
    class StopError(Exception):
        """The ledger could not be written."""

    def gate(channel):
        raise StopError

    def side(data):
        def run(session):
            with pytest.raises(StopError):
                run_study(parsed(), session, data, BOTH, NO_LIMITS.of_both, gate)
            return session.channel.traffic.sent

        return run

    before = (counts_cost(1) + TOSS_COST).alice_bytes
    assert run_pair(side(texts("a")), side(texts("a"))) == (before, before)


def test_what_the_job_says_of_itself():
    alone = parsed().leakage(frozenset({Role.ALICE}))
    assert len(alone.alice) == 2
    assert len(alone.bob) == 1
    assert "rows" in alone.public[0]
    assert "distinct keys" in parsed(duplicates="distinct").leakage(BOTH).public[0]
    assert not parsed().facts(BOTH).exact
    assert parsed().facts(BOTH).loss == Loss()
    assert parsed(keys=["b", "a"]).columns[Role.BOB] == ("b", "a")
    with pytest.raises(UsageError):
        parsed().check_recipients(frozenset())


@pytest.mark.parametrize(
    ("text", "error"),
    [
        ('method = "exact"', "keys"),
        ('method = "exact"\nkeys = []', "1 to 16"),
        ('method = "exact"\nkeys = [1]', "1 to 16"),
        ('method = "exact"\nkeys = ["a", "a"]', "twice"),
        ('method = "exact"\nkeys = ["a"]\noutput = "rows"', "output"),
        ('method = "exact"\nkeys = ["a"]\nduplicates = "drop"', "duplicates"),
        ('method = "exact"\nkeys = ["a"]\nepsilon = "1"', "epsilon"),
        ('method = "exact"\nkeys = ["a"]\nkey = "b"', "Did you mean"),
        ('method = "exact"\nkeys = ["a"]\n[normalization]\nb = ["trim"]', "unknown key 'b'"),
        ('method = "exact"\nkeys = ["a"]\n[normalization]\na = ["shout"]', "normalization.a"),
        ('method = "exact"\nkeys = ["a"]\n[normalization]\na = ["trim", "trim"]', "twice"),
        ('method = "exact"\nkeys = ["a"]\n[normalization]\na = "trim"', "not a list"),
        ('method = "exakt"\nkeys = ["a"]', "exact"),
    ],
)
def test_wrong_parameters_are_refused(text, error):
    with pytest.raises(UsageError, match=error):
        MATCHING.parse(tomllib.loads(text))


def test_key_columns_have_texts():
    good = {"id": TEXT}
    parsed().check(good, {"id": NUMBER})
    with pytest.raises(UsageError, match="bob's column id is of kind decimal"):
        parsed().check(good, {"id": Schema("decimal", 2, 0, 10)})


def test_keys_that_are_dates_come_back_as_dates():
    schema = Schema("integer", lower=-20_000, upper=20_000, unit=DAYS)
    data = {"born": Column(np.array([12382, -10907, 0], dtype=np.int64), schema)}
    study = MATCHING.parse({"method": "exact", "keys": ["born"]})
    first, second = study.reference(data, data, frozenset(Role))
    for outcome in (first, second):
        assert sorted(outcome.tables[0].columns["born"]) == ["1940-02-21", "1970-01-01", "2003-11-26"]
        assert outcome.tables[0].kinds == {"born": DATE}

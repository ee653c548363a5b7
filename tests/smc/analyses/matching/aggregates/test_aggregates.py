"""Figures about a secret intersection: against the plain twin, and as shares; what they cost."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from smc.analyses.studies.setting import RunSetting
from smc.analyses.studies.traced import estimate_cost
from smc.oblivious.engine import ObliviousEngine
from tests.smc.analyses.matching.aggregates_runs import (
    AGE,
    ALICE,
    AMOUNT,
    BOB,
    BOTH,
    ID,
    NOISY,
    SHARES,
    SIZE,
    STATISTICS,
    parsed,
    run,
    side,
    tables,
)
from tests.support.grids import crossed


def check_twin(text, alice, bob, recipients=BOTH):
    plain = parsed(text).reference(alice, bob, recipients)
    joint = run(text, alice, bob, recipients)
    assert tables(joint) == tables(plain)
    assert [o.details for o in joint] == [o.details for o in plain]
    return joint


@pytest.mark.parametrize("text", [SIZE, STATISTICS])
@pytest.mark.parametrize("recipients", [{ALICE}, {BOB}, BOTH])
def test_the_plain_twin_agrees(text, recipients):
    check_twin(text, side(range(1, 90)), side(range(60, 300)), frozenset(recipients))


@pytest.mark.parametrize(
    ("alice", "bob"), [([], []), ([], [1]), ([1], [1]), ([1], [2]), ([3, 1, 2], [2, 3, 1])]
)
@pytest.mark.parametrize("text", [SIZE, STATISTICS])
def test_small_and_empty_sets(text, alice, bob):
    check_twin(text, side(alice), side(bob))


@given(st.sets(st.integers(1, 30), max_size=20), st.sets(st.integers(1, 30), max_size=20))
@settings(max_examples=10)
def test_any_sets(alice, bob):
    (first, _) = check_twin(STATISTICS, side(sorted(alice)), side(sorted(bob)))
    common = alice & bob
    assert first.tables[0].columns["count"] == [len(common)] * 3
    assert first.tables[0].columns["sum"][1] == sum(n % 100 for n in common)


@pytest.mark.parametrize("duplicates", ["multiset", "distinct"])
def test_repeated_keys(duplicates):
    text = f'duplicates = "{duplicates}"\n' + STATISTICS
    alice = side([5, 5, 5, 7, 8], ages=[1, 2, 4, 8, 16])
    bob = side([8, 5, 9, 5], ages=[32, 64, 1, 3])
    first, _ = check_twin(text, alice, bob)
    assert first.tables[0].columns["count"][0] == (3 if duplicates == "multiset" else 2)


def test_means_and_decimals_are_right():
    alice = side([1, 2, 3], amounts=[-1050, 225, 99_999])
    first, _ = run(STATISTICS, alice, side([1, 2, 4], ages=[10, 15, 99]))
    columns = first.tables[0].columns
    assert columns["sum"] == ["-8.25", 25, 3]
    assert columns["mean"] == [-4.125, 12.5, 1.5]
    assert columns["side"] == ["alice", "bob", "alice"]


def test_shares_add_up_to_the_values_of_the_matches():
    alice, bob = side(range(1, 40)), side(range(20, 90))
    for outcomes in (run(SHARES, alice, bob), parsed(SHARES).reference(alice, bob, BOTH)):
        first, second = (outcome.tables[0].columns for outcome in outcomes)
        words = {
            name: (uint64(first[name]) + uint64(second[name])).view(np.int64)
            for name in ("member", "alice_amount", "bob_age", "alice_age")
        }
        members = words["member"] == 1
        assert members.sum() == 20
        assert all(not column[~members].any() for column in words.values())
        rows = zip(*(words[name][members].tolist() for name in words), strict=True)
        assert sorted(rows) == sorted((1, 37 * n % 20_001 - 10_000, n % 100, n % 100) for n in range(20, 40))
        assert outcomes[0].details["scales"] == {"member": 0, "alice_amount": 2, "bob_age": 0, "alice_age": 0}


def uint64(texts):
    return np.array([int(text) for text in texts], dtype=np.uint64)


def test_shares_alone_are_uniform():
    first, second = run(SHARES, side(range(1500)), side(range(1500)))
    for outcome in (first, second):
        for name in ("member", "bob_age"):
            bits = np.unpackbits(uint64(outcome.tables[0].columns[name]).view(np.uint8))
            assert abs(int(bits.sum()) - len(bits) / 2) < 4.9 * (len(bits) / 4) ** 0.5


@pytest.mark.parametrize(
    ("text", "recipients", "rows"),
    crossed([SIZE, STATISTICS, SHARES, NOISY], [{ALICE}, BOTH], [0, 1, 70]),
)
def test_the_estimate_is_what_a_run_sends(text, recipients, rows):
    recipients = BOTH if text == SHARES else frozenset(recipients)
    alice, bob = run(
        text, side(range(rows)), side(range(rows)), recipients, program=lambda s: s.channel.traffic
    )
    schemas = {"id": ID, "amount": AMOUNT, "age": AGE}
    estimate = estimate_cost(parsed(text), schemas, recipients, RunSetting((rows, rows)))
    assert (alice.sent, bob.sent) == (estimate.alice_bytes, estimate.bob_bytes)
    assert max(alice.rounds, bob.rounds) == estimate.rounds


def test_a_false_member_would_be_seen(monkeypatch):
    """The checks above look at what comes out: they fail if equality is not tested."""
    honest = ObliviousEngine.equal

    def equal(self, values, bits, *, holds_x):
        return honest(self, values, bits, holds_x=holds_x) ^ np.uint8(holds_x)

    monkeypatch.setattr(ObliviousEngine, "equal", equal)
    with pytest.raises(Exception):  # noqa: B017 - a wrong figure or one outside its bounds
        check_twin(SIZE, side(range(1, 90)), side(range(60, 300)))

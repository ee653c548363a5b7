"""Preparation, and comparisons out of what it prepared, in one process with stores in memory."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import pytest

from smc.analyses.comparison.study import COMPARISON
from smc.analyses.disclosure.limits import NO_LIMITS
from smc.analyses.preparation import MAX_COMPARISONS, PREPARATION
from smc.analyses.studies.columns import Column, Schema
from smc.analyses.studies.outcome import Outcome
from smc.analyses.studies.runner import run_study
from smc.analyses.studies.setting import RunSetting
from smc.channel.vectors import ByteRows, ExpectedByteRows
from smc.errors import ProtocolViolation, UsageError
from smc.forms import ComparisonType, Role
from smc.oblivious.pool import Pool, PoolInfo
from smc.pair import run_pair
from smc.planning.pools import need_of
from smc.planning.route import plan_comparison
from smc.protocols.pools import OFFERS, PoolOffer, PoolTaken, take_pool
from smc.protocols.spec import Parameters
from tests.support.grids import crossed
from tests.support.holdings import Keys
from tests.support.keys import toy

KEYS: Keys = (toy(Role.ALICE), toy(Role.BOB))
INTEGER = Schema("integer", lower=0, upper=255)
X = [(7 * i) % 256 for i in range(100)]
Y = [(11 * i + 3) % 256 for i in range(100)]
EVERYONE = frozenset(Role)


@dataclass
class Memory:
    """A store in memory."""

    kept: dict[bytes, tuple[PoolInfo, bytes]] = field(default_factory=dict)
    taken: list[bytes] = field(default_factory=list)

    def put(self, stored: PoolInfo, data: bytes) -> None:
        self.kept[stored.name] = (stored, data)

    def pools(self) -> Sequence[PoolInfo]:
        return [stored for stored, _ in self.kept.values()]

    def take(self, name: bytes) -> bytes | None:
        self.taken.append(name)
        return self.kept.pop(name, (None, None))[1]


Stores = tuple[Memory | None, Memory | None]


def both(analysis: Any, parameters: Mapping[str, Any], stores: Stores, data=({}, {}), recipients=EVERYONE):
    """Outcomes and traffic of both sides."""
    parsed = analysis.parse(parameters)

    def side(index: int):
        def go(session):
            session.precomputed = stores[index]
            outcome = run_study(parsed, session, data[index], recipients, NO_LIMITS.of_both)
            return outcome, session.channel.traffic

        return go

    return run_pair(side(0), side(1), keys=KEYS)


def prepare(stores: Stores, count: int = 128, **parameters: Any) -> tuple[Outcome, Outcome]:
    (alice, _), (bob, _) = both(PREPARATION, {"count": count, "bits": 8, **parameters}, stores)
    return alice, bob


def compare(stores: Stores, **parameters: Any):
    given = {"type": "PN-NP-PP", "bits": 8, "engine": "oblivious", "pool": True, **parameters}
    sides = [{"x": Column(X, INTEGER)}, {"y": Column(Y, INTEGER)}]
    if given["type"].startswith("NP"):
        sides = [{"y": Column(Y, INTEGER)}, {"x": Column(X, INTEGER)}]
    (alice, told), (bob, heard) = both(COMPARISON, given, stores, sides)
    expected = [int(a >= b) for a, b in zip(X, Y, strict=True)]
    assert alice.tables[0].columns["delta"] == expected
    assert bob.tables[0].columns["delta"] == expected
    assert alice.notes == bob.notes
    return alice.notes[-1], (told.sent, heard.sent, max(told.rounds, heard.rounds))


@pytest.mark.parametrize("x_at", ["alice", "bob"])
def test_a_preparation_costs_what_it_says(x_at: str) -> None:
    stores = Memory(), Memory()
    given = {"count": 100, "bits": 12, "x_at": x_at}
    (alice, told), (bob, heard) = both(PREPARATION, given, stores)
    estimate = PREPARATION.parse(given).cost({}, EVERYONE, RunSetting((1, 1)))
    assert (told.sent, heard.sent) == (estimate.alice_bytes, estimate.bob_bytes)
    assert max(told.rounds, heard.rounds) == estimate.rounds
    assert alice == bob
    assert not alice.tables
    assert alice.details["comparisons"] == 128
    (one,), (two,) = (store.pools() for store in stores)
    assert (one.name, one.comparisons, one.bits) == (two.name, two.comparisons, two.bits)
    assert one.holds_x is (x_at == "alice")
    assert two.holds_x is not one.holds_x


def test_a_pool_is_used_once_and_the_results_are_right() -> None:
    stores = Memory(), Memory()
    prepare(stores)
    note, (alice_bytes, bob_bytes, _) = compare(stores)
    assert note.startswith("A pool was used: 128")
    assert not stores[0].kept
    assert not stores[1].kept
    again, (alice_without, bob_without, rounds) = compare(stores)
    assert again.startswith("No pool was used")
    assert alice_bytes < alice_without
    assert bob_bytes < bob_without
    parsed = COMPARISON.parse({"type": "PN-NP-PP", "bits": 8, "engine": "oblivious", "pool": True})
    estimate = parsed.cost({}, EVERYONE, RunSetting((len(X), len(X)), key_bits=KEYS[0].public.bits))
    assert (alice_without, bob_without, rounds) == (
        estimate.alice_bytes,
        estimate.bob_bytes,
        estimate.rounds,
    )


@pytest.mark.parametrize(
    ("side", "engine"), crossed([("PN-NP-PP", "alice"), ("NP-PN-PP", "bob")], ["auto", "oblivious"])
)
def test_either_side_may_hold_x(side: tuple[str, str], engine: str) -> None:
    kind, x_at = side
    stores = Memory(), Memory()
    prepare(stores, x_at="bob" if x_at == "alice" else "alice")
    assert compare(stores, type=kind, engine=engine)[0].startswith("No pool was used")
    prepare(stores, x_at=x_at)
    assert compare(stores, type=kind, engine=engine)[0].startswith("A pool was used")
    assert len(stores[0].kept) == 1


def test_the_smallest_pool_that_is_large_enough_is_taken() -> None:
    stores = Memory(), Memory()
    for count in (64, 256, 192):
        prepare(stores, count)
    prepare(stores, 128, bits=12)
    note = compare(stores)[0]
    assert "64 that were left are gone" in note
    assert sorted(stored.comparisons for stored in stores[0].pools()) == [64, 128, 256]


@pytest.mark.parametrize("loser", [0, 1])
def test_a_pool_that_one_side_lost_is_passed_over(loser: int) -> None:
    stores = Memory(), Memory()
    prepare(stores, 128)
    stores[loser].kept.clear()
    assert compare(stores)[0].startswith("No pool was used")
    assert not stores[0].taken
    prepare(stores, 192)
    assert compare(stores)[0].startswith("A pool was used")


@pytest.mark.parametrize("loser", [0, 1])
def test_a_pool_that_one_side_cannot_take_is_lost(loser: int) -> None:
    class Forgetful(Memory):
        def take(self, name: bytes) -> bytes | None:
            super().take(name)
            return None

    stores: list[Memory] = [Memory(), Memory()]
    stores[loser] = Forgetful()
    prepare((stores[0], stores[1]))
    assert compare((stores[0], stores[1]))[0].startswith("No pool was used")
    assert not stores[0].kept
    assert not stores[1].kept


@pytest.mark.parametrize("stores", [(None, None), (Memory(), None)])
def test_without_shelves_it_runs_without(stores: Stores) -> None:
    assert compare(stores)[0].startswith("No pool was used")


def test_without_shelves_nothing_is_prepared() -> None:
    with pytest.raises(UsageError, match="keeps no pools"):
        prepare((None, None))


def test_the_batches_of_a_long_run_all_fit() -> None:
    kind = ComparisonType.parse("PN-NP-PP")
    plan = plan_comparison(kind, Parameters(1, 128, 2048, 2048), engine="oblivious")
    size = plan.chunk(Parameters(1, 128, 2048, 2048))
    need = need_of(plan, Parameters(2 * size + 1, 128, 2048, 2048))
    assert need is not None
    assert need.comparisons == 2 * 64 * -(-size // 64) + 64


def test_shared_values_name_the_bits_that_are_compared_inside() -> None:
    given = Parameters(10, 16, 2048, 2048)
    plan = plan_comparison(
        ComparisonType.parse("SS-SS-PP"), given, engine="oblivious", x_modulus=1 << 64, y_modulus=1 << 64
    )
    need = need_of(plan, given)
    assert need is not None
    stores = Memory(), Memory()
    x_at = need.x_at.value
    prepare(stores, need.comparisons, bits=need.bits, x_at=x_at)
    schema = Schema("share", modulus=str(1 << 64))
    columns = [
        {"x": Column([5] * 10, schema), "y": Column([2**64 - 1] * 10, schema)},
        {"x": Column([7] * 10, schema), "y": Column(list(range(9, 19)), schema)},
    ]
    parameters = {"type": "SS-SS-PP", "bits": 16, "engine": "oblivious", "pool": True}
    (alice, _), _ = both(COMPARISON, parameters, stores, columns)
    assert alice.tables[0].columns["delta"] == [int(v <= 12) for v in range(8, 18)]
    assert alice.notes[-1].startswith("A pool was used")


def test_other_routes_say_so() -> None:
    stores = Memory(), Memory()
    parameters = {"type": "PP-NP-PP", "bits": 8, "engine": "auto", "pool": True, "x": 9}
    plan = plan_comparison(ComparisonType.parse("PP-NP-PP"), Parameters(1, 8, 2048, 2048), engine="auto")
    (alice, _), _ = both(COMPARISON, parameters, stores, [{}, {"y": Column([8, 10], INTEGER)}])
    assert alice.tables[0].columns["delta"] == [1, 0]
    assert (need_of(plan, Parameters(2, 8, 2048, 2048)) is None) == ("takes none" in alice.notes[-1])


def test_a_word_that_is_neither_yes_nor_no_is_refused() -> None:
    store = Memory()
    stored = PoolInfo(bytes(range(32)), 64, 8, True)
    store.put(stored, Pool(stored.name, 8, True, [np.zeros((4, 1), np.uint64)] * 6).export())

    def alice(session) -> None:
        session.precomputed = store
        take_pool(session, 64, 8, holds_x=True)

    def bob(session) -> None:
        offers = session.channel.recv(PoolOffer, ExpectedByteRows(OFFERS, 32))
        session.channel.send(PoolOffer(ByteRows(offers)))
        session.channel.send(PoolTaken(ByteRows(np.array([[2]], np.uint8))))
        session.channel.recv(PoolTaken, ExpectedByteRows(1, 1))

    store.take = lambda name: None  # type: ignore[method-assign]
    with pytest.raises(ProtocolViolation, match="neither yes nor no"):
        run_pair(alice, bob)


def test_names_that_the_own_side_did_not_offer_are_not_taken() -> None:
    store = Memory()

    def alice(session) -> None:
        session.precomputed = store
        assert take_pool(session, 64, 8, holds_x=True) is None

    def bob(session) -> None:
        session.channel.recv(PoolOffer, ExpectedByteRows(OFFERS, 32))
        session.channel.send(PoolOffer(ByteRows(np.arange(256, dtype=np.uint8).reshape(OFFERS, 32))))

    run_pair(alice, bob)
    assert not store.taken


@pytest.mark.parametrize(
    ("parameters", "message"),
    [
        ({}, "lacks the key 'count'"),
        ({"count": 0}, "out of range"),
        ({"count": MAX_COMPARISONS + 1}, "out of range"),
        ({"count": True}, "expected a whole number"),
        ({"count": 5, "bits": 0}, "out of range"),
        ({"count": 5, "bits": 131}, "out of range"),
        ({"count": 5, "x_at": "carol"}, "neither alice nor bob"),
        ({"count": 5, "type": "type 5"}, "unknown key"),
    ],
)
def test_wrong_parameters(parameters: dict[str, Any], message: str) -> None:
    with pytest.raises(UsageError, match=message):
        PREPARATION.parse(parameters)


def test_wrong_columns_recipients_and_engines() -> None:
    parsed = PREPARATION.parse({"count": 5})
    with pytest.raises(UsageError, match="no columns"):
        parsed.check({"x": INTEGER}, {})
    with pytest.raises(UsageError, match="its half"):
        parsed.check_recipients(frozenset({Role.ALICE}))
    with pytest.raises(UsageError, match="uses no pools"):
        COMPARISON.parse({"type": "type 5", "engine": "paillier", "pool": True})
    with pytest.raises(UsageError, match="true or false"):
        COMPARISON.parse({"type": "type 5", "engine": "auto", "pool": 1})


def test_what_is_said_about_it() -> None:
    parsed = PREPARATION.parse({"count": 5})
    leakage = parsed.leakage(EVERYONE)
    assert (leakage.alice, leakage.bob) == ((), ())
    assert "32 bits" in leakage.public[0]
    assert not parsed.facts(frozenset(Role)).loss
    assert parsed.columns[Role.ALICE] == ()
    assert not any(outcome.tables for outcome in parsed.reference({}, {}, EVERYONE))

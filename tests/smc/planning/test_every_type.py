"""All 216 types between two parties: right results, and exactly the declared rounds, bytes and operations.

By default those types run that take every step of every engine; the others with `--slow`.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

import pytest

from smc.channel.channel import Traffic
from smc.forms import ComparisonType, Form, Role, all_types
from smc.moduli import Modulus
from smc.network import Network
from smc.pair import run_pair
from smc.planning.cost import agreed_seconds
from smc.planning.plan import Plan
from smc.planning.route import plan_comparison
from smc.planning.run import Prepared, prepare
from smc.protocols.session import Session
from smc.protocols.spec import Parameters
from smc.values import Value
from tests.support.grids import TYPES, crossed, grid
from tests.support.holdings import Keys, deal, edge_pairs, opened
from tests.support.keys import dgk, paper, real, toy

TOY = (toy(Role.ALICE), toy(Role.BOB))
DGK = (dgk(Role.ALICE), dgk(Role.BOB))


def set_up(session: Session, plan: Plan) -> Prepared:
    """Do what the first comparison of a session does besides, and check what it cost."""
    if plan.engine == "dgk":
        session.dgk_key = DGK[session.role is Role.BOB]
    ready = prepare(plan, session)
    traffic = session.channel.traffic
    sent = (plan.setup.alice_bytes, plan.setup.bob_bytes)
    own, other = sent if session.role is Role.ALICE else sent[::-1]
    assert (traffic.sent, traffic.received, traffic.rounds) == (own, other, plan.setup.rounds)
    return ready


def work(session: Session, plan: Plan) -> Counter[str]:
    """The operations that all ciphers of a session have counted."""
    done = session.own.operations + session.peer.operations
    if plan.engine == "elgamal":
        done += session.elgamal.own.operations + session.elgamal.peer.operations
    if plan.engine == "dgk":
        done += session.dgk.own.operations + session.dgk.peer.operations
    return done


def compare(
    kind: ComparisonType,
    pairs: Sequence[tuple[int, int]],
    bits: int,
    keys: Keys = TOY,
    *,
    engine: str = "paillier",
    modulus: Modulus = Role.ALICE,
    y_modulus: Modulus | None = None,
    delta_modulus: Modulus = 2,
) -> tuple[list[int], Plan]:
    """Run a type on pairs and check what it cost; returns the opened results and the plan."""
    given = Parameters(len(pairs), bits, keys[0].public.bits, keys[1].public.bits)
    y_modulus = y_modulus or modulus
    plan = plan_comparison(
        kind, given, engine=engine, x_modulus=modulus, y_modulus=y_modulus, delta_modulus=delta_modulus
    )
    x = deal([a for a, _ in pairs], kind.x, keys, modulus, bits if kind.bitwise else None)
    y = deal([b for _, b in pairs], kind.y, keys, y_modulus)

    def party(index: int):
        def run(session: Session) -> tuple[Value, Traffic, Counter[str]]:
            ready = set_up(session, plan)
            before = session.channel.traffic
            delta = ready.run(x[index], y[index])
            return delta, session.channel.traffic.since(before), work(session, plan)

        return run

    (a, traffic_a, work_a), (b, traffic_b, work_b) = run_pair(party(0), party(1), keys=keys)
    cost = plan.cost(given)
    assert (traffic_a.sent, traffic_b.sent) == (cost.alice_bytes, cost.bob_bytes)
    assert (traffic_a.received, traffic_b.received) == (cost.bob_bytes, cost.alice_bytes)
    assert max(traffic_a.rounds, traffic_b.rounds) == cost.rounds
    assert work_a == Counter({k: v for k, v in cost.alice_operations.items() if k[:2] != "ot"})
    assert work_b == Counter({k: v for k, v in cost.bob_operations.items() if k[:2] != "ot"})
    return opened(kind.delta, a, b, keys, delta_modulus), plan


def expected(pairs: Sequence[tuple[int, int]]) -> list[int]:
    return [int(a >= b) for a, b in pairs]


WAYS: dict[str, tuple[int, int, Modulus]] = {
    "paillier": (5, 25, Role.ALICE),
    "oblivious": (9, 25, 1 << 64),
    "silent": (9, 25, 1 << 64),
    "elgamal": (5, 9, 1 << 16),
    "dgk": (5, 9, 1 << 16),
}
"""For each engine the bits, how many pairs, and the modulus of shares that go in."""


def share_modulus(kind: ComparisonType, engine: str) -> Modulus:
    return WAYS[engine][2] if Form.SS in (kind.x, kind.y) else Role.ALICE


@pytest.mark.parametrize("engine", WAYS)
@pytest.mark.parametrize("kind", grid(all_types(), TYPES), ids=str)
def test_type_on_edge_values(kind: ComparisonType, engine: str) -> None:
    bits, count, _ = WAYS[engine]
    pairs = edge_pairs(bits)[:count]
    results, plan = compare(kind, pairs, bits, engine=engine, modulus=share_modulus(kind, engine))
    assert results == expected(pairs)
    assert plan.engine == ("none" if kind.is_trivial else engine)
    if not kind.is_trivial:
        assert plan.cost(Parameters(1, bits, 512, 512)).rounds >= 2


@pytest.mark.parametrize("engine", WAYS)
def test_a_selection_of_types_takes_every_step(engine: str) -> None:
    """What runs by default leaves no protocol out, in either orientation, that any of the types needs."""
    bits, count, _ = WAYS[engine]
    steps = {}
    for kind in all_types():
        modulus = share_modulus(kind, engine)
        given = Parameters(min(count, len(edge_pairs(bits))), bits, 512, 512)
        plan = plan_comparison(kind, given, engine=engine, x_modulus=modulus, y_modulus=modulus)
        steps[kind] = {(step.name, step.mirrored) for step in plan.steps()}
    assert set().union(*(steps[kind] for kind in TYPES)) == set().union(*steps.values())
    for place in ("x", "y", "delta"):
        assert {getattr(kind, place) for kind in TYPES} == set(Form)


@pytest.mark.parametrize("engine", ["elgamal", "dgk"])
@pytest.mark.parametrize("bits", grid([1, 2, 33, 64, 128], [1, 33, 128]))
@pytest.mark.parametrize("name", ["PN-NP-SS", "NP-PN-NP", "ES-NP-SE"])
def test_widths_with_the_engines_on_other_ciphers(name: str, bits: int, engine: str) -> None:
    pairs = edge_pairs(bits)[: 9 if bits < 128 else 4]
    assert compare(ComparisonType.parse(name), pairs, bits, engine=engine)[0] == expected(pairs)


@pytest.mark.parametrize(
    ("bits", "name"), crossed([1, 2, 3, 31, 32, 64, 127, 128], ["SS-SS-SS", "PN-NP-NP", "ES-NP-SE"])
)
def test_widths(name: str, bits: int) -> None:
    pairs = edge_pairs(bits) if bits > 2 else [(a, b) for a in range(1 << bits) for b in range(1 << bits)]
    assert compare(ComparisonType.parse(name), pairs, bits)[0] == expected(pairs)


@pytest.mark.parametrize(
    "modulus",
    grid([1 << 10, 1 << 64, 1 << 256, 1025, 3**40, Role.ALICE, Role.BOB], [1 << 256, 1025, Role.BOB]),
    ids=str,
)
@pytest.mark.parametrize("engine", ["paillier", "oblivious"])
@pytest.mark.parametrize(
    "name", grid(["SS-SS-SS", "SS-NP-PN", "SE-SS-ES", "PP-SS-PP"], ["SS-SS-SS", "SE-SS-ES"])
)
def test_share_moduli(name: str, engine: str, modulus: Modulus) -> None:
    pairs = edge_pairs(8)
    if engine == "paillier":
        pairs = pairs[:6]
    results, _ = compare(ComparisonType.parse(name), pairs, 8, engine=engine, modulus=modulus)
    assert results == expected(pairs)


@pytest.mark.parametrize(
    "delta_modulus",
    grid(
        [2, 3, 1 << 32, 1 << 64, 10**9 + 7, 1 << 256, Role.ALICE, Role.BOB], [3, 1 << 64, 1 << 256, Role.BOB]
    ),
    ids=str,
)
@pytest.mark.parametrize("engine", ["paillier", "oblivious", "elgamal"])
@pytest.mark.parametrize(
    "name", grid(["SS-SS-SS", "PN-NP-SS", "PN-PP-SS", "ES-SE-SS"], ["SS-SS-SS", "PN-PP-SS"])
)
def test_share_moduli_of_the_result(name: str, engine: str, delta_modulus: Modulus) -> None:
    pairs = edge_pairs(4)
    results, _ = compare(ComparisonType.parse(name), pairs, 4, engine=engine, delta_modulus=delta_modulus)
    assert results == expected(pairs)


@pytest.mark.parametrize("delta_modulus", [1 << 64, 10**9 + 7], ids=str)
@pytest.mark.parametrize("engine", ["oblivious", "silent"])
@pytest.mark.parametrize("name", ["PN-NP-SS", "NP-PN-SS"])
def test_shares_of_the_result_come_by_oblivious_transfer(
    name: str, engine: str, delta_modulus: Modulus
) -> None:
    pairs = edge_pairs(4)
    results, plan = compare(ComparisonType.parse(name), pairs, 4, engine=engine, delta_modulus=delta_modulus)
    assert results == expected(pairs)
    assert [step.name for step in plan.delta_steps] == ["bit-to-shared"]
    both = ["transfers"] if engine == "oblivious" else ["transfers", "silent-transfers"]
    assert [setup.name for setup in plan.setups] == both


@pytest.mark.parametrize("name", ["type 8", "ES[bits]-NP-PP"])
def test_bitwise_encrypted_input(name: str) -> None:
    pairs = edge_pairs(6)
    assert compare(ComparisonType.parse(name), pairs, 6)[0] == expected(pairs)


@pytest.mark.parametrize("name", ["type 1", "type 2", "type 4", "type 5", "ES-PN-PP"])
def test_different_key_sizes(name: str) -> None:
    pairs = edge_pairs(5)
    keys = (paper(Role.ALICE), toy(Role.BOB))
    assert compare(ComparisonType.parse(name), pairs, 5, keys)[0] == expected(pairs)


def test_type_1_in_the_thesis_route_with_a_real_key() -> None:
    keys = (real(Role.ALICE), real(Role.BOB))
    pairs = [(5, 6), (2**32 - 1, 0)]
    results, plan = compare(ComparisonType.parse("type 1"), pairs, 32, keys)
    assert results == expected(pairs)
    assert plan.cost(Parameters(2, 32, 2048, 2048)).rounds <= 6
    assert plan.route == (
        "x: shared-to-encrypted; y: shared-to-encrypted; encrypted [tree; delta: bit-to-encrypted]; "
        "delta: encrypted-to-shared"
    )


@pytest.mark.parametrize("engine", ["paillier", "oblivious"])
@pytest.mark.parametrize("count", [1, 7, 200])
def test_batches(engine: str, count: int) -> None:
    pairs = [(i * 37 % 64, i * 11 % 64) for i in range(count)]
    results, _ = compare(ComparisonType.parse("SS-SS-SS"), pairs, 6, engine=engine)
    assert results == expected(pairs)


def test_auto_takes_no_ciphers_where_round_trips_cost_more_than_powers() -> None:
    kind, given, far = ComparisonType.parse("PN-NP-SS"), Parameters(1, 32, 2048, 2048), Network(100, 100)
    by_name, auto = (plan_comparison(kind, given, engine=name, network=far) for name in ("elgamal", "auto"))
    seconds = [agreed_seconds(plan.cost(given) + plan.setup, given, far) for plan in (by_name, auto)]
    assert seconds[0] < seconds[1]
    assert auto.engine == "oblivious"


@pytest.mark.parametrize("engine", ["elgamal", "dgk"])
@pytest.mark.parametrize("modulus", [1 << 249, 1 << 256])
def test_shares_modulo_2_to_the_256_on_other_ciphers(engine: str, modulus: int) -> None:
    """255 bits inside are too many for ElGamal's plaintexts, but shares can be converted to fewer first."""
    kind, pairs = ComparisonType.parse("SS-SS-SS"), edge_pairs(8)[:4]
    results, plan = compare(kind, pairs, 8, engine=engine, modulus=modulus)
    assert results == expected(pairs)
    assert plan.engine == engine


def test_chunks(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(Plan, "chunk", lambda self, parameters: 7)
    pairs = [(i % 8, i * 3 % 8) for i in range(24)]
    for name in ("SS-SS-SS", "ES-NP-SE", "PN-NP-PP", "type 8"):
        assert compare(ComparisonType.parse(name), pairs, 3)[0] == expected(pairs)

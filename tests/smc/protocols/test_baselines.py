"""The protocols of the literature: right, at exactly the declared cost, and never chosen by the planner."""

from __future__ import annotations

from collections import Counter
from types import ModuleType

import pytest

from smc.errors import KeyMaterialError, ProtocolViolation
from smc.forms import ComparisonType, Role, all_types
from smc.moduli import Modulus
from smc.network import Network
from smc.numeric.random import Randomness
from smc.pair import run_pair
from smc.planning.registry import BASELINES, COMPARISONS, ENGINES
from smc.planning.route import plan_comparison
from smc.protocols.baselines import bunn_ostrovsky, gentry, veugen
from smc.protocols.session import Session
from smc.protocols.spec import Parameters, Spec
from smc.values import Nothing, Plain, Value
from tests.architecture.test_docstrings import missing_sections
from tests.smc.planning.test_every_type import compare, expected
from tests.support.grids import grid
from tests.support.holdings import edge_pairs, opened
from tests.support.keys import paper, toy
from tests.support.seeds import seeded

MODULES = (bunn_ostrovsky, gentry, veugen)
SPECS = tuple(module.SPEC for module in MODULES)
ENGINE_NAMES = [spec.engine.name for spec in SPECS]
KEYS = (toy(Role.ALICE), toy(Role.BOB))


def run(spec: Spec, pairs: list[tuple[int, int]], bits: int) -> tuple[list[int], Value, Value]:
    """Run the protocol itself, without a plan, and check its cost."""
    given = Parameters(len(pairs), bits, KEYS[0].public.bits, KEYS[1].public.bits)

    def alice(session: Session):
        x = Plain([a for a, _ in pairs])
        delta = spec.alice(session, given, x, Nothing(len(pairs)))
        return delta, session.channel.traffic, session.own.operations + session.peer.operations

    def bob(session: Session):
        y = Plain([b for _, b in pairs])
        delta = spec.bob(session, given, Nothing(len(pairs)), y)
        return delta, session.channel.traffic, session.own.operations + session.peer.operations

    (a, traffic_a, work_a), (b, traffic_b, work_b) = run_pair(alice, bob, keys=KEYS)
    cost = spec.cost(given)
    assert (traffic_a.sent, traffic_b.sent) == (cost.alice_bytes, cost.bob_bytes)
    assert max(traffic_a.rounds, traffic_b.rounds) == cost.rounds
    assert work_a == Counter(cost.alice_operations)
    assert work_b == Counter(cost.bob_operations)
    return opened(spec.output, a, b, KEYS, 2), a, b


@pytest.mark.parametrize("spec", SPECS, ids=lambda s: s.name)
@pytest.mark.parametrize("bits", grid([1, 2, 3, 4], [1, 2, 3]))
def test_all_pairs_of_few_bits(spec: Spec, bits: int) -> None:
    pairs = [(a, b) for a in range(1 << bits) for b in range(1 << bits)]
    assert run(spec, pairs, bits)[0] == expected(pairs)


@pytest.mark.parametrize("spec", SPECS, ids=lambda s: s.name)
@pytest.mark.parametrize("bits", grid([5, 14, 42, 43, 64, 128], [5, 128]))
def test_edge_values(spec: Spec, bits: int) -> None:
    pairs = edge_pairs(bits)[: 3 if bits > 42 else None]
    pairs += [(1 << bits - 1, (1 << bits - 1) - 1), ((1 << bits - 1) - 1, 1 << bits - 1)]
    assert run(spec, pairs, bits)[0] == expected(pairs)


@pytest.mark.parametrize("engine", ENGINE_NAMES)
@pytest.mark.parametrize(
    "name", ["type 1", "type 2", "type 3", "type 4", "type 5", "type 6", "type 7", "type 8"]
)
def test_named_types(engine: str, name: str) -> None:
    pairs = edge_pairs(4)[:8]
    results, plan = compare(ComparisonType.parse(name), pairs, 4, engine=engine)
    assert results == expected(pairs)
    assert plan.engine == engine


@pytest.mark.parametrize("engine", ENGINE_NAMES)
def test_every_type_has_a_route(engine: str) -> None:
    for kind in all_types():
        plan = plan_comparison(kind, Parameters(1, 32, 2048, 2048), engine=engine)
        assert plan.engine == ("none" if kind.is_trivial else engine), kind


@pytest.mark.slow
@pytest.mark.parametrize("engine", ENGINE_NAMES)
@pytest.mark.parametrize("kind", [k for k in all_types() if not k.is_trivial], ids=str)
def test_every_type_on_edge_values(engine: str, kind: ComparisonType) -> None:
    pairs = edge_pairs(3)[:9]
    assert compare(kind, pairs, 3, engine=engine)[0] == expected(pairs)


@pytest.mark.parametrize("engine", ENGINE_NAMES)
@pytest.mark.parametrize("modulus", [1 << 16, 1025, Role.BOB], ids=str)
def test_share_moduli(engine: str, modulus: Modulus) -> None:
    pairs = edge_pairs(6)[:4]
    results, _ = compare(ComparisonType.parse("type 1"), pairs, 6, engine=engine, modulus=modulus)
    assert results == expected(pairs)


@pytest.mark.parametrize("engine", ENGINE_NAMES)
def test_different_keys(engine: str) -> None:
    pairs = edge_pairs(5)[:4]
    keys = (paper(Role.ALICE), toy(Role.BOB))
    for name in ("type 1", "ES-ES-ES"):
        modulus = Role.ALICE if name == "type 1" else Role.BOB
        results, _ = compare(ComparisonType.parse(name), pairs, 5, keys, engine=engine, modulus=modulus)
        assert results == expected(pairs)


def test_type_1_follows_the_thesis() -> None:
    given = Parameters(1, 32, 1024, 1024)
    for spec, delta in zip(SPECS, ("", "", "; delta: bit-to-encrypted"), strict=True):
        plan = plan_comparison(ComparisonType.parse("type 1"), given, engine=spec.engine.name)
        assert plan.route == (
            f"x: shared-to-encrypted; y: shared-to-encrypted; encrypted [{spec.name}{delta}]; "
            "delta: encrypted-to-shared"
        )


@pytest.mark.parametrize("kind", grid(list(all_types())[::5], list(all_types())[::40]), ids=str)
@pytest.mark.parametrize("network", [Network(0.1, 10_000), Network(500, 1)], ids=str)
def test_the_planner_never_chooses_them(kind: ComparisonType, network: Network) -> None:
    for count, bits in ((1, 1), (1, 100), (100_000, 8)):
        given = Parameters(count, bits, 2048, 2048)
        assert plan_comparison(kind, given, engine="auto", network=network).engine not in BASELINES
        assert plan_comparison(kind, given, network=network).engine not in BASELINES


def test_they_are_engines() -> None:
    assert set(ENGINE_NAMES) == BASELINES
    assert set(ENGINES) >= BASELINES
    assert set(SPECS) <= set(COMPARISONS)


@pytest.mark.parametrize(
    ("bits", "rounds"), [(1, 1), (2, 2), (3, 3), (5, 3), (42, 3), (43, 4), (100, 4), (128, 4)]
)
def test_reductions_of_the_test_for_zero(bits: int, rounds: int) -> None:
    steps = gentry.reductions(bits)
    assert len(steps) == rounds
    assert steps[0].top == 3 * bits - 1
    assert [step.last for step in steps] == [False] * (rounds - 1) + [True]


@pytest.mark.parametrize("top", [1, 2, 3, 5, 14, 95])
def test_zero_test_of_every_number(top: int) -> None:
    bits = -(-(top + 1) // 3)
    values = list(range(top + 1)) * 3

    def alice(session: Session) -> None:
        for step in gentry.reductions(bits):
            gentry.answer(session, step, len(values))

    def bob(session: Session):
        numbers = session.peer.encrypt(values)
        for step in gentry.reductions(bits):
            numbers = gentry.ask(session, step, numbers)
        return numbers

    _, numbers = run_pair(alice, bob, keys=KEYS)
    with_key = run_pair(lambda s: s.own.decrypt(numbers), lambda s: None, keys=KEYS)[0]
    assert with_key == [int(value == 0) for value in values]


def test_a_key_too_small_for_the_masks() -> None:
    tiny = toy(Role.ALICE)

    def bob(session: Session) -> None:
        step = gentry.Reduction(int(tiny.public.n) - 1, 3, last=True)
        with pytest.raises(KeyMaterialError, match="too small"):
            gentry.ask(session, step, session.peer.encrypt([0]))

    run_pair(lambda s: None, bob, keys=(tiny, toy(Role.BOB)))


def test_veugen_refuses_two_zeros() -> None:
    given = Parameters(1, 4, 512, 512)

    def alice(session: Session) -> None:
        with pytest.raises(ProtocolViolation, match="two different bits"):
            veugen.alice(session, given, Plain([3]), Nothing(1))

    def bob(session: Session) -> None:
        session.channel.recv(veugen.VeugenBits, session.peer.expect(4))
        session.channel.send(veugen.VeugenTests(session.peer.encrypt([0, 5, 0, 7, 9])))

    run_pair(alice, bob, keys=KEYS)


@pytest.mark.parametrize("pair", [(2, 5), (5, 5), (5, 2)])
def test_shares_of_veugen_are_fair_coins(pair: tuple[int, int]) -> None:
    """200 fair coins stay within 40 of 100, but for one run in 10**7."""
    _, alice, bob = run(veugen.SPEC, [pair] * 200, 3)
    assert abs(sum(alice.values) - 100) < 40
    assert abs(sum(bob.values) - 100) < 40


class Watched(Randomness):
    """Keeps what was drawn below a bound."""

    def __init__(self) -> None:
        super().__init__()
        self.drawn: list[tuple[int, int]] = []

    def below(self, bound: int, count: int) -> list[int]:
        values = super().below(bound, count)
        self.drawn += [(bound, value) for value in values]
        return values


def test_what_alice_opens_in_bo07_is_masked_by_bob() -> None:
    """The products that she decrypts are what they should be less draws of Bob's, uniform and used once."""
    modulus = int(KEYS[0].public.n)
    watched = Watched()
    seen: list[int] = []
    given = Parameters(3, 5, 512, 512)
    xs, ys = [3, 9, 31], [4, 9, 0]

    def alice(session: Session) -> None:
        decrypt = session.own.decrypt
        session.own.decrypt = lambda a: seen.extend(opened := decrypt(a)) or opened
        bunn_ostrovsky.alice(session, given, Plain(xs), Nothing(3))

    def bob(session: Session) -> None:
        bunn_ostrovsky.bob(session, given, Nothing(3), Plain(ys))

    run_pair(alice, bob, keys=KEYS, randomness=(seeded(), watched))
    draws = [value for bound, value in watched.drawn if bound == modulus]
    products = [x >> i & y >> i & 1 for i in range(5) for x, y in zip(xs, ys, strict=True)]
    assert [(s + d) % modulus for s, d in zip(seen, draws, strict=False)][:15] == products
    assert len(seen) == 3 * (2 * 5 - 1)
    assert len(set(draws)) == len(draws)
    assert min(seen) > modulus >> 64


@pytest.mark.parametrize("spec", SPECS, ids=lambda s: s.name)
def test_work_does_not_depend_on_the_values(spec: Spec) -> None:
    for pairs in ([(0, 0), (0, 0)], [(7, 0), (0, 7)], [(7, 7), (5, 2)]):
        run(spec, pairs, 3)  # compares bytes, rounds and operations with what is declared


@pytest.mark.parametrize("module", MODULES, ids=lambda m: m.__name__)
def test_docstrings(module: ModuleType) -> None:
    docstring = module.__doc__ or ""
    assert missing_sections(docstring) == []
    assert "was not at hand" in " ".join(docstring.split())

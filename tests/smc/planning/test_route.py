from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import replace
from functools import cache

import pytest
from hypothesis import given
from hypothesis import strategies as st

from smc.errors import DomainError, NoRouteError, UsageError
from smc.forms import ComparisonType, Form, Role, all_types
from smc.network import LAN, LOOPBACK, Network
from smc.planning import cost
from smc.planning.plan import Plan, Step, Transferred
from smc.planning.registry import COMPARISONS, CONVERSIONS, ENGINES
from smc.planning.route import plan_comparison
from smc.protocols.flights import ONCE, Flight, Flights
from smc.protocols.spec import Cost, Parameters

GIVEN = Parameters(1, 32, 2048, 2048)


def opened_by(step: Step) -> set[Role]:
    return {role.other if step.mirrored else role for role in step.spec.opens}


@cache
def routes(engine: str) -> dict[ComparisonType, Plan]:
    """The plan of each of the 216 types."""
    return {kind: plan_comparison(kind, GIVEN, engine=engine) for kind in all_types()}


@pytest.mark.parametrize("engine", ["paillier", "oblivious", "elgamal", "dgk", "auto"])
def test_no_route_shows_more_than_the_forms_do(engine: str) -> None:
    for kind, whole in routes(engine).items():
        plan = whole
        assert all(opened_by(step) <= kind.x.sees for step in plan.x_steps), kind
        assert all(opened_by(step) <= kind.y.sees for step in plan.y_steps), kind
        assert all(opened_by(step) <= kind.delta.sees for step in (plan.comparison, *plan.delta_steps)), kind
        while plan.inner is not None:
            plan = plan.inner
            assert not any(step.spec.opens for step in plan.steps()), kind


def test_a_mirrored_type_costs_the_same_with_the_parties_exchanged() -> None:
    for kind, plan in routes("paillier").items():
        there = plan.cost(GIVEN)
        back = plan_comparison(kind.mirror, GIVEN, x_modulus=Role.BOB, y_modulus=Role.BOB).cost(GIVEN).mirror
        assert there.rounds == back.rounds, kind
        assert there.alice_bytes + there.bob_bytes == back.alice_bytes + back.bob_bytes, kind


def test_only_non_trivial_types_compare_in_secret() -> None:
    secret = [kind for kind, plan in routes("paillier").items() if plan.engine != "none"]
    assert len(secret) == 174
    assert not any(k.is_trivial for k in secret)


def test_cost_does_not_depend_on_anything_but_the_batch() -> None:
    plan = plan_comparison(ComparisonType.parse("type 1"), GIVEN)
    one, ten = plan.cost(GIVEN), plan.cost(Parameters(10, 32, 2048, 2048))
    assert ten.alice_bytes == 10 * one.alice_bytes
    assert ten.rounds == one.rounds == 6
    assert plan.cost(Parameters(1000, 32, 2048, 2048)).rounds == 6


def test_plans_are_values() -> None:
    kind = ComparisonType.parse("type 6")
    first, second = plan_comparison(kind, GIVEN), plan_comparison(kind, GIVEN)
    assert first == second
    assert len({first, second}) == 1
    assert first.digest == second.digest
    assert first.digest != plan_comparison(ComparisonType.parse("type 7"), GIVEN).digest


def test_table_8_1_has_room_for_the_bytes() -> None:
    printed = {5: 5.294, 10: 8.399, 25: 17.715, 50: 33.243, 100: 64.296}
    for bits, kilobytes in printed.items():
        given = Parameters(1, bits, 1024, 1024)
        cost = plan_comparison(ComparisonType.parse("type 1"), given).cost(given)
        assert cost.alice_bytes + cost.bob_bytes < 1000 * kilobytes


def test_auto_weighs_the_network() -> None:
    kind = ComparisonType.parse("PN-NP-SS")

    def chosen(count: int, network: Network) -> str:
        given = Parameters(count, 32, 2048, 2048)
        return plan_comparison(kind, given, engine="auto", network=network).engine

    assert chosen(1_000, LAN) == "oblivious"
    assert chosen(1_000_000, LAN) == "silent"
    assert chosen(1_000_000, Network(1, 100_000)) == "oblivious"
    assert chosen(1, Network(100, 10)) == "oblivious"
    many = Parameters(100_000, 32, 2048, 2048)
    assert "auto" in ENGINES
    for engine in ENGINES:
        plan = plan_comparison(kind, many, engine=engine, network=Network(500, 1))
        assert isinstance(plan, Plan)


def test_names_are_unique() -> None:
    names = [spec.name for spec in (*COMPARISONS, *CONVERSIONS)]
    assert len(set(names)) == len(names)


def test_rounds_of_flights() -> None:
    a, b, both = Flight.ALICE, Flight.BOB, Flight.BOTH
    for flights, rounds in (
        ([], 0),
        ([a, a, a], 1),
        ([a, b, a], 3),
        ([a, b, b, a], 3),
        ([both], 1),
        ([both, a], 2),
        ([a, b, both], 3),
        ([Flight.RESERVE, both, Flight.RESERVE], 2),
        ([a, Flight.LANES, b, Flight.LANES, Flight.RESERVE], 7),
    ):
        assert Flights.of(flights).rounds == rounds == counted(flights)
        assert Flights.of(flights).mirror.rounds == rounds


def counted(flights: Sequence[Flight]) -> int:
    """Rounds message by message: the longest chain that each side has received."""
    received = {Role.ALICE: 0, Role.BOB: 0}
    for place, flight in enumerate(flights):
        times = 1 if flight not in ONCE else ONCE[flight] * (flight not in flights[:place])
        for _ in range(times):
            sent = {role: received[role] + 1 for role in Role}
            for role, from_other in ((Role.ALICE, Flight.BOB), (Role.BOB, Flight.ALICE)):
                if flight not in (Flight.ALICE, Flight.BOB) or flight is from_other:
                    received[role] = max(received[role], sent[role.other])
    return max(received.values())


@given(
    st.lists(st.sampled_from(Flight), max_size=12),
    st.lists(st.sampled_from(Flight), max_size=6),
    st.integers(0, 9),
)
def test_repeated_flights_have_the_rounds_of_all_messages(
    first: list[Flight], repeated: list[Flight], times: int
) -> None:
    short = Flights.of(first) + Flights.of(repeated) * times
    whole = [*first, *repeated * times]
    assert short == Flights.of(whole)
    assert short.rounds == counted(whole)
    assert short.without(Flight.LANES).rounds == counted([each for each in whole if each is not Flight.LANES])


@pytest.mark.parametrize("engine", ENGINES)
@pytest.mark.parametrize("kind", ["SE-SE-SE", "PN-NP-SE", "SS-SS-SS"])
def test_a_plan_of_ten_million_rows_is_priced_chunk_by_chunk_in_its_head(
    engine: str, kind: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A plan asks each record a few times, however many chunks there are: by count, not by the clock."""
    asked = Counter[str]()
    once = Plan._once

    def counting(self: Plan, parameters: Parameters, made: Transferred) -> Cost:
        asked[self.route] += 1
        return once(self, parameters, made)

    type_ = ComparisonType.parse(kind)
    few = Parameters(7, 64, 2048, 2048)
    moduli = {"x_modulus": 1 << 66, "y_modulus": 1 << 66} if kind == "SS-SS-SS" else {}
    try:
        plan = plan_comparison(type_, few, engine=engine, **moduli)
    except NoRouteError:
        pytest.skip("no route")
    size = plan.chunk(few)
    one, two = (plan.cost(replace(few, count=chunks * size)) for chunks in (1, 2))
    monkeypatch.setattr(Plan, "_once", counting)
    cost = plan.cost(replace(few, count=10_000_000))
    assert sum(asked.values()) <= 8
    full, rest = divmod(10_000_000, size)
    # All chunks but the first are alike: that begins with nothing left to check.
    again = two.alice_bytes - one.alice_bytes
    last = plan.cost(replace(few, count=size + rest)).alice_bytes - one.alice_bytes if rest else 0
    assert cost.alice_bytes == one.alice_bytes + (full - 1) * again + last
    # Three chunks one by one are what the power says.
    assert (one * 3).rounds == (one + one + one).rounds
    assert cost.rounds <= full * two.rounds


def test_costs_add_and_mirror() -> None:
    cost = Cost((Flight.ALICE,), 5, 0, {"mask": 1}) + Cost((Flight.BOB,), 0, 7, {"mask": 2}, {"power": 3})
    assert (cost.alice_bytes, cost.bob_bytes, cost.rounds) == (5, 7, 2)
    assert cost.mirror.alice_operations == {"power": 3}
    assert cost.mirror.bob_operations == {"mask": 3}
    assert cost.mirror.flights == Flights.of((Flight.BOB, Flight.ALICE))


@pytest.mark.parametrize("bits", [0, 129, -1])
def test_bits_out_of_range(bits: int) -> None:
    with pytest.raises(DomainError, match="1 to 128"):
        plan_comparison(ComparisonType.parse("type 1"), Parameters(1, bits, 2048, 2048))


def test_unknown_engine() -> None:
    with pytest.raises(UsageError, match="no engine"):
        plan_comparison(ComparisonType.parse("type 1"), GIVEN, engine="steam")


@pytest.mark.parametrize(("x", "y"), [(1 << 31, 1 << 31), (1 << 64, 1 << 65), (1 << 300, 1 << 300), (3, 3)])
def test_moduli_without_a_route(x: int, y: int) -> None:
    with pytest.raises(NoRouteError, match="common modulus"):
        plan_comparison(ComparisonType.parse("type 1"), GIVEN, x_modulus=x, y_modulus=y)


def test_forms_of_all_natives_exist() -> None:
    assert {f for spec in COMPARISONS for f in (*spec.inputs, spec.output)} <= set(Form)


@pytest.mark.parametrize("count", [1000, 20_000, 1_000_000])
def test_both_parties_choose_alike_whichever_kernels_run(count: int, monkeypatch: pytest.MonkeyPatch) -> None:
    kind, given = ComparisonType.parse("PN-NP-SS"), Parameters(count, 32, 2048, 2048)
    found = []
    for compiled in (True, False):
        monkeypatch.setattr(cost, "run_compiled", lambda compiled=compiled: compiled)
        plan = plan_comparison(kind, given, engine="auto", network=LAN)
        found.append((plan.digest, cost.estimate_seconds(plan.cost(given), given)))
    (one, fast), (other, slow) = found
    assert one == other
    assert fast < slow


@pytest.mark.parametrize("kind", ["PN-NP-SS", "SS-SS-SS"])
def test_a_million_comparisons_on_loopback_are_not_silent(kind: str) -> None:
    """Silent transfers take 1.3 to 1.6 times as long there, and save nothing."""
    given = Parameters(1_000_000, 62, 2048, 2048)
    shares = {"x_modulus": 1 << 64, "y_modulus": 1 << 64}
    plan = plan_comparison(ComparisonType.parse(kind), given, engine="auto", network=LOOPBACK, **shares)
    assert plan.engine == "oblivious"

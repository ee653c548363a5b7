"""What a record says of moduli is what a run demands: shares of another modulus never go on."""

from __future__ import annotations

from dataclasses import replace

import pytest

from smc.errors import DomainError, NoRouteError, UsageError
from smc.forms import ComparisonType, Form, Role
from smc.moduli import Modulus
from smc.pair import run_pair
from smc.planning import plan as plans
from smc.planning import route
from smc.planning.registry import CONVERSIONS, spec_named
from smc.planning.run import run_plan
from smc.protocols.spec import Parameters, Sharing, Spec
from tests.smc.planning.test_every_type import TOY, compare
from tests.support.holdings import deal

PAIRS = [(5, 6), (6, 5), (7, 7)]
MODULI: list[Modulus] = [1 << 32, 10**9 + 7, Role.ALICE]


def wrong() -> Spec:
    """A conversion that gives shares modulo 2**64, whatever it is asked for."""
    right = spec_named("bit-to-shared")

    def code(side):  # type: ignore[no-untyped-def]
        return lambda session, given, value: side(session, replace(given, modulus_out=1 << 64), value)

    return replace(right, alice=code(right.alice), bob=code(right.bob))


def register(monkeypatch: pytest.MonkeyPatch, spec: Spec) -> None:
    """Put a conversion in the place of the one of its name."""
    others = tuple(spec if known.name == spec.name else known for known in CONVERSIONS)
    monkeypatch.setattr(route, "CONVERSIONS", others)
    monkeypatch.setattr(plans, "spec_named", lambda name: spec if name == spec.name else spec_named(name))


@pytest.mark.parametrize("modulus", MODULI, ids=str)
def test_a_step_that_gives_other_shares_than_it_says_ends_the_run(
    modulus: Modulus, monkeypatch: pytest.MonkeyPatch
) -> None:
    register(monkeypatch, wrong())
    with pytest.raises(DomainError, match="result of bit-to-shared is shared modulo another number"):
        compare(ComparisonType.parse("PN-NP-SS"), PAIRS, 8, engine="oblivious", delta_modulus=modulus)


@pytest.mark.parametrize("modulus", MODULI, ids=str)
def test_a_conversion_to_one_modulus_is_not_chosen_for_another(
    modulus: Modulus, monkeypatch: pytest.MonkeyPatch
) -> None:
    register(monkeypatch, replace(wrong(), applies=lambda given: given.modulus_out == 1 << 64))
    kind = ComparisonType.parse("PN-NP-SS")
    results, plan = compare(kind, PAIRS, 8, engine="oblivious", delta_modulus=modulus)
    assert results == [0, 1, 1]
    assert "bit-to-shared" not in plan.route
    assert compare(kind, PAIRS, 8, engine="oblivious", delta_modulus=1 << 64)[0] == [0, 1, 1]


@pytest.mark.parametrize(
    ("change", "name"),
    [
        ({"gives": None}, "gives"),
        ({"takes": None}, "takes"),
        ({"output": Form.SE}, "gives"),
        ({"inputs": (Form.PN,)}, "takes"),
    ],
)
def test_a_record_must_say_which_shares_it_takes_and_gives(change: dict[str, object], name: str) -> None:
    with pytest.raises(UsageError, match=f"Set {name} if shares"):
        replace(spec_named("bit-to-shared"), **change)


def test_moduli_that_sharings_allow() -> None:
    given: list[Modulus] = [2, 3, 1 << 64, Role.ALICE, Role.BOB]
    allowed = {sharing: [m for m in given if sharing.allows(m)] for sharing in Sharing}
    assert allowed == {
        Sharing.ANY: given,
        Sharing.NUMBER: [2, 3, 1 << 64],
        Sharing.ALICE_KEY: [Role.ALICE],
        Sharing.XOR: [2],
    }


@pytest.mark.parametrize("engine", ["oblivious", "silent"])
@pytest.mark.parametrize("modulus", [3, 1 << 64, 1 << 256, *Role], ids=str)
def test_shares_of_the_result_do_not_need_paillier(modulus: Modulus, engine: str) -> None:
    kind, given = ComparisonType.parse("PN-NP-SS"), Parameters(1000, 32, 3072, 3072)
    plan = route.plan_comparison(kind, given, engine=engine, delta_modulus=modulus)
    assert plan.route == f"{engine}; delta: bit-to-shared"


@pytest.mark.parametrize(
    ("name", "steps"),
    [
        ("PN-NP-SS", [None, None, 7]),
        ("SS-NP-PN", [1 << 64, None, None]),
        ("PP-SS-ES", [None, 1 << 64, None]),
        ("SS-SS-SS", [1 << 64, 1 << 64, 7]),
    ],
)
def test_a_plan_names_its_moduli(name: str, steps: list[Modulus | None]) -> None:
    kind, given = ComparisonType.parse(name), Parameters(1, 8, 2048, 2048)
    moduli: dict[str, Modulus] = {"x_modulus": 1 << 64, "y_modulus": 1 << 64, "delta_modulus": 7}
    assert list(route.plan_comparison(kind, given, engine="oblivious", **moduli).moduli) == steps


@pytest.mark.parametrize("place", ["x", "y"])
def test_shares_of_another_modulus_are_refused_before_anything_is_sent(place: str) -> None:
    kind = ComparisonType.parse("SS-SS-SS")
    moduli: dict[str, Modulus] = {"x_modulus": 1 << 32, "y_modulus": 1 << 32}
    plan = route.plan_comparison(kind, Parameters(1, 8, 512, 512), engine="oblivious", **moduli)
    good, bad = deal([3], Form.SS, TOY, 1 << 32), deal([3], Form.SS, TOY, 1 << 16)

    def party(session):  # type: ignore[no-untyped-def]
        row = session.role is Role.BOB
        holdings = (bad[row], good[row]) if place == "x" else (good[row], bad[row])
        with pytest.raises(DomainError, match=f"^{place} is shared modulo another number"):
            run_plan(plan, session, *holdings)
        return session.channel.traffic.sent

    assert run_pair(party, party, keys=TOY) == (0, 0)


@pytest.mark.parametrize("engine", ["paillier", "oblivious", "auto"])
@pytest.mark.parametrize("bits", [2, 8])
def test_shares_too_small_for_their_values_have_no_route(bits: int, engine: str) -> None:
    for modulus in (2, (1 << bits) - 1):
        for name in ("SS-NP-PN", "PN-SS-PN", "SS-PP-SS"):
            with pytest.raises(NoRouteError):
                route.plan_comparison(
                    ComparisonType.parse(name),
                    Parameters(1, bits, 2048, 2048),
                    engine=engine,
                    x_modulus=modulus,
                    y_modulus=modulus,
                )

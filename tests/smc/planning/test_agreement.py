"""Two parties with different plans find out before anything else is sent."""

from __future__ import annotations

from dataclasses import replace
from itertools import product
from typing import Any

import pytest

from smc.errors import ProtocolViolation
from smc.forms import ComparisonType, Role, all_types
from smc.network import Network
from smc.pair import run_pair
from smc.planning import agreement
from smc.planning.plan import DIGEST_BYTES, Plan, Step
from smc.planning.registry import BASELINES, BY_NAME_ONLY
from smc.planning.route import plan_comparison
from smc.planning.run import prepare, run_plan
from smc.protocols.session import Session
from smc.protocols.spec import Parameters
from smc.values import Nothing, Plain, Share
from tests.smc.planning.test_every_type import TOY
from tests.support.grids import grid

GIVEN = Parameters(2, 8, 512, 512)


def plan(name: str = "PN-NP-SS", engine: str = "oblivious", **moduli: Any) -> Plan:
    return plan_comparison(ComparisonType.parse(name), GIVEN, engine=engine, **moduli)


SHARED = {"x_modulus": 1 << 32, "y_modulus": 1 << 32}
PAIRS = {
    "engine": (plan(), plan(engine="silent")),
    "cipher": (plan(engine="elgamal"), plan(engine="dgk")),
    "modulus of the result": (plan(delta_modulus=1 << 64), plan(delta_modulus=1 << 32)),
    "XOR or not": (plan(), plan(delta_modulus=1 << 64)),
    "a prime": (plan(delta_modulus=10**9 + 7), plan(delta_modulus=10**9 + 9)),
    "route": (plan(delta_modulus=Role.ALICE), plan(engine="paillier", delta_modulus=Role.ALICE)),
    "bits": (
        plan(),
        plan_comparison(ComparisonType.parse("PN-NP-SS"), replace(GIVEN, bits=9), engine="oblivious"),
    ),
}


@pytest.mark.parametrize("name", PAIRS)
@pytest.mark.parametrize("swapped", [False, True])
def test_parties_with_different_plans_both_end_and_have_sent_a_digest_only(name: str, swapped: bool) -> None:
    plans = PAIRS[name][::-1] if swapped else PAIRS[name]

    def party(session: Session) -> int:
        holds_x = session.role is Role.ALICE
        x, y = (Plain([1, 2]), Nothing(2)) if holds_x else (Nothing(2), Plain([2, 1]))
        with pytest.raises(ProtocolViolation, match="planned another route"):
            run_plan(plans[0] if holds_x else plans[1], session, x, y)
        return session.channel.traffic.sent

    assert run_pair(party, party, keys=TOY) == (DIGEST_BYTES, DIGEST_BYTES)


def test_moduli_of_inputs_count_too() -> None:
    plans = plan("SS-SS-SS", **SHARED), plan("SS-SS-SS", x_modulus=1 << 64, y_modulus=1 << 64)
    assert plans[0].route == plans[1].route

    def party(session: Session) -> int:
        own = plans[session.role is Role.BOB]
        values = Share([1, 2], own.moduli[0] or 0)  # type: ignore[arg-type]
        with pytest.raises(ProtocolViolation, match="planned another route"):
            run_plan(own, session, values, values)
        return session.channel.traffic.sent

    assert run_pair(party, party, keys=TOY) == (DIGEST_BYTES, DIGEST_BYTES)


def test_every_run_compares_the_plans_anew() -> None:
    """Also the second one of a session, and with a plan that was compared before."""
    first, second = PAIRS["modulus of the result"]

    def party(session: Session) -> None:
        holds_x = session.role is Role.ALICE
        x, y = (Plain([1, 2]), Nothing(2)) if holds_x else (Nothing(2), Plain([2, 1]))
        run_plan(first, session, x, y)
        with pytest.raises(ProtocolViolation, match="planned another route"):
            run_plan(second if holds_x else first, session, x, y)

    run_pair(party, party, keys=TOY)


def test_a_plan_is_prepared_once_and_run_often() -> None:
    own = plan(delta_modulus=7)

    def party(session: Session) -> list[int]:
        holds_x = session.role is Role.ALICE
        x, y = (Plain([1, 2]), Nothing(2)) if holds_x else (Nothing(2), Plain([2, 1]))
        ready = prepare(own, session)
        spent = []
        for _ in range(3):
            before = session.channel.traffic
            ready.run(x, y)
            spent.append(session.channel.traffic.since(before).sent)
        return spent

    cost = own.cost(GIVEN)
    assert run_pair(party, party) == ([cost.alice_bytes] * 3, [cost.bob_bytes] * 3)


def changed(step: Step) -> list[Step]:
    return [
        replace(step, name="plain-to-both"),
        replace(step, mirrored=not step.mirrored),
        replace(step, modulus_in=5),
        replace(step, modulus_out=5),
        replace(step, modulus_in=Role.BOB),
        replace(step, modulus_out=Role.ALICE),
    ]


def test_the_digest_is_of_all_that_a_plan_says() -> None:
    whole = plan("SE-SS-SS", "auto", y_modulus=1 << 64, delta_modulus=1 << 32)
    assert whole.inner is not None
    others = [
        replace(whole, bits=9),
        replace(whole, type=ComparisonType.parse("SS-SE-SS")),
        replace(whole, inner=None),
        *(replace(whole, comparison=step) for step in changed(whole.comparison)),
        *(replace(whole, inner=replace(whole.inner, comparison=s)) for s in changed(whole.inner.comparison)),
    ]
    for name in ("x_steps", "y_steps", "delta_steps"):
        steps = getattr(whole, name)
        others += [replace(whole, **{name: (*steps, whole.comparison)})]
        others += [
            replace(whole, **{name: (*steps[:-1], step)}) for last in steps[-1:] for step in changed(last)
        ]
    digests = [other.digest for other in (whole, *others)]
    assert len(set(digests)) == len({*others, whole}) > 20
    assert whole.digest == plan("SE-SS-SS", "auto", y_modulus=1 << 64, delta_modulus=1 << 32).digest


def test_all_types_have_their_own_digests() -> None:
    plans = [plan_comparison(kind, GIVEN, engine="oblivious") for kind in all_types()]
    assert len({one.digest for one in plans}) == 216


def test_the_digest_is_what_is_compared() -> None:
    """A party that says another digest than the one of its plan is refused, whatever the plan is."""
    own = plan()

    def liar(session: Session) -> None:
        with pytest.raises(ProtocolViolation):
            agreement.compare_plans(PAIRS["engine"][1], session)

    def honest(session: Session) -> None:
        with pytest.raises(ProtocolViolation, match="Install the same release"):
            agreement.compare_plans(own, session)

    run_pair(liar, honest)


NETWORKS = [Network(1, 1000), Network(20, 100), Network(100, 100), Network(100, 1000), Network(500, 1)]
KINDS = ["SS-SS-SS", "PN-NP-SS", "SE-SE-SE", "PP-SS-ES", "PN-SS-NP"]


@pytest.mark.parametrize("bits", grid([1, 8, 32, 63], [32]))
def test_auto_takes_no_engine_that_is_to_be_named(bits: int) -> None:
    """Ciphers promise nothing against a peer that deviates: nobody gets them who has not asked for them."""
    assert BASELINES | {"paillier", "elgamal", "dgk"} == BY_NAME_ONLY
    found = set()
    for kind, network, count in product(KINDS, NETWORKS, (1, 1000)):
        for modulus in (1 << 64, 1 << 255, 1 << 256):
            if modulus < 2 << bits:
                continue
            given = Parameters(count, bits, 3072, 3072)
            moduli = {"x_modulus": modulus, "y_modulus": modulus}
            found.add(
                plan_comparison(
                    ComparisonType.parse(kind), given, engine="auto", network=network, **moduli
                ).engine
            )
    assert found <= {"oblivious", "silent"}
    assert plan(engine="dgk").engine == "dgk"

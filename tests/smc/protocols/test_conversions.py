"""Every conversion on its own: right values, declared cost, and what the receiver sees."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from itertools import product
from typing import Any

import pytest

from smc.channel.channel import Traffic
from smc.errors import FreshnessError, KeyMaterialError, UsageError
from smc.forms import Form, Role
from smc.moduli import Modulus
from smc.pair import run_pair
from smc.planning.registry import CONVERSIONS
from smc.protocols.conversion import encrypted_to_shared, shared_to_encrypted
from smc.protocols.session import Session
from smc.protocols.spec import Parameters, Sharing, Spec
from smc.values import Encrypted, Share, Value
from tests.support.holdings import Keys, deal, number, opened
from tests.support.keys import paper, toy

TOY: Keys = (toy(Role.ALICE), toy(Role.BOB))
MODULI: list[Modulus] = [2, 3, 1 << 8, 1 << 40, 1 << 64, 10**9 + 7, 2**61 - 1, 1 << 256, Role.ALICE, Role.BOB]


def moduli(sharing: Sharing | None) -> list[Modulus | None]:
    return [None] if sharing is None else [modulus for modulus in MODULI if sharing.allows(modulus)]


def covering(
    pairs: list[tuple[Modulus | None, Modulus | None]],
) -> set[tuple[Modulus | None, Modulus | None]]:
    """So few pairs that each modulus is taken by one and given by one, and mostly a modulus with another."""
    seen: set[tuple[str, Modulus | None]] = set()
    chosen = set()
    places = {modulus: place for place, modulus in enumerate([None, *MODULI])}
    for pair in sorted(pairs, key=lambda one: (places[one[1]] - places[one[0]] - 1) % len(places)):
        new = {("taken", pair[0]), ("given", pair[1])} - seen
        if new:
            chosen.add(pair)
            seen |= new
    return chosen


def cases() -> Iterator[Any]:
    """Every conversion with all moduli; those that are not needed to cover them are slow."""
    for spec in CONVERSIONS:
        pairs = [
            (taken, given)
            for taken, given in product(moduli(spec.takes), moduli(spec.gives))
            if spec.applies(Parameters(1, 1, 512, 512, taken, given))
        ]
        quick = covering(pairs)
        for taken, given in pairs:
            marks = () if (taken, given) in quick else pytest.mark.slow
            yield pytest.param(spec, taken, given, id=f"{spec.name} {taken} {given}", marks=marks)


def convert(
    spec: Spec, values: list[int], bits: int, taken: Modulus | None, gives: Modulus | None, keys: Keys
) -> list[int]:
    resolved = [None if modulus is None else number(modulus, keys) for modulus in (taken, gives)]
    given = Parameters(len(values), bits, keys[0].public.bits, keys[1].public.bits, *resolved)
    holdings = deal(values, spec.inputs[0], keys, taken or Role.ALICE, bits if spec.bitwise else None)

    def party(session: Session) -> tuple[Value, Traffic]:
        for setup in spec.setups:
            setup.run(session)
        before = session.channel.traffic
        code, own = (spec.alice, holdings[0]) if session.role is Role.ALICE else (spec.bob, holdings[1])
        return code(session, given, own), session.channel.traffic.since(before)

    (a, traffic_a), (b, traffic_b) = run_pair(party, party, keys=keys)
    for unresolved in (given, replace(given, modulus_in=taken, modulus_out=gives)):
        cost = spec.cost(unresolved)
        assert (traffic_a.sent, traffic_b.sent) == (cost.alice_bytes, cost.bob_bytes)
        assert max(traffic_a.rounds, traffic_b.rounds) == cost.rounds
    return opened(spec.output, a, b, keys, gives)


@pytest.mark.parametrize(("spec", "taken", "gives"), [*cases()])
def test_conversion(spec: Spec, taken: Modulus | None, gives: Modulus | None) -> None:
    held = min((m.bit_length() - 1 for m in (taken, gives) if isinstance(m, int)), default=8)
    bits = max(
        b for b in range(1, min(held, 8) + 1) if spec.applies(Parameters(1, b, 512, 512, taken, gives))
    )
    values = [0, 1] if bits == 1 else sorted({0, 1, 2, (1 << bits) - 2, (1 << bits) - 1})
    assert convert(spec, values, bits, taken, gives, TOY) == values
    assert convert(spec, values[-1:], bits, taken, gives, (paper(Role.ALICE), toy(Role.BOB))) == values[-1:]


@pytest.mark.parametrize("modulus", [2, 1 << 64, Role.ALICE])
def test_what_alice_opens_in_conversion_4_is_uniform(modulus: Modulus) -> None:
    """512 runs on the same value; the counts of the top bit cross their bound with probability below 1e-6."""
    seen: list[int] = []

    class Watching:
        def __init__(self, session: Session) -> None:
            self.decrypt = session.own.decrypt

        def __call__(self, batch):
            result = self.decrypt(batch)
            seen.extend(result)
            return result

    values = [1] * 512
    given = Parameters(512, 1, TOY[0].public.bits, TOY[1].public.bits, modulus_out=number(modulus, TOY))
    holdings = deal(values, Form.SE, TOY)

    def alice(session: Session) -> Value:
        session.own.decrypt = Watching(session)  # type: ignore[method-assign]
        return encrypted_to_shared.alice(session, given, holdings[0])

    run_pair(alice, lambda s: encrypted_to_shared.bob(s, given, holdings[1]), keys=TOY)
    half = int(TOY[0].public.n) // 2
    assert len(set(seen)) == 512
    assert abs(sum(v > half for v in seen) - 256) < 5.2 * 11.4


def test_results_of_conversions_cannot_leave_unrefreshed() -> None:
    holdings = deal([1, 2], Form.SS, TOY, Role.ALICE)
    given = Parameters(2, 8, 512, 512, modulus_in=number(Role.ALICE, TOY))

    def bob(session: Session) -> None:
        result = shared_to_encrypted.bob(session, given, holdings[1])
        assert isinstance(result, Encrypted)
        with pytest.raises(FreshnessError):
            result.ciphertexts.encode()  # type: ignore[attr-defined]

    run_pair(lambda s: shared_to_encrypted.alice(s, given, holdings[0]), bob, keys=TOY)


def test_shares_modulo_another_number_are_not_encrypted() -> None:
    given = Parameters(1, 8, 512, 512, modulus_in=1 << 64)
    with pytest.raises(UsageError, match="whose N is their modulus"):
        run_pair(
            lambda s: shared_to_encrypted.alice(s, given, Share([1], 1 << 64)),
            lambda s: shared_to_encrypted.bob(s, given, Share([1], 1 << 64)),
            keys=TOY,
        )


def test_a_key_too_small_to_mask_is_refused() -> None:
    given = Parameters(1, 600, 512, 512, modulus_out=2)
    holdings = deal([1], Form.SE, TOY)
    with pytest.raises(KeyMaterialError, match="too small"):
        run_pair(
            lambda s: encrypted_to_shared.alice(s, given, holdings[0]),
            lambda s: encrypted_to_shared.bob(s, given, holdings[1]),
            keys=TOY,
        )

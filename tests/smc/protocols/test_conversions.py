"""Every conversion on its own: right values, declared cost, and what the receiver sees."""

from __future__ import annotations

import pytest

from smc.errors import FreshnessError, KeyMaterialError, UsageError
from smc.forms import Form, Role
from smc.pair import run_pair
from smc.planning.registry import CONVERSIONS
from smc.protocols.conversion import encrypted_to_shared, shared_to_encrypted
from smc.protocols.session import Session
from smc.protocols.spec import Modulus, Parameters, Sharing, Spec
from smc.values import Encrypted, Share, Value
from tests.support.holdings import Keys, deal, number, opened
from tests.support.keys import paper, toy

TOY: Keys = (toy(Role.ALICE), toy(Role.BOB))
MODULI = {
    Sharing.XOR: [2],
    Sharing.ALICE_KEY: [Role.ALICE],
    Sharing.ANY: [2, 1 << 64, 10**9 + 7, Role.ALICE, Role.BOB],
}
CASES = [
    pytest.param(spec, modulus, id=f"{spec.name} {modulus}")
    for spec in CONVERSIONS
    for modulus in (MODULI[spec.sharing] if Form.SS in (*spec.inputs, spec.output) else [2])
]


def convert(spec: Spec, values: list[int], bits: int, modulus: Modulus, keys: Keys) -> list[int]:
    given = Parameters(len(values), bits, keys[0].public.bits, keys[1].public.bits, number(modulus, keys))
    holdings = deal(values, spec.inputs[0], keys, modulus, bits if spec.bitwise else None)

    def alice(session: Session) -> tuple[Value, int, int]:
        return (
            spec.alice(session, given, holdings[0]),
            session.channel.traffic.sent,
            session.channel.traffic.rounds,
        )

    def bob(session: Session) -> tuple[Value, int, int]:
        return (
            spec.bob(session, given, holdings[1]),
            session.channel.traffic.sent,
            session.channel.traffic.rounds,
        )

    (a, sent_a, rounds_a), (b, sent_b, rounds_b) = run_pair(alice, bob, keys=keys)
    cost = spec.cost(given)
    assert (sent_a, sent_b, max(rounds_a, rounds_b)) == (cost.alice_bytes, cost.bob_bytes, cost.rounds)
    return opened(spec.output, a, b, keys)


@pytest.mark.parametrize(("spec", "modulus"), CASES)
def test_conversion(spec: Spec, modulus: Modulus) -> None:
    bits = 1 if modulus == 2 and Form.SS in (*spec.inputs, spec.output) else 8
    values = [0, 1] if bits == 1 else [0, 1, 2, 100, 254, 255]
    assert convert(spec, values, bits, modulus, TOY) == values
    assert convert(spec, values[-1:], bits, modulus, (paper(Role.ALICE), toy(Role.BOB))) == values[-1:]


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
    given = Parameters(512, 1, TOY[0].public.bits, TOY[1].public.bits, number(modulus, TOY))
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
    given = Parameters(2, 8, 512, 512, number(Role.ALICE, TOY))

    def bob(session: Session) -> None:
        result = shared_to_encrypted.bob(session, given, holdings[1])
        assert isinstance(result, Encrypted)
        with pytest.raises(FreshnessError):
            result.ciphertexts.encode()  # type: ignore[attr-defined]

    run_pair(lambda s: shared_to_encrypted.alice(s, given, holdings[0]), bob, keys=TOY)


def test_shares_modulo_another_number_are_not_encrypted() -> None:
    given = Parameters(1, 8, 512, 512, 1 << 64)
    with pytest.raises(UsageError, match="whose N is their modulus"):
        run_pair(
            lambda s: shared_to_encrypted.alice(s, given, Share([1], 1 << 64)),
            lambda s: shared_to_encrypted.bob(s, given, Share([1], 1 << 64)),
            keys=TOY,
        )


def test_a_key_too_small_to_mask_is_refused() -> None:
    given = Parameters(1, 600, 512, 512, 2)
    holdings = deal([1], Form.SE, TOY)
    with pytest.raises(KeyMaterialError, match="too small"):
        run_pair(
            lambda s: encrypted_to_shared.alice(s, given, holdings[0]),
            lambda s: encrypted_to_shared.bob(s, given, holdings[1]),
            keys=TOY,
        )

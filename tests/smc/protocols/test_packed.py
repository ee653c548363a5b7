"""Packed comparison and conversion: results, cost, what Alice sees, and what she refuses."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import pytest
from gmpy2 import invert, powmod

from smc.ciphers.ciphertexts import Fresh
from smc.ciphers.packing import MASK_BITS
from smc.errors import KeyMaterialError, ProtocolViolation, UsageError
from smc.forms import ComparisonType, Form, Role, all_types
from smc.pair import run_pair
from smc.planning.registry import COMPARISONS, CONVERSIONS, REFERENCE_ENGINES, spec_named
from smc.planning.route import plan_comparison
from smc.protocols.comparison import packed
from smc.protocols.conversion import packed_to_shared
from smc.protocols.session import Session
from smc.protocols.spec import Parameters
from smc.values import Encrypted, KeyHolder, Nothing, Plain, Share, Value
from tests.smc.planning.test_every_type import compare, expected
from tests.support.grids import crossed, grid
from tests.support.holdings import Keys, deal, edge_pairs, opened
from tests.support.keys import paper, real, toy

TOY: Keys = (toy(Role.ALICE), toy(Role.BOB))


def in_the_clear(flips: Sequence[int]) -> tuple[Callable[..., Share], Callable[..., Share]]:
    """An inner comparison that shows what it is given: Alice's side has the answer masked by `flips`."""
    given: list[Plain] = []

    def for_alice(parameters: Parameters, x: Plain, y: Nothing) -> Share:
        given.append(x)
        return Share(list(flips), 2)

    def for_bob(parameters: Parameters, x: Nothing, y: Plain) -> Share:
        given.append(y)
        return Share([0] * parameters.count, 2)

    return for_alice, for_bob


def seen_by_alice(pairs: Sequence[tuple[int, int]], bits: int) -> tuple[list[int], list[int]]:
    """The plaintexts of the packs, and the randomness of their ciphertexts, as the key owner finds it."""
    given = Parameters(len(pairs), bits, 512, 512)
    x, y = deal([a for a, _ in pairs], Form.SE, TOY), deal([b for _, b in pairs], Form.SE, TOY)
    inner_a, inner_b = in_the_clear([0] * len(pairs))
    plain: list[int] = []
    noise: list[int] = []

    def alice(session: Session) -> Share:
        decrypt = session.own.decrypt

        def watching(batch):
            plain.extend(decrypt(batch))
            key = TOY[0]
            root = invert(key.public.n, (key.p - 1) * (key.q - 1))
            noise.extend(int(powmod(c, root, key.public.n)) for c in batch.values)
            return plain

        session.own.decrypt = watching  # type: ignore[method-assign]
        return packed.alice(session, given, x[0], y[0], inner_a)

    run_pair(alice, lambda s: packed.bob(s, given, x[1], y[1], inner_b), keys=TOY)
    return plain, noise


@pytest.mark.parametrize(
    ("bits", "name"),
    crossed([1, 2, 8, 31, 32, 33, 64, 128], ["SE-SE-SE", "ES-ES-SS", "SE-PN-ES", "ES-SE-PP", "NP-ES-PN"]),
)
def test_widths(name: str, bits: int) -> None:
    pairs = edge_pairs(bits) if bits > 2 else [(a, b) for a in range(1 << bits) for b in range(1 << bits)]
    results, plan = compare(ComparisonType.parse(name), pairs, bits, engine="oblivious")
    assert results == expected(pairs)
    assert any("packed" in step.name for step in plan.steps())


@pytest.mark.parametrize("count", grid([1, 19, 20, 21, 60], [1, 20, 21]))
def test_batches_around_a_full_pack_of_a_real_key(count: int) -> None:
    keys = (real(Role.ALICE), real(Role.BOB))
    pairs = [(i * 7919 % 61, i * 104729 % 59) for i in range(count)]
    results, plan = compare(ComparisonType.parse("SE-SE-SS"), pairs, 32, keys, engine="oblivious")
    assert results == expected(pairs)
    assert plan.route == "packed [oblivious]"
    given = Parameters(count, 32, 2048, 2048)
    assert plan.comparison.cost(given).bob_bytes == -(-count // 20) * 512
    assert plan.comparison.cost(given).alice_bytes == 0


def test_keys_of_different_sizes() -> None:
    pairs = edge_pairs(16)
    for keys in ((paper(Role.ALICE), toy(Role.BOB)), (toy(Role.ALICE), paper(Role.BOB))):
        for name in ("SE-SE-SE", "ES-ES-ES", "SE-ES-SS"):
            results, _ = compare(ComparisonType.parse(name), pairs, 16, keys, engine="oblivious")
            assert results == expected(pairs)


def test_values_are_never_squeezed_into_shares_that_are_too_small() -> None:
    """A way from ES to SE by way of XOR shares is for bits only."""
    for kind in all_types():
        plan = plan_comparison(kind, Parameters(16, 9, 512, 512), engine="oblivious")
        for step in (*plan.x_steps, *plan.y_steps):
            assert step.spec.output is not Form.SS or step.modulus_out != 2


def test_reference_engines_keep_to_their_papers() -> None:
    for spec in (*COMPARISONS, *CONVERSIONS):
        if spec.improves:
            worse = spec_named(spec.improves)
            assert (worse.inputs, worse.opens, worse.improves) == (spec.inputs, spec.opens, "")
    for engine in REFERENCE_ENGINES:
        for kind in all_types():
            plan = plan_comparison(kind, Parameters(16, 9, 512, 512), engine=engine)
            assert not any(step.spec.improves for step in plan.steps())


def test_alice_sees_the_same_whatever_the_values_are() -> None:
    """1000 masked differences of the smallest and of the largest kind.

    The top bits of a sum are those of the mask but with probability 2**-64, so each is a fair coin; and the
    low ones are too. A count of 1000 coins is further than 4.9 * 15.8 from 500 once in 1e6.
    """
    bits, slot = 3, 3 + 2 + MASK_BITS
    for pair in ((0, 7), (7, 0)):
        packs, _ = seen_by_alice([pair] * 1000, bits)
        sums = [pack >> slot * i & ((1 << slot) - 1) for pack in packs for i in range(511 // slot)][:1000]
        assert len(set(sums)) == 1000
        for place in (0, bits, slot - 3, slot - 2):
            assert abs(sum(s >> place & 1 for s in sums) - 500) < 4.9 * 15.8, place


def test_packs_leave_under_fresh_randomness() -> None:
    """Two packs of the same ciphertexts have nothing in common; a coin per symbol modulo p (erratum 3)."""
    _, noise = seen_by_alice([(1, 2)] * 700, 3)
    assert len(set(noise)) == len(noise) == 100
    squares = sum(powmod(r, (TOY[0].p - 1) // 2, TOY[0].p) == 1 for r in noise)
    assert abs(squares - 50) < 4.9 * 5


def test_the_low_parts_are_all_that_goes_inside() -> None:
    given = Parameters(6, 4, 512, 512)
    inner_a, inner_b = in_the_clear([1, 0, 1, 0, 1, 0])
    inside: list[Value] = []

    def spy(inner: Callable[..., Share]) -> Callable[..., Share]:
        def run(parameters: Parameters, x: Value, y: Value) -> Share:
            assert (parameters.count, parameters.bits, parameters.modulus_in) == (6, 4, None)
            inside.extend(v for v in (x, y) if isinstance(v, Plain))
            return inner(parameters, x, y)

        return run

    x, y = deal([0, 1, 2, 3, 15, 15], Form.SE, TOY), deal([15, 1, 3, 2, 0, 15], Form.SE, TOY)
    run_pair(
        lambda s: packed.alice(s, given, x[0], y[0], spy(inner_a)),
        lambda s: packed.bob(s, given, x[1], y[1], spy(inner_b)),
        keys=TOY,
    )
    assert len(inside) == 2
    assert all(0 <= v < 16 for part in inside if isinstance(part, Plain) for v in part.values)


@pytest.mark.parametrize("protocol", ["packed", "packed-to-shared"])
def test_a_pack_that_runs_over_is_refused(protocol: str) -> None:
    message = packed.PackedMasked if protocol == "packed" else packed_to_shared.MaskedPacks
    given = Parameters(3, 8, 512, 512, modulus_out=1 << 32)

    def alice(session: Session) -> Share:
        if protocol == "packed":
            return packed.alice(session, given, KeyHolder(3), KeyHolder(3), in_the_clear([0] * 3)[0])
        return packed_to_shared.alice(session, given, KeyHolder(3))

    def bob(session: Session) -> None:
        too_much: Fresh = session.peer.encrypt([1 << (8 + 2 + MASK_BITS) * 3])
        session.channel.send(message(too_much))

    with pytest.raises(ProtocolViolation, match="more than its slots can"):
        run_pair(alice, bob, keys=TOY)


def test_a_batch_of_another_size_is_refused() -> None:
    given = Parameters(3, 8, 512, 512)
    x, y = deal([1, 2], Form.SE, TOY), deal([1, 2], Form.SE, TOY)
    inner_a, inner_b = in_the_clear([0, 0])
    with pytest.raises(UsageError, match="declared with 3"):
        run_pair(
            lambda s: packed.alice(s, given, x[0], y[0], inner_a),
            lambda s: packed.bob(s, given, x[1], y[1], inner_b),
            keys=TOY,
        )


def test_keys_too_small_have_other_routes_or_none() -> None:
    small = Parameters(1, 128, 128 + 2 + MASK_BITS, 512)
    assert not packed.applies(small)
    assert packed.applies(small.mirror)
    with pytest.raises(KeyMaterialError, match="too small"):
        packed.cost(small)
    plan = plan_comparison(ComparisonType.parse("SE-SE-SS"), small, engine="oblivious")
    assert not any(step.name == "packed" for step in plan.steps())


@pytest.mark.parametrize(
    ("bits", "modulus"),
    [
        (bits, modulus)
        for bits in (1, 8, 64)
        for modulus in (2, 256, (1 << 61) - 1, 1 << 64, 1 << 200)
        if modulus >= 1 << bits  # smaller ones do not hold the values
    ],
)
def test_conversion_to_any_modulus(bits: int, modulus: int) -> None:
    values = [0, 1, (1 << bits) - 1, *(v % (1 << bits) for v in range(3, 40))]
    given = Parameters(len(values), bits, 512, 512, modulus_out=modulus)
    holdings = deal(values, Form.SE, TOY)
    assert isinstance(holdings[1], Encrypted)
    a, b = run_pair(
        lambda s: packed_to_shared.alice(s, given, holdings[0]),
        lambda s: packed_to_shared.bob(s, given, holdings[1]),
        keys=TOY,
    )
    assert opened(Form.SS, a, b, TOY, modulus) == values

"""Arrays from end to end: plans run on them, check them, and give lists to whoever gave lists."""

from __future__ import annotations

import numpy as np
import pytest

from smc.errors import DomainError
from smc.forms import ComparisonType
from smc.holdings import check_range, join, part_of
from smc.pair import run_pair
from smc.planning.route import plan_comparison
from smc.planning.run import prepare
from smc.protocols.spec import Parameters
from smc.values import Nothing, Plain, Share, is_array, of_array, with_python_integers
from tests.support.seeds import seeded

RANDOM = seeded()


def compared(kind, bits, x, y, **moduli):
    """Both sides' holdings of delta, and what was declared and measured."""
    given = Parameters(len(x[0]), bits, 2048, 2048)
    plan = plan_comparison(ComparisonType.parse(kind), given, engine="oblivious", **moduli)

    def party(index):
        def run(session):
            ready = prepare(plan, session)
            before = session.channel.traffic
            delta = ready.run(x[index], y[index])
            return delta, session.channel.traffic.since(before)

        return run

    (a, there), (b, back) = run_pair(party(0), party(1))
    cost = plan.cost(given)
    assert (there.sent, back.sent) == (cost.alice_bytes, cost.bob_bytes)
    assert max(there.rounds, back.rounds) == cost.rounds
    return a, b


def numbers(bits, count):
    mask = np.uint64((1 << bits) - 1)
    x, y = RANDOM.words(count) & mask, RANDOM.words(count) & mask
    y[::5] = x[::5]
    return x, y


@pytest.mark.parametrize(("bits", "count"), [(1, 10), (8, 100), (31, 65), (64, 1000), (16, 500_000)])
def test_plain_arrays(bits, count):
    x, y = numbers(bits, count)
    a, b = compared(
        "PN-NP-SS", bits, (Plain(of_array(x)), Nothing(count)), (Nothing(count), Plain(of_array(y)))
    )
    assert is_array(a)
    assert is_array(b)
    assert (np.asarray(a.values) ^ np.asarray(b.values) == (x >= y)).all()


@pytest.mark.parametrize("arrays", [True, False])
@pytest.mark.parametrize(("bits", "width"), [(1, 2), (7, 8), (31, 32), (20, 33), (62, 63), (63, 64)])
def test_shares_of_words(bits, width, arrays):
    x, y = numbers(bits, 300)
    mask = np.uint64((1 << width) - 1)
    modulus = 1 << width

    def shares(values):
        own = RANDOM.words(300) & mask
        both = (own, values - own & mask)
        return tuple(Share(of_array(part) if arrays else part.tolist(), modulus) for part in both)

    a, b = compared("SS-SS-SS", bits, shares(x), shares(y), x_modulus=modulus, y_modulus=modulus)
    assert is_array(a) == is_array(b) == arrays
    assert [i ^ j for i, j in zip(a.values, b.values, strict=True)] == (x >= y).tolist()


@pytest.mark.parametrize("modulus", [10**9 + 7, (1 << 64) - 59])
@pytest.mark.parametrize("arrays", [True, False])
def test_shares_modulo_a_prime_do_not_wrap_modulo_a_word(modulus, arrays):
    x, y = numbers(20, 300)

    def shares(values):
        own = RANDOM.below(modulus, 300)
        both = (own, [(value - part) % modulus for value, part in zip(values.tolist(), own, strict=True)])
        return tuple(
            Share(of_array(np.array(part, dtype=np.uint64)) if arrays else part, modulus) for part in both
        )

    a, b = compared("SS-SS-SS", 20, shares(x), shares(y), x_modulus=modulus, y_modulus=modulus)
    assert [i ^ j for i, j in zip(a.values, b.values, strict=True)] == (x >= y).tolist()


def test_a_protocol_that_wants_lists_gets_them():
    x, y = numbers(20, 50)
    a, _ = compared("PN-NP-PN", 20, (Plain(of_array(x)), Nothing(50)), (Nothing(50), Plain(of_array(y))))
    assert a == Plain((x >= y).astype(int).tolist())


def test_lists_in_lists_out():
    a, b = compared("PN-NP-SS", 8, (Plain([1, 2]), Nothing(2)), (Nothing(2), Plain([2, 1])))
    assert isinstance(a.values, list)
    assert all(type(bit) is int for bit in (*a.values, *b.values))


@pytest.mark.parametrize("kind", [np.uint8, np.uint64])
def test_a_number_outside_its_bound_is_named_by_its_place(kind):
    values = of_array(np.array([1, 7, 8, 2], dtype=kind))
    check_range(Plain(values), 4, "x")
    check_range(Share(values, 9), 4, "x")
    check_range(Plain(values), 100, "x")
    for bad in (Plain(values), Share(values, 8)):
        with pytest.raises(DomainError, match="x, entry 2"):
            check_range(bad, 3, "x")


@pytest.mark.parametrize("array", [np.array([1.0]), np.array([1]), np.array([[1]], dtype=np.uint64)])
def test_other_arrays_are_refused(array):
    with pytest.raises(DomainError, match="array"):
        check_range(Plain(of_array(array)), 8, "x")


def test_parts_and_joins_keep_arrays():
    values = np.arange(9, dtype=np.uint64)
    whole = Share(of_array(values), 16)
    parts = [part_of(whole, slice(0, 4)), part_of(whole, slice(4, 9))]
    assert is_array(join(parts))
    assert with_python_integers(join(parts)) == Share(list(range(9)), 16)
    assert join([Plain([1]), Plain([2])]) == Plain([1, 2])

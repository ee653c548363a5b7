"""Encrypted slots: exact products at the worst words, the noise, and what is refused."""

from __future__ import annotations

from math import sqrt

import numpy as np
import pytest

from smc.ciphers import lattice_slots
from smc.ciphers.lattice import DEGREES, MAX_ERROR, SIGMA
from smc.ciphers.lattice_ring import LIMB_BITS, backward, balance, carry, forward
from smc.ciphers.lattice_slots import OwnSlots, PeerSlots, SlotParameters
from smc.ciphers.slot_transform import (
    DEGREE,
    MODULUS_BITS,
    groups,
    lowest_word,
    modulus,
)
from smc.errors import UsageError
from tests.support.seeds import seeded

RANDOM = seeded()
TOP = (1 << 64) - 1


def words(kind):
    """A block of random words, or of the same ones everywhere, or of one alone."""
    found = RANDOM.words(DEGREE)
    if kind == "largest":
        found[:] = TOP
    elif kind == "lowest":
        found[:] = 1 << 63
    elif kind == "zero":
        found[:] = 0
    elif kind == "halves":
        found[:] = np.where(RANDOM.bits(DEGREE) == 1, TOP, 1 << 63)
    return found


def pair(blocks=2, terms=2):
    given = SlotParameters.of(blocks * DEGREE, terms)
    own = OwnSlots(given, RANDOM)
    return given, own, PeerSlots(given, own.seed, own.zeros(), RANDOM)


def answer(peer, query, x):
    """To one sum."""
    second, shares = peer.respond(query, [x])
    return second[:, 0], shares[0]


@pytest.mark.parametrize("terms", [1, 2])
@pytest.mark.parametrize(
    "kinds",
    [
        ("random", "random"),
        ("largest", "largest"),
        ("zero", "lowest"),
        ("lowest", "lowest"),
        ("halves", "zero"),
    ],
)
def test_products_are_exact_at_the_worst_words(terms, kinds):
    _, own, peer = pair(1, terms)
    x, y = ([words(kind) for _ in range(terms)] for kind in kinds)
    (second, shares) = answer(peer, own.encrypt(0, y), x)
    wanted = sum((a * b for a, b in zip(x, y, strict=True)), np.zeros(DEGREE, dtype=np.uint64))
    assert (own.decrypt(second) + shares == wanted).all()
    assert second.min() >= 0
    assert second.max() < 1 << LIMB_BITS
    assert len(np.unique(shares)) == DEGREE


def test_both_parties_hold_shares_modulo_the_product_of_all_primes(monkeypatch):
    """They add up to the sum and once the modulus, of products of either sign; the largest sums too."""
    honest, kept = lattice_slots.lowest_word, []
    monkeypatch.setattr(
        lattice_slots, "lowest_word", lambda found: (kept.append(found), honest(list(found)))[1]
    )
    _, own, peer = pair(1, 2)
    x, y = (
        [words("lowest")] * 2,
        [np.where(RANDOM.bits(DEGREE) == 1, TOP >> 1, 1 << 63).astype(np.uint64)] * 2,
    )
    second, _ = answer(peer, own.encrypt(0, y), x)
    own.decrypt(second)
    signed = [word - (1 << 64) if word >> 63 else word for word in y[0].tolist()]
    sums = [2 * -(1 << 63) * word for word in signed]
    assert max(abs(value) for value in sums) == 1 << 127
    first, second = ([integer(found, place) for place in range(64)] for found in kept)
    assert [one + other - modulus() for one, other in zip(first, second, strict=True)] == sums[:64]
    assert modulus() > 1 << MODULUS_BITS


def integer(found, place):
    """From its residues."""
    result = 0
    for group, pair_of in zip(groups(), found, strict=True):
        for prime, rests in zip((group.low.prime, group.high.prime), pair_of, strict=True):
            rest = modulus() // prime
            result += int(rests[place]) * pow(rest, -1, prime) * rest
    return result % modulus()


def test_secrets_are_units():
    """An odd number of terms, which every polynomial has that is a unit modulo a power of two."""
    for _ in range(8):
        found = lattice_slots._unit(RANDOM)
        assert np.count_nonzero(found) % 2 == 1
        assert set(np.unique(found)) == {-1, 0, 1}


def test_slots_and_polynomials_are_inverse_and_products_are_by_slot():
    for group in groups():
        for prime in (group.low, group.high):
            x, y = (prime.reduce(RANDOM.words(2 * DEGREE).reshape(DEGREE, 2)) for _ in range(2))
            assert (prime.polynomials(prime.slots(x)) == x).all()
            assert prime.prime % (2 * DEGREE) == 1
            # X times y moves its coefficients up, and the highest one down with a change of sign.
            step = np.zeros((DEGREE, 1), dtype=np.uint64)
            step[1] = 1
            moved = prime.polynomials(prime.reduce(prime.slots(step) * prime.slots(y)))
            assert (moved[1:] == y[:-1]).all()
            assert (moved[0] == (prime.prime - y[-1]) % np.uint64(prime.prime)).all()
        both = group.polynomials([prime.slots(prime.reduce(x)) for prime in (group.low, group.high)])
        assert (group.low.reduce(both) == group.low.reduce(x)).all()


def test_integers_come_back_from_their_residues():
    values = [0, 1, TOP, TOP + 1, modulus() - 1, (1 << 191) - 1, *(RANDOM.below(modulus(), 50))]
    found = [
        tuple(np.array([v % p.prime for v in values], dtype=np.uint64) for p in (group.low, group.high))
        for group in groups()
    ]
    assert lowest_word(found).tolist() == [value & TOP for value in values]


def whole(limbs, given):
    size = 1 << given.lattice.modulus_bits
    return sum(limb.astype(object) << LIMB_BITS * place for place, limb in enumerate(limbs)) % size


def test_the_noise_is_no_larger_than_the_scale_is_made_for():
    """Of random words it is that of the errors, and at any words below what is counted with it."""
    given, own, peer = pair(1, 2)
    group = groups()[0]
    x = [words("random"), words("halves")]
    ((second, first),) = peer._products(0, group, own.encrypt(0, [words("zero")] * 2)[0], [x])
    product = backward(forward(balance(carry(second.copy()))) * own._secret)
    size = 1 << given.lattice.modulus_bits
    total = (whole(first, given) + whole(product, given)) % size
    noise = ((total + size // 2) % size - size // 2).astype(np.float64)
    claimed = SIGMA * sqrt(2.0**126 * 2 * DEGREE)
    assert sqrt((noise**2).mean()) < claimed
    assert sqrt((noise**2).mean()) > claimed / 2.5
    # The rounding of plaintexts, half a unit each, may all have one sign.
    most = claimed + 2.0**63 * 2 * DEGREE / 2
    low = given.lattice.modulus_bits - given.lattice.second_bits
    assert (most + 2.0**low * (sqrt(DEGREE / 12) + 1)) * 2.0**57 < 2.0**given.lattice.scale


def test_parameters_keep_to_the_standard():
    for terms in (1, 2):
        for count in (1, 8193, 1 << 20, 1 << 24):
            given = SlotParameters.of(count, terms)
            assert given.lattice.modulus_bits <= DEGREES[DEGREE]
            assert given.lattice.idle_bits == 0
            assert given.error <= MAX_ERROR
            assert given.blocks * DEGREE >= count
    with pytest.raises(UsageError, match="Add up fewer"):
        SlotParameters.of(1, 16)


def test_responses_to_equal_words_have_nothing_in_common():
    _, own, peer = pair(2, 1)
    x, y = [words("largest")], [words("zero")]
    (first, low), (second, high) = (answer(peer, own.encrypt(block, y), x) for block in range(2))
    # The lowest of the limbs is not whole, and has fewer values.
    assert (first[1:] == second[1:]).mean() < 0.001
    assert (low == high).mean() < 0.001


def test_blocks_are_encrypted_once_and_in_their_order():
    _, own, _ = pair(1, 1)
    own.encrypt(0, [words("zero")])
    for block in (0, 2):
        with pytest.raises(UsageError, match="not the next"):
            own.encrypt(block, [words("zero")])
    assert repr(own) == f"OwnSlots({SlotParameters.of(DEGREE, 1)})"


@pytest.mark.parametrize("terms", [1, lattice_slots.MOST_NARROW_TERMS])
def test_narrow_sums_are_exact_modulo_a_prime_of_each_and_a_block_is_answered_several_times(terms):
    given = SlotParameters.narrow(2 * DEGREE, terms)
    assert (given.blocks, given.block_size) == (1, 2 * DEGREE)
    assert given.error <= MAX_ERROR
    assert given.lattice.idle_bits == 0
    assert given.lattice.modulus_bits <= DEGREES[DEGREE]
    own = OwnSlots(given, RANDOM)
    peer = PeerSlots(given, own.seed, own.zeros(), RANDOM)
    y, *several = (
        [np.concatenate([words("random"), words(kind)]) for _ in range(terms)]
        for kind in ("random", "largest", "lowest")
    )
    second, shares = peer.respond(own.encrypt(0, y), several)
    for place, x in enumerate(several):
        found = own.decrypt(second[:, place]) + shares[place]
        for row in (0, 1, DEGREE - 1, DEGREE, 2 * DEGREE - 1):
            prime = int(lattice_slots.block_primes()[row])
            wanted = sum(
                int(a.view(np.int64)[row]) * int(b.view(np.int64)[row]) for a, b in zip(x, y, strict=True)
            )
            assert int(found[row]) % prime == wanted % prime
        assert shares[place].max() < 1 << 32
    assert (second[1:, 0] == second[1:, 1]).mean() < 0.001

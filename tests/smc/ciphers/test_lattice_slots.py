"""Encrypted slots: exact products at the worst words, the noise, the flood, and what is refused."""

from __future__ import annotations

from math import log2, sqrt

import numpy as np
import pytest

from smc.ciphers import lattice, lattice_slots
from smc.ciphers.lattice import DEGREES, MAX_ERROR
from smc.ciphers.lattice_ring import LIMB_BITS, backward, balance, carry, forward
from smc.ciphers.lattice_slots import RUN_PRODUCTS, OwnSlots, PeerSlots, SlotParameters
from smc.ciphers.slot_transform import (
    DEGREE,
    MODULUS_BITS,
    groups,
    lowest_word,
    modulus,
    residues,
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
    second, first, masks = peer.respond(own.encrypt(0, y), x)
    wanted = sum((a * b for a, b in zip(x, y, strict=True)), np.zeros(DEGREE, dtype=np.uint64))
    assert (own.decrypt(second, first) - masks == wanted).all()
    for limbs in (second, first):
        assert limbs.min() >= 0
        assert limbs.max() < 1 << LIMB_BITS
    assert len(np.unique(masks)) == DEGREE


def test_what_the_key_holder_decrypts_is_the_sum_and_the_whole_mask(monkeypatch):
    """Residues modulo all primes are those of the integer: nothing has wrapped at the largest mask."""
    _, own, peer = pair(1, 2)
    kept = {}
    monkeypatch.setattr(lattice_slots, "lowest_word", lambda found: kept.setdefault("found", found)[0][0])

    class Largest:
        def bytes(self, count):
            return b"\xff" * count

        def words(self, count):
            return np.zeros(count, dtype=np.uint64)

    monkeypatch.setattr(lattice_slots, "ternary", lambda random, count: lattice.ternary(RANDOM, count))
    query = own.encrypt(0, [words("lowest")] * 2)
    monkeypatch.setattr(peer, "_random", Largest())
    second, first, _ = peer.respond(query, [words("lowest")] * 2)
    own.decrypt(second, first)
    # The sum of two products of -2**63, what is added so that no sum is negative, and the mask.
    value = 2 * (1 << 126) + 2 * (1 << 126) + (1 << 191) - 1
    assert 1 << MODULUS_BITS < value < modulus()
    for group, (low, high) in zip(groups(), kept["found"], strict=True):
        assert (low == value % group.low.prime).all()
        assert (high == value % group.high.prime).all()


def test_slots_and_polynomials_are_inverse_and_products_are_by_slot():
    for group in groups():
        for prime in (group.low, group.high):
            x, y = (prime.reduced(RANDOM.words(2 * DEGREE).reshape(DEGREE, 2)) for _ in range(2))
            assert (prime.polynomials(prime.slots(x)) == x).all()
            assert prime.prime % (2 * DEGREE) == 1
            # X times y moves its coefficients up, and the highest one down with a change of sign.
            step = np.zeros((DEGREE, 1), dtype=np.uint64)
            step[1] = 1
            moved = prime.polynomials(prime.reduced(prime.slots(step) * prime.slots(y)))
            assert (moved[1:] == y[:-1]).all()
            assert (moved[0] == (prime.prime - y[-1]) % np.uint64(prime.prime)).all()
        both = group.polynomials([prime.slots(prime.reduced(x)) for prime in (group.low, group.high)])
        assert (group.low.reduced(both) == group.low.reduced(x)).all()


def test_integers_come_back_from_their_residues():
    values = [0, 1, TOP, TOP + 1, modulus() - 1, (1 << 191) - 1, *(RANDOM.below(modulus(), 50))]
    found = [
        tuple(np.array([v % p.prime for v in values], dtype=np.uint64) for p in (group.low, group.high))
        for group in groups()
    ]
    assert lowest_word(found).tolist() == [value & TOP for value in values]
    parts = [np.array([v >> 32 * p & 0xFFFFFFFF for v in values], dtype=np.uint64) for p in range(5, -1, -1)]
    prime = groups()[0].low
    assert residues(parts, prime).tolist() == [value % prime.prime for value in values]


def whole(limbs, given):
    size = 1 << given.lattice.modulus_bits
    return sum(limb.astype(object) << LIMB_BITS * place for place, limb in enumerate(limbs)) % size


def test_the_noise_is_no_larger_than_the_flood_covers():
    """Of random words it is that of the errors, and at any words below what is counted with it."""
    given, own, peer = pair(1, 2)
    group = groups()[0]
    x = [words("random"), words("halves")]
    second, first = peer._products(0, group, own.encrypt(0, [words("zero")] * 2)[0], x)
    product = backward(forward(balance(carry(second.copy()))) * own._secret)
    size = 1 << given.lattice.modulus_bits
    total = (whole(first, given) + whole(product, given)) % size
    noise = ((total + size // 2) % size - size // 2).astype(np.float64)
    claimed = lattice._SIGMA * sqrt(2.0**126 * 2 * DEGREE)
    assert sqrt((noise**2).mean()) < claimed
    assert sqrt((noise**2).mean()) > claimed / 2.5
    most = claimed + 2.0**63 * 2 * DEGREE / 2
    million = SlotParameters.of(1_000_000, 2)
    # All calls of a run together, of as many blocks as it has.
    assert given.lattice == million.lattice
    coefficients = 3 * RUN_PRODUCTS // 2
    assert log2(0.5 * most * sqrt(3.1158 * coefficients)) - given.lattice.flood_bits < -40


def test_what_hides_the_products_of_a_run_is_within_what_is_stated():
    """The sums are T 2**126 in size at most, and a mask moves them within 2**191: T 2**-65 each."""
    given, own, peer = pair(1, 2)
    x, y = [words("largest"), words("lowest")], [words("largest")] * 2
    assert lattice_slots._MASK_TOP == (1 << 31) - 1
    assert RUN_PRODUCTS * 2.0**-65 == 2.0**-40
    for run in (given, SlotParameters.of(RUN_PRODUCTS // 2, 2), SlotParameters.of(RUN_PRODUCTS, 1)):
        assert run.products <= RUN_PRODUCTS
        assert run.lattice.idle_bits == 0
    assert SlotParameters.of(RUN_PRODUCTS // 2 + 1, 2) is None
    # With masks of zeros no sum falls below 0; the largest masks have a test of their own.
    peer._random = Octets(b"\x00", peer._random)
    second, first, masks = peer.respond(own.encrypt(0, y), x)
    assert (own.decrypt(second, first) - masks == x[0] * y[0] + x[1] * y[1]).all()


class Octets:
    """Constant bytes, and all else from an honest source."""

    def __init__(self, octet, honest):
        self._octet, self._honest = octet, honest

    def bytes(self, count):
        return self._octet * count

    def __getattr__(self, name):
        return getattr(self._honest, name)


@pytest.mark.parametrize("octet", [b"\x00", b"\xff"])
def test_the_largest_flood_is_still_decrypted(octet, monkeypatch):
    _, own, peer = pair(1, 2)
    honest = lattice_slots.drown

    class Constant:
        def bytes(self, count):
            return octet * count

    monkeypatch.setattr(lattice_slots, "drown", lambda given, _, first: honest(given, Constant(), first))
    x, y = [words("random")] * 2, [words("largest")] * 2
    second, first, masks = peer.respond(own.encrypt(0, y), x)
    assert (own.decrypt(second, first) - masks == 2 * x[0] * y[0]).all()


def test_parameters_keep_to_the_standard():
    for terms in (1, 2):
        for count in (1, 8193, 1 << 20, 1 << 24):
            given = SlotParameters.of(count, terms)
            assert given.lattice.modulus_bits <= DEGREES[DEGREE]
            assert given.lattice.modulus_bits >= 64 + given.lattice.flood_bits + 3
            assert given.error <= MAX_ERROR
            assert given.blocks * DEGREE >= count
    assert SlotParameters.of(1 << 90, 2) is None


def test_responses_to_equal_words_have_nothing_in_common():
    _, own, peer = pair(2, 1)
    x, y = [words("largest")], [words("zero")]
    (first, low, _), (second, high, _) = (peer.respond(own.encrypt(block, y), x) for block in range(2))
    assert (first == second).mean() < 0.001
    assert (low == high).mean() < 0.001


def test_more_than_the_flood_covers_is_refused():
    _, own, peer = pair(1, 1)
    query = own.encrypt(0, [words("zero")])
    with pytest.raises(UsageError, match="not the next"):
        own.encrypt(0, [words("zero")])
    with pytest.raises(UsageError, match="1 blocks of 1 products"):
        peer.respond(query, [words("zero")] * 2)
    peer.respond(query, [words("zero")])
    with pytest.raises(UsageError, match="1 blocks"):
        peer.respond(query, [words("zero")])
    assert repr(own) == f"OwnSlots({SlotParameters.of(DEGREE, 1)})"

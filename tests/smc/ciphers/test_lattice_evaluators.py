"""Evaluators that deviate: what shares that are opened after such an answer tell, and what they do not.

The attack answers with a monomial of the size of the scale. The key holder's share is then its secret, and
nobody finds it out; while shares stay where they are the evaluator has learned nothing. What is opened tells
of the secret of that product, and of no other.
"""

from __future__ import annotations

import numpy as np

from smc.ciphers import lattice_ring
from smc.ciphers.lattice import LatticeParameters, OwnLattice, _public
from tests.support.seeds import seeded

RANDOM = seeded()
FACTORS = 3
GIVEN = LatticeParameters.of(4096, 32, 1 << 12, FACTORS, FACTORS, 4096)
PLAIN = (FACTORS, GIVEN.degree)
LIMBS = lattice_ring.LIMB_BITS


def key_holder(secrets=1):
    """One with random integers under each of its secrets: it, its ciphertexts and the integers."""
    own = OwnLattice(GIVEN, secrets, FACTORS, RANDOM)
    plains = [
        RANDOM.words(FACTORS * GIVEN.degree).reshape(PLAIN) & np.uint64(0xFFFFFFFF) for _ in range(secrets)
    ]
    return own, [own.encrypt(number, plain) for number, plain in enumerate(plains)], plains


def answered(own):
    """The key holder's shares after a monomial: its secrets, if they are opened, shape (K, N)."""
    monomial = np.zeros((GIVEN.limbs, 1, GIVEN.degree), dtype=np.int64)
    monomial[GIVEN.scale // LIMBS, 0, 0] = 1 << GIVEN.scale % LIMBS
    second = lattice_ring.highest_limbs(monomial, GIVEN.second_bits)
    shares = own.decrypt(second, 1, lambda limb: limb.reshape(-1))
    return shares.astype(np.uint32).view(np.int32).astype(np.int64).reshape(-1, GIVEN.degree)


def read(own, limbs, secret):
    """What an evaluator makes of first components with a secret, shape (D, N)."""
    products = lattice_ring.backward(_public(GIVEN, own.seed, FACTORS) * lattice_ring.forward(secret))
    total = limbs.astype(np.int64) + np.moveaxis(products, 1, 0)
    return lattice_ring.highest(total[:, :FACTORS].copy(), GIVEN.width)


def part_right(found, plain):
    """Of all bits of integers, how many are as encrypted."""
    wrong = np.bitwise_count(found ^ plain).sum()
    return 1 - wrong / (GIVEN.width * plain.size)


def test_shares_that_are_opened_after_monomials_give_what_was_encrypted():
    """A limit of the level private, which the threat model states: the attack itself is right."""
    own, (limbs,), (plain,) = key_holder()
    (secret,) = answered(own)
    assert set(np.unique(secret)) == {-1, 0, 1}
    assert (read(own, limbs, secret) == plain).all()


def test_a_secret_that_was_read_opens_nothing_under_another():
    """Neither other columns of the same matrix nor another product: bits at chance, within 0.2 %."""
    own, (_, second), (_, plain) = key_holder(2)
    first = answered(own)[0]
    other, (limbs,), (others,) = key_holder()
    for holder, sent, hidden in ((own, second, plain), (other, limbs, others)):
        assert abs(part_right(read(holder, sent, first), hidden) - 0.5) < 0.01

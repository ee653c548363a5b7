"""Key holders that deviate: what the evaluator answers does not depend on what they have encrypted.

The first attack is the one that read whole tables while responses had first components: the key holder
encrypts fractions of the scale instead of multiples, so that what masks and floods hide is not what it asked.
"""

from __future__ import annotations

import numpy as np
import pytest

from smc.ciphers import lattice, lattice_ring
from smc.ciphers.lattice import LatticeParameters, OwnLattice, PeerLattice
from smc.ciphers.lattice_inner import ColumnParameters, OwnColumns, PeerColumns
from smc.ciphers.lattice_slots import OwnSlots, PeerSlots, SlotParameters
from smc.ciphers.slot_transform import DEGREE, GROUPS
from smc.numeric.random import Randomness
from tests.support.seeds import seeded

RANDOM = seeded()
BITS = 12
ROWS, INNER = 64, 4
"""Integers of `BITS` bits, which the key holder wants to read."""

CHOSEN = LatticeParameters.of(4096, 32, 1 << BITS, INNER, INNER, ROWS * INNER * BITS)


def limbs_of(value, count):
    """A number modulo q as limbs."""
    mask = (1 << lattice_ring.LIMB_BITS) - 1
    return [value >> lattice_ring.LIMB_BITS * place & mask for place in range(count)]


def fractions(x, respond):
    """Bits of x as the key holder reads them, bit by bit from the lowest, with what it knows of lower ones.

    Each secret's first components carry S / 2**(b + 1) at place i, for one bit b and one place i, so that
    coefficient 0 of the product is x_i S / 2**(b + 1): modulo S, bit b is the half of it.

    Args:
        x: shape (ROWS, INNER).
        respond: takes the key holder, the evaluator and x's polynomials, and gives what the key holder can
            compute of coefficients 0 as fractions of S, shape (ROWS, INNER * BITS).
    """
    secrets = INNER * BITS
    own = OwnLattice(CHOSEN, secrets, INNER, RANDOM)
    peer = PeerLattice(CHOSEN, own.seed, secrets, INNER, RANDOM)
    nothing = np.zeros((INNER, CHOSEN.degree), dtype=np.uint64)
    for number in range(secrets):
        place, bit = divmod(number, BITS)
        limbs = own.encrypt(number, nothing).astype(np.int64)
        limbs[:, place, 0] += limbs_of(1 << (CHOSEN.scale - bit - 1), CHOSEN.limbs)
        peer.take(number, lattice_ring.carry(limbs).astype(np.uint64))
    polynomials = np.zeros((ROWS, INNER, CHOSEN.degree), dtype=np.int64)
    polynomials[..., 0] = x
    seen = respond(own, peer, polynomials).reshape(ROWS, INNER, BITS)
    found = np.zeros((ROWS, INNER), dtype=np.int64)
    for bit in range(BITS):
        rest = (seen[..., bit] - found / 2.0 ** (bit + 1)) % 1
        found |= ((rest > 0.25) & (rest < 0.75)).astype(np.int64) << bit
    return found


def products(own, second):
    """c1 s at coefficient 0 for every response and secret, as limbs, shape (S, R, K)."""
    limbs = lattice_ring.forward(lattice_ring.balance(second.copy()))
    found = limbs[:, :, None] * own._secrets[None, None]
    return lattice_ring.backward(found)[..., 0]


def fraction(limbs):
    """What elements are modulo S, as fractions of it."""
    lattice_ring.carry(limbs)
    weights = 2.0 ** (
        lattice_ring.LIMB_BITS * (np.arange(len(limbs)) - len(limbs)) + CHOSEN.modulus_bits - CHOSEN.scale
    )
    return np.tensordot(weights, limbs.astype(np.float64), 1) % 1


def bits_right(found, x):
    """Of all bits, how many are as in x."""
    same = ~(found ^ x) >> np.arange(BITS)[:, None, None] & 1
    return same.mean()


def test_the_attack_reads_every_value_if_first_components_are_sent():
    """Masked by multiples of S and flooded up to S / 4, as they were: the attack itself is right."""
    x = np.array(RANDOM.below(1 << BITS, ROWS * INNER)).reshape(ROWS, INNER)

    def respond(own, peer, polynomials):
        second, first = peer._products(polynomials, 1)
        flood = sum(np.array(RANDOM.below(1 << 40, ROWS * INNER * BITS)) for _ in range(4)) / 2.0**40 - 2
        both = first[..., 0] + products(own, second)
        return fraction(both) + flood.reshape(ROWS, -1) / 8

    assert (fractions(x, respond) == x).all()


def test_the_attack_reads_nothing_from_what_is_sent():
    """Bits are right as often as tossed ones: half of 3,072, with a standard deviation of 0.9 %."""
    x = np.array(RANDOM.below(1 << BITS, ROWS * INNER)).reshape(ROWS, INNER)

    def respond(own, peer, polynomials):
        second, _ = peer.respond(polynomials, 1, lambda limb: limb.reshape(-1))
        return fraction(products(own, second))

    assert abs(bits_right(fractions(x, respond), x) - 0.5) < 0.05


def loud(limbs):
    """With noise of up to q / 4 in every coefficient."""
    noise = np.array(RANDOM.below(1 << (lattice_ring.LIMB_BITS - 2), limbs[-1].size))
    limbs[-1] += noise.astype(limbs.dtype).reshape(limbs[-1].shape)
    limbs[-1] &= (1 << lattice_ring.LIMB_BITS) - 1
    return limbs


def below(limbs):
    """S / 2 and what is next below it in the lowest coefficients, in place of all else."""
    limbs[:] = 0
    limbs[-2, ..., :BITS] = 1 << np.arange(BITS).astype(limbs.dtype)
    return limbs


def anything(limbs):
    """No ciphertexts at all."""
    drawn = lattice.uniform_limbs(RANDOM, limbs.size)
    return drawn.astype(limbs.dtype).reshape(limbs.shape)


def honest(limbs):
    """As they are."""
    return limbs


DEVIATIONS = (honest, loud, below, anything)


def matrices(spoil, zeros):
    """c1 for a key holder that spoils its first components, or its encryptions of zero."""
    own = OwnLattice(CHOSEN, 2, 3, Randomness.from_seed(b"1", "own"))
    peer = PeerLattice(CHOSEN, own.seed, 2, 3, Randomness.from_seed(b"2", "peer"))
    for number in range(2):
        limbs = own.encrypt(number, np.zeros((3, CHOSEN.degree), dtype=np.uint64))
        part = slice(3, None) if zeros else slice(3)
        limbs[:, part] = spoil(limbs[:, part].copy())
        peer.take(number, limbs)
    x = np.full((2, 3, CHOSEN.degree), 1 << BITS)
    return peer.respond(x, 1, lambda limb: limb.reshape(-1))


def columns(spoil, zeros):
    """As `matrices`, of long columns."""
    given = ColumnParameters.of(500, 2, 1 << BITS, 3, 32)
    own = OwnColumns(given, Randomness.from_seed(b"1", "own"))
    first = own.zeros()
    peer = PeerColumns(given, own.seed, spoil(first) if zeros else first, Randomness.from_seed(b"2", "peer"))
    limbs = own.encrypt(0, np.zeros((500, 2), dtype=np.uint64))
    peer.take(limbs if zeros else spoil(limbs))
    return peer.respond(np.full((3, 500), 1 << BITS))


def slots(spoil, zeros):
    """As `matrices`, of slots."""
    given = SlotParameters.of(DEGREE, 1)
    own = OwnSlots(given, Randomness.from_seed(b"1", "own"))
    first = own.zeros()
    peer = PeerSlots(given, own.seed, spoil(first) if zeros else first, Randomness.from_seed(b"2", "peer"))
    limbs = own.encrypt(0, [np.zeros(DEGREE, dtype=np.uint64)])
    if not zeros:
        for place in range(GROUPS):
            limbs[place, 0] = spoil(limbs[place, 0])
    return peer.respond(limbs, [[np.full(DEGREE, 3, dtype=np.uint64)]])


@pytest.mark.parametrize("zeros", [False, True])
@pytest.mark.parametrize("run", [matrices, columns, slots])
def test_what_is_sent_is_the_same_whatever_the_key_holder_has_encrypted(run, zeros):
    """From the same draws of the evaluator, bit for bit; its own shares are others, so each run took them."""
    sent, shares = zip(*(run(spoil, zeros) for spoil in DEVIATIONS), strict=True)
    for other, mine in zip(sent[1:], shares[1:], strict=True):
        assert (other == sent[0]).all()
        assert (mine != shares[0]).any()

"""Lattice encryption: noise at the worst data, what floods it, and an attack where nothing does."""

from __future__ import annotations

from math import log2, sqrt

import numpy as np
import pytest

from smc.ciphers import lattice, lattice_ring
from smc.ciphers.lattice import DEGREES, LatticeParameters, OwnLattice, PeerLattice, decode
from smc.errors import UsageError
from tests.support.seeds import seeded

RANDOM = seeded()
DEGREE = 4096
WIDTH = 24
BOUND = 128
ENTRIES = 512
SIZES = {"width": WIDTH, "bound": BOUND, "entries": ENTRIES, "factors": 4, "coefficients": 1 << 20}


def parameters(degree=DEGREE, **sizes):
    found = LatticeParameters.of(degree, **{**SIZES, **sizes})
    assert found is not None
    return found


def pair(chosen, secrets=2, factors=1, plain=None):
    """Both sides, with everything encrypted."""
    own = OwnLattice(chosen, secrets, factors, RANDOM)
    peer = PeerLattice(chosen, own.seed, secrets, factors, RANDOM)
    if plain is None:
        plain = RANDOM.words(secrets * factors * chosen.degree).reshape(secrets, factors, -1)
        plain = plain & np.uint64((1 << chosen.width) - 1)
    for number in range(secrets):
        peer.take(number, own.encrypt(number, plain[number]))
    return own, peer, plain


def integers(limbs):
    """Limbs as Python's integers modulo q, shape of one limb."""
    total = sum(limb.astype(object) << lattice_ring.LIMB_BITS * number for number, limb in enumerate(limbs))
    return total % (1 << lattice_ring.LIMB_BITS * len(limbs))


def everything(coefficients):
    return coefficients.reshape(-1)


def test_the_smaller_degree_has_no_secure_parameters_for_wide_words():
    assert LatticeParameters.of(4096, 43, BOUND, 4096, 1, 1 << 24) is None


@pytest.mark.parametrize(
    ("degree", "width"), [(4096, 1), (4096, 24), (4096, 32), (8192, 1), (8192, 24), (8192, 32), (8192, 43)]
)
@pytest.mark.parametrize("sign", [-1, 1])
def test_products_are_exact_at_the_worst_data(degree, width, sign):
    """All coefficients at the bound and of one sign, all plaintexts the largest."""
    chosen = parameters(degree, width=width, entries=degree, factors=1, coefficients=1 << 24)
    plain = np.full((1, 1, degree), (1 << width) - 1, dtype=np.uint64)
    own, peer, _ = pair(chosen, 1, 1, plain)
    factors = np.full((2, 1, degree), sign * BOUND, dtype=np.int64)
    second, first, masks = peer.respond(factors, 1, everything)
    found = decode(chosen, first, own.decrypt(second, 1).reshape(-1)) + masks
    # Coefficient i of the product of two constant polynomials is (2 i + 2 - N) times their constants.
    each = sign * BOUND * ((1 << width) - 1)
    wanted = [(2 * i + 2 - degree) * each % (1 << width) for i in range(degree)]
    assert (found & np.uint64((1 << width) - 1)).tolist() == 2 * wanted


def noise_of(chosen, own, peer, plain, factors):
    """c0 + c1 s - D x m as the key holder could compute it if nothing were flooded and c1 not rounded."""
    highest = lattice.highest
    kept = []
    lattice.highest = lambda limbs, bits: (kept.append(limbs.copy()), highest(limbs, bits))[1]
    try:
        _, first = peer._products(factors, 1)
    finally:
        lattice.highest = highest
    (second,) = kept
    secrets = lattice_ring.backward(own._secrets)
    limbs = lattice_ring.forward(lattice_ring.balance(second.copy()))
    modulus = 1 << chosen.modulus_bits
    result = []
    for number, secret in enumerate(secrets):
        products = lattice_ring.backward(limbs * lattice_ring.forward(secret))
        exact = lattice_ring.backward(
            lattice_ring.forward(factors[:, 0]) * lattice_ring.forward(plain[number, 0].astype(np.int64))
        )
        total = integers(first[:, :, number]) + integers(products) - (exact.astype(object) << chosen.scale)
        total = (total + modulus // 2) % modulus - modulus // 2
        result.append(total.astype(np.float64))
    return np.stack(result, axis=1)


@pytest.mark.parametrize("filled", [0.0, 0.5, 1.0])
def test_the_noise_is_no_larger_than_the_flood_covers(filled):
    """Its root mean square is at most what `LatticeParameters.of` takes, at the largest data too.

    Signs are drawn, so that coefficients are nearly independent and the estimate from 8,192 of them has a
    standard deviation of 1 %; it is compared with 10 % to spare.
    """
    chosen = parameters(entries=DEGREE, factors=1)
    own, peer, plain = pair(chosen, plain=np.zeros((2, 1, DEGREE), dtype=np.uint64))
    factors = BOUND * (2 * RANDOM.bits(DEGREE).astype(np.int64) - 1).reshape(1, 1, DEGREE)
    factors[..., int(filled * DEGREE) :] = 0
    noise = noise_of(chosen, own, peer, plain, factors)
    claimed = lattice._SIGMA * sqrt(BOUND**2 * DEGREE * filled + 4 * DEGREE / 3) * 2.0**chosen.idle_bits
    measured = sqrt((noise**2).mean())
    assert 0.9 * claimed < measured < 1.1 * claimed
    distance = 0.5 * measured * sqrt(3.1158 * SIZES["coefficients"]) / 2.0**chosen.flood_bits
    assert log2(distance) < -39.8


def test_flooded_responses_are_as_wide_as_claimed():
    """The sum of four uniform draws has the standard deviation 2**f / sqrt(3) and stays within 2**(f + 1)."""
    chosen = parameters()
    _, peer, _ = pair(chosen)
    seen = []
    highest = lattice.highest
    lattice.highest = lambda limbs, bits: (seen.append(integers(limbs)), highest(limbs, bits))[1]
    try:
        peer._flooded(np.zeros((chosen.limbs, 20000), dtype=np.int64), np.zeros(20000, dtype=np.uint64))
    finally:
        lattice.highest = highest
    modulus = 1 << chosen.modulus_bits
    flood = ((seen[0] + modulus // 2) % modulus - modulus // 2).astype(np.float64) / 2.0**chosen.flood_bits
    assert np.abs(flood).max() <= 2
    assert abs(flood.mean()) < 0.03
    assert abs(flood.std() - 1 / sqrt(3)) < 0.02


@pytest.mark.parametrize("octet", [b"\x00", b"\xff"])
def test_the_largest_flood_is_still_decrypted(octet, monkeypatch):
    """Four draws of the largest value, or of zero, beside the rounding of c0 and c1."""
    chosen = parameters()
    own, peer, plain = pair(chosen, secrets=1)
    second, limbs = peer._products(np.zeros((1, 1, DEGREE), dtype=np.int64) + 1, 1)
    monkeypatch.setattr(peer, "_random", Constant(octet))
    first = peer._flooded(limbs.reshape(chosen.limbs, -1), np.zeros(DEGREE, dtype=np.uint64))
    found = decode(chosen, first, own.decrypt(second, 1).reshape(-1))
    exact = lattice_ring.backward(
        lattice_ring.forward(np.ones(DEGREE, dtype=np.int64))
        * lattice_ring.forward(plain[0, 0].astype(np.int64))
    )
    assert (found == exact.astype(np.uint64) & np.uint64((1 << WIDTH) - 1)).all()


class Constant:
    """A source that draws one octet for ever."""

    def __init__(self, octet):
        self.octet = octet

    def bytes(self, count):
        return self.octet * count


def test_without_a_flood_the_key_holder_reads_the_factors():
    """The attack that the flood is against: errors are known to the key holder, and the noise is linear in x.

    From coefficients of several secrets it solves for the entries of x; a flood of the claimed width leaves
    estimates a thousand billion times wider than the entries.
    """
    chosen = parameters()
    drawn, errors = [], lattice.errors
    secrets, entries = 3, 16

    def kept(*given):
        drawn.append(errors(*given))
        return drawn[-1]

    lattice.errors = kept
    try:
        own = OwnLattice(chosen, secrets, 1, RANDOM)
        peer = PeerLattice(chosen, own.seed, secrets, 1, RANDOM)
        plain = np.zeros((secrets, 1, DEGREE), dtype=np.uint64)
        for number in range(secrets):
            peer.take(number, own.encrypt(number, plain[number]))
    finally:
        lattice.errors = errors
    own_errors = np.stack([e.reshape(2, DEGREE)[0] for e in drawn])
    factors = np.zeros((1, 1, DEGREE), dtype=np.int64)
    factors[0, 0, :entries] = np.array(RANDOM.below(2 * BOUND + 1, entries)) - BOUND
    noise = noise_of(chosen, own, peer, plain, factors)[0]
    # Coefficient t of x e is the sum over i of x_i e_(t - i), with a change of sign where t < i.
    columns = []
    for i in range(entries):
        shifted = np.roll(own_errors, i, axis=1)
        shifted[:, :i] *= -1
        columns.append(shifted.reshape(-1))
    matrix = np.stack(columns, axis=1).astype(np.float64)
    found, *_ = np.linalg.lstsq(matrix, noise.reshape(-1), rcond=None)
    assert np.abs(found - factors[0, 0, :entries]).max() < 6
    spread = 2.0**chosen.flood_bits / sqrt(3)
    flood = (
        np.array([sum(RANDOM.below(1 << 53, 4)) / 2**53 - 2 for _ in range(noise.size)]) * spread * sqrt(3)
    )
    blind, *_ = np.linalg.lstsq(matrix, noise.reshape(-1) + flood, rcond=None)
    assert np.abs(blind - factors[0, 0, :entries]).min() > 1e10


def test_parameters_keep_to_the_standard():
    for degree, most in DEGREES.items():
        for width in range(1, 60):
            for bits in (1, 8, 16, 24):
                found = LatticeParameters.of(degree, width, 1 << bits, ENTRIES, 4, 1 << 24)
                if found is not None:
                    # What is not idle of q is within the guidelines of 2024.
                    assert found.modulus_bits - found.idle_bits <= most
                    assert found.second_bits <= 54
                    assert found.modulus_bits >= width + found.flood_bits + 3
    assert DEGREES == {4096: 106, 8192: 214}
    assert LatticeParameters.of(4096, 24, 1 << 40, 4096, 4, 1 << 20) is None
    assert LatticeParameters.of(8192, 44, 1, 1, 1, 1) is None


@pytest.mark.parametrize("degree", DEGREES)
def test_all_is_a_multiple_of_the_idle_bits(degree):
    """Ciphertexts modulo a longer q are those of the secure ring, scaled: nothing stands in the idle bits."""
    given = next(
        found
        for bits in range(60)
        if (found := LatticeParameters.flooded(degree, 32, DEGREES[degree] - 95 + bits)) and found.idle_bits
    )
    assert given.modulus_bits - given.idle_bits == DEGREES[degree]
    assert given.flood_bits + 32 + 3 <= given.modulus_bits
    mask = (1 << given.idle_bits) - 1
    own = OwnLattice(given, 1, 2, RANDOM)
    plain = RANDOM.words(2 * degree).reshape(2, degree) & np.uint64((1 << 32) - 1)
    limbs = own.encrypt(0, plain)
    assert not (limbs[0] & np.uint64(mask)).any()
    assert len(np.unique(limbs[0])) > 1000
    errors = lattice.errors(given, RANDOM, 9000)
    assert not (errors & mask).any()
    assert abs((errors >> given.idle_bits).var() - 10.5) < 1
    peer = PeerLattice(given, own.seed, 1, 2, RANDOM)
    peer.take(0, limbs)
    x = np.zeros((1, 2, degree), dtype=np.int64)
    x[0, :, 0] = 3, 1
    second, first, masks = peer.respond(x, 1, lambda limb: limb.reshape(-1))
    found = decode(given, first.reshape(1, 1, -1), own.decrypt(second, 1)).reshape(-1)
    assert ((found + masks) % (1 << 32) == (3 * plain[0] + plain[1]) % (1 << 32)).all()


def test_draws():
    """Means and spreads of 90,000 draws; each bound is over six standard deviations."""
    ternary, errors = (
        lattice.ternary(RANDOM, 90000),
        lattice.errors(LatticeParameters(8192, 9, 32, 60), RANDOM, 90000),
    )
    assert sorted(set(ternary.tolist())) == [-1, 0, 1]
    for value in (-1, 0, 1):
        assert abs((ternary == value).sum() - 30000) < 900
    assert abs(errors.mean()) < 0.07
    assert abs(errors.var() - 10.5) < 0.32
    assert np.abs(errors).max() <= 21


def test_a_secret_encrypts_once():
    own = OwnLattice(parameters(), 2, 1, RANDOM)
    plain = np.zeros((1, DEGREE), dtype=np.uint64)
    own.encrypt(1, plain)
    with pytest.raises(UsageError, match="Secret 1 has encrypted before"):
        own.encrypt(1, plain)


def test_secrets_are_not_shown():
    own, peer, _ = pair(parameters())
    assert repr(own) == f"OwnLattice({parameters()})"
    assert "seed" not in repr(peer)

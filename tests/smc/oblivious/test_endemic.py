"""The two halves of base transfers alone: keys, what the peer sees of the choices, and hashes to groups."""

from __future__ import annotations

import numpy as np
import pytest
from coincurve import PublicKey
from cryptography.exceptions import UnsupportedAlgorithm
from cryptography.hazmat.primitives.asymmetric.mlkem import MLKEM768PrivateKey

from smc.errors import UsageError
from smc.oblivious import endemic_lattice
from smc.oblivious.endemic_curve import CurveReceiver, CurveSender, to_curve
from smc.oblivious.endemic_lattice import (
    COEFFICIENTS,
    MODULUS,
    LatticeReceiver,
    decode,
    encapsulate,
    pack,
    to_ring,
    unpack,
)
from tests.support.seeds import seeded

RANDOM = seeded()
NAME = b"somebody"
Z = 4.9  # standard deviations: a false alarm once in a million


@pytest.mark.parametrize("side", [0, 1])
def test_the_curve_gives_one_secret_of_each_pair(side):
    choices = np.array([0, 1, side], dtype=np.uint8)
    receiver, sender = CurveReceiver(NAME, choices, RANDOM), CurveSender(RANDOM)
    pairs = sender.secrets(NAME, receiver.points)
    for choice, pair, secret in zip(choices, pairs, receiver.secrets(sender.point), strict=True):
        assert secret == pair[choice] != pair[1 - choice]
    assert not {each for pair in sender.secrets(b"another", receiver.points) for each in pair} & {
        each for pair in pairs for each in pair
    }


@pytest.mark.parametrize("side", [0, 1])
def test_the_lattice_gives_one_secret_of_each_pair(side):
    choices = np.array([0, 1, side], dtype=np.uint8)
    receiver = LatticeReceiver(NAME, choices, RANDOM)
    ciphertexts, pairs = encapsulate(NAME, receiver.seeds, receiver.keys, RANDOM)
    for choice, pair, secret in zip(choices, pairs, receiver.secrets(ciphertexts), strict=True):
        assert secret == pair[choice] != pair[1 - choice]
    ciphertexts, pairs = encapsulate(b"another", receiver.seeds, receiver.keys, RANDOM)
    assert not {each for pair in pairs for each in pair} & set(receiver.secrets(ciphertexts))


def test_one_choice_on_the_curve_and_another_on_the_lattice_give_no_key():
    """Both secrets of a side are needed: such a receiver has one of each, and no pair."""
    curve, lattice = (
        CurveReceiver(NAME, np.zeros(1, np.uint8), RANDOM),
        LatticeReceiver(NAME, np.ones(1, np.uint8), RANDOM),
    )
    sender = CurveSender(RANDOM)
    ciphertexts, shared = encapsulate(NAME, lattice.seeds, lattice.keys, RANDOM)
    (found,) = sender.secrets(NAME, curve.points)
    has = curve.secrets(sender.point)[0], lattice.secrets(ciphertexts)[0]
    assert has == (found[0], shared[0][1])
    assert all(has != (found[side], shared[0][side]) for side in (0, 1))


@pytest.mark.parametrize("choice", [0, 1])
def test_points_of_both_sides_look_alike(choice):
    """Signs and bits of the points are fair at both sides, whatever the choice."""
    count = 400
    points = CurveReceiver(NAME, np.full(count, choice, np.uint8), RANDOM).points
    for part in (points[:, :33], points[:, 33:]):
        signs = int((part[:, 0] & 1).sum())
        assert abs(signs - count / 2) < Z * (count / 4) ** 0.5
        bits = np.unpackbits(part[:, 1:])
        assert abs(int(bits.sum()) - bits.size / 2) < Z * (bits.size / 4) ** 0.5


@pytest.mark.parametrize("choice", [0, 1])
def test_lattice_keys_of_both_sides_look_uniform(choice):
    count = 60
    keys = decode(LatticeReceiver(NAME, np.full(count, choice, np.uint8), RANDOM).keys)
    for side in (0, 1):
        words = keys[:, side].reshape(-1)
        counts = np.bincount(words, minlength=MODULUS)
        expected = words.size / MODULUS
        statistic = float(((counts - expected) ** 2 / expected).sum())
        degrees = MODULUS - 1
        assert abs(statistic - degrees) < Z * (2 * degrees) ** 0.5


def test_hashes_to_the_curve_are_fair_and_negate():
    points = [to_curve(NAME, index, 0, b"point").format() for index in range(400)]
    signs = sum(point[0] & 1 for point in points)
    assert abs(signs - 200) < Z * 10
    assert len(set(points)) == 400
    for index in range(10):
        point, opposite = (to_curve(NAME, index, 0, b"point", negated=each) for each in (False, True))
        with pytest.raises(ValueError):
            PublicKey.combine_keys([point, opposite])


def test_hashes_depend_on_all_that_they_are_named_by():
    curve = {
        to_curve(name, index, side, other).format()
        for name in (b"1" * 40, b"2" * 40)
        for index in (0, 1)
        for side in (0, 1)
        for other in (b"a" * 33, b"b" * 33)
    }
    ring = {
        row.tobytes()
        for name in (b"1" * 40, b"2" * 40)
        for side in (0, 1)
        for seed in (0, 1)
        for other in (0, 1)
        for row in to_ring(
            name, [side] * 2, np.full((2, 32), seed, np.uint8), np.full((2, 1152), other, np.uint8)
        )
    }
    assert (len(curve), len(ring)) == (16, 32)


def test_twelve_bit_words_are_encoded_as_the_library_does():
    """A key whose words are changed and packed again is the same key to the library."""
    secret = MLKEM768PrivateKey.from_seed_bytes(RANDOM.bytes(64))
    public = np.frombuffer(secret.public_key().public_bytes_raw(), dtype=np.uint8)
    words = decode(public[:1152])
    assert words.shape == (COEFFICIENTS,)
    assert (pack(words) == public[:1152]).all()
    drawn = np.array(RANDOM.below(4096, 12), dtype=np.uint16).reshape(2, 6)
    assert (unpack(pack(drawn)) == drawn).all()
    assert unpack(np.array([1, 0x20, 0], np.uint8)).tolist() == [1, 2]


def test_a_library_without_the_cipher_is_named(monkeypatch):
    def refuse(data):
        raise UnsupportedAlgorithm("no")

    monkeypatch.setattr(endemic_lattice.MLKEM768PrivateKey, "from_seed_bytes", refuse)
    with pytest.raises(UsageError, match="ML-KEM-768"):
        LatticeReceiver(NAME, np.zeros(1, np.uint8), RANDOM)

"""Encapsulation with given randomness, held against the library, which opens no other ciphertext."""

from __future__ import annotations

import hashlib

import numpy as np
import pytest
from cryptography.hazmat.primitives.asymmetric.mlkem import MLKEM768PrivateKey

from smc.numeric.random import Randomness
from smc.oblivious import ml_kem
from smc.oblivious.endemic_lattice import LatticeReceiver, encapsulate
from smc.oblivious.ml_kem import CIPHERTEXT_BYTES, KEY_BYTES, MESSAGE_BYTES
from tests.support.grids import grid
from tests.support.seeds import seeded

RANDOM = seeded()


def keys(count):
    """Private keys, and the rows of their public ones."""
    secrets = [MLKEM768PrivateKey.from_seed_bytes(RANDOM.bytes(64)) for _ in range(count)]
    rows = b"".join(secret.public_key().public_bytes_raw() for secret in secrets)
    return secrets, np.frombuffer(rows, dtype=np.uint8).reshape(count, -1)


def messages(count):
    return np.frombuffer(RANDOM.bytes(count * MESSAGE_BYTES), dtype=np.uint8).reshape(count, -1)


@pytest.mark.parametrize("count", grid([1, 40, 3000], [1, 40]))
def test_the_library_opens_what_is_sealed_here(count):
    """It seals the opened message again, and gives another secret unless every byte is the same."""
    secrets, rows = keys(count)
    ciphertexts, sealed = ml_kem.encapsulate(rows[:, :KEY_BYTES], rows[:, KEY_BYTES:], messages(count))
    assert ciphertexts.shape == (count, CIPHERTEXT_BYTES)
    opened = [secret.decapsulate(row.tobytes()) for secret, row in zip(secrets, ciphertexts, strict=True)]
    assert opened == sealed
    assert len({*sealed}) == count
    ciphertexts[:, 0] ^= 1
    for secret, row, wrong in zip(secrets, ciphertexts, sealed, strict=True):
        assert secret.decapsulate(row.tobytes()) != wrong


def test_messages_of_all_zeros_and_all_ones_are_opened():
    secrets, rows = keys(2)
    given = np.stack([np.zeros(32, np.uint8), np.full(32, 255, np.uint8)])
    ciphertexts, sealed = ml_kem.encapsulate(rows[:, :KEY_BYTES], rows[:, KEY_BYTES:], given)
    assert [s.decapsulate(c.tobytes()) for s, c in zip(secrets, ciphertexts, strict=True)] == sealed


def test_a_stream_with_few_reduced_words_is_drawn_on(monkeypatch):
    """The first 256 reduced words of a stream are the same, however many are drawn at once."""
    names = [bytes([number]) * 34 for number in range(50)]
    usual = ml_kem._uniform(names)
    monkeypatch.setattr(ml_kem, "_DRAWN_BYTES", 390)
    assert np.array_equal(ml_kem._uniform(names), usual)
    stream = np.frombuffer(hashlib.shake_128(names[0]).digest(1008), dtype=np.uint8)
    words = ml_kem.unpack(stream)
    assert usual[0].tolist() == words[words < ml_kem.MODULUS][:256].tolist()


def test_transfers_of_a_run_that_replays_follow_from_its_seed():
    receiver = LatticeReceiver(b"somebody", np.array([0, 1, 1], dtype=np.uint8), RANDOM)
    given = b"somebody", receiver.seeds, receiver.keys
    first, again, other, drawn = (
        encapsulate(*given, random)
        for random in (
            *(Randomness.of_run(seed * 32) for seed in (b"a", b"a", b"b")),
            Randomness.from_seed(b"a", "run"),
        )
    )
    assert np.array_equal(first[0], again[0])
    assert first[1] == again[1]
    for ciphertexts, pairs in (first, other, drawn):
        secrets = receiver.secrets(ciphertexts)
        assert secrets == [pair[choice] for pair, choice in zip(pairs, (0, 1, 1), strict=True)]
    assert len({each[0].tobytes() for each in (first, other, drawn)}) == 3

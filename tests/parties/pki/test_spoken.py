"""Fingerprints as words: those of BIP-39, and as different as the fingerprints."""

from __future__ import annotations

import base64

import pytest

from parties.pki.spoken import words_of


def fingerprint(data):
    letters = base64.b32encode(data).decode()
    return "-".join(letters[i : i + 4] for i in range(0, 32, 4))


@pytest.mark.parametrize(
    ("data", "words"),
    [
        (bytes(20), ["abandon"] * 14 + ["address"]),
        (b"\xff" * 20, ["zoo"] * 14 + ["wrist"]),
        (b"\x80" * 20, ["letter", "advice", "cage", "absurd", "amount", "doctor", "acoustic", "avoid"]),
    ],
)
def test_the_words_are_those_of_bip39(data, words):
    assert [*words_of(fingerprint(data))][: len(words)] == words


def test_every_bit_changes_a_word():
    start = int.from_bytes(b"duetto pairing file.", "big")
    said = {words_of(fingerprint((start ^ 1 << bit).to_bytes(20, "big"))) for bit in range(160)}
    assert len(said) == 160
    assert all(len(words) == 15 for words in said)

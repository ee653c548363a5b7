"""The lattice's half of base transfers: endemic transfers by ML-KEM-768, whose keys are added in the ring.

    sender                                  receiver (choices c_i)
                              <-- rho_i, t_i0, t_i1 --   a key (t, rho_i) with its secret;
                                                         t_i(1-c) random, t_ic = t - H(i, c, rho_i, t_i(1-c))
      a ciphertext and k_ij for each key
      (t_ij + H(i, j, rho_i, t_i(1-j)), rho_i)
                              -- ciphertexts -->         k_ic from the ciphertext of its key

t has 768 coefficients modulo 3329 and is added coefficient by coefficient, in the domain and encoding in
which FIPS 203 sends it. Both sides of a transfer have one rho, which is uniform whatever the choice is.

Inputs: choices at the receiver.
Outputs: both secrets of each transfer at the sender, that of the choice at the receiver.
Learns: the sender nothing, if t of a key looks uniform beside rho (module learning with errors), also if its
ciphertexts are not honest: a bad one gives the receiver a secret that the sender does not know, and no error.
The receiver one secret of each transfer, as in `smc.oblivious.endemic_curve`: the other key is a uniform t
that it did not choose, and a ciphertext to a uniform t hides what it holds (module learning with errors).
Assumes: module learning with errors with the parameters of ML-KEM-768, that ML-KEM-768 hides its secret, H
and the hashes of FIPS 203 as random oracles.
Reference: Masny and Rindal, Endemic oblivious transfer, CCS 2019, section on lattices; FIPS 203. See
docs/proofs/base-transfers.md.
"""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from typing import Final

import numpy as np
from cryptography.exceptions import UnsupportedAlgorithm
from cryptography.hazmat.primitives.asymmetric.mlkem import MLKEM768PrivateKey, MLKEM768PublicKey
from numpy.typing import NDArray

from smc.errors import ProtocolViolation, UsageError
from smc.numeric.random import Randomness
from smc.oblivious import ml_kem
from smc.oblivious.bitmatrix import Bit
from smc.oblivious.ml_kem import CIPHERTEXT_BYTES, DEGREE, KEY_BYTES, MESSAGE_BYTES, MODULUS, RANK, unpack

COEFFICIENTS: Final = RANK * DEGREE
SEED_BYTES: Final = 32

_PRIVATE_BYTES: Final = 64
_DRAWN_BYTES: Final = 1200 * 12 // 8
"""Of words of 12 bits: 975 of them are expected to be reduced, and fewer than 768 once in 2**160 times."""

_DOMAIN: Final = b"duetto/oblivious/base-to-ring/1"

Ring = NDArray[np.uint16]
"""Vectors of coefficients in [0, 3329), shape (..., 768)."""


def pack(words: Ring) -> NDArray[np.uint8]:
    """What `unpack` undoes."""
    low, high = words[..., ::2], words[..., 1::2]
    data = np.stack([low & 255, low >> 8 | (high & 15) << 4, high >> 4], axis=-1).astype(np.uint8)
    return data.reshape(*words.shape[:-1], -1)


def decode(data: NDArray[np.uint8]) -> Ring:
    """Keys from the peer, shape (..., 1152) to (..., 768).

    Raises:
        ProtocolViolation: a coefficient is not reduced.
    """
    words = unpack(data)
    if (words >= MODULUS).any():
        raise ProtocolViolation(
            "A key from the peer in the set-up of oblivious transfer has a coefficient outside its modulus."
        )
    return words


def _reduce_first(data: bytes) -> Ring:
    """The first 768 reduced words of each row of `_DRAWN_BYTES`, shape (n, 768)."""
    words = unpack(np.frombuffer(data, dtype=np.uint8).reshape(-1, _DRAWN_BYTES))
    reduced = words < MODULUS
    first = reduced & (np.cumsum(reduced, axis=1, dtype=np.uint16) <= COEFFICIENTS)
    return words[first].reshape(-1, COEFFICIENTS)


def to_ring(name: bytes, sides: Sequence[int], seeds: NDArray[np.uint8], others: NDArray[np.uint8]) -> Ring:
    """H for each of n transfers, uniform, shape (n, 768).

    Args:
        name: of the receiver and its run.
        sides: to whose key the hash is added, n of them.
        seeds: rho of each transfer, shape (n, 32).
        others: the key of the other side, as it is sent, shape (n, 1152).
    """
    prefixes = (_DOMAIN + name + index.to_bytes(2, "big") + bytes([side]) for index, side in enumerate(sides))
    inputs = (
        prefix + seed.tobytes() + other.tobytes()
        for prefix, seed, other in zip(prefixes, seeds, others, strict=True)
    )
    return _reduce_first(b"".join(hashlib.shake_128(each).digest(_DRAWN_BYTES) for each in inputs))


class LatticeReceiver:
    """The receiver of transfers.

    Args:
        name: of this party and its run, which no other run has.
        choices: bits, shape (n,).
        random: the source of keys.

    Attributes:
        seeds: rho of each transfer, for the sender, shape (n, 32).
        keys: t_i0 and t_i1, for the sender, shape (n, 2, 1152).

    Raises:
        UsageError: the library of this installation has no ML-KEM-768.
    """

    def __init__(self, name: bytes, choices: Bit, random: Randomness) -> None:
        self._choices = choices.tolist()
        self._secrets = [_private_key(random.bytes(_PRIVATE_BYTES)) for _ in self._choices]
        encoded = b"".join(secret.public_key().public_bytes_raw() for secret in self._secrets)
        public = np.frombuffer(encoded, dtype=np.uint8).reshape(-1, KEY_BYTES + SEED_BYTES)
        self.seeds = public[:, KEY_BYTES:]
        others = pack(_reduce_first(random.bytes(len(public) * _DRAWN_BYTES)))
        hashed = to_ring(name, self._choices, self.seeds, others)
        chosen = pack((unpack(public[:, :KEY_BYTES]) + (MODULUS - hashed)) % MODULUS)
        self.keys = np.empty((len(public), 2, KEY_BYTES), dtype=np.uint8)
        places = np.arange(len(public))
        self.keys[places, choices], self.keys[places, 1 - choices] = chosen, others

    def secrets(self, ciphertexts: NDArray[np.uint8]) -> list[bytes]:
        """Those of the choices, of 32 bytes.

        Args:
            ciphertexts: from the sender, shape (n, 2, 1088).
        """
        return [
            open_ciphertext(secret, pair[choice].tobytes())
            for secret, pair, choice in zip(self._secrets, ciphertexts, self._choices, strict=True)
        ]


def encapsulate(
    name: bytes, seeds: NDArray[np.uint8], keys: NDArray[np.uint8], random: Randomness
) -> tuple[NDArray[np.uint8], list[tuple[bytes, bytes]]]:
    """The sender's side; the library draws the randomness of ciphertexts itself, but in runs that replay.

    Args:
        name: of the receiver and its run.
        seeds: from there, shape (n, 32).
        keys: from there, shape (n, 2, 1152).
        random: the source of the run.

    Returns:
        The ciphertexts for the receiver, shape (n, 2, 1088), and both secrets of each transfer, of 32 bytes.

    Raises:
        ProtocolViolation: a key is none.
    """
    offered = decode(keys)
    hashed = [to_ring(name, [side] * len(keys), seeds, keys[:, 1 - side]) for side in (0, 1)]
    chosen = pack((offered + np.stack(hashed, axis=1)) % MODULUS).reshape(-1, KEY_BYTES)
    # One after the other: both keys of a transfer have its rho.
    ciphertexts, secrets = _seal_keys(chosen, seeds.repeat(2, axis=0), random)
    pairs = list(zip(secrets[::2], secrets[1::2], strict=True))
    return ciphertexts.reshape(-1, 2, CIPHERTEXT_BYTES), pairs


def _seal_keys(
    keys: NDArray[np.uint8], seeds: NDArray[np.uint8], random: Randomness
) -> tuple[NDArray[np.uint8], list[bytes]]:
    """Ciphertexts to keys, shape (n, 1088), and what they hold."""
    if random.replays:
        drawn = random.bytes(len(keys) * MESSAGE_BYTES)
        return ml_kem.encapsulate(keys, seeds, np.frombuffer(drawn, np.uint8).reshape(-1, MESSAGE_BYTES))
    sent = [seal(row.tobytes()) for row in np.concatenate([keys, seeds], axis=1)]
    ciphertexts = np.frombuffer(b"".join(each for _, each in sent), np.uint8)
    return ciphertexts.reshape(-1, CIPHERTEXT_BYTES), [secret for secret, _ in sent]


def seal(key: bytes) -> tuple[bytes, bytes]:
    """A fresh secret, and its ciphertext to a key of the library."""
    return MLKEM768PublicKey.from_public_bytes(key).encapsulate()


def open_ciphertext(secret: MLKEM768PrivateKey, ciphertext: bytes) -> bytes:
    """The secret in a ciphertext; of one that is not honest a random one."""
    return secret.decapsulate(ciphertext)


def _private_key(seed: bytes) -> MLKEM768PrivateKey:
    try:
        return MLKEM768PrivateKey.from_seed_bytes(seed)
    except UnsupportedAlgorithm:
        raise UsageError(
            "The library cryptography of this installation was built without ML-KEM-768, which oblivious "
            "transfer takes.",
            "Install the wheel of that library, or build it with OpenSSL 3.5 or later.",
        ) from None

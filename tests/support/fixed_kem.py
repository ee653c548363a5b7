"""A key encapsulation without randomness, for runs of which all bytes have to follow from the parties' seeds.

The library draws for each ciphertext of the base transfers itself. Here a ciphertext follows from the key and
the secret from the ciphertext, which anybody can compute; all that is around them stays as it is.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterator
from contextlib import contextmanager

import pytest
from cryptography.hazmat.primitives.asymmetric.mlkem import MLKEM768PrivateKey

from smc.oblivious import endemic_lattice
from smc.oblivious.ml_kem import CIPHERTEXT_BYTES


def sealed(key: bytes) -> tuple[bytes, bytes]:
    """As `endemic_lattice.seal`, without secrecy."""
    ciphertext = hashlib.shake_256(key).digest(CIPHERTEXT_BYTES)
    return hashlib.sha256(ciphertext).digest(), ciphertext


def opened(secret: MLKEM768PrivateKey, ciphertext: bytes) -> bytes:
    """As `endemic_lattice.open_ciphertext`; fails where the ciphertext is not to the key of this secret."""
    assert sealed(secret.public_key().public_bytes_raw())[1] == ciphertext
    return hashlib.sha256(ciphertext).digest()


@contextmanager
def fixed_kem() -> Iterator[None]:
    """Within, base transfers take this one."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(endemic_lattice, "seal", sealed)
        patch.setattr(endemic_lattice, "open_ciphertext", opened)
        yield

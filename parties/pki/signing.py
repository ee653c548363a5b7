"""Signing keys: what signs for a party, and the texts by which people name the key of a signature."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Final, Protocol

from cryptography.exceptions import UnsupportedAlgorithm
from cryptography.hazmat.primitives import serialization
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PublicKey

from parties.errors import PairingError

_HEX = re.compile(r"[0-9a-f]{64}")
_FILE_BYTES: Final = 1 << 14


class SigningKey(Protocol):
    """A private Ed25519 key: one in memory, as `cryptography` has it, or one in a token."""

    def sign(self, data: bytes, /) -> bytes:
        """The signature over some bytes, 64 bytes. A token raises TokenError where it does not sign."""
        ...

    def public_key(self) -> Ed25519PublicKey:
        """The public key."""
        ...


def key_text(key: Ed25519PublicKey) -> str:
    """The key as 64 hexadecimal digits, as a pairing file has it."""
    raw = key.public_bytes(serialization.Encoding.Raw, serialization.PublicFormat.Raw)
    return raw.hex()


def parse_key(text: str) -> Ed25519PublicKey:
    """The key of 64 hexadecimal digits.

    Raises:
        PairingError: the text is none.
    """
    if not _HEX.fullmatch(text):
        raise PairingError(
            "The signing key is not 64 hexadecimal digits.", "Copy it from `duetto keys show` of that party."
        )
    return Ed25519PublicKey.from_public_bytes(bytes.fromhex(text))


def named_key(text: str) -> Ed25519PublicKey:
    """The key that a user names: 64 hexadecimal digits, or a PEM file of a public Ed25519 key.

    Raises:
        PairingError: it is neither.
    """
    if _HEX.fullmatch(text.lower()):
        return parse_key(text.lower())
    try:
        with Path(text).open("rb") as file:
            key = serialization.load_pem_public_key(file.read(_FILE_BYTES))
    except (OSError, ValueError, UnsupportedAlgorithm) as problem:
        raise PairingError(
            f"{text!r} is neither a signing key nor a PEM file with one ({type(problem).__name__}).",
            "Give the 64 hexadecimal digits that `duetto keys show` prints.",
        ) from None
    if not isinstance(key, Ed25519PublicKey):
        raise PairingError(f"{text!r} does not hold an Ed25519 key.", "Give the party's signing key.")
    return key

"""A fingerprint as words that two people read out to each other on the telephone.

The 160 bits of a fingerprint are the entropy of BIP-39: fifteen of its 2,048 English words, the last of which
holds five bits of a checksum.
"""

from __future__ import annotations

import base64
import hashlib
from functools import cache
from importlib import resources
from typing import Final

_BITS: Final = 160
_CHECK_BITS: Final = _BITS // 32
_WORD_BITS: Final = 11


def words_of(fingerprint: str) -> tuple[str, ...]:
    """The fifteen words of a fingerprint.

    Args:
        fingerprint: eight groups of four of A-Z and 2-7, as `Pairing.fingerprint` writes it.
    """
    entropy = base64.b32decode(fingerprint.replace("-", ""))
    check = hashlib.sha256(entropy).digest()[0] >> (8 - _CHECK_BITS)
    bits = int.from_bytes(entropy, "big") << _CHECK_BITS | check
    places = range(_BITS + _CHECK_BITS - _WORD_BITS, -1, -_WORD_BITS)
    return tuple(_words()[bits >> place & ((1 << _WORD_BITS) - 1)] for place in places)


@cache
def _words() -> tuple[str, ...]:
    return tuple(resources.files(__package__).joinpath("bip39-english.txt").read_text("ascii").split())

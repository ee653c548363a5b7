"""Taking ciphertexts out of a holding."""

from __future__ import annotations

from smc.ciphers.paillier import Ciphertexts, Paillier
from smc.errors import KeyMaterialError
from smc.values import Encrypted


def ciphertexts_of(value: Encrypted, cipher: Paillier) -> Ciphertexts:
    """The ciphertexts of a holding, checked to be under the cipher's key.

    Raises:
        KeyMaterialError: they are under another key.
    """
    vector = value.ciphertexts
    if not isinstance(vector, Ciphertexts) or vector.key != cipher.public:
        raise KeyMaterialError(
            "These ciphertexts are not under the key of this session.", "Use the key they were made with."
        )
    return vector

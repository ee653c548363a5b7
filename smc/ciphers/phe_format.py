"""Keys and ciphertexts as objects of the library `phe`, private keys also as files of its `pheutil`.

A file is a JSON web key with `kty` "DAJ" that names the primes `p` and `q`, base64url without padding, and
the public key as `pub`; files of early versions name `lambda` instead of the primes. They are read and
written here without phe, which only the conversions from and to its own objects import: duetto runs without
it. One of its encrypted numbers stands for plaintext * 16**exponent.


Reading checks form and arithmetic only. A public key from outside still has to pass
`smc.ciphers.keys.check_public_key`.
"""

from __future__ import annotations

import json
import re
from base64 import urlsafe_b64decode, urlsafe_b64encode
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, Final

from gmpy2 import isqrt, mpz

from smc.ciphers.ciphertexts import Ciphertexts, Fresh, valid
from smc.ciphers.keys import PrivateKey, PublicKey
from smc.errors import DomainError, KeyMaterialError, UsageError

if TYPE_CHECKING:
    import phe

_TEXT_LIMIT: Final = 1 << 16
_BASE64: Final = re.compile(r"[A-Za-z0-9_-]{1,8192}", re.ASCII)
_HINT: Final = "Export the key again with `pheutil` or `duetto`."


def public_to_phe(key: PublicKey) -> phe.PaillierPublicKey:
    """A public key for phe.

    Raises:
        UsageError: phe is not installed.
    """
    return _phe().PaillierPublicKey(int(key.n))


def private_to_phe(key: PrivateKey) -> phe.PaillierPrivateKey:
    """A private key for phe: a secret. Raises as `public_to_phe`."""
    return _phe().PaillierPrivateKey(public_to_phe(key.public), int(key.p), int(key.q))


def public_from_phe(key: phe.PaillierPublicKey) -> PublicKey:
    """A public key of phe.

    Raises:
        KeyMaterialError: it is even or tiny.
    """
    return PublicKey(mpz(key.n))


def private_from_phe(key: phe.PaillierPrivateKey) -> PrivateKey:
    """A private key of phe.

    Raises:
        KeyMaterialError: its factors are not two different odd primes, or one divides the other less one.
    """
    return PrivateKey(mpz(key.p), mpz(key.q))


def to_phe(fresh: Fresh, exponent: int = 0) -> list[phe.EncryptedNumber]:
    """Ciphertexts for phe; spends them.

    Args:
        fresh: what leaves.
        exponent: says that each value is plaintext * 16**exponent.

    Raises:
        FreshnessError: one of them left already.
        UsageError: phe is not installed.
    """
    key = public_to_phe(fresh.key)
    return [_phe().EncryptedNumber(key, int(value), exponent) for value in fresh.release()]


def from_phe(numbers: Sequence[phe.EncryptedNumber], key: PublicKey, exponent: int = 0) -> Ciphertexts:
    """Ciphertexts of phe, which have to be refreshed before they leave.

    Args:
        numbers: what phe encrypted or computed.
        key: the key that they have to be under.
        exponent: the exponent that all must have; `pheutil encrypt` writes -32, integers have 0.

    Raises:
        UsageError: a number has another key or exponent.
        DomainError: a number is not a ciphertext under the key.
    """
    for row, number in enumerate(numbers):
        if number.public_key.n != key.n:
            raise UsageError(
                f"Ciphertext {row} is under another key than {key.fingerprint[:16]}.",
                "Check whether it belongs to another party.",
            )
        if number.exponent != exponent:
            raise UsageError(
                f"Ciphertext {row} has exponent {number.exponent} instead of {exponent}.",
                "Encrypt integers, or say which exponent the values have.",
            )
    values = [mpz(number.ciphertext(be_secure=False)) for number in numbers]
    if not valid(key, values):
        raise DomainError(
            f"A number is not a ciphertext under key {key.fingerprint[:16]}.",
            "Check whether the file was made with another key.",
        )
    return Ciphertexts(key, values)


def write_private_key(key: PrivateKey) -> str:
    """A private key as the text of a file: a secret, for a file that only its owner reads."""
    name = key.public.fingerprint[:16]
    public = {
        "kty": "DAJ",
        "alg": "PAI-GN1",
        "key_ops": ["encrypt"],
        "n": _to_base64(key.public.n),
        "kid": f"Paillier public key {name}",
    }
    return json.dumps(
        {
            "kty": "DAJ",
            "key_ops": ["decrypt"],
            "p": _to_base64(key.p),
            "q": _to_base64(key.q),
            "pub": public,
            "kid": f"Paillier private key {name}",
        }
    )


def read_private_key(text: str) -> PrivateKey:
    """Read the text of a private key's file.

    Raises:
        KeyMaterialError: the text is not a private key, or its parts contradict each other.
    """
    fields = _object(text)
    _demand(fields.get("kty") == "DAJ", "kty is not DAJ")
    operations = fields.get("key_ops")
    _demand(isinstance(operations, list) and "decrypt" in operations, "key_ops lacks decrypt")
    inner = fields.get("pub")
    if not isinstance(inner, dict):
        raise _refusal("pub is missing")
    _demand(inner.get("kty") == "DAJ", "the kty of pub is not DAJ")
    _demand(inner.get("alg") == "PAI-GN1", "the alg of pub is not PAI-GN1")
    n = PublicKey(_number(inner, "n")).n
    if "p" in fields or "q" in fields:
        p, q = _number(fields, "p"), _number(fields, "q")
    else:
        p, q = _factors(n, _number(fields, "lambda"))
    _demand(p * q == n, "its secret and public parts do not belong together")
    return PrivateKey(p, q)


def _factors(n: mpz, exponent: mpz) -> tuple[mpz, mpz]:
    """The primes, where the exponent is (p - 1)(q - 1) or the least common multiple of these factors.

    The product is n + 1 - (p + q), the largest multiple of the exponent below n, as p + q is far below the
    exponent; and p and q are the roots of x**2 - (p + q) x + n.
    """
    _demand(0 < exponent < n, "lambda is outside (0, n)")
    total = n + 1 - n // exponent * exponent
    root = isqrt(max(total * total - 4 * n, mpz(0)))
    return (total - root) // 2, (total + root) // 2


def _object(text: str) -> dict[str, Any]:
    try:
        fields = json.loads(text) if len(text) <= _TEXT_LIMIT else None
    except (ValueError, RecursionError):
        fields = None
    if not isinstance(fields, dict):
        raise _refusal("it is not a JSON object")
    return fields


def _number(fields: Mapping[str, Any], name: str) -> mpz:
    text = fields.get(name)
    if not isinstance(text, str) or not _BASE64.fullmatch(text) or len(text) % 4 == 1:
        raise _refusal(f"{name} is not a base64url number")
    return mpz(int.from_bytes(urlsafe_b64decode(text + "=" * (-len(text) % 4))))


def _to_base64(number: mpz) -> str:
    data = int(number).to_bytes((number.bit_length() + 7) // 8)
    return urlsafe_b64encode(data).rstrip(b"=").decode()


def _phe() -> Any:
    """The library.

    Raises:
        UsageError: it is not installed.
    """
    try:
        import phe
    except ImportError:
        raise UsageError(
            "The library phe is not installed, and only its own users' objects need it.",
            "Install it in the version of constraints.txt. It is under GPLv3: see THIRD_PARTY.md.",
        ) from None
    return phe


def _demand(holds: bool, otherwise: str) -> None:
    if not holds:
        raise _refusal(otherwise)


def _refusal(reason: str) -> KeyMaterialError:
    return KeyMaterialError(f"That is not a Paillier key in the phe format: {reason}.", _HINT)

"""Keys and ciphertexts in the formats of the `phe` library and its command `pheutil`.

Keys are JSON web keys with `kty` "DAJ" and `alg` "PAI-GN1"; numbers are base64url without padding. A private
key names its primes `p` and `q`; files of early versions name `lambda` (and `mu`, which follows from it)
instead. A ciphertext is `{"v": decimal digits, "e": exponent}` and stands for plaintext * 16**e.

Reading checks form and arithmetic only. A public key from outside still has to pass
`smc.ciphers.keys.check_public_key`.
"""

from __future__ import annotations

import json
import re
from base64 import urlsafe_b64decode, urlsafe_b64encode
from collections.abc import Mapping, Sequence
from typing import Any, Final

import gmpy2
from gmpy2 import mpz

from smc.ciphers.ciphertexts import Ciphertexts, Fresh, valid
from smc.ciphers.keys import PrivateKey, PublicKey
from smc.errors import DomainError, KeyMaterialError, UsageError

_TEXT_LIMIT: Final = 1 << 16
_BASE64: Final = re.compile(r"[A-Za-z0-9_-]{1,8192}", re.ASCII)
_DIGITS: Final = re.compile(r"[0-9]{1,8192}", re.ASCII)
_MEND: Final = "Export the key again with `pheutil` or `duetto`."


def write_public_key(key: PublicKey) -> str:
    """A public key as JSON."""
    return json.dumps(_public_fields(key))


def write_private_key(key: PrivateKey) -> str:
    """A private key as JSON: a secret, for a file that only its owner reads."""
    return json.dumps(
        {
            "kty": "DAJ",
            "key_ops": ["decrypt"],
            "p": _to_base64(key.p),
            "q": _to_base64(key.q),
            "pub": _public_fields(key.public),
            "kid": f"Paillier private key {key.public.fingerprint[:16]}",
        }
    )


def read_public_key(text: str) -> PublicKey:
    """Read a public key.

    Raises:
        KeyMaterialError: the text is no public key.
    """
    return _public_key(_object(text))


def read_private_key(text: str) -> PrivateKey:
    """Read a private key.

    Raises:
        KeyMaterialError: the text is no private key, or its parts contradict each other.
    """
    fields = _object(text)
    _demand(fields.get("kty") == "DAJ", "kty is not DAJ")
    operations = fields.get("key_ops")
    _demand(isinstance(operations, list) and "decrypt" in operations, "key_ops lacks decrypt")
    inner = fields.get("pub")
    if not isinstance(inner, dict):
        raise _refusal("pub is missing")
    public = _public_key(inner)
    if "p" in fields or "q" in fields:
        key = PrivateKey(_number(fields, "p"), _number(fields, "q"))
    else:
        key = _from_lambda(public.n, _number(fields, "lambda"))
    _demand(key.public == public, "its secret and public parts do not belong together")
    return key


def write_ciphertexts(fresh: Fresh, exponent: int = 0) -> list[str]:
    """Ciphertexts as JSON, one text each; spends them.

    Args:
        fresh: what leaves.
        exponent: says that each value is plaintext * 16**exponent.

    Raises:
        FreshnessError: one of them left already.
    """
    return [json.dumps({"v": str(value), "e": exponent}) for value in fresh.release()]


def read_ciphertexts(texts: Sequence[str], key: PublicKey, exponent: int = 0) -> Ciphertexts:
    """Read ciphertexts.

    Args:
        texts: one JSON text each.
        key: the key they are under.
        exponent: the exponent that all must have; `pheutil encrypt` writes -32, integers have 0.

    Raises:
        UsageError: a text is no ciphertext, or has another exponent.
        DomainError: a number is no ciphertext under the key.
    """
    values = [_ciphertext(text, row, exponent) for row, text in enumerate(texts)]
    if not valid(key, values):
        raise DomainError(
            f"A number is no ciphertext under key {key.fingerprint[:16]}.",
            "Look whether the file belongs to another key.",
        )
    return Ciphertexts(key, values)


def _public_fields(key: PublicKey) -> dict[str, Any]:
    return {
        "kty": "DAJ",
        "alg": "PAI-GN1",
        "key_ops": ["encrypt"],
        "n": _to_base64(key.n),
        "kid": f"Paillier public key {key.fingerprint[:16]}",
    }


def _public_key(fields: Mapping[str, Any]) -> PublicKey:
    _demand(fields.get("kty") == "DAJ", "kty is not DAJ")
    _demand(fields.get("alg") == "PAI-GN1", "alg is not PAI-GN1")
    return PublicKey(_number(fields, "n"))


def _from_lambda(n: mpz, exponent: mpz) -> PrivateKey:
    """Factor n by (p - 1)(q - 1), or by their least common multiple."""
    _demand(0 < exponent < n, "lambda is outside (0, n)")
    # phi = n + 1 - (p + q) is the largest multiple of lambda below n, since p + q is far below lambda
    total = n + 1 - n // exponent * exponent
    root, remainder = gmpy2.isqrt_rem(max(total * total - 4 * n, mpz(0)))
    _demand(remainder == 0, "lambda does not belong to n")
    return PrivateKey((total - root) // 2, (total + root) // 2)


def _ciphertext(text: str, row: int, exponent: int) -> mpz:
    try:
        fields = json.loads(text) if len(text) <= _TEXT_LIMIT else None
    except (ValueError, RecursionError):
        fields = None
    if (
        not isinstance(fields, dict)
        or not isinstance(fields.get("v"), str)
        or type(fields.get("e")) is not int
    ):
        raise UsageError(f"Ciphertext {row} is not of the form {{v, e}}.", "Export it again.")
    if fields["e"] != exponent:
        raise UsageError(
            f"Ciphertext {row} has exponent {fields['e']}, expected {exponent}.",
            "Encrypt integers, or say which exponent the values have.",
        )
    if not _DIGITS.fullmatch(fields["v"]):
        raise UsageError(f"Ciphertext {row}: v is no decimal number.", "Export it again.")
    return mpz(fields["v"])


def _object(text: str) -> dict[str, Any]:
    try:
        fields = json.loads(text) if len(text) <= _TEXT_LIMIT else None
    except (ValueError, RecursionError):
        fields = None
    if not isinstance(fields, dict):
        raise _refusal("it is no JSON object")
    return fields


def _number(fields: Mapping[str, Any], name: str) -> mpz:
    text = fields.get(name)
    if not isinstance(text, str) or not _BASE64.fullmatch(text) or len(text) % 4 == 1:
        raise _refusal(f"{name} is no base64url number")
    return mpz(int.from_bytes(urlsafe_b64decode(text + "=" * (-len(text) % 4)), "big"))


def _to_base64(number: mpz) -> str:
    data = int(number).to_bytes((number.bit_length() + 7) // 8, "big")
    return urlsafe_b64encode(data).decode().rstrip("=")


def _demand(holds: bool, otherwise: str) -> None:
    if not holds:
        raise _refusal(otherwise)


def _refusal(reason: str) -> KeyMaterialError:
    return KeyMaterialError(f"That is no Paillier key in the phe format: {reason}.", _MEND)

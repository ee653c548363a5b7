"""Keys of persons in a security key or in the device itself, used by the browser (WebAuthn, level 2).

What such a key signs is the answer of an authenticator to a challenge; the challenge is the hash of the
statement, so the signature is about that statement and no other, and checks without the browser later on.
"""

from __future__ import annotations

import hashlib
import re
import struct
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Final, Self
from urllib.parse import urlsplit

from cryptography.exceptions import InvalidSignature

from parties.errors import ConfigError
from smc.errors import UsageError

WEBAUTHN: Final = "webauthn"

ALGORITHMS: Final = (-8, -7)
"""Of COSE, the first preferred: Ed25519, and ECDSA over P-256 with SHA-256."""

MAX_BYTES: Final = 8192
"""The longest answer of a browser about a new key, in bytes of a part."""

MAX_SIGNATURE: Final = 2048
"""The longest answer that signs a statement, in bytes; a key as a text is not longer."""

_CHALLENGE: Final = b"duetto challenge of a statement v1\0"
_PARTS: Final = struct.Struct(">HHH")
_HOST: Final = re.compile(r"[a-z0-9-]{1,63}(\.[a-z0-9-]{1,63}){0,8}")
_FIELDS: Final = {"host": str, "id": bytes, "key": dict}


def make_challenge(statement: bytes) -> bytes:
    """The 32 bytes that an authenticator is asked to sign for a statement."""
    return hashlib.sha256(_CHALLENGE + statement).digest()


@dataclass(frozen=True, slots=True)
class Credential:
    """A public key in an authenticator.

    Attributes:
        host: the name of the dashboard for which alone the authenticator signs (its relying party).
        id: by which the authenticator finds the key.
        key: the public key by the labels of COSE.
    """

    host: str
    id: bytes
    key: Mapping[int, Any]

    @classmethod
    def decode(cls, data: bytes) -> Self:
        """Read what `encode` has written.

        Raises:
            ConfigError: it is something else, or a key of another algorithm.
        """
        fido = _library()
        try:
            content = fido.cbor.decode(data)
            if not isinstance(content, dict) or set(content) != set(_FIELDS):
                raise ValueError
            if not all(isinstance(content[name], kind) for name, kind in _FIELDS.items()):
                raise ValueError
            found = cls(**content)
            found._verifier()
            if not _HOST.fullmatch(found.host) or not 1 <= len(found.id) <= 1023 or found.encode() != data:
                raise ValueError
        except (ValueError, TypeError, KeyError, IndexError, struct.error, RecursionError):
            raise ConfigError(
                "A key of kind webauthn is not one that a browser has made for duetto.",
                "Make it on the page Persons of the dashboard, and copy the whole text.",
            ) from None
        return found

    def encode(self) -> bytes:
        """The key in canonical CBOR."""
        data: bytes = _library().cbor.encode({"host": self.host, "id": self.id, "key": dict(self.key)})
        return data

    def has_signed(self, statement: bytes, answer: bytes) -> bool:
        """Whether an authenticator has signed a statement by this key, with its user verified.

        Args:
            statement: what was to be signed.
            answer: as `pack_answer` makes it; whatever else is no signature.
        """
        try:
            authenticator, client, signature = _unpack(answer)
            self._check(statement, authenticator, client)
            self._verifier().verify(authenticator + hashlib.sha256(client).digest(), signature)
        except (InvalidSignature, ValueError, TypeError, KeyError, IndexError, struct.error, RecursionError):
            return False
        return True

    def _check(self, statement: bytes, authenticator: bytes, client: bytes) -> None:
        """Check what was signed: for which host, about what, and by a user who was verified.

        Raises:
            ValueError: it is not what was asked for.
        """
        fido = _library()
        found, said = fido.AuthenticatorData(authenticator), fido.CollectedClientData(client)
        _check_client(said, fido.CollectedClientData.TYPE.GET, make_challenge(statement), self.host)
        _check_user(found, self.host)

    def _verifier(self) -> Any:
        """The public key as the library checks signatures with it.

        Raises:
            ValueError: it is of another algorithm.
        """
        if self.key.get(3) not in ALGORITHMS:
            raise ValueError("another algorithm")
        return _library().CoseKey.parse(dict(self.key))


def take_new_key(attestation: bytes, client: bytes, challenge: bytes, host: str) -> Credential:
    """The credential that a browser has made.

    Which maker the authenticator has is not asked for; another person signs for whose key it is.

    Args:
        attestation: the attestation object.
        client: the client data, in JSON.
        challenge: that was given to the browser.
        host: the name of the dashboard.

    Raises:
        UsageError: it is not a new key for this dashboard, or its user was not verified.
    """
    fido = _library()
    try:
        if max(len(attestation), len(client)) > MAX_BYTES:
            raise ValueError("too long")
        said = fido.CollectedClientData(client)
        _check_client(said, fido.CollectedClientData.TYPE.CREATE, challenge, host)
        found = fido.AttestationObject(attestation).auth_data
        _check_user(found, host)
        made = found.credential_data
        if made is None:
            raise ValueError("no key")
        return Credential.decode(Credential(host, bytes(made.credential_id), dict(made.public_key)).encode())
    except (ConfigError, ValueError, TypeError, KeyError, IndexError, struct.error, RecursionError):
        raise UsageError(
            "The browser's answer is not a new key for this dashboard.",
            "Reload the page and try again; the key has to ask for a PIN, a fingerprint or a face.",
        ) from None


def pack_answer(authenticator: bytes, client: bytes, signature: bytes) -> bytes:
    """An authenticator's answer as it stands in ledgers: three lengths, then the parts.

    Raises:
        UsageError: it is too long.
    """
    parts = (authenticator, client, signature)
    if _PARTS.size + sum(map(len, parts)) > MAX_SIGNATURE:
        raise UsageError("The browser's answer is too long to be a signature.", "Try again.")
    return _PARTS.pack(*map(len, parts)) + b"".join(parts)


def _unpack(answer: bytes) -> tuple[bytes, bytes, bytes]:
    first, second, third = _PARTS.unpack_from(answer)
    if len(answer) != _PARTS.size + first + second + third or len(answer) > MAX_SIGNATURE:
        raise ValueError("wrong lengths")
    start = _PARTS.size
    return answer[start : start + first], answer[start + first :][:second], answer[start + first + second :]


def _check_client(said: Any, kind: str, challenge: bytes, host: str) -> None:
    origin = urlsplit(said.origin)
    if said.type != kind or said.challenge != challenge or said.cross_origin or origin.hostname != host:
        raise ValueError("asked by somebody else")


def _check_user(found: Any, host: str) -> None:
    if found.rp_id_hash != hashlib.sha256(host.encode()).digest():
        raise ValueError("for another host")
    if not found.is_user_present() or not found.is_user_verified():
        raise ValueError("nobody was verified")


class _Library:
    """What is used of fido2."""

    def __init__(self) -> None:
        from fido2 import cbor
        from fido2.cose import CoseKey
        from fido2.webauthn import AttestationObject, AuthenticatorData, CollectedClientData

        self.cbor = cbor
        self.CoseKey = CoseKey
        self.AttestationObject = AttestationObject
        self.AuthenticatorData = AuthenticatorData
        self.CollectedClientData = CollectedClientData


def _library() -> _Library:
    try:
        return _Library()
    except ImportError:
        raise ConfigError(
            "Keys of kind webauthn need fido2, which is not installed.",
            "Run pip install 'duetto[dashboard]'.",
        ) from None

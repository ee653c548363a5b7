"""Keys of persons: as texts, as files, and what checks a signature of each kind."""

from __future__ import annotations

import base64
import binascii
import hashlib
import os
import re
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final, Self

from cryptography.exceptions import InvalidSignature, UnsupportedAlgorithm
from cryptography.hazmat.primitives import serialization
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey, Ed25519PublicKey
from typing_extensions import override

from parties.errors import ConfigError
from parties.persons.webauthn import WEBAUTHN, Credential
from parties.pki.files import PRIVATE, read_private
from smc.errors import UsageError

ED25519: Final = "ed25519"

KINDS: Final = (ED25519, WEBAUTHN)
"""Kinds of keys. A signature is of the kind of its key."""

HOW_TO_WRITE: Final = (
    f"Write {ED25519}:BASE64 as `duetto person key FILE` prints it, or {WEBAUTHN}:BASE64 as the page Persons "
    "of the dashboard shows it."
)

FORM: Final = rf"^({ED25519}:[A-Za-z0-9+/]{{43}}=|{WEBAUTHN}:[A-Za-z0-9+/]{{80,2000}}={{0,2}})$"
"""What a key as a text looks like."""

_SHORTEST: Final = 8
"""Characters of a passphrase at least."""


@dataclass(frozen=True, slots=True)
class PersonKey:
    """A public key of a person.

    Attributes:
        kind: one of `KINDS`.
        data: the key as its kind writes it; of `ed25519` the 32 bytes of RFC 8032, of `webauthn` as
            `parties.persons.webauthn.Credential` writes it.
    """

    kind: str
    data: bytes

    @classmethod
    def parse(cls, text: Any, place: str = "The key of a person") -> Self:
        """Read `KIND:BASE64`, as `duetto person key` prints it.

        Args:
            text: the text.
            place: how the error calls it.

        Raises:
            ConfigError: it is something else.
        """
        if not isinstance(text, str):
            raise ConfigError(f"{place} is not a text.", HOW_TO_WRITE)
        kind, colon, rest = text.partition(":")
        try:
            data = base64.b64decode(rest, validate=True)
        except (ValueError, binascii.Error):
            data = b""
        if not colon or not re.fullmatch(FORM, text) or cls(kind, data).text != text:
            raise ConfigError(f"{place} is {text[:80]!r}, which is not a valid public key.", HOW_TO_WRITE)
        if kind == WEBAUTHN:
            Credential.decode(data)
        return cls(kind, data)

    @property
    def credential(self) -> Credential | None:
        """What a browser knows the key by; None for one in a file."""
        return Credential.decode(self.data) if self.kind == WEBAUTHN else None

    @property
    def text(self) -> str:
        """The key as it stands in `persons.toml` and in the ledger."""
        return f"{self.kind}:{base64.b64encode(self.data).decode()}"

    @property
    def fingerprint(self) -> str:
        """16 hexadecimal digits by which people tell keys apart."""
        return hashlib.sha256(self.text.encode()).hexdigest()[:16]

    @override
    def __str__(self) -> str:
        return self.text

    def has_signed(self, statement: bytes, signature: bytes) -> bool:
        """Whether a signature under a statement is by this key."""
        if (credential := self.credential) is not None:
            return credential.has_signed(statement, signature)
        try:
            Ed25519PublicKey.from_public_bytes(self.data).verify(signature, statement)
        except InvalidSignature:
            return False
        return True


@dataclass(frozen=True, slots=True)
class PrivateKey:
    """The private key of a person, out of a key file."""

    _key: Ed25519PrivateKey = field(repr=False)

    @property
    def public(self) -> PersonKey:
        """Its public key."""
        raw = self._key.public_key().public_bytes(serialization.Encoding.Raw, serialization.PublicFormat.Raw)
        return PersonKey(ED25519, raw)

    def sign(self, statement: bytes) -> bytes:
        """The signature under a statement."""
        return self._key.sign(statement)


def make_key(path: Path, passphrase: str = "") -> PersonKey:
    """Make a key and write it to a new file, PKCS#8 in PEM, that only its owner may read.

    Args:
        path: the file, which must not be there.
        passphrase: encrypts it; empty for not.

    Raises:
        UsageError: the file is there or cannot be written, or the passphrase is too short.
    """
    if passphrase and len(passphrase) < _SHORTEST:
        raise UsageError(
            f"The passphrase has less than {_SHORTEST} characters.", "Take a longer one, such as five words."
        )
    key = Ed25519PrivateKey.generate()
    how = (
        serialization.BestAvailableEncryption(passphrase.encode())
        if passphrase
        else serialization.NoEncryption()
    )
    pem = key.private_bytes(serialization.Encoding.PEM, serialization.PrivateFormat.PKCS8, how)
    try:
        descriptor = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW, PRIVATE)
        with os.fdopen(descriptor, "wb") as file:
            file.write(pem)
            file.flush()
            os.fsync(file.fileno())
    except FileExistsError:
        raise UsageError(f"{path} is there already.", "Give the name of a new file.") from None
    except OSError as problem:
        raise UsageError(
            f"{path} cannot be written ({type(problem).__name__}).", "Give a file in a folder that is yours."
        ) from None
    return PrivateKey(key).public


def is_encrypted(path: Path) -> bool:
    """Whether a key file asks for a passphrase. Raises as `read_private`."""
    return b"BEGIN ENCRYPTED PRIVATE KEY" in read_private(path)


def load_key(path: Path, passphrase: str = "") -> PrivateKey:
    """Read a key file.

    Args:
        path: the file.
        passphrase: if it is encrypted.

    Raises:
        ConfigError: it is missing, open to others or not a valid key file, or the passphrase is wrong.
    """
    data = read_private(path)
    try:
        key = serialization.load_pem_private_key(data, passphrase.encode() or None)
    except TypeError:
        raise ConfigError(
            f"{path} is encrypted, and no passphrase was given, or one that is not needed.",
            "Give the passphrase when asked, or with --passphrase-file.",
        ) from None
    except (ValueError, UnsupportedAlgorithm):
        raise ConfigError(
            f"{path} cannot be opened: the passphrase is wrong, or it is not a valid key file.",
            "Try again; a lost passphrase cannot be recovered: make a new key with `duetto person key`.",
        ) from None
    if not isinstance(key, Ed25519PrivateKey):
        raise ConfigError(
            f"{path} does not hold a key for Ed25519.", "Make one with `duetto person key FILE`."
        )
    return PrivateKey(key)

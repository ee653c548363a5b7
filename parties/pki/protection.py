"""The private keys of a home under a passphrase.

    keys/protection.json   scrypt's cost and salt, and the data key under what scrypt makes of the passphrase
    keys/NAME              the line `duetto key 1`, a nonce of 12 bytes, and the key file under the data key

Both are AES-256-GCM; the name of a file is associated data, so that none passes for another. A file says by
its first line whether it is sealed. Files are sealed and opened one after the other, each by one renaming, so
a home that a crash leaves half done is whole: every file can be read, and the same command finishes the rest.

Of a passphrase in two parts, which two persons keep, each is preceded by its length, and scrypt is asked for
both at once: the same key comes from no other pair. Whoever has one part has to guess the other, at scrypt's
price for each guess, as somebody who has none has to guess a passphrase; `MIN_LETTERS` holds for each part.

Protection holds for a disk, a backup or a home that is copied. It does not hold against whoever is root while
the daemon runs: the keys are in its memory.

Reference: Percival, Josefsson, The scrypt password-based key derivation function, RFC 7914, 2016.
"""

from __future__ import annotations

import hashlib
import json
import os
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final

from cryptography.exceptions import InvalidTag
from cryptography.hazmat.primitives.ciphers.aead import AESGCM
from cryptography.hazmat.primitives.kdf.scrypt import Scrypt

from parties.errors import ConfigError
from parties.pki import passphrase
from parties.pki.files import PRIVATE, read_private, write_atomically

FILE: Final = "protection.json"
NAMES: Final = (
    "tls.key",
    "tls.pem",
    "signing.key",
    "paillier.json",
    "pool.key",
    "exact-jobs.key",
    "results.key",
)
"""The files of private keys."""

MIN_LETTERS: Final = 12
"""Of a passphrase, and of each of two parts."""

_HEAD: Final = b"duetto key 1\n"
_NONCE: Final = 12
_KEY: Final = 32
_BLOCKS: Final = 8
_COST: Final = 1 << 17
"""scrypt's N: 128 MiB and some tenths of a second for each guess."""

_COSTS: Final = (1 << 15, 1 << 20)
_DATA_KEY: Final = b"duetto data key of the keys v1"
_RESTORE: Final = "Restore the folder keys from a copy of the home."

_open: dict[str, bytes] = {}
"""Data keys that were opened in this process, by the digest of their wrapped form."""


@dataclass(frozen=True, slots=True)
class Protection:
    """What `protection.json` holds.

    Attributes:
        parts: of the passphrase, 1 or 2.
        cost: scrypt's N.
        salt: 16 bytes.
        wrapped: nonce and data key, sealed.
    """

    parts: int
    cost: int
    salt: bytes = field(repr=False)
    wrapped: bytes = field(repr=False)

    @property
    def name(self) -> str:
        """What tells it from others."""
        return hashlib.sha256(self.wrapped).hexdigest()

    def write(self, folder: Path) -> None:
        """Put it into a folder of keys."""
        document = {
            "parts": self.parts,
            "cost": self.cost,
            "salt": self.salt.hex(),
            "wrapped": self.wrapped.hex(),
        }
        write_atomically(folder / FILE, json.dumps(document).encode() + b"\n", PRIVATE)

    def open(self, parts: Sequence[str]) -> bytes:
        """The data key.

        Raises:
            ConfigError: the passphrase is wrong.
        """
        sealed = self.wrapped[_NONCE:]
        try:
            key = _derive(parts, self.salt, self.cost)
            return AESGCM(key).decrypt(self.wrapped[:_NONCE], sealed, _DATA_KEY)
        except InvalidTag:
            raise ConfigError(
                "That is not the passphrase of the keys.", "Try again; nothing was changed."
            ) from None


@dataclass(frozen=True, slots=True)
class ProtectionState:
    """How the keys of a home lie on the disk.

    Attributes:
        parts: of the passphrase; 0 where there is none.
        sealed: the files under it.
        plain: the files that are not.
    """

    parts: int
    sealed: tuple[str, ...]
    plain: tuple[str, ...]


def read_protection(folder: Path) -> Protection | None:
    """What protects the keys of a folder; None if nothing does.

    Raises:
        ConfigError: the file is damaged or open to others.
    """
    path = folder / FILE
    if not os.path.lexists(path):
        return None
    try:
        document: Any = json.loads(read_private(path))
        parts, cost = document["parts"], document["cost"]
        salt, wrapped = bytes.fromhex(document["salt"]), bytes.fromhex(document["wrapped"])
        is_valid = parts in (1, 2) and type(cost) is int and _COSTS[0] <= cost <= _COSTS[1]
        is_valid = is_valid and cost & (cost - 1) == 0 and len(wrapped) == _NONCE + _KEY + 16
    except (ValueError, KeyError, TypeError, RecursionError):
        is_valid = False
    if not is_valid:
        raise ConfigError(f"{path} is damaged.", _RESTORE)
    return Protection(parts, cost, salt, wrapped)


def find_state(folder: Path) -> ProtectionState:
    """How the keys of a folder lie on the disk; no passphrase is needed. Raises as `read_protection`."""
    found = read_protection(folder)
    there = [name for name in NAMES if (folder / name).exists()]
    sealed = tuple(name for name in there if read_private(folder / name).startswith(_HEAD))
    plain = tuple(name for name in there if name not in sealed)
    return ProtectionState(found.parts if found else 0, sealed, plain)


def is_protected(folder: Path) -> bool:
    """Whether the keys of a folder are under a passphrase."""
    return os.path.lexists(folder / FILE)


def read_key(path: Path) -> bytes:
    """The content of a key file, opened if it is sealed; asks for the passphrase once in a process.

    Raises:
        ConfigError: it is missing, open to others or damaged, or there is no passphrase or a wrong one.
    """
    data = read_private(path)
    if not data.startswith(_HEAD):
        return data
    sealed = data[len(_HEAD) :]
    try:
        return _cipher(path.parent).decrypt(sealed[:_NONCE], sealed[_NONCE:], path.name.encode())
    except (InvalidTag, ValueError):
        raise ConfigError(f"{path} is damaged, or of another home.", _RESTORE) from None


def write_key(path: Path, data: bytes) -> None:
    """Write a key file, sealed where the keys of its folder are protected. Raises as `read_key`."""
    write_atomically(path, _seal(path, data) if is_protected(path.parent) else data, PRIVATE)


def unlock(folder: Path, told: Sequence[str] = ()) -> bytes | None:
    """The data key of a folder; None where nothing is protected. Raises as `read_key`.

    Args:
        folder: of the keys.
        told: the parts of the passphrase, where they were asked for already.
    """
    found = read_protection(folder)
    if found is None:
        return None
    if found.name not in _open:
        _open[found.name] = found.open(tuple(told) or passphrase.ask(found.parts))
    return _open[found.name]


def protect(folder: Path, parts: Sequence[str]) -> ProtectionState:
    """Seal all keys of a folder under a passphrase, or go on where a crash has stopped that.

    Args:
        folder: of the keys.
        parts: the passphrase, in one or two parts. Where the keys are protected already it replaces the
            earlier one, which this process has to know.

    Raises:
        ConfigError: a part is too short, or as `read_key`.
    """
    if any(len(part) < MIN_LETTERS for part in parts):
        raise ConfigError(
            f"A passphrase, and each of two parts, has {MIN_LETTERS} characters at least.",
            "Take five words by chance from a list.",
        )
    if any("\n" in part for part in parts):
        raise ConfigError("A passphrase is one line.", "Leave the line ends out.")
    data_key = unlock(folder) or os.urandom(_KEY)
    salt, nonce = os.urandom(16), os.urandom(_NONCE)
    wrapped = nonce + AESGCM(_derive(parts, salt, _COST)).encrypt(nonce, data_key, _DATA_KEY)
    made = Protection(len(parts), _COST, salt, wrapped)
    made.write(folder)
    _open[made.name] = data_key
    for name in find_state(folder).plain:
        write_atomically(folder / name, _seal(folder / name, read_private(folder / name)), PRIVATE)
    return find_state(folder)


def unprotect(folder: Path) -> ProtectionState:
    """Open all keys of a folder, and forget the passphrase; goes on where a crash has stopped that.

    Raises:
        ConfigError: as `read_key`.
    """
    unlock(folder)
    for name in find_state(folder).sealed:
        write_atomically(folder / name, read_key(folder / name), PRIVATE)
    (folder / FILE).unlink(missing_ok=True)
    return find_state(folder)


def _seal(path: Path, data: bytes) -> bytes:
    nonce = os.urandom(_NONCE)
    return _HEAD + nonce + _cipher(path.parent).encrypt(nonce, data, path.name.encode())


def _cipher(folder: Path) -> AESGCM:
    data_key = unlock(folder)
    if data_key is None:
        raise ConfigError(f"{folder / FILE} is missing, and keys are sealed.", _RESTORE)
    return AESGCM(data_key)


def _derive(parts: Sequence[str], salt: bytes, cost: int) -> bytes:
    encoded = [part.encode() for part in parts]
    secret = b"".join(len(part).to_bytes(4) + part for part in encoded)
    return Scrypt(salt=salt, length=_KEY, n=cost, r=_BLOCKS, p=1).derive(secret)

"""The keys of an auditor: one that signs verdicts, and one to which parties seal what they show.

Parties pin an auditor by the fingerprint of its public keys, in the rules of their policies and in the job.
What is sealed is sealed by HPKE (RFC 9180) to X25519 and ML-KEM-768 together.
"""

from __future__ import annotations

import hashlib
import json
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final

from cryptography.exceptions import InvalidTag
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey, Ed25519PublicKey
from cryptography.hazmat.primitives.asymmetric.mlkem import MLKEM768PrivateKey, MLKEM768PublicKey
from cryptography.hazmat.primitives.asymmetric.x25519 import X25519PrivateKey, X25519PublicKey
from cryptography.hazmat.primitives.hpke import (
    AEAD,
    KDF,
    KEM,
    MLKEM768X25519PrivateKey,
    MLKEM768X25519PublicKey,
    Suite,
)

from parties.bounded_files import read_bounded
from parties.contracts import canonical
from parties.errors import DataError
from parties.exits import why_unreadable
from parties.pki.files import PRIVATE, PUBLIC, write_atomically
from parties.texts import NAME
from smc.numeric.random import Randomness

PUBLIC_NAME: Final = "auditor.json"
PRIVATE_NAME: Final = "auditor.key"

_SUITE: Final = Suite(KEM.MLKEM768_X25519, KDF.HKDF_SHA256, AEAD.AES_256_GCM)
_FINGERPRINT: Final = b"duetto auditor v1\0"
_FILE_BYTES: Final = 1 << 16
_SEED_BYTES: Final = 32
_PARTS: Final = {"signing": 32, "x25519": 32, "mlkem768": 1184}


@dataclass(frozen=True, slots=True)
class Auditor:
    """The public keys of an auditor.

    Attributes:
        name: by which jobs and policies call it.
        signing: checks its verdicts, 32 bytes.
        x25519: a part of the key that it unseals with, 32 bytes.
        mlkem768: the other part, 1184 bytes.
    """

    name: str
    signing: bytes
    x25519: bytes
    mlkem768: bytes

    @property
    def fingerprint(self) -> str:
        """By which it is pinned, 64 hexadecimal digits."""
        return hashlib.sha256(_FINGERPRINT + canonical.encode(self.document())).hexdigest()

    @property
    def key(self) -> Ed25519PublicKey:
        """Checks its verdicts."""
        return Ed25519PublicKey.from_public_bytes(self.signing)

    def document(self) -> dict[str, Any]:
        """As plain JSON values."""
        return {"auditor": self.name, **{part: getattr(self, part).hex() for part in _PARTS}}

    def seal(self, data: bytes) -> bytes:
        """Data that the auditor alone can read."""
        key = MLKEM768X25519PublicKey(
            MLKEM768PublicKey.from_public_bytes(self.mlkem768), X25519PublicKey.from_public_bytes(self.x25519)
        )
        return _SUITE.encrypt(data, key, self.fingerprint.encode())


def parse_auditor(document: Any) -> Auditor:
    """The public keys in a document.

    Raises:
        DataError: it is none.
    """
    try:
        if set(document) != {"auditor", *_PARTS} or not NAME.fullmatch(document["auditor"]):
            raise ValueError
        parts = {part: bytes.fromhex(document[part]) for part in _PARTS}
        if any(len(parts[part]) != size for part, size in _PARTS.items()):
            raise ValueError
        found = Auditor(document["auditor"], **parts)
        MLKEM768PublicKey.from_public_bytes(found.mlkem768)
        return found
    except (ValueError, TypeError, KeyError, AttributeError):
        raise DataError(
            "The public keys of the auditor are malformed.",
            f"Ask the auditor for the file {PUBLIC_NAME} that `duetto evidence auditor make` wrote.",
        ) from None


def read_auditor(path: Path) -> Auditor:
    """The public keys in a file.

    Raises:
        DataError: it holds none.
        UsageError: it cannot be read.
    """
    unfit = DataError(f"{path} holds no public keys of an auditor.", f"Give the path of {PUBLIC_NAME}.")
    try:
        return parse_auditor(json.loads(read_bounded(path, _FILE_BYTES, unfit)))
    except (ValueError, RecursionError):
        raise unfit from None


@dataclass(frozen=True, slots=True)
class AuditorKeys:
    """All keys of an auditor.

    Attributes:
        name: of the auditor.
        seeds: of its three private keys, 32, 32 and 64 bytes.
    """

    name: str
    seeds: tuple[bytes, bytes, bytes] = field(repr=False)

    @property
    def signing(self) -> Ed25519PrivateKey:
        """Signs verdicts."""
        return Ed25519PrivateKey.from_private_bytes(self.seeds[0])

    @property
    def public(self) -> Auditor:
        """The public keys."""
        x25519, mlkem = self._unsealing()
        return Auditor(
            self.name,
            self.signing.public_key().public_bytes_raw(),
            x25519.public_key().public_bytes_raw(),
            mlkem.public_key().public_bytes_raw(),
        )

    def unseal(self, sealed: bytes) -> bytes:
        """What was sealed to this auditor.

        Raises:
            DataError: it was sealed to another one, or was changed.
        """
        x25519, mlkem = self._unsealing()
        try:
            return _SUITE.decrypt(
                sealed, MLKEM768X25519PrivateKey(mlkem, x25519), self.public.fingerprint.encode()
            )
        except (InvalidTag, ValueError):
            raise DataError(
                f"The bundle was not sealed to {self.name!r}, or was changed.",
                f"Ask the party to seal it anew, with the file {PUBLIC_NAME} beside these keys.",
            ) from None

    def write(self, folder: Path) -> None:
        """Write the keys into a folder, the private ones readable by their owner only.

        Raises:
            DataError: there are keys already, or they cannot be written.
        """
        private, public = folder / PRIVATE_NAME, folder / PUBLIC_NAME
        if private.exists() or public.exists():
            raise DataError(f"There are keys in {folder} already.", "Name another folder.")
        document = {"auditor": self.name, "seeds": [seed.hex() for seed in self.seeds]}
        try:
            folder.mkdir(parents=True, exist_ok=True)
            write_atomically(private, json.dumps(document).encode() + b"\n", PRIVATE)
            write_atomically(public, json.dumps(self.public.document()).encode() + b"\n", PUBLIC)
        except OSError as problem:
            raise DataError(
                f"The keys cannot be written to {folder}: {why_unreadable(problem)}.", "Name another folder."
            ) from None

    def _unsealing(self) -> tuple[X25519PrivateKey, MLKEM768PrivateKey]:
        return X25519PrivateKey.from_private_bytes(self.seeds[1]), MLKEM768PrivateKey.from_seed_bytes(
            self.seeds[2]
        )


def make_keys(name: str) -> AuditorKeys:
    """New keys.

    Raises:
        DataError: the name is not a plain word.
    """
    if not NAME.fullmatch(name):
        raise DataError(
            f"{name[:64]!r} is not a plain word.", "Use letters, digits, point, hyphen, underscore."
        )
    random = Randomness()
    return AuditorKeys(
        name, (random.bytes(_SEED_BYTES), random.bytes(_SEED_BYTES), random.bytes(2 * _SEED_BYTES))
    )


def read_keys(path: Path) -> AuditorKeys:
    """The keys in a file that `AuditorKeys.write` wrote, or in its folder.

    Raises:
        DataError: others than its owner may read it, or it holds no keys.
        UsageError: it cannot be read.
    """
    path = path / PRIVATE_NAME if path.is_dir() else path
    unfit = DataError(
        f"{path} holds no keys of an auditor.", "Make some with `duetto evidence auditor make`."
    )
    data = read_bounded(path, _FILE_BYTES, unfit)
    if path.stat().st_mode & 0o077:
        raise DataError(
            f"Others than its owner may read {path}.", f"Run `chmod 600 {path}`, and ask who could read it."
        )
    try:
        document = json.loads(data)
        first, second, third = (bytes.fromhex(seed) for seed in document["seeds"])
        found = AuditorKeys(str(document["auditor"]), (first, second, third))
        parse_auditor(found.public.document())
    except (ValueError, TypeError, KeyError, RecursionError):
        raise unfit from None
    return found

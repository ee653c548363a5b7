"""Encryption of results at rest, under a key of the home.

    keys/results.key   32 random bytes, made when the first result is kept; back it up with the other keys

A sealed result is the line `duetto result 1`, a random nonce of 12 bytes and the result under AES-256-GCM.
The name of the job is associated data, so no result can be passed off as that of another job. What is left
of a deleted file on a disk, in snapshots and in backups, is ciphertext; whoever has the key as well reads it.
"""

from __future__ import annotations

from pathlib import Path
from typing import Final

from cryptography.exceptions import InvalidTag
from cryptography.hazmat.primitives import hashes
from cryptography.hazmat.primitives.ciphers.aead import AESGCM
from cryptography.hazmat.primitives.kdf.hkdf import HKDF

from parties.errors import ConfigError, KeysLocked, StorageError
from parties.exits import why_unreadable
from parties.pki.files import PRIVATE_FOLDER
from parties.pki.protection import read_key, write_key
from smc.numeric.random import Randomness

CODE: Final = "results-key"
"""Stable code of what is wrong with the key, or with a result under it."""

_HEAD: Final = b"duetto result 1\n"
_KEY_BYTES: Final = 32
_NONCE_BYTES: Final = 12


class Seal:
    """Seals results and opens them.

    Args:
        home: the folder of the party.
    """

    def __init__(self, home: Path) -> None:
        self.path: Final = home / "keys" / "results.key"
        self._random = Randomness()

    def make(self) -> None:
        """Make the key if there is none.

        Raises:
            StorageError: it cannot be written.
        """
        if self.path.exists():
            return
        try:
            self.path.parent.mkdir(mode=PRIVATE_FOLDER, exist_ok=True)
            write_key(self.path, self._random.bytes(_KEY_BYTES))
        except OSError as problem:
            raise StorageError(
                f"The key of the results, {self.path}, cannot be written: {why_unreadable(problem)}.",
                f"Free space on the disk of {self.path.parent}, or check its rights.",
            ) from None

    def seal(self, job_id: str, text: str) -> bytes:
        """A result, sealed.

        Raises:
            StorageError: the key cannot be used (code `results-key`).
        """
        nonce = self._random.bytes(_NONCE_BYTES)
        return _HEAD + nonce + self._cipher().encrypt(nonce, text.encode(), _bound_to(job_id))

    def open(self, job_id: str, data: bytes) -> str:
        """The result in `data`.

        Raises:
            StorageError: the key cannot be used, is another one, or the data have changed or are of another
                job (code `results-key`).
        """
        nonce, sealed = data[len(_HEAD) :][:_NONCE_BYTES], data[len(_HEAD) + _NONCE_BYTES :]
        try:
            if not data.startswith(_HEAD):
                raise InvalidTag
            return self._cipher().decrypt(nonce, sealed, _bound_to(job_id)).decode()
        except (InvalidTag, ValueError):
            raise StorageError(
                f"The result of job {job_id} is damaged, or {self.path.name} is not the key that it was "
                "sealed with.",
                f"Restore {self.path} and the folder results from one and the same copy of the home; what "
                f"cannot be read any more is deleted by `duetto job forget {job_id}`.",
                code=CODE,
            ) from None

    def derive(self, purpose: bytes) -> bytes:
        """32 secret bytes that follow from the key, for something else than results.

        Raises:
            StorageError: the key cannot be used (code `results-key`).
        """
        return HKDF(hashes.SHA256(), _KEY_BYTES, salt=None, info=purpose).derive(self._key())

    def _cipher(self) -> AESGCM:
        return AESGCM(self._key())

    def _key(self) -> bytes:
        try:
            key = read_key(self.path)
        except KeysLocked:
            raise
        except ConfigError as problem:
            hint = problem.hint if self.path.exists() else f"Restore {self.path} from a copy of the home."
            raise StorageError(
                f"Without the key of the results no result can be kept or read: {problem.what}",
                hint,
                code=CODE,
            ) from None
        if len(key) != _KEY_BYTES:
            raise StorageError(
                f"{self.path} has {len(key)} bytes; a key has {_KEY_BYTES}.",
                f"Restore {self.path} from a copy of the home.",
                code=CODE,
            )
        return key


def _bound_to(job_id: str) -> bytes:
    return b"duetto result of job " + job_id.encode()

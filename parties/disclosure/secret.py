"""The secret under which persons are hashed, so that records of them tell nothing without it."""

from __future__ import annotations

import hashlib
import os
from collections.abc import Set
from pathlib import Path
from typing import Final

from parties.disclosure.log import HistoryError
from parties.pki.files import PRIVATE_FOLDER
from parties.pki.protection import read_key, write_key

SECRET_BYTES: Final = 32


class Secret:
    """The secret under which persons are hashed for all records of a home.

    Args:
        home: the party's folder.
        needed_by: a file that is worth nothing without the secret.
    """

    def __init__(self, home: Path, needed_by: Path) -> None:
        self.path = home / "keys" / "exact-jobs.key"
        self._needed_by = needed_by

    def read(self) -> bytes:
        """The secret, 32 bytes; made on first use.

        Raises:
            HistoryError: it is lost while records need it, or damaged.
            ConfigError: the file is open to others.
        """
        if not self.path.exists():
            if self._needed_by.exists() and self._needed_by.stat().st_size:
                raise HistoryError(
                    f"{self.path.name} is lost, and with it the means to compare with earlier jobs.",
                    "Restore it from a backup.",
                )
            self.path.parent.mkdir(mode=PRIVATE_FOLDER, exist_ok=True)
            write_key(self.path, os.urandom(SECRET_BYTES))
        secret = read_key(self.path)
        if len(secret) != SECRET_BYTES:
            raise HistoryError(f"{self.path.name} is damaged.", "Restore it from a backup.")
        return secret

    def fingerprint(self) -> str:
        """What records say of the secret they were written with, hexadecimal."""
        return hashlib.blake2b(b"duetto exact jobs", key=self.read(), digest_size=8).hexdigest()

    def check(self, fingerprints: Set[str]) -> None:
        """Check that records with these fingerprints were written with this secret.

        Raises:
            HistoryError: one was not, or the secret is lost or damaged.
        """
        if fingerprints and fingerprints != {self.fingerprint()}:
            raise HistoryError(
                f"{self.path.name} is not the secret that {self._needed_by.name} was written with.",
                "Restore both from the same backup.",
            )

"""What two programs must have alike before they talk: the wire version and the parameters."""

from __future__ import annotations

import hashlib
from dataclasses import dataclass, field
from typing import Final

from parties.errors import VersionMismatch
from parties.ports.wire import WIRE

OLDEST: Final = 4
NEWEST: Final = 4
"""The wire versions that this program speaks; a new one whenever the greeting or the handshake changes its
meaning. What comes after them is in the digest `WIRE`."""

_NEWER = "Install the same release on both sides."


def digest(*parts: bytes) -> bytes:
    """SHA-256 over parts, each after its length in four bytes, so that no two lists of parts coincide."""
    hashed = hashlib.sha256()
    for part in parts:
        hashed.update(len(part).to_bytes(4, "big"))
        hashed.update(part)
    return hashed.digest()


def _own_parameters() -> bytes:
    return digest(b"duetto parameters", WIRE.encode())


@dataclass(frozen=True, slots=True)
class Terms:
    """The versions and parameters of one side.

    Attributes:
        oldest: the oldest wire version that it speaks.
        newest: greatest.
        parameters: digest of all that both sides must have alike.
    """

    oldest: int = OLDEST
    newest: int = NEWEST
    parameters: bytes = field(default_factory=_own_parameters)

    def agree(self, other: Terms) -> int:
        """The greatest version that both speak.

        Raises:
            VersionMismatch: there is none, or the parameters differ.
        """
        version = min(self.newest, other.newest)
        if version < max(self.oldest, other.oldest):
            raise VersionMismatch(
                f"This side speaks wire versions {self.oldest} to {self.newest}, "
                f"the peer {other.oldest} to {other.newest}.",
                _NEWER,
            )
        if self.parameters != other.parameters:
            raise VersionMismatch(
                f"The protocols of the two releases differ: {self.parameters.hex()[:12]} on this side, "
                f"{other.parameters.hex()[:12]} on the peer's.",
                _NEWER,
            )
        return version

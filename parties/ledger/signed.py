"""A peer's word about its ledger, as an entry keeps it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final


@dataclass(frozen=True, slots=True)
class Signed:
    """A peer's signature, checked, with what it takes to check it again.

    Attributes:
        role: the peer's role in the job.
        seen: number and hash of the local entry that the peer had seen last, 40 bytes in hexadecimal.
        signature: the signature, hexadecimal.
    """

    role: str = ""
    seen: str = ""
    signature: str = ""

    def fields(self) -> dict[str, str]:
        """The same by the names that an entry has for them."""
        return {"peer_role": self.role, "peer_seen": self.seen, "signature": self.signature}


NOT_ANNOUNCED: Final = Signed()
"""Nothing is signed."""

"""What is stamped: the heads of ledger and audit log of a party, under one digest."""

from __future__ import annotations

import re
import secrets
from dataclasses import dataclass, field
from typing import Any, Final

from commons.logs.lines import Link, canonical

FORMAT: Final = 1
SALT_BYTES: Final = 32

_HASH: Final = re.compile(r"[0-9a-f]{64}")
_SALT: Final = re.compile(rf"[0-9a-f]{{{2 * SALT_BYTES}}}")
_LARGEST: Final = 1 << 63


@dataclass(frozen=True, slots=True)
class StampStatement:
    """Whose heads they are, and which.

    Attributes:
        party: the name of the party.
        ledger: number and hash of the last entry of the ledger; None if it had none.
        log: the same of the last line of the audit log.
        salt: random bytes, hexadecimal, so that the digest tells the service nothing: neither whether the
            heads are others than last time, nor those of a ledger that it may have seen.
    """

    party: str
    ledger: Link | None
    log: Link | None
    salt: str = field(default_factory=lambda: secrets.token_hex(SALT_BYTES))

    def document(self) -> dict[str, Any]:
        """As plain JSON values."""
        return {
            "duetto_stamp": FORMAT,
            "party": self.party,
            "ledger": _plain(self.ledger),
            "log": _plain(self.log),
            "salt": self.salt,
        }

    @property
    def data(self) -> bytes:
        """The bytes whose digest is stamped; each statement has one form."""
        return canonical(self.document())


def parse_statement(document: Any) -> StampStatement:
    """Read a statement from plain JSON values.

    Raises:
        ValueError: it is none.
    """
    if not isinstance(document, dict) or document.get("duetto_stamp") != FORMAT:
        raise ValueError("not a statement of this format")
    party, salt = document.get("party"), document.get("salt")
    if not isinstance(party, str) or not isinstance(salt, str) or not _SALT.fullmatch(salt):
        raise ValueError("not a statement")
    made = StampStatement(party, _link(document.get("ledger")), _link(document.get("log")), salt)
    if made.document() != document:
        raise ValueError("not the fields of a statement")
    return made


def _plain(head: Link | None) -> dict[str, int | str] | None:
    return None if head is None else {"number": head[0], "hash": head[1]}


def _link(document: Any) -> Link | None:
    if document is None:
        return None
    if not isinstance(document, dict):
        raise ValueError("not a head")
    number, own = document.get("number"), document.get("hash")
    if type(number) is not int or not 0 <= number < _LARGEST:
        raise ValueError("not a number")
    if not isinstance(own, str) or not _HASH.fullmatch(own):
        raise ValueError("not a hash")
    return number, own

"""Entries of the ledger, each of which carries the hash of the one before."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterable
from dataclasses import dataclass, fields, replace
from fractions import Fraction
from typing import Any

from parties.errors import BudgetError

GENESIS = "0" * 64
"""What stands as the previous hash in the first entry."""

SPENT = "spent"
COUNTERSIGNED = "countersigned"

_DOMAIN = b"duetto ledger entry v1\0"


class LedgerError(BudgetError):
    """The ledger cannot be trusted or written; jobs that spend are refused until a person has looked."""

    code = "ledger"


@dataclass(frozen=True, slots=True)
class Entry:
    """One line of the ledger.

    Attributes:
        sequence: its number, from 0 without gaps.
        previous: hash of the entry before, hexadecimal.
        time: when it was written, RFC 3339 in UTC; for people, nothing is decided by it.
        event: `spent` or `countersigned`.
        job: digest of the job's contract, hexadecimal.
        dataset: the own data set.
        peer: the other party.
        epsilon: the exact privacy loss as a fraction, `0` in a countersignature.
        subject: for `countersigned`: the hash of the own entry that the peer acknowledged.
        peer_sequence: for `countersigned`: the number of the peer's own entry.
        peer_hash: for `countersigned`: the hash of the peer's own entry.
        signature: for `countersigned`: the peer's signature, hexadecimal.
        hash: hash of all the above.
    """

    sequence: int
    previous: str
    time: str
    event: str
    job: str
    dataset: str
    peer: str
    epsilon: str = "0"
    subject: str = ""
    peer_sequence: int = -1
    peer_hash: str = ""
    signature: str = ""
    hash: str = ""

    def sealed(self) -> Entry:
        """The entry with its hash."""
        return replace(self, hash=self._digest())

    @property
    def is_sealed(self) -> bool:
        """Whether the hash is that of the content."""
        return self.hash == self._digest()

    @property
    def loss(self) -> Fraction:
        """The exact privacy loss."""
        return Fraction(self.epsilon) if self.event == SPENT else Fraction(0)

    def line(self) -> bytes:
        """The line in the file, newline included."""
        return _canonical(self._content() | {"hash": self.hash}) + b"\n"

    def _content(self) -> dict[str, Any]:
        return {field.name: getattr(self, field.name) for field in fields(self) if field.name != "hash"}

    def _digest(self) -> str:
        return hashlib.sha256(_DOMAIN + _canonical(self._content())).hexdigest()


def parse_line(line: bytes) -> Entry:
    """Read one line.

    Raises:
        ValueError: it is no entry.
    """
    content = json.loads(line)
    if not isinstance(content, dict) or set(content) != {field.name for field in fields(Entry)}:
        raise ValueError("no entry")
    for field in fields(Entry):
        wanted = int if field.name in ("sequence", "peer_sequence") else str
        if type(content[field.name]) is not wanted:
            raise ValueError("wrong type")
    entry = Entry(**content)
    if entry.event not in (SPENT, COUNTERSIGNED) or Fraction(entry.epsilon) < 0:
        raise ValueError("impossible entry")
    return entry


def check_chain(entries: Iterable[Entry]) -> None:
    """Check numbers, hashes and links.

    Raises:
        LedgerError: at the first entry that is not the successor of the one before.
    """
    previous = GENESIS
    for number, entry in enumerate(entries):
        if entry.sequence != number or entry.previous != previous or not entry.is_sealed:
            raise LedgerError(
                f"The ledger is broken at entry {number}: it does not continue the entry before.",
                "Compare it with a backup and with the peer's countersignatures; do not edit it.",
            )
        previous = entry.hash


def _canonical(content: dict[str, Any]) -> bytes:
    return json.dumps(content, sort_keys=True, separators=(",", ":")).encode()

"""Entries of the ledger, each of which carries the hash of the one before."""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Iterable
from dataclasses import dataclass, fields, replace
from fractions import Fraction
from typing import Any, Final

from parties.errors import BudgetError
from smc.analyses.loss import Loss

GENESIS = "0" * 64
"""What stands as the previous hash in the first entry."""

NOTHING: Final = (0, GENESIS)
"""Number and hash that stand for no entry."""

HEAD_BYTES: Final = 40
"""Length of a number (8 bytes, big-endian) and a hash (32 bytes)."""

SPENT = "spent"
COUNTERSIGNED = "countersigned"

FORMAT: Final = 2
"""The format of new entries. Entries of format 1 knew epsilon alone and named no account."""

_DOMAINS: Final = {1: b"duetto ledger entry v1\0", 2: b"duetto ledger entry v2\0"}
_SINCE_2: Final = frozenset({"format", "account", "delta", "rho", "peer_role", "peer_seen"})
_INTEGERS: Final = ("format", "sequence", "peer_sequence")
_FRACTION = re.compile(r"[0-9]{1,1000}(/[1-9][0-9]{0,999})?")


class LedgerError(BudgetError):
    """A ledger cannot be trusted or written; there are no sessions until a person has looked."""

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
        epsilon: for `spent`: the loss's epsilon as a fraction, else `0`.
        subject: for `countersigned`: the hash of the own entry that the peer acknowledged.
        peer_sequence: for `countersigned`: the number of the peer's own entry.
        peer_hash: for `countersigned`: the hash of the peer's own entry.
        signature: for `countersigned`: the peer's signature, hexadecimal.
        hash: hash of all the others.
        format: how the entry is written and hashed.
        account: whose loss it is: a population, or a data set that has one of its own.
        delta: as `epsilon`.
        rho: as `epsilon`.
        peer_role: for `countersigned`: the peer's role in the job, which it signed.
        peer_seen: for `countersigned`: what the peer had seen of the own ledger, which it signed as well.
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
    format: int = FORMAT
    account: str = ""
    delta: str = "0"
    rho: str = "0"
    peer_role: str = ""
    peer_seen: str = ""

    def sealed(self) -> Entry:
        """The entry with its hash."""
        return replace(self, hash=self._digest())

    @property
    def is_sealed(self) -> bool:
        """Whether the hash is that of the content."""
        return self.hash == self._digest()

    @property
    def loss(self) -> Loss:
        """The exact privacy loss; nothing for a countersignature."""
        if self.event != SPENT:
            return Loss()
        return Loss(Fraction(self.epsilon), Fraction(self.delta), Fraction(self.rho))

    def document(self) -> dict[str, Any]:
        """The entry as plain JSON values, in the fields of its format."""
        return self._content() | {"hash": self.hash}

    def line(self) -> bytes:
        """The line in the file, newline included."""
        return _canonical(self.document()) + b"\n"

    def _content(self) -> dict[str, Any]:
        return {name: getattr(self, name) for name in _names(self.format) if name != "hash"}

    def _digest(self) -> str:
        return hashlib.sha256(_DOMAINS[self.format] + _canonical(self._content())).hexdigest()


def parse_line(line: bytes) -> Entry:
    """Read one line.

    Raises:
        ValueError: it is no entry.
    """
    return parse_document(json.loads(line))


def parse_document(content: Any) -> Entry:
    """Read an entry from plain JSON values.

    Raises:
        ValueError: it is no entry.
    """
    if not isinstance(content, dict):
        raise ValueError("no entry")
    number = content.get("format", 1)
    if type(number) is not int or number not in _DOMAINS or set(content) != _names(number):
        raise ValueError("no entry")
    for name, value in content.items():
        if type(value) is not (int if name in _INTEGERS else str):
            raise ValueError("wrong type")
    entry = Entry(**content) if number > 1 else Entry(**content, format=1, account=content["dataset"])
    if entry.event not in (SPENT, COUNTERSIGNED):
        raise ValueError("impossible entry")
    if not all(_FRACTION.fullmatch(number) for number in (entry.epsilon, entry.delta, entry.rho)):
        raise ValueError("impossible entry")
    return entry


def check_chain(entries: Iterable[Entry], after: Entry | None = None) -> None:
    """Check numbers, hashes and links.

    Args:
        entries: the entries.
        after: the entry that they follow; None if they begin the ledger.

    Raises:
        LedgerError: at the first entry that is not the successor of the one before.
    """
    previous = after.hash if after else GENESIS
    for number, entry in enumerate(entries, after.sequence + 1 if after else 0):
        if entry.sequence != number or entry.previous != previous or not entry.is_sealed:
            raise LedgerError(
                f"The ledger is broken at entry {number}: it does not continue the entry before.",
                "Compare it with a backup and with the peer's countersignatures; do not edit it.",
            )
        previous = entry.hash


def pack(sequence: int, entry_hash: str) -> bytes:
    """Number and hash of an entry in `HEAD_BYTES` bytes."""
    return sequence.to_bytes(8, "big") + bytes.fromhex(entry_hash)


def unpack(head: bytes) -> tuple[int, str]:
    """Number and hash of an entry out of `HEAD_BYTES` bytes."""
    return int.from_bytes(head[:8], "big"), head[8:].hex()


def _names(number: int) -> frozenset[str]:
    """The fields of an entry of that format."""
    names = frozenset(field.name for field in fields(Entry))
    return names if number > 1 else names - _SINCE_2


def _canonical(content: dict[str, Any]) -> bytes:
    return json.dumps(content, sort_keys=True, separators=(",", ":")).encode()

"""Entries of the ledger, each of which carries the hash of the one before."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any, Final

from typing_extensions import override

from commons.logs.chain import DISCONTINUOUS
from commons.logs.lines import GENESIS, START, Line
from parties.errors import BudgetError
from smc.analyses.studies.loss import Loss

NOTHING: Final = (0, GENESIS)
"""Number and hash that stand for no entry."""

HEAD_BYTES: Final = 40
"""Length of a number (8 bytes, big-endian) and a hash (32 bytes)."""

SPENT: Final = "spent"
EXACT: Final = "exact"
RUN: Final = "run"
COUNTERSIGNED: Final = "countersigned"
APPROVED: Final = "approved"
DENIED: Final = "denied"
CANCELLED: Final = "cancelled"
SIGNED: Final = "signed"
LOG_HEAD: Final = "log-head"
DUE: Final = "due"
VERDICT: Final = "verdict"

DECISIONS: Final = (APPROVED, DENIED, CANCELLED)
RELEASES: Final = (SPENT, EXACT)
"""What is written before a result is opened, and countersigned by the peer."""

FORMAT: Final = 3
"""The format of new entries. Entries of format 1 knew epsilon alone and named no account; those of format 2
knew losses and countersignatures only and held every field."""

_DOMAINS: Final = {number: f"duetto ledger entry v{number}\0".encode() for number in (1, 2, FORMAT)}
_INTEGERS: Final = ("format", "sequence", "peer_sequence", "uid", "log_line")
_FRACTIONS: Final = ("epsilon", "delta", "rho")
_FRACTION = re.compile(r"[0-9]{1,1000}(/[1-9][0-9]{0,999})?")

_EVERY: Final = frozenset({"format", "sequence", "previous", "time", "event", "job", "peer", "hash"})
_WHOSE: Final = frozenset({"dataset", "account"})
_ANNOUNCED: Final = frozenset({"peer_role", "peer_seen", "signature"})
_COUNTERSIGNATURE: Final = _ANNOUNCED | {"subject", "peer_sequence", "peer_hash"}
_DECISION: Final = frozenset({"actor", "uid", "rule", "subject"})
_ACT: Final = frozenset({"act", "actor", "person", "behalf", "key", "moment", "signature", "subject", "text"})
_FIELDS: Final = {
    SPENT: _EVERY | _WHOSE | _ANNOUNCED | {"epsilon", "delta", "rho"},
    EXACT: _EVERY | _WHOSE | _ANNOUNCED | {"persons"},
    RUN: _EVERY | _WHOSE | {"rule"},
    COUNTERSIGNED: _EVERY | _COUNTERSIGNATURE,
    **dict.fromkeys(DECISIONS, _EVERY | _DECISION),
    SIGNED: _EVERY | _ACT,
    LOG_HEAD: _EVERY | {"log_line", "log_hash"},
    DUE: _EVERY | {"why"},
    VERDICT: _EVERY | {"about", "auditor", "outcome", "subject"},
}
_FIELDS_2: Final = _EVERY | _WHOSE | _COUNTERSIGNATURE | {"epsilon", "delta", "rho"}
_FIELDS_1: Final = _FIELDS_2 - {"format", "account", "delta", "rho", "peer_role", "peer_seen"}


class LedgerError(BudgetError):
    """A ledger cannot be trusted or written; there are no sessions until a person has looked."""

    code = "ledger"
    advice = "Look at it with `duetto ledger verify`, which says what is wrong."


@dataclass(frozen=True, slots=True)
class Entry(Line):
    """One line of the ledger. Each event has fields of its own; the others are at their defaults.

    Attributes:
        event: `run`: a job has begun; `exact`: figures without noise are about to be opened; `spent`: a
            privacy loss is; `countersigned`: the peer's word that it has written its own; `approved`,
            `denied`, `cancelled`: somebody's decision; `signed`: what a person has signed, see
            `parties.persons`; `log-head`: the audit log had such a line, see `parties.stamps`; `due`: a
            covert run awaits an audit; `verdict`: an auditor's verdict on one was filed here.
        job: digest of the job's contract, hexadecimal; for a decision, as it was shown; for `signed`, of
            what was signed.
        dataset: for `run`, `exact` and `spent`: the local data set.
        peer: the other party.
        epsilon: for `spent`: the loss's epsilon as a fraction, else `0`.
        subject: for `countersigned`: the hash of the last entry of this party that the peer acknowledged; for
            `approved`: the hash of the approval of the draft that this one rests on, if it does on one; for
            `signed`: the hash of the entry that put the version before into force, if there was one; for
            `verdict`: the digest of what the auditor has signed.
        peer_sequence: for `countersigned`: the number of the peer's own entry.
        peer_hash: for `countersigned`: the hash of the peer's own entry.
        signature: for `countersigned`: the peer's signature, hexadecimal; for `exact` and `spent`: that
            under its announcement, see `parties.ledger.commit`; for `signed`: the person's.
        format: how the entry is written and hashed.
        account: with `dataset`: who it is about: a population, or a data set that has one of its own.
        delta: as `epsilon`.
        rho: as `epsilon`.
        peer_role: with `signature`: the peer's role in the job, which it signed.
        peer_seen: with `signature`: what the peer had seen of the local ledger, which it signed as well.
        persons: for `exact`: the digest of the set of local persons, see `parties.disclosure.history`.
        rule: for `run` and decisions: the rule of the policy that allowed the job; for decisions only if no
            person was asked.
        actor: for decisions: who decided, as that person said; empty if a rule did; for `signed`: the name of
            the person in the file of persons that was in force.
        uid: for decisions: the number of the person's account at the local machine; -1 if a rule decided.
        act: for `signed`: what, one of `parties.persons.roles.Act`.
        person: for `signed`: the word for the person.
        behalf: for `signed`: the word for the absent person for whom that one signed; empty if for nobody.
        key: for `signed`: the person's public key.
        moment: for `signed`: when, by the person's program.
        text: for `signed`: what was put into force, where later entries are checked by it.
        log_line: for `log-head`: the number of the last line of the audit log.
        log_hash: for `log-head`: its hash.
        why: for `due`: `coin` or `broken off`.
        about: for `verdict`: the party whose side was audited.
        auditor: for `verdict`: whose it is.
        outcome: for `verdict`: what it says of the party.
    """

    event: str
    job: str
    dataset: str = ""
    peer: str = ""
    epsilon: str = "0"
    subject: str = ""
    peer_sequence: int = -1
    peer_hash: str = ""
    signature: str = ""
    format: int = FORMAT
    account: str = ""
    delta: str = "0"
    rho: str = "0"
    peer_role: str = ""
    peer_seen: str = ""
    persons: str = ""
    rule: str = ""
    actor: str = ""
    uid: int = -1
    act: str = ""
    person: str = ""
    behalf: str = ""
    key: str = ""
    moment: str = ""
    text: str = ""
    log_line: int = -1
    log_hash: str = ""
    why: str = ""
    about: str = ""
    auditor: str = ""
    outcome: str = ""

    @property
    @override
    def domain(self) -> bytes:
        return _DOMAINS[self.format]

    @property
    def loss(self) -> Loss:
        """The exact privacy loss; nothing for other events than `spent`."""
        if self.event != SPENT:
            return Loss()
        return Loss(Fraction(self.epsilon), Fraction(self.delta), Fraction(self.rho))

    @override
    def body(self) -> dict[str, Any]:
        """The fields of its event and format."""
        names = _names(self.format, self.event)
        return {name: getattr(self, name) for name in names if name != "hash"}


def parse_line(line: bytes) -> Entry:
    """Read one line.

    Raises:
        ValueError: it is not an entry.
    """
    return parse_document(json.loads(line))


def parse_document(content: Any) -> Entry:
    """Read an entry from plain JSON values.

    Raises:
        ValueError: it is not an entry.
    """
    if not isinstance(content, dict):
        raise ValueError("not an entry")
    number, event = content.get("format", 1), content.get("event")
    if type(number) is not int or type(event) is not str or set(content) != _names(number, event):
        raise ValueError("not an entry")
    for name, value in content.items():
        if type(value) is not (int if name in _INTEGERS else str):
            raise ValueError("wrong type")
    entry = Entry(**content) if number > 1 else Entry(**content, format=1, account=content["dataset"])
    if not all(_FRACTION.fullmatch(getattr(entry, name)) for name in _FRACTIONS):
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
    before = after.link if after else START
    for entry in entries:
        if not entry.continues(before):
            raise broken_entry(before[0] + 1, DISCONTINUOUS)
        before = entry.link


def broken_entry(number: int, how: str) -> LedgerError:
    """The error that an entry is not as it was written."""
    return LedgerError(
        f"The ledger is broken: entry {number} {how}.",
        "Compare it with a backup and with the peer's countersignatures; do not edit it.",
    )


def require(entries: Sequence[Entry], sequence: int, entry_hash: str) -> None:
    """Check that an entry of which somebody keeps the hash is still in a ledger.

    Raises:
        LedgerError: it is not.
    """
    if sequence >= len(entries) or entries[sequence].hash != entry_hash:
        raise LedgerError(
            f"The ledger is older than what the peer has seen: entry {sequence} is missing or differs.",
            "The ledger was restored from an old copy; bring back the newest one.",
        )


def pack(sequence: int, entry_hash: str) -> bytes:
    """Number and hash of an entry in `HEAD_BYTES` bytes."""
    return sequence.to_bytes(8, "big") + bytes.fromhex(entry_hash)


def unpack(head: bytes) -> tuple[int, str]:
    """Number and hash of an entry out of `HEAD_BYTES` bytes."""
    return int.from_bytes(head[:8], "big"), head[8:].hex()


def _names(number: int, event: str) -> frozenset[str]:
    """The fields of an entry of that format and event; none if there are no such entries."""
    if number == FORMAT:
        return _FIELDS.get(event, frozenset())
    if event not in (SPENT, COUNTERSIGNED):
        return frozenset()
    return {1: _FIELDS_1, 2: _FIELDS_2}.get(number, frozenset())

"""The gate before results: both parties announce and then write what they release, then results are opened.

    Alice                                  Bob
      check and reserve the budget           check and reserve the budget
                  --- Announced -->
                  <-- Announced ---
      write exact release and loss,          write exact release and loss,
      force to disk                          force to disk
                  --- Written -->
                  <-- Written ---
      keep Bob's signature                   keep Alice's signature
      results may be opened                  results may be opened

A party that stops before it has announced costs the other nothing. If anything fails later, nothing is opened
and what has been written stays spent: a party that announces and stops can so cost the other one release, of
which the other keeps the signed announcement; how many of these are borne in a day is bounded
(`parties.ledger.book.UNSIGNED_PER_DAY`).
"""

from __future__ import annotations

from collections.abc import Callable
from contextlib import AbstractContextManager
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Protocol

from cryptography.exceptions import InvalidSignature
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PublicKey

from parties.ledger.accounting import Account, Budget
from parties.ledger.book import Ledger
from parties.ledger.entries import EXACT, HEAD_BYTES, NOTHING, RELEASES, RUN, Entry, LedgerError, pack, unpack
from parties.ledger.signed import Signed
from smc.analyses.disclosure.opener import Gate
from smc.analyses.studies.loss import Loss
from smc.channel.channel import Channel
from smc.channel.message import Message
from smc.channel.vectors import ByteRows, ExpectedByteRows, byte_row
from smc.errors import ProtocolViolation
from smc.forms import Role

if TYPE_CHECKING:
    from parties.pki.signing import SigningKey

_SIGNATURE_BYTES = 64

GATE_ROUNDS = 2
GATE_BYTES = 2 * (HEAD_BYTES + _SIGNATURE_BYTES)
"""What the gate adds to the traffic of a job, each way."""

_ANNOUNCED = b"duetto ledger announcement v1\0"
_WRITTEN = b"duetto ledger countersignature v1\0"


@dataclass(frozen=True, slots=True)
class Announced(Message, kind="ledger-announced", hidden=True):
    """One party's word that it writes what the job releases once it has the same word of the other.

    Attributes:
        seen: number (8 bytes, big-endian) and hash (32 bytes) of the latest entry of the receiver for which
            the sender keeps a signature, so that the receiver notices if its ledger was restored from an old
            copy; zeros if there is none; shape (1, 40).
        signature: the sender's Ed25519 signature over it, shape (1, 64).
    """

    seen: ByteRows
    signature: ByteRows


@dataclass(frozen=True, slots=True)
class Written(Message, kind="ledger-written", hidden=True):
    """One party's word that it has written, both directions.

    Attributes:
        entry: number and hash of the sender's last entry of the job, shape (1, 40).
        signature: the sender's signature over it and what it has announced as seen, shape (1, 64).
    """

    entry: ByteRows
    signature: ByteRows


class GateEvidence(Protocol):
    """What is said of the record of a run beside the messages of the gate."""

    def speak(self, channel: Channel) -> None:
        """Sign it."""
        ...

    def hear(self, channel: Channel) -> None:
        """Check that the peer has signed the same."""
        ...

    def put_aside(self, message: Message) -> None:
        """Keep a message of this side that does not follow from the seed of the run."""
        ...


Attend = Callable[[Callable[[], bool]], AbstractContextManager[str]]


@dataclass(frozen=True, slots=True)
class LedgerCommit:
    """What a job releases at this party.

    Attributes:
        job_digest: digest of the contract, 32 bytes.
        role: this side's role.
        account: whom it is about.
        dataset: the local data set.
        peer: the other party.
        loss: the privacy loss.
        budget: what may be spent on the account towards the peer.
        signing_key: this party's signing key.
        peer_key: the peer's signing key.
        attend: keeps the local persons of an exact job on disk and gives the digest of their set; takes them
            back if the ledger then gets no entry, which it is told how to ask. None for other jobs.
        evidence: of a covert job, what signs the record of the run with the announcement; None for others.
    """

    job_digest: bytes
    role: Role
    account: Account
    dataset: str
    peer: str
    loss: Loss
    budget: Budget
    signing_key: SigningKey = field(repr=False)
    peer_key: Ed25519PublicKey = field(repr=False)
    attend: Attend | None = field(default=None, repr=False)
    evidence: GateEvidence | None = field(default=None, repr=False)


def make_gate(ledger: Ledger, releasing: LedgerCommit) -> Gate:
    """The gate of one job that has begun (`Ledger.begin`); it is passed at most once."""
    return _Gate(ledger, releasing)


@dataclass(frozen=True, slots=True)
class _Gate:
    ledger: Ledger
    its: LedgerCommit

    def __call__(self, channel: Channel) -> None:
        its = self.its
        with self.ledger.reserve(its.job_digest.hex(), its.account, its.peer, its.loss, its.budget):
            seen = pack(*(self.ledger.last_seen(its.peer) or NOTHING))
            if its.evidence is not None:
                its.evidence.speak(channel)
            self._send(channel, Announced, seen, _text(_ANNOUNCED, its.job_digest, its.role, seen))
            if its.evidence is not None:
                its.evidence.hear(channel)
            theirs, announced = self._hear(channel, Announced, _ANNOUNCED)
            if any(theirs):
                self.ledger.require(*unpack(theirs))
            own = self._write(announced)
            entry = pack(own.sequence, own.hash)
            self._send(channel, Written, entry, signed_text(its.job_digest, its.role, entry, seen))
            written, word = self._hear(channel, Written, _WRITTEN, theirs)
            self.ledger.countersign(own, *unpack(written), word)

    def _write(self, announced: Signed) -> Entry:
        """Write what the job releases; returns its last entry, the one of its beginning if there is none."""
        its, job = self.its, self.its.job_digest.hex()
        whose = (job, its.account, its.dataset, its.peer)
        if its.attend is not None:
            with its.attend(lambda: EXACT in {entry.event for entry in self.ledger.of_job(job)}) as persons:
                self.ledger.release(*whose, persons, announced)
        if its.loss:
            self.ledger.spend(*whose, its.loss, its.budget, announced)
        entries = [entry for entry in self.ledger.of_job(job) if entry.event in (RUN, *RELEASES)]
        if not entries:
            raise LedgerError("The job releases results without having begun.", "Report it as a defect.")
        return entries[-1]

    def _send(self, channel: Channel, kind: type[Announced | Written], said: bytes, text: bytes) -> None:
        message = kind(byte_row(said), byte_row(self.its.signing_key.sign(text)))
        if self.its.evidence is not None:
            self.its.evidence.put_aside(message)
        channel.send(message)

    def _hear(
        self, channel: Channel, kind: type[Announced | Written], domain: bytes, seen: bytes = b""
    ) -> tuple[bytes, Signed]:
        """What the peer says, and its signature over it and what it has seen."""
        parts = channel.recv(kind, ExpectedByteRows(1, HEAD_BYTES), ExpectedByteRows(1, _SIGNATURE_BYTES))
        said, signature = (part.tobytes() for part in parts)
        role = self.its.role.other
        text = _text(domain, self.its.job_digest, role, said + seen)
        if not _is_signed(self.its.peer_key, text, signature):
            raise ProtocolViolation("The peer's signature for its ledger is not valid.")
        return said, Signed(role.value, (seen or said).hex(), signature.hex())


def signed_text(job_digest: bytes, role: Role, entry: bytes, seen: bytes) -> bytes:
    """What a party signs when it has written: its role and ledger entry, bound to the job.

    Args:
        job_digest: 32 bytes.
        role: the role of the signing party.
        entry: number and hash of its entry, 40 bytes.
        seen: number and hash of the latest entry of the other party that it keeps, 40 bytes.
    """
    return _text(_WRITTEN, job_digest, role, entry + seen)


def is_signed(
    key: Ed25519PublicKey, job_digest: bytes, role: Role, entry: bytes, seen: bytes, signature: bytes
) -> bool:
    """Whether the holder of `key` has signed its ledger entry; the arguments are those of `signed_text`."""
    return _is_signed(key, signed_text(job_digest, role, entry, seen), signature)


def is_announced(key: Ed25519PublicKey, job_digest: bytes, role: Role, seen: bytes, signature: bytes) -> bool:
    """Whether the holder of `key` has announced what a job releases; arguments as of `is_signed`."""
    return _is_signed(key, _text(_ANNOUNCED, job_digest, role, seen), signature)


def _text(domain: bytes, job_digest: bytes, role: Role, said: bytes) -> bytes:
    return domain + job_digest + role.value.encode().ljust(8, b"\0") + said


def _is_signed(key: Ed25519PublicKey, text: bytes, signature: bytes) -> bool:
    try:
        key.verify(signature, text)
    except InvalidSignature:
        return False
    return True

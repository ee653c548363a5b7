"""The gate before results: both parties write their loss and sign for it, then results are opened.

    Alice                                  Bob
      write the loss, force to disk          write the loss, force to disk
                  --- Written -->
                  <-- Written ---
      keep Bob's signature                   keep Alice's signature
      results may be opened                  results may be opened

If anything fails on the way, nothing is opened and what has been written stays spent.
"""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np
from cryptography.exceptions import InvalidSignature
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey, Ed25519PublicKey

from parties.ledger.accounting import Account, Budget
from parties.ledger.book import Ledger
from parties.ledger.entries import HEAD_BYTES, NOTHING, pack, unpack
from smc.analyses.disclosure.release import Gate, open_gate
from smc.analyses.loss import Loss
from smc.channel.channel import Channel
from smc.channel.message import Message
from smc.channel.vectors import ExpectedRows, Rows
from smc.errors import ProtocolViolation
from smc.forms import Role

LOSS_BYTES = HEAD_BYTES + HEAD_BYTES + 64
"""What the gate of a job that spends adds to the traffic, each way, in one round."""

_DOMAIN = b"duetto ledger countersignature v1\0"


@dataclass(frozen=True, slots=True)
class Written(Message):
    """One party's word that it has written its loss, both directions.

    Attributes:
        entry: number (8 bytes, big-endian) and hash (32 bytes) of the sender's entry, shape (1, 40).
        seen: the same of the latest entry of the receiver for which the sender keeps a signature, so that
            the receiver notices if its ledger was restored from an old copy; zeros if there is none.
        signature: the sender's Ed25519 signature over both, shape (1, 64).
    """

    entry: Rows
    seen: Rows
    signature: Rows


@dataclass(frozen=True, slots=True)
class Spending:
    """What a job spends at this party.

    Attributes:
        job_digest: digest of the contract, 32 bytes.
        role: the own role.
        account: whose loss it is.
        dataset: the own data set.
        peer: the other party.
        loss: the privacy loss.
        budget: what may be spent on the account towards the peer.
        signing_key: the own signing key.
        peer_key: the peer's signing key.
    """

    job_digest: bytes
    role: Role
    account: Account
    dataset: str
    peer: str
    loss: Loss
    budget: Budget
    signing_key: Ed25519PrivateKey = field(repr=False)
    peer_key: Ed25519PublicKey = field(repr=False)


def make_gate(ledger: Ledger, spending: Spending) -> Gate:
    """The gate of one job; it is passed at most once.

    A job that loses nothing under differential privacy passes without an entry and without a message.
    """
    if not spending.loss:
        return open_gate

    def gate(channel: Channel) -> None:
        own = ledger.spend(
            spending.job_digest.hex(),
            spending.account,
            spending.dataset,
            spending.peer,
            spending.loss,
            spending.budget,
        )
        entry = pack(own.sequence, own.hash)
        seen = pack(*(ledger.last_seen(spending.peer) or NOTHING))
        signature = spending.signing_key.sign(signed_text(spending.job_digest, spending.role, entry, seen))
        channel.send(Written(_row(entry), _row(seen), _row(signature)))
        parts = channel.recv(
            Written, ExpectedRows(1, HEAD_BYTES), ExpectedRows(1, HEAD_BYTES), ExpectedRows(1, 64)
        )
        theirs, of_mine, word = (part.tobytes() for part in parts)
        peer_role = spending.role.other
        if not is_signed(spending.peer_key, spending.job_digest, peer_role, theirs, of_mine, word):
            raise ProtocolViolation("The peer's signature under its ledger entry is not valid.")
        if any(of_mine):
            ledger.require(*unpack(of_mine))
        ledger.countersign(own, *unpack(theirs), word, peer_role=peer_role.value, peer_seen=of_mine.hex())

    return gate


def signed_text(job_digest: bytes, role: Role, entry: bytes, seen: bytes) -> bytes:
    """What a party signs: its role and ledger entry, bound to the job.

    Args:
        job_digest: 32 bytes.
        role: the role of the signing party.
        entry: number and hash of its entry, 40 bytes.
        seen: number and hash of the latest entry of the other party that it keeps, 40 bytes.
    """
    return _DOMAIN + job_digest + role.value.encode().ljust(8, b"\0") + entry + seen


def is_signed(
    key: Ed25519PublicKey, job_digest: bytes, role: Role, entry: bytes, seen: bytes, signature: bytes
) -> bool:
    """Whether the holder of `key` has signed its ledger entry; the arguments are those of `signed_text`."""
    try:
        key.verify(signature, signed_text(job_digest, role, entry, seen))
    except InvalidSignature:
        return False
    return True


def _row(data: bytes) -> Rows:
    return Rows(np.frombuffer(data, dtype=np.uint8).reshape(1, -1))

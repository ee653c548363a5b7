"""What both sides of a covert run sign about its record, and the messages that carry it.

Each signs twice: at the gate, before anything is opened, and at its end. Only signatures travel: a side knows
what the other has to have signed, so one that does not hold says that the two records differ. What is signed
holds what both have said before the run as well, so that neither can take another seed afterwards.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Final, NamedTuple

from cryptography.exceptions import InvalidSignature
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PublicKey

from parties.evidence.seeds import COMMITMENT_BYTES, PART_BYTES
from parties.ports.terms import digest
from smc.channel.message import Message
from smc.channel.vectors import ByteRows
from smc.forms import Role

SIGNATURE_BYTES: Final = 64

_GATE: Final = b"duetto evidence record at the gate v2\0"
_END: Final = b"duetto evidence record at the end v2\0"


@dataclass(frozen=True, slots=True)
class Recorded(Message, kind="evidence-recorded", hidden=True):
    """One party's signature under the record of the run so far, before anything is opened, both directions.

    Attributes:
        signature: Ed25519 over `gate_text`, shape (1, 64).
    """

    signature: ByteRows


@dataclass(frozen=True, slots=True)
class Closed(Message, kind="evidence-closed", hidden=True):
    """One party's signature under the record of the whole run, and its part of the coin, both directions.

    Attributes:
        signature: Ed25519 over `end_text`, shape (1, 64).
        part: of the coin, to which it had committed, shape (1, 16).
    """

    signature: ByteRows
    part: ByteRows


class ChainHeads(NamedTuple):
    """What stands for the frames of each direction, as one party sees them.

    Attributes:
        sent: head of the chain of what it sent, 32 bytes.
        received: head of that of what came.
    """

    sent: bytes
    received: bytes

    @property
    def other(self) -> ChainHeads:
        """As the other party sees them."""
        return ChainHeads(self.received, self.sent)


class Start(NamedTuple):
    """What each party has said before the run.

    Attributes:
        commitments: to its seed and its part of the coin, and how its machine rounds, 72 bytes each.
        given: what it gave for the randomness of the other, 16 bytes each.
    """

    commitments: Mapping[Role, bytes]
    given: Mapping[Role, bytes]


@dataclass(frozen=True, slots=True)
class RunRecord:
    """What a certificate says of the record of a covert run, as the party sees it that made it.

    Attributes:
        start: what both said before the run.
        gate: the heads before anything was opened.
        signatures: of both under them.
        end: the heads when the party had all that it needed.
    """

    start: Start
    gate: ChainHeads
    signatures: Mapping[Role, bytes]
    end: ChainHeads

    @classmethod
    def parse(cls, document: Mapping[str, Any]) -> RunRecord:
        """The record in a certificate.

        Raises:
            KeyError, TypeError, ValueError: it is malformed.
        """
        if set(document) != {"commitments", "given", "gate", "signatures", "end"}:
            raise ValueError("other entries than those of a record")
        commitments, given, signatures = (
            {role: _bytes(document[name][role.value], size) for role in Role}
            for name, size in (
                ("commitments", COMMITMENT_BYTES),
                ("given", PART_BYTES),
                ("signatures", SIGNATURE_BYTES),
            )
        )
        gate, end = (
            ChainHeads(*(_bytes(document[name][way], 32) for way in ("sent", "received")))
            for name in ("gate", "end")
        )
        return cls(Start(commitments, given), gate, signatures, end)

    def document(self) -> dict[str, dict[str, str]]:
        """As plain JSON values."""
        return {
            "commitments": {role.value: made.hex() for role, made in self.start.commitments.items()},
            "given": {role.value: made.hex() for role, made in self.start.given.items()},
            "gate": {way: head.hex() for way, head in self.gate._asdict().items()},
            "signatures": {role.value: made.hex() for role, made in self.signatures.items()},
            "end": {way: head.hex() for way, head in self.end._asdict().items()},
        }


def _bytes(text: str, size: int) -> bytes:
    found = bytes.fromhex(text)
    if len(found) != size or found.hex() != text:
        raise ValueError("another size or form")
    return found


def gate_text(job_digest: bytes, role: Role, start: Start, heads: ChainHeads) -> bytes:
    """What the party in a role signs at the gate."""
    return _GATE + _about(job_digest, role, start, heads)


def end_text(job_digest: bytes, role: Role, start: Start, heads: ChainHeads) -> bytes:
    """What it signs at the end of the run."""
    return _END + _about(job_digest, role, start, heads)


def is_signed(key: Ed25519PublicKey, text: bytes, signature: bytes) -> bool:
    """Whether the holder of a key has signed a text."""
    try:
        key.verify(signature, text)
    except InvalidSignature:
        return False
    return True


def _about(job_digest: bytes, role: Role, start: Start, heads: ChainHeads) -> bytes:
    said = (each[one] for each in start for one in Role)
    return digest(job_digest, role.value.encode(), *said, *heads)

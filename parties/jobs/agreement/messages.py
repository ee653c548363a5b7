"""What two daemons tell each other about a job, as canonical JSON.

proposer                                   other party
  draft             ---- propose ---->       checks, adds its schemas, signs or asks a person
                    <--- Answer ------       the complete contract: signed, pending, or unfit, if the
                                             schemas of both do not fit the parameters or each other
                    <--- Standing ----       `approved` or `denied`, if a person had to decide
  checks, signs     ---- Standing --->       `confirmed`, with the proposer's signature
  dials                                      lets the session in only now

From the proposal on either side may say at any time where the job stands for it, as often as it likes; it is
answered with where the job stands for the other: see `parties.jobs.agreement.standing`.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from enum import Enum
from typing import Any

from parties.contracts import canonical
from parties.contracts.contract import CONTRACT_BYTES, Contract, parse_contract
from smc.errors import ProtocolViolation

_ANSWER_BYTES = CONTRACT_BYTES + 1024
_NOTE_BYTES = 1024
_JOB_ID = re.compile(r"[0-9a-f]{16}")
_CODE = re.compile(r"[a-z0-9-]{0,64}")
_SIGNATURE = re.compile(r"([0-9a-f]{128})?")


class PeerState(Enum):
    """Where a job stands for one side, or how it answers a proposal."""

    UNFIT = "unfit"
    PENDING = "pending"
    APPROVED = "approved"
    CONFIRMED = "confirmed"
    RUNNING = "running"
    KEPT = "kept"
    FINISHED = "finished"
    FAILED = "failed"
    DENIED = "denied"
    CANCELLED = "cancelled"
    UNKNOWN = "unknown"


@dataclass(frozen=True, slots=True)
class Answer:
    """The answer to a proposal.

    Attributes:
        word: `approved`, `pending` or `unfit`.
        contract: the complete contract.
        signature: the signature of the answering party, if approved; else empty.
    """

    word: PeerState
    contract: Contract
    signature: bytes = field(default=b"", repr=False)

    def encode(self) -> bytes:
        """The message."""
        return canonical.encode(
            {
                "word": self.word.value,
                "contract": self.contract.encode().decode("ascii"),
                "signature": self.signature.hex(),
            }
        )


@dataclass(frozen=True, slots=True)
class JobStatus:
    """Where a job stands for the sender.

    Attributes:
        job_id: the job.
        word: any but `unfit`; a proposer confirms where the other party approves.
        code: stable code of what ended the job; empty unless it failed.
        signature: the sender's signature under the contract, with `approved` and `confirmed` only.
    """

    job_id: str
    word: PeerState
    code: str = ""
    signature: bytes = field(default=b"", repr=False)

    def encode(self) -> bytes:
        """The message."""
        return canonical.encode(
            {
                "job_id": self.job_id,
                "word": self.word.value,
                "code": self.code,
                "signature": self.signature.hex(),
            }
        )


def parse_answer(data: bytes) -> Answer:
    """Read an answer.

    Raises:
        ProtocolViolation: it is malformed.
    """
    values = _texts(data, _ANSWER_BYTES, "word", "contract", "signature")
    word, signature = (
        _word(values, PeerState.APPROVED, PeerState.PENDING, PeerState.UNFIT),
        _signature(values),
    )
    if (word is PeerState.APPROVED) != bool(signature):
        raise _malformed_error()
    return Answer(word, parse_contract(values["contract"].encode()), signature)


def parse_status(data: bytes) -> JobStatus:
    """Read a standing.

    Raises:
        ProtocolViolation: it is malformed.
    """
    values = _texts(data, _NOTE_BYTES, "job_id", "word", "code", "signature")
    words = [word for word in PeerState if word is not PeerState.UNFIT]
    word, code, signature = _word(values, *words), values["code"], _signature(values)
    if (word in (PeerState.APPROVED, PeerState.CONFIRMED)) != bool(signature):
        raise _malformed_error()
    if not _CODE.fullmatch(code) or (code and word is not PeerState.FAILED):
        raise _malformed_error()
    return JobStatus(_job_id(values), word, code, signature)


def _texts(data: bytes, limit: int, *names: str) -> dict[str, str]:
    values: Any = canonical.decode(data, limit)
    if not isinstance(values, dict) or set(values) != set(names):
        raise _malformed_error()
    if not all(isinstance(value, str) for value in values.values()):
        raise _malformed_error()
    return values


def _job_id(values: dict[str, str]) -> str:
    if not _JOB_ID.fullmatch(values["job_id"]):
        raise _malformed_error()
    return values["job_id"]


def _word(values: dict[str, str], *allowed: PeerState) -> PeerState:
    for word in allowed:
        if word.value == values["word"]:
            return word
    raise _malformed_error()


def _signature(values: dict[str, str]) -> bytes:
    if not _SIGNATURE.fullmatch(values["signature"]):
        raise _malformed_error()
    return bytes.fromhex(values["signature"])


def _malformed_error() -> ProtocolViolation:
    return ProtocolViolation("A job message from the peer is malformed.")

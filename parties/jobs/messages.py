"""What two daemons tell each other about a job, as canonical JSON.

proposer                                   other party
  draft             ---- propose ---->       checks, adds its schemas, signs or asks a person
                    <--- Answer ------       the complete contract: signed, pending, or unfit, if the
                                             schemas of both do not fit the parameters or each other
                    <--- Decision ----       later, if a person had to decide
  checks, signs     ---- Decision --->       `confirmed`, with the proposer's signature
  dials                                      lets the session in only now
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from enum import Enum
from typing import Any

from parties.jobs import canonical
from parties.jobs.contract import CONTRACT_BYTES, Contract, parse_contract
from smc.errors import ProtocolViolation

_ANSWER_BYTES = CONTRACT_BYTES + 1024
_NOTE_BYTES = 1024
_JOB_ID = re.compile(r"[0-9a-f]{16}")
_SIGNATURE = re.compile(r"([0-9a-f]{128})?")


class Word(Enum):
    """What a decision says."""

    APPROVED = "approved"
    PENDING = "pending"
    DENIED = "denied"
    CONFIRMED = "confirmed"
    UNFIT = "unfit"


@dataclass(frozen=True, slots=True)
class Answer:
    """The answer to a proposal.

    Attributes:
        word: `approved`, `pending` or `unfit`.
        contract: the complete contract.
        signature: the signature of the answering party, if approved; else empty.
    """

    word: Word
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
class Decision:
    """Word about a job that both know.

    Attributes:
        job_id: the job.
        word: `approved`, `denied` or `confirmed`.
        signature: the signature of the sender, unless denied.
    """

    job_id: str
    word: Word
    signature: bytes = field(default=b"", repr=False)

    def encode(self) -> bytes:
        """The message."""
        return canonical.encode(
            {"job_id": self.job_id, "word": self.word.value, "signature": self.signature.hex()}
        )


def parse_answer(data: bytes) -> Answer:
    """Read an answer.

    Raises:
        ProtocolViolation: it is malformed.
    """
    values = _texts(data, _ANSWER_BYTES, "word", "contract", "signature")
    word, signature = _word(values, Word.APPROVED, Word.PENDING, Word.UNFIT), _signature(values)
    if (word is Word.APPROVED) != bool(signature):
        raise _malformed()
    return Answer(word, parse_contract(values["contract"].encode()), signature)


def parse_decision(data: bytes) -> Decision:
    """Read a decision.

    Raises:
        ProtocolViolation: it is malformed.
    """
    values = _texts(data, _NOTE_BYTES, "job_id", "word", "signature")
    word, signature = _word(values, Word.APPROVED, Word.DENIED, Word.CONFIRMED), _signature(values)
    if (word is Word.DENIED) == bool(signature):
        raise _malformed()
    return Decision(_job_id(values), word, signature)


def encode_notice(job_id: str) -> bytes:
    """The notice that a job is given up."""
    return canonical.encode({"job_id": job_id})


def parse_notice(data: bytes) -> str:
    """The job that a notice names.

    Raises:
        ProtocolViolation: it is malformed.
    """
    return _job_id(_texts(data, _NOTE_BYTES, "job_id"))


def _texts(data: bytes, limit: int, *names: str) -> dict[str, str]:
    values: Any = canonical.decode(data, limit)
    if not isinstance(values, dict) or set(values) != set(names):
        raise _malformed()
    if not all(isinstance(value, str) for value in values.values()):
        raise _malformed()
    return values


def _job_id(values: dict[str, str]) -> str:
    if not _JOB_ID.fullmatch(values["job_id"]):
        raise _malformed()
    return values["job_id"]


def _word(values: dict[str, str], *allowed: Word) -> Word:
    for word in allowed:
        if word.value == values["word"]:
            return word
    raise _malformed()


def _signature(values: dict[str, str]) -> bytes:
    if not _SIGNATURE.fullmatch(values["signature"]):
        raise _malformed()
    return bytes.fromhex(values["signature"])


def _malformed() -> ProtocolViolation:
    return ProtocolViolation("A job message from the peer is malformed.")

"""A case: all that an audit of one side of a run needs besides its data and the frames that came in."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, Final

from parties.errors import DataError
from parties.evidence.cells import decode_column, encode_column
from parties.evidence.statements import ChainHeads, Start
from smc.analyses.studies.columns import Column
from smc.channel.message import MAX_LANES, is_kind
from smc.evidence.record import Said
from smc.forms import Role

FORMAT: Final = 1

Counts = tuple[()] | tuple[Mapping[int, int], Mapping[int, int]]
"""How many frames each lane had, sent and received; empty where the run did not come so far."""


@dataclass(frozen=True, slots=True, kw_only=True)
class RunCase:
    """What one party keeps of a covert run.

    Attributes:
        job_id: the job.
        contract: its contract as both have signed it, canonical JSON.
        role: whose side it is.
        keys: the parties' signing keys, 64 hexadecimal digits each.
        signatures: under the contract.
        paillier: N of each party's Paillier key.
        start: what both said before the run.
        seed: of this party.
        parts: of the coin, of those who have told it; this party's own as well.
        papers: data of the messages that do not follow from the seed, as this party sent them in their order.
        sent: what this party sent, lane by lane.
        received: the same of what came.
        gate: the heads at the gate, as this party saw them; None where the run did not come so far.
        gate_counts: how many frames each lane had there, sent and received.
        gate_signatures: of both under it.
        end: the heads at the end, likewise.
        end_counts: how many frames each lane had there.
        end_signatures: of both under it.
        needs_key: whether the run took this party's Paillier key, without which it cannot be made again.
        answers: of this party's history of exact jobs, in their order, see `parties.evidence.answers`.
        judges: whether that history knew whom rows are about.
    """

    job_id: str
    contract: str
    role: Role
    keys: Mapping[Role, str]
    signatures: Mapping[Role, bytes]
    paillier: Mapping[Role, int]
    start: Start
    seed: bytes = field(repr=False)
    parts: Mapping[Role, bytes] = field(default_factory=dict, repr=False)
    papers: Sequence[bytes] = ()
    sent: Mapping[int, Sequence[Said]] = field(default_factory=dict, repr=False)
    received: Mapping[int, Sequence[Said]] = field(default_factory=dict, repr=False)
    gate: ChainHeads | None = None
    gate_counts: Counts = ()
    gate_signatures: Mapping[Role, bytes] = field(default_factory=dict)
    end: ChainHeads | None = None
    end_counts: Counts = ()
    end_signatures: Mapping[Role, bytes] = field(default_factory=dict)
    needs_key: bool = False
    answers: Sequence[bool] = ()
    judges: bool = False

    def encode(self) -> bytes:
        """As JSON."""
        document = {
            "format": FORMAT,
            "job_id": self.job_id,
            "contract": self.contract,
            "role": self.role.value,
            "keys": _by_role(self.keys),
            "signatures": _hex(self.signatures),
            "paillier": {role.value: str(n) for role, n in self.paillier.items()},
            "commitments": _hex(self.start.commitments),
            "given": _hex(self.start.given),
            "seed": self.seed.hex(),
            "parts": _hex(self.parts),
            "papers": [paper.hex() for paper in self.papers],
            "sent": _lanes(self.sent),
            "received": _lanes(self.received),
            "gate": _heads(self.gate),
            "gate_counts": _counts(self.gate_counts),
            "gate_signatures": _hex(self.gate_signatures),
            "end": _heads(self.end),
            "end_counts": _counts(self.end_counts),
            "end_signatures": _hex(self.end_signatures),
            "needs_key": self.needs_key,
            "answers": [*self.answers],
            "judges": self.judges,
        }
        return json.dumps(document, separators=(",", ":")).encode()

    def receipt(self) -> RunCase:
        """What both have signed of the run and have told of the coin, without seed, data and messages."""
        return replace(self, seed=b"", papers=(), sent={}, received={}, answers=())


def decode_case(data: bytes) -> RunCase:
    """The case in bytes of `RunCase.encode`, which may come from anybody; its form alone is checked.

    Raises:
        DataError: they are none.
    """
    try:
        head = json.loads(data)
        if head["format"] != FORMAT:
            raise ValueError("another format")
        case = RunCase(
            job_id=_text(head["job_id"]),
            contract=_text(head["contract"]),
            role=Role(head["role"]),
            keys={Role(role): _text(key) for role, key in head["keys"].items()},
            signatures=_unhex(head["signatures"]),
            paillier={Role(role): int(_text(n)) for role, n in head["paillier"].items()},
            start=Start(_unhex(head["commitments"]), _unhex(head["given"])),
            seed=bytes.fromhex(head["seed"]),
            parts=_unhex(head["parts"]),
            papers=[bytes.fromhex(paper) for paper in head["papers"]],
            sent=_parse_said(head["sent"]),
            received=_parse_said(head["received"]),
            gate=_parsed_heads(head["gate"]),
            gate_counts=_parsed_counts(head["gate_counts"]),
            gate_signatures=_unhex(head["gate_signatures"]),
            end=_parsed_heads(head["end"]),
            end_counts=_parsed_counts(head["end_counts"]),
            end_signatures=_unhex(head["end_signatures"]),
            needs_key=bool(head["needs_key"]),
            answers=tuple(map(bool, head["answers"])),
            judges=bool(head["judges"]),
        )
        both = (case.keys, case.signatures, case.paillier, *case.start)
        if any(set(each) != set(Role) for each in both):
            raise ValueError("not of both")
    except (ValueError, TypeError, KeyError, AttributeError, RecursionError):
        raise DataError("The evidence is malformed.", "Ask the party for it again.") from None
    return case


@dataclass(frozen=True, slots=True)
class Inputs:
    """The data of one side of a run.

    Attributes:
        data: the columns by their names in the job.
        salts: of the commitments to them.
    """

    data: Mapping[str, Column] = field(default_factory=dict, repr=False)
    salts: Mapping[str, bytes] = field(default_factory=dict, repr=False)

    def encode(self) -> bytes:
        """As bytes: JSON on one line, then the columns."""
        columns = [encode_column(column) for column in self.data.values()]
        head = {
            "columns": [[name, len(column)] for name, column in zip(self.data, columns, strict=True)],
            "salts": {name: salt.hex() for name, salt in self.salts.items()},
        }
        return b"".join((json.dumps(head, separators=(",", ":")).encode(), b"\n", *columns))


def decode_inputs(data: bytes) -> Inputs:
    """The inputs in bytes of `Inputs.encode`, which may come from anybody.

    Raises:
        DataError: they are none.
    """
    line, _, rest = data.partition(b"\n")
    try:
        head = json.loads(line)
        salts = {_text(name): bytes.fromhex(salt) for name, salt in head["salts"].items()}
        return Inputs(_columns(head["columns"], rest), salts)
    except (ValueError, TypeError, KeyError, AttributeError, RecursionError):
        raise DataError("The data of the evidence are malformed.", "Ask the party for it again.") from None


def _by_role(values: Mapping[Role, str]) -> dict[str, str]:
    return {role.value: value for role, value in values.items()}


def _hex(values: Mapping[Role, bytes]) -> dict[str, str]:
    return {role.value: value.hex() for role, value in values.items()}


def _unhex(document: Mapping[str, str]) -> dict[Role, bytes]:
    return {Role(role): bytes.fromhex(value) for role, value in document.items()}


def _heads(heads: ChainHeads | None) -> list[str] | None:
    return None if heads is None else [head.hex() for head in heads]


def _parsed_heads(document: Any) -> ChainHeads | None:
    return None if document is None else ChainHeads(*map(bytes.fromhex, document))


def _counts(counts: Counts) -> list[dict[str, int]]:
    return [{str(lane): count for lane, count in each.items()} for each in counts]


def _parsed_counts(document: Any) -> Counts:
    found = [{int(lane): count for lane, count in each.items()} for each in document]
    if not all(type(count) is int and count >= 0 for each in found for count in each.values()):
        raise ValueError("not counts")
    if not found:
        return ()
    sent, received = found
    return sent, received


def _lanes(lanes: Mapping[int, Sequence[Said]]) -> dict[str, list[list[str]]]:
    return {str(lane): [[said.kind, said.digest.hex()] for said in frames] for lane, frames in lanes.items()}


def _parse_said(document: Mapping[str, Any]) -> dict[int, tuple[Said, ...]]:
    found = {
        int(lane): tuple(Said(k, bytes.fromhex(d)) for k, d in frames) for lane, frames in document.items()
    }
    if not all(is_kind(said.kind) and len(said.digest) == 32 for frames in found.values() for said in frames):
        raise ValueError("not what frames say")
    if not all(0 <= lane <= MAX_LANES for lane in found):
        raise ValueError("not lanes")
    return found


def _columns(named: Any, data: bytes) -> dict[str, Column]:
    found, start = {}, 0
    for name, size in named:
        found[_text(name)] = decode_column(data[start : start + size])
        start += size
    if start != len(data):
        raise ValueError("more than the columns")
    return found


def _text(value: Any) -> str:
    if not isinstance(value, str):
        raise TypeError("not a text")
    return value

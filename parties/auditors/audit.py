"""The audit of one side of a covert run: what it kept, held against what was signed, and the run made again.

A party that followed the program passes whatever came in. What it shows has to open what it committed to and
to be what both have signed; then the first frame that it sent otherwise than the program convicts it.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from enum import Enum, unique
from typing import Any, Final

from parties.contracts.contract import Contract, parse_contract, signed_text
from parties.errors import DataError
from parties.evidence.answers import GivenAnswers
from parties.evidence.cells import commitment, encode_column
from parties.evidence.run_case import Inputs, RunCase
from parties.evidence.seeds import PART_BYTES, opens_seed, run_seed
from parties.evidence.statements import (
    SIGNATURE_BYTES,
    ChainHeads,
    Closed,
    Recorded,
    end_text,
    gate_text,
    is_signed,
)
from parties.evidence.store import CLEARED, CONVICTED
from parties.ledger.commit import Announced, Written
from parties.ledger.entries import HEAD_BYTES
from parties.pki.signing import parse_key
from smc.analyses.registry import study_of
from smc.analyses.studies.columns import PERSONS, Column, Schema
from smc.analyses.studies.runner import run_study
from smc.analyses.studies.study import Analysis, Study
from smc.channel.channel import Channel
from smc.channel.message import Message
from smc.channel.vectors import ExpectedByteRows, byte_row
from smc.ciphers.paillier import PrivateKey, PublicKey
from smc.errors import DuettoError, KeyMaterialError, PeerLost
from smc.evidence.record import Came, Chain
from smc.evidence.replay import NotReplayed, replay
from smc.evidence.verdict import Departure, judge
from smc.forms import Role
from smc.protocols.full_session import FullSession


@unique
class Outcome(Enum):
    """What an audit says of a party."""

    CLEARED = CLEARED
    """It sent what the program sends, of the data, the seed and the limits that it had committed to."""
    CONVICTED = CONVICTED
    """It did not."""
    UNDECIDED = "undecided"
    """The run cannot be made again here."""
    MISSING = "missing"
    """It shows nothing."""


@dataclass(frozen=True, slots=True)
class AuditFinding:
    """What an audit found.

    Attributes:
        outcome: what it says of the party.
        ground: why, in a sentence.
        departure: the first frame that the party sent otherwise than the program, if that convicts it.
        signed: what both have signed of the record: `end`, `gate` or `nothing`.
    """

    outcome: Outcome
    ground: str
    departure: Departure | None = None
    signed: str = "nothing"


class _Unproven(Exception):  # noqa: N818 - it is a finding
    """What a party shows is not what it committed to."""


_NO_DATA: Final = "It shows no data, and nothing that both have signed: such a run cannot be made again."
_NO_ANALYSIS: Final = "There is no analysis {!r} at this place; it may be a plug-in's of the party."
_LACKS_KEY: Final = (
    "The run took the party's Paillier key of the contract, so that it can be audited at its home alone, and "
    "while that has this key."
)
_WIDTHS: Final[Mapping[type[Message], tuple[int, ...]]] = {
    Recorded: (SIGNATURE_BYTES,),
    Announced: (HEAD_BYTES, SIGNATURE_BYTES),
    Written: (HEAD_BYTES, SIGNATURE_BYTES),
    Closed: (SIGNATURE_BYTES, PART_BYTES),
}


def audit(
    case: RunCase,
    inputs: Inputs,
    frames: Iterable[Came],
    analyses: Mapping[str, Analysis],
    own_key: PrivateKey | None = None,
) -> AuditFinding:
    """Audit one side of a run.

    Args:
        case: what the party shows.
        inputs: its data.
        frames: those that came in, in their order.
        analyses: all analyses by name.
        own_key: its Paillier key, for runs that took it.

    Raises:
        DataError: the evidence is malformed.
    """
    came = list(frames)
    try:
        contract = _contract(case)
        _check_seed(case, contract)
        signed = _check_record(case, contract, came)
        is_empty = signed == "nothing" and not inputs.data
        if not is_empty:
            _check_commitments(case, inputs, contract)
    except _Unproven as problem:
        return AuditFinding(Outcome.CONVICTED, str(problem))
    if is_empty or contract.spec.analysis not in analyses:
        why = _NO_DATA if is_empty else _NO_ANALYSIS.format(contract.spec.analysis)
        return AuditFinding(Outcome.UNDECIDED, why, signed=signed)
    if own_key is not None and own_key.public.fingerprint != contract.keys[case.role]:
        own_key = None  # the party has made a new one since
    study = study_of(analyses[contract.spec.analysis], contract.spec.parameters)
    program = _Program(study, contract, case, inputs)
    try:
        made = replay(
            program.run,
            case.role,
            run_seed(case.seed, case.given),
            came,
            network=contract.spec.network,
            lanes=contract.spec.lanes,
            own_key=own_key,
            peer_key=PublicKey(case.paillier[case.role.other]),
        )
    except NotReplayed as problem:
        return AuditFinding(Outcome.UNDECIDED, problem.what, signed=signed)
    return _judged(case, program, made, signed)


def _judged(case: RunCase, program: _Program, made: Chain, signed: str) -> AuditFinding:
    """What follows from what the program sends."""
    verdict = judge(Chain(case.sent), made)
    if program.lacks_key and (verdict.deviation is None or _is_beyond(verdict.deviation, made)):
        return AuditFinding(Outcome.UNDECIDED, _LACKS_KEY, signed=signed)
    if verdict.deviation is None:
        end = "to its end" if verdict.ended else "as far as the run went"
        return AuditFinding(Outcome.CLEARED, f"It sent what the program sends, {end}.", signed=signed)
    found = verdict.deviation
    where = f"frame {found.number}" + (f" of lane {found.lane}" if found.lane else "")
    ground = f"It sent {where}, of kind {found.kind}, otherwise than the program."
    return AuditFinding(Outcome.CONVICTED, ground, found, signed)


class _Program:
    """One side of the run, with the messages of the gate and the end as they were sent."""

    def __init__(self, study: Study, contract: Contract, case: RunCase, inputs: Inputs) -> None:
        self._study = study
        self._contract = contract
        self._case = case
        self._data = inputs.data
        self._papers = iter(case.papers)
        self.lacks_key = False

    def run(self, session: FullSession) -> None:
        spec, limits = self._contract.spec, self._contract.limits_of(self._case.role)
        try:
            answers = GivenAnswers(self._case.answers, judges=self._case.judges)
            run_study(self._study, session, self._data, spec.recipients, limits, self._gate, answers)
        except KeyMaterialError:
            self.lacks_key = session.own_key is None
            raise
        self._send(session.channel, Closed)

    def _gate(self, channel: Channel) -> None:
        """As `parties.ledger.commit`, whose messages carry signatures over heads of ledgers."""
        self._send(channel, Recorded)
        self._send(channel, Announced)
        self._hear(channel, Recorded)
        self._hear(channel, Announced)
        self._send(channel, Written)
        self._hear(channel, Written)

    def _send(self, channel: Channel, kind: Callable[..., Message]) -> None:
        paper, start, parts = next(self._papers, None), 0, []
        widths = _WIDTHS[kind]  # type: ignore[index]
        if paper is None or len(paper) != sum(widths):
            raise PeerLost("The record ends here.")
        for width in widths:
            parts.append(byte_row(paper[start : start + width]))
            start += width
        channel.send(kind(*parts))

    def _hear(self, channel: Channel, kind: type[Message]) -> None:
        expected: list[Any] = [ExpectedByteRows(1, width) for width in _WIDTHS[kind]]
        channel.recv(kind, *expected)


def _is_beyond(found: Departure, made: Chain) -> bool:
    """Whether a frame comes after all that the program has sent on its lane."""
    return found.number >= len(made.lanes().get(found.lane, ()))


def _contract(case: RunCase) -> Contract:
    """The contract, which both have signed, for a covert job."""
    try:
        contract = parse_contract(case.contract.encode())
        signed = {
            role: is_signed(
                parse_key(case.keys[role]), signed_text(contract.digest, role), case.signatures[role]
            )
            for role in Role
        }
    except (DuettoError, KeyError, ValueError):
        raise DataError("The contract of the evidence is malformed.", "Ask for the evidence again.") from None
    if contract.spec.audit is None:
        raise DataError("The contract of the evidence is not of a covert job.", "There is nothing to audit.")
    for role in Role:
        if not signed[role]:
            raise _Unproven(f"The signature of {role.value} under the contract that it shows is not valid.")
    if contract.job_id != case.job_id:
        raise _Unproven("The contract that it shows is of another job.")
    for role in Role:
        if _fingerprint(case.paillier[role]) != contract.keys[role]:
            raise _Unproven(f"The Paillier key of {role.value} that it shows is not that of the contract.")
    return contract


def _fingerprint(n: int) -> str:
    """Of a Paillier N, which may be any number; empty if it cannot be one."""
    try:
        return PublicKey(n).fingerprint
    except (DuettoError, ValueError, ArithmeticError):
        return ""


def _check_seed(case: RunCase, contract: Contract) -> None:
    """Check that the seed is the one that the party committed to."""
    if not opens_seed(case.commitments[case.role], contract.digest, case.role, case.seed):
        raise _Unproven("The seed that it shows is not the one that it had committed to.")


def _check_commitments(case: RunCase, inputs: Inputs, contract: Contract) -> None:
    """Check that the data are those that the party committed to, and within what it declared."""
    committed = contract.commitments[case.role] or {}
    if set(inputs.data) != set(committed) or set(inputs.salts) != set(committed):
        raise _Unproven("It shows other columns than it had committed to.")
    declared = contract.schemas[case.role] or {}
    if not set(declared) <= set(committed):
        raise _Unproven("It had committed to fewer columns than it declared in the contract.")
    for name, column in inputs.data.items():
        if commitment(inputs.salts[name], encode_column(column)) != committed[name]:
            raise _Unproven(
                f"The data of column {name!r} that it shows are not those that it had committed to."
            )
        if name in declared:
            _check_bounds(name, column, declared[name])
        elif name != PERSONS and not name.startswith("@"):
            raise _Unproven(f"It shows a column {name!r} that the contract does not declare.")


def _check_bounds(name: str, column: Column, schema: Schema) -> None:
    if column.schema != schema:
        raise _Unproven(f"It declared column {name!r} otherwise in the contract.")
    if schema.lower is None or schema.upper is None or not len(column):
        return
    if min(column.integers) < schema.lower or max(column.integers) > schema.upper:
        raise _Unproven(f"Column {name!r} has values outside the bounds that it declared in the contract.")


def _check_record(case: RunCase, contract: Contract, came: list[Came]) -> str:
    """Check that what went each way is what both have signed; returns how far that reaches."""
    sent, received = Chain(case.sent), Chain(case.received)
    heard = Chain()
    for each in came:
        heard.add(each.frame)
    lanes = heard.lanes()
    if any(
        list(lanes.get(lane, ()))[: len(frames)] != list(frames) for lane, frames in received.lanes().items()
    ):
        raise _Unproven("The frames that it shows are not those whose digests it shows.")
    reached = "nothing"
    for name, heads, counts, signatures, text in (
        ("gate", case.gate, case.gate_counts, case.gate_signatures, gate_text),
        ("end", case.end, case.end_counts, case.end_signatures, end_text),
    ):
        if heads is None or len(signatures) < len(Role) or not counts:
            continue
        if ChainHeads(sent.first(counts[0]).head, received.first(counts[1]).head) != heads:
            raise _Unproven(f"The record that it shows is not the one that it signed at the {name}.")
        for role in Role:
            seen = heads if role is case.role else heads.other
            signed = text(contract.digest, role, case.commitments, seen)
            if not is_signed(parse_key(case.keys[role]), signed, signatures[role]):
                raise _Unproven(f"The signature of {role.value} under the record at the {name} is not valid.")
        reached = name
    return reached

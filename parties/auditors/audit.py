"""The audit of one side of a covert run: what it kept, held against what was signed, and the run made again.

A party that followed the program passes whatever came in. What it shows has to open what it committed to and
to be what both have signed; then the first frame that it sent otherwise than the program convicts it.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field, replace
from enum import Enum, unique
from typing import Any, Final

from parties.auditors.receipts import Receipt, Signed, Unproven, contract_of, heads_of, signed_heads
from parties.contracts.contract import Contract
from parties.errors import DataError
from parties.evidence.answers import GivenAnswers
from parties.evidence.cells import commitment, encode_column
from parties.evidence.run_case import Inputs, RunCase
from parties.evidence.seeds import PART_BYTES, opens_seed, rounds_as_here, run_seed
from parties.evidence.statements import SIGNATURE_BYTES, ChainHeads, Closed, Recorded
from parties.evidence.store import CLEARED, CONVICTED, PARTIAL, UNSIGNED
from parties.ledger.commit import Announced, Written
from parties.ledger.entries import HEAD_BYTES
from smc.analyses.registry import study_of
from smc.analyses.studies.columns import MARK, PERSONS, Column, Schema, missing_mark
from smc.analyses.studies.runner import run_study
from smc.analyses.studies.study import Analysis, Study
from smc.channel.channel import Channel
from smc.channel.message import Frame, Message
from smc.channel.vectors import ExpectedByteRows, byte_row
from smc.ciphers.paillier import PrivateKey, PublicKey
from smc.errors import DuettoError, KeyMaterialError, PeerLost, UsageError
from smc.evidence.record import Chain
from smc.evidence.replay import NotReplayed, replay
from smc.evidence.verdict import Departure, judge
from smc.forms import Role
from smc.protocols.full_session import FullSession


@unique
class Outcome(Enum):
    """What an audit says of a party."""

    CLEARED = CLEARED
    """It sent what the program sends, of the data, the seed and the limits that it had committed to, and both
    have signed the record of the whole run."""
    CONVICTED = CONVICTED
    """It did not send that."""
    PARTIAL = PARTIAL
    """What it shows is what the program sends; both have signed it up to the gate alone."""
    UNSIGNED = UNSIGNED
    """What it shows is what the program sends; both have signed nothing of it."""
    INCOMPLETE = "incomplete"
    """It has signed more of the run than it shows."""
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
        heads: those that the party itself has signed, and that its record bears out, by `gate` and `end`.
    """

    outcome: Outcome
    ground: str
    departure: Departure | None = None
    signed: str = "nothing"
    heads: Signed = field(default_factory=dict)


_NO_DATA: Final = "It shows no data, and nothing that both have signed: such a run cannot be made again."
_NO_ANALYSIS: Final = "There is no analysis {!r} at this place; it may be a plug-in's of the party."
_LACKS_KEY: Final = (
    "The run took the party's Paillier key of the contract, so that it can be audited at its home alone, and "
    "while that has this key."
)
_OTHER_MACHINE: Final = (
    "It sent {}, otherwise than the program does on this machine. The job computes with floating-point "
    "numbers, which this machine rounds otherwise than the one that the party had stated before the run: "
    "repeat the audit on a machine of that kind, with as many cores."
)
_SHORT: Final = "It has signed more of the run than it shows, by the receipt of the other party."
_FOLLOWED: Final[Mapping[str, tuple[Outcome, str]]] = {
    "end": (Outcome.CLEARED, "to its end."),
    "gate": (
        Outcome.PARTIAL,
        "as far as its record goes, which both have signed up to the gate alone. Whether it has signed more, "
        "the receipt of the other party tells.",
    ),
    "nothing": (
        Outcome.UNSIGNED,
        "as far as its record goes, of which both have signed nothing. Whether it has signed more than it "
        "shows, the receipt of the other party tells.",
    ),
}
"""What is said of a party that followed the program, by what both have signed of its record."""

_WIDTHS: Final[Mapping[type[Message], tuple[int, ...]]] = {
    Recorded: (SIGNATURE_BYTES,),
    Announced: (HEAD_BYTES, SIGNATURE_BYTES),
    Written: (HEAD_BYTES, SIGNATURE_BYTES),
    Closed: (SIGNATURE_BYTES, PART_BYTES),
}


def audit(
    case: RunCase,
    inputs: Inputs,
    frames: Iterable[Frame],
    analyses: Mapping[str, Analysis],
    own_key: PrivateKey | None = None,
    receipt: Receipt | None = None,
) -> AuditFinding:
    """Audit one side of a run.

    Args:
        case: what the party shows.
        inputs: its data.
        frames: those that came in, in their order.
        analyses: all analyses by name.
        own_key: its Paillier key, for runs that took it.
        receipt: what the other party has of this one's signatures.

    Raises:
        DataError: the evidence is malformed, or the receipt is of another run.
    """
    came = list(frames)
    try:
        contract = contract_of(case)
        _check_seed(case, contract)
        _check_record(case, came)
        both: Mapping[Role, Signed] = signed_heads(case, contract)
        heads, is_short = both[case.role], False
        if receipt is not None:
            both, is_short = _held_against(case, contract, both, receipt)
        signed = next(
            (name for name in ("end", "gate") if all(name in both[role] for role in Role)), "nothing"
        )
        is_empty = signed == "nothing" and not inputs.data
        if not is_empty:
            _check_commitments(case, inputs, contract)
    except Unproven as problem:
        return AuditFinding(Outcome.CONVICTED, str(problem))
    if is_empty:
        found = AuditFinding(Outcome.UNDECIDED, _NO_DATA)
    elif contract.spec.analysis not in analyses:
        found = AuditFinding(Outcome.UNDECIDED, _NO_ANALYSIS.format(contract.spec.analysis))
    else:
        study = study_of(analyses[contract.spec.analysis], contract.spec.parameters)
        found = _made_again(_Program(study, contract, case, inputs), came, own_key, signed)
    if is_short and found.outcome is not Outcome.CONVICTED:
        found = AuditFinding(Outcome.INCOMPLETE, _SHORT)
    return replace(found, signed=signed, heads=heads)


def _made_again(
    program: _Program, came: list[Frame], own_key: PrivateKey | None, signed: str
) -> AuditFinding:
    """What follows from the run made again."""
    case, contract = program.case, program.contract
    if own_key is not None and own_key.public.fingerprint != contract.keys[case.role]:
        own_key = None  # the party has made a new one since
    try:
        made = replay(
            program.run,
            case.role,
            run_seed(case.seed, case.start.given[case.role.other]),
            came,
            network=contract.spec.network,
            lanes=contract.spec.lanes,
            own_key=own_key,
            peer_key=PublicKey(case.paillier[case.role.other]),
        )
    except NotReplayed as problem:
        return AuditFinding(Outcome.UNDECIDED, problem.what)
    found = judge(Chain(case.sent), made).deviation
    is_beyond = found is None or found.number >= len(made.lanes().get(found.lane, ()))
    if program.lacks_key and is_beyond:
        return AuditFinding(Outcome.UNDECIDED, _LACKS_KEY)
    if found is None:
        outcome, reach = _FOLLOWED[signed]
        return AuditFinding(outcome, f"It sent what the program sends, {reach}")
    where = (
        f"frame {found.number}" + (f" of lane {found.lane}" if found.lane else "") + f", of kind {found.kind}"
    )
    if program.study.depends_on_rounding and not rounds_as_here(case.start.commitments[case.role]):
        return AuditFinding(Outcome.UNDECIDED, _OTHER_MACHINE.format(where))
    ground = f"It sent {where}, otherwise than the program."
    if program.defect and is_beyond:
        ground += f" The program ends before, with {program.defect}: it cannot read the data that are shown."
    return AuditFinding(Outcome.CONVICTED, ground, found)


class _Program:
    """One side of the run, with the messages of the gate and the end as they were sent."""

    def __init__(self, study: Study, contract: Contract, case: RunCase, inputs: Inputs) -> None:
        self.study = study
        self._data = inputs.data
        self._papers = iter(case.papers)
        self.contract = contract
        self.case = case
        self.lacks_key = False
        self.defect = ""  # how it ends if it cannot read the data, by the name of the exception

    def run(self, session: FullSession) -> None:
        spec, limits = self.contract.spec, self.contract.limits_of(self.case.role)
        try:
            answers = GivenAnswers(self.case.answers, judges=self.case.judges)
            run_study(self.study, session, self._data, spec.recipients, limits, self._gate, answers)
        except KeyMaterialError:
            self.lacks_key = session.own_key is None
            raise
        except DuettoError:
            raise
        except Exception as problem:
            self.defect = type(problem).__name__
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
        if paper is None:
            raise PeerLost("The record ends here.")
        for width in _WIDTHS[kind]:  # type: ignore[index]
            parts.append(byte_row(paper[start : start + width]))
            start += width
        channel.send(kind(*parts))

    def _hear(self, channel: Channel, kind: type[Message]) -> None:
        expected: list[Any] = [ExpectedByteRows(1, width) for width in _WIDTHS[kind]]
        channel.recv(kind, *expected)


def _check_seed(case: RunCase, contract: Contract) -> None:
    """Check that the seed is the one that the party committed to."""
    if not opens_seed(case.start.commitments[case.role], contract.digest, case.role, case.seed):
        raise Unproven("The seed that it shows is not the one that it had committed to.")


def _check_commitments(case: RunCase, inputs: Inputs, contract: Contract) -> None:
    """Check that the data are those that the party committed to, and within what it declared."""
    committed = contract.commitments[case.role] or {}
    if set(inputs.data) != set(committed) or set(inputs.salts) != set(committed):
        raise Unproven("It shows other columns than it had committed to.")
    declared = contract.schemas[case.role] or {}
    if not set(declared) <= set(committed):
        raise Unproven("It had committed to fewer columns than it declared in the contract.")
    if len({len(column) for column in inputs.data.values()}) > 1:
        raise Unproven("It shows columns of different lengths, which no data set has.")
    marks = {missing_mark(name) for name in declared}
    for name, column in inputs.data.items():
        if commitment(inputs.salts[name], encode_column(column)) != committed[name]:
            raise Unproven(
                f"The data of column {name!r} that it shows are not those that it had committed to."
            )
        if name in declared:
            _check_bounds(name, column, declared[name])
        elif name in marks:
            _check_bounds(name, column, MARK)
        elif name != PERSONS:
            raise Unproven(f"It shows a column {name!r} that the contract does not declare.")


def _check_bounds(name: str, column: Column, schema: Schema) -> None:
    if column.schema != schema:
        raise Unproven(f"It declared column {name!r} otherwise in the contract.")
    if schema.lower is None or schema.upper is None or not len(column):
        return
    try:
        values = column.integers
    except UsageError:
        raise Unproven(f"Column {name!r} has texts, and it declared bounds of numbers.") from None
    if min(values) < schema.lower or max(values) > schema.upper:
        raise Unproven(f"Column {name!r} has values outside the bounds that it declared in the contract.")


def _check_record(case: RunCase, came: list[Frame]) -> None:
    """Check that the frames and their digests are those of the heads that the party shows."""
    sent, received = Chain(case.sent), Chain(case.received)
    heard = Chain()
    for frame in came:
        heard.add(frame)
    lanes = heard.lanes()
    if any(
        list(lanes.get(lane, ()))[: len(frames)] != list(frames) for lane, frames in received.lanes().items()
    ):
        raise Unproven("The frames that it shows are not those whose digests it shows.")
    for name, heads, counts in (("gate", case.gate, case.gate_counts), ("end", case.end, case.end_counts)):
        if heads is None:
            continue
        if not counts or ChainHeads(sent.first(counts[0]).head, received.first(counts[1]).head) != heads:
            raise Unproven(f"The record that it shows is not the one that it signed at the {name}.")


def _held_against(
    case: RunCase, contract: Contract, signed: Mapping[Role, Signed], receipt: Receipt
) -> tuple[Mapping[Role, Signed], bool]:
    """Hold a record against what the other side has of it.

    Returns:
        What both have signed of what is shown, and whether the party has signed more than it shows.

    Raises:
        DataError: the receipt is of another run, or by another key.
        Unproven: the party has signed another record.
    """
    if (receipt.contract.digest, receipt.case.keys) != (contract.digest, case.keys):
        raise DataError(
            "The receipt is of another job or by other keys than the evidence.",
            "Give the receipt that the other party wrote for this job, and compare both parties' keys.",
        )
    both, is_short = {role: {**signed[role]} for role in Role}, False
    for name, heads in receipt.signed[case.role].items():
        shown = heads_of(case, name, case.role)
        if shown is None:
            is_short = True
        elif (shown, case.start) != (heads, receipt.case.start):
            raise Unproven(f"It shows another record at the {name} than the one that it signed.")
        else:
            for role, theirs in receipt.signed.items():
                if name in theirs:
                    both[role][name] = theirs[name]
    return both, is_short

"""One side of a covert run: its seeds, its record, what is signed of it, and the coin at its end."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from datetime import timedelta
from fractions import Fraction
from typing import TYPE_CHECKING, Final

from parties.clock import Clock, text
from parties.contracts.records import Record as Job
from parties.evidence.answers import KeptAnswers
from parties.evidence.run_case import Counts, Inputs, RunCase
from parties.evidence.seeds import (
    COMMITMENT_BYTES,
    PART_BYTES,
    Secrets,
    check_size,
    is_due,
    opens_part,
    run_seed,
)
from parties.evidence.statements import (
    SIGNATURE_BYTES,
    ChainHeads,
    Closed,
    Recorded,
    RunRecord,
    Start,
    end_text,
    gate_text,
    is_signed,
)
from parties.evidence.store import (
    BROKEN_OFF,
    CASE,
    COIN,
    DUE,
    INPUTS,
    KEPT,
    RECEIPT,
    EvidenceStore,
    FrameFile,
    Standing,
)
from parties.pki.signing import key_text
from smc.analyses.disclosure.audit import Auditor
from smc.analyses.studies.columns import Data
from smc.channel.channel import Channel
from smc.channel.message import Message
from smc.channel.transport import Transport
from smc.channel.vectors import ExpectedByteRows, byte_row
from smc.errors import ProtocolViolation
from smc.evidence.record import Recorder
from smc.numeric.random import Randomness

if TYPE_CHECKING:
    from parties.pki.identity import PeerIdentity
    from parties.pki.signing import SigningKey

_DIFFERENT: Final = "The peer's record of this run differs from this side's, or its signature does not hold."


class CovertRun:
    """One side of one run; implements `parties.ports.interfaces.Evidence`.

    Args:
        job: the approved job, with both signatures.
        rate: the probability with which it is due.
        signing: this party's signing key.
        peer: the peer's public keys.
        own_modulus: the local Paillier N.
        store: where the record is kept.
        clock: gives the time.
    """

    def __init__(
        self,
        job: Job,
        *,
        rate: Fraction,
        signing: SigningKey,
        peer: PeerIdentity,
        own_modulus: int,
        store: EvidenceStore,
        clock: Clock,
    ) -> None:
        random = Randomness()
        self._rate = rate
        self._days = 0
        self._signing = signing
        self._peer = peer
        self._store = store
        self._clock = clock
        self._role = job.role
        self._digest = job.contract.digest
        self._secrets = Secrets.draw(random)
        self.public: Final = random.bytes(PART_BYTES)
        self.commitment: Final = self._secrets.commitment(self._digest, job.role)
        self._recorder: Recorder | None = None
        self._record: FrameFile | None = None
        self._answering: KeptAnswers | None = None
        self._standing = Standing(job.job_id, job.peer)
        self._case = RunCase(
            job_id=job.job_id,
            contract=job.contract.encode().decode(),
            role=job.role,
            keys={job.role: key_text(signing.public_key()), job.role.other: key_text(peer.signing)},
            signatures={job.role: job.own_signature, job.role.other: job.peer_signature},
            paillier={job.role: own_modulus, job.role.other: int(peer.paillier.n)},
            start=Start({job.role: self.commitment}, {job.role: self.public}),
            seed=self._secrets.seed,
            parts={job.role: self._secrets.part},
        )

    # As the session needs it

    def commit(self, commitment: bytes) -> None:
        """Take in what the peer has committed to.

        Raises:
            ProtocolViolation: it has another size, as that of a peer for which the job is not covert.
        """
        theirs = check_size("commitment to its seed", commitment, COMMITMENT_BYTES)
        start = self._case.start
        commitments = {**start.commitments, self._role.other: theirs}
        self._case = replace(self._case, start=start._replace(commitments=commitments))

    def give(self, public: bytes) -> None:
        """Take in the peer's bytes for this side's randomness, which came after this side's commitment.

        Raises:
            ProtocolViolation: they have another size.
        """
        theirs = check_size("part of the randomness", public, PART_BYTES)
        start = self._case.start
        given = {**start.given, self._role.other: theirs}
        self._case = replace(self._case, start=start._replace(given=given))

    def randomness(self) -> Randomness:
        """The source of all randomness of the run."""
        return Randomness.of_run(run_seed(self._secrets.seed, self._case.start.given[self._role.other]))

    def record(self, transport: Transport) -> Transport:
        """The transport, of which all frames are recorded from now on.

        Raises:
            StorageError: the record cannot be written.
        """
        self._record = self._store.begin(self._standing)
        self._recorder = Recorder(transport, self._record)
        self._save()
        return self._recorder

    def finish(self, channel: Channel) -> None:
        """Sign the whole record, end the session as `Channel.finish` does, and toss the coin.

        Raises:
            ProtocolViolation: the peer's record differs, or its part of the coin is not the one that it had
                committed to.
        """
        heads, counts = self._heads()
        own = self._signing.sign(end_text(self._digest, self._role, self._case.start, heads))
        closed = Closed(byte_row(own), byte_row(self._secrets.part))
        self.put_aside(closed)
        self._case = replace(self._case, end=heads, end_counts=counts, end_signatures={self._role: own})
        self._keep_record()
        channel.send(closed)
        channel.finish(lambda: self._hear_end(channel, heads, own))

    def took_key(self) -> None:
        """Note that the run has taken the local Paillier key."""
        self._case = replace(self._case, needs_key=True)

    def end(self, *, whole: bool) -> str:
        """Settle what becomes of the record when the session is over.

        Args:
            whole: whether both sides got to the end.

        Returns:
            Why the run is due for an audit, `COIN` or `BROKEN_OFF`; empty if it is not.

        Raises:
            StorageError: the record cannot be written or deleted.
        """
        if self._recorder is None or self._record is None:
            return ""  # nothing of the run was said
        why = BROKEN_OFF
        if whole:
            why = COIN if is_due(self._digest, self._case.parts, self._rate) else ""
        job_id = self._standing.job_id
        now = self._clock.now()
        standing = replace(self._standing, why=why, ended=text(now))
        if not why:
            self._store.write(job_id, RECEIPT, self._case.receipt().encode())
        if not why and not self._days:
            self._store.leave_receipt(standing)
            return why
        self._keep_record()
        until = "" if why else text(now + timedelta(days=self._days))
        state = DUE if why else KEPT
        self._store.set_standing(replace(standing, state=state, until=until))
        return why

    # As the job needs it

    def require_room(self) -> None:
        """Check that the run may begin, see `EvidenceStore.require_room`."""
        self._store.require_room(self._standing.peer)

    def keep_data(self, data: Data, salts: Mapping[str, bytes], days: int) -> None:
        """Keep the columns of the run.

        Args:
            data: the columns by their names in the job.
            salts: of the commitments to them.
            days: for which the record is kept if the run is not due.
        """
        self._days = days
        self._store.write(self._standing.job_id, INPUTS, Inputs(data, salts).encode())

    def heed(self, auditor: Auditor) -> Auditor:
        """The auditor of openings, whose answers are kept from now on."""
        self._answering = KeptAnswers(auditor)
        return self._answering

    def speak(self, channel: Channel) -> None:
        """Sign the record so far, at the gate."""
        heads, counts = self._heads()
        own = self._signing.sign(gate_text(self._digest, self._role, self._case.start, heads))
        self._case = replace(self._case, gate=heads, gate_counts=counts, gate_signatures={self._role: own})
        self._keep_record()
        recorded = Recorded(byte_row(own))
        self.put_aside(recorded)
        channel.send(recorded)

    def hear(self, channel: Channel) -> None:
        """Check that the peer has signed the same record.

        Raises:
            ProtocolViolation: it has not; nothing may be opened.
        """
        heads = self._case.gate
        signature = channel.recv(Recorded, ExpectedByteRows(1, SIGNATURE_BYTES)).tobytes()
        if heads is None:
            raise ProtocolViolation("The gate was passed before it was reached.")
        text = gate_text(self._digest, self._role.other, self._case.start, heads.other)
        if not is_signed(self._peer.signing, text, signature):
            raise ProtocolViolation(_DIFFERENT, _ASK)
        self._case = replace(
            self._case, gate_signatures={**self._case.gate_signatures, self._role.other: signature}
        )
        # From here on the peer may hear a result, and be gone: what it has signed holds it to its record.
        self._save()

    def put_aside(self, message: Message) -> None:
        """Keep a message that this side is about to send and that does not follow from its seed."""
        self._case = replace(self._case, papers=[*self._case.papers, message.encode()])

    def certificate(self) -> dict[str, dict[str, str]]:
        """What a certificate says of the record, after the gate."""
        case = self._case
        if case.gate is None:
            raise ProtocolViolation("A result was reached without passing the gate.")
        return RunRecord(case.start, case.gate, case.gate_signatures, self._heads()[0]).document()

    def _hear_end(self, channel: Channel, heads: ChainHeads, own: bytes) -> None:
        parts = channel.recv(Closed, ExpectedByteRows(1, SIGNATURE_BYTES), ExpectedByteRows(1, PART_BYTES))
        signature, part = (each.tobytes() for each in parts)
        other, start = self._role.other, self._case.start
        if not is_signed(self._peer.signing, end_text(self._digest, other, start, heads.other), signature):
            raise ProtocolViolation(_DIFFERENT, _ASK)
        self._case = replace(self._case, end_signatures={self._role: own, other: signature})
        if not opens_part(start.commitments[other], self._digest, other, part):
            raise ProtocolViolation(
                "The peer's part of the coin is not the one that it had committed to.", _ASK
            )
        self._case = replace(self._case, parts={**self._case.parts, other: part})

    def _heads(self) -> tuple[ChainHeads, Counts]:
        """What stands for the record so far, and how many frames each lane has."""
        if self._recorder is None:
            raise ProtocolViolation("A run without a record cannot be signed.")
        sent, received = self._recorder.sent, self._recorder.received
        return ChainHeads(sent.head, received.head), (sent.counts(), received.counts())

    def _keep_record(self) -> None:
        """Write the record so far to the disk: what went each way, and the frames that came.

        Before a signature under it is sent: a daemon that dies then has to show what the peer can hold
        against it.
        """
        if self._recorder is not None and self._record is not None:
            sent, received = self._recorder.sent.lanes(), self._recorder.received.lanes()
            self._case = replace(self._case, sent=sent, received=received)
            if self._answering is not None:
                heard = self._answering
                self._case = replace(self._case, answers=tuple(heard.answers), judges=heard.judges)
            self._record.flush()
            self._save()

    def _save(self) -> None:
        self._store.write(self._standing.job_id, CASE, self._case.encode())


_ASK: Final = "Have the run audited, see docs/covert.md: a run that breaks off is due."

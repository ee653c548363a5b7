"""How two parties come to a contract: local checks, the proposal, the answer, decisions, signatures."""

from __future__ import annotations

import logging
import threading
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass, field, replace
from datetime import timedelta
from functools import partial
from typing import TYPE_CHECKING, Any, Final

from parties.contracts.contract import Commitments, Contract, Schemas, check_signature, sign
from parties.contracts.records import Record, Summary
from parties.contracts.state import State
from parties.errors import JobError, PeerBusy, PeerUnreachable, PolicyError
from parties.jobs.agreement.decisions import Decisions, Person, check_shown
from parties.jobs.agreement.messages import Answer, JobStatus, PeerState, parse_answer, parse_status
from parties.jobs.agreement.outbox import Outbox
from parties.jobs.agreement.standing import OLDER, reason, settle, word_of
from parties.jobs.storage.store import JobStore
from parties.ledger.entries import DENIED
from parties.persons.gate import Admitted, Approvals, Gate
from parties.persons.roles import Act
from parties.persons.statement import Presented
from parties.pki.identity import Identity
from parties.policy.verdict import Verdict
from parties.ports.interfaces import PeerPort
from parties.rpc.refusal import clean
from smc.errors import DuettoError, PeerError, PeerLost, ProtocolViolation, UsageError
from smc.forms import Role
from smc.numeric.random import Randomness

if TYPE_CHECKING:
    from parties.jobs.checks.admission import Admission
    from parties.jobs.checks.local_data import LocalData
    from parties.jobs.checks.task import Task

OPEN_JOBS = 200
"""Jobs that a peer may have open here at once."""

PROPOSED_BYTES: Final = 32 << 20
"""What the proposals of one peer in 24 hours may take on the disk, whatever becomes of them."""

_LOG = logging.getLogger("duetto.jobs")
_SAYS_NO = ("policy", "budget", "denied", "overlap", "history")


@dataclass(frozen=True, slots=True)
class Examined:
    """A job that has passed the local checks: the task, the local schemas, and the verdict.

    Of a covert job there are the commitments to the local columns as well.
    """

    task: Task
    schemas: Schemas
    verdict: Verdict = field(repr=False)
    commitments: Commitments | None = None


class Negotiation:
    """Brings jobs to a contract that both have signed. Thread-safe.

    Args:
        store: where jobs are kept.
        admission: gives the local checks, which are loaded when they are first asked for.
        identity: this party's keys.
        peers: the way to the peers.
        decisions: where approvals are written.
        gate: what persons have signed.
        outbox: where it is noted that the peer knows how a job has ended.
        changed: called with a job whose state a word of the peer or of a person has changed.
    """

    def __init__(
        self,
        store: JobStore,
        admission: Callable[[], Admission],
        identity: Identity,
        peers: PeerPort,
        decisions: Decisions,
        gate: Gate,
        outbox: Outbox,
        changed: Callable[[Summary], None],
    ) -> None:
        self._store = store
        self._admission = admission
        self._identity = identity
        self._peers = peers
        self._decisions = decisions
        self._gate = gate
        self._outbox = outbox
        self._changed = changed
        self._random = Randomness()
        self._deciding = threading.RLock()

    # As the proposer

    def draft(self, task: Task, admitted: Admitted) -> Record:
        """Check a job at home and keep it, to be proposed or approved at home first.

        Args:
            task: the job.
            admitted: the gate's leave to submit it.

        Raises:
            DuettoError: a check failed; of its kind.
        """
        keys = self._keys(task.role, task.peer)
        examined = self._examine(task)
        self._decisions.keep(admitted)
        schemas = {task.role: examined.schemas, task.role.other: None}
        limits = {task.role: examined.verdict.limits, task.role.other: None}
        commitments = {task.role: examined.commitments, task.role.other: None}
        nonce = self._random.bytes(32).hex()
        contract = Contract(task.spec, task.role, nonce, keys, schemas, limits, commitments)
        state = State.WAITING_OWN if examined.verdict.needs_person else State.PROPOSED
        if not examined.verdict.needs_person:
            self._decisions.of_rule(contract, task.peer, examined.verdict.rule)
        return self._store.insert(contract, task.role, task.peer, state, outgoing=True)

    def propose(self, job_id: str) -> None:
        """Send a proposal and act on the answer.

        Raises:
            PeerUnreachable: the peer is away, as with `PeerLost` and `PeerBusy`; the job stays proposed.
            DuettoError: the peer refused or answered wrongly; the job has ended.
        """
        record = self._store.get(job_id)
        if record.state is not State.PROPOSED:
            return
        try:
            self._exchange(record)
        except (PeerUnreachable, PeerLost, PeerBusy):
            raise
        except DuettoError as error:
            refused = isinstance(error, PeerError) and error.stable_code in _SAYS_NO
            with suppress(JobError):
                self._store.fail(job_id, error, State.DENIED if refused else State.FAILED)
            _LOG.info(
                "job %(job)s: proposal ended with code %(code)s", {"job": job_id, "code": error.stable_code}
            )
            raise

    def tell(self, job_id: str) -> JobStatus:
        """Tell the peer where a job stands and act on where it stands for the peer.

        Returns:
            The peer's answer.

        Raises:
            PeerError: the peer cannot be reached, refused to listen, or answered wrongly.
            JobError: what it answered is not its to say.
        """
        job = self._store.summary(job_id)
        answer = parse_status(self._peers.tell(job.peer, self._standing(job).encode()))
        if answer.job_id != job_id:
            raise ProtocolViolation(f"{job.peer} answered about another job than it was asked about.")
        if job.state.is_final:
            self._outbox.acknowledge(job_id, job.state)
        self._take(job, answer)
        return answer

    def hear(self, peer: str, said: JobStatus) -> JobStatus:
        """Take the word of the peer about a job, and answer where it stands here.

        Raises:
            JobError: the word is not the peer's to give.
            ProtocolViolation: the signature is not valid.
        """
        try:
            job = self.of_peer(peer, said.job_id)
        except JobError:
            return JobStatus(said.job_id, PeerState.UNKNOWN)
        if not (job.outgoing and job.state is State.WAITING_OWN):  # else the peer cannot know of it
            self._take(job, said)
            job = self._store.summary(job.job_id)
            if job.state.is_final and word_of(job.state, outgoing=job.outgoing) is said.word:
                self._outbox.acknowledge(job.job_id, job.state)
        return self._standing(job)

    # As the other party

    def consider(self, peer: str, draft: Contract) -> Answer:
        """Check a proposal; sign it, or leave it to a person. The same proposal gets the same answer.

        If the declared columns do not fit each other, the proposer gets the contract with the local ones, to
        find out for itself, and nothing is kept.

        Raises:
            DuettoError: of the kind of the check that failed; the peer gets its code.
        """
        self._check_draft(peer, draft)
        try:
            known = self._store.get(draft.job_id)
        except JobError:
            examined, contract = self._complete(peer, draft)
            try:
                self._admission().check_contract(examined.task, contract)
            except UsageError as problem:
                _LOG.info(
                    "job %(job)s: proposed by %(peer)s and unfit: %(problem)s",
                    {"job": contract.job_id, "peer": peer, "problem": problem},
                )
                return Answer(PeerState.UNFIT, contract)
            known = self._keep(peer, contract, examined)
        if known.peer != peer or known.outgoing:
            raise JobError("The proposal has the name of a job of somebody else.", code="contract")
        if known.state is State.WAITING_OWN:
            known = self._sign_by_rule(known)
        if known.state is State.WAITING_OWN:
            return Answer(PeerState.PENDING, known.contract)
        if known.state is State.APPROVED:
            return Answer(PeerState.APPROVED, known.contract, known.own_signature)
        if known.state is State.DENIED:
            raise PolicyError("The job was denied here.", "Submit a changed one.", code="denied")
        raise JobError(f"The job is {known.state.value} here.", code="state")

    # For people at home

    def approve(self, job_id: str, person: Person, shown: str, presented: Presented | None = None) -> Summary:
        """A person at home allows a job that waits for it; it goes on when all whom the rule asks for have.

        Args:
            job_id: the job.
            person: who.
            shown: digest of the contract that this person was shown, hexadecimal.
            presented: the person's signature; None where no persons are in force.

        Raises:
            JobError: it does not wait for that, or another contract was shown.
            PolicyError: persons are in force, and it is not signed by one who may approve it.
            DuettoError: the checks fail by now, and the job stays as it is; or the proposal failed.
        """
        record = self._waiting(job_id)
        check_shown(record, shown)
        admitted = self._admit(Act.APPROVE, record, presented)
        examined = self._examine(self._admission().understand(record.contract.spec), record.contract)
        if not record.outgoing:
            self._admission().check_contract(examined.task, record.contract, examined.verdict)
        with self._deciding:
            self._waiting(record.job_id)
            approvals = self._decisions.approve(
                record.contract, record.peer, person, admitted, examined.verdict
            )
            if approvals is not None and approvals.missing:
                return self._note_decision(record.job_id)
            if record.outgoing:
                self._store.move(record.job_id, State.PROPOSED)
            else:
                self._sign(record)
        return self._note_decision(record.job_id)

    def deny(self, job_id: str, person: Person, why: str, presented: Presented | None = None) -> Summary:
        """A person at home refuses a job that waits, whoever has approved it; the reason stays at home.

        Raises:
            JobError: it does not wait for that.
            PolicyError: persons are in force, and it is not signed by one who may deny it.
            LedgerError: it is refused, but that cannot be written.
        """
        record = self._waiting(job_id)
        admitted = self._admit(Act.DENY, record, presented)
        error = PolicyError(f"Denied: {why or 'no reason given'}.", "Submit a changed job.", code="denied")
        self._store.fail(record.job_id, error, State.DENIED)
        self._changed(self._store.summary(record.job_id))
        self._decisions.of_person(DENIED, record.contract.digest, record.peer, person, admitted)
        return self._store.summary(record.job_id)

    def approvals(self, job_id: str) -> Approvals | None:
        """How far the approvals at home have come; None where no persons are in force.

        Raises:
            DuettoError: the job, the policy or the ledger cannot be read.
        """
        if self._gate.persons() is None:
            return None
        record = self._store.get(job_id)
        return self._decisions.approvals(record.contract, self._judge(record))

    def of_peer(self, peer: str, job_id: str) -> Summary:
        """A job that is with this peer.

        Raises:
            JobError: there is none; the same as if another peer's job had been named.
        """
        job = self._store.summary(job_id)
        if job.peer != peer:
            raise JobError(f"There is no job {job_id!r} with {peer!r}.", code="unknown-job")
        return job

    # How it is done

    def _admit(self, act: Act, record: Record, presented: Presented | None) -> Admitted:
        return self._gate.admit(act, record.contract.digest.hex(), record.peer, presented)

    def _judge(self, record: Record) -> Verdict:
        return self._admission().judge(self._admission().understand(record.contract.spec), None)

    def _examine(self, task: Task, contract: Contract | None = None) -> Examined:
        """All that is known at home, rows included; its refusals are for the people here."""
        self._gate.require_peer(self._peers.public(task.peer))
        schemas = self._admission().schemas(task)
        local = self._read(task)
        verdict = self._admission().judge(task, local.columns)
        verdict.require()
        self._admission().check_overlap(task, local, verdict)
        self._admission().preview(task, local, verdict.limits, contract).require()
        return Examined(task, schemas, verdict, self._admission().commitments(task, local))

    def _read(self, task: Task) -> LocalData:
        """The local columns."""
        moduli = {task.role: int(self._identity.paillier.public.n)}
        moduli[task.role.other] = int(self._peers.public(task.peer).paillier.n)
        return self._admission().read(task, moduli)

    def _exchange(self, record: Record) -> None:
        answer = parse_answer(self._peers.propose(record.peer, record.contract.draft.encode()))
        contract = answer.contract
        if not contract.is_complete or contract.draft.encode() != record.contract.draft.encode():
            raise ProtocolViolation("The peer answered with a contract that was not proposed.")
        task = self._admission().understand(contract.spec)
        self._admission().check_contract(task, contract)
        if answer.word is PeerState.UNFIT:
            raise JobError(
                f"{record.peer} refuses the columns of both sides as not fitting; here they fit.",
                "Install the same release on both sides.",
                code="contract",
            )
        self._examine(task, contract)
        with self._deciding:
            if self._store.summary(record.job_id).state is not State.PROPOSED:
                return
            if answer.word is PeerState.PENDING:
                self._store.move(record.job_id, State.WAITING_PEER, contract=contract)
                return
            self._agree(replace(record, contract=contract), answer.signature, contract=contract)
        self._changed(self._store.summary(record.job_id))

    def _standing(self, job: Summary) -> JobStatus:
        """Where a job stands here, for the peer."""
        word = word_of(job.state, outgoing=job.outgoing)
        code = clean(job.error_code) if job.error_code and word is PeerState.FAILED else ""
        signature = self._store.get(job.job_id).own_signature if job.state is State.APPROVED else b""
        return JobStatus(job.job_id, word, code, signature)

    def _take(self, job: Summary, said: JobStatus) -> None:
        """Act on the peer's word about a job; the rules are in `parties.jobs.agreement.standing`."""
        with self._deciding:
            before = self._store.summary(job.job_id).state
            if said.word in (PeerState.APPROVED, PeerState.CONFIRMED):
                self._take_signature(job, before, said)
            if before is State.KEPT and (said.word is PeerState.UNKNOWN or said.code == OLDER):
                self._store.put_aside(job.job_id)  # the peer was restored from an older copy
            for state in settle(before, said.word):
                if state is State.FINISHED:
                    self._store.finish(job.job_id)
                else:
                    self._store.fail(job.job_id, reason(state, said.word, said.code, job.peer), state)
                _LOG.info(
                    "job %(job)s: %(state)s, as %(peer)s says",
                    {"job": job.job_id, "state": state.value, "peer": job.peer},
                )
            after = self._store.summary(job.job_id)
        if after.state is not before:
            self._changed(after)

    def _take_signature(self, job: Summary, state: State, said: JobStatus) -> None:
        if job.outgoing == (said.word is PeerState.CONFIRMED):
            raise JobError("The peer sent a decision that only this side can take.", code="state")
        if job.outgoing and state is State.WAITING_PEER:
            self._agree(self._store.get(job.job_id), said.signature)
        elif not job.outgoing and state is State.APPROVED:
            record = self._store.get(job.job_id)
            check_signature(record.contract, record.role.other, self._key(record), said.signature)
            self._store.countersign(job.job_id, said.signature)
        elif not job.outgoing and state is State.WAITING_OWN:
            raise JobError("The peer confirmed the job before it was approved here.", code="state")

    def _agree(self, record: Record, signature: bytes, **changes: Any) -> None:
        """The peer has signed: check it and sign as well."""
        check_signature(record.contract, record.role.other, self._key(record), signature)
        self._sign(record, peer_signature=signature, **changes)

    def _sign(self, record: Record, **changes: Any) -> None:
        self._decisions.require(record, partial(self._judge, record))
        signature = sign(record.contract, record.role, self._identity.signing)
        self._store.move(record.job_id, State.APPROVED, own_signature=signature, **changes)
        _LOG.info("job %(job)s: approved", {"job": record.job_id, "peer": record.peer})

    def _check_draft(self, peer: str, draft: Contract) -> None:
        role = draft.proposer.other
        parties = (draft.spec.side(draft.proposer).party, draft.spec.side(role).party)
        if parties != (peer, self._identity.name):
            raise JobError("The proposal names parties other than the two connected.", code="contract")
        parts = [draft.schemas, draft.limits, *([draft.commitments] if draft.is_covert else [])]
        if any(part[role] is not None or part[draft.proposer] is None for part in parts):
            raise JobError("The proposal already has declarations or limits of this party.", code="contract")
        if dict(draft.keys) != self._keys(role, peer):
            raise JobError("The proposal names other Paillier keys.", "Pair again.", code="contract")
        self._gate.require_peer(self._peers.public(peer))

    def _complete(self, peer: str, draft: Contract) -> tuple[Examined, Contract]:
        if self._store.count_open(peer) >= OPEN_JOBS:
            raise JobError(f"{peer!r} has {OPEN_JOBS} open jobs.", "Decide on some.", code="too-many-open")
        if self._store.proposed_bytes(peer, timedelta(days=1)) >= PROPOSED_BYTES:
            raise JobError(
                f"The proposals of {peer!r} in 24 hours take {PROPOSED_BYTES >> 20} MiB of the disk.",
                "Ask that party what it does, and try again tomorrow.",
                code="too-many-today",
            )
        task = self._admission().understand(draft.spec)
        # By policy, then by declarations, so that refusals say nothing of what is not allowed; by no row, as
        # a proposal costs nothing. A run does, and so does a person's answer.
        verdict = self._admission().judge(task, None)
        verdict.require()
        schemas = self._admission().schemas(task)
        # A covert job is the exception: its contract holds commitments to the columns.
        covert = self._admission().commitments(task, self._read(task)) if draft.is_covert else None
        return Examined(task, schemas, verdict, covert), draft.complete(schemas, verdict.limits, covert)

    def _keep(self, peer: str, contract: Contract, examined: Examined) -> Record:
        with self._deciding:
            try:
                record = self._store.insert(
                    contract, examined.task.role, peer, State.WAITING_OWN, outgoing=False
                )
            except JobError:  # the same proposal came twice at once
                return self._store.get(contract.job_id)
            _LOG.info("job %(job)s: proposed by %(peer)s", {"job": record.job_id, "peer": peer})
            if not examined.verdict.needs_person:
                self._decisions.of_rule(contract, peer, examined.verdict.rule)
                self._sign(record)
        return self._store.get(record.job_id)

    def _sign_by_rule(self, record: Record) -> Record:
        """Sign a job that no person has to approve, and that a daemon kept and had no time to sign."""
        task = self._admission().understand(record.contract.spec)
        verdict = self._admission().judge(task, None)
        if verdict.needs_person:
            return record
        self._admission().check_contract(task, record.contract, verdict)
        with self._deciding:
            if self._store.summary(record.job_id).state is State.WAITING_OWN:
                self._decisions.of_rule(record.contract, record.peer, verdict.rule)
                self._sign(record)
        return self._store.get(record.job_id)

    def _keys(self, role: Role, peer: str) -> dict[Role, str]:
        return {
            role: self._identity.paillier.public.fingerprint,
            role.other: self._peers.public(peer).paillier.fingerprint,
        }

    def _key(self, record: Record) -> Any:
        return self._peers.public(record.peer).signing

    def _waiting(self, job_id: str) -> Record:
        found = self._store.find(job_id)
        if found.state is not State.WAITING_OWN:
            raise JobError(
                f"Job {found.job_id} is {found.state.value} and waits for no decision here.",
                "List the jobs with `duetto job list`.",
                code="state",
            )
        return self._store.get(found.job_id)

    def _note_decision(self, job_id: str) -> Summary:
        self._changed(job := self._store.summary(job_id))
        return job

"""How two parties come to a contract: own checks, the proposal, the answer, decisions, signatures."""

from __future__ import annotations

import logging
import threading
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass, field
from typing import Any

from parties.errors import JobError, PeerBusy, PeerUnreachable, PolicyError
from parties.jobs.contract import Contract, Schemas, check_signature, sign
from parties.jobs.decisions import Decisions, Person, check_shown
from parties.jobs.examination import Examiner, Task
from parties.jobs.messages import Answer, Decision, Word, parse_answer
from parties.jobs.records import Record
from parties.jobs.state import State
from parties.jobs.store import JobStore
from parties.ledger.entries import APPROVED, DENIED
from parties.pki.identity import Identity
from parties.policy.verdict import Verdict
from parties.session.ports import PeerPort
from smc.errors import DuettoError, PeerError, ProtocolViolation, UsageError
from smc.forms import Role
from smc.numeric.random import Randomness

OPEN_JOBS = 200
"""Jobs that a peer may have open here at once."""

_LOG = logging.getLogger("duetto.jobs")
_SAYS_NO = ("policy", "budget", "denied", "overlap", "history")


@dataclass(frozen=True, slots=True)
class Examined:
    """A job that has passed the own checks: the task, the own schemas, and the verdict."""

    task: Task
    schemas: Schemas
    verdict: Verdict = field(repr=False)


class Negotiation:
    """Brings jobs to a contract that both have signed. Thread-safe.

    Args:
        store: where jobs are kept.
        examiner: the own checks.
        identity: the own keys.
        peers: the way to the peers.
        decisions: where approvals are written.
        agreed: called with the name of an own job as soon as both have signed.
    """

    def __init__(
        self,
        store: JobStore,
        examiner: Examiner,
        identity: Identity,
        peers: PeerPort,
        decisions: Decisions,
        agreed: Callable[[str], None],
    ) -> None:
        self._store = store
        self._examiner = examiner
        self._identity = identity
        self._peers = peers
        self._decisions = decisions
        self._agreed = agreed
        self._random = Randomness()
        self._deciding = threading.RLock()

    # As the proposer

    def draft(self, task: Task) -> Record:
        """Check a job at home and keep it, to be proposed or approved at home first.

        Raises:
            DuettoError: a check failed; of its kind.
        """
        keys = self._keys(task.role, task.peer)
        examined = self._examine(task)
        schemas = {task.role: examined.schemas, task.role.other: None}
        limits = {task.role: examined.verdict.limits, task.role.other: None}
        contract = Contract(task.spec, task.role, self._random.bytes(32).hex(), keys, schemas, limits)
        state = State.WAITING_OWN if examined.verdict.needs_person else State.PROPOSED
        if not examined.verdict.needs_person:
            self._decisions.of_rule(contract, task.peer, examined.verdict.rule)
        return self._store.insert(contract, task.role, task.peer, state, outgoing=True)

    def propose(self, job_id: str) -> None:
        """Send a proposal and act on the answer.

        Raises:
            DuettoError: the peer refused, cannot be reached, or answered wrongly; the job has ended.
        """
        record = self._store.get(job_id)
        try:
            self._exchange(record)
        except DuettoError as error:
            refused = isinstance(error, PeerError) and error.stable_code in _SAYS_NO
            with suppress(JobError):
                self._store.fail(job_id, error, State.DENIED if refused else State.FAILED)
            _LOG.info("job %s: proposal ended with code %s", job_id, error.stable_code)
            raise

    def ask(self, job_id: str) -> None:
        """Ask once more after a pending job, since the peer's word may have been lost."""
        record = self._store.get(job_id)
        with suppress(PeerUnreachable, PeerBusy, JobError):
            try:
                self._exchange(record)
            except (PeerUnreachable, PeerBusy):
                raise
            except DuettoError as error:
                refused = isinstance(error, PeerError) and error.stable_code in _SAYS_NO
                self._store.fail(record.job_id, error, State.DENIED if refused else State.FAILED)

    def hear(self, peer: str, decision: Decision) -> None:
        """Take the word of the peer about a job that both know.

        Raises:
            JobError: there is no such job with this peer, or it does not wait for this word.
            ProtocolViolation: the signature is not valid.
        """
        with self._deciding:
            record = self.of_peer(peer, decision.job_id)
            if record.outgoing == (decision.word is Word.CONFIRMED):
                raise JobError("The word is not the peer's to give.", code="state")
            if decision.word is Word.CONFIRMED:
                check_signature(record.contract, record.role.other, self._key(record), decision.signature)
                self._store.countersign(record.job_id, decision.signature)
                return
            if record.state is not State.WAITING_PEER:
                raise JobError("The job does not wait for the peer.", code="state")
            if decision.word is Word.DENIED:
                error = PolicyError("The peer denied the job.", "Ask the other institution.", code="denied")
                self._store.fail(record.job_id, error, State.DENIED)
                return
            self._agree(record, decision.signature)
        self._agreed(record.job_id)

    # As the other party

    def consider(self, peer: str, draft: Contract) -> Answer:
        """Check a proposal; sign it, or leave it to a person. The same proposal gets the same answer.

        If the declared columns do not fit each other, the proposer gets the contract with the own ones, to
        find out for itself, and nothing is kept.

        Raises:
            DuettoError: of the kind of the check that failed; the peer is told its code.
        """
        self._check_draft(peer, draft)
        try:
            known = self._store.get(draft.job_id)
        except JobError:
            examined, contract = self._completed(peer, draft)
            try:
                self._examiner.check_contract(examined.task, contract)
            except UsageError as problem:
                _LOG.info("job %s: proposed by %s and unfit: %s", contract.job_id, peer, problem)
                return Answer(Word.UNFIT, contract)
            known = self._keep(peer, contract, examined)
        if known.peer != peer or known.outgoing:
            raise JobError("The proposal repeats a job of somebody else.", code="contract")
        if known.state is State.WAITING_OWN:
            return Answer(Word.PENDING, known.contract)
        if known.state is State.APPROVED:
            return Answer(Word.APPROVED, known.contract, known.own_signature)
        if known.state is State.DENIED:
            raise PolicyError("The job was denied here.", code="denied")
        raise JobError(f"The job is {known.state.value} here.", code="state")

    # For people at home

    def approve(self, job_id: str, person: Person, shown: str) -> Record:
        """A person at home allows a job that waits for it.

        Args:
            job_id: the job.
            person: who.
            shown: digest of the contract that this person was shown, hexadecimal.

        Raises:
            JobError: it does not wait for that, or another contract was shown.
            DuettoError: the checks fail by now, and the job stays as it is; or the proposal failed.
        """
        record = self._waiting(job_id)
        check_shown(record, shown)
        examined = self._examine(self._examiner.understand(record.contract.spec))
        if not record.outgoing:
            self._examiner.check_contract(examined.task, record.contract, examined.verdict)
        with self._deciding:
            self._waiting(record.job_id)
            self._decisions.of_person(APPROVED, record.contract.digest, record.peer, person)
            if record.outgoing:
                self._store.move(record.job_id, State.PROPOSED)
            else:
                self._sign(record)
        if record.outgoing:
            self.propose(record.job_id)
        else:
            self._tell(record, Word.APPROVED, self._store.get(record.job_id).own_signature)
        return self._store.get(record.job_id)

    def deny(self, job_id: str, person: Person, reason: str) -> Record:
        """A person at home refuses a job that waits for it; name and reason stay at home.

        Raises:
            JobError: it does not wait for that.
            LedgerError: it is refused, but that cannot be written.
        """
        record = self._waiting(job_id)
        error = PolicyError(f"Denied at home: {reason or 'no reason given'}.", code="denied")
        self._store.fail(record.job_id, error, State.DENIED)
        if not record.outgoing:
            self._tell(record, Word.DENIED)
        self._decisions.of_person(DENIED, record.contract.digest, record.peer, person)
        return self._store.get(record.job_id)

    def of_peer(self, peer: str, job_id: str) -> Record:
        """A job that is with this peer.

        Raises:
            JobError: there is none; the same as if another peer's job had been named.
        """
        record = self._store.get(job_id)
        if record.peer != peer:
            raise JobError(f"There is no job {job_id!r} with {peer!r}.", code="unknown-job")
        return record

    # How it is done

    def _examine(self, task: Task) -> Examined:
        schemas = self._examiner.schemas(task)
        moduli = {
            task.role: int(self._identity.paillier.public.n),
            task.role.other: int(self._peers.public(task.peer).paillier.n),
        }
        own = self._examiner.read(task, moduli)
        verdict = self._examiner.judge(task, own.columns)
        verdict.require()
        self._examiner.check_overlap(task, own, verdict)
        self._examiner.preview(task, own, verdict.limits).require()
        return Examined(task, schemas, verdict)

    def _exchange(self, record: Record) -> None:
        answer = parse_answer(self._peers.propose(record.peer, record.contract.draft.encode()))
        contract = answer.contract
        if not contract.is_complete or contract.draft.encode() != record.contract.draft.encode():
            raise ProtocolViolation("The peer answered with a contract that was not proposed.")
        self._examiner.check_contract(self._examiner.understand(contract.spec), contract)
        if answer.word is Word.UNFIT:
            raise JobError(
                f"{record.peer} finds that the columns of both sides do not fit; this party does not.",
                "Install the same release on both sides.",
                code="contract",
            )
        with self._deciding:
            state = self._store.summary(record.job_id).state
            if state is State.PROPOSED:
                self._store.move(record.job_id, State.WAITING_PEER, contract=contract)
            elif state is not State.WAITING_PEER:
                return
            if answer.word is Word.PENDING:
                return
            self._agree(self._store.get(record.job_id), answer.signature)
        self._agreed(record.job_id)

    def _agree(self, record: Record, signature: bytes) -> None:
        """The peer has signed: check it and sign as well."""
        check_signature(record.contract, record.role.other, self._key(record), signature)
        self._sign(record, peer_signature=signature)

    def _sign(self, record: Record, **changes: Any) -> None:
        self._decisions.require(record)
        signature = sign(record.contract, record.role, self._identity.signing)
        self._store.move(record.job_id, State.APPROVED, own_signature=signature, **changes)
        _LOG.info("job %s: approved", record.job_id)

    def _check_draft(self, peer: str, draft: Contract) -> None:
        role = draft.proposer.other
        if (draft.spec.side(draft.proposer).party, draft.spec.side(role).party) != (
            peer,
            self._identity.name,
        ):
            raise JobError("The proposal names other parties than those that talk.", code="contract")
        added = (draft.schemas[role], draft.limits[role])
        if added != (None, None) or None in (draft.schemas[draft.proposer], draft.limits[draft.proposer]):
            raise JobError("The proposal is no draft.", code="contract")
        if dict(draft.keys) != self._keys(role, peer):
            raise JobError("The proposal names other Paillier keys; pair again.", code="contract")

    def _completed(self, peer: str, draft: Contract) -> tuple[Examined, Contract]:
        if self._store.count_open(peer) >= OPEN_JOBS:
            raise PeerBusy(f"{peer!r} has {OPEN_JOBS} open jobs here.", code="busy")
        task = self._examiner.understand(draft.spec)
        # Before catalog and data are touched, so that refusals tell nothing about what is not allowed.
        self._examiner.judge(task, None).require()
        examined = self._examine(task)
        return examined, draft.completed(examined.schemas, examined.verdict.limits)

    def _keep(self, peer: str, contract: Contract, examined: Examined) -> Record:
        with self._deciding:
            try:
                record = self._store.insert(
                    contract, examined.task.role, peer, State.WAITING_OWN, outgoing=False
                )
            except JobError:  # the same proposal came twice at once
                return self._store.get(contract.job_id)
            _LOG.info("job %s: proposed by %s", record.job_id, peer)
            if not examined.verdict.needs_person:
                self._decisions.of_rule(contract, peer, examined.verdict.rule)
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
                f"Job {found.job_id} is {found.state.value} and waits for nobody here.",
                "List the jobs with `duetto job list`.",
                code="state",
            )
        return self._store.get(found.job_id)

    def _tell(self, record: Record, word: Word, signature: bytes = b"") -> None:
        """Tell a proposer the decision; if it is away, it asks again by itself."""
        with suppress(PeerError):
            self._peers.decide(record.peer, Decision(record.job_id, word, signature).encode())

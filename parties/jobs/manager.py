"""The jobs of a daemon: what people ask at home, what the peer asks, and the runs."""

from __future__ import annotations

import json
import logging
import threading
from collections.abc import Callable, Iterator, Mapping
from contextlib import suppress
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from parties.audit.lines import LOG_CREATED
from parties.clock import TrustedTime
from parties.closed_peers import ClosedPeers
from parties.config import Config
from parties.contracts.contract import parse_contract
from parties.contracts.records import Record, Summary
from parties.contracts.spec import parse_spec
from parties.contracts.state import State
from parties.errors import JobError, PeerBusy
from parties.evidence.store import EvidenceStore
from parties.jobs.agreement.courier import UNREACHABLE, PeerCalls, PeerWorker, RetryPolicy
from parties.jobs.agreement.decisions import Decisions, Person
from parties.jobs.agreement.messages import PeerState, parse_status
from parties.jobs.agreement.negotiation import Negotiation
from parties.jobs.agreement.outbox import Outbox
from parties.jobs.agreement.standing import RESTART, waits_for
from parties.jobs.covert import audit_document, note_due
from parties.jobs.loading import LazyAnalyses
from parties.jobs.storage.housekeeping import Housekeeper
from parties.jobs.storage.store import JobStore
from parties.jobs.traffic import Carried
from parties.ledger.book import Ledger, open_ledger
from parties.ledger.entries import CANCELLED, COUNTERSIGNED, RELEASES, LedgerError
from parties.persons.gate import Gate, prune_digest, text_digest
from parties.persons.roles import Act
from parties.persons.statement import Presented
from parties.pki.identity import Identity
from parties.ports.interfaces import REVERSED, PeerPort, SessionHeader, SessionTask
from smc.errors import Cancelled, DuettoError, UsageError

if TYPE_CHECKING:
    from parties.evidence.covert import CovertRun
    from parties.jobs.checks.admission import Admission
    from parties.jobs.run import Run
    from smc.analyses.studies.study import Analysis

_STOP_SECONDS = 10.0
_NOTICE_SECONDS = 2.0
_LAST_NOTICE_SECONDS = 1.0
"""How long the session of a cancelled job goes on for the peer to hear of it; then it is broken."""

_QUIET_SECONDS = 10
"""After so many seconds without a change those who watch a job see it once more."""

_LOG = logging.getLogger("duetto.jobs")


class JobManager:
    """All jobs of one party; implements `parties.ports.interfaces.JobPort`. Thread-safe.

    Args:
        config: the configuration.
        identity: this party's keys.
        peers: the way to the peers.
        analyses: all analyses by name; None takes duetto's and those of the configuration's plug-ins.
        patience: how long to wait for the peer.
        ledger: the local ledger, if it is open already.
        closed: the peers with which nothing is run; its own of the home if None.
    """

    def __init__(
        self,
        config: Config,
        identity: Identity,
        peers: PeerPort,
        *,
        analyses: Mapping[str, Analysis] | None = None,
        patience: RetryPolicy | None = None,
        ledger: Ledger | None = None,
        closed: ClosedPeers | None = None,
    ) -> None:
        self.ledger = ledger or open_ledger(config.home)
        self.gate = Gate(config.name, config.home, self.ledger)
        self._loading = LazyAnalyses(config, self.ledger, self._begun_jobs, analyses)
        self._identity = identity
        self._peers = peers
        self._patience = patience or RetryPolicy(ask_seconds=config.limits.ask_seconds)
        self.store, self.carried = JobStore(config.home, self.ledger.clock), Carried()
        self.closed = closed or ClosedPeers(config.home, self.ledger.clock.stamp, self.store.audit.write)
        self._outbox = Outbox(config.home)
        self._evidence = EvidenceStore(config.home)
        if self.store.audit.head[0] < 0:
            with suppress(LedgerError):  # a broken ledger stops the sessions, and says so there
                self.store.audit.write(LOG_CREATED, ledger=len(self.ledger.entries()))
        self._decisions = Decisions(self.ledger, self.store.audit, self.gate)
        load = self._loading.admission
        self._negotiation = Negotiation(
            self.store, load, identity, peers, self._decisions, self.gate, self._outbox, self._note_change
        )
        self._sessions = config.limits.sessions
        self._stopping, self._holds_back = threading.Event(), threading.Event()
        self._couriers = {peer: self._courier(peer) for peer in peers.names()}
        self.housekeeper = Housekeeper(
            self.store,
            config,
            self.ledger.clock,
            self._trusted_time,
            pause_seconds=self._patience.ask_seconds,
            watch_seconds=self._patience.watch_seconds,
        )

    @property
    def name(self) -> str:
        """This party's name."""
        return self._identity.name

    @property
    def peer_names(self) -> tuple[str, ...]:
        """The paired parties."""
        return self._peers.names()

    def resume(self) -> None:
        """Take up the jobs that an earlier daemon left, and begin to ask after pending ones."""
        for standing in self._evidence.interrupt(self.ledger.clock.stamp()):
            with suppress(JobError):  # a database that was restored from an older copy
                job = self.store.summary(standing.job_id)
                note_due(job, standing.why, self.store.audit, self.ledger)
        self.store.recover(self._is_paid)
        for courier in self._couriers.values():
            courier.start()
        self.housekeeper.start()

    def hold_back(self) -> None:
        """Begin no job any more; what is proposed and approved is kept for the next start."""
        self._holds_back.set()
        for courier in self._couriers.values():
            courier.hold_back()

    def load(self) -> None:
        """Load all analyses, so that the first job need not wait for them; raises as `Loading.admission`."""
        self._loading.admission()

    def follow_peers(self) -> None:
        """Take up peers that are newly paired, and end what runs with those that are not paired any more."""
        names = self._peers.names()
        known = self._couriers
        self._couriers = {peer: known.get(peer) or self._courier(peer) for peer in names}
        for peer in names:
            if peer not in known:
                self._couriers[peer].start()
        for peer in known.keys() - set(names):
            for job in self.store.all(State.RUNNING):
                if job.peer == peer:
                    self._peers.cancel_session(job.job_id)
            known[peer].stop()

    # What people ask at home

    def submit(self, toml: str, presented: Presented | None = None) -> Record:
        """Check a job, and propose it or ask for approval at home.

        Args:
            toml: the job file.
            presented: a person's signature; None where no persons are in force.

        Returns:
            The job, which may be waiting for a person here or there or for the peer, or be on its way.

        Raises:
            DuettoError: the local checks failed, or the peer refused; of its kind.
        """
        admitted = self.gate.admit(Act.SUBMIT, text_digest(toml), presented=presented)
        self._peers.give_way()
        task = self._admission.understand(parse_spec(toml))
        self.closed.require_open(task.peer)
        record = self._negotiation.draft(task, admitted)
        about = {"job": record.job_id, "peer": record.peer, "state": record.state.value}
        _LOG.info("job %(job)s: %(state)s", about)
        courier = self._couriers[record.peer]
        if record.state is State.PROPOSED:
            with courier.holding(record.job_id):
                try:
                    self._negotiation.propose(record.job_id)
                except UNREACHABLE as error:
                    courier.away(error)
                except PeerBusy:
                    courier.wake(record.job_id)
        return self.store.get(record.job_id)

    def check(self, toml: str) -> dict[str, Any]:
        """All local checks of a job, without proposing it; see `parties.jobs.reports.decision_report`."""
        from parties.jobs.reports import decision_report

        return decision_report(self._admission, toml, self._identity.paillier.public.bits)

    def leakage(self, job: Summary) -> dict[str, list[str]]:
        """Who learns what from a job; empty for one of another release that is not understood here."""
        from parties.jobs.run import leakage_document

        try:
            return leakage_document(self._admission.understand(self.store.get(job.job_id).contract.spec))
        except DuettoError:
            return {}

    def audit(self, job: Summary) -> dict[str, Any]:
        """How the run of a covert job is audited, see `parties.jobs.covert`; empty for other jobs."""
        if not job.is_readable:
            return {}
        return audit_document(self.store.get(job.job_id), self.store, self._evidence)

    def estimate(self, toml: str, **given: Any) -> dict[str, Any]:
        """What a run would cost; see `parties.jobs.reports.estimate_report`, which takes what is given."""
        from parties.jobs.reports import estimate_report

        return estimate_report(self._admission, toml, key_bits=self._identity.paillier.public.bits, **given)

    def approve(self, job_id: str, person: Person, shown: str, presented: Presented | None = None) -> Summary:
        """A person at home allows a job; see `Negotiation.approve`."""
        self.closed.require_open(self.store.find(job_id).peer)
        return self._deliver(self._negotiation.approve(job_id, person, shown, presented))

    def deny(
        self, job_id: str, person: Person, reason: str = "", presented: Presented | None = None
    ) -> Summary:
        """A person at home refuses a job; see `Negotiation.deny`."""
        return self._deliver(self._negotiation.deny(job_id, person, reason, presented))

    def forget(self, job_id: str, presented: Presented | None = None) -> Summary:
        """Delete the result of a job; see `JobStore.forget`.

        Raises:
            JobError: as there.
            PolicyError: persons are in force, and it is not signed by one who may do it.
        """
        job = self.store.find(job_id)
        digest = self.store.digest(job.job_id).hex()
        self._decisions.keep(self.gate.admit(Act.FORGET, digest, job.peer, presented))
        return self.store.forget(job.job_id)

    def open_peer(self, peer: str, person: Person, presented: Presented | None = None) -> None:
        """A person at home opens a peer that was closed.

        Raises:
            UsageError: it is not closed.
            PolicyError: persons are in force, and it is not signed by one who may do it.
            StorageError: it cannot be written; the peer stays closed.
        """
        found = self.closed.all()
        if peer not in found:
            raise UsageError(f"{peer!r} is not closed.", "See `duetto peer list`.")
        admitted = self.gate.admit(Act.OPEN, found[peer].digest, peer, presented)
        self._decisions.keep(admitted)
        name = admitted.signed.name if admitted.signed is not None else person.name
        self.closed.open(found[peer], name, person.uid)
        if peer in self._couriers:
            self._couriers[peer].here()

    def prune(self, days: int, presented: Presented | None = None) -> int:
        """Delete old results, see `Housekeeper.prune`; raises PolicyError as `forget`."""
        self._decisions.keep(self.gate.admit(Act.PRUNE, prune_digest(days), presented=presented))
        return self.housekeeper.prune(days)

    def waits_for(self, job: Summary) -> str:
        """What an unfinished job waits for, for people; empty if for nothing."""
        if self._holds_back.is_set() and job.state is State.APPROVED:
            return RESTART
        courier = self._couriers.get(job.peer)
        trouble = courier.trouble if courier is not None else "it is not paired any more"
        if not trouble and job.state is not State.WAITING_PEER and self.is_reversed(job.peer):
            trouble = REVERSED.format(peer="it")
        return waits_for(job, trouble, self._peers.outage(job.job_id), self._approvals_of(job))

    def is_approval_ending(self, job: Summary) -> bool:
        """Whether the approval of an approved job holds for a day at most.

        Raises:
            DuettoError: its policy, its data or the ledger cannot be read.
        """
        if job.state is not State.APPROVED or not job.is_readable:
            return False
        try:
            self._require_fresh(self.store.get(job.job_id), days_ahead=1)
        except JobError as error:
            return error.stable_code == "approval-expired"
        return False

    def cancel(self, job_id: str, person: Person, presented: Presented | None = None) -> Summary:
        """Cancel a job, whatever it is doing, and notify the peer.

        Raises:
            JobError: it has ended already, or its result is kept and the peer decides whether it has ended.
            PolicyError: persons are in force, and it is not signed by one who may cancel it.
            LedgerError: it is given up, but that cannot be written.
        """
        job = self.store.find(job_id)
        if job.state.is_final:
            raise JobError(f"Job {job.job_id} has ended already: it is {job.state.value}.", code="state")
        digest = self.store.digest(job.job_id)
        admitted = self.gate.admit(Act.CANCEL, digest.hex(), job.peer, presented)
        self.store.fail(job.job_id, Cancelled("The job was cancelled on this side."), State.CANCELLED)
        # The peer hears of it before the session breaks, but a silent peer holds nothing up.
        self._note_change(self.store.summary(job.job_id), interrupt=False)
        self._outbox.wait(job.job_id, _LAST_NOTICE_SECONDS)
        self._peers.cancel_session(job.job_id)
        self._decisions.of_person(CANCELLED, digest, job.peer, person, admitted)
        return self.store.summary(job.job_id)

    def result(self, job_id: str) -> str:
        """This party's result of a finished job, with what the run cost, as JSON.

        Raises:
            JobError: it has not finished; says how it stands or why it failed.
        """
        record = self.store.find(job_id)
        if record.state is not State.FINISHED:
            later = "Correct the reason, and submit the job again."
            raise JobError(
                f"Job {record.job_id} is {record.state.value} and has no result. {record.error_what}".strip(),
                record.error_hint
                or (later if record.state.is_final else "Wait for it with `duetto job watch`."),
                code="no-result",
            )
        outcome, papers = self.store.outcome(record.job_id), self.store.papers(record.job_id)
        head = {
            "job_id": record.job_id,
            "role": record.role.value,
            "peer": record.peer,
            "salt": json.loads(papers.certificate)["salt"] if papers.certificate else "",
        }
        # The outcome may be long and is JSON already: it is not parsed for this.
        return f'{json.dumps(head)[:-1]}, "facts": {papers.facts}, "outcome": {outcome}}}'

    def certificate(self, job_id: str) -> dict[str, Any]:
        """The signed certificate of a finished job.

        Raises:
            JobError: it has not finished, or was run by a release that made none.
        """
        record = self.store.find(job_id)
        papers = self.store.papers(record.job_id)
        if not papers.certificate:
            raise JobError(
                f"Job {record.job_id} is {record.state.value} and has no certificate.",
                "Wait until the job has finished; see `duetto job show`.",
                code="no-certificate",
            )
        document = json.loads(papers.certificate)
        return {"certificate": document["certificate"], "signature": document["signature"]}

    def watch(self, job_id: str, is_active: Callable[[], bool] = lambda: True) -> Iterator[Summary]:
        """The job now, after every change and every few seconds until it has ended.

        It stops as well when the daemon stops or nobody listens.
        """
        record = self.store.find(job_id)
        while True:
            version, waited, cut = self.store.version, 0, self._is_cut(record.job_id)
            record = self.store.summary(record.job_id)
            yield record
            if record.state.is_final:
                return
            while self.store.wait(version, 1.0) == version and waited < _QUIET_SECONDS:
                if self._is_cut(record.job_id) is not cut:
                    break
                waited += 1
                if self._stopping.is_set() or not is_active():
                    return

    def is_reversed(self, peer: str) -> bool:
        """Whether a peer cannot be dialled, and keeps a connection open over which it is called."""
        return peer in self.peer_names and self._peers.is_reversed(peer)

    # What the peer asks: see `parties.ports.interfaces.JobPort`

    def here(self, peer: str) -> None:
        """Take note that a peer can be reached, since it calls or has opened the way for calls to it."""
        if peer in self._couriers:
            self._couriers[peer].here()

    def propose(self, peer: str, contract: bytes) -> bytes:
        """Answer a proposal; see `Negotiation.consider`."""
        self.here(peer)
        job = ""
        try:
            self.closed.require_open(peer)
            draft = parse_contract(contract)
            job = draft.job_id
            return self._negotiation.consider(peer, draft).encode()
        except DuettoError as error:
            self.store.audit.write_refusal(peer, job, error.stable_code)
            _LOG.info(
                "job %(job)s: proposed by %(peer)s and refused: %(error)s",
                {"job": job, "peer": peer, "error": error},
            )
            raise

    def tell(self, peer: str, standing: bytes) -> bytes:
        """Take the word of the peer about a job; see `Negotiation.hear`."""
        self.here(peer)
        return self._negotiation.hear(peer, parse_status(standing)).encode()

    def accept_session(self, peer: str, header: SessionHeader) -> SessionTask:
        """The local part in a session for a job that both have signed.

        Raises:
            JobError: there is no such job with this peer, it may not run now, or contract, role or keys
                differ.
        """
        record = self.store.get(self._negotiation.of_peer(peer, header.job_id).job_id)
        keys = record.contract.keys
        if record.outgoing or record.state is not State.APPROVED or not record.peer_signature:
            raise JobError(f"Job {record.job_id} is {record.state.value} and not ready to run.", code="state")
        if header.job_digest != record.contract.digest or header.dialler_role is not record.role.other:
            raise JobError(f"Job {record.job_id} was opened with another contract or role.", code="contract")
        if (header.own_key, header.dialler_key) != (keys[record.role], keys[record.role.other]):
            raise JobError(f"Job {record.job_id} was opened with other keys.", "Pair again.", code="contract")
        self._require_fresh(record)
        return self._run(record).session_task()

    def stop(self) -> None:
        """End all work: running sessions fail, everything else waits for the next start."""
        self._stopping.set()
        for job in self.store.all(State.RUNNING):
            self._peers.cancel_session(job.job_id)
        for courier in self._couriers.values():
            courier.stop()
        self.housekeeper.stop()
        self.store.wait_for(lambda: not self.store.all(State.RUNNING, limit=1), _STOP_SECONDS)
        self.store.settle()
        self._outbox.close()
        self.store.close()

    # How it is done

    @property
    def _admission(self) -> Admission:
        return self._loading.admission()

    def _begun_jobs(self) -> list[tuple[str, str, str]]:
        return self.store.begun_jobs()

    def _courier(self, peer: str) -> PeerWorker:
        errands = PeerCalls(self._negotiation.propose, self._negotiation.tell, self._dial)
        courier = PeerWorker(peer, self._outbox, self.store, errands, self._patience, self._sessions)
        if self._holds_back.is_set():
            courier.hold_back()
        return courier

    def _dial(self, job_id: str) -> None:
        """Confirm an approved job and run it.

        Raises:
            PeerUnreachable: the peer is away, as with `PeerLost` and `PeerBusy`; the job stays approved.
        """
        record = self.store.get(job_id)
        if record.state is not State.APPROVED:
            return
        try:
            self._require_fresh(record)
            if self._negotiation.tell(job_id).word is PeerState.APPROVED:
                self._peers.run_session(record.peer, self._run(record).session_task())
        except DuettoError as error:
            level = logging.DEBUG if isinstance(error, PeerBusy) else logging.INFO
            _LOG.log(
                level,
                "job %(job)s: its session ended with code %(code)s",
                {"job": job_id, "peer": record.peer, "code": error.stable_code},
            )
            if self.store.summary(job_id).state is not State.APPROVED or self._stopping.is_set():
                return
            if isinstance(error, (*UNREACHABLE, PeerBusy)):
                raise
            with suppress(JobError):
                self.store.fail(job_id, error)
            self._couriers[record.peer].wake(job_id)

    def _trusted_time(self) -> TrustedTime:
        """The time by which something may be deleted; see `parties.clock.Clock.trust`."""
        head = self.ledger.head()
        return self.ledger.clock.trust(head.time if head else "", self.store.audit.last_time)

    def _is_paid(self, digest: str) -> bool:
        """Whether a job has released something, or come to its result; also if nobody can know."""
        try:
            return any(entry.event in (*RELEASES, COUNTERSIGNED) for entry in self.ledger.of_job(digest))
        except LedgerError:
            return True

    def _approvals_of(self, job: Summary) -> str:
        if job.state is not State.WAITING_OWN or not (job.is_readable and self.gate.is_likely):
            return ""
        try:
            found = self._negotiation.approvals(job.job_id)
        except DuettoError as error:
            return error.what.rstrip(".")
        return found.text if found is not None else ""

    def _require_fresh(self, record: Record, days_ahead: int = 0) -> None:
        self.closed.require_open(record.peer)
        self.gate.require_peer(self._peers.public(record.peer))
        verdict = self._admission.judge(self._admission.understand(record.contract.spec), None)
        if verdict.needs_person:
            days = verdict.approval_days - days_ahead
            self._decisions.require_fresh(record, replace(verdict, approval_days=days))

    def _note_change(self, job: Summary, *, interrupt: bool = True) -> None:
        """A job has changed by a word: end its session if it has ended, and tell the peer."""
        if interrupt and job.state.is_final:
            self._peers.cancel_session(job.job_id)
        if job.peer in self._couriers:
            self._couriers[job.peer].wake(job.job_id)

    def _is_cut(self, job_id: str) -> bool:
        return self._peers.outage(job_id) is not None

    def _deliver(self, job: Summary) -> Summary:
        """The job when the peer has heard of a decision, or after a moment if it is away."""
        if job.state.is_final:
            self._outbox.wait(job.job_id, _NOTICE_SECONDS)
        else:
            self.store.wait_for(
                lambda: self.store.summary(job.job_id).state is not State.PROPOSED, _NOTICE_SECONDS
            )
        return self.store.summary(job.job_id)

    def _run(self, record: Record) -> Run:
        from parties.jobs.run import Run

        return Run(
            record,
            store=self.store,
            admission=self._admission,
            plugins=self._loading.plugins,
            ledger=self.ledger,
            signing=self._identity.signing,
            peer=self._peers.public(record.peer),
            own_modulus=int(self._identity.paillier.public.n),
            carried=self.carried,
            evidence=self._evidence_of(record),
        )

    def _evidence_of(self, record: Record) -> CovertRun | None:
        """What is kept of a run of a covert job; None for others."""
        from parties.evidence.covert import CovertRun

        audit = record.contract.spec.audit
        if audit is None:
            return None
        return CovertRun(
            record,
            rate=audit.rate,
            signing=self._identity.signing,
            peer=self._peers.public(record.peer),
            own_modulus=int(self._identity.paillier.public.n),
            store=self._evidence,
            clock=self.ledger.clock,
        )

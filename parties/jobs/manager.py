"""The jobs of a daemon: what people ask at home, what the peer asks, and the runs."""

from __future__ import annotations

import json
import logging
import threading
from collections.abc import Callable, Iterator, Mapping
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from dataclasses import dataclass
from datetime import timedelta
from typing import Any

from parties.certificates.program import program
from parties.config import Config
from parties.disclosure.history import History
from parties.errors import JobError, PeerBusy, PeerUnreachable
from parties.jobs.contract import parse_contract
from parties.jobs.decisions import Decisions, Person
from parties.jobs.examination import Examiner
from parties.jobs.messages import Decision, Word, encode_notice, parse_decision, parse_notice
from parties.jobs.negotiation import Negotiation
from parties.jobs.records import Record, Summary
from parties.jobs.reports import check_report, estimate_report
from parties.jobs.run import Run, leakage_document
from parties.jobs.spec import parse_spec
from parties.jobs.state import State
from parties.jobs.store import JobStore
from parties.ledger.book import Ledger, open_ledger
from parties.ledger.entries import CANCELLED, LedgerError
from parties.pki.identity import Identity
from parties.session.ports import PeerPort, SessionHeader, SessionTask
from smc.analyses.base import Analysis
from smc.analyses.registry import ANALYSES
from smc.errors import DuettoError, PeerError, PeerLost

_DONE = b"{}"
_STOP_SECONDS = 10.0
_NOTICE_SECONDS = 2.0
_LOG = logging.getLogger("duetto.jobs")


@dataclass(frozen=True, slots=True)
class Patience:
    """How the daemon waits for its peer.

    Attributes:
        dial_seconds: pauses between attempts to reach the peer for a job that both have approved.
        ask_seconds: pause between questions whether the peer's person has decided.
    """

    dial_seconds: tuple[float, ...] = (1, 3, 10, 30)
    ask_seconds: float = 60.0


class JobManager:
    """All jobs of one party; implements `parties.session.ports.JobPort`. Thread-safe.

    Args:
        config: the configuration.
        identity: the own keys.
        peers: the way to the peers.
        analyses: all analyses by name.
        patience: how long to wait for the peer.
        ledger: the own ledger, if it is open already.
    """

    def __init__(
        self,
        config: Config,
        identity: Identity,
        peers: PeerPort,
        *,
        analyses: Mapping[str, Analysis] = ANALYSES,
        patience: Patience | None = None,
        ledger: Ledger | None = None,
    ) -> None:
        program()
        self._identity = identity
        self._peers = peers
        self._patience = patience or Patience()
        self.store = JobStore(config.home)
        self.ledger = ledger or open_ledger(config.home)
        self._examiner = open_examiner(config, self.ledger, analyses)
        self._decisions = Decisions(self.ledger)
        self._negotiation = Negotiation(
            self.store,
            self._examiner,
            identity,
            peers,
            self._decisions,
            lambda job_id: self._work(job_id, self._dial),
        )
        self._keep_days = config.keep_results_days
        self._given_up: set[str] = set()
        self._stopping = threading.Event()
        self._workers = ThreadPoolExecutor(config.limits.sessions, thread_name_prefix="duetto-job")
        self._asker = threading.Thread(target=self._ask_regularly, name="duetto-ask", daemon=True)

    @property
    def name(self) -> str:
        """The own name."""
        return self._identity.name

    @property
    def peer_names(self) -> tuple[str, ...]:
        """The paired parties."""
        return self._peers.names()

    def resume(self) -> None:
        """Take up the jobs that an earlier daemon left, and begin to ask after pending ones."""
        self.store.recover()
        self._prune()
        with suppress(LedgerError):  # a broken ledger stops the sessions, and says so there
            begun = [job for job in self.store.all() if job.started]
            self.ledger.adopt((job.digest or job.job_id, job.dataset, job.peer) for job in reversed(begun))
        for job in self.store.all(State.PROPOSED):
            self._work(job.job_id, self._negotiation.propose)
        for job in self.store.all(State.APPROVED):
            if job.outgoing:
                self._work(job.job_id, self._dial)
        self._asker.start()

    # What people ask at home

    def submit(self, toml: str) -> Record:
        """Check a job, and propose it or ask for approval at home.

        Returns:
            The job, which may be waiting for a person here or there, or be on its way.

        Raises:
            DuettoError: the own checks failed, or the peer refused or cannot be reached; of its kind.
        """
        record = self._negotiation.draft(self._examiner.understand(parse_spec(toml)))
        _LOG.info("job %s: %s", record.job_id, record.state.value)
        if record.state is State.PROPOSED:
            self._negotiation.propose(record.job_id)
        return self.store.get(record.job_id)

    def check(self, toml: str) -> dict[str, Any]:
        """All own checks of a job, without proposing it; see `parties.jobs.reports.check_report`."""
        return check_report(self._examiner, toml)

    def leakage(self, job: Summary) -> dict[str, list[str]]:
        """Who learns what from a job; empty for one of another release that is not understood here."""
        try:
            return leakage_document(self._examiner.understand(self.store.get(job.job_id).contract.spec))
        except DuettoError:
            return {}

    def estimate(self, toml: str, rows: int, rtt_ms: float, mbit: float) -> dict[str, Any]:
        """What a run would cost; see `parties.jobs.reports.estimate_report`."""
        bits = self._identity.paillier.public.bits
        return estimate_report(self._examiner, toml, rows=rows, key_bits=bits, rtt_ms=rtt_ms, mbit=mbit)

    def approve(self, job_id: str, person: Person, shown: str) -> Summary:
        """A person at home allows a job; see `Negotiation.approve`."""
        return self._negotiation.approve(job_id, person, shown)

    def deny(self, job_id: str, person: Person, reason: str = "") -> Summary:
        """A person at home refuses a job; see `Negotiation.deny`."""
        return self._negotiation.deny(job_id, person, reason)

    def cancel(self, job_id: str, person: Person) -> Summary:
        """Give a job up, whatever it is doing, and tell the peer.

        Raises:
            JobError: it has ended already.
            LedgerError: it is given up, but that cannot be written.
        """
        record = self.store.find(job_id)
        self._mark_cancelled(record.job_id, "The job was cancelled at home.")
        if not (record.outgoing and record.state is State.WAITING_OWN):
            # The peer is told before the session breaks, but a silent peer holds nothing up.
            notice = threading.Thread(target=self._notify, args=[record], daemon=True)
            notice.start()
            notice.join(_NOTICE_SECONDS)
        self._interrupt(record.job_id)
        self._decisions.of_person(CANCELLED, self.store.digest(record.job_id), record.peer, person)
        return self.store.summary(record.job_id)

    def result(self, job_id: str) -> str:
        """The own result of a finished job, with what the run cost, as JSON.

        Raises:
            JobError: it has not finished; says how it stands or why it failed.
        """
        record = self.store.find(job_id)
        if record.state is not State.FINISHED:
            raise JobError(
                f"Job {record.job_id} is {record.state.value} and has no result. {record.error_what}".strip(),
                record.error_mend or "Wait for it with `duetto job watch`.",
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
                "Jobs get one when they finish.",
                code="no-certificate",
            )
        document = json.loads(papers.certificate)
        return {"certificate": document["certificate"], "signature": document["signature"]}

    def watch(self, job_id: str, is_active: Callable[[], bool] = lambda: True) -> Iterator[Summary]:
        """The job now and after every change until it has ended, the daemon stops or nobody listens."""
        record = self.store.find(job_id)
        while True:
            version = self.store.version
            record = self.store.summary(record.job_id)
            yield record
            if record.state.is_final:
                return
            while self.store.wait(version, 1.0) == version:
                if self._stopping.is_set() or not is_active():
                    return

    # What the peer asks: see `parties.session.ports.JobPort`

    def propose(self, peer: str, contract: bytes) -> bytes:
        """Answer a proposal; see `Negotiation.consider`."""
        return self._negotiation.consider(peer, parse_contract(contract)).encode()

    def decide(self, peer: str, decision: bytes) -> bytes:
        """Take the word of the peer; see `Negotiation.hear`."""
        self._negotiation.hear(peer, parse_decision(decision))
        return _DONE

    def cancel_job(self, peer: str, notice: bytes) -> bytes:
        """The peer gave a job up."""
        record = self._negotiation.of_peer(peer, parse_notice(notice))
        if not record.state.is_final:
            self._mark_cancelled(record.job_id, "The peer gave the job up.")
            self._interrupt(record.job_id)
        return _DONE

    def accept_session(self, peer: str, header: SessionHeader) -> SessionTask:
        """The own part in a session for a job that both have signed.

        Raises:
            JobError: there is no such job with this peer, it may not run now, or contract, role or keys
                differ.
        """
        record = self._negotiation.of_peer(peer, header.job_id)
        keys = record.contract.keys
        if record.outgoing or record.state is not State.APPROVED or not record.peer_signature:
            raise JobError(f"Job {record.job_id} is not ready to run.", code="state")
        if header.job_digest != record.contract.digest or header.dialler_role is not record.role.other:
            raise JobError(f"Job {record.job_id} was opened with another contract or role.", code="contract")
        if (header.own_key, header.dialler_key) != (keys[record.role], keys[record.role.other]):
            raise JobError(f"Job {record.job_id} was opened with other keys.", code="contract")
        return self._run(record).session_task()

    def stop(self) -> None:
        """End all work: running sessions fail, everything else waits for the next start."""
        self._stopping.set()
        for job in self.store.all(State.RUNNING):
            self._peers.cancel_session(job.job_id)
        self._workers.shutdown(wait=True, cancel_futures=True)
        if self._asker.is_alive():
            self._asker.join(_STOP_SECONDS)
        self.store.wait_for(lambda: not self.store.all(State.RUNNING, limit=1), _STOP_SECONDS)
        self.store.settle()
        self.store.close()

    # How it is done

    def _dial(self, job_id: str) -> None:
        """Confirm and run an approved job; try again while the peer cannot be reached."""
        for pause in (*self._patience.dial_seconds, None):
            record = self.store.get(job_id)
            if record.state is not State.APPROVED:
                return None
            try:
                confirmed = Decision(job_id, Word.CONFIRMED, record.own_signature)
                self._peers.decide(record.peer, confirmed.encode())
                self._peers.run_session(record.peer, self._run(record).session_task())
            except (PeerUnreachable, PeerBusy, PeerLost) as error:
                if pause is None or self.store.summary(job_id).state is not State.APPROVED:
                    return self._give_up(record, error)
                if self._stopping.wait(pause):
                    return None
            except DuettoError as error:
                return self._give_up(record, error)
            else:
                return None
        return None

    def _give_up(self, record: Record, error: DuettoError) -> None:
        """A dialled job ended with an error; if it never began, the peer has to be told."""
        _LOG.info("job %s: ended with code %s", record.job_id, error.stable_code)
        if self._stopping.is_set() and self.store.summary(record.job_id).state is State.APPROVED:
            return
        with suppress(JobError):
            self.store.fail(record.job_id, error)
            self._notify(record)

    def _run(self, record: Record) -> Run:
        return Run(
            record,
            store=self.store,
            examiner=self._examiner,
            ledger=self.ledger,
            signing=self._identity.signing,
            peer=self._peers.public(record.peer),
            own_modulus=int(self._identity.paillier.public.n),
            given_up=lambda: record.job_id in self._given_up,
        )

    def _mark_cancelled(self, job_id: str, what: str) -> None:
        self.store.fail(job_id, DuettoError(what, code="cancelled"), State.CANCELLED)

    def _interrupt(self, job_id: str) -> None:
        """End the run of a cancelled job, whether it computes or waits for the peer."""
        self._given_up.add(job_id)
        self._peers.cancel_session(job_id)

    def _notify(self, record: Summary) -> None:
        """Tell the peer that a job is given up, as far as it can be reached."""
        with suppress(PeerError):
            self._peers.cancel_job(record.peer, encode_notice(record.job_id))

    def _work(self, job_id: str, work: Callable[[str], None]) -> None:
        def guarded() -> None:
            with suppress(DuettoError):
                work(job_id)

        with suppress(RuntimeError):  # the daemon is stopping; the next start takes the job up
            self._workers.submit(guarded)

    def _ask_regularly(self) -> None:
        while not self._stopping.wait(self._patience.ask_seconds):
            with suppress(DuettoError):  # a full disk, for one: the next time may do better
                self.store.settle()
                self._prune()
                for job in self.store.all(State.WAITING_PEER):
                    with suppress(DuettoError):  # whatever is wrong with one job, the others are asked after
                        self._negotiation.ask(job.job_id)

    def _prune(self) -> None:
        """Delete the results that are older than the configuration keeps them."""
        if self._keep_days and (deleted := self.store.prune(timedelta(days=self._keep_days))):
            _LOG.info("deleted %d results older than %d days", deleted, self._keep_days)


def open_examiner(
    config: Config,
    ledger: Ledger,
    analyses: Mapping[str, Analysis] = ANALYSES,
) -> Examiner:
    """The own checks of a party.

    Args:
        config: the configuration.
        ledger: the own ledger.
        analyses: all analyses by name.
    """
    return Examiner(
        name=config.name,
        catalog=config.catalog,
        policy=config.policy,
        ledger=ledger,
        history=History(config.home),
        analyses=analyses,
        most_seconds=config.limits.job_seconds,
    )


def open_manager(config: Config, identity: Identity, peers: PeerPort, ledger: Ledger) -> JobManager:
    """The jobs of a daemon that starts: an earlier daemon's jobs are taken up.

    Raises:
        DuettoError: the home folder cannot be used.
    """
    manager = JobManager(config, identity, peers, ledger=ledger)
    manager.resume()
    return manager

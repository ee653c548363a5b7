"""One run of a job in a session: local data in, result and facts out, kept only when both got to the end."""

from __future__ import annotations

import logging
import time
from dataclasses import asdict, replace
from functools import partial
from typing import Any

import numpy as np

from parties.certificates.document import SALT_BYTES, certify
from parties.contracts.contract import Schemas
from parties.contracts.records import Progress, Record
from parties.contracts.state import State
from parties.disclosure.auditor import JobAuditor
from parties.errors import DataError, PeerBusy
from parties.evidence.covert import CovertRun
from parties.evidence.statements import SIGNATURE_BYTES
from parties.evidence.store import BROKEN_OFF
from parties.jobs.checks.admission import Admission
from parties.jobs.checks.local_data import LocalData, count_held, count_rows
from parties.jobs.checks.task import Task
from parties.jobs.covert import note_due
from parties.jobs.storage.store import JobStore
from parties.jobs.traffic import Carried
from parties.ledger.book import Ledger
from parties.ledger.commit import GATE_BYTES, GATE_ROUNDS, LedgerCommit, make_gate
from parties.ledger.entries import Entry
from parties.persons.roles import Act
from parties.pki.identity import PeerIdentity
from parties.pki.signing import SigningKey
from parties.plugins import Plugin
from parties.ports.interfaces import SessionTask
from smc.analyses.disclosure.audit import Auditor
from smc.analyses.disclosure.limits import Limits
from smc.analyses.studies.outcome import Outcome
from smc.analyses.studies.runner import run_study
from smc.errors import DuettoError
from smc.forms import Role
from smc.numeric.random import Randomness
from smc.pieces import check_cancelled
from smc.protocols.session import Session

_PROGRESS_SECONDS = 0.2

_LOG = logging.getLogger("duetto.jobs")


class Run:
    """The run of one job, as the session needs it.

    Args:
        record: the approved job, with both signatures.
        store: where states and results are kept.
        admission: checks policy and data once more.
        ledger: where a loss is written before results are opened.
        signing: this party's signing key.
        peer: the peer's public keys.
        own_modulus: the local Paillier N.
        plugins: what the daemon has loaded, for the certificate.
        carried: where what goes over the wire is counted.
        evidence: of a covert job, what is kept of this run; None for others.
    """

    def __init__(
        self,
        record: Record,
        *,
        store: JobStore,
        admission: Admission,
        ledger: Ledger,
        signing: SigningKey,
        peer: PeerIdentity,
        own_modulus: int,
        plugins: tuple[Plugin, ...] = (),
        carried: Carried | None = None,
        evidence: CovertRun | None = None,
    ) -> None:
        self._record = record
        self._evidence = evidence
        self._store = store
        self._admission = admission
        self._ledger = ledger
        self._signing = signing
        self._peer = peer
        self._key_bits = own_modulus.bit_length()
        self._moduli = {record.role: own_modulus, record.role.other: int(peer.paillier.n)}
        self._plugins = plugins
        self._carried = carried or Carried()
        self._begun = False
        self._estimated = 0.0
        self._reported = 0.0

    def session_task(self) -> SessionTask:
        """What the network runs."""
        record = self._record
        return SessionTask(
            job_id=record.job_id,
            job_digest=record.contract.digest,
            role=record.role,
            run=self._count,
            report=self._report,
            deadline_seconds=float(record.contract.spec.seconds),
            ended=self._end,
            network=record.contract.spec.network,
            lanes=record.contract.spec.lanes,
            evidence=self._evidence,
        )

    def _count(self, session: Session) -> None:
        try:
            self._run(session)
        finally:
            self._carried.add(self._record.contract.spec.analysis, session.channel.traffic)

    def _run(self, session: Session) -> None:
        self._begun = True
        self._store.require_room()
        if self._evidence is not None:
            self._evidence.require_room()
        self._store.move(self._record.job_id, State.RUNNING)
        spec = self._record.contract.spec
        task = self._admission.understand(spec)
        allowed = self._admission.judge(task, None)
        allowed.require()
        self._admission.check_contract(task, self._record.contract, allowed)
        digest, account = self._record.contract.digest, self._admission.account(task)
        # Before a row is looked at: a failure that depends on rows tells of them, so that it counts as a run.
        self._ledger.begin(digest.hex(), account, task.side.dataset, task.peer, allowed.run_limits)
        self._report("loading", 0, 1)
        local = self._admission.read(task, self._moduli)
        data = local.columns
        if self._evidence is not None:
            self._keep_data(self._evidence, task, local, allowed.evidence_days)
        rows = count_rows(data)
        verdict = self._admission.judge(task, data, begun=allowed.run_limits.rule)
        verdict.require()
        limits = self._record.contract.limits_of(task.role)
        participants = self._admission.participants(task, local, verdict, self._record.job_id)
        if participants is not None:
            self._admission.history.check(participants)
        releasing = LedgerCommit(
            job_digest=digest,
            role=task.role,
            account=account,
            dataset=task.side.dataset,
            peer=task.peer,
            loss=task.facts.loss,
            budget=verdict.budget,
            signing_key=self._signing,
            peer_key=self._peer.signing,
            attend=None if participants is None else partial(self._admission.history.record, participants),
            evidence=self._evidence,
        )
        gate = make_gate(self._ledger, releasing)
        agreed_schemas = self._record.contract.schemas
        schemas = {**(agreed_schemas[task.role.other] or {}), **(agreed_schemas[task.role] or {})}
        estimate = estimate_document(task, schemas, rows, self._key_bits, limits.both, held=count_held(data))
        self._estimated = estimate["total_seconds"]
        start = time.monotonic()
        auditor: Auditor = JobAuditor(self._admission.history, participants, local.identities)
        if self._evidence is not None:
            auditor = self._evidence.heed(auditor)
        outcome = run_study(task.study, session, data, spec.recipients, limits, gate, auditor)
        outcome = replace(in_source(outcome, local), notes=(*outcome.notes, *local.notes))
        traffic = session.channel.traffic
        facts = {
            "rounds": traffic.rounds,
            "sent": traffic.sent,
            "received": traffic.received,
            "seconds": round(time.monotonic() - start, 6),
            "rows": rows,
            "route": str(outcome.details.get("route", "")),
            "estimate": estimate,
            "leakage": leakage_document(task),
            "against": estimate["against"],
        }
        document = outcome_document(outcome)
        # Before END is sent: what has been paid for outlives a crash of either side.
        self._store.keep(self._record.job_id, document, facts, self._certificate(task, document, facts))

    def _keep_data(self, evidence: CovertRun, task: Task, local: LocalData, days: int) -> None:
        """Keep the columns of a covert run, which have to be those of the contract."""
        committer = self._admission.committer(task)
        if committer.commitments(local.columns) != self._record.contract.commitments[task.role]:
            raise DataError(
                f"Data set {task.side.dataset!r} has changed since the contract was made, which holds "
                "commitments to its columns.",
                "Submit the job again.",
                code="data-changed",
            )
        evidence.keep_data(local.columns, committer.salts(local.columns), days)

    def _report(self, stage: str, done: int, of: int) -> None:
        check_cancelled()
        now = time.monotonic()
        if done not in (0, of) and now - self._reported < _PROGRESS_SECONDS:
            return
        self._reported = now
        self._store.set_progress(self._record.job_id, Progress(stage, done, of, self._estimated))

    def _end(self, error: DuettoError | None) -> None:
        how = "finished" if error is None else f"ended with code {error.stable_code}"
        level = logging.DEBUG if isinstance(error, PeerBusy) else logging.INFO
        code = error.stable_code if error is not None else ""
        about = {"job": self._record.job_id, "peer": self._record.peer, "how": how, "code": code}
        _LOG.log(level, "job %(job)s: its run has %(how)s", about)
        if self._evidence is not None:
            self._settle(self._evidence, error)
        state = self._store.summary(self._record.job_id).state
        if not self._begun or state.is_final:
            return
        if state is not State.KEPT:
            self._store.fail(
                self._record.job_id,
                error or DuettoError("The session ended without a result.", "Submit the job again."),
            )
        elif error is None:
            self._store.finish(self._record.job_id)
        # else the peer knows whether it has kept its result, too, and is asked

    def _settle(self, evidence: CovertRun, error: DuettoError | None) -> None:
        """Say in ledger and audit log whether a covert run is due for an audit."""
        try:
            why = evidence.end(whole=error is None)
        except DuettoError as problem:
            _LOG.error(
                "job %(job)s: its evidence: %(problem)s",
                {"job": self._record.job_id, "peer": self._record.peer, "problem": problem},
            )
            why = BROKEN_OFF
        if why:
            note_due(self._record, why, self._store.audit, self._ledger)

    def _certificate(self, task: Task, outcome: dict[str, Any], facts: dict[str, Any]) -> dict[str, Any]:
        """The certificate, and the salt of its commitment to the result."""
        salt = Randomness().bytes(SALT_BYTES)
        record = self._store.get(self._record.job_id)
        signed = certify(
            record,
            self._signing,
            self._peer,
            loss=task.facts.loss,
            entries=self._ledger.of_job(record.contract.digest.hex()),
            approvals=self._approvals(record),
            outcome=outcome,
            facts=facts,
            finished=self._ledger.clock.stamp(),
            salt=salt,
            plugins=self._plugins,
            record_of_run=None if self._evidence is None else self._evidence.certificate(),
        )
        return {**signed, "salt": salt.hex()}

    def _approvals(self, record: Record) -> list[Entry]:
        """The entries with the signatures of persons who approved the contract, or its draft."""
        digests = dict.fromkeys((record.contract.draft.digest.hex(), record.contract.digest.hex()))
        entries = [entry for digest in digests for entry in self._ledger.of_job(digest)]
        return [entry for entry in entries if entry.act == Act.APPROVE.value]


def in_source(outcome: Outcome, local: LocalData) -> Outcome:
    """An outcome whose columns `row` count the local rows as the source does, those left out too."""
    if local.numbers is None:
        return outcome
    tables = []
    for table in outcome.tables:
        columns = dict(table.columns)
        if "row" in columns:
            columns["row"] = local.numbers[np.asarray(columns["row"], dtype=np.int64) - 1].tolist()
        tables.append(replace(table, columns=columns))
    return replace(outcome, tables=tuple(tables))


def outcome_document(outcome: Outcome) -> dict[str, Any]:
    """An outcome as plain JSON values.

    Its details say under `kinds`, by table, of what kind columns are, where that is stated.
    """
    kinds = {t.name: dict(t.kinds) for t in outcome.tables if t.kinds}
    return {
        "tables": [
            {"name": t.name, "columns": {name: list(v) for name, v in t.columns.items()}}
            for t in outcome.tables
        ],
        "notes": list(outcome.notes),
        "details": {**outcome.details, **({"kinds": kinds} if kinds else {})},
    }


def leakage_document(task: Task) -> dict[str, list[str]]:
    """Who learns what, as plain JSON values."""
    leakage = task.leakage
    return {
        Role.ALICE.value: list(leakage.alice),
        Role.BOB.value: list(leakage.bob),
        "public": list(leakage.public),
    }


def estimate_document(
    task: Task,
    schemas: Schemas,
    rows: int,
    key_bits: int,
    limits: Limits,
    *,
    held: int | None = None,
    peer_rows: int = 0,
) -> dict[str, Any]:
    """The estimate for `rows` rows with the ledger's messages, as plain JSON values.

    `held` and `peer_rows` are as in `Task.estimate`.

    `sent` and `received` are the bytes as seen from this side. `network_seconds` is for waiting and for the
    larger of both directions over the network of the job, 0 where it names none. `most` has the rounds and
    bytes of the longest run where the data decide how long it is, else None.
    """
    estimate = task.estimate(schemas, rows, key_bits, limits, held=held, peer_rows=peer_rows)
    document = asdict(estimate) | {"against": estimate.against.value}
    if document["cheaper"] is not None:
        document["cheaper"]["seconds"] = round(document["cheaper"]["seconds"], 3)
    document["seconds"] = round(document["seconds"], 3)
    document["rounds"] += GATE_ROUNDS
    gate = GATE_BYTES + (0 if task.spec.audit is None else SIGNATURE_BYTES)
    document["alice_bytes"] += gate
    document["bob_bytes"] += gate
    both = (document["alice_bytes"], document["bob_bytes"])
    sent, received = both if task.role is Role.ALICE else both[::-1]
    if (most := estimate.most) is not None:
        ways = (most.alice_bytes + gate, most.bob_bytes + gate)
        own, other = ways if task.role is Role.ALICE else ways[::-1]
        document["most"] = {"rounds": most.rounds + GATE_ROUNDS, "sent": own, "received": other}
    network = task.spec.network
    waiting = 0.0 if network is None else network.seconds(document["rounds"], *both)
    return document | {
        "sent": sent,
        "received": received,
        "rows": rows,
        "network_seconds": round(waiting, 6),
        "total_seconds": round(document["seconds"] + waiting, 6),
    }

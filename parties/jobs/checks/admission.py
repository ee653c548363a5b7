"""What a party checks on its own before it puts its name under a job."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Final

from commons.errors import near
from commons.settings.toml import text_of
from parties.audit_terms import COVERT
from parties.catalog.declarations.declaration import Catalog, DatasetDeclaration, load_catalog
from parties.catalog.reading import Reader
from parties.contracts.contract import Commitments, Contract, Schemas
from parties.contracts.spec import JobSpec
from parties.disclosure.history import History
from parties.disclosure.log import OverlapError
from parties.disclosure.participants import ParticipantSet, aliases_of, persons_of
from parties.errors import ConfigError, DataError, JobError
from parties.evidence.cells import Committer
from parties.evidence.store import EvidenceStore
from parties.jobs.checks.declared import catalog_columns, check_bounds, check_once
from parties.jobs.checks.kept import KeptData
from parties.jobs.checks.local_data import (
    LocalData,
    Moduli,
    added_up,
    can_add_up,
    check_residues,
    columns_of,
    count_held,
    count_persons,
    count_rows,
    with_persons,
)
from parties.jobs.checks.task import Task
from parties.ledger.accounting import Account, Spent
from parties.ledger.book import Ledger
from parties.persons.gate import Gate
from parties.pki.pairing import MINIMUM_PAILLIER_BITS
from parties.policy.conditions import JobView
from parties.policy.rules import Policy, load_text
from parties.policy.verdict import Verdict, evaluate
from smc.analyses.disclosure.limits import Limits
from smc.analyses.registry import study_of
from smc.analyses.studies.columns import PERSONS, Data
from smc.analyses.studies.study import Analysis, Preview
from smc.errors import OutOfMemory
from smc.forms import Role
from smc.protocols.transfer_costs import may_take_silent


class Admission:
    """Judges jobs with the local catalog, policy and ledger, which are read afresh each time.

    Args:
        name: this party.
        catalog: the file of the catalog.
        policy: the file of the policy.
        ledger: the local ledger.
        gate: what persons have signed.
        history: the local exact jobs.
        evidence: the records of the local covert runs.
        reader: reads the local data.
        analyses: all analyses by name.
        maximum_seconds: the longest deadline that the daemon grants.
        maximum_lanes: the most lanes that it grants.
        maximum_memory: bytes that a job may take by the model of its analysis.
    """

    def __init__(
        self,
        *,
        name: str,
        catalog: Path,
        policy: Path,
        ledger: Ledger,
        gate: Gate,
        history: History,
        evidence: EvidenceStore,
        reader: Reader,
        analyses: Mapping[str, Analysis],
        maximum_seconds: int,
        maximum_lanes: int,
        maximum_memory: int,
    ) -> None:
        self._name = name
        self._catalog = catalog
        self._policy = policy
        self._ledger = ledger
        self._gate = gate
        self.history: Final = history
        self.evidence: Final = evidence
        self._reader = reader
        self._kept = KeptData(reader.memory // 8)
        self._analyses = analyses
        self._maximum_seconds = maximum_seconds
        self._maximum_lanes = maximum_lanes
        self._maximum_memory = maximum_memory

    def understand(self, spec: JobSpec) -> Task:
        """Let the analysis parse a job.

        Raises:
            JobError: this party has no part in it, there is no such analysis, or columns do not fit.
            UsageError: the parameters or recipients do not fit.
        """
        role = spec.role_of(self._name)
        if spec.analysis not in self._analyses:
            raise JobError(
                f"There is no analysis {spec.analysis!r}.", near(spec.analysis, list(self._analyses))
            )
        if spec.seconds > self._maximum_seconds:
            raise JobError(
                f"The job asks for {spec.seconds} seconds; this daemon grants {self._maximum_seconds}.",
                "Lower seconds below [limits], or raise job_seconds in duetto.toml and start the daemon "
                "again.",
            )
        if spec.lanes > self._maximum_lanes:
            raise JobError(
                f"The job asks for {spec.lanes} lanes; this daemon grants {self._maximum_lanes}.",
                f"Write lanes = {self._maximum_lanes} below [compute] in the job, or raise lanes below "
                "[compute] in duetto.toml and start the daemon again.",
                code="lanes",
            )
        task = Task(spec, role, study_of(self._analyses[spec.analysis], spec.parameters))
        for party in Role:
            task.columns(party)
            check_once(task, party)
        task.study.check_recipients(spec.recipients)
        if spec.audit is not None and not any(task.study.columns.values()):
            raise JobError(
                f"A job of {spec.analysis} reads no data; what it keeps is used in other runs, and cannot be "
                "audited with its own.",
                f'Remove security = "{COVERT}" below [job], and [audit].',
                code="covert",
            )
        if spec.audit is not None and task.study.takes_pool:
            raise JobError(
                "A job that can be audited takes no pool: what was prepared follows from the randomness of "
                "another run.",
                f'Leave pool out of [parameters], or remove security = "{COVERT}" below [job], and [audit].',
                code="covert",
            )
        return task

    def schemas(self, task: Task) -> Schemas:
        """The declarations of the local columns, by their names in the job, which has to fit those of rows.

        Raises:
            DataError: the catalog lacks the data set or a column.
            JobError: the job takes fewer rows for granted than the catalog declares; no row was looked at.
            ConfigError: the catalog is wrong.
        """
        side = task.side
        if not side.dataset:
            return {}
        catalog = self._load_catalog()
        check_bounds(task, catalog.dataset(side.dataset))
        return {name: catalog.schema(side.dataset, column) for name, column in side.columns.items()}

    def data(self, task: Task, moduli: Moduli | None = None) -> Data:
        """The local columns, see `read`."""
        return self.read(task, moduli).columns

    def read(self, task: Task, moduli: Moduli | None = None) -> LocalData:
        """Read all rows of the local columns, or add them up (`can_add_up`); exact jobs have identities too.

        What was read for this job a moment ago is returned again if its file is the same.

        Args:
            task: the job.
            moduli: the parties' Paillier N, to check shares and ciphertexts; None leaves that out.

        Raises:
            DataError: the data are not as declared, or rows would be left out and may not be.
            HistoryError: the secret for the identities cannot be used.
        """
        side = task.side
        if not side.dataset:
            return LocalData({})
        secret = self.history.secret() if task.facts.exact is not None else None
        keeping = [side.columns[name] for name in task.facts.keeps_missing if name in side.columns]
        dataset = self._load_catalog().dataset(side.dataset)
        what = (task.spec, task.role, dataset, secret, moduli)
        stamp = self._reader.stamp(dataset)
        local = None if stamp is None else self._kept.get(what, stamp)
        if local is not None:
            return local
        local = self._read(task, dataset, secret, keeping, moduli)
        if stamp is not None and self._reader.stamp(dataset) == stamp:
            self._kept.keep(what, stamp, local)
        return local

    def _read(
        self,
        task: Task,
        dataset: DatasetDeclaration,
        secret: bytes | None,
        keeping: Iterable[str],
        moduli: Moduli | None,
    ) -> LocalData:
        side = task.side
        if task.spec.audit is None and can_add_up(task.study, dataset, side):
            return added_up(task.study, dataset, side, keeping, self._reader.load_pieces)
        loaded = self._reader.load(dataset, side.columns.values(), secret, keeping)
        if loaded.left_out and task.facts.pairs_by_position:
            raise DataError(
                f"Data set {side.dataset!r} has rows with missing cells; this job pairs the "
                "rows of both sides by their position, so none can be left out.",
                "Fill the cells, or leave the same rows out of the sources of both sides.",
            )
        data = columns_of(side, loaded)
        check_residues(side, data, task.role, moduli)
        return LocalData(
            with_persons(data, loaded), loaded.notes, loaded.identities, loaded.numbers, loaded.aliases
        )

    def committer(self, task: Task) -> Committer:
        """What commits to the local columns of a covert job.

        Raises:
            StorageError: the key of the home cannot be used.
        """
        return Committer(self.evidence.salting_key(), task.peer, task.side.dataset, task.side.columns)

    def commitments(self, task: Task, local: LocalData) -> Commitments | None:
        """The commitments to the local columns of a covert job; None for others."""
        return None if task.spec.audit is None else self.committer(task).commitments(local.columns)

    def judge(self, task: Task, data: Data | None, begun: str = "") -> Verdict:
        """The verdict of the local policy, with what has been spent and has run so far.

        Args:
            task: the job.
            data: the local columns, or None before they have been read.
            begun: the rule by which the run of this very job has been counted; empty before.

        Raises:
            ConfigError: the policy is wrong.
            LedgerError: the ledger cannot be trusted.
            HistoryError: the record of exact jobs is damaged.
        """
        facts = task.facts
        account = self.account(task)
        spent = self.spending(task) if facts.loss else Spent()
        view = JobView(
            analysis=task.spec.analysis,
            peer=task.peer,
            dataset=task.side.dataset,
            columns=frozenset(task.side.columns.values()),
            recipients=frozenset("self" if role is task.role else "peer" for role in task.spec.recipients),
            facts=facts,
            rows=None if data is None else count_rows(data),
            persons=None if data is None else count_persons(data),
            seconds=task.spec.seconds,
            spent=spent,
            runs=lambda rule: self._ledger.runs(account, task.peer, rule).without(int(rule == begun)),
            names_of_persons=self._names_of_persons(task),
            keys=catalog_columns(task, facts.asked.keys),
            values=catalog_columns(
                task, frozenset(task.side.columns) - facts.asked.keys | facts.asked.values
            ),
            naming=self._naming(task),
            network=may_take_silent(task.spec.network),
            answers=_answers(task),
            audit=task.spec.audit,
            parameters={key: value for key, value in task.spec.parameters.items() if isinstance(value, str)},
        )
        verdict = evaluate(self._signed_policy(), view)
        if facts.exact is None or not verdict.allowed:
            return verdict
        earlier = self.history.unlisted_jobs(
            account, task.peer, partial(self._ledger.exact, account, task.peer)
        )
        if not earlier:
            return verdict
        return replace(verdict, needs_person=True, unheld=tuple(record.job for record in earlier))

    def _signed_policy(self) -> Policy:
        """The policy, from the very bytes of which the signature was looked at."""
        text = text_of(self._policy, ConfigError)
        self._gate.require_policy(text.encode())
        return load_text(text, self._policy.name)

    def spending(self, task: Task) -> Spent:
        """What jobs about the same people have lost towards the peer so far.

        Raises:
            LedgerError: the ledger cannot be trusted.
        """
        return self._ledger.spending(self.account(task), task.peer)

    def participants(
        self, task: Task, local: LocalData, verdict: Verdict, job_id: str = ""
    ) -> ParticipantSet | None:
        """Who takes part in an exact job, to be compared with earlier ones.

        It is None for other jobs. Where the data set does not tell persons apart, and no limit asks for
        it, nobody is known to take part.

        Args:
            task: the job.
            local: the local data.
            verdict: of the local policy.
            job_id: the name of the job.

        Raises:
            DataError: the catalog lacks the data set.
            OverlapError: earlier jobs have to be compared with, and the data set does not say whom rows are
                about, or says it in another way than one of the same population.
        """
        if task.facts.exact is None or not task.side.dataset:
            return None
        minimum = verdict.overlap
        if local.identities is None and minimum > 1:
            raise OverlapError(
                f"Exact figures have to differ in {minimum} persons from job to job, and data set "
                f"{task.side.dataset!r} does not say whom a row is about.",
                f'Write person = "COLUMN" below [datasets.{task.side.dataset}] in the catalog, or add '
                "noise to the job (epsilon).",
            )
        if minimum > 1 and (unlike := self._load_catalog().tells_unlike(task.side.dataset)):
            raise OverlapError(*unlike)
        account = self.account(task)
        return ParticipantSet(
            job=job_id,
            account=account,
            dataset=task.side.dataset,
            peer=task.peer,
            persons=persons_of(local.identities),
            minimum=minimum,
            group=verdict.limits.minimum_group,
            dominance=verdict.limits.dominance,
            known=self._ledger.exact(account, task.peer),
            whom=task.facts.exact.whom if task.role.other in task.spec.recipients else None,
            aliases=aliases_of(local.aliases),
        )

    def check_overlap(self, task: Task, local: LocalData, verdict: Verdict) -> None:
        """Check that an exact job does not differ from an earlier one in a few local persons only.

        Raises:
            OverlapError: it does.
            HistoryError: the record of earlier jobs cannot be trusted.
        """
        if (participants := self.participants(task, local, verdict)) is not None:
            self.history.check(participants)

    def account(self, task: Task) -> Account:
        """Whom a job is about: all local data sets about the same people.

        A data set that the catalog lacks has an account of its own, so that a refusal by the policy comes
        first and does not tell a peer what the catalog holds.

        Raises:
            ConfigError: the catalog is wrong.
        """
        declared = self._load_catalog().datasets
        if task.side.dataset not in declared:
            return Account.of(task.side.dataset)
        population = declared[task.side.dataset].population
        alike = (d.name for d in declared.values() if d.population == population)
        return Account(population, frozenset(alike))

    def preview(
        self, task: Task, local: LocalData, limits: Limits, contract: Contract | None = None
    ) -> Preview:
        """What the local rows tell of a run before anything is sent; it refuses what takes too much memory.

        Args:
            task: the job.
            local: the local data.
            limits: those of the local policy.
            contract: has what is known by now of the peer's limits and declarations.
        """
        peer = None if contract is None else contract.schemas[task.role.other]
        limits = limits if contract is None else limits.stricter(contract.agreed)
        exact = task.facts.exact
        if exact is not None:
            alone = Preview.of(lambda: limits.check_single_figure(exact.apart))
            if alone.refusal is not None:
                return alone
        found = task.study.preview(local.columns, task.role, limits, peer)
        if found.refusal is not None:
            return found
        columns = local.columns.items()
        schemas = dict(peer or {}) | {name: column.schema for name, column in columns if name != PERSONS}
        rows, held = count_rows(local.columns), count_held(local.columns)
        memory = task.estimate(schemas, rows, MINIMUM_PAILLIER_BITS, limits, held=held).memory
        if memory is None:  # without a model at least the lanes are known
            memory = task.lane_memory
        if memory <= self._maximum_memory:
            return found
        lanes = f"Ask for fewer than {task.spec.lanes} lanes; or: " if task.lane_memory else ""
        return replace(
            found,
            refusal=OutOfMemory(
                f"The job would take about {memory >> 20} MiB here, if the peer has as many rows; "
                f"{self._maximum_memory >> 20} MiB are granted (memory_mib below [limits] in duetto.toml).",
                lanes + OutOfMemory.advice,
            ),
        )

    def check_contract(self, task: Task, contract: Contract, verdict: Verdict | None = None) -> None:
        """Check that a complete contract carries the local declarations and that both sides' fit together.

        Args:
            task: the job.
            contract: the contract.
            verdict: of the local policy as it is now; None leaves the limits unchecked.

        Raises:
            JobError: its schemas of this side are not those of the catalog, the peer's are for other columns,
                or the local policy has become stricter.
            UsageError: the columns do not fit each other or the parameters.
        """
        local, theirs = (contract.schemas[role] for role in (task.role, task.role.other))
        if local is None or theirs is None or dict(local) != dict(self.schemas(task)):
            raise JobError(
                "The contract has other declarations than this party's catalog has now.",
                "Submit the job again after a change of the catalog.",
                code="contract",
            )
        limits = contract.limits[task.role]
        if verdict is not None and (limits is None or limits.stricter(verdict.limits) != limits):
            raise JobError(
                "The local policy now asks for stricter limits than the contract has.",
                "Submit the job again after a change of the policy.",
                code="contract",
            )
        if set(theirs) != task.columns(task.role.other):
            raise JobError(
                "The contract declares other columns than the job names.",
                "Install the same release on both sides, and submit the job again.",
                code="contract",
            )
        theirs_made = contract.commitments[task.role.other]
        if contract.is_covert and {name for name in theirs_made or () if name[:1] != "@"} != set(theirs):
            raise JobError(
                "The contract commits to other columns of the peer than it declares.",
                "Install the same release on both sides, and submit the job again.",
                code="contract",
            )
        alice, bob = (local, theirs) if task.role is Role.ALICE else (theirs, local)
        task.study.check(alice, bob)

    def _names_of_persons(self, task: Task) -> tuple[str, ...]:
        """The local columns that name persons and by which exact tables would sort rows."""
        catalog, side = self._load_catalog(), task.side
        if side.dataset not in catalog.datasets:
            return ()
        columns = {side.columns[name] for name in task.facts.sorts_by if name in side.columns}
        return catalog.names_of_persons(side.dataset, columns)

    def _naming(self, task: Task) -> frozenset[str]:
        """The local columns that the data set declares as its key or person."""
        declared = self._load_catalog().datasets.get(task.side.dataset)
        return frozenset(() if declared is None else (*declared.key, *declared.person))

    def _load_catalog(self) -> Catalog:
        return load_catalog(self._catalog)


def _answers(task: Task) -> int:
    """How many rows of the peer a run answers by the local data, at most."""
    return sum(answers.most for answers in task.facts.asked.answers if answers.by is task.role)

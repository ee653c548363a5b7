"""North and south with all analyses: data sets, policies and job files, and what has to hold of every run."""

from __future__ import annotations

import csv
import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from pathlib import Path
from typing import Any

import tomli_w

from parties.certificates.verification import read_certificate
from parties.client import job_text
from parties.contracts.spec import parse_spec
from parties.contracts.state import State
from parties.jobs.checks.task import Task
from parties.jobs.manager import JobManager, RetryPolicy
from parties.jobs.run import outcome_document
from parties.ledger.entries import SPENT
from smc.analyses.studies.columns import Data
from smc.analyses.studies.facts import MAX_PARTS
from smc.analyses.studies.loss import Loss
from tests.parties.jobs.joined import ROLES, Pair

SECONDS = 120
"""A run that takes longer has failed."""

Tables = dict[str, dict[str, list[Any]]]

ALLOWED: Mapping[str, Any] = {
    "name": "everything",
    "analyses": ["*"],
    "peers": ["*"],
    "datasets": ["*"],
    "columns": ["*"],
    "keys": ["*"],
    "may_state": ["where", "derived", "bounds", "centres"],
    "recipients": ["both"],
    "epsilon_per_job": "1000",
    "epsilon_total": "10000",
    "exact_aggregates": True,
    "figures_per_job": MAX_PARTS,
    "row_results": True,
    "maximum_ratio": 0,
    "types": ["*-*-*"],
    "runs_total": 1000,
    "approval": "auto",
}
"""The rule of a policy that allows everything; tests change entries of it."""


def job(
    analysis: str,
    parameters: Mapping[str, Any],
    columns: Sequence[str] | Mapping[str, Sequence[str] | Mapping[str, str]],
    *,
    recipients: Sequence[str] = ("alice", "bob"),
    dataset: str = "people",
) -> dict[str, Any]:
    """The document of a job file between north, Alice, and south, Bob.

    Args:
        analysis: its name.
        parameters: of the analysis.
        columns: of both sides, or by side; where they have no names of the job, as the catalogs call them.
        recipients: who gets results.
        dataset: of both sides.
    """
    sides = columns if isinstance(columns, Mapping) else dict.fromkeys(("alice", "bob"), columns)
    return {
        "job": {"analysis": analysis, "alice": "north", "bob": "south", "recipients": [*recipients]},
        **{
            side: {
                "dataset": dataset,
                "columns": dict(names) if isinstance(names, Mapping) else {name: name for name in names},
            }
            for side, names in sides.items()
        },
        "parameters": dict(parameters),
        "limits": {"seconds": SECONDS},
    }


def write_table(path: Path, cells: Mapping[str, Sequence[object]]) -> None:
    """A CSV file of columns of one length."""
    with path.open("w", encoding="utf-8", newline="") as stream:
        writer = csv.writer(stream)
        writer.writerow(cells)
        writer.writerows(zip(*cells.values(), strict=True))


@dataclass(frozen=True)
class Run:
    """A job that both parties have finished."""

    job_id: str
    results: Mapping[str, dict[str, Any]]
    plain: Mapping[str, dict[str, Any]]

    def tables(self, name: str) -> Tables:
        return _tables(self.results[name]["outcome"])

    def plain_tables(self, name: str) -> Tables:
        return _tables(self.plain[name])

    def notes(self, name: str) -> str:
        return " ".join(self.results[name]["outcome"]["notes"])

    def details(self, name: str) -> dict[str, Any]:
        details: dict[str, Any] = self.results[name]["outcome"]["details"]
        return details


def _tables(outcome: Mapping[str, Any]) -> Tables:
    return {table["name"]: table["columns"] for table in outcome["tables"]}


class Institutions(Pair):
    """Two parties in one process, joined without a network, who run all analyses."""

    def __init__(self, folder: Path) -> None:
        self._catalogs: dict[str, dict[str, Any]] = {name: {} for name in ROLES}
        super().__init__(folder)
        self.network.seconds = 30.0

    def declare(self, name: str, unit: str = "") -> None:
        del unit
        (self.folder / name / "catalog.toml").write_text(tomli_w.dumps({"datasets": self._catalogs[name]}))

    def allow(self, name: str, total: str = "", approval: str = "auto", **entries: Any) -> None:
        """One rule: `ALLOWED` with other entries; None leaves one out. Where it names no parameters, another
        like it names the method that a rule has to name."""
        given = {"approval": approval, **({"epsilon_total": total} if total else {}), **entries}
        rule = {key: value for key, value in {**ALLOWED, **given}.items() if value is not None}
        named = rule | {"name": f"{rule.get('name')}, vectors", "parameters": {"method": ["vectors"]}}
        rules = [rule] if "parameters" in rule or not rule.get("name") else [rule, named]
        (self.folder / name / "policy.toml").write_text(tomli_w.dumps({"rules": rules}))

    def start(self, name: str, *, resume: bool = True) -> JobManager:
        manager = JobManager(
            self.config(name),
            self._identities[name],
            self.network.port(name),
            patience=RetryPolicy(dial_seconds=(0.05, 0.1), ask_seconds=0.2),
        )
        self.network.managers[name] = manager
        if resume:
            manager.resume()
        return manager

    def hold(
        self,
        name: str,
        cells: Mapping[str, Sequence[object]],
        declared: Mapping[str, Mapping[str, Any]],
        *,
        dataset: str = "people",
        **settings: Any,
    ) -> None:
        """Give a party a data set, in place of an earlier one of this name.

        Args:
            name: the party.
            cells: of the CSV file, by column.
            declared: what the catalog says of columns.
            dataset: its name.
            settings: further entries of the catalog, such as `person`; unless they say whom rows are about,
                rows have a number, which is their key. A hundred rows are declared, or as many as there are.
        """
        count = len(next(iter(cells.values())))
        if not {"person", "key"} & settings.keys():
            cells, settings = {**cells, "row number": range(count)}, {**settings, "key": "row number"}
        write_table(self.folder / name / f"{dataset}.csv", cells)
        self._catalogs[name][dataset] = {
            "source": f"{dataset}.csv",
            "maximum_rows": max(100, count),
            **settings,
            "columns": {column: dict(entries) for column, entries in declared.items()},
        }
        self.declare(name)

    def hold_source(self, name: str, source: Path, declared: Mapping[str, Mapping[str, Any]]) -> None:
        """Give a party a data set `people` in a file that lies elsewhere."""
        self._catalogs[name]["people"] = {
            "source": str(source),
            "maximum_rows": 100_000,
            "columns": dict(declared),
        }
        self.declare(name)

    def file(self, document: Mapping[str, Any]) -> Path:
        """A job file."""
        path = self.folder / "job.toml"
        path.write_text(job_text(document), encoding="utf-8")
        return path

    def submit(self, document: Mapping[str, Any], name: str = "north") -> str:
        """Submit a job file at a party; the job's name."""
        return str(self.network.managers[name].submit(job_text(self.file(document))).job_id)

    def ended(self, job_id: str) -> dict[str, Any]:
        """The records of a job at both parties when it has ended there."""
        found = {}
        for name, manager in self.network.managers.items():
            store = manager.store
            assert store.wait_for(lambda: store.get(job_id).state.is_final, SECONDS)  # noqa: B023
            found[name] = store.get(job_id)
        return found

    def failed(self, document: Mapping[str, Any]) -> dict[str, tuple[State, str]]:
        """Run a job to its end; state and error code at each party."""
        return {
            name: (record.state, record.error_code)
            for name, record in self.ended(self.submit(document)).items()
        }

    def run(self, document: Mapping[str, Any]) -> Run:
        """Run a job file to the end at both parties, and check what has to hold of every run."""
        checked = {
            name: manager.check(job_text(self.file(document)))
            for name, manager in self.network.managers.items()
        }
        job_id = self.submit(document)
        records = self.ended(job_id)
        for record in records.values():
            assert record.state is State.FINISHED, (record.error_code, record.error_what)
        results = {
            name: json.loads(manager.result(job_id)) for name, manager in self.network.managers.items()
        }
        task = self.task("north", document)
        for name, manager in self.network.managers.items():
            assert checked[name]["verdict"]["allowed"]
            self._check_leakage(task, checked[name], results[name], manager, job_id)
            self._check_ledger(task.facts.loss, manager, job_id)
            self._check_certificate(name, job_id, results[name])
            is_recipient = ROLES[name] in task.spec.recipients
            assert bool(results[name]["outcome"]["tables"]) is is_recipient
            recorded = [entry.job for entry in manager._admission.history.records()]
            assert (job_id in recorded) is (task.facts.exact is not None)
        return Run(job_id, results, self._plain(document))

    def task(self, name: str, document: Mapping[str, Any]) -> Task:
        """A job as a party understands it."""
        return self.network.managers[name]._admission.understand(parse_spec(job_text(document)))

    def data(self, name: str, document: Mapping[str, Any]) -> Data:
        """The local data of a job at a party."""
        return self.network.managers[name]._admission.data(self.task(name, document))

    def spent(self, name: str) -> Fraction:
        """All epsilon that a party's ledger has."""
        entries = self.network.managers[name].ledger.entries()
        return sum((entry.loss.epsilon for entry in entries if entry.event == SPENT), Fraction(0))

    def _plain(self, document: Mapping[str, Any]) -> dict[str, dict[str, Any]]:
        task = self.task("north", document)
        sides = [self.data(name, document) for name in ROLES]
        outcomes = task.study.reference(*sides, task.spec.recipients)
        return {name: outcome_document(outcome) for name, outcome in zip(ROLES, outcomes, strict=True)}

    @staticmethod
    def _check_leakage(
        task: Task, checked: Mapping[str, Any], result: Mapping[str, Any], manager: JobManager, job_id: str
    ) -> None:
        """Who learns what is said alike before the job, at its approval and with its result."""
        stated = task.leakage
        expected = {"alice": [*stated.alice], "bob": [*stated.bob], "public": [*stated.public]}
        assert expected["public"]
        for role in task.spec.recipients:
            assert expected[role.value]
        assert checked["leakage"] == expected
        assert manager.leakage(manager.store.get(job_id)) == expected
        assert result["facts"]["leakage"] == expected

    @staticmethod
    def _check_ledger(loss: Loss, manager: JobManager, job_id: str) -> None:
        """The loss of the job, and nothing else, stands in the ledger."""
        digest = manager.store.get(job_id).contract.digest.hex()
        entries = [entry for entry in manager.ledger.of_job(digest) if entry.event == SPENT]
        assert [entry.loss for entry in entries] == ([loss] if loss else [])

    def _check_certificate(self, name: str, job_id: str, result: Mapping[str, Any]) -> None:
        certificate = read_certificate(json.dumps(self.network.managers[name].certificate(job_id)).encode())
        for party, role in ROLES.items():
            certificate.confirm(self._identities[party].signing.public_key(), role)
        recipients = self.network.managers[name].store.get(job_id).contract.spec.recipients
        assert certificate.received is (ROLES[name] in recipients)
        if certificate.received:
            certificate.check_result({**result["outcome"], "salt": result["salt"]})

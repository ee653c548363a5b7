"""What people see of a covert job: how its run is audited, where that stands, what its commitments tell."""

from __future__ import annotations

import json
import logging
from collections.abc import Mapping
from dataclasses import asdict
from typing import Any, Final, NamedTuple

from parties.audit.lines import AUDIT_DUE
from parties.audit.writer import Audit
from parties.contracts.records import Record, Summary
from parties.contracts.spec import JobSpec
from parties.errors import JobError
from parties.evidence.store import EvidenceStore
from parties.jobs.storage.reading import JobReader
from parties.ledger.book import Ledger
from parties.ledger.entries import DUE, LedgerError
from smc.forms import Role

LOOKED_AT: Final = 1000
"""So many covert contracts with a peer, the newest, are looked at for columns that are the same."""

_LOG: Final = logging.getLogger("duetto.jobs")


class _SameColumn(NamedTuple):
    """A column that the contract of an earlier job holds as well.

    Attributes:
        party: whose it is.
        column: the name of its catalog for it.
    """

    party: str
    column: str


def terms_of_audit(spec: JobSpec, role: Role) -> dict[str, str] | None:
    """How the run of a job is audited: the terms, and `words` for the party in a role; None if it is not."""
    if spec.audit is None:
        return None
    brings = bool(spec.side(role).columns)
    whose = "your columns of this job" if brings else "your side of the run; you bring no columns"
    return {**spec.audit.document(), "words": spec.audit.words(whose)}


def audit_document(record: Record, store: JobReader, evidence: EvidenceStore) -> dict[str, Any]:
    """What is said of a covert job, as plain JSON values; nothing of another.

    Args:
        record: the job.
        store: all jobs.
        evidence: what is kept of covert runs.

    Returns:
        The entries of `terms_of_audit`; `standing`, where the record of its run stands, as of
        `parties.evidence.store.Standing`, None before the run; `same`, as of `same_columns`.

    Raises:
        StorageError: the evidence or the jobs cannot be read.
    """
    terms = terms_of_audit(record.contract.spec, record.role)
    if terms is None:
        return {}
    try:
        standing = asdict(evidence.standing(record.job_id))
    except JobError:
        standing = None
    return {**terms, "standing": standing, "same": same_columns(record, store)}


def note_due(job: Summary, why: str, audit: Audit, ledger: Ledger) -> None:
    """Say in the audit log and in the ledger that the run of a covert job is due.

    A ledger that takes no entry is no reason to lose the job's end; the log of the daemon says so.

    Args:
        job: the job, whose contract is complete.
        why: `coin` or `broken off`.
        audit: the audit log.
        ledger: the ledger.
    """
    audit.write(AUDIT_DUE, job_id=job.job_id, peer=job.peer, why=why)
    try:
        ledger.note(DUE, job.digest, job.peer, why=why)
    except LedgerError as problem:
        _LOG.error(
            "job %(job)s: that it is due is not in the ledger: %(problem)s",
            {"job": job.job_id, "problem": problem},
        )


def same_columns(record: Record, store: JobReader) -> list[dict[str, Any]]:
    """Which columns are the same as in earlier contracts with the peer, as equal commitments show.

    The last `LOOKED_AT` covert contracts are looked at, whatever became of their jobs: who has seen a
    contract has seen its commitments.

    Returns:
        `party` and `column`, as its catalog calls it, and `jobs`, the earlier ones, the newest first.

    Raises:
        StorageError: the jobs cannot be read.
    """
    mine = _commitments(json.loads(record.contract.encode()))
    found: dict[_SameColumn, list[str]] = {}
    for job_id, contract in store.covert_contracts(record.job_id, LOOKED_AT):
        theirs = _commitments(json.loads(contract))
        for made in mine.keys() & theirs.keys():
            found.setdefault(mine[made], []).append(job_id)
    return [{**same._asdict(), "jobs": jobs} for same, jobs in sorted(found.items())]


def _commitments(contract: Mapping[str, Any]) -> dict[tuple[str, str], _SameColumn]:
    """The columns of a contract by party and commitment: a party could copy a commitment of the other's."""
    found = {}
    for role, made in contract.get("commitments", {}).items():
        party, columns = contract["spec"]["job"][role], contract["spec"].get(role, {}).get("columns", {})
        for name, value in (made or {}).items():
            found[party, value] = _SameColumn(party, columns.get(name, name))
    return found

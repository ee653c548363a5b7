"""The command that files an auditor's verdict on a covert run: in the ledger, and with the evidence."""

from __future__ import annotations

import json
from contextlib import closing
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

import click

from parties.bounded_files import read_bounded
from parties.cli.options import config_option
from parties.cli.output import emit, json_option
from parties.config import Config, load
from parties.errors import DataError, JobError
from parties.evidence.store import JUDGED, RUNNING, EvidenceStore, Standing
from parties.jobs.storage.reading import JobReader
from parties.ledger.book import open_ledger
from parties.ledger.entries import VERDICT
from parties.pki.home import load_identity, load_peer
from parties.pki.signing import key_text
from smc.errors import UsageError
from smc.forms import Role

if TYPE_CHECKING:
    from parties.certificates.verification import Certificate
    from parties.contracts.records import Record


@click.command(name="file")
@click.argument("file", type=click.Path(path_type=Path, dir_okay=False))
@config_option
@json_option
def file_verdict(file: Path, config_path: Path | None, *, as_json: bool) -> None:
    """Check the verdict in FILE, write it into the ledger, and keep it with the evidence of its run.

    It has to be about this party or its peer, in a job that is known here, by the auditor of the contract,
    and about all that its party has signed, by what is kept here: else let the auditor judge with the
    receipt of this party. When one about this party is filed, the record of its run may go.
    """
    from parties.auditors.receipts import kept_receipt, open_receipt
    from parties.auditors.verdicts import VERDICT_BYTES, read_verdict

    config, data = load(config_path), read_shown(file, VERDICT_BYTES)
    found = read_verdict(data)
    body = found.body
    with closing(JobReader(config.home, only_looks=True)) as jobs:
        job = jobs.get(body["job_id"])
        certificate = jobs.papers(job.job_id).certificate
    found.confirm_contract(job.contract, _keys(config, job, certificate))
    if certificate:
        found.confirm(_own_certificate(certificate))
    store = EvidenceStore(config.home)
    try:
        standing = store.standing(job.job_id)
    except JobError:
        standing = Standing(job.job_id, job.peer, JUDGED, ended=job.updated)
    if standing.state == RUNNING:
        raise UsageError(f"The run of job {job.job_id} goes on.", "Wait for its end.")
    if (kept := kept_receipt(store, job.job_id)) is not None:
        found.confirm_receipt(open_receipt(kept))
    whose = "verdict" if found.role is job.role else "peer_verdict"
    store.keep_verdict(replace(standing, **{whose: body["outcome"]}), found.subject[:16], data)
    said = {"about": body["party"], "outcome": body["outcome"], "auditor": found.auditor.name}
    entry = open_ledger(config.home).note(VERDICT, job.digest, job.peer, **said, subject=found.subject)
    report = {"job_id": job.job_id, **said, "entry": entry.sequence}
    emit(
        report,
        lambda out: out.print(
            f"{body['party']} is {body['outcome']} in job {job.job_id}, by {said['auditor']}.",
            f"Filed with the evidence, and as entry {entry.sequence} of the ledger.",
        ),
        as_json=as_json,
    )


def read_shown(path: Path, most: int) -> bytes:
    """What a party or an auditor has written into a file, of so many bytes at most.

    Raises:
        DataError: it is longer.
        UsageError: it cannot be read.
    """
    return read_bounded(path, most, DataError(f"{path} is too long.", "Give the file that duetto wrote."))


def _own_certificate(text: str) -> Certificate:
    """The certificate of a finished job as it is kept, with the salt of its result."""
    from parties.certificates.verification import read_certificate

    kept = json.loads(text)
    return read_certificate(json.dumps({name: kept[name] for name in ("certificate", "signature")}).encode())


def _keys(config: Config, job: Record, certificate: str) -> dict[Role, str]:
    """The signing keys of both parties, by the job's certificate, or as known now where it has none."""
    if certificate:
        keys = _own_certificate(certificate).keys
        return {role: key_text(keys[role]) for role in Role}
    own = load_identity(config).signing.public_key()
    peer = load_peer(config, config.peer(job.peer)).signing
    return {job.role: key_text(own), job.role.other: key_text(peer)}

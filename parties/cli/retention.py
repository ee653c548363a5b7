"""Commands about the keeping of results: delete them, and find those that lie aside."""

from __future__ import annotations

import re
from pathlib import Path

import click

from parties.cli.options import config_option
from parties.cli.output import emit, json_option, table
from parties.cli.signing import Signing, signing_options
from parties.client import Party
from parties.clock import text
from parties.config import load
from parties.jobs.agreement.decisions import check_named
from parties.jobs.storage.results import ResultFolder
from parties.jobs.storage.store import TRASH
from parties.pki.files import PRIVATE, write_atomically
from smc.errors import UsageError

_DAYS = re.compile(r"([0-9]{1,5})d")


@click.command()
@click.option("--older-than", "age", required=True, metavar="DAYS", help="Such as 90d.")
@signing_options
@config_option
@json_option
def prune(age: str, signing: Signing, config_path: Path | None, as_json: bool) -> None:
    """Delete this party's results of jobs that finished long ago; contracts and certificates stay.

    They lie in the trash for a day (`duetto job aside`), and then are deleted for good; `duetto job forget`
    does so at once.
    """
    days = _DAYS.fullmatch(age)
    if days is None:
        raise UsageError(f"--older-than {age!r} is not a number of days.", "Write it as 90d.")
    with Party(config_path, signing.of(config_path)) as party:
        deleted = party.prune(int(days[1]))
    emit({"deleted": deleted}, lambda out: out.print(f"Deleted results: {deleted}."), as_json=as_json)


@click.command()
@click.argument("job_id")
@signing_options
@config_option
@json_option
def forget(job_id: str, signing: Signing, config_path: Path | None, as_json: bool) -> None:
    """Delete this party's result of a job; its contract and certificate stay.

    JOB_ID is the name of the job or at least its first 8 characters; it fails if several jobs begin so.
    """
    check_named(job_id)
    with Party(config_path, signing.of(config_path)) as party:
        found = party.job(job_id).forget()
    emit(
        found.describe(),
        lambda out: out.print(f"The result of job {found.id} is deleted; contract and certificate are kept."),
        as_json=as_json,
    )


@click.command()
@click.argument("job_id", required=False)
@click.option("-o", "--output", type=click.Path(path_type=Path), help="The file to be written, JSON.")
@config_option
@json_option
def aside(job_id: str | None, output: Path | None, config_path: Path | None, as_json: bool) -> None:
    """List results that are kept and are not those of finished jobs, or write that of JOB_ID to a file.

    Such as were put aside when the database of the jobs was restored from an older copy or lost, or when the
    peer's was; and such as were deleted for their age less than a day ago. Asks no daemon.
    """
    results = ResultFolder(load(config_path).home)
    kept, trash = results.aside(), results.discarded_jobs()
    found = [
        *({"job_id": name, "why": "put aside", "since": text(when)} for name, when in sorted(kept.items())),
        *(
            {"job_id": name, "why": f"deleted for good after {text(when + TRASH)}", "since": text(when)}
            for name, when in sorted(trash.items())
        ),
    ]
    if job_id is None:
        rows = [(one["job_id"], one["why"], one["since"]) for one in found]
        emit(
            {"aside": found}, lambda out: out.print(table("", ("job", "why", "since"), rows)), as_json=as_json
        )
        return
    check_named(job_id)
    names = sorted(name for name in {*kept, *trash} if name.startswith(job_id))
    if output is None or len(names) != 1:
        why = (
            f"{len(names)} results lie aside whose jobs begin with {job_id!r}." if output else "Say where to."
        )
        raise UsageError(why, "List them with `duetto job aside`; write one with `-o FILE`.")
    write_atomically(output, results.read_aside(names[0]).encode() + b"\n", PRIVATE)
    document = {"job_id": names[0], "file": str(output)}
    emit(document, lambda out: out.print(f"The result of job {names[0]} is in {output}."), as_json=as_json)

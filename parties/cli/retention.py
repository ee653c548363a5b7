"""Commands that delete results of jobs; all else of the jobs stays."""

from __future__ import annotations

import re
from pathlib import Path

import click

from parties.cli.options import config_option
from parties.cli.output import emit, json_option
from parties.client import Party
from parties.jobs.decisions import check_named
from smc.errors import UsageError

_DAYS = re.compile(r"([0-9]{1,5})d")


@click.command()
@click.option("--older-than", "age", required=True, metavar="DAYS", help="Such as 90d.")
@config_option
@json_option
def prune(age: str, config_path: Path | None, as_json: bool) -> None:
    """Delete this party's results of jobs that finished long ago; contracts and certificates stay."""
    days = _DAYS.fullmatch(age)
    if days is None:
        raise UsageError(f"--older-than {age!r} is not a number of days.", "Write it as 90d.")
    with Party(config_path) as party:
        deleted = party.prune(int(days[1]))
    emit({"deleted": deleted}, lambda out: out.print(f"Deleted results: {deleted}."), as_json=as_json)


@click.command()
@click.argument("job_id")
@config_option
@json_option
def forget(job_id: str, config_path: Path | None, as_json: bool) -> None:
    """Delete this party's result of a job; its contract and certificate stay.

    JOB_ID is the name of the job or at least its first 8 characters; nothing is done if other jobs begin so.
    """
    check_named(job_id)
    with Party(config_path) as party:
        found = party.job(job_id).forget()
    emit(
        found.describe(),
        lambda out: out.print(f"The result of job {found.id} is deleted; contract and certificate are kept."),
        as_json=as_json,
    )

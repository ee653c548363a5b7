"""Results of jobs on the screen and in files, and what the jobs cost."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any, Final

import click

from parties.cli.grid import Grid
from parties.cli.hints import with_config
from parties.cli.options import config_option
from parties.cli.output import Screen, emit, json_option, talk
from parties.client import Party, Result
from parties.client.spreadsheet import file_names, write_table
from parties.client.words import local_time
from parties.results.tables import show_table
from smc.errors import UsageError
from smc.protocols.against import Against

ROWS_SHOWN: Final = 40
"""Rows of a result table that are printed; `--csv` writes all."""

_LETTERS: Final = 8


@click.command()
@click.argument("job_id")
@click.option(
    "--csv",
    "folder",
    type=click.Path(path_type=Path),
    help="Also write the tables to this folder; texts that look like formulas get an apostrophe.",
)
@click.option(
    "--details",
    is_flag=True,
    help="Also show kind, loss, noise and interval of each query, the cost, and who learned what.",
)
@config_option
@json_option
def result(job_id: str, folder: Path | None, details: bool, config_path: Path | None, as_json: bool) -> None:
    """Print this party's result of a finished job.

    A value stands with half the width of its 95 % interval, `52.41 ± 0.27`, or with the
    interval, `73 [71, 76]`, where it is not in the middle of that. --json gives all figures exactly.
    """
    with Party(config_path) as party:
        found = party.job(job_id)
        got, said = found.result(), found.describe()
    if folder is not None:
        for path in write_csv(got, folder):
            talk(f"wrote {path}")
    print_result(got, as_json=as_json, details=details, job=said)


@click.command()
@click.argument("job_id")
@click.option(
    "-o", "--output", type=click.Path(path_type=Path), required=True, help="The HTML file to be written."
)
@config_option
@json_option
def report(job_id: str, output: Path, config_path: Path | None, as_json: bool) -> None:
    """Write a report of a finished job as one HTML file, for people who were not there.

    It says what was asked and found, with error bars, who learned what, what was spent and is left, what
    the run cost, and what the certificate says. It is as confidential as the result.
    """
    with Party(config_path) as party:
        found = party.job(job_id)
        found.result().report(output)
    document = {"job_id": found.id, "file": str(output)}
    emit(document, lambda out: out.print(f"Written to {output}."), as_json=as_json)


def print_result(
    got: Result, *, as_json: bool, details: bool = False, job: Mapping[str, Any] | None = None
) -> None:
    """Print a result for people, or as JSON.

    Args:
        got: the result.
        as_json: which of the two.
        details: whether people see what each figure cost, what is known of its noise, what the run cost and
            who learned what.
        job: what the daemon says of the job, for the first line; without it there is none.
    """
    document = {
        "job_id": got.job_id,
        "tables": got.tables,
        "notes": list(got.notes),
        "details": got.details,
        "traffic": got.traffic,
        "leakage": got.leakage,
        "salt": got.salt,
    }

    def render(out: Screen) -> None:
        if job is not None:
            out.print(_heading(job, got))
        for name in got.tables:
            table = got.table(name, whole=details)
            one = show_table(table, most=ROWS_SHOWN, details=details, plus_minus=out.plus_minus)
            if not one.rows and any(got.tables[name].values()):
                continue  # all its figures are tables of their own
            heads, numeric = zip(*((head.text, head.is_number) for head in one.heads), strict=True)
            out.print("", Grid(one.name, heads, one.rows, numeric, boxed=False))
            if one.left:
                out.print(f"... {one.left} more rows; --csv DIR writes all.")
        if not got.tables:
            out.print("This party gets no result, as the job says.")
        folded = not details and job is not None and len(got.notes) > _FEW_NOTES
        for note in () if folded else got.notes:
            out.print(f"note: {note}")
        if details:
            print_facts(out, got.traffic | {"leakage": got.leakage})
        elif job is not None:
            short, more = got.job_id[:_LETTERS], _notes(len(got.notes) if folded else 0)
            out.print(
                f"More: --details ({more}losses, cost, who learned what), --csv DIR, or "
                + with_config(f"`duetto job report {short}`")
            )

    emit(document, render, as_json=as_json)


_FEW_NOTES: Final = 2
"""More are told by their number alone, until somebody asks for details."""


def _notes(count: int) -> str:
    return f"{count} note{'s' * (count > 1)} on how to read this, " if count else ""


def _heading(job: Mapping[str, Any], got: Result) -> str:
    loss = got.details.get("epsilon")
    parts = [
        job["title"] or job["analysis"],
        f"with {job['peer']}",
        f"finished {local_time(job['updated'])}",
        *([f"epsilon {loss}"] if loss else []),
    ]
    return ", ".join(parts)


def print_facts(out: Screen, facts: dict[str, Any]) -> None:
    """Print what a run cost, and who learned what; nothing where `facts` are empty."""
    if not facts:
        return
    out.print(f"cost: {_cost_text(facts)}; estimated: {_cost_text(facts['estimate'])}")
    if facts["route"]:
        out.print(f"route: {facts['route']}")
    print_leakage(out, facts["leakage"], "learned")
    if "against" in facts:
        out.print(Against(facts["against"]).means)


def _cost_text(cost: dict[str, Any]) -> str:
    return (
        f"{cost['rounds']} rounds, {cost['sent']} bytes sent, {cost['received']} received, "
        f"{cost.get('total_seconds', cost['seconds']):.2f} s"
    )


def print_leakage(
    out: Screen, leakage: dict[str, list[str]], verb: str, names: Mapping[str, str] | None = None
) -> None:
    """Print who learns what; the verb is such as `learned`, `names` are those of the parties by role."""
    called = names or {"alice": "alice", "bob": "bob"}
    said = {name: "; ".join(leakage[role]) or "nothing" for role, name in called.items()}
    if len({*said.values()}) == 1:
        said = {" and ".join(called.values()): next(iter(said.values()))}
    for who, what in said.items():
        out.print(f"{who} {verb}: {what}")
    out.print(f"public: {'; '.join(leakage['public']) or 'nothing'}")


def write_csv(got: Result, folder: Path) -> list[Path]:
    """Write each table to a file of its own, dates as dates; returns the files.

    Raises:
        UsageError: the folder cannot be written.
    """
    paths = [folder / f"{got.job_id}-{name}.csv" for name in file_names(got.tables)]
    try:
        folder.mkdir(parents=True, exist_ok=True)
        for path, name in zip(paths, got.tables, strict=True):
            table = got.table(name)
            with path.open("w", encoding="utf-8", newline="") as stream:
                write_table(stream, {column: table.cells_of(column) for column in table.columns})
    except OSError as problem:
        raise UsageError(f"{folder} cannot be written: {type(problem).__name__}.", "Name a folder.") from None
    return paths

"""Results of jobs on the screen and in files, and what the jobs cost."""

from __future__ import annotations

from pathlib import Path
from typing import Any, Final

import click

from parties.cli.grid import Grid
from parties.cli.options import config_option
from parties.cli.output import Screen, emit, json_option, talk
from parties.client import Party, Result
from parties.client.spreadsheet import file_names, write_table
from parties.results.tables import show_table
from smc.errors import UsageError

ROWS_SHOWN: Final = 40
"""Rows of a result table that are printed; `--csv` writes all."""


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
    help="Also show the kind of each query, its loss and noise scale, and the ends of intervals.",
)
@config_option
@json_option
def result(job_id: str, folder: Path | None, details: bool, config_path: Path | None, as_json: bool) -> None:
    """Print this party's result of a finished job, with what it cost and who learned what.

    A value stands with half the width of its 95 % interval, `52.41 ± 0.27`, or with the
    interval, `73 [71, 76]`, where it is not in the middle of that. --json gives all figures exactly.
    """
    with Party(config_path) as party:
        got = party.job(job_id).result()
    if folder is not None:
        for path in write_csv(got, folder):
            talk(f"wrote {path}")
    print_result(got, as_json=as_json, details=details)


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


def print_result(got: Result, *, as_json: bool, details: bool = False) -> None:
    """Print a result for people, or as JSON.

    Args:
        got: the result.
        as_json: which of the two.
        details: whether people see what each figure cost, and what is known of its noise.
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
        for name in got.tables:
            one = show_table(got.table(name), most=ROWS_SHOWN, details=details, plus_minus=out.plus_minus)
            heads, numeric = zip(*((head.text, head.is_number) for head in one.heads), strict=True)
            out.print(Grid(one.name, heads, one.rows, numeric))
            if one.left:
                out.print(f"... {one.left} more rows; --csv DIR writes all.")
        if not got.tables:
            out.print("This party gets no result, as the job says.")
        for note in got.notes:
            out.print(f"note: {note}")
        print_facts(out, got.traffic | {"leakage": got.leakage})

    emit(document, render, as_json=as_json)


def print_facts(out: Screen, facts: dict[str, Any]) -> None:
    """Print what a run cost, and who learned what; nothing where `facts` are empty."""
    if not facts:
        return
    out.print(f"cost: {_cost_text(facts)}; estimated: {_cost_text(facts['estimate'])}")
    if facts["route"]:
        out.print(f"route: {facts['route']}")
    print_leakage(out, facts["leakage"], "learned")


def _cost_text(cost: dict[str, Any]) -> str:
    return (
        f"{cost['rounds']} rounds, {cost['sent']} bytes sent, {cost['received']} received, "
        f"{cost.get('total_seconds', cost['seconds']):.2f} s"
    )


def print_leakage(out: Screen, leakage: dict[str, list[str]], verb: str) -> None:
    """Print who learns what; the verb is such as `learned`."""
    said = {who: "; ".join(leakage[who]) or "nothing" for who in ("alice", "bob")}
    if said["alice"] == said["bob"]:
        said = {"alice and bob": said["alice"]}
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
                write_table(stream, {column: table.written(column) for column in table.columns})
    except OSError as problem:
        raise UsageError(f"{folder} cannot be written: {type(problem).__name__}.", "Name a folder.") from None
    return paths

"""Commands about what the party has and allows: data, policy, ledger."""

from __future__ import annotations

from contextlib import closing
from fractions import Fraction
from pathlib import Path
from typing import Any

import click

from parties.catalog.declaration import ColumnDeclaration, load_catalog
from parties.catalog.loading import count_rows
from parties.cli.options import config_option
from parties.cli.output import emit, json_option, table
from parties.client import job_text
from parties.config import Config, load
from parties.errors import REFUSED
from parties.jobs.examination import Examiner
from parties.jobs.manager import open_examiner
from parties.jobs.reports import check_report
from parties.jobs.store import JobStore
from parties.ledger.book import Ledger
from parties.ledger.entries import SPENT


def local_examiner(config: Config) -> Examiner:
    """The own checks without a running daemon: same catalog, policy, ledger and record of runs."""
    path = config.home / "jobs.sqlite"

    def runs(dataset: str, peer: str) -> int:
        if not path.exists():
            return 0
        with closing(JobStore(path)) as store:
            return store.runs(dataset, peer)

    return open_examiner(config, Ledger(config.home / "ledger.jsonl"), runs)


@click.group()
def data() -> None:
    """The data sets of the catalog."""


@data.command(name="list")
@config_option
@json_option
def list_datasets(config_path: Path | None, as_json: bool) -> None:
    """List the declared data sets."""
    datasets = load_catalog(load(config_path).catalog).datasets.values()
    rows = [{"name": d.name, "kind": d.kind, "columns": len(d.columns), "key": list(d.key)} for d in datasets]
    emit(
        {"datasets": rows},
        lambda out: out.print(
            table(
                "",
                ("name", "kind", "columns", "key"),
                [[_cell(value) for value in row.values()] for row in rows],
            )
        ),
        as_json=as_json,
    )


@data.command()
@click.argument("name")
@config_option
@json_option
def describe(name: str, config_path: Path | None, as_json: bool) -> None:
    """Show what is declared of data set NAME: what a peer may know of it."""
    dataset = load_catalog(load(config_path).catalog).dataset(name)
    columns = [_described(column) for column in dataset.columns.values()]
    heads = ("name", "type", "scale", "lower", "upper", "categories", "modulus", "unit")
    emit(
        {"name": name, "kind": dataset.kind, "key": list(dataset.key), "columns": columns},
        lambda out: out.print(table(name, heads, [[_cell(column[h]) for h in heads] for column in columns])),
        as_json=as_json,
    )


@data.command()
@click.argument("name", required=False)
@config_option
@json_option
def check(name: str | None, config_path: Path | None, as_json: bool) -> None:
    """Read data set NAME, or all of them, and check every row."""
    catalog = load_catalog(load(config_path).catalog)
    names = [name] if name else list(catalog.datasets)
    counted = {one: count_rows(catalog.dataset(one)) for one in names}
    emit(
        {"rows": counted},
        lambda out: out.print(table("", ("data set", "rows"), list(counted.items()))),
        as_json=as_json,
    )


@click.group()
def policy() -> None:
    """What the own party allows."""


@policy.command()
@click.argument("file", type=click.Path(path_type=Path))
@config_option
@json_option
def test(file: Path, config_path: Path | None, as_json: bool) -> None:
    """Explain what the policy says to the job in FILE, rule by rule."""
    report = check_report(local_examiner(load(config_path)), job_text(file))
    verdict = report["verdict"]

    def human(out: Any) -> None:
        if verdict["allowed"]:
            how = "a person has to approve it" if verdict["needs_person"] else "nobody has to approve it"
            out.print(f"Allowed by rule {verdict['rule']!r}; {how}.")
        else:
            out.print("Not allowed.")
        for reason in verdict["reasons"]:
            out.print(f"rule {reason['rule']!r}: {reason['what']}. {reason['mend']}", soft_wrap=True)

    emit({"verdict": verdict}, human, as_json=as_json)
    if not verdict["allowed"]:
        raise SystemExit(REFUSED)


@click.group()
def ledger() -> None:
    """The privacy budget that has been spent."""


@ledger.command()
@config_option
@json_option
def show(config_path: Path | None, as_json: bool) -> None:
    """Show what has been spent, by data set and peer."""
    config = load(config_path)
    entries = [entry for entry in _ledger(config).entries() if entry.event == SPENT]
    names_of_jobs = _job_ids(config)
    totals: dict[tuple[str, str], Fraction] = {}
    for entry in entries:
        pair = (entry.dataset, entry.peer)
        totals[pair] = totals.get(pair, Fraction(0)) + entry.loss
    names = ("sequence", "time", "job", "dataset", "peer", "epsilon")
    listed = [
        {name: getattr(entry, name) for name in names} | {"job_id": names_of_jobs.get(entry.job)}
        for entry in entries
    ]
    summed = [{"dataset": d, "peer": p, "epsilon": str(total)} for (d, p), total in totals.items()]

    def human(out: Any) -> None:
        heads = ("time", "job_id", "dataset", "peer", "epsilon")
        out.print(table("spent", heads, [[row[head] for head in heads] for row in listed]))
        out.print(table("in total", ("dataset", "peer", "epsilon"), [list(row.values()) for row in summed]))

    emit({"entries": listed, "totals": summed}, human, as_json=as_json)


@ledger.command()
@config_option
@json_option
def verify(config_path: Path | None, as_json: bool) -> None:
    """Check the chain of the ledger from its beginning."""
    book = _ledger(load(config_path))
    count, head = len(book.entries()), book.head().hex()
    torn = [path.name for path in book.torn]

    def human(out: Any) -> None:
        out.print(f"{count} entries, each the successor of the one before. Head {head[:16]}.", soft_wrap=True)
        if torn:
            out.print(
                f"Pieces that a crash cut off lie in {', '.join(torn)}; they were never in force.",
                soft_wrap=True,
            )

    emit({"entries": count, "head": head, "torn": torn}, human, as_json=as_json)


COMMANDS: tuple[click.Command, ...] = (data, policy, ledger)


def _ledger(config: Config) -> Ledger:
    return Ledger(config.home / "ledger.jsonl")


def _job_ids(config: Config) -> dict[str, str]:
    """The names of the known jobs by the digests of their contracts, in hexadecimal."""
    path = config.home / "jobs.sqlite"
    if not path.exists():
        return {}
    with closing(JobStore(path)) as store:
        return {r.contract.digest.hex(): r.job_id for r in store.all() if r.contract.is_complete}


def _described(column: ColumnDeclaration) -> dict[str, Any]:
    schema = column.schema
    return {
        "name": column.name,
        "type": column.type,
        "scale": schema.scale,
        "lower": schema.lower,
        "upper": schema.upper,
        "categories": list(schema.categories),
        "modulus": schema.modulus,
        "unit": schema.unit,
    }


def _cell(value: Any) -> Any:
    return ", ".join(value) if isinstance(value, list) else value

"""`duetto anonymize releases`: what was released of a table, what it comes to, and what it may come to."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any, ParamSpec, TypeVar

import click

from anonymizer.cli.output import emit, json_option, warn

if TYPE_CHECKING:
    from anonymizer.releases.ledger import History, PastRelease, ReleaseLedger, SourceTable
    from anonymizer.tables.table import Table

P = ParamSpec("P")
R = TypeVar("R")

FILE = click.Path(path_type=Path)


def ledger_option(function: Callable[P, R]) -> Callable[P, R]:
    """Give a command `--ledger`, passed on as `ledger_path`."""
    return click.option(
        "--ledger",
        "ledger_path",
        type=FILE,
        help="Where releases are recorded; else beside DATA. Name the same file for every release of it.",
    )(function)


def ledger_of(data: Path, ledger_path: Path | None) -> ReleaseLedger:
    """The ledger of a table: beside its file, or the one that is asked for."""
    from anonymizer.releases.ledger import ReleaseLedger

    return ReleaseLedger.of(data, ledger_path)


def of_table(data: Path, table: Table, ledger_path: Path | None) -> tuple[ReleaseLedger, SourceTable]:
    """The ledger of a table, and what identifies the table in it.

    Args:
        data: its file.
        table: as it was read, before roles are declared.
        ledger_path: another file than the one beside it, if asked for.
    """
    from anonymizer.releases.ledger import SourceTable
    from anonymizer.tables.contents import digest_of_content

    return ledger_of(data, ledger_path), SourceTable(data.resolve().name, digest_of_content(table))


@click.command("releases")
@click.argument("data", type=FILE)
@click.option("--verify", is_flag=True, help="Also look whether the released files are as they were.")
@click.option("--limit-epsilon", type=float, help="What all releases of DATA may spend.")
@click.option(
    "--limit-delta",
    type=float,
    help="The same of delta; with --limit-epsilon. Else it stays as it is, at first 0.",
)
@click.option(
    "--withdraw", type=int, metavar="N", help="Release N has never left the house, and counts no more."
)
@click.option("--why", default="", help="With --withdraw: the reason.")
@click.option("--delimiter", default="", help="What separates cells of DATA, if it is not a comma.")
@click.option("--encoding", default="", help="The character encoding of DATA, if it is not UTF-8.")
@ledger_option
@json_option
def releases(
    data: Path,
    verify: bool,
    limit_epsilon: float | None,
    limit_delta: float | None,
    withdraw: int | None,
    why: str,
    delimiter: str,
    encoding: str,
    ledger_path: Path | None,
    as_json: bool,
) -> None:
    """List what was released of DATA, and what its releases come to together.

    The records are checked in every case: each carries the hash of the one before.
    """
    if limit_delta is not None and limit_epsilon is None:
        raise click.UsageError("--limit-delta goes with --limit-epsilon.")
    if why and withdraw is None:
        raise click.UsageError("--why goes with --withdraw.")

    from anonymizer.releases.ledger import Limit
    from anonymizer.tables import files
    from anonymizer.tables.dialect import read_dialect

    given = {"delimiter": delimiter, "encoding": encoding}
    dialect = read_dialect({key: value for key, value in given.items() if value}, "releases")
    ledger, source = of_table(data, files.table(data, dialect), ledger_path)
    if limit_epsilon is not None:
        limit = Limit(limit_epsilon, limit_delta or 0.0)
        with ledger.open() as held:
            before = held.history(source).limit
            if before is not None and limit_delta is None:
                limit = Limit(limit_epsilon, before.delta)
            held.limit(source, limit)
    if withdraw is not None:
        with ledger.open() as held:
            held.withdraw(source, withdraw, why)
    history = ledger.history(source)
    values, lines = _list_releases(history, ledger)
    warnings = [*ledger.losses, *ledger.strangers(), *_warnings(history)]
    if verify:
        found, said, wrong = _verify_files(history, ledger)
        values |= found
        lines += said
        warnings += wrong
    emit({"data": str(data), **values, "warnings": warnings}, lines, as_json=as_json)
    warn(tuple(warnings), as_json=as_json)


def _list_releases(history: History, ledger: ReleaseLedger) -> tuple[dict[str, Any], list[str]]:
    spent, limit = history.spent, history.limit
    values: dict[str, Any] = {
        "ledger": str(ledger.path),
        "content": sorted(history.contents),
        "releases": [one.to_document() for one in history.releases],
        "epsilon": spent.epsilon,
        "delta": spent.delta,
        "neighbours": spent.neighbours,
        "without_epsilon": history.unbounded,
        "limit": None if limit is None else {"epsilon": limit.epsilon, "delta": limit.delta},
    }
    most = "no limit is set"
    if limit is not None:
        most = f"at most epsilon {limit.epsilon:.6g} and delta {limit.delta:.6g} are allowed"
    come = f"epsilon {spent.epsilon:.6g} and delta {spent.delta:.6g}" if spent.epsilon else "no epsilon"
    lines = [
        f"{ledger.path}: {len(history.counted):,} releases of this table",
        *map(_line, history.releases),
        f"together {come}; {most}",
    ]
    return values, lines


def _line(one: PastRelease) -> str:
    loss = one.loss
    said = [f"epsilon {loss.epsilon:.6g}, delta {loss.delta:.6g}"] if loss else ["no epsilon"]
    said += [
        f"{promise.kind} {name} = {promise.parameters[name]}"
        for promise in one.guarantees
        for name in ("k", "l", "t")
        if name in promise.parameters
    ]
    end = f"; withdrawn: {one.withdrawn}" if one.withdrawn else ""
    return f"{one.sequence:4}  {one.time}  {one.account or '?'}  {one.output}: {', '.join(said)}{end}"


def _warnings(history: History) -> list[str]:
    if not history.unbounded:
        return []
    rows = f", or promise it of one row of a person ({len(history.of_rows):,})"
    return [
        f"{history.unbounded:,} releases promise no differential privacy"
        f"{rows if history.spent.of_persons and history.of_rows else ''}: what they reveal is in no sum of "
        "epsilon, and an epsilon of others does not cover it."
    ]


def _verify_files(history: History, ledger: ReleaseLedger) -> tuple[dict[str, Any], list[str], list[str]]:
    """Which files of the releases are gone or were changed."""
    from anonymizer.releases.ledger import find_changed
    from anonymizer.releases.manifest import digest

    records = ledger.records()
    head = records[-1].hash if records else ""
    wrong = {
        path: what
        for one in history.counted
        for path, what in find_changed(one, ledger.path.parent, digest).items()
    }
    values = {"records": len(records), "head": head, "files": wrong}
    lines = [
        f"{len(records):,} records, each continues the one before; the last has the hash {head or 'of none'}",
        "keep this hash elsewhere: records that are cut off at the end are not noticed by the file itself",
    ]
    return values, lines, [f"{path} {what}." for path, what in wrong.items()]

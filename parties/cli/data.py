"""Commands about the data sets of the catalog."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Any, Final

import click

from parties.catalog.declarations.declaration import load_catalog
from parties.catalog.loading.checking import beyond_limits, unconfirmed_columns
from parties.catalog.loading.described import dataset_document, dataset_documents
from parties.catalog.loading.survey import Fault
from parties.catalog.reading import Reader
from parties.cli.drafts import add, confirm
from parties.cli.hints import with_config
from parties.cli.options import Listing, config_option
from parties.cli.output import Screen, emit, json_option, listing, table, talk
from parties.config import load
from parties.errors import DataError
from parties.exits import exit_code

_SHOWN: Final = 40
"""Characters of an example cell."""


@click.group(cls=Listing)
def data() -> None:
    """The data sets of the catalog."""


@data.command(name="list")
@config_option
@json_option
def list_datasets(config_path: Path | None, as_json: bool) -> None:
    """List the declared data sets."""
    rows = dataset_documents(load_catalog(load(config_path).catalog))
    heads = ("name", "kind", "columns", "key", "person", "population")
    emit(
        {"datasets": rows},
        lambda out: out.print(table("", heads, [[_cell(value) for value in row.values()] for row in rows])),
        as_json=as_json,
    )


@data.command()
@click.argument("name")
@config_option
@json_option
def describe(name: str, config_path: Path | None, as_json: bool) -> None:
    """Show what is declared of data set NAME; a peer may learn the columns up to their units."""
    document = dataset_document(load_catalog(load(config_path).catalog).dataset(name))
    columns = document["columns"]
    heads = tuple(columns[0])
    rows_are = {key: value for key, value in document.items() if key not in ("name", "columns")}

    def render(out: Any) -> None:
        out.print(table(name, heads, [[_cell(column[h]) for h in heads] for column in columns]))
        for what, value in rows_are.items():
            out.print(f"{what}: {_cell(value) or 'none'}")

    emit(document, render, as_json=as_json)


@data.command()
@click.argument("name", required=False)
@config_option
@json_option
def check(name: str | None, config_path: Path | None, as_json: bool) -> None:
    """Read data set NAME, or all of them; check every row, and count rows, persons and missing cells.

    Of what is not as declared all faults are listed by column, with example cells, which stay at home.
    """
    config = load(config_path)
    catalog, reader = load_catalog(config.catalog), Reader(config.limits)
    names = [name] if name else list(catalog.datasets)
    counted = {}
    errors: dict[str, DataError] = {}
    faults: dict[str, Sequence[Fault]] = {}
    for one in names:
        dataset = catalog.dataset(one)
        found = reader.check(dataset)
        if found.error is not None:
            errors[one], faults[one] = found.error, found.faults
        else:
            counted[one] = {
                **(found.counts or {}),
                "unconfirmed": unconfirmed_columns(dataset),
                "below_limits": beyond_limits(dataset),
            }
    report: dict[str, Any] = {
        "rows": {one: counts["rows"] for one, counts in counted.items()},
        "datasets": counted,
    }
    if errors:
        first = _summary(errors, faults)
        problem = {"code": first.stable_code, "what": first.what, "hint": first.hint}
        shown = {one: [asdict(fault) for fault in listed] for one, listed in faults.items()}
        report |= {"success": False, "error": problem, "faults": shown}
    if as_json or counted or not names:
        emit(report, lambda out: _show_counts(out, counted), as_json=as_json)
    if errors and as_json:
        raise click.exceptions.Exit(exit_code(first))
    for one, listed in faults.items():
        _show_faults(one, listed)
    if errors:
        raise first


def _show_counts(out: Screen, counted: Mapping[str, Mapping[str, Any]]) -> None:
    if not counted:
        out.print(with_config("The catalog declares no data set. Draft one with `duetto data add FILE`."))
        return
    for one, counts in counted.items():
        whole = f"{counts['rows']:,} rows of {counts['persons']:,} persons"
        if counts["left_out"]:
            whole = f"{counts['rows'] + counts['left_out']:,} rows; {whole} lack no declared cell"
        out.print(f"{one} is as declared: {whole}.")
        for what, by_column in (("are skipped", counts["dropped"]), ("get a value", counts["imputed"])):
            rows = [(f"  {column}", count) for column, count in by_column.items()]
            if rows:
                out.print(f"  Rows that {what} by jobs that use the column, since its cell is missing:")
                out.print(listing(("", ""), rows))
        for column, said in counts["below_limits"].items():
            out.print(f"{one}, column {column!r}: {said}")
        if counts["unconfirmed"]:
            out.print(
                with_config(
                    f"{one}: jobs cannot use {', '.join(counts['unconfirmed'])} before bounds and labels are "
                    f"confirmed, with `duetto data confirm {one}`."
                )
            )


def _show_faults(name: str, faults: Sequence[Fault]) -> None:
    """On stderr, a line or two for each fault; examples hold cells and are for this screen only."""
    for fault in faults:
        cells = f" ({fault.count} {'cell' if fault.count == 1 else 'cells'})" if fault.count else ""
        talk(f"{name}, column {fault.column!r}{cells}: {fault.what}.")
        if fault.examples:
            shown = (f"{place}: {cell[:_SHOWN]!r}" if cell else place for place, cell in fault.examples)
            talk(f"  such as {'; '.join(shown)}")
        talk(f"  hint: {fault.hint}")


def _summary(errors: Mapping[str, DataError], faults: Mapping[str, Sequence[Fault]]) -> DataError:
    """The error of one data set; of several, or of several faults, how many there are."""
    one = next(iter(errors))
    if len(errors) == 1 and len(faults[one]) < 2:
        return errors[one]
    if len(errors) == 1:
        count = sum(fault.count for fault in faults[one])
        cells = "1 cell" if count == 1 else f"{count} cells"
        return DataError(
            f"Data set {one!r} is not as declared: {len(faults[one])} kinds of faults in {cells}.",
            "Follow the hints of the faults, then run `duetto data check` again.",
        )
    listed = (f"{name!r}: {error.what} {error.hint}".strip() for name, error in errors.items())
    return DataError(
        f"{len(errors)} data sets are not as declared: {'; '.join(listed)}",
        "Correct each data set or its declaration, and run `duetto data check` again.",
    )


data.add_command(add)
data.add_command(confirm)

COMMANDS: tuple[click.Command, ...] = (data,)


def _cell(value: Any) -> Any:
    if isinstance(value, dict):
        return ", ".join(f"{name} {count}" for name, count in value.items())
    return ", ".join(value) if isinstance(value, list) else value

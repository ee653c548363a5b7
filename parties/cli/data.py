"""Commands about the data sets of the catalog."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import click

from parties.catalog.columns import ColumnDeclaration
from parties.catalog.declaration import load_catalog
from parties.catalog.loading import Loaded
from parties.catalog.loading import load as load_data
from parties.cli.options import config_option
from parties.cli.output import emit, json_option, table
from parties.config import Config, load
from parties.errors import DataError
from parties.jobs.admission import Admission
from parties.jobs.manager import open_admission
from parties.ledger.book import open_ledger


def local_admission(config: Config) -> Admission:
    """The checks of this party without a running daemon: same catalog, policy and ledger."""
    return open_admission(config, open_ledger(config.home))


@click.group()
def data() -> None:
    """The data sets of the catalog."""


@data.command(name="list")
@config_option
@json_option
def list_datasets(config_path: Path | None, as_json: bool) -> None:
    """List the declared data sets."""
    datasets = load_catalog(load(config_path).catalog).datasets.values()
    heads = ("name", "kind", "columns", "key", "person", "population")
    rows = [
        dict(zip(heads, (d.name, d.kind, len(d.columns), [*d.key], [*d.person], d.population), strict=True))
        for d in datasets
    ]
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
    dataset = load_catalog(load(config_path).catalog).dataset(name)
    columns = [_described(column) for column in dataset.columns.values()]
    heads = tuple(columns[0])
    rows_are = {
        "kind": dataset.kind,
        "key": [*dataset.key],
        "person": [*dataset.person],
        "population": dataset.population,
    }

    def human(out: Any) -> None:
        out.print(table(name, heads, [[_cell(column[h]) for h in heads] for column in columns]))
        for what, value in rows_are.items():
            out.print(f"{what}: {_cell(value) or 'none'}")

    emit({"name": name, **rows_are, "columns": columns}, human, as_json=as_json)


@data.command()
@click.argument("name", required=False)
@config_option
@json_option
def check(name: str | None, config_path: Path | None, as_json: bool) -> None:
    """Read data set NAME, or all of them; check every row, and count rows, persons and missing cells.

    Of each data set that is not as declared the first fault is named.
    """
    catalog = load_catalog(load(config_path).catalog)
    names = [name] if name else list(catalog.datasets)
    counted = {}
    faults = {}
    for one in names:
        dataset = catalog.dataset(one)
        try:
            counted[one] = _counts(load_data(dataset, dataset.columns))
        except DataError as fault:
            faults[one] = fault
    heads = ("data set", "rows", "persons", "left_out", "dropped", "imputed")
    rows = {one: counts["rows"] for one, counts in counted.items()}
    if counted and not (faults and as_json):
        emit(
            {"rows": rows, "datasets": counted},
            lambda out: out.print(
                table("", heads, [[one, *map(_cell, c.values())] for one, c in counted.items()])
            ),
            as_json=as_json,
        )
    if len(faults) == 1:
        raise next(iter(faults.values()))
    if faults:
        listed = (f"{one!r}: {fault.what} {fault.hint}".strip() for one, fault in faults.items())
        raise DataError(
            f"{len(faults)} data sets are not as declared: {'; '.join(listed)}",
            "Correct each data set or its declaration, and run `duetto data check` again.",
        )


def _counts(loaded: Loaded) -> dict[str, Any]:
    return {
        "rows": loaded.rows,
        "persons": loaded.people,
        "left_out": loaded.left_out,
        "dropped": {column: count for column, count in loaded.dropped.items() if count},
        "imputed": {column: count for column, count in loaded.imputed.items() if count},
    }


COMMANDS: tuple[click.Command, ...] = (data,)


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
        "missing": column.missing if column.missing != "impute" else f"impute {column.imputed}",
        "constant": column.constant or "",
    }


def _cell(value: Any) -> Any:
    if isinstance(value, dict):
        return ", ".join(f"{name} {count}" for name, count in value.items())
    return ", ".join(value) if isinstance(value, list) else value

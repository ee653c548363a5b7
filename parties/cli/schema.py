"""`duetto schema`: what may stand in the files of this program, for editors."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Final

import click

from commons.settings.reader import schema_of
from commons.settings.shapes import Document
from parties.cli.output import emit, json_option
from parties.pki.files import write_atomically


def _job() -> Document:
    from parties.contracts.spec import JobFile
    from smc.analyses.schemas import parameter_schemas

    rules = [
        {
            "if": {"properties": {"job": {"properties": {"analysis": {"const": name}}}}},
            "then": {"properties": {"parameters": schema}},
        }
        for name, schema in parameter_schemas().items()
    ]
    return {**schema_of(JobFile, "A job of duetto"), "allOf": rules}


def _policy() -> Document:
    from parties.policy.rules import Policy

    return schema_of(Policy, "policy.toml of duetto")


def _persons() -> Document:
    from parties.persons.declaration import Persons

    return schema_of(Persons, "persons.toml of duetto")


def _catalog() -> Document:
    from parties.catalog.declarations.tables import CatalogFile

    return schema_of(CatalogFile, "catalog.toml of duetto")


def _config() -> Document:
    from parties.config import Config

    return schema_of(Config, "duetto.toml")


def _specification() -> Document:
    from anonymizer.pipelines.spec import spec_schema

    return spec_schema()


def _search() -> Document:
    from anonymizer.search.space import space_schema

    return space_schema()


def _series() -> Document:
    from anonymizer.series.specification import series_schema

    return series_schema()


def _sanitization() -> Document:
    from anonymizer.documents.specification import SanitizeFile

    return schema_of(SanitizeFile, "A specification of duetto sanitize")


SCHEMAS: Final[Mapping[str, Callable[[], Document]]] = {
    "job": _job,
    "policy": _policy,
    "persons": _persons,
    "catalog": _catalog,
    "duetto": _config,
    "anonymize": _specification,
    "search": _search,
    "series": _series,
    "sanitize": _sanitization,
}
"""What makes the schema of a kind of file."""


@click.command()
@click.argument("kind", type=click.Choice(list(SCHEMAS)))
@click.option("-o", "--output", type=click.Path(path_type=Path), help="Write the schema to this file.")
@json_option
def schema(kind: str, output: Path | None, as_json: bool) -> None:
    """Print what may stand in a file of KIND, as JSON Schema for editors.

    With `#:schema ./policy.schema.json` as the first line of a TOML file, editors that know JSON Schema
    complete its keys, explain them and mark what is wrong.
    """
    found = SCHEMAS[kind]()
    if output is None:
        emit({"schema": found}, lambda screen: screen.json(found), as_json=as_json)
        return
    write_atomically(output, json.dumps(found, indent=2, ensure_ascii=False).encode() + b"\n")
    emit({"written": str(output)}, lambda screen: screen.print(f"Written to {output}."), as_json=as_json)


COMMANDS: Final = (schema,)

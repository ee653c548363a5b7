"""Commands that help to choose how records of persons are matched; see docs/linkage.md."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import asdict, replace
from pathlib import Path
from typing import Any, Final

import click

from parties.catalog.adding import Asked, drafted
from parties.catalog.declaration import DatasetDeclaration, load_catalog, toml_key
from parties.catalog.loading import load as read
from parties.cli.options import Listing, config_option
from parties.cli.output import Screen, emit, json_option, table, talk
from parties.client.pace import duration
from parties.config import Config, load
from parties.errors import ConfigError
from smc.analyses.matching.suggestion import menu
from smc.analyses.matching.suggestion.errors import MAX_FACTOR, ErrorModel
from smc.analyses.matching.suggestion.roles import guessed
from smc.analyses.matching.suggestion.suggest import (
    MAX_SAMPLE,
    MIN_OVERLAP,
    MIN_ROWS,
    Assumed,
    Quality,
    Suggestion,
    suggest,
)
from smc.analyses.records.normalization import KINDS
from smc.errors import UsageError

_MEGABYTE: Final = 1_000_000


@click.group(cls=Listing)
def matching() -> None:
    """Help to choose how records of persons are matched."""


@matching.command(name="suggest")
@click.argument("source", metavar="FILE|DATASET")
@click.option(
    "--role", "roles", multiple=True, metavar="ROLE=COLUMN", help="What a column is, if not guessed."
)
@click.option("--peer-rows", type=click.IntRange(min=0), default=0, help="Rows of the peer; else as many.")
@click.option(
    "--overlap",
    type=click.FloatRange(MIN_OVERLAP, 1),
    default=0.5,
    show_default=True,
    help="Share of the smaller side's persons whom both have.",
)
@click.option(
    "--errors",
    type=click.FloatRange(0, MAX_FACTOR),
    default=1.0,
    show_default=True,
    help="Multiplies the shares of the error model.",
)
@click.option("--threshold", type=click.Choice(menu.THRESHOLDS), help="State it; else that of the highest F.")
@click.option(
    "--sample",
    type=click.IntRange(MIN_ROWS, MAX_SAMPLE),
    default=100_000,
    show_default=True,
    help="Rows to link at most.",
)
@click.option("--seed", type=int, default=1, show_default=True, help="Of the simulation.")
@click.option(
    "--output", type=click.Path(path_type=Path), help="Write the job file; never over another file."
)
@click.option("--peer", help="The peer in the job file; else the only one that is paired.")
@config_option
@json_option
def suggest_recipe(
    source: str, config_path: Path | None, output: Path | None, peer: str | None, as_json: bool, **given: Any
) -> None:
    """Suggest keys, weights and a threshold for matching the persons of FILE or DATASET.

    The rows are linked in the clear, here, with a copy that has errors by a public model. Nothing is sent.
    """
    dataset, config = _dataset(source, config_path)
    other = ""
    if output is not None:
        other = _peer(config, peer, dataset, source)
        if output.exists():
            raise UsageError(f"{output} exists.", "Choose another name with --output, or remove the file.")
    columns = guessed(
        [name for name, column in dataset.columns.items() if column.schema.kind in KINDS],
        _pairs(given["roles"]),
    )
    talk(f"Reading {', '.join(columns.values())} of {source}.")
    loaded = read(dataset, columns.values())
    assumed = Assumed(
        given["peer_rows"],
        given["overlap"],
        ErrorModel().times(given["errors"]),
        given["sample"],
        given["threshold"] or "",
        given["seed"],
    )
    found = suggest({role: loaded.columns[name] for role, name in columns.items()}, assumed, talk)
    report = _report(found, columns, assumed)
    if output is not None and config is not None:
        with output.open("x", encoding="utf-8") as file:
            file.write(job_file(found.parameters, columns, dataset.name, (config.name, other)))
    report["written"] = str(output) if output else None
    emit(report, lambda out: _show(out, report), as_json=as_json)


def job_file(
    parameters: Mapping[str, Any], columns: Mapping[str, str], dataset: str, parties: tuple[str, str]
) -> str:
    """The job file of a recipe.

    Args:
        parameters: of the suggestion; columns are called by their roles.
        columns: of this party's data set, by role.
        dataset: its name; the peer's is written as if it were called the same, with the same columns.
        parties: this party and its peer.
    """
    used = {one["column"] for one in parameters["fields"]}
    used |= {part.rpartition(":")[0] for key in parameters["blocking"] for part in key}
    listed = ", ".join(f"{role} = {_text(name)}" for role, name in columns.items() if role in used)
    side = f"dataset = {_text(dataset)}\ncolumns = {{ {listed} }}"
    plain = [
        f"{toml_key(name)} = {_value(value)}" for name, value in parameters.items() if name not in _LISTS
    ]
    keys = [f"    {_value(key)}," for key in parameters["blocking"]]
    tables = [
        f"[[parameters.fields]]\ncolumn = {_text(one['column'])}\nweight = {one['weight']}"
        for one in parameters["fields"]
    ]
    lines = [
        "# Suggested by duetto matching suggest. Put the peer's data set and columns below [bob].",
        "[job]",
        'analysis = "matching"',
        'title = "Persons whom both have"',
        f"alice = {_text(parties[0])}",
        f"bob = {_text(parties[1])}",
        'recipients = ["alice", "bob"]',
        f"[alice]\n{side}",
        f"[bob]\n{side}",
        "[parameters]",
        *plain,
        "blocking = [",
        *keys,
        "]",
        *tables,
    ]
    return "\n".join(lines) + "\n"


_LISTS: Final = ("blocking", "fields")


def _text(value: str) -> str:
    return json.dumps(value, ensure_ascii=False)


def _value(value: Any) -> str:
    return json.dumps(value, ensure_ascii=False)


def _dataset(source: str, config_path: Path | None) -> tuple[DatasetDeclaration, Config | None]:
    """The data set of the catalog that is called so, or else the file, with columns as they look."""
    path = Path(source)
    try:
        config = load(config_path)
    except ConfigError:
        if config_path is not None or not path.is_file():
            raise
        config = None
    if config is not None:
        catalog = load_catalog(config.catalog)
        if source in catalog.datasets or not path.is_file():
            return catalog.dataset(source), config
    found = drafted(path.absolute().with_name(".no-catalog.toml"), Asked(source=source)).draft
    columns = {name: one.column for name, one in found.columns.items()}
    return replace(found.dataset, columns=columns, key=(), person=()), config


def _peer(config: Config | None, peer: str | None, dataset: DatasetDeclaration, source: str) -> str:
    """The peer of the job file."""
    if config is None or dataset.name != source:
        raise UsageError(
            f"{source} is not a data set of the catalog, which a job file has to name.",
            f"Add it with `duetto data add {source}`, and give its name instead; or leave out --output.",
        )
    names = [one.name for one in config.peers]
    if peer is None and len(names) != 1:
        raise UsageError(
            f"There are {len(names)} paired peers.", "Name the peer of the job with --peer NAME."
        )
    return peer or names[0]


def _pairs(given: Sequence[str]) -> dict[str, str]:
    found = {}
    for one in given:
        role, sign, column = one.partition("=")
        if not sign:
            raise UsageError(
                f"--role {one!r} is not of the form ROLE=COLUMN.", "Write --role surname=COLUMN."
            )
        found[role] = column
    return found


def _report(found: Suggestion, columns: Mapping[str, str], assumed: Assumed) -> dict[str, Any]:
    return {
        "roles": dict(columns),
        "parameters": dict(found.parameters),
        "expected": _quality(found.expected),
        "thresholds": [_quality(one) for one in found.thresholds],
        "rests_on": {
            "rows": found.rows,
            "linked": list(found.registers),
            "common": found.common,
            "peer_rows": assumed.peer_rows or found.rows,
            "overlap": assumed.overlap,
            "errors": asdict(assumed.errors),
            "seed": assumed.seed,
        },
        "coverage": found.coverage.details,
        "coverage_notes": list(found.coverage.notes),
        "bytes": found.bytes,
        "seconds": round(found.seconds, 3),
    }


def _quality(one: Quality) -> dict[str, Any]:
    figures = {"precision": one.precision, "recall": one.recall, "f": one.f_measure}
    return {
        "threshold": one.threshold,
        "pairs": one.pairs,
        **{name: round(value, 4) for name, value in figures.items()},
    }


def _show(out: Screen, report: Mapping[str, Any]) -> None:
    parameters, expected, rests = report["parameters"], report["expected"], report["rests_on"]
    weights = ", ".join(f"{one['column']} {one['weight']}" for one in parameters["fields"])
    out.print(
        f"Columns: {', '.join(f'{role} = {name}' for role, name in report['roles'].items())}.",
        f"Weights: {weights}. Filters of {parameters['bits']} bits.",
        f"Threshold {parameters['threshold']}, ranks = {parameters['ranks']}.",
        f"Expected: precision {expected['precision']:.4f}, recall {expected['recall']:.4f}, "
        f"F {expected['f']:.4f}.",
        f"This rests on {rests['linked'][0]:,} and {rests['linked'][1]:,} rows of this file, "
        f"{rests['common']:,} in both, the second with errors by the model of docs/linkage.md. "
        "The peer's names and errors may be others, and strangers are more in larger files: "
        "then precision is lower.",
    )
    heads = ("threshold", "precision", "recall", "F")
    out.print(table("", heads, [[one[head.lower()] for head in heads] for one in report["thresholds"]]))
    out.print(*report["coverage_notes"])
    out.print(
        f"A run takes about {report['bytes'] / _MEGABYTE:,.0f} MB in both directions together and "
        f"{duration(report['seconds'])} of computing, without the network."
    )
    out.print(
        f"Written: {report['written']}. Put the peer's columns into it, then: "
        f"duetto job check {report['written']}"
        if report["written"]
        else "No job file was written; --output FILE writes one for a data set of the catalog."
    )


COMMANDS = (matching,)

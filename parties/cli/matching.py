"""Commands that help to choose how records of persons are matched; see docs/linkage.md."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from shlex import quote
from typing import Any, Final

import click

from parties.catalog.recipes import recipe
from parties.cli.hints import with_config
from parties.cli.options import Finite, Listing, config_option
from parties.cli.output import Screen, emit, json_option, table, talk
from parties.client.pace import duration
from parties.config import Config, load
from parties.errors import ConfigError
from smc.analyses.matching.suggestion import menu
from smc.analyses.matching.suggestion.errors import MAX_FACTOR, ErrorModel
from smc.analyses.matching.suggestion.suggest import MAX_SAMPLE, MAX_SEED, MIN_OVERLAP, MIN_ROWS, Assumed
from smc.errors import UsageError
from smc.protocols.exchange.row_counts import MAX_ROWS

_MEGABYTE: Final = 1_000_000


@click.group(cls=Listing)
def matching() -> None:
    """Help to choose how records of persons are matched."""


@matching.command(name="suggest")
@click.argument("source", metavar="FILE|DATASET")
@click.option(
    "--role", "roles", multiple=True, metavar="ROLE=COLUMN", help="What a column is, if not guessed."
)
@click.option("--peer-rows", type=click.IntRange(1, MAX_ROWS), help="Rows of the peer; else as many.")
@click.option(
    "--overlap",
    type=Finite(MIN_OVERLAP, 1),
    default=0.5,
    show_default=True,
    help="Share of the smaller side's persons whom both have.",
)
@click.option(
    "--errors",
    type=Finite(0, MAX_FACTOR),
    default=1.0,
    show_default=True,
    help="Multiplies the shares of the error model.",
)
@click.option("--threshold", type=click.Choice(menu.THRESHOLDS), help="State it; else that of the highest F.")
@click.option(
    "--histogram",
    metavar="EPSILON",
    help="Let the run change the threshold, by a histogram with noise that costs so much.",
)
@click.option(
    "--sample",
    type=click.IntRange(MIN_ROWS, MAX_SAMPLE),
    default=100_000,
    show_default=True,
    help="Rows to link at most.",
)
@click.option(
    "--seed",
    type=click.IntRange(-MAX_SEED, MAX_SEED),
    default=1,
    show_default=True,
    help="Of the simulation.",
)
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
    assumed = Assumed(
        given["peer_rows"] or 0,
        given["overlap"],
        ErrorModel().times(given["errors"]),
        given["sample"],
        given["threshold"] or "",
        given["seed"],
        given["histogram"] or "",
    )
    report = recipe(
        source,
        _config(source, config_path),
        _pairs(given["roles"]),
        assumed,
        output=output,
        peer=peer,
        say=talk,
    )
    emit(report, lambda out: _show(out, report), as_json=as_json)


def _config(source: str, config_path: Path | None) -> Config | None:
    """This party's, or None where none is needed to read a file."""
    try:
        return load(config_path)
    except ConfigError:
        if config_path is not None or not Path(source).is_file():
            raise
        return None


def _pairs(given: Sequence[str]) -> dict[str, str]:
    found = {}
    for one in given:
        role, sign, column = one.partition("=")
        if not sign:
            raise UsageError(
                f"--role {one!r} is not of the form ROLE=COLUMN.", "Write --role surname=COLUMN."
            )
        if role in found:
            raise UsageError(f"--role names {role!r} twice.", "Name one column for each role.")
        found[role] = column
    return found


def _show(out: Screen, report: Mapping[str, Any]) -> None:
    parameters, expected, rests = report["parameters"], report["expected"], report["rests_on"]
    weights = ", ".join(f"{one['column']} {one['weight']}" for one in parameters["fields"])
    out.print(
        f"Columns: {', '.join(f'{role} = {name}' for role, name in report['roles'].items())}.",
        f"Weights: {weights}. Filters of {parameters['bits']} bits.",
        f"Threshold {parameters['threshold']}, ranks = {parameters['ranks']}.",
        *(
            [f"The run changes the threshold by a histogram with noise, for epsilon {chosen['epsilon']}."]
            if (chosen := parameters.get("histogram"))
            else []
        ),
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
        with_config(
            f"Written: {report['written']}. Put the peer's columns into it, then run "
            f"`duetto job check {quote(report['written'])}`."
        )
        if report["written"]
        else "No job file was written; --output FILE writes one for a data set of the catalog."
    )


COMMANDS = (matching,)

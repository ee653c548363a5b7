"""Commands that help to choose how records of persons are matched; see docs/linkage.md."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from shlex import quote
from typing import Any, Final

import click

from parties.catalog.recipes import recipe, splink_model
from parties.cli.hints import with_config
from parties.cli.options import Finite, Listing, config_option
from parties.cli.output import Screen, emit, json_option, table, talk
from parties.client.pace import duration
from parties.config import Config, load
from parties.errors import ConfigError
from parties.results.quality_chart import save_quality_chart
from smc.analyses.matching.suggestion.errors import MAX_FACTOR, ErrorModel
from smc.analyses.matching.suggestion.suggest import (
    LARGEST_SCORE,
    MAX_SAMPLE,
    MAX_SEED,
    MENU,
    MIN_OVERLAP,
    MIN_ROWS,
    MOST_PASSES,
    PASSES,
    RECIPES,
    Assumed,
)
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
@click.option(
    "--recipe",
    "kind",
    type=click.Choice(RECIPES),
    default=MENU,
    show_default=True,
    help="Take passes and weights from the menu, or find them by this file: the peer sees them.",
)
@click.option(
    "--passes",
    type=click.IntRange(1, MOST_PASSES),
    default=PASSES,
    show_default=True,
    help="How many passes the recipe own has.",
)
@click.option(
    "--compare", multiple=True, metavar="ROLE", help="Compare this role, too, besides names, date and place."
)
@click.option(
    "--splink",
    type=click.Path(path_type=Path, dir_okay=False),
    metavar="MODEL",
    help="Take the weights of a trained model of Splink, a JSON file.",
)
@click.option(
    "--least-score",
    type=click.IntRange(-LARGEST_SCORE, LARGEST_SCORE),
    help="State it; else that of the highest F.",
)
@click.option(
    "--histogram",
    metavar="EPSILON",
    help="Let the run change the least score, by a histogram with noise that costs so much.",
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
@click.option(
    "--chart", type=click.Path(path_type=Path), help="Draw precision and recall by least score, as SVG."
)
@click.option("--peer", help="The peer in the job file; else the only one that is paired.")
@config_option
@json_option
def suggest_recipe(
    source: str,
    config_path: Path | None,
    output: Path | None,
    chart: Path | None,
    peer: str | None,
    as_json: bool,
    **given: Any,
) -> None:
    """Suggest passes, weights and a least score for matching the persons of FILE or DATASET.

    The rows are linked in the clear, here, with a copy that has errors by a public model. Nothing is sent.
    """
    assumed = Assumed(
        given["peer_rows"] or 0,
        given["overlap"],
        ErrorModel().times(given["errors"]),
        given["sample"],
        given["least_score"],
        given["seed"],
        given["histogram"] or "",
        given["kind"],
        given["passes"],
        given["compare"],
        splink_model(given["splink"]),
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
    if chart is not None:
        save_quality_chart(report, chart)
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
    out.print(
        f"Columns: {', '.join(f'{role} = {name}' for role, name in report['roles'].items())}.",
        *(f"Pass {number}: {' + '.join(key)}." for number, key in enumerate(parameters["blocking"], 1)),
        f"Least score {parameters['least_score']}, ranks = {parameters['ranks']}.",
        *(
            [f"The run changes the least score by a histogram with noise, for epsilon {chosen['epsilon']}."]
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
    terms = ("column", "weight", "gram", "empty", "rarity")
    out.print(table("", terms, [[one.get(term, "") for term in terms] for one in parameters["fields"]]))
    heads = ("least score", "precision", "recall", "F")
    names = [head.lower().replace(" ", "_") for head in heads]
    out.print(table("", heads, [[one[name] for name in names] for one in report["least_scores"]]))
    tried = [one["least_score"] for one in report["least_scores"]]
    if len(tried) > 1 and expected["least_score"] in (tried[0], tried[-1]) and expected["f"]:
        out.print(
            "F is best at the end of the least scores that were tried: one beyond may be better still. Try "
            "it by --least-score, and look at the columns: persons who cannot be told apart make F rise so."
        )
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

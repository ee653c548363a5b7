"""`duetto query`: estimate a count of the original from a release with small-sum privacy."""

from __future__ import annotations

from pathlib import Path

import click

from anonymizer.cli.output import emit, json_option


@click.command("query")
@click.argument("release", type=click.Path(path_type=Path))
@click.option(
    "--where",
    required=True,
    help="Conditions joined by `and`, such as: diagnosis = flu and age < 40 and city in (Graz, Linz).",
)
@json_option
def query(release: Path, where: str, as_json: bool) -> None:
    """Estimate how many rows of the original fulfil conditions, from a RELEASE that splu-gen has made.

    The size of its decoy groups and the domains of columns come from the manifest.
    """
    from anonymizer.gate.opening import open_release
    from anonymizer.splu.answers import open_published
    from anonymizer.splu.query import parse

    conditions = parse(where)
    table, manifest = open_release(release)
    answers, promise = open_published(table, manifest)
    found = answers.answer(conditions)
    lines = [
        f"about {found.count:,.0f} of {len(table):,} rows; "
        f"95 % interval {found.low:,.0f} to {found.high:,.0f}",
        str(promise),
    ]
    values = {
        "release": str(release),
        "where": where,
        "rows": len(table),
        "count": found.count,
        "interval": [found.low, found.high],
        "confidence": 0.95,
        "rounds": found.rounds,
        "converged": found.converged,
        "gamma": manifest.gamma,
        "guarantee": promise.to_document(),
    }
    if not found.converged:
        lines.append("The iteration has not converged; the count is rough, the interval is not affected.")
    emit(values, lines, as_json=as_json)


COMMANDS = (query,)

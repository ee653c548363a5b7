"""Commands for predictive models; see docs/analyses.md."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from shlex import quote
from typing import Any

import click
import tomli_w

from parties.cli.options import Listing
from parties.cli.output import Screen, emit, json_option
from parties.importing.importing import import_file, parameters_of, write_dataset
from smc.analyses.predictors.form import Forest
from smc.numeric.random import Randomness


@click.group(cls=Listing)
def model() -> None:
    """Predictive models of this party, for scoring."""


@model.command(name="import")
@click.argument("file", type=click.Path(path_type=Path, dir_okay=False))
@click.option(
    "--output",
    type=click.Path(path_type=Path, dir_okay=False),
    required=True,
    help="The CSV file to write; never over another file.",
)
@click.option(
    "--feature",
    "features",
    multiple=True,
    metavar="NAME",
    help="The name of a feature, in their order, where the file has others or none.",
)
@json_option
def import_model_file(file: Path, output: Path, features: tuple[str, ...], as_json: bool) -> None:
    """Read a model of ONNX-ML, LightGBM, XGBoost or PMML out of FILE, and write it as a data set.

    What is printed goes into the [parameters] of a job: the commitment binds to this very model, and hides it
    by a random salt that the data set has. Nothing in the file is run.
    """
    found = import_file(file, Randomness(), features)
    write_dataset(found, output)
    report: dict[str, Any] = {
        "written": str(output),
        "nodes": sum(len(tree.nodes) for tree in found.body.trees) if isinstance(found.body, Forest) else 0,
        "parameters": parameters_of(found),
    }
    emit(report, lambda out: _show(out, report), as_json=as_json)


def _show(out: Screen, report: Mapping[str, Any]) -> None:
    out.print(
        f"Written: {report['written']}. Add it by `duetto data add {quote(report['written'])}`: the column "
        "model is a text, and number is the key.",
        "Of a job, with the ranges of the features as they are:",
        "",
        *tomli_w.dumps({"parameters": report["parameters"]}).splitlines(),
    )


COMMANDS = (model,)

"""`duetto epsilon`: the largest epsilon that keeps a limit of risk, by trials on a stand-in for the data."""

from __future__ import annotations

import filecmp
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from anonymizer.cli.measures import measuring
from anonymizer.cli.output import check_distinct_paths, check_writable, emit, json_option, warn
from anonymizer.cli.workers import cluster_option, open_workers

if TYPE_CHECKING:
    from anonymizer.choosing.choice import Choice, Goal
    from anonymizer.measures.contract.measure import Scale
    from anonymizer.pipelines.spec import Spec

FILE = click.Path(path_type=Path)


def _numbers(context: click.Context, option: click.Parameter, given: str | None) -> tuple[float, ...] | None:
    """Numbers with commas between."""
    if given is None:
        return None
    try:
        return tuple(float(one) for one in given.split(","))
    except ValueError:
        raise click.BadParameter(
            f"{given!r} is not a list such as 0.1,0.5,1,2,5,10.", context, option
        ) from None


@click.command("epsilon")
@click.argument("data", type=FILE)
@click.option("--spec", "spec_path", type=FILE, help="The specification; else DATA's name with .toml.")
@click.option("--risk", required=True, help="The figure of risk to limit, such as voronoi or membership.")
@click.option(
    "--limit",
    required=True,
    type=float,
    help="Of the figure of risk: at the most, or of a distance at the least.",
)
@click.option(
    "--utility", default="variance-error", show_default=True, help="The figure of utility, shown beside it."
)
@click.option(
    "--goal",
    type=click.Choice(["largest", "utility"]),
    default="largest",
    show_default=True,
    help="The largest epsilon within the limit, or the least with the best utility.",
)
@click.option(
    "--on",
    "on_path",
    type=FILE,
    help="Make the trials on this table, public or held out, in place of DATA, which is not read then.",
)
@click.option(
    "--on-data",
    is_flag=True,
    help="Make the trials on DATA itself: the choice tells of them, and epsilon does not cover it.",
)
@click.option("--step", help="The step whose epsilon is chosen, where several have one.")
@click.option("--epsilons", callback=_numbers, help="At least six to try, with commas between.")
@click.option("--repeats", type=click.IntRange(min=2), default=3, show_default=True, help="Releases at each.")
@click.option(
    "--holdout",
    "holdout_path",
    type=FILE,
    help="Rows of the same source that are not in the table of the trials.",
)
@click.option(
    "--scale",
    type=click.Choice(["declared", "original"]),
    default="declared",
    show_default=True,
    help="As of `duetto risk`.",
)
@click.option("-o", "--output", "output_path", type=FILE, help="The specification with the chosen epsilon.")
@click.option("--report", "report_path", type=FILE, help="A report, an HTML file.")
@click.option("--seed", type=int, help="Repeats the draws of measures; releases are always drawn anew.")
@cluster_option
@json_option
def epsilon(
    data: Path,
    spec_path: Path | None,
    risk: str,
    limit: float,
    utility: str,
    goal: Goal,
    on_path: Path | None,
    on_data: bool,
    step: str | None,
    epsilons: tuple[float, ...] | None,
    repeats: int,
    holdout_path: Path | None,
    scale: Scale,
    output_path: Path | None,
    report_path: Path | None,
    seed: int | None,
    cluster: Path | None,
    as_json: bool,
) -> None:
    """Choose epsilon for a release of DATA by trials at several values."""
    spec_path = spec_path or data.with_suffix(".toml")
    check_distinct_paths(data, spec_path, output_path, report_path, on_path, holdout_path)
    check_writable(output_path, report_path)
    if (on_path is None) != on_data:
        raise click.UsageError(
            "Choosing epsilon by trials on the data is itself a release of them, which no epsilon covers. "
            "Give --on with a public or held-out table; or, to accept that, --on-data alone."
        )
    if (
        on_path is not None
        and on_path.exists()
        and data.exists()
        and filecmp.cmp(on_path, data, shallow=False)
    ):
        raise click.UsageError(f"{on_path} holds the same as {data}; say --on-data if this is meant.")

    from anonymizer.choosing.choice import choose
    from anonymizer.choosing.figures import RISKS, UTILITIES
    from anonymizer.choosing.trials import EPSILONS, find_step, run_trials
    from anonymizer.pipelines.spec import THE_DATA
    from anonymizer.pipelines.spec import read as read_spec
    from anonymizer.report.choices import choice_cautions, choice_page, choice_values
    from anonymizer.tables import files

    for word, known, option in ((risk, RISKS, "--risk"), (utility, UTILITIES, "--utility")):
        if word not in known:
            raise click.BadParameter(
                f"{word!r} is not a valid figure; choose one of {', '.join(known)}.", param_hint=option
            )
    spec = read_spec(spec_path)
    source = data if on_path is None else on_path
    table = files.table(source, spec.dialect).declare(spec.roles, spec.hierarchies, spec.schema)
    control = None
    if holdout_path is not None:
        held_out = files.table(holdout_path, spec.dialect)
        control = held_out.declare(spec.roles.among(held_out.names), None, spec.schema.among(held_out.names))
    name = find_step(spec.pipeline(), step)
    with open_workers(cluster) as workers, measuring(as_json=as_json) as on_progress:
        trials = run_trials(
            table,
            spec.pipeline,
            RISKS[risk],
            UTILITIES[utility],
            step=name,
            epsilons=epsilons or EPSILONS,
            repeats=repeats,
            control=control,
            scale=scale,
            seed=seed,
            on_progress=on_progress,
            workers=workers,
        )
    chosen = choose(trials, limit, goal, seed)
    written = spec.with_epsilon(name, chosen.epsilon, THE_DATA if on_path is None else source.name)
    warnings = (written.choice, *choice_cautions(chosen))
    if output_path is not None:
        files.write_text(written.to_toml(), output_path)
    if report_path is not None:
        page = choice_page(chosen, _facts(spec, name, source, len(table)), warnings)
        files.write_text(page, report_path)
    values: dict[str, Any] = {
        "on": str(source),
        "covered": False if on_path is None else None,
        "step": name,
        **choice_values(chosen),
        "output": output_path and str(output_path),
        "report": report_path and str(report_path),
        "warnings": list(warnings),
    }
    emit(values, _lines(chosen, output_path, report_path), as_json=as_json)
    warn(warnings, as_json=as_json)


def _facts(spec: Spec, step: str, source: Path, rows: int) -> list[tuple[str, str]]:
    return [
        ("Specification", spec.title or "without a title"),
        ("Digest (SHA-256)", spec.digest),
        ("Step", step),
        ("Trials on", f"{source.name}, {rows:,} rows"),
    ]


def _lines(chosen: Choice, output_path: Path | None, report_path: Path | None) -> list[str]:
    risk, utility = chosen.trials.risk, chosen.trials.utility
    lines = [
        f"epsilon {chosen.epsilon:.4g}",
        f"{risk.title}: {chosen.risk[0]:.4g} expected, {chosen.risk[1]:.4g} at the worst of twenty releases; "
        f"limit {chosen.limit:.4g}",
        f"{utility.title}: {chosen.utility:.4g} expected",
        chosen.story,
    ]
    if output_path is not None:
        lines.append(f"{output_path}: the specification with this epsilon")
    if report_path is not None:
        lines.append(f"{report_path}: the report")
    return lines


COMMANDS = (epsilon,)

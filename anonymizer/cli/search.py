"""`duetto search`: the parameters with the highest utility within a limit of risk."""

from __future__ import annotations

from contextlib import nullcontext
from fractions import Fraction
from pathlib import Path
from typing import TYPE_CHECKING

import click

from anonymizer.cli.output import check_distinct_paths, check_writable, emit, json_option, warn
from anonymizer.cli.workers import cluster_option, open_workers

if TYPE_CHECKING:
    from anonymizer.pipelines.spec import Spec
    from anonymizer.search.search import SearchResult

FILE = click.Path(path_type=Path)


def _risk(context: click.Context, option: click.Parameter, given: str) -> float:
    """A risk in [0, 1], written 0.1 or 1/10."""
    try:
        number = float(Fraction(given))
    except (ValueError, ZeroDivisionError):
        raise click.BadParameter(f"{given!r} is not a number such as 0.1 or 1/10.", context, option) from None
    if not 0 <= number <= 1:
        raise click.BadParameter(f"{given!r} lies outside 0 to 1.", context, option)
    return number


@click.command("search")
@click.argument("data", type=FILE)
@click.option(
    "--spec", "spec_path", type=FILE, required=True, help="A specification with ranges, a TOML file."
)
@click.option("--limit", required=True, callback=_risk, help="The highest risk allowed, such as 1/10.")
@click.option("--average", is_flag=True, help="Limit the mean risk over the records, not the worst case.")
@click.option("--target", help="Utility is how well models learn to predict this column; else fidelity.")
@click.option(
    "--model",
    type=click.Choice(["svm", "logistic", "mlp", "forest", "boosting"]),
    default="logistic",
    show_default=True,
    help="The model for --target.",
)
@click.option(
    "--strategy",
    type=click.Choice(["grid", "bayes"]),
    default="grid",
    show_default=True,
    help="All combinations of the points, or Bayesian search.",
)
@click.option("--trials", type=click.IntRange(min=1), default=50, show_default=True, help="For bayes.")
@click.option(
    "--repetitions", type=click.IntRange(min=1), default=1, show_default=True, help="Releases a trial."
)
@click.option("-o", "--output", "output_path", type=FILE, help="The best specification, a TOML file.")
@click.option("--report", "report_path", type=FILE, help="A report with the risk-utility map, an HTML file.")
@click.option("--seed", type=int, help="Makes the search repeatable.")
@cluster_option
@json_option
def search(
    data: Path,
    spec_path: Path,
    limit: float,
    average: bool,
    target: str | None,
    model: str,
    strategy: str,
    trials: int,
    repetitions: int,
    output_path: Path | None,
    report_path: Path | None,
    seed: int | None,
    cluster: Path | None,
    as_json: bool,
) -> None:
    """Search the parameters of a specification for DATA that keep most utility within a limit of risk."""
    check_distinct_paths(data, spec_path, output_path, report_path)
    check_writable(output_path, report_path)

    from anonymizer.report.plain import search_values
    from anonymizer.report.searching import SearchStory, search_page
    from anonymizer.search.measure import ReleaseMeasure
    from anonymizer.search.search import progress_bar
    from anonymizer.search.search import search as run
    from anonymizer.search.space import SearchSpace
    from anonymizer.tables import files
    from anonymizer.utility.objectives import Learning, fidelity

    space = SearchSpace.read(spec_path)
    table = files.table(data, space.dialect)
    utility = fidelity if target is None else Learning(table, target=target, model=model, random_state=seed)
    measure = ReleaseMeasure(space, table, utility, repetitions, average, seed)
    with open_workers(cluster) as workers, nullcontext() if as_json else progress_bar() as on_progress:
        result = run(
            space,
            measure,
            limit,
            strategy=strategy,
            trials=trials,
            on_progress=on_progress,
            random_state=seed,
            workers=workers,
        )
    risk_words = "the mean over the records" if average else "of the worst record (attack simulator)"
    utility_words = (
        "1 - mean Hellinger distance of the quasi-identifiers"
        if target is None
        else f"ratio of F-measures for {target} ({model})"
    )
    if report_path is not None:
        facts = [
            ("Specification", spec_path.name),
            ("Free parameters", ", ".join(space.free)),
            ("Strategy", f"{strategy}, {len(result.trials)} trials, releases for each: {repetitions}"),
            ("Risk", risk_words),
            ("Utility", utility_words),
            ("Randomness", "of the operating system" if seed is None else f"from seed {seed}"),
        ]
        story = SearchStory(
            "Risk and utility of a specification", data.name, facts, risk_words, utility_words
        )
        files.write_text(search_page(story, result), report_path)
    best = result.best
    spec = space.spec(best.point)
    if output_path is not None:
        files.write_text(spec.to_toml(), output_path)
    warnings = _cautions(spec, result.limit, len(table))
    values = search_values(result)
    chosen = {"parameters": dict(best.point), "risk": best.risk, "utility": best.utility}
    emit(
        {
            **values,
            "best": chosen,
            "output": output_path and str(output_path),
            "warnings": list(warnings),
        },
        _lines(result, output_path, report_path),
        as_json=as_json,
    )
    warn(warnings, as_json=as_json)


def _cautions(spec: Spec, limit: float, rows: int) -> tuple[str, ...]:
    from anonymizer.measures.risk.simulator import MIN_RECORDS, PAIRS

    warnings = []
    if spec.pipeline().is_random:
        warnings.append(
            f"These steps draw at random: a release by the same parameters may have a risk above "
            f"{limit:.4g}. Look at its report; more --repetitions make the figures steadier."
        )
    most = max(MIN_RECORDS, PAIRS // max(1, rows))
    if most < rows:
        warnings.append(
            f"The attack simulator looked for about {most:,} of {rows:,} records at each trial, drawn at "
            "random: among the others there may be a worse case."
        )
    return tuple(warnings)


def _lines(result: SearchResult, output_path: Path | None, report_path: Path | None) -> list[str]:
    best = result.best
    allowed = sum(1 for one in result.trials if not one.problem and one.risk <= result.limit)
    lines = [f"{len(result.trials)} trials, {allowed} within the limit {result.limit:.4g}; on the front:"]
    marked = zip(result.trials, result.front, strict=True)
    front = [one for one, on_it in marked if on_it or one is best]
    for one in sorted(front, key=lambda trial: trial.risk):
        point = ", ".join(f"{name} = {value}" for name, value in one.point.items())
        mark = "*" if one is best else " "
        lines.append(f"{mark} risk {one.risk:.4g}  utility {one.utility:.4g}  {point}")
    if output_path is not None:
        lines.append(f"{output_path}: the specification of the best (*)")
    if report_path is not None:
        lines.append(f"{report_path}: the report")
    return lines


COMMANDS = (search,)

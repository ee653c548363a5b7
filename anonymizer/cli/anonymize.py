"""`duetto anonymize`: make a release by a specification, and a report on it."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from anonymizer.cli.output import apart, emit, json_option, places, warn

if TYPE_CHECKING:
    from anonymizer.pipelines.pipeline import Pipeline
    from anonymizer.pipelines.spec import Spec
    from anonymizer.report.assessment import Assessment
    from anonymizer.tables.table import Table

FILE = click.Path(path_type=Path)


@click.command("anonymize")
@click.argument("data", type=FILE)
@click.option("--spec", "spec_path", type=FILE, required=True, help="The specification, a TOML file.")
@click.option(
    "-o", "--output", "output_path", type=FILE, required=True, help="The release: .csv or .parquet."
)
@click.option("--report", "report_path", type=FILE, help="A report on risk and utility, an HTML file.")
@click.option("--target", help="For the report: measure how well models learn to predict this column.")
@click.option(
    "--model",
    type=click.Choice(["svm", "logistic", "forest", "boosting"]),
    default="logistic",
    show_default=True,
    help="The model for --target.",
)
@click.option("--attacks", is_flag=True, help="For the report: run the three attacks.")
@click.option("--control", "control_path", type=FILE, help="Rows that are not released, for --attacks.")
@click.option("--seed", type=int, help="Makes the release repeatable, and less safe; for trials.")
@click.option(
    "--chunk-rows",
    type=click.IntRange(min=1),
    help="Read and write so many rows at a time; for steps that work row by row.",
)
@json_option
def anonymize(
    data: Path,
    spec_path: Path,
    output_path: Path,
    report_path: Path | None,
    target: str | None,
    model: str,
    attacks: bool,
    control_path: Path | None,
    seed: int | None,
    chunk_rows: int | None,
    as_json: bool,
) -> None:
    """Make a release of DATA (.csv, .csv.gz or .parquet) by a specification."""
    apart(data, spec_path, output_path, report_path, control_path)
    places(output_path, report_path)
    if report_path is None and (target or attacks or control_path):
        raise click.UsageError("--target, --attacks and --control are for the report; add --report.")
    if control_path is not None and not attacks:
        raise click.UsageError("--control is for the attacks; add --attacks.")
    if chunk_rows is not None:
        if report_path is not None or seed is not None:
            raise click.UsageError(
                "By chunks nothing is drawn and no report is made: leave --seed and --report out."
            )
        _by_chunks(data, spec_path, output_path, chunk_rows, as_json=as_json)
        return

    from anonymizer.pipelines.spec import read as read_spec
    from anonymizer.report.assessment import Question, assess
    from anonymizer.report.cautions import cautions
    from anonymizer.report.plain import risk_values, utility_values
    from anonymizer.search.measure import Learning
    from anonymizer.tables import files
    from anonymizer.tables.table import Table

    spec = read_spec(spec_path)
    original = Table.of(files.read(data), spec.roles, spec.hierarchies)
    pipeline = spec.pipeline(seed)
    release = pipeline.release(original)
    second = _second_tables(pipeline, output_path)
    apart(data, spec_path, output_path, report_path, *second)
    assessment = None
    if report_path is not None:
        utility = target and Learning(original, target=target, model=model, random_state=seed)
        question = Question(
            attacks=attacks, control=_control(control_path, spec), utility=utility or None, seed=seed
        )
        assessment = assess(original, release, pipeline, question)
    warnings = cautions(original, release, assessment, pipeline, seed)
    done, lines = _told(data, output_path, spec, len(original), len(release), release.names)
    done |= {"seed": seed, "k": None, "second": [str(place) for place in second]}
    if release.roles.quasi_identifiers:
        from anonymizer.risk.classes import class_risk

        done["k"] = class_risk(release).k
        lines.append(f"k = {done['k']}: the smallest class of rows alike has so many rows")
    page = "" if assessment is None else _page(data, output_path, spec, assessment, warnings, seed)
    for place, table in second.items():
        files.write(table, place)
        lines.append(f"{place}: the sensitive values by group")
    files.write(release.native, output_path)
    if report_path is not None and assessment is not None:
        files.write_text(page, report_path)
        if assessment.simulation is not None:
            worst, mean = assessment.simulation.risk, assessment.simulation.risks.mean()
            lines.append(f"risk of the worst record {worst:.4g}, {mean:.4g} in the mean (attack simulator)")
        lines.append(f"{report_path}: the report")
        done |= {"report": str(report_path), "risk": risk_values(assessment)}
        done |= {"utility": utility_values(assessment)}
    emit(done | {"warnings": list(warnings)}, lines, as_json=as_json)
    warn(warnings, as_json=as_json)


def _by_chunks(data: Path, spec_path: Path, output_path: Path, rows: int, *, as_json: bool) -> None:
    from anonymizer.pipelines.spec import read as read_spec
    from anonymizer.pipelines.streaming import stream

    spec = read_spec(spec_path)
    done = stream(spec, data, output_path, rows)
    warnings = ("By chunks no risk is measured. Make a report on a part of the rows, or with `duetto risk`.",)
    told, lines = _told(data, output_path, spec, done.rows, done.released, done.columns)
    emit(told | {"warnings": list(warnings)}, lines, as_json=as_json)
    warn(warnings, as_json=as_json)


def _told(
    data: Path, output_path: Path, spec: Spec, rows: int, released: int, columns: tuple[str, ...]
) -> tuple[dict[str, Any], list[str]]:
    """What was done, as JSON values and as lines."""
    values = {
        "data": str(data),
        "output": str(output_path),
        "digest": spec.digest,
        "rows": rows,
        "released": released,
        "columns": list(columns),
    }
    lines = [
        f"{output_path}: {released:,} of {rows:,} rows, {len(columns)} columns",
        f"specification {spec.digest}",
    ]
    return values, lines


def _control(path: Path | None, spec: Spec) -> Table | None:
    from anonymizer.tables import files
    from anonymizer.tables.table import Table

    if path is None:
        return None
    frame = files.read(path)
    return Table.of(frame, spec.roles.among(frame.columns), spec.hierarchies)


def _page(
    data: Path,
    output_path: Path,
    spec: Spec,
    assessment: Assessment,
    warnings: tuple[str, ...],
    seed: int | None,
) -> str:
    from anonymizer.report.page import ReleaseStory, release_page

    roles = spec.roles
    facts = [
        ("Specification", spec.title or "without a title"),
        ("Digest (SHA-256)", spec.digest),
        ("Identifiers, taken out", ", ".join(roles.identifiers) or "none"),
        ("Quasi-identifiers", ", ".join(roles.quasi_identifiers) or "none"),
        ("Sensitive", ", ".join(roles.sensitive) or "none"),
        ("Hierarchies for", ", ".join(spec.hierarchies) or "no column"),
        ("Rows released", f"{assessment.released:,} of {assessment.rows:,}"),
        ("Randomness", "of the operating system" if seed is None else f"from seed {seed}"),
    ]
    story = ReleaseStory(
        title=spec.title or "Report on a release",
        original_name=data.name,
        release_name=output_path.name,
        facts=facts,
        steps=spec.steps,
        cautions=warnings,
    )
    return release_page(story, assessment)


def _second_tables(pipeline: Pipeline, output_path: Path) -> dict[Path, Any]:
    """Tables that steps release beside the main one, by the files they go to."""
    stem, dot, endings = output_path.name.partition(".")
    tables = [getattr(method, "sensitive_table_", None) for _, method in pipeline.steps]
    found = [table for table in tables if table is not None]
    names = [f"{stem}-sensitive{number or ''}{dot}{endings}" for number in range(len(found))]
    return {output_path.with_name(name): table for name, table in zip(names, found, strict=True)}


COMMANDS = (anonymize,)

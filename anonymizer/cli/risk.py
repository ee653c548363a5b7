"""`duetto risk`: the risk of any release, however it was made."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from anonymizer.cli.measures import measure_options, measuring
from anonymizer.cli.output import check_distinct_paths, check_writable, emit, json_option, warn

if TYPE_CHECKING:
    from anonymizer.measures.contract.measure import Scale
    from anonymizer.pipelines.spec import Spec
    from anonymizer.report.assessment import Assessment
    from anonymizer.tables.roles import Roles
    from anonymizer.tables.table import Table

FILE = click.Path(path_type=Path)


@click.command("risk")
@click.argument("original", type=FILE)
@click.argument("released", metavar="RELEASE...", type=FILE, nargs=-1, required=True)
@click.option(
    "--roles",
    "roles_path",
    type=FILE,
    required=True,
    help="Roles of the columns, and hierarchies if there are any: a TOML file, or a specification.",
)
@click.option(
    "--population",
    "population_path",
    type=FILE,
    help="All people, as they were collected or in the form of the release.",
)
@click.option(
    "--fraction",
    type=click.FloatRange(0, 1, min_open=True),
    help="Released rows by population, to estimate uniqueness.",
)
@click.option("--attacks", is_flag=True, help="Run singling out, linkability and inference.")
@measure_options
@click.option("--report", "report_path", type=FILE, help="A report, an HTML file.")
@click.option("--seed", type=int, help="Makes the attacks repeatable.")
@json_option
def risk(
    original: Path,
    released: tuple[Path, ...],
    roles_path: Path,
    population_path: Path | None,
    fraction: float | None,
    attacks: bool,
    control_path: Path | None,
    measures: tuple[str, ...] | None,
    without: tuple[str, ...] | None,
    weights: str | None,
    households: str | None,
    scale: Scale,
    report_path: Path | None,
    seed: int | None,
    as_json: bool,
) -> None:
    """Measure the risk and the information loss of RELEASE, which was made of ORIGINAL.

    With several releases of ORIGINAL the first is measured, and what is left of each to somebody who has
    all of them.
    """
    check_distinct_paths(report_path, roles_path)
    check_distinct_paths(*released)
    check_writable(report_path)
    release, *before_it = released
    for path in (original, *released, population_path, control_path):
        if report_path is not None and path is not None:
            check_distinct_paths(report_path, path)

    from anonymizer.gate.container import inspect_container
    from anonymizer.gate.finding import sentences
    from anonymizer.gate.looks import inspect
    from anonymizer.gate.opening import further
    from anonymizer.report.assessment import Question, assess
    from anonymizer.report.cautions import cautions
    from anonymizer.risk.covering import ReleasedRows
    from anonymizer.tables import files

    spec = _read_declarations(roles_path)
    before = files.table(original, spec.dialect).declare(spec.roles, spec.hierarchies, spec.schema)
    after = _among(files.table(release, spec.dialect), spec)
    question = Question(
        population=None
        if population_path is None
        else _among(files.table(population_path, spec.dialect), spec),
        fraction=fraction,
        attacks=attacks,
        control=None if control_path is None else _among(files.table(control_path, spec.dialect), spec),
        weights=weights,
        households=households,
        scale=scale,
        measures=measures,
        without=without or (),
        extra=further(release, spec.dialect),
        others=tuple(
            ReleasedRows.of(
                path.name, files.table(path, spec.dialect), spec.roles, further(path, spec.dialect)
            )
            for path in before_it
        ),
        seed=seed,
    )
    with measuring(as_json=as_json) as progress:
        assessment = assess(before, after, None, question, progress)
    findings = (*inspect_container(release), *inspect(before, after))
    warnings = (*sentences(findings), *cautions(before, after, assessment))
    if before.persons is not None and before.persons.repeat and after.persons is None:
        warnings = (
            "Persons have several rows, and the release does not say whose its rows are: neither its classes "
            "nor the risks by them were measured. `duetto anonymize --report` knows.",
            *warnings,
        )
    missing = [name for name in spec.roles.quasi_identifiers if name not in after.names]
    if missing:
        warnings = (f"The release lacks the quasi-identifiers {', '.join(missing)}.", *warnings)
    if report_path is not None:
        files.write_text(_page(original, release, spec.roles, assessment, warnings), report_path)
    data: dict[str, Any] = {
        "original": str(original),
        "release": str(release),
        "rows": assessment.rows,
        "released": assessment.released,
        **assessment.values,
        "findings": [one.to_json() for one in findings],
        "warnings": list(warnings),
        "report": None if report_path is None else str(report_path),
    }
    lines = _lines(assessment)
    if report_path is not None:
        lines.append(f"{report_path}: the report")
    emit(data, lines, as_json=as_json)
    warn(warnings, as_json=as_json)


def _among(table: Table, spec: Spec) -> Table:
    """A table with the roles and declarations of those columns that it has."""
    return table.declare(spec.roles.among(table.names), None, spec.schema.among(table.names))


def _read_declarations(path: Path) -> Spec:
    """Roles and hierarchies: a specification without steps is one that takes the identifiers out."""
    from anonymizer.pipelines.spec import parse
    from anonymizer.schema.documents import document_of

    document = document_of(path)
    if not {"roles", "steps", "hierarchies", "csv"} & set(document):
        document = {"roles": document}
    return parse({"steps": [{"method": "drop-identifiers"}], **document}, path.parent, path.name)


def _lines(found: Assessment) -> list[str]:
    lines = [("rows", f"{found.released:,} of {found.rows:,}"), *found.lines]
    return [f"{name:18} {text}" for name, text in lines]


def _page(
    original: Path, release: Path, roles: Roles, assessment: Assessment, warnings: tuple[str, ...]
) -> str:
    from anonymizer.report.page import ReleaseStory, release_page

    facts = [
        ("How the release was made", "not known: the attack simulator needs the specification"),
        ("Quasi-identifiers", ", ".join(roles.quasi_identifiers) or "none"),
        ("Sensitive", ", ".join(roles.sensitive) or "none"),
    ]
    story = ReleaseStory(
        title="Risk of a release",
        original_name=original.name,
        release_name=release.name,
        facts=facts,
        steps=(),
        cautions=warnings,
    )
    return release_page(story, assessment)


COMMANDS = (risk,)

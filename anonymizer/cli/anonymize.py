"""`duetto anonymize`: make a release by a specification, and a report on it."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import click
from typing_extensions import override

from anonymizer.cli.frequencies import frequencies
from anonymizer.cli.init import init
from anonymizer.cli.measures import measure_options, measuring
from anonymizer.cli.output import check_distinct_paths, check_writable, emit, json_option, warn
from anonymizer.cli.pages import Telling, check_asked, page_options
from anonymizer.cli.records import RecordsShown, record_options
from anonymizer.cli.releases import ledger_of, ledger_option, of_table, releases
from anonymizer.cli.undo import redo, undo

if TYPE_CHECKING:
    from anonymizer.measures.contract.measure import Scale
    from anonymizer.pipelines.pipeline import Pipeline
    from anonymizer.pipelines.spec import Spec
    from anonymizer.releases.release import Release
    from anonymizer.report.assessment import Assessment, Question
    from anonymizer.tables.table import Table

FILE = click.Path(path_type=Path)

MIN_CHUNK = 100
"""Rows of a chunk below which shuffling within chunks hides little."""


class _WithWords(click.Command):
    """The command, with words of its own in the place of the data, such as `init`."""

    @override
    def make_context(
        self, info_name: str | None, args: list[str], parent: click.Context | None = None, **extra: Any
    ) -> click.Context:
        for other in (init, frequencies, undo, redo, releases):
            if args[:1] == [other.name]:
                return other.make_context(f"{info_name} {other.name}", args[1:], parent, **extra)
        return super().make_context(info_name, args, parent, **extra)


@click.command("anonymize", cls=_WithWords)
@click.argument("data", type=FILE)
@click.option("--spec", "spec_path", type=FILE, required=True, help="The specification, a TOML file.")
@click.option(
    "-o", "--output", "output_path", type=FILE, required=True, help="The release: .csv or .parquet."
)
@page_options
@record_options
@click.option("--target", help="For the report: measure how well models learn to predict this column.")
@click.option(
    "--model",
    type=click.Choice(["svm", "logistic", "mlp", "forest", "boosting"]),
    default="logistic",
    show_default=True,
    help="The model for --target.",
)
@click.option("--attacks", is_flag=True, help="For the report: run the three attacks.")
@click.option("--keep-order", is_flag=True, help="Do not shuffle the rows; tells who is who by lists.")
@measure_options
@click.option("--seed", type=int, help="Makes the release repeatable, and less safe; for trials.")
@click.option(
    "--chunk-rows",
    type=click.IntRange(min=1),
    help="Read and write so many rows at a time, 100 or more; for steps that work row by row.",
)
@ledger_option
@json_option
def anonymize(
    data: Path,
    spec_path: Path,
    output_path: Path,
    report_path: Path | None,
    summary_path: Path | None,
    made_by: str,
    records_path: Path | None,
    top: int | None,
    target: str | None,
    model: str,
    attacks: bool,
    control_path: Path | None,
    keep_order: bool,
    measures: tuple[str, ...] | None,
    without: tuple[str, ...] | None,
    weights: str | None,
    households: str | None,
    scale: Scale,
    seed: int | None,
    chunk_rows: int | None,
    ledger_path: Path | None,
    as_json: bool,
) -> None:
    """Make a release of DATA (.csv, .csv.gz, .parquet or .xlsx) by a specification.

    For a first specification run `duetto anonymize init DATA`. Every release is recorded beside its table;
    `duetto anonymize releases DATA` lists what was released of it.
    """
    check_distinct_paths(data, spec_path, output_path, report_path, summary_path, records_path, control_path)
    check_writable(output_path, report_path, summary_path)
    records = RecordsShown(records_path, top)
    records.check(data, output_path)
    asked = (target, attacks, control_path, measures, without, weights, households, scale != "declared")
    told = {path: what for path, what in ((report_path, "the report"), (summary_path, "to sign")) if path}
    check_asked(any(asked) or bool(made_by), told=bool(told))
    if chunk_rows is not None:
        _check_chunks(chunk_rows, seed, told=bool(told or records), keep_order=keep_order)
        _by_chunks(
            data, spec_path, output_path, chunk_rows, ledger_path, keep_order=keep_order, as_json=as_json
        )
        return

    from anonymizer.gate.gate import Gate, beside, manifest_path
    from anonymizer.gate.mentions import few_mentions
    from anonymizer.gate.recording import Recording
    from anonymizer.pipelines.spec import read as read_spec
    from anonymizer.report.assessment import Question
    from anonymizer.report.cautions import of_release
    from anonymizer.tables import files
    from anonymizer.utility.objectives import Learning

    spec = read_spec(spec_path)
    table = files.table(data, spec.dialect)
    ledger, source = of_table(data, table, ledger_path)
    original = table.declare(spec.roles, spec.hierarchies, spec.schema)
    pipeline = spec.pipeline(seed)
    with ledger.open() as held:
        recording = Recording.of(held, source)
        recording.check(pipeline.declared_loss)
        made = pipeline.release(original)
        recording, release = recording.beside(made, spec.dialect, seed), made.table
        looked = records.measure(original, release, pipeline)
        second = [beside(output_path, word) for word in made.extra]
        check_distinct_paths(
            data,
            spec_path,
            output_path,
            *told,
            records_path,
            manifest_path(output_path),
            ledger.path,
            *second,
        )
        question = Question(
            attacks=attacks,
            control=_control(control_path, spec),
            utility=Learning(original, target=target, model=model, random_state=seed) if target else None,
            weights=weights,
            households=households,
            scale=scale,
            measures=measures,
            without=without or (),
            joint=recording.intersection,
            seed=seed,
        )
        assessment = _assess(original, release, pipeline, question, as_json=as_json) if told else None
        gate = Gate(keep_order=keep_order, accept=spec.accept, dialect=spec.dialect, seed=seed)
        warnings = (
            *gate.warnings,
            *of_release(made, table),
            *_cautions(spec, original, release, assessment, pipeline, seed, output_path),
            *few_mentions(original, release, made.origin),
            *files.formulas(release, output_path),
            *recording.warnings,
            *ledger.losses,
            *ledger.strangers(output_path),
        )
        done, lines = _summary(data, output_path, spec, len(original), len(release), release.names)
        done |= {"seed": seed, "second": [str(place) for place in second], **_of_release(made)}
        lines += [*_changes(made, done["k"]), *recording.lines]
        telling = Telling(data, output_path, spec, pipeline, made, assessment, warnings, seed, made_by)
        manifest = gate.write(made, output_path, telling.pages(report_path, summary_path), recording).manifest
    done |= {
        "manifest": str(manifest_path(output_path)),
        "order": manifest.order,
        "ledger": str(ledger.path),
        "together": dict(manifest.together),
    }
    lines += [
        *(f"{place}: the sensitive values by group" for place in second),
        f"{manifest_path(output_path)}: the manifest",
        f"{ledger.path}: the record of this release, and of those before",
    ]
    if assessment is not None:
        measured, said = _format_measures(assessment)
        done |= {"report": report_path, "summary": summary_path, **measured}
        lines += [*said, *(f"{path}: {what}" for path, what in told.items())]
    shown, said = records.show(looked)
    emit(done | shown | {"warnings": list(warnings)}, [*lines, *said], as_json=as_json)
    warn(warnings, as_json=as_json)


def _check_chunks(rows: int, seed: int | None, *, told: bool, keep_order: bool) -> None:
    """Refuse what cannot be done by chunks.

    Raises:
        UsageError: an option that chunks do not go with.
    """
    if told or seed is not None:
        raise click.UsageError(
            "By chunks nothing is drawn and no report is made: leave out --seed, --report, --summary, "
            "--records and --top."
        )
    if rows < MIN_CHUNK and not keep_order:
        raise click.UsageError(
            f"Rows are shuffled within chunks only, and chunks of {rows} leave them nearly in the "
            f"order of the original: take {MIN_CHUNK} or more, or add --keep-order if it may be known."
        )


def _assess(
    original: Table, release: Table, pipeline: Pipeline, question: Question, *, as_json: bool
) -> Assessment:
    from anonymizer.report.assessment import assess

    with measuring(as_json=as_json) as progress:
        return assess(original, release, pipeline, question, progress)


def _cautions(
    spec: Spec,
    original: Table,
    release: Table,
    assessment: Assessment | None,
    pipeline: Pipeline,
    seed: int | None,
    output: Path,
) -> tuple[str, ...]:
    from anonymizer.gate.wording import persons_in_wording
    from anonymizer.report.cautions import cautions

    found = cautions(original, release, assessment, pipeline, seed)
    return (*found, *persons_in_wording(spec, original, output))


def _of_release(made: Release) -> dict[str, Any]:
    """What was changed and what is promised, as JSON values."""
    from anonymizer.risk.class_risk import class_risk

    return {
        "k": class_risk(made.table).k if made.table.roles.quasi_identifiers else None,
        "changed": dict(made.changed),
        "guarantees": [one.to_document() for one in made.guarantees],
    }


def _changes(made: Release, k: int | None) -> list[str]:
    """k, what is promised, and how many cells of which columns differ from the original."""
    changed = {name: count for name, count in made.changed.items() if name in made.table.names}
    named = ", ".join(f"{name} {count:,}" for name, count in changed.items())
    kept = len(made.table.names) - len(changed)
    counted = "rows" if made.table.persons is None else "persons"
    return [
        *([] if k is None else [f"k = {k}: the smallest class of rows alike has this many {counted}"]),
        *(f"promised: {one}" for one in made.guarantees),
        f"cells changed: {named or 'none'}; columns released as they are: {kept} of {len(made.table.names)}",
    ]


def _format_measures(assessment: Assessment) -> tuple[dict[str, Any], list[str]]:
    """What was measured for a report, as JSON values and as lines."""
    looked = assessment.stories.get("simulator")
    return dict(assessment.values), [f"{name}: {text}" for name, text in looked.lines] if looked else []


def _by_chunks(
    data: Path,
    spec_path: Path,
    output_path: Path,
    rows: int,
    ledger_path: Path | None,
    *,
    keep_order: bool,
    as_json: bool,
) -> None:
    from anonymizer.gate.gate import Gate, manifest_path
    from anonymizer.gate.streaming import stream
    from anonymizer.pipelines.spec import read as read_spec
    from anonymizer.report.cautions import of_names
    from anonymizer.tables import files

    spec = read_spec(spec_path)
    files.regular(data)
    ledger = ledger_of(data, ledger_path)
    check_distinct_paths(data, spec_path, output_path, manifest_path(output_path), ledger.path)
    gate = Gate(keep_order=keep_order, accept=spec.accept)
    strangers = ledger.strangers(output_path)
    with ledger.open() as held:
        done = stream(spec, data, output_path, rows, gate, held)
    warnings = (
        *done.warnings,
        *ledger.losses,
        *strangers,
        *of_names(spec.roles, spec.hierarchies, done.names, done.columns),
        "By chunks no risk is measured. Make a report on a part of the rows, or with `duetto risk`.",
        "Rows are shuffled within chunks only: in which part of the file a person is stays visible.",
    )
    summary, lines = _summary(data, output_path, spec, done.rows, done.released, done.columns)
    summary |= {"manifest": str(manifest_path(output_path)), "order": done.manifest.order}
    lines.append(f"{manifest_path(output_path)}: the manifest")
    emit(summary | {"warnings": list(warnings)}, lines, as_json=as_json)
    warn(warnings, as_json=as_json)


def _summary(
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

    if path is None:
        return None
    table = files.table(path, spec.dialect)
    return table.declare(spec.roles.among(table.names), spec.hierarchies, spec.schema.among(table.names))


COMMANDS = (anonymize,)

"""`duetto audit`: how much epsilon runs of the whole command prove, whatever the specification claims."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from anonymizer.cli.measures import measuring
from anonymizer.cli.output import check_distinct_paths, emit, json_option, warn
from commons.exits import BAD_DATA

if TYPE_CHECKING:
    from anonymizer.audit.audit import Audit, AuditedClaim, Auditor, OnProgress, Plan
    from anonymizer.pipelines.spec import Spec

FILE = click.Path(path_type=Path)


@click.command("audit")
@click.argument("data", type=FILE)
@click.option("--spec", "spec_path", type=FILE, required=True, help="The specification, a TOML file.")
@click.option("--runs", type=int, default=2000, show_default=True, help="On each of two neighbouring tables.")
@click.option(
    "--search", type=int, default=24, show_default=True, help="Runs on each table of all pairs of neighbours."
)
@click.option("--pairs", type=click.IntRange(min=1), help="Look at so many pairs only, for each claim.")
@click.option(
    "--confidence",
    type=click.FloatRange(min=0.5, max=1, min_open=True, max_open=True),
    default=0.999,
    show_default=True,
    help="Of all bounds together.",
)
@click.option(
    "--rows",
    type=click.IntRange(min=2),
    default=12,
    show_default=True,
    help="Take so many rows of DATA; more if the specification needs them.",
)
@click.option("--keep-order", is_flag=True, help="Audit the command with this option.")
@click.option("--seed", type=int, help="Refused: every run has to draw anew.")
@json_option
def audit(
    data: Path,
    spec_path: Path,
    runs: int,
    search: int,
    pairs: int | None,
    confidence: float,
    rows: int,
    keep_order: bool,
    seed: int | None,
    as_json: bool,
) -> None:
    """Run the release of DATA on neighbouring tables, and bound its real epsilon from below.

    Exit status 65 if a claim of the specification is refuted, and if no run was released.
    """
    check_distinct_paths(data, spec_path)
    if seed is not None:
        raise click.UsageError(
            "An audit has to draw anew in every run, and with a seed all are the same: leave --seed out."
        )

    from anonymizer.audit.audit import Plan, story
    from anonymizer.pipelines.spec import read as read_spec

    plan = Plan(runs, search, pairs, 1 - confidence)
    spec = read_spec(spec_path)
    with _auditor(data, spec, rows, plan, keep_order=keep_order, as_json=as_json) as (auditor, used):
        found = auditor.audit()
    warnings = _warnings(found)
    values: dict[str, Any] = {
        "data": str(data),
        "digest": spec.digest,
        "rows": used,
        "refuted": bool(found.refuted),
        "claims": [_document(one) for one in found.findings],
        "refused": list(found.refused),
        "pairs": found.pairs,
        "runs": found.runs,
        "confidence": confidence,
        "warnings": list(warnings),
    }
    lines = [
        *story(found.findings),
        f"{found.runs:,} runs of the whole command on tables of {used:,} rows; {found.pairs:,} pairs",
    ]
    emit(values, lines, as_json=as_json)
    warn(warnings, as_json=as_json)
    if found.refuted:
        sys.exit(BAD_DATA)


@contextmanager
def _auditor(
    data: Path, spec: Spec, rows: int, plan: Plan, *, keep_order: bool, as_json: bool
) -> Iterator[tuple[Auditor, int]]:
    """The auditor, and how many rows it takes."""
    from anonymizer.audit.audit import Auditor
    from anonymizer.audit.command import Command, workplace
    from anonymizer.audit.neighbours import enough
    from anonymizer.tables import files

    whole = files.table(data, spec.dialect).frame.to_polars()
    ending = ".parquet" if data.name.lower().endswith(".parquet") else ".csv"
    command = Command.of(spec, keep_order=keep_order, ending=ending)
    with workplace() as folder, measuring(as_json=as_json) as on_progress:
        neighbours = enough(spec, whole, rows, folder, ending, command.release)
        yield Auditor(command, neighbours, folder, plan, _seldom(on_progress)), len(neighbours.base)


def _seldom(on_progress: OnProgress | None) -> OnProgress:
    """The progress of every tenth run."""

    def tenth(done: int, total: int, title: str) -> None:
        if on_progress is not None and done % 10 == 0:
            on_progress(done, total, title)

    return tenth


def _document(one: AuditedClaim) -> dict[str, Any]:
    """A finding as JSON values."""
    return {
        "claim": one.claim.to_document(),
        "epsilon": one.claim.number("epsilon"),
        "delta": one.claim.number("delta"),
        "at_least": one.loss,
        "largest_that_could_be_shown": one.most,
        "confidence": 1 - one.wrong,
        "within_condition": one.within,
        "refuted": one.refuted,
        "neighbours": one.pair,
        "event": one.event,
        "hits": list(one.hits),
        "runs": one.runs,
    }


def _warnings(found: Audit) -> tuple[str, ...]:
    """What the figures do not say."""
    warnings = ["An audit that refutes nothing proves nothing: other neighbours or events may tell more."]
    warnings += [
        f"So few runs show a loss of {one.most:.3g} at the most, so that epsilon "
        f"{one.claim.number('epsilon'):.3g} cannot be refuted: raise --runs."
        for one in found.findings
        if one.within and one.most <= one.claim.number("epsilon")
    ]
    if found.refused:
        warnings.append(
            f"{len(found.refused):,} pairs are told apart by a refusal, which no epsilon covers, such as: "
            f"{found.refused[0]}"
        )
    return tuple(warnings)


COMMANDS = (audit,)

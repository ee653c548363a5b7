"""`duetto series`: release a log of users, items and times as matrices by windows."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, Any

import click

from anonymizer.cli.measures import measuring
from anonymizer.cli.output import check_distinct_paths, check_writable, emit, json_option, warn

if TYPE_CHECKING:
    from anonymizer.series.attacks import Linked
    from anonymizer.series.released import Released, SeriesMeasures
    from anonymizer.series.specification import SeriesSpec

FILE = click.Path(path_type=Path)


@click.command("series")
@click.argument("log", type=FILE)
@click.option("--spec", "spec_path", type=FILE, required=True, help="The specification, a TOML file.")
@click.option(
    "-o",
    "--output",
    "output_path",
    type=FILE,
    required=True,
    help="The release: .csv or .parquet; of several windows one file each, out-1.csv, out-2.csv, ...",
)
@click.option("--attacks", is_flag=True, help="Attack the release, and measure what it is good for.")
@click.option("--report", "report_path", type=FILE, help="A report with the attacks, an HTML file.")
@click.option("--seed", type=int, help="Makes the release repeatable, and less safe; for trials.")
@json_option
def series(
    log: Path,
    spec_path: Path,
    output_path: Path,
    attacks: bool,
    report_path: Path | None,
    seed: int | None,
    as_json: bool,
) -> None:
    """Release LOG (.csv, .csv.gz or .parquet) as a matrix of users and items for each window.

    Rows are users, in another random order in each window and without names.
    """
    check_distinct_paths(log, spec_path, output_path, report_path)
    check_writable(output_path, report_path)

    from anonymizer.gate.gate import Gate, manifest_path
    from anonymizer.report.series import series_cautions, series_page
    from anonymizer.series.released import Released, measure
    from anonymizer.series.specification import read_series
    from anonymizer.tables import files

    files.kind(output_path)
    spec = read_series(spec_path)
    table = files.table(log, spec.dialect)
    matrices = spec.matrices(table)
    outputs = _outputs(output_path, len(matrices))
    manifests = [manifest_path(place) for place in outputs]
    check_distinct_paths(log, spec_path, report_path, *outputs, *manifests)
    check_writable(*outputs)
    found = None
    with measuring(as_json=as_json) as on_progress:
        made = []
        for number, matrix in enumerate(matrices):
            if on_progress is not None:
                on_progress(number, len(matrices), f"window {number + 1}")
            made.append(Released.of(spec, matrix, number, seed))
        if attacks or report_path is not None:
            found = measure(spec, made, seed, on_progress)
    warnings = series_cautions(spec, made, found, seed)
    page = {}
    if report_path is not None and found is not None:
        text = series_page(spec, log.name, made, found, warnings, seed)
        page = {report_path: lambda _: text}
    # a seed must not give both windows one order of rows: place by place it would link their users
    gates = [
        Gate(accept=spec.accept, dialect=spec.dialect, seed=None if seed is None else seed + number)
        for number in range(len(made))
    ]
    releases = [one.release for one in made]
    if len(made) > 1:
        with TemporaryDirectory() as folder:
            for gate, release, place in zip(gates, releases, outputs, strict=True):
                gate.write(release, Path(folder) / place.name)
    for number, (gate, release, place) in enumerate(zip(gates, releases, outputs, strict=True)):
        passed = gate.write(release, place, page if number == len(made) - 1 else {})
        warnings = tuple(dict.fromkeys((*passed.warnings, *warnings)))
    values = _values(spec, log, made, outputs, manifests, found)
    values |= {"seed": seed, "report": report_path and str(report_path), "warnings": list(warnings)}
    lines = [f"specification {spec.digest}", *_lines(made, outputs, found)]
    if report_path is not None:
        lines.append(f"{report_path}: the report")
    emit(values, lines, as_json=as_json)
    warn(warnings, as_json=as_json)


def _outputs(path: Path, windows: int) -> list[Path]:
    """The files of the windows; one alone has the name that was given."""
    if windows == 1:
        return [path]
    stem, dot, endings = path.name.partition(".")
    return [path.with_name(f"{stem}-{number}{dot}{endings}") for number in range(1, windows + 1)]


def _values(
    spec: SeriesSpec,
    log: Path,
    made: Sequence[Released],
    outputs: Sequence[Path],
    manifests: Sequence[Path],
    found: SeriesMeasures | None,
) -> dict[str, Any]:
    from anonymizer.series.released import attack_values, useful_values

    windows = []
    for number, (one, place, manifest) in enumerate(zip(made, outputs, manifests, strict=True)):
        value: dict[str, Any] = {
            "window": str(one.matrix.window),
            "output": str(place),
            "manifest": str(manifest),
            "users": len(one.matrix),
            "released": len(one.users),
            "items": len(one.matrix.items),
            "guarantees": [each.to_document() for each in one.release.guarantees],
        }
        if found is not None:
            value["re-identification"] = attack_values(found.reidentified[number])
        if found is not None and found.useful:
            value["usefulness"] = useful_values(found.useful[number])
        windows.append(value)
    values: dict[str, Any] = {"log": str(log), "digest": spec.digest, "windows": windows}
    if found is not None:
        values["linkage"] = [
            {"windows": [number, number + 1], "pseudonyms": attack_values(one), "release": attack_values(two)}
            for number, (one, two) in enumerate(zip(found.pseudonyms, found.linked, strict=True), 1)
        ]
        values["skipped"] = list(found.skipped)
    return values


def _lines(made: Sequence[Released], outputs: Sequence[Path], found: SeriesMeasures | None) -> list[str]:
    lines = []
    for number, (one, place) in enumerate(zip(made, outputs, strict=True)):
        lines.append(
            f"{place}: {len(one.users):,} of {len(one.matrix):,} users, {len(one.matrix.items):,} items, "
            f"{one.matrix.window}"
        )
        lines += [f"  promised: {each.kind}, k = {each.number('k'):g}" for each in one.release.guarantees]
        if found is not None:
            lines.append(f"  re-identified: {describe_attack(found.reidentified[number])}")
        if found is not None and found.useful:
            lines.append(f"  usefulness: {found.useful[number].ratio:.3f} of the original's F-measure")
    if found is not None:
        for number, (one_, two) in enumerate(zip(found.pseudonyms, found.linked, strict=True), 1):
            lines.append(
                f"windows {number} and {number + 1} linked: {describe_attack(two)}; "
                f"with pseudonyms only {describe_attack(one_)}"
            )
    return lines


def describe_attack(one: Linked) -> str:
    """An attack in a line."""
    low, high = one.attack.main.interval(one.attack.level)
    control = one.attack.control
    base = "" if control is None else f", control {control.value:.1%}"
    return f"{one.risk:.1%} ({low:.1%} to {high:.1%}){base}"


COMMANDS = (series,)

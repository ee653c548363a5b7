"""Checks of what a method says of itself: traits, promises, and what it tells the attack simulator."""

from __future__ import annotations

import re
from typing import get_type_hints

import numpy as np

from anonymizer.errors import AnonymizerError, ConformanceError
from anonymizer.methods.contract.method import Method
from anonymizer.pipelines.parameters import describe_type, fits
from anonymizer.pipelines.pipeline import Pipeline
from anonymizer.releases.manifest import Manifest
from anonymizer.risk.candidates import exactly
from anonymizer.risk.simulator import simulate_attack
from anonymizer.tables.table import Table
from anonymizer.testing.demands import Make, demand, expect_refusal, is_synthetic, release_frame
from anonymizer.testing.people import ROLES, everyone, people


def name_and_traits_are_stated(make: Make) -> None:
    """The class has a name for specifications, states every trait, and has a description."""
    kind = type(make())
    demand(
        bool(re.fullmatch(r"[a-z][a-z0-9-]*", getattr(kind, "name", ""))),
        f"{kind.__name__} has no name, or one that does not suit specifications.",
        'Write name = "rounding": small letters, digits and hyphens.',
    )
    silent = kind.undeclared_traits()
    demand(
        not silent,
        f"{kind.__name__} does not say whether it has these traits: {', '.join(silent)}.",
        "State each in the class; their meaning is described in `Method`.",
    )
    demand(
        bool((kind.__doc__ or "").strip()),
        f"{kind.__name__} has no description.",
        "Write a docstring; reports show its first line.",
    )


def parameters_can_be_written(make: Make) -> None:
    """Each parameter has a type hint that specifications are checked by, and its own default fits it."""
    method = make()
    hints = get_type_hints(type(method).__init__)
    for key, value in method.get_params(deep=False).items():
        demand(key in hints, f"Parameter {key!r} has no type hint.", "Write one in the constructor.")
        demand(
            bool(describe_type(hints[key])),
            f"The type of parameter {key!r} cannot be said.",
            "Use plain types.",
        )
        demand(
            fits(value, hints[key]), f"Parameter {key!r} does not fit its type hint.", "Correct one of them."
        )


def traits_are_true(make: Make) -> None:
    """What can be seen of the traits is so: chance, kept rows, kept classes, row by row."""
    method, original = make(), everyone()
    first = method.fit_transform_table(original)
    if not method.random:
        again = make().fit_transform_table(original)
        demand(bool(first.native.equals(again.native)), "Two runs differ.", "Say random = True.")
    if method.keeps_rows:
        demand(len(first) == len(original), "Rows are lost.", "Say keeps_rows = False.")
    if method.keeps_classes:
        for name in sorted(set(first.names) & set(original.names)):
            before, after = original.codes(name).codes[method.origin_], first.codes(name).codes
            pairs = set(zip(before.tolist(), after.tolist(), strict=True))
            demand(
                len(pairs) == len(set(before.tolist())),
                f"Cells of column {name!r} that were alike differ.",
                "Say keeps_classes = False.",
            )
    if method.works_by_rows(original):
        alone = [method.transform_table(original.take(np.array([row]))) for row in range(len(original))]
        cells = [_cells(one) for one in alone if len(one)]
        demand(
            [row for one in cells for row in one] == _cells(first),
            "A row alone becomes something else than among the others.",
            "Let `provenance` say that it depends on all rows.",
        )


def _cells(table: Table) -> list[tuple[str, ...]]:
    columns = [[str(cell) for cell in table.native[name]] for name in table.names]
    return list(zip(*columns, strict=True))


def releases_say_what_they_are(make: Make) -> None:
    """Rows, origins, changed columns, further tables and the manifest agree with each other."""
    method, original = make(), everyone()
    release = method.release(original)
    demand(
        release.manifest.rows == len(release) == len(release.table),
        "The manifest counts other rows than the release has.",
        "Do not override `release`.",
    )
    demand(
        Manifest.from_json(release.manifest.to_json()) == release.manifest,
        "The manifest cannot be read back as it was written.",
        "Promise numbers and texts only.",
    )
    if release.origin is None:
        _rows_of_nobody(method, original)
        return
    origin = release.origin.tolist()
    demand(
        len(set(origin)) == len(release) and all(0 <= one < len(original) for one in origin),
        "Two rows stem from one row of the original, or from none.",
        "Use `Table.take` and `Table.replace`.",
    )
    if method.keeps_rows:
        demand(sorted(origin) == list(range(len(original))), "Rows are lost.", "Say keeps_rows = False.")
    for word, table in release.extra.items():
        demand(
            len(table) > 0 and not set(table.names) & set(ROLES.identifiers),
            f"The further table {word!r} is empty or has identifiers.",
            "Leave identifiers out.",
        )
    for name in release.table.names:
        if name in original.names and name not in release.changed:
            demand(
                _texts(release.table, name) == [_texts(original, name)[row] for row in origin],
                f"Cells of column {name!r} changed, and the release does not say so.",
                "Use `Table.replace`.",
            )


def _texts(table: Table, name: str) -> list[str]:
    codes = table.codes(name)
    return [str(codes.values[code]) if code >= 0 else "" for code in codes.codes.tolist()]


def _rows_of_nobody(method: Method, original: Table) -> None:
    release = method.release(original)
    demand(
        set(release.changed) == set(original.names),
        "Rows are of nobody, and some columns are said to be unchanged.",
        "Do not override `transform_table`.",
    )
    in_pipeline = Pipeline(steps=[("one", method)]).release(original)
    demand(in_pipeline.origin is None, "In a pipeline its rows are those of somebody.", "Make a new table.")
    expect_refusal(
        lambda: simulate_attack(original, method.fit_transform_table(original), method),
        "",
        "The attack simulator takes rows of nobody for those of the original.",
        "Make a new table, not one that is taken of the original.",
    )


def promised_classes_are_there(make: Make) -> None:
    """A promise of k-anonymity holds in what was released, and who makes classes promises something."""
    method = make()
    release = method.release(everyone())
    for one in release.guarantees:
        if one.kind == "k-anonymity":
            cells = [_texts(release.table, name) for name in one.columns]
            rows: dict[tuple[str, ...], int] = {}
            for row in zip(*cells, strict=True):
                rows[row] = rows.get(row, 0) + 1
            demand(
                min(rows.values()) >= one.number("k") >= 2,
                f"{one} is promised, and a class has {min(rows.values())} rows.",
                "Correct the method or its promise.",
            )
    if method.makes_classes:
        demand(bool(release.guarantees), "It makes classes and promises nothing.", "Say what of them.")


def simulator_reaches_the_release(make: Make) -> None:
    """What was released is among the candidates that the method tells the attack simulator.

    A method without `simulate` passes: then no risk is computed of its releases.
    """
    method = make()
    simulate = getattr(method, "simulate", None)
    if simulate is None or is_synthetic(make, people()):
        return
    frame = people()
    out = release_frame(method, frame)
    for column in ROLES.quasi_identifiers:
        table = Table.of(frame)
        codes, cells = table.codes(column), Table.of(out).codes(column)
        candidates = simulate(column, exactly(codes.values, numeric=table.is_numeric(column)))
        high, low = candidates.holds(cells.values)
        demand(
            bool((low | ~high).all()),
            f"Of column {column!r} values have high confidence that have not even low confidence.",
            "Let `low` contain `high`.",
        )
        if not low[codes.codes[method.origin_], cells.codes].all():
            raise ConformanceError(
                f"Column {column!r} has released cells that `simulate` does not give: its risk is too low.",
                "Let `simulate` give every value that a cell can become.",
            )


def attack_simulator_runs_or_refuses(make: Make) -> None:
    """The attack simulator computes a risk between 0 and 1, or refuses in words."""
    method, original = make(), everyone()
    release = method.fit_transform_table(original)
    try:
        found = simulate_attack(original, release, method, rate=method.sampling_rate)
    except AnonymizerError as error:
        demand(bool(error.hint), "The attack simulator refuses without a hint.", "Say how to fix it.")
        return
    demand(0 <= found.risk <= 1, f"The risk is {found.risk}.", "Correct `simulate` and `sampling_rate`.")

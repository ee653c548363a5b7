"""All that is looked at in files that were written and read back."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Final

import numpy as np
from numpy.typing import NDArray

from anonymizer.gate.container import inspect_container
from anonymizer.gate.finding import Finding
from anonymizer.gate.looks import inspect
from anonymizer.gate.promises import find_broken
from anonymizer.gate.synthetic import of_synthetic
from anonymizer.gate.types import find_mistyped
from anonymizer.releases.release import Release
from anonymizer.tables import files
from anonymizer.tables.table import Table
from commons.tabular.dialect import Dialect

Int = NDArray[np.int64]

ALTERED: Final = Finding(
    "altered",
    None,
    "The file read back has other rows or columns than the release.",
    "Report this as a defect, and release nothing of it.",
)


def findings(
    release: Release, places: Mapping[Path, Path], origin: Int | None, dialect: Dialect, *, ordered: bool
) -> Iterator[Finding]:
    """All findings about the files in a staging folder, the main table first."""
    original = release.original
    if original is None:
        return
    yield from of_roles(original)
    yield from of_steps(release)
    main, *others = places.values()
    read = declared_as(release, files.table(main, dialect))
    if len(read) != len(release) or read.names != release.table.names:
        yield ALTERED
        return
    for place in places.values():
        yield from inspect_container(place)
    yield from of_cells(release, read, origin, ordered=ordered)
    extra = {
        word: declared_as(release, files.table(place, dialect))
        for word, place in zip(release.extra, others, strict=True)
    }
    for word, table in extra.items():
        for name in set(table.names) & set(original.roles.identifiers):
            yield Finding("identifier", name, f"The identifier {name} is in table {word}.", "Take it out.")
    yield from find_broken(release, read, extra, origin)


def of_cells(release: Release, read: Table, origin: Int | None, *, ordered: bool) -> Iterator[Finding]:
    """Findings about a table as it was read back, beside its original."""
    original = release.original
    if original is not None and release.is_synthetic:
        added = [name for step in release.steps for name in step.adds]
        yield from of_synthetic(original, read, added)
    elif original is not None:
        kept = [name for name in original.names if name in read.names and name not in release.changed]
        added = [name for step in release.steps for name in step.adds]
        treated = {name for step in release.steps for name in step.columns}
        noised = {name for one in release.guarantees if "epsilon" in one.parameters for name in one.columns}
        yield from find_mistyped(read, original.schema, release.changed, noised)
        yield from inspect(
            original, read, origin=origin, kept=kept, added=added, treated=treated, ordered=ordered
        )


def declared_as(release: Release, read: Table) -> Table:
    """A table as it was read back, with the roles and declarations of its columns.

    Of columns that a step has changed nothing is declared: labels may stand where numbers were.
    """
    original = release.original or release.table
    kept = [name for name in read.names if release.is_synthetic or name not in release.changed]
    return read.declare(original.roles.among(read.names), schema=original.schema.among(kept))


def of_roles(original: Table) -> Iterator[Finding]:
    """Whether anything says what an attacker may know."""
    if not original.roles.quasi_identifiers:
        yield Finding(
            "roles",
            None,
            "No quasi-identifiers are declared, so that nothing says what an attacker may know.",
            "Name them below [roles], such as age and postcode.",
        )


def of_steps(release: Release, lost: int = 0) -> Iterator[Finding]:
    """Steps that have done nothing and promised nothing that is measured, or more than they should.

    Args:
        release: with its steps.
        lost: rows that were taken out and are not among what the steps have lost, of whole chunks.
    """
    promised = {one.method for one in (*release.guarantees, *(one for one, _ in release.broken))}
    original = release.original or release.table
    named = set(original.roles.identifiers)
    idle = all(step.ensures and not step.lost and set(step.changed) <= named for step in release.steps)
    if idle and not lost and not promised and original.roles.quasi_identifiers:
        yield Finding(
            "unchanged",
            None,
            "The release is the original without its identifiers: no step has changed a cell, taken a row "
            "out or promised anything.",
            "Add a step that protects the quasi-identifiers, such as local-recoding.",
        )
    for step in release.steps:
        if not (step.changed or step.lost or step.ensures or step.method in promised):
            yield Finding(
                "unchanged",
                step.name,
                f"Step {step.name} has changed no cell and taken no row out.",
                "Correct its columns or parameters, or leave it out.",
            )
        for name in step.changed:
            if name in release.table.names and name not in (*step.columns, *step.adds):
                yield Finding(
                    "altered",
                    name,
                    f"Step {step.name} has changed column {name}, which is not among its columns.",
                    "Name the column in the step, or correct the method.",
                )

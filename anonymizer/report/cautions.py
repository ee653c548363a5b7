"""What a steward should know before a release goes out, one sentence each."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import Final

import numpy as np

from anonymizer.errors import list_names
from anonymizer.methods.contract.method import Method
from anonymizer.pipelines.pipeline import Pipeline
from anonymizer.releases.release import Release
from anonymizer.report.assessment import Assessment
from anonymizer.tables.roles import Roles
from anonymizer.tables.sums import caution_of_sums, sums_of
from anonymizer.tables.table import Table

_AS_BEFORE: Final = (
    "No row was taken out and no quasi-identifier changed: the table was in these classes before, and what "
    "is promised rests on its roles alone. Make sure that the quasi-identifiers are all columns that an "
    "attacker may know, and that rows alike are of different persons; else write person below [roles]."
)
"""Of a release that is `Release.is_as_before`. It is not a finding: what was asked for holds, and who
releases a safe table each year needs no reason for it."""
_NEARLY_ALL: Final = 0.9
_MANY_LOST: Final = 0.1
_TWO: Final = 2
_FEW: Final = 10
"""Rows up to which values may well differ by chance."""


def cautions(
    original: Table,
    release: Table,
    assessment: Assessment | None = None,
    pipeline: Pipeline | None = None,
    seed: int | None = None,
) -> tuple[str, ...]:
    """Look for what is easily overlooked.

    Args:
        original: with roles.
        release: made of it.
        assessment: of the release, if it was measured.
        pipeline: that made it, if known.
        seed: that the pipeline was given, if any.

    Returns:
        Sentences; empty if there is nothing to say.
    """
    found = [
        *of_names(original.roles, original.hierarchies, original.names, release.names),
        *_of_cells(original, release, pipeline),
    ]
    if pipeline is not None:
        found += [pipeline.choice_] if pipeline.choice_ else []
        found += _of_methods(pipeline, seed)
    if assessment is not None:
        found += assessment.cautions
    return tuple(found)


def of_release(made: Release, read: Table) -> Iterator[str]:
    """What a release and the rows of its file tell.

    Args:
        made: of the table.
        read: as it stands in the file, without roles.
    """
    if made.is_as_before:
        yield _AS_BEFORE
    lost = 0 if made.original is None else len(read) - len(made.original)
    if lost:
        yield (
            f"{lost:,} of {len(read):,} rows say nothing of whose they are, and are left out, as their "
            'column is declared with missing = "drop".'
        )
    if sums := caution_of_sums(sums_of(read)):
        yield sums


def of_names(
    roles: Roles, hierarchies: Iterable[str], names: Sequence[str], released: Sequence[str]
) -> Iterator[str]:
    """What the names and roles of columns tell.

    Args:
        roles: of the columns.
        hierarchies: the columns that one is given for.
        names: the columns of the original.
        released: the columns of the release.
    """
    if not roles.sensitive:
        yield "No sensitive column is declared, so that nothing is said of what an attacker may learn."
    out = [name for name in roles.identifiers if name in released]
    if out:
        yield f"The release has columns that are declared as identifiers: {list_names(out)}. Take them out."
    strange = [name for name in hierarchies if name not in names]
    if strange:
        yield f"There are hierarchies for names that are not columns of the table: {list_names(strange)}."
    others = _without_role(roles, names, released)
    if others:
        yield (
            f"Released with no role, and so left out of the risk figures: {list_names(others)}. Make sure "
            "that no attacker knows them of a person."
        )


def _without_role(roles: Roles, names: Sequence[str], released: Sequence[str]) -> list[str]:
    known = {*roles.identifiers, *roles.quasi_identifiers, *roles.sensitive}
    there = set(released)
    return [name for name in names if name in there and name not in known]


def _of_cells(original: Table, release: Table, pipeline: Pipeline | None = None) -> Iterator[str]:
    roles = original.roles
    is_synthetic = pipeline is not None and pipeline.origin_ is None
    drawn = release.names if is_synthetic else () if pipeline is None else pipeline.blurred
    others = {*_without_role(roles, original.names, release.names), *roles.sensitive} - set(drawn)
    yield from _of_free(release, _without_role(roles, original.names, release.names))
    if len(release) > _FEW:
        least = _NEARLY_ALL * len(release)
        alone = [name for name in release.names if name in others and len(release.codes(name).values) > least]
        if alone:
            yield (
                f"Nearly every row has a value of its own in {list_names(alone)}: who knows it of a person "
                "finds the person by it alone."
            )
    gaps = {name: int(original.missing(name).sum()) for name in roles.quasi_identifiers}
    missing = [name for name, count in gaps.items() if count]
    if missing:
        yield (
            f"The original has {sum(gaps.values()):,} missing cells in {list_names(missing)}. A missing cell "
            "counts as a value of its own, and may make a person stand out."
        )
    lost = 1 - len(release) / max(1, len(original))
    if lost > _MANY_LOST and not is_synthetic:
        yield f"{lost:.0%} of the original rows are not released; those that are may not stand for all."


def _of_free(release: Table, free: Sequence[str]) -> Iterator[str]:
    """How many rows the columns without a role single out together, by their released cells."""
    if len(free) < 2 or len(release) <= _FEW:
        return
    cells = np.stack([release.codes(name).codes for name in free], axis=1)
    counts = np.unique(cells, axis=0, return_counts=True)[1]
    alone, few = int((counts == 1).sum()), int(counts[counts <= _TWO].sum())
    if few:
        yield (
            f"The {len(free)} columns of no role single out {alone:,} of {len(release):,} rows together, and "
            f"leave at most two for {few:,}."
        )


def _of_methods(pipeline: Pipeline, seed: int | None) -> Iterator[str]:
    methods = [method for _, method in pipeline.methods]
    if pipeline.foreign_code:
        yield (
            f"Made with methods of {', '.join(map(str, pipeline.foreign_code))}, not part of duetto. What "
            "they promise, and what the attack simulator takes from them, is for their authors to answer."
        )
    seeded = [method.name for method in methods if method.seeded]
    if seeded:
        where = f" ({seed})" if seed is not None else ""
        yield (
            f"Drawn from a seed{where}: {', '.join(seeded)}. Who knows or guesses the seed can undo what "
            "chance protects. Release without a seed, or keep it secret like a key."
        )
    promised = {word for one in pipeline.promises for word in one.method.split(", ")}
    others = [method for method in methods if method.blurs and method.name not in promised]
    refused = [one.name for one in others if type(one).guarantees is not Method.guarantees]
    if refused:
        yield (
            f"No differential privacy is claimed for {', '.join(refused)} here: a seed, a later step, or "
            "what the cells were made of stands against it."
        )
    silent = [one.name for one in others if one.name not in refused]
    if silent:
        yield (
            f"No differential privacy is claimed for {', '.join(silent)}: they draw in double precision, "
            "scale with the data or exchange cells. Those that claim it are dp-noise, and random "
            "choices among declared categories."
        )
    if any(method.blurs for method in methods):
        yield (
            "Noise and exchanged cells make rows differ that were alike, and alike that differed: classes "
            "and k say little then. The attack simulator, which knows the method, is what counts."
        )
    yield from pipeline.notes
    if pipeline.sampling_rate < 1:
        yield (
            f"{100 * pipeline.sampling_rate:.3g}% of the rows were sampled. This lowers risk only while "
            "nobody knows who was drawn, and does not protect outliers."
        )

"""What a steward should know before a release goes out, one sentence each."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from anonymizer.pipelines.pipeline import Pipeline
from anonymizer.report.assessment import Assessment
from anonymizer.tables.table import Table

_NEARLY_ALL: Final = 0.9
_MANY_LOST: Final = 0.1


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
    found = [*_of_roles(original, release), *_of_cells(original, release)]
    if pipeline is not None:
        found += [pipeline.choice_] if pipeline.choice_ else []
        found += _of_methods(pipeline, seed)
    if assessment is not None:
        found += assessment.cautions
    return tuple(found)


def _of_roles(original: Table, release: Table) -> Iterator[str]:
    roles = original.roles
    if not roles.sensitive:
        yield "No sensitive column is declared, so that nothing is said of what an attacker may learn."
    for name in roles.identifiers:
        if name in release.names:
            yield f"The release has the column {name}, which is declared to be an identifier. Take it out."
    for name in original.hierarchies:
        if name not in original.names:
            yield f"There is a hierarchy for {name}, which is no column of the table."
    known = {*roles.identifiers, *roles.quasi_identifiers, *roles.sensitive}
    others = [name for name in original.names if name in release.names and name not in known]
    if others:
        yield (
            f"Released with no role, and so left out of the risk figures: {', '.join(others)}. Make sure "
            "that no attacker knows them of a person."
        )
    for name in release.names:
        if name in others or name in roles.sensitive:
            codes = release.codes(name)
            if len(release) > 10 and len(codes.values) > _NEARLY_ALL * len(release):
                yield (
                    f"Column {name} differs for nearly every row: who knows it finds the person by it alone."
                )


def _of_cells(original: Table, release: Table) -> Iterator[str]:
    for name in original.roles.quasi_identifiers:
        gaps = int(original.missing(name).sum())
        if gaps:
            yield (
                f"Column {name} of the original has {gaps:,} missing cells. A missing cell counts as a value "
                "of its own, and may make a person stand out."
            )
    lost = 1 - len(release) / max(1, len(original))
    if lost > _MANY_LOST:
        yield f"{lost:.0%} of the original rows are not released; those that are may not stand for all."


def _of_methods(pipeline: Pipeline, seed: int | None) -> Iterator[str]:
    methods = [method for _, method in pipeline.methods]
    seeded = [method.word for method in methods if method.seeded]
    if seeded:
        where = f" ({seed})" if seed is not None else ""
        yield (
            f"Drawn from a seed{where}: {', '.join(seeded)}. Who knows or guesses the seed can undo what "
            "chance protects. Release without a seed, or keep it secret like a key."
        )
    promised = {word for one in pipeline.promises for word in one.method.split(", ")}
    silent = [method.word for method in methods if method.blurs and method.word not in promised]
    if silent:
        yield (
            f"No differential privacy is claimed for {', '.join(silent)}: they draw in double precision, "
            "scale with the data or exchange cells. Those that claim it are dp-noise, and laws over declared "
            "categories."
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

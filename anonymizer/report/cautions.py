"""What a steward should know before a release goes out, one sentence each."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

import numpy as np

from anonymizer.models.anatomy import Anatomy
from anonymizer.models.dp_noise import DpNoise
from anonymizer.models.method import Method
from anonymizer.pipelines.pipeline import Pipeline
from anonymizer.report.assessment import Assessment
from anonymizer.tables.table import Table

RANDOM_WITHOUT_CLAIM: Final = frozenset(
    {"noise", "correlated-noise", "multiplicative-noise", "exponential-mechanism", "pram"}
)
"""Methods that change cells at random and claim no differential privacy, by their words."""
_BREAK_CLASSES: Final = RANDOM_WITHOUT_CLAIM | {"dp-noise", "swapping", "rank-swapping"}
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
        found += _of_methods(pipeline, seed)
    if assessment is not None:
        found += [*_of_figures(assessment), *assessment.notes]
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
    methods: list[Method] = [method for _, method in pipeline.steps]
    seeded = [m.word for m in methods if getattr(m, "random_state", None) is not None]
    if seeded:
        where = f" ({seed})" if seed is not None else ""
        yield (
            f"Drawn from a seed{where}: {', '.join(seeded)}. Who knows or guesses the seed can undo what "
            "chance protects. Release without a seed, or keep it secret like a key."
        )
    for method in methods:
        if isinstance(method, Anatomy) and hasattr(method, "share_"):
            yield (
                f"The values of {method.column_} lie in a table of their own: who finds a person's row "
                f"guesses that of the person with probability {method.share_:.3g} at most."
            )
    claims = [m.word for m in methods if m.word in RANDOM_WITHOUT_CLAIM]
    if claims:
        yield (
            f"No differential privacy is claimed for {', '.join(claims)}: these draw in double precision or "
            "scale with the data. The method that claims it is dp-noise."
        )
    if any(method.word in _BREAK_CLASSES for method in methods):
        yield (
            "Noise and exchanged cells make rows differ that were alike, and alike that differed: classes "
            "and k say little then. The attack simulator, which knows the method, is what counts."
        )
    for method in methods:
        if isinstance(method, DpNoise) and hasattr(method, "guarantee_"):
            yield f"Claimed for dp-noise: {method.guarantee_} Other steps and columns claim nothing."
    if pipeline.sampling_rate < 1:
        yield (
            f"{100 * pipeline.sampling_rate:.3g}% of the rows were sampled. This lowers risk only while "
            "nobody knows who was drawn, and does not protect outliers."
        )


def _of_figures(assessment: Assessment) -> Iterator[str]:
    classes = assessment.classes
    if classes is not None and classes.k == 1 and assessment.prosecutor is not None:
        unique = int((assessment.prosecutor.rows >= 1).sum())
        yield f"{unique:,} released rows are like no other in their quasi-identifiers (k = 1)."
    if classes is not None:
        for name, kinds in classes.l.items():
            if kinds == 1:
                yield (
                    f"Some class has only one value of {name} (l = 1): who finds a person's class knows it."
                )
    simulation = assessment.simulation
    if simulation is not None and simulation.found.any():
        certain = int(np.isclose(simulation.risks, 1).sum())
        if certain:
            yield f"The attack simulator finds {certain:,} records with certainty (one candidate)."
    if simulation is not None and not simulation.found.any():
        yield (
            "The attack simulator finds no true row among its candidates: it looks for something else than "
            "was released, and its risk of 0 says nothing."
        )
    for attack in assessment.attacks:
        if not attack.conclusive:
            yield (
                f"The attack {attack.name} does no better than guessing and says nothing about the release: "
                "this is no proof of safety."
            )
    if assessment.attacks and assessment.attacks[0].control is None:
        yield (
            "The attacks ran without a control group: what is common knowledge counts as a leak. "
            "Give rows that were not released as control."
        )

"""Everything that is measured of a release, in one value; what could not be measured is noted."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Final

import numpy as np

from anonymizer.errors import AnonymizerError, TableError
from anonymizer.pipelines.pipeline import Pipeline
from anonymizer.risk.attacks.inference import inference
from anonymizer.risk.attacks.linkability import linkability
from anonymizer.risk.attacks.outcome import Attack
from anonymizer.risk.attacks.singling_out import singling_out
from anonymizer.risk.classes import ClassRisk, class_risk
from anonymizer.risk.measures import RowRisk, journalist_risk, prosecutor_risk
from anonymizer.risk.simulator import Simulation, simulate
from anonymizer.risk.uniqueness import Uniqueness, uniqueness
from anonymizer.search.measure import Utility
from anonymizer.tables.randomness import Randomness
from anonymizer.tables.table import Table
from anonymizer.utility.learning import recoded
from anonymizer.utility.loss import InformationLoss, information_loss

_PAIRS: Final = 2_000_000_000
"""So many pairs of an original and a released row the simulator compares before it takes a part."""
_LEAST: Final = 1000


@dataclass(frozen=True, slots=True)
class Question:
    """What to measure beyond what is always measured.

    Attributes:
        population: all people whom an attacker may think of, in the form of the release.
        fraction: released rows by population, in (0, 1].
        attacks: whether to run the three attacks.
        control: rows that the release was not made of, in the form of the original.
        utility: for learning, or None.
        seed: of attacks and draws; None is the operating system's randomness.
    """

    population: Table | None = None
    fraction: float | None = None
    attacks: bool = False
    control: Table | None = None
    utility: Utility | None = None
    seed: int | None = None


@dataclass(frozen=True, slots=True)
class Assessment:
    """Risk and utility of a release; None where something was not asked for or could not be measured.

    Attributes:
        rows: of the original.
        released: of the release.
        classes: k, l and t.
        prosecutor: of each released row.
        journalist: of each released row, with a population.
        uniqueness: with a fraction.
        simulation: what the attack simulator finds, if it is known how the release was made.
        attacked: records that the simulator looked for.
        attacks: outcomes; empty unless asked for.
        loss: of information.
        learning: the ratio of F-measures (thesis, Definition 4.6).
        notes: what was not measured, or not in whole, and why.
    """

    rows: int
    released: int
    classes: ClassRisk | None
    prosecutor: RowRisk | None = field(repr=False)
    journalist: RowRisk | None = field(repr=False)
    uniqueness: Uniqueness | None = field(repr=False)
    simulation: Simulation | None = field(repr=False)
    attacked: int
    attacks: tuple[Attack, ...]
    loss: InformationLoss | None = field(repr=False)
    learning: float | None
    notes: tuple[str, ...]


def assess(
    original: Table, release: Table, pipeline: Pipeline | None = None, question: Question | None = None
) -> Assessment:
    """Measure.

    Args:
        original: with roles and hierarchies, at least one row.
        release: at least one row.
        pipeline: that has made the release, if known: the attack simulator needs it.
        question: what more to measure.

    Raises:
        TableError: a table has no rows.
        AnonymizerError: what the question asks for is impossible.
    """
    asked = question or Question()
    for name, table in (("original", original), ("release", release)):
        if not len(table):
            raise TableError(f"The {name} has no rows.", "Give at least one.")
    keys = bool(release.roles.quasi_identifiers)
    notes: list[str] = []
    if not keys:
        notes.append("No quasi-identifiers are declared, so that nothing can be said of re-identification.")
    simulation, attacked = None, 0
    if keys and pipeline is not None:
        simulation, attacked = _simulated(original, release, pipeline, asked.seed, notes)
    population = asked.population
    loss = None
    try:
        loss = information_loss(original, release)
    except AnonymizerError as problem:
        notes.append(f"Information loss was not measured: {problem}")
    return Assessment(
        rows=len(original),
        released=len(release),
        classes=class_risk(release) if keys else None,
        prosecutor=prosecutor_risk(release) if keys else None,
        journalist=journalist_risk(release, population) if keys and population is not None else None,
        uniqueness=uniqueness(release, asked.fraction) if keys and asked.fraction is not None else None,
        simulation=simulation,
        attacked=attacked,
        attacks=_attacks(original, release, pipeline, asked) if asked.attacks else (),
        loss=loss,
        learning=_learned(original, release, pipeline, asked, notes),
        notes=tuple(notes),
    )


def worst_records(assessment: Assessment) -> Mapping[str, float]:
    """The distribution of risk: of how many records an attacker is left with how many candidates.

    Returns:
        Parts of the records by a name for the number of candidates, from safest to most endangered; of the
        attacked original records if the simulator ran, else of the released rows. Empty without
        quasi-identifiers.
    """
    if assessment.simulation is not None:
        candidates = assessment.simulation.candidates
    elif assessment.prosecutor is not None:
        candidates = 1 / assessment.prosecutor.rows
    else:
        return {}
    edges = np.array([0.5, 1.5, 2.5, 5.5, 10.5, 20.5, 50.5, 100.5])
    names = ("not found", "1", "2", "3 to 5", "6 to 10", "11 to 20", "21 to 50", "51 to 100", "over 100")
    counts = np.bincount(np.searchsorted(edges, candidates), minlength=len(names))
    parts = dict(zip(names, (counts / len(candidates)).tolist(), strict=True))
    return {name: parts[name] for name in ("not found", *reversed(names[1:]))}


def _simulated(
    original: Table, release: Table, pipeline: Pipeline, seed: int | None, notes: list[str]
) -> tuple[Simulation | None, int]:
    most = max(_LEAST, _PAIRS // len(release))
    records = None
    if most < len(original):
        records = Randomness(seed).sample(len(original), most)
        notes.append(
            f"The attack simulator looked for {most:,} of {len(original):,} records, drawn at random: among "
            "the others there may be a worse case."
        )
    try:
        found = simulate(original, release, pipeline, rate=pipeline.sampling_rate, records=records)
    except AnonymizerError as problem:
        notes.append(f"The attack simulator could not run: {problem}")
        return None, 0
    return found, min(most, len(original))


def _attacks(
    original: Table, release: Table, pipeline: Pipeline | None, asked: Question
) -> tuple[Attack, ...]:
    """Singling out, linkability, and inference of each sensitive column, on rows in the release's form."""
    groups: Sequence[Table | None] = (original, asked.control)
    if pipeline is not None:
        groups = [None if one is None else recoded(pipeline, one) for one in groups]
    main, control = groups
    first = original if main is None else main
    seed = asked.seed
    found = [singling_out(first, release, control, random_state=seed)]
    found.append(linkability(first, release, control, random_state=seed))
    found += [
        inference(first, release, control, secret=column, random_state=seed)
        for column in release.roles.sensitive
    ]
    return tuple(found)


def _learned(
    original: Table, release: Table, pipeline: Pipeline | None, asked: Question, notes: list[str]
) -> float | None:
    if asked.utility is None or pipeline is None:
        return None
    try:
        ratio = asked.utility(original, release, pipeline)
    except AnonymizerError as problem:
        notes.append(f"The utility for learning was not measured: {problem}")
        return None
    if np.isnan(ratio):
        notes.append("The utility for learning is undefined: the model of the original finds nothing.")
        return None
    return ratio

"""The five data sets of the thesis's section 4.3 as pipelines, and the readings that its text leaves open."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Final

import pandas as pd

from anonymizer.hierarchies.adult import thesis_hierarchies
from anonymizer.methods.contract.method import Method
from anonymizer.methods.perturbation.exponential import ExponentialMechanism
from anonymizer.methods.perturbation.noise import Noise
from anonymizer.methods.reduction.generalization import Generalization
from anonymizer.methods.reduction.sampling import Sampling
from anonymizer.methods.reduction.suppression import SuppressRecords
from anonymizer.pipelines.pipeline import Pipeline
from anonymizer.risk.simulator import Simulation, simulate_attack
from anonymizer.tables.roles import Roles
from anonymizer.tables.table import Table

NUMBERS: Final = ("age", "education_num")
CATEGORIES: Final = ("workclass", "marital_status")
ROLES: Final = Roles(quasi_identifiers=(*NUMBERS, *CATEGORIES), sensitive=("income",))
T: Final = 0.9
K: Final = 2

Named = Sequence[tuple[str, Method]]
Steps = Callable[[float, int], Named]
"""Steps before sampling, of epsilon and a seed."""


@dataclass(frozen=True, slots=True)
class Reading:
    """One way to understand the text.

    Attributes:
        name: for tables.
        words: what it does.
        steps: the steps.
    """

    name: str
    words: str
    steps: Steps


def whole(frame: pd.DataFrame) -> Table:
    """The Adult table with all of its columns, of which models learn as in section 4.3.3."""
    return Table.of(frame, ROLES, thesis_hierarchies())


def adult(frame: pd.DataFrame) -> Table:
    """The quasi-identifiers and the income of the Adult table."""
    columns = [*ROLES.quasi_identifiers, *ROLES.sensitive]
    return Table.of(frame[columns], ROLES, thesis_hierarchies())


def released(
    table: Table, steps: Sequence[tuple[str, Method]], rate: float, seed: int
) -> tuple[Table, Pipeline]:
    """A release, and the pipeline that made it; a rate of 1 samples nothing."""
    sampling = [("sampling", Sampling(rate=rate, random_state=seed + 900_000))] if rate < 1 else []
    pipeline = Pipeline(steps=[*steps, *sampling])
    return pipeline.fit_transform_table(table), pipeline


def attacked(table: Table, steps: Named, rate: float, seed: int) -> Simulation:
    """The simulated attack on a release."""
    release, pipeline = released(table, steps, rate, seed)
    return simulate_attack(table, release, pipeline, rate=rate, k=K)


def generalized(age: int = 1) -> Named:
    """Data sets 1 and 4: all to level 1, age to another."""
    return [("general", Generalization(levels=dict.fromkeys(ROLES.quasi_identifiers, 1) | {"age": age}))]


def without_small_classes(k: int = 10) -> Named:
    """Data set 5: data set 1 without the records in classes smaller than k."""
    return [*generalized(), ("large", SuppressRecords(k=k))]


def noisy_age(epsilon: float, seed: int) -> Named:
    """Noise on age, then data set 1: methods combined on one column."""
    noise = Noise(epsilon=epsilon, columns=("age",), digits=0, confidence=T, random_state=seed)
    return [("noise", noise), *generalized()]


def _second(digits: int | None) -> Steps:
    def steps(epsilon: float, seed: int) -> Named:
        noise = Noise(epsilon=epsilon, columns=NUMBERS, digits=digits, confidence=T, random_state=seed)
        return [("noise", noise), ("general", Generalization(levels=dict.fromkeys(CATEGORIES, 1)))]

    return steps


def _third(confidence: float, *, noisy_education: bool, around: str = "value") -> Steps:
    def steps(epsilon: float, seed: int) -> Named:
        noise = Noise(
            epsilon=epsilon, columns=("education_num",), digits=0, confidence=T, random_state=seed + 300_000
        )
        change = ExponentialMechanism(
            epsilon=epsilon, columns=CATEGORIES, around=around, confidence=confidence, random_state=seed
        )
        coarser = Generalization(levels=dict.fromkeys(NUMBERS, 1))
        rest: list[tuple[str, Method]] = [("general", coarser), ("change", change)]
        return [("noise", noise), *rest] if noisy_education else rest

    return steps


SECOND: Final = (
    Reading("real", "noise as it is drawn", _second(None)),
    Reading("rounded", "noise rounded to whole years, half a year allowed for", _second(0)),
)
_ONLY: Final = 1e-9
"""As a confidence: only the likeliest outcome, which is the value itself, is high."""
THIRD: Final = (
    Reading(
        "likeliest, noisy education",
        "a category is a candidate of high confidence if it is unchanged; Laplace noise on the years of "
        "education, rounded, before they are generalized",
        _third(_ONLY, noisy_education=True),
    ),
    Reading(
        "likeliest, exact education",
        "the same, education only generalized",
        _third(_ONLY, noisy_education=False),
    ),
    Reading(
        "T = 0.9, exact education",
        "categories are of high confidence while they and the likelier ones add up to 0.9 at most; education "
        "only generalized",
        _third(T, noisy_education=False),
    ),
    Reading(
        "median",
        "distances from the column's median, as the text has it; only the median is of high confidence; "
        "education only generalized",
        _third(_ONLY, noisy_education=False, around="median"),
    ),
)
"""The first of each is what the tables are printed with."""

"""Releases of one table at several epsilons, several times each, and what is measured of them."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import Final

import numpy as np
from numpy.typing import NDArray

from anonymizer.choosing.curves import MIN_POINTS
from anonymizer.choosing.figures import Figure
from anonymizer.errors import AnonymizerError, SpecError, TableError, UnreachableError
from anonymizer.measures.contract.measure import Case, Scale
from anonymizer.pipelines.pipeline import Pipeline
from anonymizer.releases.guarantee import Guarantee, checked_budget
from anonymizer.tables.table import Table
from anonymizer.workers import Workers, each
from commons.errors import near

Float = NDArray[np.float64]

EPSILONS: Final = (0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 5.0, 10.0)
MIN_REPEATS: Final = 2


@dataclass(frozen=True, slots=True)
class TrialRelease:
    """One release.

    Attributes:
        epsilon: that the step was given.
        risk: the figure of risk.
        utility: the figure of utility.
    """

    epsilon: float
    risk: float
    utility: float


@dataclass(frozen=True, slots=True)
class Trials:
    """What was tried.

    Attributes:
        risk: the figure.
        utility: the figure.
        made: in the order of epsilon.
        promised: the guarantees of a release at the largest epsilon that could be made.
        failed: why no release could be made, by epsilon.
    """

    risk: Figure
    utility: Figure
    made: tuple[TrialRelease, ...] = field(repr=False)
    promised: tuple[Guarantee, ...]
    failed: dict[float, str]

    def column(self, name: str) -> Float:
        """Epsilon, risk or utility of all trials, shape (n,)."""
        return np.array([getattr(one, name) for one in self.made], dtype=np.float64)


OnProgress = Callable[[int, int, str], None]
"""Gets how many trials are done, of how many, and at which epsilon the next is."""


def find_step(pipeline: Pipeline, step: str | None = None) -> str:
    """The name of the step whose epsilon is to be chosen.

    Args:
        pipeline: not yet fitted.
        step: its name, or that of its method; None finds the only one that has an epsilon.

    Raises:
        SpecError: there is none, or no such, or several.
    """
    known = {
        name: method.name for name, method in pipeline.steps if "epsilon" in method.get_params(deep=False)
    }
    if not known:
        raise SpecError(
            "No step of the specification has an epsilon.",
            'Write, for example, method = "dp-noise", epsilon = 1.0.',
        )
    if step is None:
        if len(known) > 1:
            raise SpecError(
                f"Several steps have an epsilon: {', '.join(known)}.",
                "Name the one to choose for with --step.",
            )
        return next(iter(known))
    found = [name for name, word in known.items() if step in (name, word)]
    if len(found) != 1:
        raise SpecError(f"The step {step!r} is not one step with an epsilon.", near(step, tuple(known)))
    return found[0]


@dataclass(frozen=True, slots=True)
class _Setting:
    """What all trials have in common."""

    table: Table
    make: Callable[[], Pipeline]
    step: str
    risk: Figure
    utility: Figure
    control: Table | None
    scale: Scale
    seed: int | None


@dataclass(frozen=True, slots=True)
class _Outcome:
    """A trial, or why there is none."""

    epsilon: float
    found: TrialRelease | str
    promised: tuple[Guarantee, ...] = ()


def _trial(setting: _Setting, epsilon: float) -> _Outcome:
    pipeline = setting.make()
    pipeline.set_params(**{f"{setting.step}__epsilon": epsilon})
    risk, utility = setting.risk, setting.utility
    try:
        release = pipeline.release(setting.table)
        case = Case(
            setting.table,
            release.table,
            pipeline,
            control=setting.control,
            scale=setting.scale,
            seed=setting.seed,
        )
        for figure in (risk, utility):
            if reason := figure.lacks(case):
                raise TableError(f"{figure.title} does not apply: {reason}.", "Choose another figure.")
        found = TrialRelease(epsilon, risk.of(case), utility.of(case))
    except AnonymizerError as problem:
        return _Outcome(epsilon, str(problem))
    return _Outcome(epsilon, found, release.guarantees)


def run_trials(
    table: Table,
    make: Callable[[], Pipeline],
    risk: Figure,
    utility: Figure,
    *,
    step: str | None = None,
    epsilons: Sequence[float] = EPSILONS,
    repeats: int = 3,
    control: Table | None = None,
    scale: Scale = "declared",
    seed: int | None = None,
    on_progress: OnProgress | None = None,
    workers: Workers | None = None,
) -> Trials:
    """Make releases and measure them.

    Args:
        table: that releases are made of; it is measured against too.
        make: gives a fresh pipeline.
        risk: the figure of risk.
        utility: the figure of utility.
        step: see `find_step`.
        epsilons: at least `MIN_POINTS` different ones.
        repeats: releases at each, at least `MIN_REPEATS`.
        control: rows that are not in the table, for figures that need them.
        scale: as `Case.scale`.
        seed: of the measures' draws; None is the operating system's randomness.
        on_progress: called before each trial.
        workers: who makes and measures the releases; they are sent the tables. None for this process.

    Raises:
        SpecError: the epsilons are too few or outside what the program allows, or as `find_step`.
        TableError: the table has no rows, or a figure does not apply.
        UnreachableError: at too few epsilons a release could be made and measured.
    """
    places = sorted(set(map(float, epsilons)))
    for epsilon in places:
        checked_budget(epsilon)
    if len(places) < MIN_POINTS or repeats < MIN_REPEATS:
        raise SpecError(
            f"There are {len(places)} different epsilons and {repeats} releases at each; a curve needs "
            f"{MIN_POINTS} and {MIN_REPEATS} at the least.",
            "Give more.",
        )
    if not len(table):
        raise TableError("The table has no rows.", "Give at least one.")
    made: list[TrialRelease] = []
    failed: dict[float, str] = {}
    promised: tuple[Guarantee, ...] = ()

    def schedule() -> Iterator[float]:
        for number, epsilon in enumerate(place for place in places for _ in range(repeats)):
            if on_progress:
                on_progress(number, len(places) * repeats, f"epsilon {epsilon:g}")
            if epsilon not in failed:
                yield epsilon

    setting = _Setting(table, make, find_step(make(), step), risk, utility, control, scale, seed)
    for outcome in each(_trial, setting, schedule(), workers):
        if isinstance(outcome.found, str):
            failed.setdefault(outcome.epsilon, outcome.found)
            made = [one for one in made if one.epsilon != outcome.epsilon]
        elif outcome.epsilon not in failed:
            made.append(outcome.found)
            promised = outcome.promised
    if len(places) - len(failed) < MIN_POINTS:
        first = next(iter(failed.values()))
        raise UnreachableError(
            f"At {len(failed)} of {len(places)} epsilons no release could be made and measured; the first "
            f"said: {first}",
            f"Choose epsilons or a figure for which {MIN_POINTS} of them can be.",
        )
    return Trials(risk, utility, tuple(made), promised, failed)

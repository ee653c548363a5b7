"""Runs through a space, by grid or by Bayesian search, and says which point is best."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from anonymizer.errors import AnonymizerError, SpecError, UnreachableError
from anonymizer.search.space import Range, SearchSpace
from anonymizer.workers import Workers, each
from commons.errors import near

Bool = NDArray[np.bool_]

STRATEGIES: Final = ("grid", "bayes")


@dataclass(frozen=True, slots=True)
class SearchTrial:
    """One point that was tried.

    Attributes:
        point: a value for each free parameter.
        risk: in [0, 1]; NaN if no release could be made.
        utility: more is better; NaN if no release could be made.
        problem: why no release could be made; empty if one could.
    """

    point: Mapping[str, Any]
    risk: float = float("nan")
    utility: float = float("nan")
    problem: str = ""


Measure = Callable[[Mapping[str, Any]], tuple[float, float]]
"""Makes a release at a point and returns its risk and its utility."""
OnProgress = Callable[[int, int, SearchTrial], None]
"""Gets how many trials are done, of how many, and the last."""


@dataclass(frozen=True, slots=True)
class SearchResult:
    """What a search has found.

    Attributes:
        limit: the highest risk that is allowed.
        trials: in the order in which they were made.
    """

    limit: float
    trials: tuple[SearchTrial, ...] = field(repr=False)

    @property
    def best(self) -> SearchTrial:
        """The trial with the highest utility within the limit; of equals the one with less risk.

        Raises:
            UnreachableError: no trial is within it; names the lowest risk that was found.
        """
        allowed = [one for one in self.trials if not one.problem and one.risk <= self.limit]
        if allowed:
            return max(
                allowed, key=lambda one: (-np.inf if np.isnan(one.utility) else one.utility, -one.risk)
            )
        made = [one.risk for one in self.trials if not one.problem]
        if not made:
            raise UnreachableError(
                f"None of {len(self.trials)} trials made a release; the last said: "
                f"{self.trials[-1].problem if self.trials else 'nothing'}",
                "Correct the specification as that error says, or widen its ranges.",
            )
        raise UnreachableError(
            f"No trial has a risk of {self.limit:.4g} or less; the lowest is {min(made):.4g}.",
            "Widen the ranges, or allow more risk.",
        )

    @property
    def front(self) -> Bool:
        """Which trials no other beats in one of risk and utility without losing in the other, shape (t,)."""
        risk = np.array([one.risk for one in self.trials])
        utility = np.array([one.utility for one in self.trials])
        found = np.zeros(len(self.trials), dtype=np.bool_)
        made = np.array([not one.problem for one in self.trials], dtype=np.bool_) & ~np.isnan(utility)
        highest, least = -np.inf, np.inf
        for place in np.lexsort((-utility, risk)):
            if made[place] and (
                utility[place] > highest or (utility[place] == highest and risk[place] == least)
            ):
                found[place] = True
                highest, least = utility[place], risk[place]
        return found

    @property
    def figures(self) -> tuple[Mapping[str, Any], ...]:
        """Of each trial risk, utility, allowed, front and problem."""
        return tuple(
            {
                "risk": one.risk,
                "utility": one.utility,
                "allowed": not one.problem and one.risk <= self.limit,
                "front": bool(front),
                "problem": one.problem,
            }
            for one, front in zip(self.trials, self.front, strict=True)
        )

    @property
    def frame(self) -> Any:
        """The trials as a pandas data frame: parameters, risk, utility, allowed, front, problem."""
        import pandas as pd

        return pd.DataFrame(
            [{**one.point, **figures} for one, figures in zip(self.trials, self.figures, strict=True)]
        )


def search(
    space: SearchSpace,
    measure: Measure,
    limit: float,
    *,
    strategy: str = "grid",
    trials: int = 50,
    on_progress: OnProgress | None = None,
    random_state: int | None = None,
    workers: Workers | None = None,
) -> SearchResult:
    """Search.

    A point at which no release can be made (`AnonymizerError`) is noted, and the search goes on.

    Args:
        space: the free parameters.
        measure: see `Measure` and `anonymizer.search.measure`.
        limit: the highest risk that is allowed, in [0, 1].
        strategy: "grid" tries all combinations of the points; "bayes" lets Optuna's tree-structured Parzen
            estimator choose, with the limit as its constraint (needs the extra `search`).
        trials: for "bayes".
        on_progress: called after each trial.
        random_state: for "bayes"; None is the operating system's randomness.
        workers: who measures the points of a "grid"; they are sent the measure with its table. None for this
            process.

    Raises:
        SpecError: the strategy is unknown or has no use for workers, its library is missing, or the number of
            trials is not positive.
    """
    if strategy not in STRATEGIES:
        raise SpecError(f"There is no strategy {strategy!r}.", near(strategy, STRATEGIES))
    if strategy == "grid":
        points = space.grid
        done: list[SearchTrial] = []
        for trial in each(_try, measure, points, workers):
            done.append(trial)
            if on_progress:
                on_progress(len(done), len(points), done[-1])
        return SearchResult(limit, tuple(done))
    if workers is not None:
        raise SpecError(
            "Bayesian search chooses each point by those before, one after the other, so that other machines "
            "cannot help.",
            "Take grid, or search without a cluster.",
        )
    if trials < 1:
        raise SpecError(f"The number of trials is {trials}, which is below 1.", "Try at least one.")
    return SearchResult(limit, tuple(_bayes(space, measure, limit, trials, on_progress, random_state)))


def _try(measure: Measure, point: Mapping[str, Any]) -> SearchTrial:
    try:
        risk, utility = measure(point)
    except AnonymizerError as problem:
        return SearchTrial(point, problem=str(problem))
    return SearchTrial(point, risk, utility)


def _bayes(
    space: SearchSpace,
    measure: Measure,
    limit: float,
    trials: int,
    on_progress: OnProgress | None,
    random_state: int | None,
) -> Sequence[SearchTrial]:
    try:
        import optuna
    except ImportError:
        raise SpecError(
            "Bayesian search needs Optuna, which is not installed.", "Install duetto[search], or take grid."
        ) from None
    optuna.logging.set_verbosity(optuna.logging.WARNING)
    study = optuna.create_study(direction="maximize", sampler=optuna.samplers.TPESampler(seed=random_state))
    done: list[SearchTrial] = []
    for _ in range(trials):
        asked = study.ask()
        point = {name: _suggest(asked, name, one) for name, one in space.free.items()}
        trial = _try(measure, point)
        failed = bool(trial.problem) or np.isnan(trial.utility)
        asked.set_constraint("risk", 1.0 if failed else trial.risk - limit)
        study.tell(asked, 0.0 if failed else trial.utility)
        done.append(trial)
        if on_progress:
            on_progress(len(done), trials, trial)
    return done


def _suggest(asked: Any, name: str, free: Any) -> Any:
    if not isinstance(free, Range):
        return free.grid[asked.suggest_categorical(name, list(range(len(free.grid))))]
    if free.whole:
        return asked.suggest_int(name, free.low, free.high, log=free.log)
    return asked.suggest_float(name, free.low, free.high, log=free.log)


@contextmanager
def progress_bar(title: str = "search") -> Iterator[OnProgress]:
    """A progress bar on standard error, as a `OnProgress`."""
    from rich.console import Console
    from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn

    parts = (TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn(), TimeRemainingColumn())
    with Progress(*parts, console=Console(stderr=True)) as bar:
        task = bar.add_task(title, total=None)

        def on_progress(done: int, total: int, trial: SearchTrial) -> None:
            what = "no release" if trial.problem else f"risk {trial.risk:.3g}, utility {trial.utility:.3g}"
            bar.update(task, completed=done, total=total, description=f"{title}: {what}")

        yield on_progress

"""What a search measures at a point: the simulator's risk, and a utility."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from typing import Any, Final

import numpy as np

from anonymizer.errors import TableError
from anonymizer.pipelines.pipeline import Pipeline
from anonymizer.risk.simulator import simulate
from anonymizer.search.space import Space
from anonymizer.tables.table import Table
from anonymizer.utility.learning import holdout, learning_utility
from anonymizer.utility.marginals import marginal

Utility = Callable[[Table, Table, Pipeline], float]
"""Of the original, its release and the pipeline that made it; more is better."""

_SEEDS: Final = 1000


@dataclass(frozen=True, slots=True)
class ReleaseMeasure:
    """Makes releases at a point and measures them.

    The risk is 1 / n_q of the attack simulator (thesis, Definition 4.4), or with `average` the mean risk over
    the records, which outliers move less. Both figures are means over the repetitions.

    Attributes:
        space: the specification with ranges.
        original: the table to release; roles and hierarchies are taken from the specification.
        utility: for instance `Learning` or `fidelity`.
        repetitions: releases a point, for methods that draw at random; at least 1.
        average: see above.
        random_state: release i is made with a seed derived from it and i; None is the operating system's
            randomness.
    """

    space: Space
    original: Table
    utility: Utility
    repetitions: int = 1
    average: bool = False
    random_state: int | None = None

    def __call__(self, point: Mapping[str, Any]) -> tuple[float, float]:
        """Risk and utility.

        Raises:
            AnonymizerError: no release can be made at the point.
        """
        spec = self.space.spec(point)
        spec.roles.check(self.original.names)
        table = replace(
            self.original,
            roles=spec.roles,
            hierarchies=dict(spec.hierarchies),
            origin=np.arange(len(self.original)),
        )
        found = []
        for number in range(max(1, self.repetitions)):
            seed = None if self.random_state is None else self.random_state + _SEEDS * number
            pipeline = spec.pipeline(seed)
            release = pipeline.release(table)
            simulated = simulate(table, release, pipeline, rate=pipeline.sampling_rate)
            risk = float(simulated.risks.mean()) if self.average else simulated.risk
            found.append((risk, self.utility(table, release, pipeline)))
        risk, utility = np.mean(found, axis=0)
        return float(risk), float(utility)


def fidelity(original: Table, release: Table, pipeline: Pipeline) -> float:
    """1 - the mean distance of Hellinger over the marginals of the quasi-identifiers, in [0, 1]."""
    del pipeline
    names = original.roles.quasi_identifiers
    return 1 - float(np.mean([marginal(original, release, name).hellinger for name in names]))


class Learning:
    """Definition 4.6 as a utility for a search.

    The release is made of all rows but serves, as does the original, for training only where its rows are
    not among the test rows, which are drawn once.

    Args:
        original: the table of the search.
        target: the column to predict.
        model: of `anonymizer.utility.learning.MODELS`; logistic is quick.
        rows: train with at most so many; None is all.
        random_state: of the test rows, the draw and the model.

    Raises:
        TableError: the table lacks the target or has fewer than two rows.
    """

    def __init__(
        self,
        original: Table,
        *,
        target: str,
        model: str = "logistic",
        rows: int | None = 5000,
        random_state: int | None = None,
    ) -> None:
        original.require(target)
        self._target, self._model, self._rows, self._state = target, model, rows, random_state
        self._count = len(original)
        _, test = holdout(replace(original, origin=np.arange(self._count)), random_state=random_state)
        self._test = test.origin

    def __call__(self, original: Table, release: Table, pipeline: Pipeline) -> float:
        """The ratio of the F-measures; the test rows are generalized as the release."""
        if len(original) != self._count:
            raise TableError("The table is not the one that the search began with.", "Give that one.")
        held = np.zeros(self._count, dtype=np.bool_)
        held[self._test] = True
        kept = np.flatnonzero(~held[release.origin])
        return learning_utility(
            original.taken(np.flatnonzero(~held)),
            release.taken(kept),
            original.taken(self._test),
            target=self._target,
            model=self._model,
            recoding=pipeline,
            rows=self._rows,
            random_state=self._state,
        ).ratio

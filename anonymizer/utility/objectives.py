"""Utility as one number: how much use a release keeps, to compare releases by."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import numpy as np

from anonymizer.errors import TableError
from anonymizer.methods.contract.method import Method
from anonymizer.tables.table import Table
from anonymizer.utility.learning import holdout, learning_utility
from anonymizer.utility.marginals import marginal

Utility = Callable[[Table, Table, Method], float]
"""Of the original, its release and the fitted method or pipeline that made it; more is better."""


def fidelity(original: Table, release: Table, pipeline: Method) -> float:
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

    Attributes:
        target: the column to predict.

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
        self.target, self._model, self._rows, self._state = target, model, rows, random_state
        self._count = len(original)
        _, test = holdout(replace(original, origin=np.arange(self._count)), random_state=random_state)
        self._test = test.origin

    def __call__(self, original: Table, release: Table, pipeline: Method) -> float:
        """The ratio of the F-measures; the test rows are generalized as the release."""
        if len(original) != self._count:
            raise TableError("The table is not the one that the search began with.", "Give that one.")
        held = np.zeros(self._count, dtype=np.bool_)
        held[self._test] = True
        kept = np.flatnonzero(~held[release.origin])
        return learning_utility(
            original.take(np.flatnonzero(~held)),
            release.take(kept),
            original.take(self._test),
            target=self.target,
            model=self._model,
            recoding=pipeline,
            rows=self._rows,
            random_state=self._state,
        ).ratio

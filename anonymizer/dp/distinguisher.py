"""An attacker that is trained: it learns from outputs on two tables what tells them apart.

Every output is a row of numbers. Some outputs train a model (a logistic regression on the ranks of the
numbers), others choose the event among the thresholds of single numbers and of the model's score. What the
event proves is counted on outputs that neither has seen.

References: Jagielski, Ullman and Oprea, Auditing differentially private machine learning, NeurIPS 2020;
Bichsel, Steffen, Bogunovic and Vechev, DP-Sniper, IEEE S&P 2021 (the event is a threshold of a classifier).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Final, Self

import numpy as np
from numpy.typing import NDArray
from sklearn.linear_model import LogisticRegression

from anonymizer.dp.audit import Event, best_event
from anonymizer.errors import SpecError

Float = NDArray[np.float64]

FEWEST: Final = 4
"""Outputs on each table, half of which train."""
_TRAINED: Final = 24
"""Outputs on each table from which on a model is trained."""
SCORE: Final = "the score of a trained model"


@dataclass(frozen=True)
class Distinguisher:
    """A number of outputs and an event of it.

    Attributes:
        name: what the number is.
        place: in which column it stands; None for the score of the model.
        event: the event.
        sorted_: of the outputs in training, each column sorted, shape (t, d).
        model: None if none was trained.
    """

    name: str
    place: int | None
    event: Event
    sorted_: Float = field(repr=False)
    model: LogisticRegression | None = field(repr=False)

    @classmethod
    def train(cls, first: Float, second: Float, names: Sequence[str], delta: float, wrong: float) -> Self:
        """Learn from outputs on two tables; those of even number train, the others choose the event.

        Args:
            first: of outputs on one table, finite, shape (r, d), r at least `FEWEST` and d at least 1.
            second: on the other, shape (s, d).
            names: of the numbers, length d.
            delta: the probability that the claim leaves out.
            wrong: the probability of error for which the event is to prove most.

        Raises:
            SpecError: there are too few outputs.
        """
        if min(len(first), len(second)) < FEWEST:
            raise SpecError(f"A distinguisher needs {FEWEST} outputs of each table.", "Run it more often.")
        training = np.concatenate([first[::2], second[::2]])
        ordered = np.sort(training, axis=0)
        model = None
        if min(len(first), len(second)) >= _TRAINED:
            sides = np.repeat([1, 0], [len(first[::2]), len(second[::2])])
            model = LogisticRegression(C=0.1, max_iter=200).fit(_ranks(training, ordered), sides)
        chooses = [first[1::2], second[1::2]]
        found = [
            (*best_event(chooses[0][:, place], chooses[1][:, place], delta, wrong), name, place)
            for place, name in enumerate(names)
        ]
        best, event, name, place = max(found, key=lambda one: one[0])
        if model is not None:
            scores = [model.decision_function(_ranks(one, ordered)) for one in chooses]
            by_score, of_score = best_event(scores[0], scores[1], delta, wrong)
            if by_score > best:
                return cls(SCORE, None, of_score, ordered, model)
        return cls(name, place, event, ordered, model)

    def numbers(self, outputs: Float) -> Float:
        """The number of each output, shape (r,)."""
        if self.place is not None:
            return outputs[:, self.place]
        if self.model is None:
            raise SpecError("The distinguisher has no model.", "Train it with more outputs.")
        scores: Float = self.model.decision_function(_ranks(outputs, self.sorted_))
        return scores

    def loss(self, first: Float, second: Float, delta: float, wrong: float) -> float:
        """The least epsilon that outputs which it has not seen prove, as `event_loss`."""
        return self.event.loss(self.numbers(first), self.numbers(second), delta, wrong)


def _ranks(outputs: Float, ordered: Float) -> Float:
    """Each number by its place among those in training, in [-1, 1]: no outlier counts more than others."""
    found = np.empty_like(outputs)
    for place in range(outputs.shape[1]):
        column = ordered[:, place]
        middle = np.searchsorted(column, outputs[:, place]) + np.searchsorted(
            column, outputs[:, place], side="right"
        )
        found[:, place] = middle / len(column) - 1
    return found

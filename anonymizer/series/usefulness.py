"""What a released matrix is good for: predicting an item of users that nobody has seen.

For each of several items a logistic regression learns it from the others, once on the original and once on
the release, and predicts it for users held out. In a release cells are no longer 0 and 1: so many rows count
as 1 as the column adds up to, those with the largest cells, and those equal to the least of them.

References: thesis, sections 5.1.2 and 5.3.4, Definition 4.6.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

import numpy as np
from numpy.typing import NDArray
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import precision_recall_fscore_support
from threadpoolctl import threadpool_limits

from anonymizer.errors import TableError
from anonymizer.tables.randomness import Randomness

Int = NDArray[np.int64]
Float = NDArray[np.float64]

ITEMS: Final = 50
"""Items that are predicted, as in the thesis."""

MIN_USERS: Final = 5
"""Users with and without an item among those to learn from, below which it is not predicted."""


@dataclass(frozen=True, slots=True)
class Scores:
    """How well items are predicted; means over the items.

    Attributes:
        precision: in [0, 1], 0 where nobody was predicted.
        recall: in [0, 1].
        f: the F-measure.
    """

    precision: float
    recall: float
    f: float


@dataclass(frozen=True, slots=True)
class Usefulness:
    """Original beside release.

    Attributes:
        original: of models trained on the original.
        release: of models trained on the release.
        ratio: of the two mean F-measures. The text speaks of the mean of ratios; the tables print the ratio
            of means (0.717 / 0.763 = 0.940), which an item that is hardly predicted at all does not move.
        items: that were predicted.
    """

    original: Scores
    release: Scores
    ratio: float
    items: Int


def predictable(
    cells: Float, rest: Float, most: int = ITEMS, seed: int | None = None, *, share: float = 0.0
) -> Int:
    """Items to predict, drawn at random of those with enough users with and without them, in order.

    Args:
        cells: original, binary, to learn from, shape (n, m).
        rest: of other users, shape (p, m).
        most: items.
        seed: of the draw; None is the operating system's randomness.
        share: of users that have the item at least, and lack it at least, in [0, 0.5). Rare items are hardly
            predicted from the original, and any release that has them more often does better.

    Raises:
        TableError: there is none.
    """
    with_item = (cells > 0).sum(axis=0)
    least = max(MIN_USERS, share * len(cells))
    some = (rest > 0).any(axis=0) & ~(rest > 0).all(axis=0)
    fit = np.flatnonzero((with_item >= least) & (len(cells) - with_item >= least) & some)
    if not len(fit):
        raise TableError(
            f"No item has {least:g} users with and {least:g} without it.",
            "Give more users or longer windows.",
        )
    return fit[Randomness(seed, "items to predict").sample(len(fit), most)]


def scores(cells: Float, rest: Float, items: Sequence[int] | Int) -> Scores:
    """Train on a matrix, test on other users.

    Args:
        cells: original or released, shape (q, m).
        rest: binary, of other users, shape (p, m).
        items: to predict, see `predictable`.

    Raises:
        TableError: the matrices have other items, or there is none to predict.
    """
    if not len(items) or cells.shape[1] != rest.shape[1]:
        raise TableError("The matrices have other items, or none to predict.", "Give the same items to all.")
    found = []
    with threadpool_limits(limits=1):
        for item in np.asarray(items).tolist():
            others = np.delete(np.arange(cells.shape[1]), item)
            found.append(_score(cells, item, others, rest[:, others], rest[:, item] > 0))
    return Scores(*np.array(found).mean(axis=0).tolist())


def usefulness(original: Float, release: Float, rest: Float, items: Sequence[int] | Int) -> Usefulness:
    """Train on original and release, test on other users.

    Args:
        original: binary, shape (n, m).
        release: of the same items, shape (q, m).
        rest: binary, of other users, shape (p, m).
        items: to predict, see `predictable`.

    Raises:
        TableError: the matrices have other items, or there is none to predict.
    """
    before, after = scores(original, rest, items), scores(release, rest, items)
    if not before.f:
        raise TableError("No item can be predicted from the original.", "Give more users or items.")
    return Usefulness(before, after, after.f / before.f, np.asarray(items))


def _score(matrix: Float, item: int, others: Int, rest: Float, truth: NDArray[np.bool_]) -> list[float]:
    answers = _answers(matrix[:, item])
    if answers.all() or not answers.any():
        guesses = np.full(len(rest), bool(answers.all()))
    else:
        guesses = LogisticRegression(max_iter=500).fit(matrix[:, others], answers).predict(rest)
    found = precision_recall_fscore_support(truth, guesses, average="binary", zero_division=0)
    return [float(one) for one in found[:3]]


def _answers(column: Float) -> NDArray[np.bool_]:
    """Which rows count as 1: so many as the column adds up to, the largest."""
    count = int(np.clip(np.rint(column.sum()), 0, len(column)))
    if not count:
        return np.zeros(len(column), dtype=np.bool_)
    found: NDArray[np.bool_] = column >= np.sort(column)[-count]
    return found

"""The propensity score: can a model tell released rows from original ones?"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

import numpy as np
from numpy.typing import NDArray
from threadpoolctl import threadpool_limits

from anonymizer.hierarchies.labels import numbers_of
from anonymizer.tables.randomness import Randomness
from anonymizer.tables.table import Table
from anonymizer.utility.marginals import covered

Float = NDArray[np.float64]

_VALUES: Final = 50


@dataclass(frozen=True, slots=True)
class Propensity:
    """How far the scores are from saying nothing.

    Attributes:
        pmse: the mean squared difference of the scores and the released part of all rows, in [0, 1/4].
        expected: what it is on average if the release is drawn, with repetition, from the original.
    """

    pmse: float
    expected: float

    @property
    def ratio(self) -> float:
        """About 1 if the two cannot be told apart, more the better they can; NaN without features."""
        return self.pmse / self.expected if self.expected > 0 else float("nan")


def propensity(
    original: Table,
    release: Table,
    columns: Sequence[str],
    *,
    rows: int = 50_000,
    random_state: int | None = None,
) -> Propensity:
    """Fit a logistic regression on the columns, without interactions, and score.

    Labels of intervals count by their middles, labels of categories in equal parts for the values that they
    cover, so that generalization does not tell by itself. Of a column with more values than 50 the rarest
    count as one.

    The expectation is (k - 1) (1 - c)^2 c / N for k parameters and a part c of N rows released: that of a
    release drawn from the original, or from a right model of it. One made row by row comes closer than that.

    Args:
        original: at least one row.
        release: at least one row.
        columns: of both.
        rows: if the two have more in all, the same part of each is drawn at random.
        random_state: of the draw; None is the operating system's randomness.

    Raises:
        TableError: a table lacks a column.

    Reference: Snoke, Raab, Nowok, Dibben and Slavkovic, General and specific utility measures for synthetic
    data, Journal of the Royal Statistical Society A 181, 2018.
    """
    from sklearn.linear_model import LogisticRegression

    total, randomness = len(original) + len(release), Randomness(random_state)
    if total > rows:
        original, release = (
            table.taken(randomness.sample(len(table), max(1, len(table) * rows // total)))
            for table in (original, release)
        )
    parts = [_features(original, release, column) for column in columns]
    design = _independent(np.hstack(parts)) if parts else np.zeros((len(original) + len(release), 0))
    released = np.arange(len(design)) >= len(original)
    part = float(released.mean())
    if not design.shape[1]:
        return Propensity(0.0, 0.0)
    with threadpool_limits(limits=1):
        model = LogisticRegression(C=1e6, solver="newton-cholesky").fit(design, released)
        scores = model.predict_proba(design)[:, 1]
    expected = design.shape[1] * (1 - part) ** 2 * part / len(design)
    return Propensity(float(((scores - part) ** 2).mean()), expected)


def _features(original: Table, release: Table, column: str) -> Float:
    before, after = numbers_of(original, column), numbers_of(release, column)
    if before is not None and after is not None:
        both = np.concatenate((before, after))
        known = np.isfinite(both)
        middle, scale = (both[known].mean(), both[known].std()) if known.any() else (0.0, 1.0)
        scaled = np.where(known, (both - middle) / (scale if scale > 0 else 1.0), 0.0)
        return np.stack((scaled, ~known), axis=1)
    own, theirs = original.codes(column), release.codes(column)
    members = covered(original, column, own.values, theirs.values.tolist()).astype(np.float64)
    spread = np.hstack((members, members.sum(axis=1, keepdims=True) == 0))
    spread /= spread.sum(axis=1, keepdims=True)
    # the rarest values of a wide column share one feature, and all missing cells have none
    counts = np.bincount(own.codes[own.codes >= 0], minlength=len(own.values))
    ranks = np.minimum(np.argsort(np.argsort(-counts, kind="stable")), _VALUES - 1)
    width = min(len(own.values), _VALUES) + 1
    features = np.eye(width)[np.append(ranks, width - 1)]
    nothing = np.zeros((1, width))
    return np.vstack(
        (
            np.vstack((features[:-1], nothing))[own.codes],
            np.vstack((spread @ features, nothing))[theirs.codes],
        )
    )


def _independent(design: Float) -> Float:
    """The columns that are no combination of those before them and a constant (pivots of Cholesky)."""
    centred = design - design.mean(axis=0)
    gram = centred.T @ centred
    scale = np.maximum(np.diag(gram).copy(), np.finfo(np.float64).tiny)
    kept: list[int] = []
    for place in range(len(gram)):
        left = gram[place, place]
        if left > 1e-8 * scale[place] and left > 1e-12 * len(design):
            kept.append(place)
            gram = gram - np.outer(gram[:, place], gram[place]) / left
    found: Float = design[:, kept]
    return found

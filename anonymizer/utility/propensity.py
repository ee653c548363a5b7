"""The propensity score: can a model tell released rows from original ones?"""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

import numpy as np
from numpy.typing import NDArray
from threadpoolctl import threadpool_limits

from anonymizer.hierarchies.covering import Cover
from anonymizer.tables.numbers import numbers_of
from anonymizer.tables.randomness import Randomness
from anonymizer.tables.table import Table

Float = NDArray[np.float64]

_FEATURES: Final = 300
_MAX_VALUES: Final = 50
_MIN_VALUES: Final = 3


@dataclass(frozen=True, slots=True)
class Propensity:
    """How far the scores are from saying nothing.

    Attributes:
        pmse: the mean squared difference of the scores and the released part of all rows, in [0, 1/4].
        expected: what it is on average if the release is drawn, with repetition, from the original.
        columns: how many columns the model saw.
    """

    pmse: float
    expected: float
    columns: int

    @property
    def ratio(self) -> float:
        """About 1 if the two cannot be told apart, more the better they can; NaN without features."""
        return self.pmse / self.expected if self.expected > 0 else float("nan")


def propensity(
    original: Table,
    release: Table,
    columns: Sequence[str],
    *,
    rows: int = 20_000,
    random_state: int | None = None,
) -> Propensity:
    """Fit a logistic regression with an L2 penalty on the columns, without interactions, and score.

    Labels of intervals count by their middles, labels of categories in equal parts for the values that they
    cover, so that generalization does not tell by itself. The model has about 300 features at most: of a
    column of categories its commonest values, from 50 down to 3 where there are many columns, and the others
    as one; of still more columns a part, drawn at random.

    For parameters w of penalty |w|^2 / 2 the expectation is (1 - c)^2 c / N times the sum over the
    eigenvalues h of the information of (h / (h + 1))^2, for a part c of N rows released; without a penalty
    the sum is the number of parameters. That is for a release drawn from the original, or from a right model
    of it; one made row by row comes closer.

    Args:
        original: at least one row.
        release: at least one row.
        columns: of both.
        rows: if the two have more in all, the same part of each is drawn at random.
        random_state: of the draws; None is the operating system's randomness.

    Raises:
        TableError: a table lacks a column.

    Reference: Snoke, Raab, Nowok, Dibben and Slavkovic, General and specific utility measures for synthetic
    data, Journal of the Royal Statistical Society A 181, 2018.
    """
    from sklearn.exceptions import ConvergenceWarning
    from sklearn.linear_model import LogisticRegression

    for table in (original, release):
        for column in columns:
            table.require(column)
    total, randomness = len(original) + len(release), Randomness(random_state, "propensity")
    if total > rows:
        original, release = (
            table.take(randomness.sample(len(table), max(1, len(table) * rows // total)))
            for table in (original, release)
        )
    values = int(np.clip(_FEATURES // max(1, len(columns)), _MIN_VALUES, _MAX_VALUES))
    chosen = randomness.sample(len(columns), _FEATURES // values).tolist()
    parts = [_features(original, release, columns[place], values) for place in chosen]
    design = np.hstack(parts) if parts else np.zeros((len(original) + len(release), 0))
    design = design[:, np.ptp(design, axis=0) > 0]
    released = np.arange(len(design)) >= len(original)
    part = float(released.mean())
    if not design.shape[1]:
        return Propensity(0.0, 0.0, len(chosen))
    design -= design.mean(axis=0)
    with threadpool_limits(limits=1), warnings.catch_warnings():
        # Newton's method, whose Hessian the penalty keeps regular; where rounding ends its line search near
        # the optimum, scikit-learn goes on with L-BFGS, which is as good
        warnings.filterwarnings("ignore", "Line search of Newton solver", ConvergenceWarning)
        model = LogisticRegression(C=1.0, solver="newton-cholesky", max_iter=2000).fit(design, released)
        scores = model.predict_proba(design)[:, 1]
        held = np.maximum(np.linalg.eigvalsh(part * (1 - part) * (design.T @ design)), 0)
    curvature = float(((held / (held + 1)) ** 2).sum())
    expected = curvature * (1 - part) ** 2 * part / len(design)
    return Propensity(float(((scores - part) ** 2).mean()), expected, len(chosen))


def _features(original: Table, release: Table, column: str, most: int) -> Float:
    before, after = numbers_of(original, column), numbers_of(release, column)
    if before is not None and after is not None:
        both = np.concatenate((before, after))
        known = np.isfinite(both)
        middle, scale = (both[known].mean(), both[known].std()) if known.any() else (0.0, 1.0)
        scaled = np.where(known, (both - middle) / (scale if scale > 0 else 1.0), 0.0)
        return np.stack((scaled, ~known), axis=1)
    own, theirs = original.codes(column), release.codes(column)
    # the rarest values of a wide column share one feature, and all missing cells have none
    counts = np.bincount(own.codes[own.codes >= 0], minlength=len(own.values))
    ranks = np.minimum(np.argsort(np.argsort(-counts, kind="stable")), most - 1)
    width = min(len(own.values), most) + 1
    features = np.eye(width)[np.append(ranks, width - 1)]
    hierarchy, numeric = original.hierarchies.get(column), original.is_numeric(column)
    cover = Cover.of(own.values, theirs.values.tolist(), column, hierarchy=hierarchy, numeric=numeric)
    labels = cover.means(features[:-1])
    labels[cover.sizes == 0] = features[-1]
    nothing = np.zeros((1, width))
    return np.vstack(
        (np.vstack((features[:-1], nothing))[own.codes], np.vstack((labels, nothing))[theirs.codes])
    )

"""Utility for learning: how well a model trained on the release predicts (thesis, Definition 4.6)."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from types import MappingProxyType
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray
from threadpoolctl import threadpool_limits

from anonymizer.errors import TableError
from anonymizer.hierarchies.hierarchy import text_of
from anonymizer.methods.contract.method import Method
from anonymizer.tables.randomness import Randomness
from anonymizer.tables.table import Table
from anonymizer.utility.features import Features
from commons.errors import near


@dataclass(frozen=True, slots=True)
class LearningUtility:
    """F-measures and accuracies of two models on the same test rows.

    Attributes:
        original: F(D, E), trained on the original.
        release: F(A(D), E), trained on the release.
        original_accuracy: the part of the test rows that the first model predicts right.
        release_accuracy: the same of the second.
    """

    original: float
    release: float
    original_accuracy: float
    release_accuracy: float

    @property
    def ratio(self) -> float:
        """Uti(A(D)), Definition 4.6; NaN if the model of the original has F-measure 0."""
        return self.release / self.original if self.original > 0 else float("nan")


def holdout(table: Table, part: float = 0.1, random_state: int | None = None) -> tuple[Table, Table]:
    """Split off test rows at random; the thesis takes 10 % (section 4.3.3).

    Args:
        table: at least two rows.
        part: in (0, 1).
        random_state: None is the operating system's randomness.

    Returns:
        Rows to train with and rows to test with, at least one each; their origin is that of the table.

    Raises:
        TableError: there are fewer than two rows.
    """
    if len(table) < 2:
        raise TableError("A table of fewer than two rows cannot be split.", "Give more rows.")
    count = min(len(table) - 1, max(1, round(part * len(table))))
    chosen = Randomness(random_state, "holdout").sample(len(table), count)
    rest = np.setdiff1d(np.arange(len(table)), chosen)
    return table.take(rest), table.take(chosen)


def learning_utility(
    original: Table,
    release: Table,
    test: Table,
    *,
    target: str,
    model: str = "svm",
    positive: Any = None,
    recoding: Method | None = None,
    intervals: str = "middle",
    rows: int | None = None,
    random_state: int | None = None,
) -> LearningUtility:
    """Train on original and release, test on rows that neither has.

    All shared columns but identifiers and the target are features: numbers scaled, categories one-hot.
    The model of the original is tested on the test rows as they are. That of the release is too, unless
    `recoding` is given: then on the test rows brought into the form of the release, as its user would do who
    knows the hierarchies. Generalized categories need that; intervals of numbers do not.

    Args:
        original: D, the training rows.
        release: A(D).
        test: E.
        target: the column to predict.
        model: of `MODELS`: "svm" (RBF kernel, as in the thesis), "logistic", "mlp", "forest", "boosting".
        positive: the class whose F-measure counts; None is the rarer of two, and the mean over the classes
            if there are more.
        recoding: a fitted method or pipeline; of a pipeline only the steps count that put labels or bounds in
            place of values, not noise or sampling.
        intervals: as `Features.learn`.
        rows: train with at most so many, drawn at random, where time matters; None is all.
        random_state: of the draw and of the model; None is the operating system's randomness.

    Raises:
        TableError: a table has no rows or lacks the target, the target has fewer than two classes, or the
            model is unknown.
    """
    from sklearn.exceptions import ConvergenceWarning

    if model not in MODELS:
        raise TableError(f"{model!r} is not a model.", near(model, tuple(MODELS)))
    for table in (original, release, test):
        table.require(target)
        if not len(table):
            raise TableError("A table to learn from or to test with has no rows.", "Give at least one.")
    hidden = {target, *original.roles.identifiers}
    columns = [name for name in original.names if name in release.names and name not in hidden]
    randomness = Randomness(random_state, "learning")
    truth = _answers(test, target)
    classes = np.unique(_answers(original, target))
    counted = _check_classes(classes, _answers(original, target), positive, target)
    trials = ((original, test), (release, test if recoding is None else recoding.recode(test)))
    found, right = [], []
    for training, rest in trials:
        kept = randomness.sample(len(training), len(training) if rows is None else rows)
        chosen = training.take(kept)
        answers = _answers(chosen, target)
        features = Features.learn(chosen, columns, intervals)
        if len(np.unique(answers)) < 2:
            guesses = np.full(len(rest), answers[0], dtype=object)
        else:
            fitted = MODELS[model](int(randomness.words(1)[0] >> np.uint64(33)))
            with threadpool_limits(limits=1), warnings.catch_warnings():
                # a perceptron that is stopped before it converges is a model too: both tables have the same
                warnings.simplefilter("ignore", ConvergenceWarning)
                guesses = fitted.fit(features.of(chosen), answers).predict(features.of(rest))
        found.append(_f_measure(truth, guesses, counted))
        right.append(float((truth == guesses).mean()))
    return LearningUtility(*found, *right)


def _answers(table: Table, target: str) -> NDArray[Any]:
    codes = table.codes(target)
    texts = np.array([*map(text_of, codes.values.tolist()), ""], dtype=object)
    return texts[codes.codes].astype(str)


def _check_classes(classes: NDArray[Any], answers: NDArray[Any], positive: Any, target: str) -> Sequence[str]:
    if len(classes) < 2:
        raise TableError(f"Column {target!r} has fewer than two classes.", "Choose another target.")
    if positive is not None:
        if text_of(positive) not in classes:
            raise TableError(
                f"Column {target!r} has no class {positive!r}.", near(str(positive), classes.tolist())
            )
        return (text_of(positive),)
    if len(classes) > 2:
        return tuple(classes)
    return (str(min(classes, key=lambda one: int((answers == one).sum()))),)


def _f_measure(truth: NDArray[Any], guesses: NDArray[Any], classes: Sequence[str]) -> float:
    """The harmonic mean of precision and recall, 2 TP / (2 TP + FP + FN); the mean over the classes."""
    scores = []
    for one in classes:
        right = int(((truth == one) & (guesses == one)).sum())
        named = int((truth == one).sum() + (guesses == one).sum())
        scores.append(2 * right / named if named else 0.0)
    return float(np.mean(scores))


def _svm(seed: int) -> Any:
    from sklearn.svm import SVC

    return SVC(kernel="rbf", random_state=seed)


def _logistic(seed: int) -> Any:
    from sklearn.linear_model import LogisticRegression

    return LogisticRegression(max_iter=2000, random_state=seed)


def _mlp(seed: int) -> Any:
    from sklearn.neural_network import MLPClassifier

    return MLPClassifier(max_iter=500, random_state=seed)


def _forest(seed: int) -> Any:
    from sklearn.ensemble import RandomForestClassifier

    return RandomForestClassifier(random_state=seed)


def _boosting(seed: int) -> Any:
    from sklearn.ensemble import HistGradientBoostingClassifier

    return HistGradientBoostingClassifier(random_state=seed)


MODELS: Final[Mapping[str, Callable[[int], Any]]] = MappingProxyType(
    {"svm": _svm, "logistic": _logistic, "mlp": _mlp, "forest": _forest, "boosting": _boosting}
)
"""Classifiers of scikit-learn with its default parameters, but for more iterations where they are needed."""

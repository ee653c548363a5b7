"""The health table of the paper on the risk of disclosure, releases of it, and what is measured of them.

Reference: Chen, Yu and Dargahi, Evaluating the risk of disclosure and utility in a synthetic dataset,
Computers, Materials & Continua 68(1), 2021, footnote 1 and section 3.3.2.
"""

from __future__ import annotations

import warnings
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Final

import numpy as np
import pandas as pd
from numpy.typing import NDArray
from sklearn.exceptions import ConvergenceWarning
from sklearn.linear_model import LogisticRegression
from sklearn.neural_network import MLPClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.svm import SVC
from threadpoolctl import threadpool_limits

from anonymizer.methods.registry import METHODS
from anonymizer.risk.distance.p_privacy import p_privacy
from anonymizer.risk.distance.space import RecordSpace
from anonymizer.risk.distance.voronoi import VoronoiPrivacy, voronoi_privacy
from anonymizer.risk.distance.y_privacy import YPrivacy, y_privacy
from anonymizer.schema.columns import Column, Schema
from anonymizer.tables.randomness import Randomness
from anonymizer.tables.roles import Roles
from anonymizer.tables.table import Table
from anonymizer.utility.moments import Moment, moment_errors

Float = NDArray[np.float64]

COLUMNS: Final = ("HEIGHT", "WEIGHT", "BMI", "DBP", "SBP")
BOUNDS: Final = {
    "HEIGHT": (120, 220),
    "WEIGHT": (20, 140),
    "BMI": (5, 70),
    "DBP": (40, 130),
    "SBP": (70, 200),
}
STEP: Final = 0.1
HIGH: Final = 122.0
"""Who has an SBP of more is to be predicted: about half of the people."""
TRAINED: Final = 2000
MODELS: Final = ("SVM", "LR", "MLP")
MOMENTS: Final[tuple[Moment, ...]] = ("mean", "deviation", "variance")


def health(rows: int, seed: int) -> Table:
    """The table: height and weight normal and independent, BMI of both, blood pressures of BMI with noise."""
    random = Randomness(seed, "health")
    height, weight, first, second = (random.normal(rows) for _ in range(4))
    cells = {"HEIGHT": 170 + 8 * height, "WEIGHT": 70 + 12 * weight}
    cells["BMI"] = cells["WEIGHT"] / np.square(cells["HEIGHT"] / 100)
    cells["DBP"] = 50 + 1.2 * cells["BMI"] + 2 * first
    cells["SBP"] = 85 + 1.5 * cells["BMI"] + 3 * second
    frame = pd.DataFrame({name: np.clip(cells[name], *BOUNDS[name]).round(1) for name in COLUMNS})
    schema = Schema({name: Column("float", *BOUNDS[name], step=STEP) for name in COLUMNS})
    return Table.of(frame, Roles(quasi_identifiers=COLUMNS), None, schema)


def released(table: Table, word: str, epsilon: float, seed: int | None = None) -> Table:
    """A release by a method, of as many rows (erratum 42) and within the bounds; else by its defaults."""
    known = METHODS[word]().get_params()
    more: dict[str, Any] = {"rows": len(table), "clamped": True, "random_state": seed}
    given = {name: value for name, value in more.items() if name in known}
    made: Table = METHODS[word](epsilon=epsilon, **given).fit_transform_table(table)
    return made


@dataclass(frozen=True, slots=True)
class Found:
    """What was measured of one release.

    Attributes:
        raw: Voronoi privacy in the units of the columns, which the paper does not scale.
        scaled: y-privacy by the declared ranges.
        p: p-privacy.
        errors: of each moment, by column; 1 is 100 %.
        accuracy: of models trained on the release, by name.
    """

    raw: VoronoiPrivacy = field(repr=False)
    scaled: YPrivacy
    p: float
    errors: Mapping[str, Mapping[str, float]]
    accuracy: Mapping[str, float]

    def error(self, moment: str = "variance") -> float:
        """The mean over the columns in percent, Eq. 12."""
        return 100 * float(np.mean(list(self.errors[moment].values())))

    def distance(self, name: str) -> float:
        """Voronoi privacy by one of `DISTANCES`; NaN where tables have different sizes."""
        paired = self.raw.assignment
        return {
            "nearest neighbour": self.raw.nearest,
            "assignment": float("nan") if paired is None else paired.mean,
            "earth mover": self.raw.earth_mover.mean,
        }[name]


DISTANCES: Final = ("nearest neighbour", "assignment", "earth mover")


def measured(table: Table, release: Table, fresh: Table, seed: int) -> Found:
    """Measure a release.

    Args:
        table: the original.
        release: of it.
        fresh: other people of the same kind, for tests of accuracy.
        seed: of samples and models.
    """
    one, other = (np.stack([each.numbers(name) for name in COLUMNS], axis=1) for each in (table, release))
    space = RecordSpace({name: (float(low), float(high)) for name, (low, high) in BOUNDS.items()}, {})
    return Found(
        voronoi_privacy(one, other, seed),
        y_privacy(space.points(table), space.points(release)),
        p_privacy(table, release, COLUMNS).p,
        {moment: moment_errors(table, release, COLUMNS, moment) for moment in MOMENTS},
        accuracies(release, fresh, seed),
    )


def accuracies(training: Table, test: Table, seed: int) -> Mapping[str, float]:
    """How often models that learn high SBP from a table are right about other people."""
    kept = Randomness(seed, "training").sample(len(training), TRAINED)
    features, answers = _split(training)
    rest, truth = _split(test)
    features, answers = features[kept], answers[kept]
    if len(np.unique(answers)) < 2:
        return {name: float((truth == answers[0]).mean()) for name in MODELS}
    models = (SVC(), LogisticRegression(max_iter=1000), MLPClassifier(max_iter=300, random_state=seed))
    found = {}
    with threadpool_limits(limits=1), warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)  # noise is not learned in any time
        for name, model in zip(MODELS, models, strict=True):
            fitted = make_pipeline(StandardScaler(), model).fit(features, answers)
            found[name] = float((fitted.predict(rest) == truth).mean())
    return found


def _split(table: Table) -> tuple[Float, NDArray[np.bool_]]:
    features = np.stack([table.numbers(name) for name in COLUMNS[:-1]], axis=1)
    return features, table.numbers("SBP") > HIGH

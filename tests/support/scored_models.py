"""Models, rows and jobs for tests of scoring and validation."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from smc.analyses.predictors.form import (
    Forest,
    Leaf,
    Linear,
    Link,
    Precision,
    Predictor,
    Split,
    Tree,
    WeightedTerm,
)
from smc.analyses.predictors.text import commitment, pieces, text_of
from smc.analyses.studies.columns import Column, Schema

FEATURES = {"age": (0, 120, 0), "bmi": (100, 600, 1), "marker": (0, 4000, 2)}
"""Least and greatest held value, and digits after the point."""

DECLARED = [
    {"name": name, "lower": str(low / 10**digits), "upper": str(high / 10**digits), "digits": digits}
    for name, (low, high, digits) in FEATURES.items()
]
UNITS = 10.0 ** np.array([digits for _, _, digits in FEATURES.values()])


def salted(model):
    return replace(model, salt="5a" * 32)


def of_tree(estimator, part=1.0):
    """A tree of scikit-learn."""
    tree, classifies = estimator.tree_, hasattr(estimator, "classes_")

    def node(number):
        left, right = int(tree.children_left[number]), int(tree.children_right[number])
        if left >= 0:
            return Split(int(tree.feature[number]), float(tree.threshold[number]), left, right)
        value = tree.value[number][0]
        return Leaf(tuple(((value / value.sum() if classifies else value) * part).tolist()))

    return Tree.grow(0, node)


def of_trees(estimators, classes):
    """A forest of scikit-learn, or a single tree in a list."""
    trees = tuple(of_tree(each, 1 / len(estimators)) for each in estimators)
    base = (0.0,) * max(1, len(classes))
    body = Forest(trees, Precision.SINGLE)
    return salted(Predictor(tuple(FEATURES), tuple(classes), Link.IDENTITY, base, body))


def of_linear(weights, constants, classes, link, features=tuple(FEATURES), terms=None):
    rows = tuple(tuple(map(float, row)) for row in weights)
    body = Linear(terms or tuple(map(WeightedTerm, range(len(features)))), rows)
    return salted(Predictor(features, tuple(classes), link, tuple(map(float, constants)), body))


def model_data(model):
    return {"model": Column(pieces(text_of(model)), Schema("text"))}


def held_rows_of(random, count):
    """Rows within the ranges, as held integers, shape (count, features)."""
    return np.stack([random.integers(low, high + 1, count) for low, high, _ in FEATURES.values()], axis=1)


def rows_data(held):
    return {
        name: Column(held[:, place].copy(), Schema("decimal" if digits else "integer", digits, low, high))
        for place, (name, (low, high, digits)) in enumerate(FEATURES.items())
    }


def scoring_job(model, /, **changes):
    """The `[parameters]` of a scoring of a model."""
    given = {
        "commitment": commitment(model),
        "link": model.link.value,
        "classes": list(model.classes),
        "maximum_rows": 100_000,
        "features": DECLARED,
    }
    if isinstance(model.body, Forest):
        given |= {"kind": "trees", "trees": len(model.body.trees), "depth": model.body.depth}
    else:
        given |= {"kind": "linear"}
    return given | changes

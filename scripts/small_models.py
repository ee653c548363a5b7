"""Small models over age and weight, for the wire's baseline and the jobs of the documents."""

from __future__ import annotations

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

_FEATURES = ("age", "weight")
_CLASSES = ("low", "high")
_SALT = "00112233445566778899aabbccddeeff" * 2
"""Everybody knows it, as everybody knows these models."""


def _tree(first: Split, chances: tuple[float, float, float]) -> Tree:
    """A tree of two decisions, of which the second is on the right."""
    low, middle, high = (Leaf((chance / 3,)) for chance in chances)
    second = Split(1 - first.feature, 60.5 if first.feature else 85.0, 3, 4)
    return Tree((first, low, second, middle, high))


FOREST = Predictor(
    _FEATURES,
    _CLASSES,
    Link.IDENTITY,
    (0.0,),
    Forest(
        (
            _tree(Split(0, 50.5, 1, 2), (0.1, 0.4, 0.8)),
            _tree(Split(1, 72.25, 1, 2), (0.2, 0.5, 0.9)),
            _tree(Split(0, 64.5, 1, 2), (0.3, 0.6, 0.7)),
        ),
        Precision.SINGLE,
    ),
    _SALT,
)

LINEAR = Predictor(
    _FEATURES,
    _CLASSES,
    Link.LOGISTIC,
    (-3.0,),
    Linear((WeightedTerm(0), WeightedTerm(1)), ((0.02, 0.025),)),
    _SALT,
)

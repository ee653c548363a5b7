"""Secret scores: features of one side times weights of the other.

A feature of the range [m - h, m + h] is brought as (x - m) / h, from -1 to 1, and its weight as w h; what the
middles add is in the constant. So both parts have one scale whatever the units are, and the bound on scores,
which the job states, is all that the side with rows needs to know of the weights.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from fractions import Fraction
from typing import Final

import numpy as np
from numpy.typing import NDArray

from smc.analyses.predictors.features import held_rows
from smc.analyses.predictors.text import open_commitment
from smc.analyses.predictors.tree_scores import HeldTrees, tree_scores
from smc.analyses.studies.columns import Column, Data
from smc.analyses.validation.parameters import TREES, Feature, ValidationParameters
from smc.errors import DomainError
from smc.numeric.shapes import of_shape, shape_array
from smc.protocols.session import Session
from smc.secret.bits import SecretBits
from smc.secret.comparison import msb
from smc.secret.ints import SecretInts
from smc.secret.sharing.bounds import Bounds
from smc.secret.sharing.fixed import Fixed

Whole = NDArray[np.int64]
Model = tuple[Whole, Whole]
"""Weights of the features, shape (features,), and the constant, shape (1,)."""

FEATURE_BITS: Final = 14
"""Fractional bits of a feature, of which the range is from -1 to 1."""

WEIGHT_BITS: Final = 16
"""Fractional bits of a weight."""

SCORE_BITS: Final = FEATURE_BITS + WEIGHT_BITS
INTERCEPT: Final = "(intercept)"
"""What the constant is called among the features of a model."""


def standardize(features: Sequence[Feature], data: Data) -> Whole:
    """Own features as held integers, shape (n, features)."""
    columns = []
    for feature in features:
        unit = 10 ** data[feature.name].schema.scale
        real = data[feature.name].array / unit
        ranged = (real - float(feature.middle)) / float(feature.reach)
        columns.append(np.rint(np.ldexp(np.clip(ranged, -1.0, 1.0), FEATURE_BITS)))
    return np.stack(columns, axis=1).astype(np.int64)


def weights_of(parameters: ValidationParameters, data: Data) -> Model:
    """The model as held integers.

    Raises:
        DomainError: a feature has no weight, or another name one; or a score could be too large.
    """
    return _model_of(parameters, data["weight"].array, data)


@of_shape(
    lambda parameters, held, data: (
        shape_array(len(parameters.features), np.int64),
        shape_array(1, np.int64),
    )
)
def _model_of(parameters: ValidationParameters, held: Whole, data: Data) -> Model:
    unit = 10 ** data["weight"].schema.scale
    given: Mapping[str, Fraction] = {
        name: Fraction(weight, unit)
        for name, weight in zip(data["feature"].texts, held.tolist(), strict=True)
    }
    names = {feature.name for feature in parameters.features}
    unknown = sorted(({*given} - names - {INTERCEPT}) | (names - {*given}))
    if unknown or len(given) < len(data["feature"]):
        found = f"{unknown[0]!r} is in one of them only" if unknown else "a feature has two weights"
        raise DomainError(
            f"The model and parameters.features do not fit: {found}.",
            f"Give each feature of the job one weight in the model, and the constant as {INTERCEPT!r}.",
        )
    constant = given.get(INTERCEPT, Fraction(0))
    constant += sum(given[each.name] * each.middle for each in parameters.features)
    scaled = [given[each.name] * each.reach for each in parameters.features]
    if abs(constant) + sum(map(abs, scaled)) >= parameters.largest:
        raise DomainError(
            f"By the ranges of the features a score of the model could exceed {parameters.largest}, "
            "parameters.largest.",
            "Raise largest, or state narrower ranges of the features.",
        )
    weights = np.array([round(each * (1 << WEIGHT_BITS)) for each in scaled], dtype=np.int64)
    return weights, np.array([round(constant * (1 << SCORE_BITS))], dtype=np.int64)


def score(
    session: Session,
    parameters: ValidationParameters,
    features: Whole | None,
    model: Model | None,
    count: int,
) -> SecretInts:
    """Secret scores at `SCORE_BITS`, shape (count,).

    Args:
        session: this side of the run.
        parameters: of the job.
        features: at the side with rows, else None.
        model: at its side, else None.
        count: rows of the side that has them.
    """
    width = len(parameters.features)
    weights, constant = (None, None) if model is None else model
    reach = Bounds(-parameters.largest << SCORE_BITS, parameters.largest << SCORE_BITS)
    factors = Bounds(-parameters.largest << WEIGHT_BITS, parameters.largest << WEIGHT_BITS)
    one = Bounds(-1 << FEATURE_BITS, 1 << FEATURE_BITS)
    brought = SecretInts.from_plain(session, features, parameters.rows, one, (count, width), FEATURE_BITS)
    known = SecretInts.from_plain(session, weights, parameters.model, factors, width, WEIGHT_BITS)
    offset = SecretInts.from_plain(session, constant, parameters.model, reach, 1, SCORE_BITS)
    # The model's side has checked that all scores are within reach, whatever the rows are.
    return (brought @ known + offset).with_bounds(reach)


def plain_score(features: Whole, model: Model) -> Whole:
    """The same in the clear."""
    weights, constant = model
    found: Whole = features @ weights + constant
    return found


def cuts_of(parameters: ValidationParameters) -> Fixed:
    """The cuts at the scale of scores, shape (cuts,)."""
    scale = parameters.shape.scale if parameters.kind == TREES else SCORE_BITS
    return Fixed.of(list(parameters.sums), scale)


@of_shape(lambda parameters, column: parameters.shape.shapes)
def trees_of(parameters: ValidationParameters, column: Column) -> HeldTrees:
    """The trees of a data set as whole numbers.

    Raises:
        DomainError: they are none, do not fit the job, or are not those that it is committed to.
    """
    return parameters.shape.to_held(open_commitment(column.texts, parameters.commitment))


def tree_rows(parameters: ValidationParameters, data: Data) -> Whole:
    """Own features as trees take them, shape (n, features)."""
    return held_rows(parameters.shape.features, data)


def reached_by_trees(
    session: Session, parameters: ValidationParameters, mine: Whole | HeldTrees, count: int
) -> Iterator[tuple[slice, SecretBits]]:
    """Which cuts the scores of rows reach, part after part, shape (k, cuts)."""
    shape, cuts = parameters.shape, cuts_of(parameters).held
    bounds = Bounds(-2 * shape.reach(shape.scale), 2 * shape.reach(shape.scale))
    own = cuts.astype(np.uint64) * np.uint64(session.role is parameters.model)
    for part, scores in tree_scores(session, shape, parameters.model, mine, count):
        bits = msb.nonnegative(session, (scores - own).reshape(-1), bounds)
        yield part, SecretBits(session, bits.reshape(-1, len(cuts)))

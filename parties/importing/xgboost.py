"""XGBoost's models: the JSON of `Booster.save_model`."""

from __future__ import annotations

from math import log

import numpy as np

from parties.importing.fields import (
    class_numbers,
    feature_names,
    items,
    only_output,
    refusal,
    require_well_formed,
    table,
    text,
)
from smc.analyses.predictors.form import (
    MAX_CLASSES,
    MAX_FEATURES,
    Forest,
    Leaf,
    Link,
    Node,
    Precision,
    Predictor,
    Split,
    Tree,
)
from smc.analyses.predictors.text import number, numbers, read_json, whole
from smc.errors import DomainError

PROGRAM = "XGBoost"

_LINKS = {
    "binary:logistic": Link.LOGISTIC,
    "multi:softprob": Link.SOFTMAX,
    "multi:softmax": Link.SOFTMAX,
    "reg:squarederror": Link.IDENTITY,
    "reg:absoluteerror": Link.IDENTITY,
}
_MAX_BASE = 10_000


def before(threshold: float) -> float:
    """The largest single below a threshold: up to it values are below the threshold.

    Raises:
        ValueError: the threshold is no finite single.
    """
    found = np.nextafter(np.float32(threshold), np.float32(-np.inf))
    if not np.isfinite(found):
        raise ValueError
    return float(found)


def read(document: object) -> Predictor:
    """The model of a parsed file. Raises as `parties.importing.lightgbm.read`."""
    with require_well_formed(PROGRAM):
        learner = table(table(document)["learner"])
        objective = text(table(learner["objective"])["name"])
        if objective not in _LINKS:
            raise refusal(f"XGBoost's objective {objective!r} is not read.", f"Read are {', '.join(_LINKS)}.")
        link = _LINKS[objective]
        booster = table(learner["gradient_booster"])
        if booster["name"] != "gbtree":
            raise refusal(f"XGBoost's booster {text(booster['name'])!r} is not read.", "Train with gbtree.")
        sizes = table(learner["learner_model_param"])
        if text(sizes.get("num_target", "1")) != "1":
            raise refusal("The XGBoost model predicts several numbers.")
        outputs = max(1, int(text(sizes["num_class"])))
        features = int(text(sizes["num_feature"]))
        if outputs > MAX_CLASSES or not 1 <= features <= MAX_FEATURES:
            raise refusal(
                f"The XGBoost model has more than {MAX_CLASSES} classes or {MAX_FEATURES} features.",
                "Train a smaller one.",
            )
        model = table(booster["model"])
        whose = items(model["tree_info"], whole)
        trees = items(model["trees"], table)
        if len(whose) != len(trees) or not all(0 <= output < outputs for output in whose):
            raise ValueError
        _check_rounds(learner, len(trees) // (outputs * _side_by_side(model)))
        return Predictor(
            feature_names(items(learner.get("feature_names", []), text), features),
            () if link is Link.IDENTITY else class_numbers(max(2, outputs)),
            link,
            _base(text(sizes["base_score"]), link, outputs),
            Forest(
                tuple(_tree(each, output, outputs) for each, output in zip(trees, whose, strict=True)),
                Precision.SINGLE,
            ),
        )


def _side_by_side(model: dict[str, object]) -> int:
    """How many trees of an output each round adds."""
    return max(1, int(text(table(model.get("gbtree_model_param", {})).get("num_parallel_tree", "1"))))


def _check_rounds(learner: dict[str, object], rounds: int) -> None:
    """Refuse a model of which XGBoost's own programs do not all take the same rounds."""
    best = table(learner.get("attributes", {})).get("best_iteration")
    if best is not None and int(text(best)) + 1 < rounds:
        raise refusal(
            f"The training of the XGBoost model was best at round {int(text(best)) + 1} of {rounds}: its "
            "scikit-learn interface predicts by the rounds up to that one, its Booster by all.",
            "Save those that count: booster[: booster.best_iteration + 1].save_model(...).",
        )


def _base(score: str, link: Link, outputs: int) -> tuple[float, ...]:
    """What outputs begin with; of binary models the file has it as a chance."""
    try:
        found = read_json(score, _MAX_BASE)
    except DomainError:
        raise ValueError from None
    values = numbers(found) if isinstance(found, list) else (number(found),)
    if len(values) == 1:
        values *= outputs
    if len(values) != outputs:
        raise ValueError
    if link is Link.LOGISTIC:
        if not 0 < values[0] < 1:
            raise ValueError
        return (log(values[0] / (1 - values[0])),)
    return values


def _tree(entry: dict[str, object], output: int, outputs: int) -> Tree:
    left, right, features = (
        items(entry[name], whole) for name in ("left_children", "right_children", "split_indices")
    )
    conditions = numbers(entry["split_conditions"])
    if any(items(entry.get("split_type", []), whole)):
        raise refusal(
            "The XGBoost model splits by sets of categories.", "Make columns of 0 and 1 of categories."
        )
    if not len(left) == len(right) == len(features) == len(conditions) > 0:
        raise ValueError
    if text(table(entry["tree_param"]).get("size_leaf_vector", "1")) not in ("0", "1"):
        raise refusal("The leaves of the XGBoost model are vectors.")

    def node(place: int) -> Node:
        if not 0 <= place < len(left):
            raise LookupError
        if left[place] == -1:
            return Leaf(only_output(conditions[place], output, outputs))
        return Split(features[place], before(conditions[place]), left[place], right[place])

    return Tree.grow(0, node)

"""LightGBM's models: the JSON of `Booster.dump_model`."""

from __future__ import annotations

import re

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
    Forest,
    Leaf,
    Link,
    Node,
    Precision,
    Predictor,
    Split,
    Tree,
)
from smc.analyses.predictors.text import number, whole

PROGRAM = "LightGBM"
_BINARY = re.compile(r"binary sigmoid:([0-9.e+-]{1,20})")
_MULTICLASS = re.compile(r"multiclass num_class:([0-9]{1,4})")


def read(document: object) -> Predictor:
    """The model of a parsed file.

    Raises:
        DataError: it is none, or uses what cannot be computed on.
        DomainError: its numbers or sizes do not fit `smc.analyses.predictors.form`.
    """
    with require_well_formed(PROGRAM):
        found = table(document)
        if found["average_output"] is not False:
            raise refusal("The leaves of this LightGBM model are averaged (boosting = rf).")
        objective = text(found["objective"])
        outputs = whole(found["num_tree_per_iteration"])
        if not 1 <= outputs <= MAX_CLASSES:
            raise refusal(f"The model has more than {MAX_CLASSES} classes.", "Merge classes.")
        link, classes, factor = _objective(objective, outputs)
        trees = [
            _tree(table(each), place % outputs, outputs, factor)
            for place, each in enumerate(items(found["tree_info"], table))
        ]
        return Predictor(
            feature_names(items(found["feature_names"], text), whole(found["max_feature_idx"]) + 1),
            classes,
            link,
            (0.0,) * outputs,
            Forest(tuple(trees), Precision.DOUBLE),
        )


def _objective(objective: str, outputs: int) -> tuple[Link, tuple[str, ...], float]:
    """The link, the classes, and what leaves are multiplied by."""
    if match := _BINARY.fullmatch(objective):
        return Link.LOGISTIC, class_numbers(2), float(match[1])
    if (match := _MULTICLASS.fullmatch(objective)) and int(match[1]) == outputs:
        return Link.SOFTMAX, class_numbers(outputs), 1.0
    if objective in ("regression", "regression_l1", "huber", "fair", "quantile", "mape"):
        return Link.IDENTITY, (), 1.0
    raise refusal(
        f"LightGBM's objective {objective!r} is not read.", "Read are regression, binary and multiclass."
    )


def _tree(entry: dict[str, object], output: int, outputs: int, factor: float) -> Tree:
    """The tree of an entry of `tree_info`, whose nodes are nested."""
    nodes: list[dict[str, object]] = [table(entry["tree_structure"])]

    def node(place: int) -> Node:
        found = nodes[place]
        if "leaf_value" in found:
            if "leaf_coeff" in found:
                raise refusal("The leaves of this LightGBM model are linear (linear_tree).")
            return Leaf(only_output(number(found["leaf_value"]) * factor, output, outputs))
        if found["decision_type"] != "<=":
            raise refusal(
                "The LightGBM model splits by sets of categories.", "Make columns of 0 and 1 of categories."
            )
        if found["missing_type"] not in ("None", "NaN"):
            raise refusal("The LightGBM model takes zeros for missing values (zero_as_missing).")
        nodes.extend((table(found["left_child"]), table(found["right_child"])))
        return Split(
            whole(found["split_feature"]), number(found["threshold"]), len(nodes) - 2, len(nodes) - 1
        )

    return Tree.grow(0, node)

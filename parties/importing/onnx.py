"""ONNX-ML's models: graphs whose only computing node is a linear model or an ensemble of trees.

References: onnx.proto3 for the fields of messages; the operators of ai.onnx.ml, versions 1 to 4.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

from parties.importing.fields import feature_names, refusal, require_well_formed
from parties.importing.protobuf import Fields, read_fields
from parties.importing.xgboost import before
from smc.analyses.predictors.form import (
    MAX_CLASSES,
    MAX_FEATURES,
    MAX_TREES,
    Forest,
    Leaf,
    Linear,
    Link,
    Node,
    Precision,
    Predictor,
    Split,
    Tree,
    WeightedTerm,
)

PROGRAM: Final = "ONNX-ML"

_GRAPH, _NODES = 7, 1
_TAKEN, _GIVEN, _OPERATOR, _ATTRIBUTES, _DOMAIN = 1, 2, 4, 5, 7
_INPUTS, _SHAPE = 11, (2, 1, 2, 1)
_SINGLE: Final = 1
"""What a Cast is to, of singles."""

_NAME, _WHOLE, _TEXT, _SINGLES, _WHOLES, _TEXTS = 1, 3, 4, 7, 8, 9

_OPERATORS: Final = ("LinearClassifier", "LinearRegressor", "TreeEnsembleClassifier", "TreeEnsembleRegressor")
_AROUND: Final = ("Identity", "Cast", "Normalizer", "ZipMap", "Reshape", "ArrayFeatureExtractor")
"""What exporters put behind a model, which changes no class and no chance."""

_LEFT: Final = {
    "BRANCH_LEQ": (True, False),
    "BRANCH_LT": (True, True),
    "BRANCH_GT": (False, False),
    "BRANCH_GTE": (False, True),
}
"""Of each kind of decision whether its true child is for lower values, and whether equal ones are higher."""


@dataclass(frozen=True, slots=True)
class Attributes:
    """The attributes of an operator by their names."""

    found: dict[str, Fields]

    def text(self, name: str, usual: str) -> str:
        """A text."""
        return self.found[name].text(_TEXT) if name in self.found else usual

    def whole(self, name: str, usual: int) -> int:
        """A whole number."""
        return self.found[name].whole(_WHOLE) if name in self.found else usual

    def wholes(self, name: str) -> list[int]:
        """Whole numbers, or an empty list where the attribute is missing."""
        return self.found[name].wholes(_WHOLES) if name in self.found else []

    def singles(self, name: str) -> list[float]:
        """Singles; likewise."""
        return self.found[name].singles(_SINGLES) if name in self.found else []

    def texts(self, name: str) -> list[str]:
        """Texts; likewise."""
        return [blob.decode() for blob in self.found[name].blobs(_TEXTS)] if name in self.found else []

    def classes(self, whole: str) -> tuple[str, ...]:
        """The labels of classes, which are whole numbers or texts."""
        return tuple(map(str, self.wholes(whole))) or tuple(self.texts("classlabels_strings"))


def read(data: bytes) -> Predictor:
    """The model of a file; its features are called `f0`, `f1`, ... Raises as `lightgbm.read`."""
    with require_well_formed(PROGRAM):
        (graph,) = read_fields(data).blobs(_GRAPH)
        fields = read_fields(graph)
        nodes = [read_fields(node) for node in fields.blobs(_NODES)]
        models = [node for node in nodes if node.text(_OPERATOR) in _OPERATORS]
        others = [name for node in nodes if (name := node.text(_OPERATOR)) not in (*_OPERATORS, *_AROUND)]
        if others or len(models) != 1:
            raise refusal(
                f"The ONNX graph is not one model of {', '.join(_OPERATORS)}"
                + (f": it has a node {others[0]!r}." if others else "."),
                "Export the model alone, without what prepares its columns.",
            )
        (node,) = models
        if node.text(_DOMAIN) != "ai.onnx.ml":
            raise ValueError
        _check_before(node, nodes)
        attributes = [read_fields(blob) for blob in node.blobs(_ATTRIBUTES)]
        given = Attributes({each.text(_NAME): each for each in attributes})
        if tensors := [name for name in given.found if name.endswith("_as_tensor")]:
            raise refusal(
                f"The ONNX model has doubles ({tensors[0]}), which are not read.", "Export singles."
            )
        operator = node.text(_OPERATOR)
        return (
            _linear(given, operator)
            if operator.startswith("Linear")
            else _trees(given, operator, _declared_features(fields))
        )


def _check_before(model: Fields, nodes: list[Fields]) -> None:
    """Check that the model takes the columns as the graph does, or as singles. Raises DataError."""
    makers = {output: node for node in nodes for output in node.blobs(_GIVEN)}
    place = model
    for _ in range(len(nodes) + 1):
        taken = place.blobs(_TAKEN)[:1]
        if not taken or taken[0] not in makers:
            return
        place = makers[taken[0]]
        operator, attributes = place.text(_OPERATOR), map(read_fields, place.blobs(_ATTRIBUTES))
        kinds = [each.whole(_WHOLE) for each in attributes if each.text(_NAME) == "to"]
        if operator != "Identity" and (operator, kinds) != ("Cast", [_SINGLE]):
            raise refusal(
                f"The ONNX graph has a node {operator!r} before the model.",
                "Export the model alone, and prepare its columns before.",
            )
    raise refusal("The ONNX graph goes in a circle before the model.")


def _linear(given: Attributes, operator: str) -> Predictor:
    classes = given.classes("classlabels_ints") if operator == "LinearClassifier" else ()
    if not classes and given.whole("targets", 1) != 1:
        raise refusal("The ONNX model predicts several numbers.")
    after = given.text("post_transform", "NONE")
    weights, base = given.singles("coefficients"), given.singles("intercepts")
    outputs = max(1, len(classes))
    base = base or [0.0] * outputs
    if len(base) not in (1, outputs) or not weights or len(weights) % len(base):
        raise ValueError
    count = len(weights) // len(base)
    _check_count(count)
    rows = [tuple(weights[count * place : count * (place + 1)]) for place in range(len(base))]
    if len(classes) == 2 and after == "LOGISTIC":
        # Exporters write both classes, the first as the second with another sign.
        if len(base) == 2 and any(
            a != -b for a, b in zip([*rows[0], base[0]], [*rows[1], base[1]], strict=True)
        ):
            raise refusal("The two classes of the ONNX model have scores of their own.")
        rows, base, link = rows[-1:], base[-1:], Link.LOGISTIC
    elif not classes and after == "NONE":
        link = Link.IDENTITY
    elif classes and after == "SOFTMAX" and len(base) == len(classes):
        link = Link.SOFTMAX
    else:
        raise refusal(
            f"The ONNX model of {len(classes)} classes ends with {after!r}.",
            "Read are LOGISTIC of two classes, and SOFTMAX; one-versus-rest is not.",
        )
    terms = tuple(map(WeightedTerm, range(count)))
    return Predictor(feature_names([], count), classes, link, tuple(base), Linear(terms, tuple(rows)))


def _trees(given: Attributes, operator: str, declared: int) -> Predictor:
    is_classifier = operator == "TreeEnsembleClassifier"
    classes = given.classes("classlabels_int64s") if is_classifier else ()
    if len(classes) > MAX_CLASSES or (not is_classifier and given.whole("n_targets", 1) != 1):
        raise refusal(f"The ONNX model has more than {MAX_CLASSES} classes, or several numbers to predict.")
    if given.text("aggregate_function", "SUM") != "SUM":
        raise refusal("The ONNX model does not add its trees up.", "Export it with opset 1 of ai.onnx.ml.")
    leaves, written = _leaves(given, "class" if is_classifier else "target")
    alone = len(classes) == 2 and len(written) == 1
    outputs = 1 if alone or not classes else len(classes)
    if not all(0 <= output < max(1, len(classes)) for output in written):
        raise ValueError
    link = _link(given.text("post_transform", "NONE"), outputs, classes, leaves)
    forest = _forest(given, leaves, outputs, alone=alone)
    base = given.singles("base_values") or [0.0] * outputs
    used = 1 + max((split.feature for tree in forest.trees for split in tree.splits), default=0)
    return Predictor(
        feature_names([], _check_count(max(1, used, declared))), classes, link, tuple(base), forest
    )


def _check_count(count: int) -> int:
    if count > MAX_FEATURES:
        raise refusal(f"The ONNX model has more than {MAX_FEATURES} features.", "Train on fewer.")
    return count


def _declared_features(graph: Fields) -> int:
    """How many features the graph's only input has, as it says; 0 where it leaves that open."""
    for number in (_INPUTS, *_SHAPE):
        inner = graph.blobs(number)
        if not inner:
            return 0
        graph = read_fields(inner[-1])
    return graph.whole(_NAME)


def _link(
    after: str, outputs: int, classes: tuple[str, ...], leaves: dict[tuple[int, int], dict[int, float]]
) -> Link:
    if after == "NONE":
        if outputs == 1 and classes and min(min(each.values()) for each in leaves.values()) < 0:
            raise refusal("The two classes of the ONNX model are told apart at 0 without LOGISTIC.")
        return Link.IDENTITY
    if after == "LOGISTIC" and outputs == 1 and classes:
        return Link.LOGISTIC
    if after == "SOFTMAX" and outputs > 1:
        return Link.SOFTMAX
    raise refusal(
        f"The ONNX model ends with {after!r}.", "Read are NONE, LOGISTIC of two classes, and SOFTMAX."
    )


def _leaves(given: Attributes, what: str) -> tuple[dict[tuple[int, int], dict[int, float]], set[int]]:
    """Of each leaf, by tree and node, what it adds to which output; and all outputs."""
    trees, nodes, outputs = (given.wholes(f"{what}_{name}") for name in ("treeids", "nodeids", "ids"))
    weights = given.singles(f"{what}_weights")
    found: dict[tuple[int, int], dict[int, float]] = {}
    for tree, node, output, weight in zip(trees, nodes, outputs, weights, strict=True):
        values = found.setdefault((tree, node), {})
        values[output] = values.get(output, 0.0) + weight
    if not found:
        raise ValueError
    return found, {*outputs}


def _forest(
    given: Attributes, leaves: dict[tuple[int, int], dict[int, float]], outputs: int, *, alone: bool
) -> Forest:
    """The trees; `alone` if both classes share one output, whatever its number is."""
    names = ("treeids", "nodeids", "featureids", "truenodeids", "falsenodeids")
    columns = [given.wholes(f"nodes_{name}") for name in names]
    modes, values = given.texts("nodes_modes"), given.singles("nodes_values")
    entries = [*zip(*columns, modes, values, strict=True)]
    places = {(tree, node): place for place, (tree, node, *_) in enumerate(entries)}
    if len(places) < len(entries):
        raise refusal("Two nodes of the ONNX model have one number.")
    roots: dict[int, int] = {}
    children = {
        (tree, child)
        for tree, _, _, true, false, mode, _ in entries
        if mode != "LEAF"
        for child in (true, false)
    }
    for tree, node, *_ in entries:
        if (tree, node) not in children:
            if tree in roots:
                raise refusal("A tree of the ONNX model has two roots.")
            roots[tree] = node
    if len(roots) > MAX_TREES or {tree for tree, *_ in entries} != {*roots}:
        raise refusal(f"The ONNX model has more than {MAX_TREES} trees, or one without a root.")

    def node_of(tree: int, number: int) -> Node:
        _, _, feature, true, false, mode, value = entries[places[tree, number]]
        if mode == "LEAF":
            adds = leaves.get((tree, number), {})
            if alone:
                return Leaf((sum(adds.values()),))
            return Leaf(tuple(adds.get(output, 0.0) for output in range(outputs)))
        if mode not in _LEFT:
            raise refusal(
                f"The ONNX model has decisions of the kind {mode!r}.", "Read are comparisons by order."
            )
        is_left, is_strict = _LEFT[mode]
        threshold = before(value) if is_strict else value
        return Split(feature, threshold, *((true, false) if is_left else (false, true)))

    grown = (
        Tree.grow(root, lambda number, tree=tree: node_of(tree, number))  # type: ignore[misc]
        for tree, root in roots.items()
    )
    return Forest(tuple(grown), Precision.SINGLE)

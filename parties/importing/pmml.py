"""PMML's models: trees and averages of trees, regression, naive Bayes.

Reference: Data Mining Group, PMML 4.4.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from math import log, nextafter, pi
from typing import Final
from xml.etree.ElementTree import Element, ParseError

from parties.errors import DataError
from parties.importing.fields import refusal, require_well_formed
from smc.analyses.predictors.form import (
    MAX_CLASSES,
    MAX_FEATURES,
    MAX_SPLITS,
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

PROGRAM: Final = "PMML"
_MODELS: Final = ("TreeModel", "RegressionModel", "NaiveBayesModel", "MiningModel")

_ORDERS: Final = {
    "lessOrEqual": (True, False),
    "lessThan": (True, True),
    "greaterThan": (False, False),
    "greaterOrEqual": (False, True),
}
"""Of each operator whether it holds of lower values, and whether equal ones belong to the higher ones."""

_OPPOSITE: Final = {
    "lessOrEqual": "greaterThan",
    "greaterThan": "lessOrEqual",
    "lessThan": "greaterOrEqual",
    "greaterOrEqual": "lessThan",
}

_MOVED: Final = frozenset({"rescaleConstant", "rescaleFactor", "castInteger", "min", "max"})
"""What a target can do to a prediction."""


def parse(data: bytes) -> Element:
    """The document of a file, which brings no entities, and names no other files.

    Raises:
        DataError: it is no XML, or declares what it must not.
    """
    try:
        from defusedxml.common import DefusedXmlException
        from defusedxml.ElementTree import fromstring
    except ImportError:
        raise DataError(
            "Reading PMML needs the package defusedxml.", 'Install it: pip install "duetto[models]".'
        ) from None
    try:
        found: Element = fromstring(data, forbid_dtd=True)
    except DefusedXmlException:
        raise DataError(
            "The XML declares entities or a document type, which no model needs.", "Export the model again."
        ) from None
    except (ParseError, ValueError, LookupError, RecursionError):
        raise DataError("The file is no XML.", "Export the model again.") from None
    return found


def read(root: Element) -> Predictor:
    """The model of a document. Raises as `parties.importing.lightgbm.read`."""
    with require_well_formed(PROGRAM):
        models = [each for each in root if _kind(each) in _MODELS]
        if _kind(root) != "PMML" or len(models) != 1:
            raise refusal(
                f"The PMML file has not one model of {', '.join(_MODELS)}.", "Export one model alone."
            )
        for each in root.iter():
            _check_part(each)
        (model,) = models
        found = Document.of(root, model)
        readers = {"RegressionModel": _regression, "NaiveBayesModel": _bayes}
        return readers.get(_kind(model), _forest)(found, model)


def _check_part(element: Element) -> None:
    """Refuse what changes values or predictions beside the model. Raises DataError."""
    kind = _kind(element)
    if kind in ("TransformationDictionary", "LocalTransformations") and len(element):
        raise refusal("The PMML file derives fields.", "Derive the columns before the export.")
    if kind == "Target" and (moved := _MOVED & element.attrib.keys()):
        raise refusal(
            f"The PMML file moves predictions by {min(moved)} (Targets).",
            "Export the model in another format, such as ONNX-ML.",
        )
    if kind == "MiningField" and element.get("outliers", "asIs") != "asIs":
        raise refusal(
            "The PMML file moves values of fields (outliers).", "Give the features their range in the job."
        )


@dataclass(frozen=True, slots=True)
class Document:
    """What the file declares of its fields.

    Attributes:
        features: the names of the active ones.
        classes: the values of the target; none where it is a number.
    """

    features: tuple[str, ...]
    classes: tuple[str, ...]

    @classmethod
    def of(cls, root: Element, model: Element) -> Document:
        """Of a file and its model."""
        usage = {
            field.attrib["name"]: field.get("usageType", "active")
            for field in _under(_only(model, "MiningSchema"), "MiningField")
        }
        features = tuple(name for name, use in usage.items() if use == "active")
        targets = [name for name, use in usage.items() if use in ("target", "predicted")]
        if model.attrib["functionName"] not in ("classification", "regression"):
            raise refusal("The PMML model neither classifies nor predicts a number.")
        if model.attrib["functionName"] == "regression":
            return cls(features, ())
        fields = [
            field
            for field in _under(_only(root, "DataDictionary"), "DataField")
            if field.get("name") in targets
        ]
        if len(fields) != 1:
            raise ValueError
        classes = tuple(each.attrib["value"] for each in _under(fields[0], "Value"))
        if not 2 <= len(classes) <= MAX_CLASSES or len(features) > MAX_FEATURES:
            raise refusal(
                f"The PMML model has not 2 to {MAX_CLASSES} classes, or more than {MAX_FEATURES} features.",
                "Train a smaller one.",
            )
        return cls(features, classes)

    def place(self, name: str) -> int:
        """Of a feature. Raises ValueError."""
        return self.features.index(name)


def _kind(element: Element) -> str:
    """The name of an element without its namespace."""
    return str(element.tag).rpartition("}")[2]


def _under(element: Element, kind: str) -> Iterator[Element]:
    return (each for each in element if _kind(each) == kind)


def _only(element: Element, kind: str) -> Element:
    (found,) = _under(element, kind)
    return found


def _regression(document: Document, model: Element) -> Predictor:
    tables = list(_under(model, "RegressionTable"))
    after = model.get("normalizationMethod", "none")
    terms: dict[WeightedTerm, int] = {}
    rows: list[dict[int, float]] = []
    for table in tables:
        row: dict[int, float] = {}
        for entry in table:
            if _kind(entry) == "Extension":
                continue
            term = _term(document, entry)
            place = terms.setdefault(term, len(terms))
            row[place] = row.get(place, 0.0) + float(entry.attrib["coefficient"])
        rows.append(row)
    base = [float(table.attrib["intercept"]) for table in tables]
    weights = [tuple(row.get(place, 0.0) for place in range(len(terms))) for row in rows]
    named = [table.get("targetCategory", "") for table in tables]
    classes: tuple[str, ...] = ()
    if not document.classes and after == "none" and len(tables) == 1:
        link = Link.IDENTITY
    elif after == "logit" and len(tables) == 2 and not rows[1] and not base[1]:
        link, classes = Link.LOGISTIC, (named[1], named[0])
        weights, base = weights[:1], base[:1]
    elif after == "softmax" and {*named} == {*document.classes}:
        link, classes = Link.SOFTMAX, tuple(named)
    else:
        raise refusal(
            f"The PMML regression of {len(tables)} tables is normalised by {after!r}.",
            "Read are none for numbers, logit of two classes, and softmax.",
        )
    return Predictor(document.features, classes, link, tuple(base), Linear(tuple(terms), tuple(weights)))


def _term(document: Document, entry: Element) -> WeightedTerm:
    kind, place = _kind(entry), document.place(entry.get("name") or entry.attrib["field"])
    if kind == "CategoricalPredictor":
        return WeightedTerm(place, label=entry.attrib["value"])
    if kind != "NumericPredictor" or entry.get("exponent", "1") not in ("1", "2"):
        raise refusal("The PMML regression has products of features, or powers above 2.")
    return WeightedTerm(place, square=entry.get("exponent") == "2")


def _bayes(document: Document, model: Element) -> Predictor:
    """Logarithms of chances: of numbers normal densities, of categories parts of counts."""
    classes = document.classes
    inputs = list(_under(_only(model, "BayesInputs"), "BayesInput"))
    threshold = float(model.get("threshold", "0"))
    base, terms = _prior(model, classes), dict[WeightedTerm, tuple[float, ...]]()
    for entry in inputs:
        place = document.place(entry.attrib["fieldName"])
        if stats := list(_under(entry, "TargetValueStats")):
            (normal,) = stats
            square, plain, constant = zip(*_densities(normal, classes), strict=True)
            terms[WeightedTerm(place, square=True)], terms[WeightedTerm(place)] = square, plain
            base = [each + more for each, more in zip(base, constant, strict=True)]
            continue
        pairs = {each.attrib["value"]: _counts(each, classes) for each in _under(entry, "PairCounts")}
        totals = [sum(counts) for counts in zip(*pairs.values(), strict=True)]
        for label, counts in pairs.items():
            parts = [count / total or threshold for count, total in zip(counts, totals, strict=True)]
            if min(parts) <= 0:
                raise refusal(
                    "A category never occurs with a class, and the naive Bayes model has no threshold.",
                    "Set one, or smooth the counts.",
                )
            terms[WeightedTerm(place, label=label)] = tuple(map(log, parts))
    weights = tuple(zip(*terms.values(), strict=True))
    return Predictor(document.features, classes, Link.SOFTMAX, tuple(base), Linear(tuple(terms), weights))


def _prior(model: Element, classes: tuple[str, ...]) -> list[float]:
    counts = _counts(_only(model, "BayesOutput"), classes)
    if min(counts) <= 0:
        raise ValueError
    return [log(count / sum(counts)) for count in counts]


def _counts(element: Element, classes: tuple[str, ...]) -> list[float]:
    """Rows by class."""
    entries = _under(_only(element, "TargetValueCounts"), "TargetValueCount")
    found = {each.attrib["value"]: float(each.attrib["count"]) for each in entries}
    counts = [found.get(name, 0.0) for name in classes]
    if min(counts) < 0 or {*found} - {*classes}:
        raise ValueError
    return counts


def _densities(stats: Element, classes: tuple[str, ...]) -> list[tuple[float, float, float]]:
    """The logarithm of a normal density of each class as a square, a factor and a constant."""
    found = {}
    for entry in _under(stats, "TargetValueStat"):
        normal = _only(entry, "GaussianDistribution")
        mean, variance = float(normal.attrib["mean"]), float(normal.attrib["variance"])
        if variance <= 0:
            raise ValueError
        constant = -mean * mean / (2 * variance) - log(2 * pi * variance) / 2
        found[entry.attrib["value"]] = (-1 / (2 * variance), mean / variance, constant)
    return [found[name] for name in classes]


def _forest(document: Document, model: Element) -> Predictor:
    """A tree, or several whose chances or numbers are averaged or added."""
    trees, part = [model], 1.0
    if _kind(model) == "MiningModel":
        segmentation = _only(model, "Segmentation")
        segments = list(_under(segmentation, "Segment"))
        how = segmentation.attrib["multipleModelMethod"]
        if how not in ("average", "sum") or not segments or len(segments) > MAX_TREES:
            raise refusal(
                f"The PMML model combines {len(segments)} models by {how!r}.",
                f"Read are average and sum of 1 to {MAX_TREES} trees.",
            )
        if any(_kind(next(iter(each))) != "True" or each.get("weight", "1") != "1" for each in segments):
            raise refusal("The PMML model combines trees under conditions, or weighted.")
        trees = [list(each)[1] for each in segments]
        part = 1 / len(trees) if how == "average" else 1.0
    if any(_kind(tree) != "TreeModel" for tree in trees):
        raise refusal("The PMML model combines others than trees.")
    outputs = max(1, len(document.classes))
    grown = tuple(_tree(document, tree, lambda node: _leaf(document, node, part)) for tree in trees)
    return Predictor(
        document.features,
        document.classes,
        Link.IDENTITY,
        (0.0,) * outputs,
        Forest(grown, Precision.DOUBLE),
    )


def _leaf(document: Document, node: Element, part: float) -> Leaf:
    if not document.classes:
        return Leaf((float(node.attrib["score"]) * part,))
    shares = {
        each.attrib["value"]: float(each.get("probability") or each.attrib["recordCount"])
        for each in _under(node, "ScoreDistribution")
    } or {node.attrib["score"]: 1.0}
    total = sum(shares.values())
    if {*shares} - {*document.classes} or not total > 0:
        raise ValueError
    return Leaf(tuple(shares.get(name, 0.0) / total * part for name in document.classes))


def _tree(document: Document, model: Element, leaf: Callable[[Element], Leaf]) -> Tree:
    if model.get("noTrueChildStrategy", "returnNullPrediction") != "returnNullPrediction":
        raise refusal("The PMML tree ends before its leaves (noTrueChildStrategy).")
    nodes = [_only(model, "Node")]
    if _kind(_predicate(nodes[0])) != "True":
        raise refusal("The root of the PMML tree has a condition.")

    def node(place: int) -> Node:
        children = list(_under(nodes[place], "Node"))
        if not children:
            return leaf(nodes[place])
        if len(nodes) > 2 * MAX_SPLITS:
            raise refusal("A tree has too many nodes.", f"Train with at most {MAX_SPLITS} leaves.")
        if len(children) != 2:
            raise refusal("A node of the PMML tree has one child or more than two.", "Export binary trees.")
        feature, threshold, low = _split(document, *map(_predicate, children))
        nodes.extend(children)
        first = len(nodes) - 2
        return Split(feature, threshold, *((first, first + 1) if low else (first + 1, first)))

    return Tree.grow(0, node)


def _split(document: Document, first: Element, second: Element) -> tuple[int, float, bool]:
    """Feature and threshold of two conditions of which one holds, and whether the first is for low values."""
    operator = first.get("operator", "")
    if _kind(first) != "SimplePredicate" or operator not in _ORDERS:
        raise refusal(
            f"The PMML tree has conditions of the kind {operator or _kind(first)!r}.",
            "Read are comparisons by order.",
        )
    opposite = (
        _kind(second) == "SimplePredicate"
        and second.get("operator") == _OPPOSITE[operator]
        and second.get("field") == first.get("field")
        and second.get("value") == first.get("value")
    )
    if not opposite and _kind(second) != "True":
        raise refusal("The conditions of two children in the PMML tree are not opposite.")
    low, strict = _ORDERS[operator]
    threshold = float(first.attrib["value"])
    return (
        document.place(first.attrib["field"]),
        nextafter(threshold, -float("inf")) if strict else threshold,
        low,
    )


def _predicate(node: Element) -> Element:
    """The condition of a node, its first part but for extensions."""
    return next(each for each in node if _kind(each) != "Extension")

"""What a model predicts in the clear, in floating point, as the program that made it would."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np
from numpy.typing import NDArray

from smc.analyses.predictors.form import Forest, Leaf, Linear, Link, Precision, Predictor, Tree

Floats = NDArray[np.float64]
Values = Mapping[str, Floats | Sequence[str]]
"""Of each feature the rows' numbers, or the labels of a category."""


def outputs(model: Predictor, rows: Values) -> Floats:
    """The outputs of rows, before the link; shape (n, outputs)."""
    body = model.body
    columns = [rows[name] for name in model.features]
    added = _linear(body, columns) if isinstance(body, Linear) else _forest(body, columns)
    found: Floats = added + np.array(model.base)
    return found


def chances(model: Predictor, rows: Values) -> Floats:
    """The chances of classes, shape (n, classes); of a model without classes its number, shape (n, 1)."""
    found = outputs(model, rows)
    if model.link is Link.LOGISTIC:
        found = 1 / (1 + np.exp(-found))
    elif model.link is Link.SOFTMAX:
        raised = np.exp(found - found.max(axis=1, keepdims=True))
        found = raised / raised.sum(axis=1, keepdims=True)
    if len(model.classes) == 2 and found.shape[1] == 1:
        found = np.concatenate([1 - found, found], axis=1)
    return found


def _linear(body: Linear, columns: Sequence[Floats | Sequence[str]]) -> Floats:
    found = []
    for term in body.terms:
        column = np.asarray(columns[term.feature])
        if term.label:
            found.append((column == term.label).astype(np.float64))
        else:
            found.append(column.astype(np.float64) ** (2 if term.square else 1))
    sums: Floats = np.stack(found, axis=1) @ np.array(body.weights).T
    return sums


def _forest(body: Forest, columns: Sequence[Floats | Sequence[str]]) -> Floats:
    rows = np.stack([np.asarray(column, dtype=np.float64) for column in columns], axis=1)
    if body.precision is Precision.SINGLE:
        rows = rows.astype(np.float32).astype(np.float64)
    total: Floats = sum(_tree(tree, rows) for tree in body.trees)  # type: ignore[assignment]
    return total


def _tree(tree: Tree, rows: Floats) -> Floats:
    width = len(next(iter(tree.leaves)).values)
    found = np.zeros((len(rows), width))
    here = {0: np.arange(len(rows))}
    for place, node in enumerate(tree.nodes):
        mine = here.pop(place)
        if isinstance(node, Leaf):
            found[mine] = node.values
            continue
        left = rows[mine, node.feature] <= node.threshold
        here[node.left], here[node.right] = mine[left], mine[~left]
    return found

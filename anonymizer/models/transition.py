"""Random change of categories by a matrix of probabilities: drawing, and what an attacker makes of it."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from anonymizer.errors import TableError
from anonymizer.hierarchies.hierarchy import text_of
from anonymizer.risk.candidates import IntervalSets, LabelSets, Sets
from anonymizer.tables.randomness import Randomness
from anonymizer.tables.table import Table

Float = NDArray[np.float64]
Int = NDArray[np.int64]


def drawn(table: Table, column: str, values: NDArray[Any], law: Float, random: Randomness) -> NDArray[Any]:
    """A new value for each cell.

    Args:
        table: the table; no cell of the column is missing.
        column: the column.
        values: the values that the law knows, shape (d,).
        law: of each value the probabilities of all, rows add up to 1, shape (d, d).
        random: where from.

    Returns:
        The cells, shape (n,).

    Raises:
        TableError: a cell holds a value that the law does not know; names it.
    """
    codes = table.codes(column)
    places = {value: place for place, value in enumerate(values.tolist())}
    for value in codes.values.tolist():
        if value not in places:
            raise TableError(
                f"Column {column!r} has the value {text_of(value)!r}, which the method has not seen.",
                "Fit it on a table that has the value.",
            )
    known = np.array([places[value] for value in codes.values.tolist()], dtype=np.int64)
    bounds = np.cumsum(law, axis=1)
    bounds[:, -1] = 1.0
    rows = known[codes.codes]
    uniform = random.uniform(len(table))
    # each row's bounds shifted by its number make one increasing sequence to search in
    flat = (bounds + np.arange(len(values))[:, None]).reshape(-1)
    found = np.searchsorted(flat, uniform + rows, side="right")
    chosen: NDArray[Any] = values[np.minimum(found - rows * len(values), len(values) - 1)]
    return chosen


def spread_labels(sets: Sets, values: NDArray[Any], law: Float, confidence: float) -> LabelSets:
    """What values may have become.

    Args:
        sets: before; labels that the law does not know stay as they are, of intervals only the values that
            it knows count.
        values: the values that the law knows, shape (d,).
        law: as in `drawn`.
        confidence: the likeliest outcomes whose probabilities first add up to this are candidates with high
            confidence; others of positive probability with low.
    """
    if isinstance(sets, IntervalSets):
        sets = LabelSets(values, *sets.holds(values))
    order = np.argsort(-law, axis=1, kind="stable")
    sorted_law = np.take_along_axis(law, order, axis=1)
    before = np.cumsum(sorted_law, axis=1) - sorted_law
    likely = np.zeros(law.shape, dtype=np.bool_)
    np.put_along_axis(likely, order, before < confidence - 1e-12, axis=1)
    places = {value: place for place, value in enumerate(values.tolist())}
    strange = [label for label in sets.labels.tolist() if label not in places]
    labels = np.empty(len(values) + len(strange), dtype=object)
    labels[:] = [*values.tolist(), *strange]
    columns = {label: place for place, label in enumerate(labels.tolist())}
    high = np.zeros((len(sets.labels), len(labels)), dtype=np.bool_)
    low = high.copy()
    for row, label in enumerate(sets.labels.tolist()):
        if label in places:
            high[row, : len(values)] = likely[places[label]]
            low[row, : len(values)] = law[places[label]] > 0
        else:
            high[row, columns[label]] = low[row, columns[label]] = True
    return LabelSets(labels, sets.high @ high, sets.low @ low)

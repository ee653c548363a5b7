"""NCP, the normalized certainty penalty: how much of the values' detail a release has lost.

Reference: Xu, Wang, Pei, Wang, Shi and Fu, Utility-based anonymization using local recoding, KDD 2006.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from anonymizer.errors import TableError
from anonymizer.hierarchies.hierarchy import ANY, text_of
from anonymizer.hierarchies.labels import spans_of
from anonymizer.tables.table import Table

Int = NDArray[np.int64]
Float = NDArray[np.float64]


def ncp(original: Table, release: Table, origin: Int | None = None) -> float:
    """The mean loss over all original rows and quasi-identifiers.

    A cell that is as it was loses 0, `*` loses 1; a label loses the leaves it covers less one by all leaves
    less one, or the part of the range of an interval; so does `[low, high]` without a hierarchy, by the range
    of the column. A row that is not released loses 1.

    Args:
        original: with roles and hierarchies, at least one row and one quasi-identifier, no missing cells.
        release: made of it by recoding.
        origin: of each released row its place in the original, shape (m,); None if the rows are the same.

    Returns:
        In [0, 1].

    Raises:
        TableError: a cell is no label of its value, a cell is missing, or the rows differ and there is no
            origin.
    """
    columns = original.roles.quasi_identifiers
    if origin is None and len(original) != len(release):
        raise TableError(
            f"The release has {len(release)} rows, the original {len(original)}.",
            "Measure it with `duetto anonymize --report`, which knows which row came from which.",
        )
    if not len(original) or not columns:
        raise TableError(
            "The table has no rows or no quasi-identifiers, so that information loss is undefined.",
            "Give rows, and declare quasi-identifiers.",
        )
    original.complete(columns)
    release.complete(columns)
    rows = np.arange(len(original)) if origin is None else origin
    lost = sum(float(_losses(original, release, rows, column).sum()) for column in columns)
    return (lost / len(columns) + len(original) - len(rows)) / len(original)


def _losses(original: Table, release: Table, rows: Int, column: str) -> Float:
    """Of each released row what its cell lost, shape (m,)."""
    before, after = original.codes(column), release.codes(column)
    width = len(after.values)
    pairs, back = np.unique(before.codes[rows] * width + after.codes, return_inverse=True)
    value, label = pairs // width, pairs % width
    texts = np.array([text_of(cell) for cell in after.values.tolist()], dtype=object)[label]
    own = np.array([text_of(cell) for cell in before.values.tolist()], dtype=object)[value]
    losses = np.where(texts == ANY, 1.0, np.nan)
    hierarchy = original.hierarchies.get(column)
    if hierarchy is not None:
        for level in reversed(hierarchy.bind(before.values, column)):
            at = np.array(level.labels, dtype=object)[level.groups[value]] == texts
            losses[at] = level.loss[level.groups[value[at]]]
    elif original.is_numeric(column):
        numbers = before.values.astype(np.float64)
        spans = spans_of(texts)
        holds = (spans[:, 0] <= numbers[value]) & (numbers[value] <= spans[:, 1]) & np.isfinite(spans).all(1)
        losses[holds] = (spans[holds, 1] - spans[holds, 0]) / (float(np.ptp(numbers)) or 1.0)
    losses[own == texts] = 0.0
    unknown = np.flatnonzero(np.isnan(losses))
    if len(unknown):
        place = int(unknown[0])
        raise TableError(
            f"Column {column!r} has {texts[place]!r} for {own[place]!r}, which is not one of its labels.",
            "Measure releases that were made by recoding with these hierarchies.",
        )
    found: Float = losses[back]
    return found

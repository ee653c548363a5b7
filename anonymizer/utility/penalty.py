"""The certainty penalty of a column from its released labels alone: for any release, also from a file.

`ncp` checks each released cell against the original one, which needs to know where rows came from and that
cells were recoded. Here a label counts for what it covers, whoever's it is; for releases made by recoding the
two agree.
"""

from __future__ import annotations

import numpy as np

from anonymizer.hierarchies.hierarchy import text_of
from anonymizer.hierarchies.labels import spans_of
from anonymizer.tables.table import Table


def column_penalty(original: Table, release: Table, column: str) -> float:
    """The mean penalty of a column.

    A label of the hierarchy counts (leaves covered - 1) / (all leaves - 1), or the part of the range that its
    interval covers; another interval its part of the original range; a value or a number nothing; `*`, a
    cell that went missing and a row that was not released 1.

    Args:
        original: at least one row, with the hierarchies.
        release: what was made of it.
        column: of both.

    Returns:
        In [0, 1]; NaN if a released label is in no hierarchy and names no numbers.

    Raises:
        TableError: a table lacks the column.

    Reference: Xu, Wang, Pei, Wang, Shi and Fu, Utility-based anonymization using local recoding, KDD 2006.
    """
    before = original.codes(column)
    known = {text_of(value): 0.0 for value in before.values.tolist()}
    if column in original.hierarchies and len(before.values):
        for level in original.hierarchies[column].bind(before.values, column):
            for label, loss in zip(level.labels, level.loss.tolist(), strict=True):
                known.setdefault(label, loss)
    after = release.codes(column)
    labels = [text_of(value) for value in after.values.tolist()]
    spans = spans_of(labels)
    parts = np.where(np.isinf(spans).all(axis=1), 1.0, np.nan)
    if original.is_numeric(column) and len(before.values):
        ends = float(before.values.min()), float(before.values.max())
        width = max(ends[1] - ends[0], np.finfo(np.float64).tiny)
        covered = np.diff(np.clip(spans, *ends), axis=1)[:, 0] / width
        parts = np.where(np.isnan(parts), covered, parts)
    losses = np.array([known.get(label, part) for label, part in zip(labels, parts.tolist(), strict=True)])
    counts = np.bincount(after.codes[after.codes >= 0], minlength=len(labels))
    vanished = max(0, int((after.codes < 0).sum()) - int((before.codes < 0).sum()))
    suppressed = max(0, len(original) - len(release))
    return float((losses @ counts + vanished + suppressed) / max(1, len(release) + suppressed))

"""Numbers read back from labels: `[20, 30)`, `< 17`, `>= 90`, `*`, `39`."""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from anonymizer.hierarchies.hierarchy import ANY

Float = NDArray[np.float64]

_NUMBER: Final = r"[-+]?(?:\d+\.?\d*|\.\d+)(?:[eE][-+]?\d+)?"
_SPAN: Final = re.compile(rf"[\[(]\s*({_NUMBER})\s*[,;:]\s*({_NUMBER})\s*[\])]")
_OPEN: Final = re.compile(rf"(<=?|>=?)\s*({_NUMBER})")
_SINGLE: Final = re.compile(_NUMBER)


def spans_of(labels: Iterable[Any]) -> Float:
    """The least and the largest number that each label covers.

    Args:
        labels: numbers or texts.

    Returns:
        Shape (w, 2); infinite where a label is open, NaN where it names no numbers.
    """
    return np.array([_span(str(label).strip()) for label in labels], dtype=np.float64).reshape(-1, 2)


def middles_of(labels: Iterable[Any]) -> Float:
    """One number for each label: the middle of its span, the finite end of an open one.

    Returns:
        Shape (w,); NaN for `*` and for labels that name no numbers.
    """
    spans = spans_of(labels)
    finite = np.isfinite(spans)
    ends = np.where(finite, spans, 0.0).sum(axis=1)
    count = finite.sum(axis=1)
    middles: Float = np.divide(ends, count, out=np.full(len(spans), np.nan), where=count > 0)
    return middles


def _span(label: str) -> tuple[float, float]:
    if label == ANY:
        return -np.inf, np.inf
    if found := _SPAN.fullmatch(label):
        return float(found[1]), float(found[2])
    if found := _OPEN.fullmatch(label):
        end = float(found[2])
        return (-np.inf, end) if found[1].startswith("<") else (end, np.inf)
    if _SINGLE.fullmatch(label):
        return float(label), float(label)
    return np.nan, np.nan

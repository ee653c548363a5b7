"""Joining classes that are not allowed with those nearest to them."""

from __future__ import annotations

from functools import lru_cache
from typing import Final

import numpy as np
from numpy.typing import NDArray

from anonymizer.methods.conditions.allowed import Allowed
from anonymizer.methods.recoding.attributes import Attribute, covers
from anonymizer.risk.classes import number_classes

Int = NDArray[np.int64]
Float = NDArray[np.float64]

_HELD: Final = 1024


class Joins:
    """The loss of a cover when something joins it, by look-up.

    The loss of a join is the largest of those of its parts, and of the pairs of their ends.

    Args:
        one: the attribute.
    """

    def __init__(self, one: Attribute) -> None:
        everything = np.arange(one.width)

        def row(value: int) -> Float:
            same = np.full(one.width, value)
            return one.loss(np.minimum(same, everything), np.maximum(same, everything))

        self._row = lru_cache(maxsize=_HELD)(row)

    def __call__(self, low: int, high: int) -> Float:
        """Of each value the loss of the cover from low to high joined with it, shape (width,)."""
        first: Float = self._row(low)
        if low == high:
            return first
        wider: Float = np.maximum(np.maximum(first, self._row(high)), first[high])
        return wider


def join_classes(attributes: list[Attribute], clusters: Int, allowed: Allowed) -> Int:
    """Join classes that are not allowed with the one that costs least, smallest first.

    Takes time in the number of classes times the number of those that are not allowed.

    Args:
        attributes: m columns of n rows.
        clusters: of each row, shape (n,).
        allowed: the whole table is, as one class.

    Returns:
        The class of each row, shape (n,).
    """
    classes, count = number_classes([clusters])
    fine = allowed(np.arange(len(classes)), classes, count)
    if fine.all():
        return classes
    joins = [Joins(one) for one in attributes]
    ends = [covers(one.codes, classes, count) for one in attributes]
    losses = [one.loss(*end) for one, end in zip(attributes, ends, strict=True)]
    sizes = np.bincount(classes, minlength=count).astype(np.float64)
    order = np.argsort(classes, kind="stable")
    members = np.split(order, np.cumsum(sizes.astype(np.int64))[:-1])
    gone = np.zeros(count, dtype=np.bool_)
    while not fine.all():
        small = int(np.where(fine, np.inf, sizes).argmin())
        after = [
            _together(join, end, loss, small) for join, end, loss in zip(joins, ends, losses, strict=True)
        ]
        growth = np.zeros(count)
        for wide, loss in zip(after, losses, strict=True):
            growth += (sizes + sizes[small]) * wide - sizes * loss
        gone[small] = True
        target = int(np.where(gone, np.inf, growth).argmin())
        members[target] = np.concatenate((members[target], members[small]))
        for (low, high), loss, wide in zip(ends, losses, after, strict=True):
            low[target], high[target] = min(low[target], low[small]), max(high[target], high[small])
            loss[target] = wide[target]
        sizes[target] += sizes[small]
        fine[small] = True
        fine[target] = bool(allowed(members[target], np.zeros(len(members[target]), dtype=np.int64), 1)[0])
        classes[members[small]] = target
    return classes


def _together(join: Joins, ends: tuple[Int, Int], loss: Float, small: int) -> Float:
    """The loss of each class joined with one of them, shape (c,)."""
    low, high = ends
    values = join(int(low[small]), int(high[small]))
    found: Float = np.maximum(np.maximum(values[low], values[high]), loss)
    return found

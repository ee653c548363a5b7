"""What the cells of a column are to methods: categories or not, and in which order."""

from __future__ import annotations

from typing import Any

import narwhals as nw
import numpy as np

from anonymizer.errors import TableError
from anonymizer.schema.columns import Column
from anonymizer.tables.encoding import Codes
from commons.errors import near


def order_of(series: nw.Series[Any], declared: Column) -> tuple[str, ...] | None:
    """The texts of a column in their order: the declared one, else that of an ordered categorical.

    Args:
        series: the column.
        declared: what is declared of it.

    Returns:
        None if the texts have no order, or there are none.
    """
    if declared.categories is not None:
        return declared.categories if declared.ordered else None
    if isinstance(series.dtype, nw.Enum):
        return tuple(series.dtype.categories)
    native = series.to_native()
    if series.implementation.is_pandas() and getattr(native.dtype, "ordered", False):
        return tuple(map(str, native.cat.categories))
    return None


def has_order(series: nw.Series[Any], declared: Column) -> bool:
    """Whether the values of a column have an order: numbers, dates, truth values, ordered categories."""
    kind = series.dtype
    known = kind.is_numeric() or kind.is_temporal() or isinstance(kind, nw.Boolean)
    return known or order_of(series, declared) is not None


def has_categories(series: nw.Series[Any], declared: Column) -> bool:
    """Whether a column holds categories: as declared, else texts, truth values or whole numbers."""
    if declared.kind is not None:
        return declared.kind in ("category", "text", "boolean")
    if not series.dtype.is_float():
        return not series.dtype.is_temporal()
    numbers = np.asarray(series.to_numpy(), dtype=np.float64)
    numbers = numbers[np.isfinite(numbers)]
    return bool((numbers == np.round(numbers)).all())


def order_codes(found: Codes, order: tuple[str, ...], column: str) -> Codes:
    """A column of texts with its values in an order.

    Raises:
        TableError: a value does not occur in the order; names it.
    """
    places = {value: place for place, value in enumerate(order)}
    for value in found.values.tolist():
        if value not in places:
            raise TableError(
                f"Column {column!r} has the value {value!r}, which is not among its declared categories.",
                near(str(value), order),
            )
    ranks = np.argsort([places[value] for value in found.values.tolist()], kind="stable").astype(np.int64)
    moved = np.empty(len(ranks), dtype=np.int64)
    moved[ranks] = np.arange(len(ranks))
    return Codes(found.values[ranks], moved[found.codes])

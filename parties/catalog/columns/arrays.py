"""Columns of Arrow at once: what `cells` holds for their cells, without Python values.

As of `vectors`, a reader returns None where it cannot vouch for every cell, and never accepts
what a parser refuses or holds another value. So whoever asks goes on with the cells themselves, and the
result is the same.
"""

from __future__ import annotations

from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from parties.catalog.columns.columns import ColumnDeclaration
from parties.catalog.columns.vectors import is_narrow

_EXACT: Final = 10**15
"""Decimals of at most 15 digits are told apart by doubles: at most one of them reads as a given double."""

Numbers = tuple[NDArray[np.int64], NDArray[np.bool_]]
"""Held values, 0 where a cell is missing; and which are missing."""


def held_numbers(array: Any, column: ColumnDeclaration) -> Numbers | None:
    """What is held for the cells of an array of integers, floats or days.

    Args:
        array: a `pyarrow.Array`.
        column: the declaration.

    Returns:
        Values and missing cells, shape (cells,) each; None for other arrays and other columns, where a text
        stands for a missing cell, and where a cell may not be as declared.
    """
    from pyarrow import types

    if column.tokens or not is_narrow(column) or column.schema.lower is None or column.schema.upper is None:
        return None
    missing = _missing(array)
    kind = array.type
    if column.type == "date" and types.is_date32(kind):
        days = _fill(array.view("int32"), missing, np.int64)
        values = _check_bounds(days, column.schema.lower, column.schema.upper, missing)
    elif column.type in ("integer", "decimal") and types.is_integer(kind) and not types.is_uint64(kind):
        unit = 10**column.schema.scale
        # a cell is within the bounds in held units if it is within these
        lower, upper = -(-column.schema.lower // unit), column.schema.upper // unit
        values = _check_bounds(_fill(array, missing, np.int64), lower, upper, missing)
        values = values if values is None or unit == 1 else values * np.int64(unit)
    elif column.type == "decimal" and types.is_float64(kind):
        scaled = _scale(_fill(array, missing, np.float64), column.schema.scale)
        values = (
            scaled
            if scaled is None
            else _check_bounds(scaled, column.schema.lower, column.schema.upper, missing)
        )
    else:
        return None
    return None if values is None else (values, missing)


def distinct(array: Any) -> tuple[list[Any], NDArray[np.int64]] | None:
    """The different cells of an array of texts, and which of them each cell is.

    Returns:
        The texts and None, which stands for null; and places in them, shape (cells,). None for
        other arrays.
    """
    from pyarrow import types

    kind = array.type.value_type if types.is_dictionary(array.type) else array.type
    if not (types.is_string(kind) or types.is_large_string(kind)):
        return None
    found = array if types.is_dictionary(array.type) else array.dictionary_encode()
    cells: list[Any] = found.dictionary.to_pylist()
    places = _fill(found.indices, _missing(found.indices), np.int64, len(cells))
    return [*cells, None], places


def _missing(array: Any) -> NDArray[np.bool_]:
    if not array.null_count:
        return np.zeros(len(array), np.bool_)
    found: NDArray[np.bool_] = array.is_null().to_numpy(zero_copy_only=False)
    return found


def _fill(array: Any, missing: NDArray[np.bool_], kind: Any, filler: int = 0) -> NDArray[Any]:
    """The values of an array of numbers, with a filler where one is missing."""
    plain = array.fill_null(0) if missing.any() else array
    values = np.asarray(plain.to_numpy(zero_copy_only=False)).astype(kind, copy=False)
    return np.where(missing, filler, values) if filler and missing.any() else values


def _check_bounds(
    values: NDArray[np.int64], lower: int, upper: int, missing: NDArray[np.bool_]
) -> NDArray[np.int64] | None:
    seen = values[~missing] if missing.any() else values
    if len(seen) and not lower <= int(seen.min()) <= int(seen.max()) <= upper:
        return None
    return values


def _scale(values: NDArray[np.float64], scale: int) -> NDArray[np.int64] | None:
    """Floats times 10**scale where each is the double nearest to a decimal of that scale and 15 digits.

    As no other decimal of 15 digits has this double, it is the one that the shortest text shows. Division of
    exact numbers rounds once, so that equality with the quotient decides.
    """
    unit = 10.0**scale
    with np.errstate(over="ignore", invalid="ignore"):
        held = np.rint(values * unit)
        if not np.all(np.abs(held) < _EXACT) or not np.array_equal(held / unit, values):
            return None
    return held.astype(np.int64)

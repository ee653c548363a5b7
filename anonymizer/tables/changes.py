"""What a method has made of a table: where its rows stood, and which cells have changed."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import narwhals as nw
import numpy as np
from numpy.typing import NDArray

from anonymizer.hierarchies.hierarchy import text_of
from anonymizer.tables.table import Table

Int = NDArray[np.int64]
Bool = NDArray[np.bool_]


def changed_cells(before: Table, after: Table, places: Int | None) -> Mapping[str, int]:
    """Count by column the cells that differ.

    A number and its text are the same cell, as are 39 and 39.0.

    Args:
        before: n rows.
        after: m rows.
        places: where each row of `after` stands in `before`, shape (m,); None if it stands nowhere.

    Returns:
        Of each column with a difference how many cells differ, of m rows; all of a column that only one of
        the two has, or if rows stand nowhere.
    """
    found = dict.fromkeys((name for name in before.names if name not in after.names), len(after))
    kept = (
        places is not None and len(places) == len(before) and bool((places == np.arange(len(before))).all())
    )
    for name in after.names:
        if name not in before.names or places is None:
            found[name] = len(after)
        elif not (kept and after.series(name) is before.series(name)):
            found[name] = int(_differing(before, after, name, None if kept else places).sum())
    return {name: count for name, count in found.items() if count}


def _differing(before: Table, after: Table, name: str, places: Int | None) -> Bool:
    """Of each row of `after` whether its cell differs, shape (m,)."""
    old, new = before.series(name), after.series(name)
    is_polars = old.implementation.is_polars() and new.implementation.is_polars()
    if old.dtype == new.dtype and (
        is_polars or old.dtype != nw.String
    ):  # texts of pandas are quicker as codes
        return _same_type(old if places is None else old[places], new)
    first_codes, second_codes = before.codes(name), after.codes(name)
    codes = first_codes.codes if places is None else first_codes.codes[places]
    texts = {text_of(value): place for place, value in enumerate(first_codes.values.tolist())}
    same = np.array([*(texts.get(text_of(value), -2) for value in second_codes.values.tolist()), -1])
    return np.asarray(same[second_codes.codes] != codes)


def _same_type(old: nw.Series[Any], new: nw.Series[Any]) -> Bool:
    if new.implementation.is_polars():
        return np.asarray(new.to_native().ne_missing(old.to_native()).to_numpy(), dtype=np.bool_)
    gaps = [np.asarray(one.is_null().to_numpy(), dtype=np.bool_) for one in (old, new)]
    first, second = old.to_numpy(), new.to_numpy()
    try:
        differs = np.asarray(first != second, dtype=np.bool_)
    except ValueError:  # cells that are arrays themselves
        differs = np.array([str(a) != str(b) for a, b in zip(first, second, strict=True)])
    found: Bool = (differs | (gaps[0] != gaps[1])) & ~(gaps[0] & gaps[1])
    return found


def origin_in(table: Table, released: Table) -> Int | None:
    """Where each row of a release stood in a table.

    Returns:
        Shape (m,); None if some row stems from no row of it, or two from one.
    """
    if released.source is not table.source:
        return None
    # origins are those of the first table of all, of which this one may have only some, in any order
    order = np.argsort(table.origin)
    ranked = table.origin[order]
    found = np.minimum(np.searchsorted(ranked, released.origin), max(0, len(ranked) - 1))
    if not len(released):
        return found
    if not (ranked[found] == released.origin).all() or np.bincount(found).max() > 1:
        return None
    return order[found]

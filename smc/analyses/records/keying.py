"""Rows under their keys: normal forms, and what becomes of those that occur more than once."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

import numpy as np
from numpy.typing import NDArray

from smc.analyses.records.keys import KeyedRows
from smc.analyses.records.normalization import normalize
from smc.analyses.studies.columns import Data
from smc.errors import DomainError
from smc.numeric.shapes import of_shape, shape_array
from smc.pieces import each

ERROR: Final = "error"


MULTISET: Final = "multiset"


DISTINCT: Final = "distinct"


DUPLICATES: Final = (ERROR, MULTISET, DISTINCT)
"""What becomes of rows with equal keys: an error; the k-th copy meets the k-th copy; they count once."""


def _shapes(
    data: Data, recipes: Sequence[tuple[str, tuple[str, ...]]], duplicates: str, side: str
) -> KeyedRows:
    """The shapes of keys, of which none repeats another."""
    del side
    numbers = shape_array(len(data[recipes[0][0]]), np.int64)
    return KeyedRows((), numbers, numbers if duplicates == MULTISET else None)


@of_shape(_shapes)
def keyed_rows(
    data: Data, recipes: Sequence[tuple[str, tuple[str, ...]]], duplicates: str, side: str
) -> KeyedRows:
    """Normalise the key columns and deal with keys that occur more than once.

    Args:
        data: the local columns.
        recipes: the key columns and the steps of each.
        duplicates: one of `DUPLICATES`.
        side: how errors call this side.

    Raises:
        DomainError: columns of different lengths, rows without a key, or repeated keys where they are errors.
    """
    names = " and ".join(name for name, _ in recipes)
    if len({len(data[name]) for name, _ in recipes}) != 1:
        raise DomainError(
            f"The key columns {names} of {side} have different lengths.",
            "Give every column one value per row.",
        )
    texts = tuple(normalize(data[name], steps, f"{side}'s column {name}") for name, steps in recipes)
    for (name, _), column in zip(recipes, texts, strict=True):
        if empty := column.count(""):
            raise DomainError(
                f"{empty} rows of {side} are empty in the key column {name} after normalization.",
                "Complete these rows or leave them out.",
            )
    keys: Sequence[object] = texts[0] if len(texts) == 1 else list(zip(*texts, strict=True))
    numbers = np.arange(len(keys))
    if duplicates == MULTISET:
        return KeyedRows(texts, numbers, _copies(keys))
    if _are_distinct(keys):
        return KeyedRows(texts, numbers)
    if duplicates == ERROR:
        repeated = len(keys) - len(set(keys))
        raise DomainError(
            f"{repeated} rows of {side} repeat the key ({names}) of another row.",
            'Remove these rows, or agree on duplicates = "distinct" or "multiset".',
        )
    seen: dict[object, int] = {}
    for number, key in enumerate(each(keys)):
        seen.setdefault(key, number)
    kept = list(seen.values())
    return KeyedRows(tuple([column[i] for i in kept] for column in texts), numbers[kept])


def _are_distinct(keys: Sequence[object]) -> bool:
    """Whether no key comes twice. Sorting hashes takes a third of the time of a set of many texts."""
    hashes = np.sort(np.fromiter(map(hash, keys), np.int64, len(keys)))
    return not (hashes[1:] == hashes[:-1]).any() or len(set(keys)) == len(keys)


def _copies(keys: Sequence[object]) -> NDArray[np.int64]:
    seen: dict[object, int] = {}
    copies = np.zeros(len(keys), dtype=np.int64)
    if _are_distinct(keys):
        return copies
    for number, key in enumerate(each(keys)):
        copy = seen.get(key, 0)
        copies[number] = copy
        seen[key] = copy + 1
    return copies

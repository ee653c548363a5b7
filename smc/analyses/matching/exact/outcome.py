"""The tables of an exact matching that shows keys."""

from __future__ import annotations

from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from smc.analyses.records.key_parameters import KeyParameters
from smc.analyses.records.keying import DISTINCT, MULTISET
from smc.analyses.studies.columns import Column, Data
from smc.analyses.studies.outcome import DATE, Outcome, Table, date_texts
from smc.numeric.shapes import of_shape

ROUTE: Final = "private set intersection: batched oblivious pseudorandom functions, cuckoo hashing"


@of_shape(lambda parameters, data, found: Outcome())
def matches(parameters: KeyParameters, data: Data, found: NDArray[np.int64] | None) -> Outcome:
    """The local rows that match by number, from 1, with their keys as they stand in the local data.

    Args:
        parameters: the key columns.
        data: the local columns.
        found: the rows, from 0; None for a party that gets none.
    """
    details = {"route": ROUTE, "duplicates": parameters.duplicates}
    if found is None:
        return Outcome((), ("The results went to the other party only.",), details)
    columns: dict[str, list[Any]] = {"row": (found + 1).tolist()}
    for name in parameters.columns:
        columns[name] = _cells(data[name], found)
    kinds = {name: DATE for name in parameters.columns if data[name].schema.is_date}
    size = Table("intersection", {"size": [len(found)]})
    return Outcome((Table("matches", columns, kinds), size), _notes(parameters, len(found)), details)


def _cells(column: Column, rows: NDArray[np.int64]) -> list[Any]:
    held = column.values
    cells: list[Any] = (
        held[rows].tolist() if isinstance(held, np.ndarray) else [held[row] for row in rows.tolist()]
    )
    if column.schema.kind == "category":
        return [column.schema.categories[number] for number in cells]
    return date_texts(cells) if column.schema.is_date else cells


def _notes(parameters: KeyParameters, size: int) -> tuple[str, ...]:
    notes: list[str] = []
    if not size:
        notes.append("The two sides have no key in common.")
    if parameters.duplicates == DISTINCT:
        notes.append("Rows with equal keys count once; the first of them is listed.")
    if parameters.duplicates == MULTISET:
        notes.append("The k-th row with a key matches the k-th row of the other side with that key.")
    return tuple(notes)

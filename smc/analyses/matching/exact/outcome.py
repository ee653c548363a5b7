"""The tables of an exact matching that shows keys."""

from __future__ import annotations

from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from smc.analyses.records.key_parameters import KeyParameters
from smc.analyses.records.keys import DISTINCT, MULTISET
from smc.analyses.studies.columns import Data
from smc.analyses.studies.outcome import DATE, Outcome, Table, date_texts

ROUTE: Final = "private set intersection: batched oblivious pseudorandom functions, cuckoo hashing"


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
    rows = found.tolist()
    columns: dict[str, list[Any]] = {"row": [row + 1 for row in rows]}
    for name in parameters.columns:
        columns[name] = _cells(data, name, rows)
    kinds = {name: DATE for name in parameters.columns if data[name].schema.is_date}
    size = Table("intersection", {"size": [len(rows)]})
    return Outcome((Table("matches", columns, kinds), size), _notes(parameters, len(rows)), details)


def _cells(data: Data, name: str, rows: list[int]) -> list[Any]:
    column = data[name]
    if column.schema.kind == "text":
        return [column.texts[row] for row in rows]
    values = column.integers
    if column.schema.kind == "category":
        return [column.schema.categories[values[row]] for row in rows]
    found = [values[row] for row in rows]
    return date_texts(found) if column.schema.is_date else found


def _notes(parameters: KeyParameters, size: int) -> tuple[str, ...]:
    notes: list[str] = []
    if not size:
        notes.append("The two sides have no key in common.")
    if parameters.duplicates == DISTINCT:
        notes.append("Rows with equal keys count once; the first of them is listed.")
    if parameters.duplicates == MULTISET:
        notes.append("The k-th row with a key matches the k-th row of the other side with that key.")
    return tuple(notes)

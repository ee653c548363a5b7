"""Rows of a party of which a study needs totals alone: they are added up piece by piece, and forgotten."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping

import numpy as np
from numpy.typing import NDArray
from typing_extensions import override

from smc.analyses.studies.columns import Column, Schema
from smc.errors import DuettoError


class SummedRows(Mapping[str, Column]):
    """Local data of which totals were kept and no rows: columns that have a schema and are empty.

    Args:
        schemas: of the columns, by their names in the job.
        rows: how many rows there were.
        entries: what a study has added up of them, in its own order.
        refusal: why it could not; the study raises that where it would have refused the rows.
    """

    def __init__(
        self,
        schemas: Mapping[str, Schema],
        rows: int,
        entries: Iterable[NDArray[np.int64]],
        refusal: DuettoError | None = None,
    ) -> None:
        self._columns = {name: Column(np.empty(0, np.int64), schema) for name, schema in schemas.items()}
        self.rows = rows
        self.entries = tuple(entries)
        self.refusal = refusal

    @override
    def __getitem__(self, name: str) -> Column:
        return self._columns[name]

    @override
    def __iter__(self) -> Iterator[str]:
        return iter(self._columns)

    @override
    def __len__(self) -> int:
        return len(self._columns)

"""Hierarchies that were written down after somebody, or `duetto anonymize init`, had looked at the cells."""

from __future__ import annotations

from collections.abc import Callable, Collection, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray
from typing_extensions import override

from anonymizer.hierarchies.hierarchy import Float, Hierarchy, Level

Int = NDArray[np.int64]


class LearnedHierarchy(Hierarchy):
    """A declared hierarchy that depends on cells all the same: what rests on it depends on them, too.

    Args:
        declared: the hierarchy.
        columns: whose cells it was made of.
    """

    def __init__(self, declared: Hierarchy, columns: Sequence[str]) -> None:
        self.declared = declared
        self._columns = tuple(columns)

    @property
    @override
    def height(self) -> int:
        return self.declared.height

    @override
    def bind(self, values: NDArray[Any], column: str) -> tuple[Level, ...]:
        return self.declared.bind(values, column)

    @property
    @override
    def needs_table(self) -> bool:
        return self.declared.needs_table

    @override
    def fit_to(
        self,
        column: str,
        cells: Callable[[str], tuple[NDArray[Any], Int]],
        public: Collection[str] = (),
    ) -> Hierarchy:
        """The declared hierarchy; its columns are asked for, which notes that the labels depend on them."""
        for name in self._columns:
            cells(name)
        return self.declared.fit_to(column, cells, public)

    @override
    def spans(self, level: int, column: str) -> tuple[tuple[str, ...], Float]:
        return self.declared.spans(level, column)

"""Generalization to chosen levels: every value of a column becomes its label at one level (full-domain)."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray
from typing_extensions import override

from anonymizer.errors import HierarchyError
from anonymizer.hierarchies.hierarchy import Level
from anonymizer.methods.contract.method import Method
from anonymizer.methods.contract.parameters import parameters
from anonymizer.risk.candidates import Candidates, IntervalCandidates, LabelCandidates, compose_steps
from anonymizer.tables.provenance import TableProvenance
from anonymizer.tables.table import Table


@parameters
class Generalization(Method):
    """Replaces values by their labels.

    Args:
        levels: of each column the level in its hierarchy, 0 leaving it as it is.

    Reference: Samarati, IEEE TKDE 2001; thesis, section 2.2.1.
    """

    name: ClassVar[str] = "generalization"
    random: ClassVar[bool] = False
    keeps_rows: ClassVar[bool] = True
    keeps_classes: ClassVar[bool] = True
    example: ClassVar[Mapping[str, Any]] = {"levels": {"age": 1, "city": 1}}

    levels: Mapping[str, int] | None = None

    @override
    def columns_of(self, table: Table) -> tuple[str, ...]:
        """The columns with a level; all quasi-identifiers at level 1 if none is given."""
        return tuple(self._levels(table))

    def _levels(self, table: Table) -> Mapping[str, int]:
        if self.levels is not None:
            return self.levels
        return dict.fromkeys(table.roles.quasi_identifiers, 1)

    @override
    def provenance(self, table: Table) -> TableProvenance:
        """A label depends on its own cell, and on what the hierarchy was built of."""
        given = table.provenance
        columns = [column for column, level in self._levels(table).items() if level]
        return given.recode({c: given.content(c) | given.hierarchies(c) for c in columns}, gaps="none")

    @override
    def _fit(self, table: Table) -> None:
        self.levels_ = {column: level for column, level in self._levels(table).items() if level}
        for column, level in self.levels_.items():
            hierarchy = table.hierarchies.get(column)
            if hierarchy is None:
                raise HierarchyError(
                    f"Column {column!r} has no hierarchy.",
                    "Write one below [hierarchies], or leave the column out of levels.",
                )
            if not isinstance(level, int) or not 0 < level <= hierarchy.height:
                raise HierarchyError(
                    f"Column {column!r} has no level {level!r}; its hierarchy has {hierarchy.height}.",
                    "Choose a level from 0 to that number.",
                )
        table.complete(tuple(self.levels_))
        for column in self.levels_:
            self._level(table.codes(column).values, column)

    @override
    def _transform(self, table: Table) -> Table:
        table.complete(tuple(self.levels_))
        replaced = {}
        for column in self.levels_:
            codes = table.codes(column)
            level = self._level(codes.values, column)
            replaced[column] = np.array(level.labels, dtype=object)[level.groups[codes.codes]]
        return table.replace(replaced)

    def _level(self, values: NDArray[Any], column: str) -> Level:
        return self.hierarchies_[column].bind(values, column)[self.levels_[column]]

    def simulate(self, column: str, candidates: Candidates) -> Candidates:
        """Values go to their labels with high confidence; an interval goes to all labels that it meets."""
        if column not in self.levels_:
            return candidates
        if isinstance(candidates, LabelCandidates):
            level = self._level(candidates.labels, column)
            member = np.zeros((len(candidates.labels), len(level.labels)), dtype=np.bool_)
            member[np.arange(len(candidates.labels)), level.groups] = True
            labels = np.array(level.labels, dtype=object)
            return LabelCandidates(
                labels, compose_steps(candidates.high, member), compose_steps(candidates.low, member)
            )
        if (points := candidates.points) is not None:
            level = self._level(points, column)
            member = level.groups[:, None] == np.arange(len(level.labels))
            return LabelCandidates(np.array(level.labels, dtype=object), member, member)
        return self._of_intervals(column, candidates)

    def _of_intervals(self, column: str, candidates: IntervalCandidates) -> LabelCandidates:
        names, spans = self.hierarchies_[column].spans(self.levels_[column], column)
        high, low = (
            (ends[:, :1] <= spans[None, :, 1]) & (spans[None, :, 0] <= ends[:, 1:])
            for ends in (candidates.high, candidates.low)
        )
        return LabelCandidates(np.array(names, dtype=object), high, low)

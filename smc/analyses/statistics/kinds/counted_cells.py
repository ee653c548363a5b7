"""Figures that follow from the counts of a cross table, and stand below them in one table."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Sequence
from typing import ClassVar

from typing_extensions import override

from smc.analyses.statistics.kinds.crosstabs import Cells
from smc.analyses.statistics.kinds.figure_rows import FigureRow, figure_table
from smc.analyses.statistics.kinds.statistic import MISS, Result
from smc.numeric.random import Randomness
from smc.secret.noise.distribution import Distribution


class CountedCells(Cells):
    """Counts, and what a kind makes of them if none is withheld."""

    __slots__ = ()

    figures_called: ClassVar[str]
    """What is missing where a count is withheld."""

    @property
    @override
    def simulates(self) -> bool:
        """The intervals."""
        return True

    @property
    @override
    def unit(self) -> str:
        """None: of the common table's value, a ratio."""
        return ""

    @property
    @override
    def has_margins(self) -> bool:
        """Totals would tell nothing that the counts do not."""
        return False

    @override
    def result(
        self, entries: Sequence[int | None], distributions: Sequence[Distribution], random: Randomness
    ) -> Result:
        """A ratio, with all figures in a table of their own. Entries that are None were withheld."""
        width = distributions[0].half_width(MISS) if distributions else 0
        rows = [
            FigureRow.of_count(term, entry, width)
            for term, entry in zip(self.count_names(), entries, strict=True)
        ]
        known = [entry for entry in entries if entry is not None]
        if len(known) < len(entries):
            note = f"{self.query.name}: no {self.figures_called}, as counts are withheld."
            return Result(table=figure_table(rows), notes=(note,))
        return self.result_of(rows, known, distributions, random)

    @abstractmethod
    def count_names(self) -> list[str]:
        """The names of the counts, in their order."""
        ...

    @abstractmethod
    def result_of(
        self,
        counts: list[FigureRow],
        entries: Sequence[int],
        distributions: Sequence[Distribution],
        random: Randomness,
    ) -> Result:
        """The result from counts that are all shown.

        Args:
            counts: as rows of the table.
            entries: the counts.
            distributions: of their noise; none if they are exact.
            random: for simulations.
        """
        ...

"""Studies that need nothing of the local rows but sums over them."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Protocol, runtime_checkable

from smc.analyses.studies.columns import Data
from smc.analyses.studies.totals import SummedRows


@runtime_checkable
class AddsUp(Protocol):
    """A study that needs nothing of the local rows but sums over them, if each is about another person."""

    def totals(self, pieces: Iterable[Data]) -> SummedRows:
        """Add up local rows.

        Args:
            pieces: the local columns, some rows at a time; at least one piece. None of them is kept.

        Returns:
            Data with which `preview`, `run` and `reference` do what they would with all rows at once.
        """
        ...

"""What comes out of the opening of a table of groups."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from smc.analyses.disclosure.suppression import Mask

Ints = NDArray[np.int64]


@dataclass(frozen=True, slots=True)
class Totals:
    """Totals of a table; 0 where they stay closed.

    Attributes:
        rows: of the rows, shape (r,).
        columns: of the columns, shape (c,).
        total: of all cells.
    """

    rows: Ints
    columns: Ints
    total: int


@dataclass(frozen=True, slots=True)
class OpenedTable:
    """What came out of the opening of a table; a table of one dimension counts as one row.

    Attributes:
        shown: cells that are open, shape (r, c).
        shown_rows: row totals that are open, shape (r,).
        shown_columns: column totals that are open, shape (c,).
        shown_total: whether the total is open.
        counts: 0 where withheld, shape (r, c).
        values: further tables by name, held integers, 0 where withheld, shape (r, c).
        count_totals: totals of the counts.
        value_totals: totals of the further tables.
    """

    shown: Mask
    shown_rows: Mask
    shown_columns: Mask
    shown_total: bool
    counts: Ints
    values: Mapping[str, Ints] = field(default_factory=dict)
    count_totals: Totals | None = None
    value_totals: Mapping[str, Totals] = field(default_factory=dict)

    @property
    def withheld(self) -> int:
        """The number of cells that stay closed."""
        return int((~self.shown).sum())

    @property
    def notes(self) -> tuple[str, ...]:
        """What people read about cells and totals that stay closed."""
        if not self.withheld:
            return ()
        notes = [
            f"{self.withheld} of {self.shown.size} cells are withheld: small groups, cells that one person "
            "dominates, and cells that would give those away. They are not zero."
        ]
        closed = int((~self.shown_rows).sum() + (~self.shown_columns).sum()) + (not self.shown_total)
        if self.count_totals is not None and closed:
            notes.append(
                f"{closed} totals are withheld, since a withheld cell could be worked out from them."
            )
        return tuple(notes)

"""What an exact table shows of a party's persons, for whoever remembers what earlier ones have shown.

Tables that are safe one by one can reveal a few persons together (shifted edges, complementary groups).
A run knows its own table only; an `Auditor` knows the earlier ones as well. It is asked when it is settled
which cells and totals are opened, and before one is: what it refuses stays closed at both sides.

Reference: Chin and Ozsoyoglu, Auditing and inference control in statistical databases, IEEE TSE 8, 1982.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from smc.analyses.disclosure.suppression import Suppression

Ints = NDArray[np.int64]


@dataclass(frozen=True, slots=True)
class Members:
    """Which rows of this party are in which cell.

    Attributes:
        persons: the number of the person that each row is about, as `smc.analyses.studies.columns.PERSONS`
            has it, or the number of the row where it has none; shape (n,).
        cells: the cell of each row, counted through the table row by row; shape (n,). Rows in no cell are
            left out.
        amounts: what each row adds to the sum that is opened beside the counts, not negative, shape (n,);
            None where only counts are opened.
    """

    persons: Ints = field(repr=False)
    cells: Ints = field(repr=False)
    amounts: Ints | None = field(default=None, repr=False)


@dataclass(frozen=True, slots=True)
class ShownTable:
    """What a table is about to show.

    Attributes:
        members: of the cells.
        equations: the cells that each opened number adds up, shape (numbers, cells).
    """

    members: Members
    equations: NDArray[np.bool_] = field(repr=False)

    @classmethod
    def of(cls, members: Members, found: Suppression, *, margins: bool) -> ShownTable:
        """The table of these members whose cells and totals are opened as settled."""
        rows, columns = found.hidden.shape
        places = np.arange(rows * columns).reshape(rows, columns)
        sums = [np.array([place]) for place in places[~found.hidden].tolist()]
        if margins:
            sums += [places[row] for row in np.flatnonzero(found.rows)]
            sums += [places[:, column] for column in np.flatnonzero(found.columns)]
            sums += [places.reshape(-1)] if found.total else []
        equations = np.zeros((len(sums), rows * columns), dtype=np.bool_)
        for equation, cells in zip(equations, sums, strict=True):
            equation[cells] = True
        return cls(members, equations)


class Auditor(Protocol):
    """Remembers what exact tables have shown to the peer."""

    def allows(self, table: ShownTable) -> bool:
        """Whether a table may be opened; nothing is kept."""
        ...

    def record(self, table: ShownTable) -> None:
        """Keep what a table shows; on return it is remembered, whatever happens next.

        Raises:
            DuettoError: it cannot be kept, or may not be opened any more.
        """
        ...

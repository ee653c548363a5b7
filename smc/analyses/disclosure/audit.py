"""What an opening tells the peer of a party's persons, for whoever remembers what earlier ones have told.

Tables that are safe one by one can reveal a few persons together (shifted edges, complementary groups). A run
knows its own table only; an `Auditor` knows the earlier ones as well. `smc.analyses.disclosure.opener` opens
nothing that it has not been told of, single bits included: what it refuses stays closed.

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
        amounts: what each row adds to the sum that is opened beside the counts, not negative, shape (n,), or
            to several, shape (sums, n); None where only counts are opened.
        signed: the same counted from 0, where amounts are not; of the same shape, in any unit.
    """

    persons: Ints = field(repr=False)
    cells: Ints = field(repr=False)
    amounts: Ints | None = field(default=None, repr=False)
    signed: Ints | None = field(default=None, repr=False)


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
            # a line of one cell is that cell, and its total no further number
            sums += [places[row] for row in np.flatnonzero(found.rows) if columns > 1]
            sums += [places[:, column] for column in np.flatnonzero(found.columns) if rows > 1]
            sums += [places.reshape(-1)] if found.total and min(rows, columns) > 1 else []
        equations = np.zeros((len(sums), rows * columns), dtype=np.bool_)
        for equation, cells in zip(equations, sums, strict=True):
            equation[cells] = True
        return cls(members, equations)


@dataclass(frozen=True, slots=True)
class ShownTables:
    """What the tables of one query are about to show.

    Attributes:
        tables: of this party's part, each.
    """

    tables: tuple[ShownTable, ...]


@dataclass(frozen=True, slots=True)
class Bit:
    """A single bit that depends on this party's data.

    Attributes:
        what: what it says, for people.
    """

    what: str


@dataclass(frozen=True, slots=True)
class Figures:
    """Figures whose limits the release has tested, or whose loss the gate has taken; no tables."""


Told = ShownTables | Bit | Figures
"""What an opening tells the peer."""


class Auditor(Protocol):
    """Remembers what this party's openings have told the peer."""

    @property
    def judges(self) -> bool:
        """Whether it knows whom rows are about, so that it can hold tables against each other."""
        ...

    def allows(self, told: Told) -> bool:
        """Whether something may be opened; nothing is kept."""
        ...

    def record(self, told: Told) -> None:
        """Keep what an opening tells; on return it is remembered, whatever happens next.

        Raises:
            DuettoError: it cannot be kept, or may not be opened any more.
        """
        ...


class Unaudited:
    """The auditor of runs that nobody remembers: in-process runs and tests."""

    judges = False

    def allows(self, told: Told) -> bool:
        """Yes."""
        del told
        return True

    def record(self, told: Told) -> None:
        """Keep nothing."""
        del told

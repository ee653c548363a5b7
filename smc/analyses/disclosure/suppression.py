"""Which cells and totals of a side's part of a table stay closed, by that side's own limits.

A cell that is too small, or that one person dominates, is withheld (primary suppression). Totals give it back
unless further cells are withheld with it (complementary suppression). They are chosen from two bits for each
cell: whether it is withheld for its own sake, and whether it is roomy, that is twice the smallest group.
Choice and test are its owner's; who receives the part sees what is withheld, and of totals whether they are.

              j*
        p  .  a .        p  withheld for its own sake      a, b, c  roomy cells, withheld with it
        .  .  . .        row totals need the a, column totals the b, both together the corner c
     i* b  .  c .        where no such line i* or j* is found, totals over withheld cells stay closed

Totals are opened only if there is room: if, whatever the withheld p are within their range, the totals leave
more than roomy a, b and c. If so, the totals show all that the test has looked at, and it shows nothing more
(it is simulatable); if not, a, b and c may be just roomy whatever the p are. Guarantee: after everything that
is opened, even if the two bits of each cell were known, every combination of the counts that are withheld for
their own sake remains possible, within their range. Tests with attackers who try all tables demand it.

References: Hundepohl, Domingo-Ferrer, Franconi, Giessing, Schulte Nordholt, Spicer and de Wolf, Statistical
disclosure control, 2012, sections 4.2 and 4.4; Gusfield, A graph theoretic approach to statistical data
security, SIAM J. Comput. 17, 1988; Kenthapadi, Mishra and Nissim, Simulatable auditing, PODS 2005.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

Mask = NDArray[np.bool_]


@dataclass(frozen=True, slots=True)
class Suppression:
    """What stays closed, of a table with r rows and c columns.

    Attributes:
        primary: cells that are withheld for their own sake, shape (r, c).
        hidden: cells that are not opened, shape (r, c).
        rows: row totals that are opened if the test for room is passed, shape (r,).
        columns: column totals, likewise, shape (c,).
        total: the total, likewise.
        coefficients: of the sums of cells that the test looks at, shape (n, r * c); n is 0 if every total
            that is to be opened follows from open cells.
        thresholds: the least values of these sums, shape (n,).
    """

    primary: Mask
    hidden: Mask
    rows: Mask
    columns: Mask
    total: bool
    coefficients: NDArray[np.int64]
    thresholds: NDArray[np.int64]

    @property
    def lines(self) -> Iterator[tuple[int, NDArray[np.intp]]]:
        """Lines with withheld cells whose totals are to be opened: along which axis they sum, and which."""
        for axis, wanted in ((1, self.rows), (0, self.columns)):
            found = np.flatnonzero(wanted & _some(self.hidden, axis))
            if len(found):
                yield axis, found

    def without_room(self) -> Suppression:
        """What stays closed when the test is not passed: the same cells, and totals over them."""
        rows, columns = _some(self.hidden, 1), _some(self.hidden, 0)
        return _close(self.primary, self.hidden, ~rows, ~columns, total=not rows.any())


def roomy_from(minimum_group: int) -> int:
    """The least count of a roomy cell."""
    return 2 * max(1, minimum_group)


def choose(primary: Mask, roomy: Mask, minimum_group: int, *, margins: bool, zeros: bool) -> Suppression:
    """Choose what stays closed.

    Args:
        primary: cells that are withheld for their own sake, shape (r, c).
        roomy: other cells with at least `roomy_from(minimum_group)`, shape (r, c).
        minimum_group: the least group that may be shown.
        margins: whether totals are wanted.
        zeros: whether empty cells are withheld as well.
    """
    rows, columns = _some(primary, 1), _some(primary, 0)
    if not margins:
        return _close(primary, primary, ~np.ones_like(rows), ~np.ones_like(columns), total=False)
    closed = _close(primary, primary, ~rows, ~columns, total=not primary.any())
    if not primary.any():
        return closed
    column = _line(rows, columns, roomy)
    row = _line(columns, rows, roomy.T)
    least, most = 0 if zeros else 1, max(0, minimum_group - 1)
    room = roomy_from(minimum_group) + 1
    if row is not None and column is not None and roomy[row, column]:
        return _both(primary, row, column, room, least, most)
    if column is not None:
        return _rows_only(primary, column, room, most)
    if row is not None:
        turned = _rows_only(primary.T, row, room, most)
        coefficients = turned.coefficients.reshape(-1, *primary.T.shape).swapaxes(1, 2)
        return Suppression(
            primary,
            turned.hidden.T,
            turned.columns,
            turned.rows,
            turned.total,
            coefficients.reshape(len(coefficients), -1),
            turned.thresholds,
        )
    return closed


def _close(primary: Mask, hidden: Mask, rows: Mask, columns: Mask, *, total: bool) -> Suppression:
    nothing = np.zeros((0, hidden.size), dtype=np.int64)
    return Suppression(primary, hidden, rows, columns, total, nothing, nothing[:, 0])


def _line(rows: Mask, columns: Mask, roomy: Mask) -> int | None:
    """The first column without withheld cells that is roomy in all rows that have some."""
    fits = ~columns & roomy[rows].all(axis=0)
    return int(np.argmax(fits)) if fits.any() else None


def _rows_only(primary: Mask, column: int, room: int, most: int) -> Suppression:
    """Row totals with one further cell in each row; column totals over withheld cells stay closed."""
    affected = _places(_some(primary, 1))
    hidden = primary.copy()
    hidden[affected, column] = True
    sums = [_within(hidden, row, slice(None)) for row in affected]
    thresholds = [room + most * int(primary[row].sum()) for row in affected]
    rows = np.ones(len(primary), dtype=np.bool_)
    columns = ~_some(hidden, 0)
    return Suppression(primary, hidden, rows, columns, True, np.array(sums), np.array(thresholds))


def _both(primary: Mask, row: int, column: int, room: int, least: int, most: int) -> Suppression:
    """All totals: a frame of further cells in one row and one column, and the corner where they meet."""
    rows, columns = _places(_some(primary, 1)), _places(_some(primary, 0))
    hidden = primary.copy()
    hidden[rows, column] = True
    hidden[row, columns] = True
    hidden[row, column] = True
    sums = [_within(hidden, one, slice(None)) for one in rows]
    sums += [_within(hidden, slice(None), one) for one in columns]
    corner = -primary.astype(np.int64)
    corner[row, column] = 1
    thresholds = [room + most * int(primary[one].sum()) for one in rows]
    thresholds += [room + most * int(primary[:, one].sum()) for one in columns]
    return Suppression(
        primary,
        hidden,
        np.ones(primary.shape[0], dtype=np.bool_),
        np.ones(primary.shape[1], dtype=np.bool_),
        True,
        np.array([*sums, corner.reshape(-1)]),
        np.array([*thresholds, room - least * int(primary.sum())]),
    )


def _some(marks: Mask, axis: int) -> Mask:
    """Which lines have a mark."""
    found: Mask = np.logical_or.reduce(marks, axis=axis)
    return found


def _places(marks: Mask) -> list[int]:
    found: list[int] = np.flatnonzero(marks).tolist()
    return found


def _within(hidden: Mask, row: int | slice, column: int | slice) -> NDArray[np.int64]:
    """Coefficients of the sum of the withheld cells of one line."""
    found = np.zeros(hidden.shape, dtype=np.int64)
    found[row, column] = hidden[row, column]
    return found.reshape(-1)

"""A log by observation windows: a sparse matrix of users and items for each, M_T of the thesis.

A user has another pseudonym in each window. In a release that is the number of the row: the rows of every
window are shuffled by themselves, and nothing else names a user.

Reference: thesis, section 5.3.1, Eq. 5.2 to 5.4.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from itertools import pairwise
from typing import Any, Final, Literal, get_args

import numpy as np
import pandas as pd
from numpy.typing import NDArray
from scipy.sparse import csr_matrix
from typing_extensions import override

from anonymizer.errors import TableError
from anonymizer.series.log import Log, Moment
from anonymizer.tables.randomness import Randomness
from anonymizer.tables.roles import Roles
from anonymizer.tables.table import Table
from commons.errors import near

Int = NDArray[np.int64]

USER: Final = "user"
"""The column of the users in a matrix as a table; an identifier, so that no release holds it."""

Cells = Literal["binary", "sum"]
"""What a cell is: whether the user had to do with the item, or the sum of the amounts."""

_LARGEST: Final = 2.0**53

MIN_USERS: Final = 5
"""Users that an item has in every window unless said otherwise. Its name and factor speak of these alone."""


@dataclass(frozen=True, slots=True)
class Window:
    """An observation window.

    Attributes:
        start: its first moment.
        end: the first moment behind it.
    """

    start: Moment
    end: Moment

    @override
    def __str__(self) -> str:
        return f"{self.start} to {self.end}"


@dataclass(frozen=True, slots=True)
class Matrix:
    """Users by items.

    Attributes:
        cells: sparse, shape (n, m), in double precision.
        users: of the rows.
        items: of the columns.
        window: that it was observed in; None if it is of none.
    """

    cells: csr_matrix = field(repr=False)
    users: tuple[str, ...] = field(repr=False)
    items: tuple[str, ...] = field(repr=False)
    window: Window | None = None

    def __len__(self) -> int:
        return len(self.users)

    def table(self) -> Table:
        """The same as a table: the users are identifiers, all items quasi-identifiers.

        Raises:
            TableError: an item has the name of the column of the users.
        """
        if USER in self.items:
            raise TableError(
                f"An item is called {USER!r}, as the column of the users is.", "Rename the item."
            )
        dense = self.cells.toarray()
        whole = bool((dense == np.rint(dense)).all())
        frame = pd.DataFrame(dense.astype(np.int64) if whole else dense, columns=[*self.items])
        frame.insert(0, USER, pd.Series(self.users, dtype="str"))
        return Table.of(frame, Roles(identifiers=(USER,), quasi_identifiers=self.items))

    def take(self, rows: Int) -> Matrix:
        """Some users, in the given order."""
        return replace(self, cells=self.cells[rows], users=tuple(self.users[row] for row in rows.tolist()))

    def pseudonymize(self, seed: int | None = None) -> tuple[Matrix, Int]:
        """The matrix with fresh pseudonyms in the place of users, rows in random order.

        Args:
            seed: makes it repeatable, and gives the users away to who guesses it; None is the operating
                system's randomness.

        Returns:
            The matrix, and where each of its rows stood, shape (n,).
        """
        order = Randomness(seed, f"pseudonyms {self.window}").permutation(len(self))
        found = self.take(order)
        width = len(str(len(self)))
        return replace(found, users=tuple(f"p{row:0{width}}" for row in range(1, len(self) + 1))), order


def matrices(
    log: Log,
    windows: Sequence[Window],
    *,
    cells: Cells = "binary",
    minimum_users: int = MIN_USERS,
) -> tuple[Matrix, ...]:
    """The matrices of several windows, all over the same items.

    Users are those with an event of such an item in the window. Amounts that add up to nothing, such as a
    purchase and its return, are none.

    Args:
        log: the events.
        windows: at least one.
        cells: what a cell is.
        minimum_users: items with fewer different users in one of the windows are left out; 1 keeps all that
            occur in every window.

    Raises:
        TableError: the log is empty, a window ends before it begins or holds no user, two overlap, or no
            item is left.
    """
    if cells not in get_args(Cells):
        raise TableError(f"{cells!r} is not a valid kind of cells.", near(cells, get_args(Cells)))
    if not len(log):
        raise TableError("The log is empty.", "Give at least one event.")
    if not windows or minimum_users < 1:
        raise TableError("There is no window, or minimum_users is below 1.", "Give a window, and 1 or more.")
    counted = [_count(log, window, cells) for window in windows]
    _check_disjoint(log, windows)
    kept = np.flatnonzero(np.min([_users_of(one) for one in counted], axis=0) >= minimum_users)
    if not len(kept):
        raise TableError(
            f"No item has {minimum_users} users in every window.",
            "Lower minimum_users, take longer windows, or put items into groups, such as products into "
            "categories.",
        )
    items = tuple(log.items[place] for place in kept.tolist())
    found = []
    for one, window in zip(counted, windows, strict=True):
        part = csr_matrix(one[:, kept])
        active = np.flatnonzero(np.diff(part.indptr) > 0)
        names = tuple(log.users[place] for place in active.tolist())
        found.append(Matrix(csr_matrix(part[active]), names, items, window))
    return tuple(found)


def _count(log: Log, window: Window, cells: Cells) -> Any:
    """All users by all items in a window."""
    start, end = log.moment(window.start), log.moment(window.end)
    if not start < end:
        raise TableError(
            f"The window {window} ends before it begins, or as it does.",
            "Give an end behind its start; it is the first moment that is not in the window.",
        )
    inside = (log.time >= start) & (log.time < end)
    if not inside.any():
        first, last = (_format_moment(log, moment) for moment in (log.time.min(), log.time.max()))
        raise TableError(
            f"The window {window} holds no user: the events of the log are from {first} to {last}.",
            "Give a window with events.",
        )
    shape = len(log.users), len(log.items)
    places = log.user[inside], log.item[inside]
    found = csr_matrix((log.amount[inside], places), shape=shape)
    found.sum_duplicates()
    found.eliminate_zeros()
    if not (np.abs(found.data) < _LARGEST).all():
        raise TableError(
            f"Amounts in the window {window} add up to more than 2**53, where cells are not exact.",
            'Give them in a larger unit, or take cells = "binary" and no amount.',
        )
    if cells == "binary":
        found.data[:] = 1.0
    return found


def _format_moment(log: Log, moment: float) -> str:
    return f"{moment:g}" if log.numbered else str(np.datetime64(round(moment), "us"))[:19]


def _users_of(matrix: Any) -> Int:
    return np.asarray(np.bincount(matrix.indices, minlength=matrix.shape[1]), dtype=np.int64)


def _check_disjoint(log: Log, windows: Sequence[Window]) -> None:
    """Check that no moment is in two windows: an event in both would link them."""
    ends = sorted((log.moment(one.start), log.moment(one.end), str(one)) for one in windows)
    for (_, end, one), (start, _, other) in pairwise(ends):
        if start < end:
            raise TableError(
                f"The windows {one} and {other} overlap, and events in both would link their users.",
                "Let one begin where the other ends.",
            )

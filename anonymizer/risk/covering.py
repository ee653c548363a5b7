"""A release as an attacker has it who knows quasi-identifiers: whose they may be, class by class."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace

import narwhals as nw
import numpy as np
from numpy.typing import NDArray

from anonymizer.errors import TableError
from anonymizer.hierarchies.hierarchy import ANY, text_of
from anonymizer.risk.attacks.rows import Rows, align_rows
from anonymizer.risk.classes import classes_of, number_classes
from anonymizer.tables.roles import Roles
from anonymizer.tables.table import Table

Int = NDArray[np.int64]
Bool = NDArray[np.bool_]


@dataclass(frozen=True, slots=True)
class ReleasedRows:
    """One release, as an attacker has it.

    Attributes:
        name: for people.
        table: its rows; a row stands several times where the sensitive value may be one of several.
        rows: of each the number of the row that it stands for, from 0, shape (n,).
        persons: the rows of the original that are in it; None if that is not known, and all are looked for.
        blurred: columns whose cells were drawn at random: they link nothing, and are nobody's values.
        group: the column of groups to which values belong; None if they belong to rows.
    """

    name: str
    table: Table = field(repr=False)
    rows: Int = field(repr=False)
    persons: Int | None = field(default=None, repr=False)
    blurred: tuple[str, ...] = ()
    group: str | None = None

    @classmethod
    def of(
        cls,
        name: str,
        table: Table,
        roles: Roles,
        extra: Mapping[str, Table] | None = None,
        persons: Int | None = None,
        blurred: tuple[str, ...] = (),
    ) -> ReleasedRows:
        """The rows of a release.

        Args:
            name: for people.
            table: the main one.
            roles: of the columns of the original.
            extra: further tables by a word; one that holds sensitive values by groups is joined.
            persons: as the attribute.
            blurred: as the attribute.
        """
        rows = np.arange(len(table), dtype=np.int64)
        joined, group = table, None
        for one in (extra or {}).values():
            group = next((column for column in one.names if column in joined.names), group)
            joined, places = _join(joined, one)
            rows = rows[places]
        return cls(name, replace(joined, roles=roles.among(joined.names)), rows, persons, blurred, group)

    def without_unread(self, original: Table) -> tuple[ReleasedRows, dict[str, int]]:
        """With `*` for labels that are not understood, and by column how many rows hold one.

        These stand for nobody of the original, intervals apart, which say themselves whom they stand for; or,
        where it is known whose a row is, for others than that person, as means do.
        """
        fresh, counts = {}, {}
        for name in self.table.roles.quasi_identifiers:
            unread = self._unread(original, name)
            if unread.any():
                codes = self.table.codes(name)
                texts = np.array([*map(text_of, codes.values.tolist()), None], dtype=object)[codes.codes]
                fresh[name] = np.where(unread, ANY, texts)
                counts[name] = int(unread.sum())
        return (replace(self, table=self.table.replace(fresh)) if fresh else self), counts

    def _unread(self, original: Table, column: str) -> Bool:
        """In which rows the cell of a column is not understood, shape (n,)."""
        rows, people = align_rows(self.table, [original], (column,))
        low, high = rows.low[0], rows.high[0]
        if self.persons is not None:
            own = self.persons[self.rows]
            strange: Bool = (people.low[0][own] < low) | (high < people.high[0][own])
            return strange
        order = np.argsort(people.low[0], kind="stable")
        # the least end of all cells that begin at a place or after it
        ends = np.append(np.minimum.accumulate(people.high[0][order][::-1])[::-1], np.nan)
        nearest = ends[np.searchsorted(people.low[0][order], low, side="left")]
        unread: Bool = ~(nearest <= high) & ~(rows.numeric[0] & (low < high))
        return unread

    @property
    def is_spread(self) -> bool:
        """Whether a row stands several times, so that candidates are not rows."""
        return len(self.rows) > int(self.rows.max(initial=-1)) + 1


@dataclass(frozen=True, slots=True)
class PlacedRelease:
    """A release and its classes, in one space with the original.

    Attributes:
        release: the release.
        own: of each row its class, shape (n,).
        classes: of each class its labels.
        people: the rows of the original in the same space.
        inside: which rows of the original are in it, shape (original rows,).
    """

    release: ReleasedRows
    own: Int = field(repr=False)
    classes: Rows = field(repr=False)
    people: Rows = field(repr=False)
    inside: Bool = field(repr=False)

    @classmethod
    def of(cls, original: Table, release: ReleasedRows) -> PlacedRelease:
        """Bring a release and its original into one space.

        Raises:
            TableError: the release has no rows, or no quasi-identifiers.
        """
        keys = release.table.roles.quasi_identifiers
        if not keys:
            raise TableError(
                f"{release.name} has no quasi-identifiers, so that nobody can be looked for.",
                "Declare them, or leave it out.",
            )
        rows, people = align_rows(release.table, [original], keys)
        own, count = classes_of(release.table, keys)
        some = np.empty(count, dtype=np.int64)
        some[own] = np.arange(len(own))
        inside = np.ones(len(original), dtype=np.bool_)
        if release.persons is not None:
            inside[:] = False
            inside[release.persons] = True
        return cls(release, own, rows.take(some), people, inside)

    def cover(self, persons: Int) -> tuple[Int, Int]:
        """The classes whose labels cover the persons: numbers of both, by person."""
        low, high = self.people.low[:, persons], self.people.high[:, persons]
        fits = np.repeat(self.inside[persons][:, None], len(self.classes), axis=1)
        for first, last, least, most in zip(self.classes.low, self.classes.high, low, high, strict=True):
            fits &= (first[None, :] <= least[:, None]) & (most[:, None] <= last[None, :])
        who, where = np.nonzero(fits)
        return who, where


def spread(who: Int, where: Int, starts: Int, items: Int) -> tuple[Int, Int]:
    """All items of the classes in which somebody is: who, and the item."""
    sizes = starts[where + 1] - starts[where]
    first = np.repeat(starts[where] - (np.cumsum(sizes) - sizes), sizes)
    return np.repeat(who, sizes), items[first + np.arange(int(sizes.sum()))]


def link_rows(one: Table, other: Table, names: Sequence[str]) -> tuple[Int, Int]:
    """One numbering of what rows of two tables hold in some columns; 0 for all if there is none."""
    columns: list[Int] = [np.zeros(len(one) + len(other), dtype=np.int64)]
    for name in names:
        places: dict[str, int] = {}
        parts = []
        for table in (one, other):
            codes = table.codes(name)
            own = [places.setdefault(text_of(value), len(places)) for value in codes.values.tolist()]
            parts.append(np.array([*own, -1], dtype=np.int64)[codes.codes])
        columns.append(np.concatenate(parts))
    found, _ = number_classes(columns)
    return found[: len(one)], found[len(one) :]


def _join(main: Table, extra: Table) -> tuple[Table, Int]:
    """Every row with each value that its group has; the table, and the row of the main one of each."""
    group = next((name for name in extra.names if name in main.names), None)
    if group is None:
        return main, np.arange(len(main), dtype=np.int64)
    own, theirs = link_rows(main, extra, (group,))
    starts, rows = _rows_by(theirs, int(max(own.max(initial=0), theirs.max(initial=0))) + 1)
    who, which = spread(np.arange(len(main)), own, starts, rows)
    fresh = [name for name in extra.names if name not in main.names]
    frame = nw.concat([main.frame[who, :], extra.frame.select(fresh)[which, :]], how="horizontal")
    return Table.of(frame.to_native()), who


def _rows_by(links: Int, count: int) -> tuple[Int, Int]:
    order = np.argsort(links, kind="stable")
    return np.searchsorted(links[order], np.arange(count + 1)), order

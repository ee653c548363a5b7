"""Several releases of the same people, looked at together: who fits in all of them.

The attacker knows a person's quasi-identifiers, and that the person is in the releases. In each, the rows
whose labels cover these are candidates. A candidate of one release is dropped if no candidate of another
agrees with it in the columns that both have unchanged: what is left in all is fewer people, and fewer values.
A label that is not understood, as one of a hierarchy that is not there, is taken for anybody's and counted:
then more may be left than an attacker has, and it is known that it may.

Reference: Ganta, Kasiviswanathan and Smith, Composition attacks and auxiliary information in data privacy,
KDD 2008, section 3 (the intersection attack).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Final

import numpy as np
from numpy.typing import NDArray

from anonymizer.errors import TableError
from anonymizer.hierarchies.hierarchy import text_of
from anonymizer.risk.classes import number_classes
from anonymizer.risk.covering import PlacedRelease, ReleasedRows, link_rows, spread
from anonymizer.tables.persons import PersonRows
from anonymizer.tables.randomness import Randomness
from anonymizer.tables.table import Table

Int = NDArray[np.int64]

MAX_LOOKS: Final = 5e8
"""Cells that are compared at most; of more persons a random part is looked for."""
_BLOCK_CELLS: Final = 1 << 22
_SEEN: Final = 50
"""A candidate row costs as much as so many cells that are compared."""
_FEWEST: Final = 100
"""So many persons are looked for, whatever it costs."""


@dataclass(frozen=True, slots=True)
class Left:
    """What is left of one release to somebody who has the others.

    Attributes:
        name: of the release.
        persons: that have candidates in it.
        k: the fewest rows that a person may be; where persons have several, the fewest persons that these
            rows are of, or that they can be of if it is not known whose they are. None of a release that does
            not link rows and values.
        k_alone: the same to somebody who has this release only; None where persons have several rows, it is
            not known whose these are, and some are left out by the other releases.
        l: by sensitive column the fewest values that a person may have.
        l_alone: the same to somebody who has this release only.
        certain: by sensitive column how many persons are left with one value.
        certain_alone: the same to somebody who has this release only.
    """

    name: str
    persons: int
    k: int | None
    k_alone: int | None
    l: Mapping[str, int]  # noqa: E741 - the name of the field
    l_alone: Mapping[str, int]
    certain: Mapping[str, int]
    certain_alone: Mapping[str, int]


@dataclass(frozen=True, slots=True)
class Intersection:
    """Several releases together.

    Attributes:
        looked: persons that were looked for; fewer than `persons` where that was too much.
        persons: of the original.
        left: of each release, in their order.
        unread: of each release, in the same order, by column how many rows hold what was not understood, and
            was taken for anybody's; columns without such rows are left out.
    """

    looked: int
    persons: int
    left: tuple[Left, ...]
    unread: tuple[Mapping[str, int], ...] = ()

    @property
    def k(self) -> int | None:
        """The fewest rows that a person may be in a release; None if none links rows and values."""
        return min((one.k for one in self.left if one.k is not None), default=None)

    @property
    def l(self) -> dict[str, int]:  # noqa: E743
        """By sensitive column the fewest values that a person may have."""
        names = dict.fromkeys(name for one in self.left for name in one.l)
        return {name: min(one.l[name] for one in self.left if name in one.l) for name in names}

    @property
    def certain(self) -> dict[str, int]:
        """By sensitive column how many persons are left with one value, where most are."""
        names = dict.fromkeys(name for one in self.left for name in one.certain)
        return {name: max(one.certain.get(name, 0) for one in self.left) for name in names}


def intersect(original: Table, releases: Sequence[ReleasedRows], randomness: Randomness) -> Intersection:
    """Look for persons in several releases of one table.

    Args:
        original: with roles and hierarchies.
        releases: two or more, each with a quasi-identifier.
        randomness: draws the persons, where all would be too many.

    Raises:
        TableError: there are fewer releases, or one has no rows or no quasi-identifiers.
    """
    if len(releases) < 2:
        raise TableError("There is only one release.", "Name two or more.")
    read = [one.without_unread(original) for one in releases]
    releases = [one for one, _ in read]
    places = [PlacedRelease.of(original, one) for one in releases]
    unchanged = [_unchanged_columns(original, one) for one in releases]
    common = [[tuple(name for name in one if name in other) for other in unchanged] for one in unchanged]
    persons = _persons(places, randomness)
    tallies = [
        _Tally(base, [(other, common[b][o]) for o, other in enumerate(places) if o != b], original.persons)
        for b, base in enumerate(places)
    ]
    size = max(1, _BLOCK_CELLS // max(len(one.release.table) for one in places))
    for start in range(0, len(persons), size):
        block = persons[start : start + size]
        covers = {id(place): place.cover(block) for place in places}
        for tally in tallies:
            tally.add(block, covers)
    lefts = tuple(one.result() for one in tallies)
    return Intersection(len(persons), len(original), lefts, tuple(unread for _, unread in read))


class _Tally:
    """What is left of one release to somebody who has the others, person by person."""

    def __init__(
        self,
        base: PlacedRelease,
        others: Sequence[tuple[PlacedRelease, tuple[str, ...]]],
        persons: PersonRows | None,
    ) -> None:
        self._base = base
        self._all = persons if persons is not None and persons.repeat else None
        table = base.release.table
        self._sensitive = {
            name: table.codes(name).codes
            for name in table.roles.sensitive
            if name not in base.release.blurred
        }
        links = [link_rows(table, other.release.table, names) for other, names in others]
        kinds, count = number_classes([base.own, *(own for own, _ in links), *self._sensitive.values()])
        some = np.empty(count, dtype=np.int64)
        some[kinds] = np.arange(len(kinds))
        self._some = some
        self._sizes = np.bincount(kinds, minlength=count)
        self._owners: tuple[Int, Int, int] | None = None
        if self._all is not None and base.release.persons is not None:
            self._owners = _pairs(kinds, self._all.codes[base.release.persons[base.release.rows]])
        order = np.argsort(base.own[some], kind="stable")
        self._kinds = order
        self._starts = np.searchsorted(base.own[some][order], np.arange(len(base.classes) + 1))
        self._others = [
            (other, own[some], _pairs(other.own, theirs))
            for (other, _), (own, theirs) in zip(others, links, strict=True)
        ]
        self._persons = 0
        self._dropped = False
        self._k: list[int | None] = [None, None]
        self._l: list[dict[str, int]] = [{}, {}]
        self._certain = [dict.fromkeys(self._sensitive, 0) for _ in range(2)]

    def add(self, persons: Int, covers: Mapping[int, tuple[Int, Int]]) -> None:
        """Look for some more persons."""
        who, where = covers[id(self._base)]
        who, kind = spread(who, where, self._starts, self._kinds)
        if not len(who):
            return
        self._persons += len(np.unique(who))
        self._count(0, who, kind, len(persons))
        for other, own, (starts, links, width) in self._others:
            if width == 1:
                continue
            there, link = spread(*covers[id(other)], starts, links)
            known = np.unique(there * width + link)
            fits = np.isin(who * width + own[kind], known)
            # who fits nowhere is not in the other release, or it was changed: it tells nothing
            some = np.bincount(who[fits], minlength=len(persons)) > 0
            kept = fits | ~some[who]
            self._dropped |= not kept.all()
            who, kind = who[kept], kind[kept]
        self._count(1, who, kind, len(persons))

    def _count(self, side: int, who: Int, kind: Int, persons: int) -> None:
        found = np.unique(who)
        if not self._base.release.is_spread:
            self._k[side] = _least(self._k[side], int(self._candidates(who, kind, persons)[found].min()))
        for name, codes in self._sensitive.items():
            values = codes[self._some[kind]]
            here = values >= 0
            if not here.any():
                continue
            width = int(codes.max()) + 1
            pairs = np.unique(who[here] * width + values[here])
            counts = np.bincount(pairs // width)
            counts = counts[counts > 0]
            self._l[side][name] = _least(self._l[side].get(name), int(counts.min()))
            self._certain[side][name] += int((counts == 1).sum())

    def _candidates(self, who: Int, kind: Int, persons: int) -> Int:
        """How many rows each of some persons may be, or whose several rows, shape (persons,)."""
        if self._owners is not None:
            starts, owners, width = self._owners
            them, theirs = spread(who, kind, starts, owners)
            return np.bincount(np.unique(them * width + theirs) // width, minlength=persons)
        rows = np.bincount(who, self._sizes[kind], minlength=persons).astype(np.int64)
        return rows if self._all is None else self._all.fewest(rows)

    def result(self) -> Left:
        """What was found; a bound on persons before rows were dropped says nothing of how many there were."""
        unknown = self._all is not None and self._owners is None and self._dropped
        return Left(
            self._base.release.name,
            self._persons,
            self._k[1],
            None if unknown else self._k[0],
            self._l[1],
            self._l[0],
            self._certain[1],
            self._certain[0],
        )


def _least(one: int | None, other: int) -> int:
    return other if one is None else min(one, other)


def _pairs(classes: Int, links: Int) -> tuple[Int, Int, int]:
    """The links of each class, each once: where those of a class begin, the links, and how many there are."""
    width = int(links.max(initial=0)) + 1
    pairs = np.unique(classes * width + links)
    count = int(classes.max(initial=-1)) + 1
    return np.searchsorted(pairs // width, np.arange(count + 1)), pairs % width, width


def _unchanged_columns(original: Table, released: ReleasedRows) -> tuple[str, ...]:
    """The columns by which an attacker links rows: released as they were, and no quasi-identifiers.

    A column counts as unchanged if it has no value that the original lacks; one whose cells were exchanged or
    drawn anew looks unchanged, and then more is dropped than an attacker would.
    """
    release = released.table
    hidden = {*original.roles.identifiers, *original.roles.quasi_identifiers, *released.blurred}
    found = []
    for name in release.names:
        if name in hidden or name not in original.names:
            continue
        known = {text_of(value) for value in original.codes(name).values.tolist()}
        if known.issuperset(text_of(value) for value in release.codes(name).values.tolist()):
            found.append(name)
    return tuple(found)


def _persons(places: Sequence[PlacedRelease], randomness: Randomness) -> Int:
    """The persons that are looked for, in rising order."""
    looks = sum(
        len(one.classes) * len(one.people.low)
        + _SEEN * float((np.bincount(one.own) ** 2).sum()) / len(one.own)
        for one in places
    )
    most = max(_FEWEST, int(MAX_LOOKS // max(1, looks)))
    inside = np.flatnonzero(np.any([one.inside for one in places], axis=0))
    if len(inside) <= most:
        return inside
    return np.sort(inside[randomness.permutation(len(inside))[:most]])

"""How many persons of a side a cell is about, and how many of them its sum distinguishes from the rest.

A sum over many persons of whom all but a few have the same value reveals these few. So of a sum those count
who differ from the lower bound, from the upper bound, and from what most of the cell's persons add: each of
these numbers has to be 0 or a group, as the number of all has.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from itertools import pairwise
from math import comb, gcd, prod
from typing import Final, TypeVar

import numpy as np
from numpy.typing import NDArray

from smc.analyses.disclosure.owned import Owned
from smc.secret.sharing.bounds import Bounds

Ints = NDArray[np.int64]
_MOST_VALUES: Final = 64
_TRIPLES: Final = 24
"""How many times three neighbouring amounts are looked at for what their differences share."""

_Whole = TypeVar("_Whole", np.int64, np.uint8)

BESIDE_BOUNDS: Final = 2
"""How many indicators `off_bounds` gives."""


@dataclass(frozen=True, slots=True)
class Crowds:
    """Numbers of persons by cell, of the same shape.

    Attributes:
        everybody: the persons of each cell.
        fewest: the smallest of the numbers that are not 0; 0 where all are. All numbers are 0 or groups
            exactly if this one is.
        cover: the smallest of the numbers, 0 too: what the cell hides if it is added to others.
        least_shown: the smallest of the numbers that a figure shows to be 0 where they are: of all, and of
            those who add something else than a bound of a sum or than the rest, as that is everybody's value.
    """

    everybody: Ints = field(repr=False)
    fewest: Ints = field(repr=False)
    cover: Ints = field(repr=False)
    least_shown: Ints = field(repr=False)

    @classmethod
    def of(cls, *numbers: Ints) -> Crowds:
        """Of numbers of the same shape, that of all persons first."""
        every = np.stack(numbers)
        most = np.iinfo(np.int64).max
        fewest = np.where(every > 0, every, most).min(axis=0)
        return cls(every[0], np.where(fewest == most, 0, fewest), every.min(axis=0), every[0])

    def beside(self, *numbers: Ints, shown: Sequence[Ints]) -> Crowds:
        """With further numbers that have to be groups.

        Args:
            numbers: of persons, by cell.
            shown: further ones that the figure shows to be 0 where they are.
        """
        other = Crowds.of(self.everybody, *numbers, *shown)
        fewest, cover = np.minimum(self.fewest, other.fewest), np.minimum(self.cover, other.cover)
        # Nobody's cells are 0 in both.
        return Crowds(self.everybody, fewest, cover, np.minimum.reduce([self.least_shown, *shown]))


def told_apart(cells: Ints, persons: Ints, values: Ints, declared: Owned[Bounds], size: int) -> list[Ints]:
    """How many persons of each cell add something else than the rest.

    That is, in all their rows together: other than the lower bound for each row, than the upper bound for
    each, and than what most persons of the cell add.

    Args:
        cells: of each row, shape (n,), from 0.
        persons: of each row, from 0.
        values: of each row, within the bounds.
        declared: the bounds that the side's own catalog declares.
        size: the number of cells.

    Returns:
        Three arrays of shape (size,).
    """
    lowest, span = declared.value.lower, declared.value.upper - declared.value.lower
    places, (rows, totals) = _added(cells, persons, np.ones(len(cells), dtype=np.int64), values - lowest)
    common = _commonest(places, totals, size)[places]
    return [
        np.bincount(places[totals != reference], minlength=size).astype(np.int64)
        for reference in (0 * rows, rows * span, common)
    ]


def told_by_digits(cells: Ints, persons: Ints, values: Sequence[Ints], size: int) -> tuple[list[Ints], Ints]:
    """The fewest persons of each cell whom the digits of its sums tell of, whoever adds what.

    Few values, such as those of a price list: for n persons who add one of d values each there are
    (n + d - 1 over d - 1) ways, and where sums can take more values than that, a sum says as a rule how many
    add which. And amounts of which all but a few are the same modulo some number, such as multiples of 50:
    modulo that the sum is of these few.

    Args:
        cells: as of `told_apart`.
        persons: as of `told_apart`.
        values: of each row, one array for each of the sums that are shown.
        size: the number of cells.

    Returns:
        Two arrays of shape (size,): of values, and of residues; all persons where digits tell of nobody. And
        one that is 0 where digits tell that nobody adds a value of other cells.
    """
    places, added = _added(cells, persons, *values)
    order = np.argsort(places, kind="stable")
    ends = np.searchsorted(places[order], np.arange(size + 1))
    every = [each[order] for each in added]
    first, codes = _different(every)
    rarest, off, lacking = np.zeros((3, size), dtype=np.int64)
    for cell, (begin, end) in enumerate(pairwise(ends.tolist())):
        if begin == end:
            continue
        people = end - begin
        own, numbers = np.unique(codes[begin:end], return_counts=True)
        rarest[cell] = numbers.min() if _tells(first[:, own], people) else people
        off[cell] = min(_off_residue(each[begin:end]) for each in every)
        lacking[cell] = 0 if len(own) < first.shape[1] and _tells(first, people) else people
    return [rarest, off], lacking


def _different(amounts: Sequence[Ints]) -> tuple[Ints, Ints]:
    """The different rows of columns of the same length, of shape (columns, rows), and which each row is."""
    codes = np.zeros(len(amounts[0]), dtype=np.int64)
    for each in amounts:
        values, which = np.unique(each, return_inverse=True)
        codes = np.unique(codes * len(values) + which, return_inverse=True)[1]
    found = np.zeros((len(amounts), int(codes.max(initial=-1)) + 1), dtype=np.int64)
    found[:, codes] = amounts
    return found, codes


def _tells(different: Ints, people: int) -> bool:
    """Whether sums over so many persons say who adds which of these values, of shape (sums, values)."""
    count = different.shape[1]
    if not 1 < count <= _MOST_VALUES:
        return False
    steps = [int(np.ptp(each)) // max(1, int(np.gcd.reduce(each - each.min()))) for each in different]
    return comb(people + count - 1, count - 1) <= prod(people * step + 1 for step in steps)


def _off_residue(amounts: Ints) -> int:
    """How many persons at least have another residue than most, modulo what the differences of some share.

    Modulo a number that is not above that of the persons many share a residue by chance, and it says little.
    """
    people = len(amounts)
    different = np.unique(amounts)
    begins = np.unique(np.linspace(0, max(0, len(different) - 3), _TRIPLES).astype(np.int64))
    shared = [int(np.gcd.reduce(np.diff(different[begin : begin + 3]))) for begin in begins]
    least = people
    for modulus in {*shared, *(gcd(one, other) for one, other in pairwise(shared))}:
        if modulus > people:
            off = people - int(np.unique(amounts % modulus, return_counts=True)[1].max())
            if 0 < 2 * off < people:
                least = min(least, off)
    return least


def _added(cells: Ints, persons: Ints, *values: Ints) -> tuple[Ints, list[Ints]]:
    """Of each person in each cell the cell, and what the rows there add, for each kind of values."""
    people = int(persons.max()) + 1 if len(persons) else 1
    pairs, which = np.unique(cells * people + persons, return_inverse=True)
    totals = [np.zeros(len(pairs), dtype=np.int64) for _ in values]
    for total, each in zip(totals, values, strict=True):
        np.add.at(total, which.reshape(-1), each)
    return pairs // people, totals


def off_bounds(values: Ints, declared: Owned[Bounds]) -> list[Ints]:
    """Of rows that each are a person: 1 where a value is not the lower bound, and where it is not the upper.

    Args:
        values: of all rows, shape (n,).
        declared: the bounds that the side's own catalog declares.

    Returns:
        `BESIDE_BOUNDS` arrays of shape (n,).
    """
    bounds = declared.value
    return [(values != bound).astype(np.int64) for bound in (bounds.lower, bounds.upper)]


def off_commonest(values: Ints, count: int) -> list[Ints]:
    """1 where a value is not the one that most rows have; then where it is not the second, and so on.

    Args:
        values: of all rows, shape (n,). Of values that as many rows have, the least comes first; where there
            are not so many values, the first one stands for those that are missing.
        count: of values, at least 1.

    Returns:
        `count` arrays of shape (n,).
    """
    different, rows = np.unique(values, return_counts=True)
    common = different[np.lexsort((different, -rows))][:count].tolist()
    common += common[:1] * (count - len(common))
    return [(values != value).astype(np.int64) for value in common or [0] * count]


def firsts(marks: NDArray[_Whole], persons: Ints | None) -> NDArray[_Whole]:
    """1 for the first marked row of each person: summed over any rows, no person is counted twice.

    Args:
        marks: 1 for a marked row, else 0; shape (n,) or (n, m).
        persons: of each row, shape (n,); None where each row is a person of its own.
    """
    if persons is None:
        return marks
    found = np.zeros_like(marks)
    for column, first in zip(marks.reshape(len(marks), -1).T, found.reshape(len(marks), -1).T, strict=True):
        marked = np.flatnonzero(column)
        first[marked[np.unique(persons[marked], return_index=True)[1]]] = 1
    return found


def added_by_persons(values: Ints, persons: Ints | None) -> Ints:
    """What the person of each row adds in all rows together, shape (n, d).

    Args:
        values: of each row, not negative, shape (n, d).
        persons: as in `firsts`.
    """
    if persons is None:
        return values
    people, which = np.unique(persons, return_inverse=True)
    totals = np.zeros((len(people), values.shape[1]), dtype=np.int64)
    np.add.at(totals, which.reshape(-1), values)
    return totals[which.reshape(-1)]


def persons_of(cells: Ints, persons: Ints, size: int) -> Ints:
    """How many persons have a row in each cell, shape (size,); arguments as of `told_apart`."""
    people = int(persons.max()) + 1 if len(persons) else 1
    pairs = np.unique(cells * people + persons)
    return np.bincount(pairs // people, minlength=size).astype(np.int64)


def _commonest(cells: Ints, values: Ints, size: int) -> Ints:
    """The value of most rows of each cell, the least of several; 0 in an empty one."""
    found = np.zeros(size, dtype=np.int64)
    rows, counts = np.unique(np.stack([cells, values], axis=1), axis=0, return_counts=True)
    order = np.lexsort((-rows[:, 1], counts))
    found[rows[order, 0]] = rows[order, 1]
    return found

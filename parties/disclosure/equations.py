"""What exact tables have shown of a population, as one system of equations, and what it pins down.

Every cell or total that is opened is one equation over this party's persons: the recipient knows the sum,
over all persons, of a coefficient times something about the person, where the coefficient is the number of
rows that the person has in the cell. Whoever has several equations can add and subtract them. The system
pins down a group if some combination of its equations is about fewer than m persons, and not about nobody:
of shifted edges the rows between the old and the new one, of complementary groups those in neither.

    persons with the same coefficients everywhere are an atom; V is the matrix of equations x atoms
    small atoms T: fewer than m persons        others: any equation with one of them is about m persons
    C = { y V restricted to T : y V is 0 outside T }       a combination pins down a group if it is in C,
                                                           is not 0, and its atoms have fewer than m persons

If C is {0}, nothing is pinned down. Else a combination about the fewest persons is among those whose atoms
hold no other combination's; each of these vanishes on dim(C) - 1 independent columns of C, so that all are
found by going through the sets of so many columns. Where these are too many, the job is refused.

Sums and means are covered by the same system: what one table shows of a column are the same combinations of
persons as its counts. Everything is computed modulo a prime; equations are compressed to a few random
combinations of atoms, so that a group is overlooked, or seen where there is none, with a probability below
2**-20 for each look.

References: Chin and Ozsoyoglu, Auditing and inference control in statistical databases, IEEE TSE 8, 1982;
Denning, Denning and Schwartz, The tracker, ACM TODS 4, 1979.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from itertools import combinations, islice
from math import comb
from typing import Final

import numpy as np
from numpy.typing import NDArray

from smc.numeric.random import Randomness

Ints = NDArray[np.int64]

PRIME: Final = (1 << 31) - 1
"""Products of two residues fit 63 bits."""

MAX_EQUATIONS: Final = 600
"""A population whose exact tables would have more equations gets no further ones towards that peer."""

MAX_COEFFICIENTS: Final = 30_000_000
"""Equations times atoms, of 8 bytes each."""

MAX_SMALL_ATOMS: Final = 4096
MAX_SETS: Final = 20_000
"""Sets of columns that are gone through before a job counts as too costly to check."""


@dataclass(frozen=True, slots=True)
class Shown:
    """What one exact table shows of this party's persons.

    Attributes:
        persons: whom each entry is about, as `parties.disclosure.history.Persons`, shape (n,).
        cells: the cell of each entry, from 0, shape (n,). An entry is one row of the person in the cell, so
            entries repeat.
        equations: the cells that each opened number adds up, 0 or 1, shape (opened, cells).
    """

    persons: NDArray[np.uint64] = field(repr=False)
    cells: Ints = field(repr=False)
    equations: NDArray[np.bool_] = field(repr=False)

    def encoded(self) -> bytes:
        """The table as whole words of 8 bytes: persons, cells, then the equations' bits, padded."""
        bits = np.packbits(self.equations.reshape(-1)).tobytes()
        padding = bytes(-len(bits) % 8)
        return self.persons.astype("<u8").tobytes() + self.cells.astype("<u8").tobytes() + bits + padding

    @classmethod
    def decoded(cls, data: bytes, entries: int, cells: int, equations: int) -> Shown:
        """What `encoded` has made of a table of this shape."""
        words = np.frombuffer(data[: 16 * entries], dtype="<u8")
        bits = np.unpackbits(np.frombuffer(data[16 * entries :], dtype=np.uint8), count=equations * cells)
        return cls(
            words[:entries].astype(np.uint64),
            words[entries:].astype(np.int64),
            bits.astype(np.bool_).reshape(equations, cells),
        )


@dataclass(frozen=True, slots=True)
class System:
    """All tables that one peer has seen of one population.

    Attributes:
        tables: what they show.
    """

    tables: Sequence[Shown]

    @property
    def equations(self) -> int:
        """The number of opened cells and totals."""
        return sum(len(table.equations) for table in self.tables)

    def is_checkable(self) -> bool:
        """Whether there are few enough equations to go through."""
        return self.equations <= MAX_EQUATIONS

    def pins_down(self, minimum: int, random: Randomness | None = None) -> bool:
        """Whether some combination of equations is about 1 to `minimum` - 1 persons, or may be.

        Args:
            minimum: m.
            random: for the compression.

        Returns:
            True also where the answer would be too costly to find.
        """
        if minimum <= 1 or not self.equations:
            return False
        if not self.is_checkable():
            return True
        random = random or Randomness()
        found = self._atoms(random)
        if found is None:
            return True
        matrix, sizes = found
        small = sizes < minimum
        words = _within(matrix[:, ~small], matrix[:, small], random)
        return words is None or _has_light_word(words, sizes[small], minimum)

    def _atoms(self, random: Randomness) -> tuple[Ints, Ints] | None:
        """The matrix of equations and atoms, and the number of persons of each atom; None if too large.

        Persons are put together by two sums of random words, one word for each cell: 128 bits, of which two
        different lists of coefficients agree with a probability of about 2**-128.
        """
        starts = np.cumsum([0, *(table.equations.shape[1] for table in self.tables)])
        persons = np.concatenate([table.persons for table in self.tables])
        cells = np.concatenate(
            [table.cells + start for table, start in zip(self.tables, starts, strict=False)]
        )
        everybody, who = np.unique(persons, return_inverse=True)
        marks = np.zeros((len(everybody), 2), dtype=np.uint64)
        np.add.at(marks, who, random.words(2 * int(starts[-1])).reshape(-1, 2)[cells])
        _, first, atom = np.unique(marks, axis=0, return_index=True, return_inverse=True)
        atom = atom.reshape(-1)
        if self.equations * len(first) > MAX_COEFFICIENTS:
            return None
        matrix = np.zeros((self.equations, len(first)), dtype=np.int64)
        stand = np.isin(who, first)  # the entries of one person of each atom
        place, entry = 0, 0
        for table in self.tables:
            own = stand[entry : entry + len(table.cells)]
            atoms = atom[who[entry : entry + len(table.cells)][own]]
            for equation in table.equations:
                np.add.at(matrix[place], atoms[equation[table.cells[own]]], 1)
                place += 1
            entry += len(table.cells)
        seen = matrix.any(axis=0)
        return matrix[:, seen], np.bincount(atom, minlength=len(first))[seen]


def _within(large: Ints, small: Ints, random: Randomness) -> Ints | None:
    """A basis of what combinations of rows that vanish on `large` leave on `small`; None if too wide."""
    rows = len(large)
    kept = _compressed(large, rows + 8, random)
    if small.shape[1] > MAX_SMALL_ATOMS:
        if not _vanishing(kept, _compressed(small, rows + 8, random)).any():
            return np.zeros((0, small.shape[1]), dtype=np.int64)
        return None
    return _basis(_vanishing(kept, small))


def _compressed(matrix: Ints, width: int, random: Randomness) -> Ints:
    """Random combinations of the columns, of which there are at most `width` then; the rank stays."""
    if matrix.shape[1] <= width:
        return matrix
    result = np.zeros((len(matrix), width), dtype=np.int64)
    for column in matrix.T:
        weights = (random.words(width) % np.uint64(PRIME)).astype(np.int64)
        touched = np.flatnonzero(column)
        result[touched] = (result[touched] + column[touched, None] * weights) % PRIME
    return result


def _vanishing(left: Ints, right: Ints) -> Ints:
    """What combinations of rows that are 0 in `left` are in `right`, one row for each independent one."""
    both = np.concatenate([left, right], axis=1)
    done = _eliminate(both, left.shape[1])
    return both[done:, left.shape[1] :]


def _basis(matrix: Ints) -> Ints:
    """The rows in reduced form, without those that are 0."""
    matrix = matrix.copy()
    return matrix[: _eliminate(matrix, matrix.shape[1])]


def _eliminate(matrix: Ints, columns: int) -> int:
    """Bring the first columns to reduced row echelon form in place; the number of pivots."""
    done = 0
    for column in range(columns):
        if done == len(matrix):
            break
        found = np.flatnonzero(matrix[done:, column])
        if not len(found):
            continue
        pivot = done + int(found[0])
        matrix[[done, pivot]] = matrix[[pivot, done]]
        matrix[done] = matrix[done] * pow(int(matrix[done, column]), -1, PRIME) % PRIME
        others = np.flatnonzero(matrix[:, column])
        others = others[others != done]
        matrix[others] = (matrix[others] - matrix[others, column][:, None] * matrix[done]) % PRIME
        done += 1
    return done


def _has_light_word(words: Ints, sizes: Ints, minimum: int) -> bool:
    """Whether a combination of rows that is not 0 has atoms of fewer than `minimum` persons together."""
    dimension = len(words)
    if not dimension:
        return False
    words, sizes = _merged(words, sizes)
    if comb(words.shape[1], dimension - 1) > MAX_SETS:
        return True
    for zeros in islice(combinations(range(words.shape[1]), dimension - 1), MAX_SETS):
        left = _vanishing(words[:, list(zeros)], words)
        # fewer pivots than columns: they depend on each other, and another set has the same words
        if len(left) == 1 and int(sizes[left[0] != 0].sum()) < minimum:
            return True
    return False


def _merged(words: Ints, sizes: Ints) -> tuple[Ints, Ints]:
    """Columns that are multiples of each other vanish together: one for all, with all their persons."""
    used = words.any(axis=0)
    words, sizes = words[:, used], sizes[used]
    scaled = words.copy()
    for place in range(words.shape[1]):
        leading = int(words[np.flatnonzero(words[:, place])[0], place])
        scaled[:, place] = words[:, place] * pow(leading, -1, PRIME) % PRIME
    _, first, which = np.unique(scaled, axis=1, return_index=True, return_inverse=True)
    return words[:, first], np.bincount(which.reshape(-1), weights=sizes, minlength=len(first)).astype(
        np.int64
    )

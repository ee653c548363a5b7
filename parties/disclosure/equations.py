"""What exact tables have shown of a population, as one system of equations, and what it pins down.

Every number that is opened is one equation over this party's persons: the recipient knows the sum, over all
persons, of a coefficient of each. Of a count it is the number of rows that the person has in the cell, of a
sum what the person adds to it. Whoever has several equations can add and subtract them. The system pins down
a group if some combination of its equations is about fewer than m persons, and not about nobody: of shifted
edges the rows between the old and the new one, of complementary groups those in neither, of a flag that is
summed those who have it, of a column that was corrected the persons whom the correction is about.

    persons with the same coefficients everywhere are an atom; V is the matrix of equations x atoms
    small atoms T: fewer than m persons        others: any equation with one of them is about m persons
    C = { y V restricted to T : y V is 0 outside T }       a combination pins down a group if it is in C,
                                                           is not 0, and its atoms have fewer than m persons

If C is {0}, nothing is pinned down. Else a combination about the fewest persons is among those whose atoms
hold no other combination's; each of these vanishes on dim(C) - 1 independent columns of C, so that all are
found by going through the sets of so many columns.

Where these are too many, as of sums that differ from person to person, combinations are searched for as
light words of a code are: one that vanishes on the persons of a random order, as long as any is left. A group
of few among many is the last to vanish, and found at each of `TRIALS` orders with a good chance; where
equations are many and persons few, one could be overlooked.

Everything is computed modulo a prime; in the exact part equations are compressed to a few random
combinations of atoms, so that a group is overlooked, or seen where there is none, with a probability below
2**-20 for each look.

References: Chin and Ozsoyoglu, Auditing and inference control in statistical databases, IEEE TSE 8, 1982;
Denning, Denning and Schwartz, The tracker, ACM TODS 4, 1979; Prange, The use of information sets in decoding
cyclic codes, IRE Trans. IT-8, 1962 (light words).
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
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
"""Sets of columns that are gone through; where there are more, combinations are searched for."""

MAX_ALONE: Final = 1_000_000
"""Combinations times persons that are looked at in one order, beside the last."""

TRIALS: Final = 40
"""Random orders of persons that a search goes through."""


@dataclass(frozen=True, slots=True)
class Shown:
    """What one exact table shows of this party's persons.

    Attributes:
        persons: whom each entry is about, as `parties.disclosure.history.Persons`, shape (n,).
        cells: the cell of each entry, from 0, shape (n,). An entry is one row of the person in the cell, so
            entries repeat.
        equations: the cells that each opened number adds up, 0 or 1, shape (opened, cells).
        amounts: what each entry adds to the sum that was opened beside each count, not negative, shape (n,);
            None where only counts were opened.
    """

    persons: NDArray[np.uint64] = field(repr=False)
    cells: Ints = field(repr=False)
    equations: NDArray[np.bool_] = field(repr=False)
    amounts: Ints | None = field(default=None, repr=False)

    def encoded(self) -> bytes:
        """The table as whole words of 8 bytes: persons, cells, amounts, then the equations' bits, padded."""
        columns = [self.persons, self.cells, *([] if self.amounts is None else [self.amounts])]
        bits = np.packbits(self.equations.reshape(-1)).tobytes()
        return b"".join(column.astype("<u8").tobytes() for column in columns) + bits + bytes(-len(bits) % 8)

    @classmethod
    def decoded(cls, data: bytes, entries: int, shape: tuple[int, int], *, summed: bool) -> Shown:
        """What `encoded` has made of a table.

        Args:
            data: the words.
            entries: n.
            shape: equations and cells.
            summed: whether there are amounts.
        """
        length = (2 + summed) * entries
        words = np.frombuffer(data[: 8 * length], dtype="<u8").reshape(2 + summed, entries)
        bits = np.unpackbits(np.frombuffer(data[8 * length :], dtype=np.uint8), count=shape[0] * shape[1])
        return cls(
            words[0].astype(np.uint64),
            words[1].astype(np.int64),
            bits.astype(np.bool_).reshape(shape),
            words[2].astype(np.int64) if summed else None,
        )

    @property
    def weights(self) -> list[Ints]:
        """What each entry adds, modulo the prime, to the equations: to those of counts, then of sums."""
        ones = np.ones(len(self.cells), dtype=np.int64)
        return [ones] if self.amounts is None else [ones, self.amounts % PRIME]


@dataclass(frozen=True, slots=True)
class System:
    """All tables that one peer has seen of one population.

    Attributes:
        tables: what they show.
    """

    tables: Sequence[Shown]

    @property
    def equations(self) -> int:
        """The number of opened counts and sums."""
        return sum(len(table.weights) * len(table.equations) for table in self.tables)

    def is_checkable(self) -> bool:
        """Whether there are few enough equations to go through."""
        return self.equations <= MAX_EQUATIONS

    def pins_down(self, minimum: int, random: Randomness | None = None) -> bool:
        """Whether some combination of equations is about 1 to `minimum` - 1 persons, or may be.

        Args:
            minimum: m.
            random: for the compression.

        Returns:
            True also where there are too many equations to go through.
        """
        if minimum <= 1 or not self.equations:
            return False
        if not self.is_checkable():
            return True
        random = random or Randomness()
        found = self._atoms(random)
        if found is not None:
            matrix, sizes = found
            small = sizes < minimum
            words = _within(matrix[:, ~small], matrix[:, small], random)
            exact = None if words is None else _has_light_word(words, sizes[small], minimum)
            if exact is not None:
                return exact
        return _Search(self.tables, random).finds(minimum)

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
        marks_of_cells = random.words(4 * int(starts[-1])).reshape(2, -1, 2)
        np.add.at(marks, who, marks_of_cells[0][cells])
        amounts = [np.zeros(len(t.cells), np.int64) if t.amounts is None else t.amounts for t in self.tables]
        added = np.concatenate(amounts).astype(np.uint64)
        np.add.at(marks, who, marks_of_cells[1][cells] * added[:, None])
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
            for weights in table.weights:
                for equation in table.equations:
                    chosen = equation[table.cells[own]]
                    np.add.at(matrix[place], atoms[chosen], weights[own][chosen])
                    place += 1
            entry += len(table.cells)
        matrix %= PRIME
        seen = matrix.any(axis=0)
        return matrix[:, seen], np.bincount(atom, minlength=len(first))[seen]


class _Search:
    """The search for a combination about few persons, one random order of the persons after the other."""

    def __init__(self, tables: Sequence[Shown], random: Randomness) -> None:
        self._tables = tables
        self._random = random
        everybody, who = np.unique(np.concatenate([t.persons for t in tables]), return_inverse=True)
        self._people = len(everybody)
        self._who = np.split(who.reshape(-1), np.cumsum([len(table.persons) for table in tables])[:-1])
        self._count = sum(len(table.weights) * len(table.equations) for table in tables)

    def finds(self, minimum: int) -> bool:
        """Whether a combination about 1 to `minimum` - 1 persons was found."""
        return any(0 < weight < minimum for _ in range(TRIALS) for weight in self._last_weights())

    def _last_weights(self) -> Iterator[int]:
        """The persons of the combination that is the last to be left, in one random order.

        Where none is left after the first persons, each of these alone keeps one combination from vanishing.
        """
        sample = np.array(self._random.below(self._people, self._count + 8), dtype=np.int64)
        both = np.concatenate([self._columns(sample), np.eye(self._count, dtype=np.int64)], axis=1)
        done = _eliminate(both, len(sample))
        left = both[done:, len(sample) :]
        weight = 0
        while len(left):
            touched = np.flatnonzero(self._word(left[0]))
            if not len(touched):  # equations that depend on each other, such as a total and its cells
                left = left[1:]
                continue
            weight = len(touched)
            person = touched[self._random.below(weight, 1)[0]]
            at = _times(left, self._columns(np.array([person]))[:, 0])
            factors = at[1:] * pow(int(at[0]), -1, PRIME) % PRIME
            left = (left[1:] - factors[:, None] * left[0]) % PRIME
        if weight:
            yield weight
            return
        alone = both[:done, len(sample) :]
        for combination in alone if done * self._people <= MAX_ALONE else alone[-1:]:
            yield int(np.count_nonzero(self._word(combination)))

    def _columns(self, people: Ints) -> Ints:
        """The coefficients of persons in all equations, shape (equations, people)."""
        place = np.full(self._people, -1, dtype=np.int64)
        unique, back = np.unique(people, return_inverse=True)
        place[unique] = np.arange(len(unique))
        found = np.zeros((self._count, len(unique)), dtype=np.int64)
        row = 0
        for table, who in zip(self._tables, self._who, strict=True):
            chosen = np.flatnonzero(place[who] >= 0)
            cells, columns = table.cells[chosen], place[who[chosen]]
            for weights in table.weights:
                sums = np.zeros((table.equations.shape[1], len(unique)), dtype=np.int64)
                np.add.at(sums, (cells, columns), weights[chosen])
                found[row : row + len(table.equations)] = table.equations.astype(np.int64) @ sums
                row += len(table.equations)
        return found[:, back.reshape(-1)] % PRIME

    def _word(self, combination: Ints) -> Ints:
        """What a combination of equations says of each person, shape (people,)."""
        found = np.zeros(self._people, dtype=np.int64)
        row = 0
        for table, who in zip(self._tables, self._who, strict=True):
            for weights in table.weights:
                part = combination[row : row + len(table.equations)]
                cells = _times(table.equations.T.astype(np.int64), part)
                np.add.at(found, who, cells[table.cells] * weights % PRIME)
                row += len(table.equations)
        return found % PRIME


def _times(matrix: Ints, vector: Ints) -> Ints:
    """The product modulo the prime; entries are residues."""
    product: Ints = (matrix * vector % PRIME).sum(axis=1) % PRIME
    return product


def _within(large: Ints, small: Ints, random: Randomness) -> Ints | None:
    """A basis of what combinations of rows that vanish on `large` leave on `small`; None if too wide."""
    rows = len(large)
    if small.shape[1] > MAX_SMALL_ATOMS and not large.shape[1]:
        return None
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


def _has_light_word(words: Ints, sizes: Ints, minimum: int) -> bool | None:
    """Whether a combination of rows that is not 0 has atoms of fewer than `minimum` persons together.

    It is None where there are too many sets to go through.
    """
    dimension = len(words)
    if not dimension:
        return False
    words, sizes = _merged(words, sizes)
    if comb(words.shape[1], dimension - 1) > MAX_SETS:
        return None
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

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
from dataclasses import dataclass, field, replace
from fractions import Fraction
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
"""A population whose exact tables would have more equations and withheld cells gets no further ones towards
that peer."""

MAX_COEFFICIENTS: Final = 30_000_000
"""Equations times atoms, of 8 bytes each."""

MAX_SMALL_ATOMS: Final = 4096
MAX_SETS: Final = 20_000
"""Sets of columns that are gone through; where there are more, combinations are searched for."""

MAX_ALONE: Final = 1_000_000
"""Combinations times persons that are looked at in one order, beside the last."""

TRIALS: Final = 40
"""Random orders of persons that a search goes through."""

MAX_FACTOR: Final = 64
"""The largest coefficient of sums that are added up to look who has most of the result."""

MAX_COMPARED: Final = 3_000_000_000
"""Pairs of sums times persons."""

MAX_COMPARED_AT_ONCE: Final = 4_000_000
_ROUNDING: Final = 1e-9


@dataclass(frozen=True, slots=True)
class Shown:
    """What one exact table shows of this party's persons.

    Attributes:
        persons: whom each entry is about, as `parties.disclosure.history.Persons`, shape (n,).
        cells: the cell of each entry, from 0, shape (n,). An entry is one row of the person in the cell, so
            entries repeat.
        equations: the cells that each opened number adds up, 0 or 1, shape (opened, cells).
        amounts: what each entry adds to the sums that were opened beside each count, not negative, shape
            (sums, n); None where only counts were opened.
        signed: the same counted from 0 where amounts are not, of the same shape; else None. Whoever has a
            count beside a sum counts from any number, so that nobody may dominate either.
    """

    persons: NDArray[np.uint64] = field(repr=False)
    cells: Ints = field(repr=False)
    equations: NDArray[np.bool_] = field(repr=False)
    amounts: Ints | None = field(default=None, repr=False)
    signed: Ints | None = field(default=None, repr=False)

    def encoded(self) -> bytes:
        """The table as whole words of 8 bytes: persons, cells, both amounts, the equations' bits, padded."""
        sums = [each for each in (self.amounts, self.signed) if each is not None]
        columns = [self.persons, self.cells, *(row for each in sums for row in each)]
        bits = np.packbits(self.equations.reshape(-1)).tobytes()
        return b"".join(column.astype("<u8").tobytes() for column in columns) + bits + bytes(-len(bits) % 8)

    @classmethod
    def decoded(
        cls, data: bytes, entries: int, shape: tuple[int, int], summed: int, signed: int = 0
    ) -> Shown:
        """What `encoded` has made of a table.

        Args:
            data: the words.
            entries: n.
            shape: equations and cells.
            summed: how many sums there are beside each count.
            signed: as many where they are there counted from 0 as well, else 0.
        """
        length = (2 + summed + signed) * entries
        words = np.frombuffer(data[: 8 * length], dtype="<u8").reshape(2 + summed + signed, entries)
        bits = np.unpackbits(np.frombuffer(data[8 * length :], dtype=np.uint8), count=shape[0] * shape[1])
        return cls(
            words[0].astype(np.uint64),
            words[1].astype(np.int64),
            bits.astype(np.bool_).reshape(shape),
            words[2 : 2 + summed].astype(np.int64) if summed else None,
            words[2 + summed :].astype(np.int64) if signed else None,
        )

    @property
    def told(self) -> int:
        """How many numbers and withheld cells it shows."""
        alone = int((self.equations.sum(axis=1) == 1).sum())
        withheld = max(0, int(self.equations.shape[1]) - alone)
        return len(self.weights) * len(self.equations) + withheld

    @property
    def weights(self) -> list[Ints]:
        """What each entry adds, modulo the prime, to the equations: to those of counts, then of sums."""
        ones = np.ones(len(self.cells), dtype=np.int64)
        return [ones, *([] if self.amounts is None else self.amounts % PRIME)]

    @property
    def summed(self) -> int:
        """How many sums it shows beside each count."""
        return 0 if self.amounts is None else len(self.amounts)

    @property
    def sums(self) -> int:
        """How many sums it shows."""
        return self.summed * len(self.equations)


@dataclass(frozen=True, slots=True)
class System:
    """All tables that one peer has seen of one population, those last that it is about to see.

    Attributes:
        tables: what they show.
    """

    tables: Sequence[Shown]

    @property
    def equations(self) -> int:
        """The number of opened counts and sums."""
        return sum(len(table.weights) * len(table.equations) for table in self.tables)

    def is_checkable(self) -> bool:
        """Whether the peer has seen few enough numbers, and cells that are withheld, to go through."""
        return sum(table.told for table in self.tables) <= MAX_EQUATIONS

    def pins_down(self, minimum: int, apart: int = 0, random: Randomness | None = None) -> bool:
        """Whether some combination of equations is about too few persons, or may be.

        Args:
            minimum: m; fewer persons are too few, though not nobody.
            apart: fewer are too few for what several tables together are about.
            random: for the compression.

        Returns:
            True also where there are too many equations to go through.
        """
        least = max(minimum, apart)
        if least <= 1 or not self.equations:
            return False
        if not self.is_checkable():
            return True
        random = random or Randomness()
        found = self._atoms(random)
        if found is not None:
            matrix, sizes = found
            small = sizes < least
            words = _within(matrix[:, ~small], matrix[:, small], random)
            light = None if words is None else _light_words(words, sizes[small], least)
            if light is not None:
                return any(
                    int(sizes[small][word != 0].sum()) < minimum or not self._is_of_one(matrix, small, word)
                    for word in light
                )
        return _Search(self.tables, random).finds(minimum, apart)

    def _is_of_one(self, matrix: Ints, small: NDArray[np.bool_], word: Ints) -> bool:
        """Whether a combination, given on the small atoms, follows from one table alone."""
        whole = np.zeros(matrix.shape[1], dtype=np.int64)
        whole[small] = word
        lengths = [len(table.weights) * len(table.equations) for table in self.tables]
        return any(_spans(rows, whole) for rows in np.split(matrix, np.cumsum(lengths)[:-1]))

    def is_dominated(self, part: Fraction, new: int = 1, random: Randomness | None = None) -> bool:
        """Whether of what two sums differ by, or of another sum about few, one person has more than a part.

        Looked at are the differences of each sum of the new tables and each other one, and of the
        combinations that are about the fewest persons in random orders those whose coefficients are small
        whole numbers. All of that once with sums as they are opened, and once counted from 0.

        Args:
            part: the largest part; 1 for none.
            new: how many of the tables are new, the last ones.
            random: for the orders.

        Returns:
            True also where there are too many sums to go through.
        """
        summed = [table for table in self.tables if table.amounts is not None]
        fresh = sum(table.sums for table in self.tables[len(self.tables) - new :])
        if part >= 1 or not fresh:
            return False
        ways = [_Sums(summed)]
        if any(table.signed is not None for table in summed):
            ways.append(
                _Sums([replace(t, amounts=t.amounts if t.signed is None else t.signed) for t in summed])
            )
        if fresh * ways[0].count * ways[0].people > MAX_COMPARED:
            return True
        return any(sums.differ_by_one(fresh, part) for sums in ways) or any(
            sums.is_one(combination, part)
            for combination in _Search.of_counts(summed, random or Randomness())
            for sums in ways
        )

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
        entry = 0
        for table in self.tables:
            numbers = who[entry : entry + len(table.cells)]
            for amounts in table.amounts if table.amounts is not None else ():
                marks_of_sums = random.words(2 * table.equations.shape[1]).reshape(-1, 2)
                np.add.at(marks, numbers, marks_of_sums[table.cells] * amounts.astype(np.uint64)[:, None])
            entry += len(table.cells)
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
        self._weights = [table.weights for table in tables]
        self._has_one_entry_each = [len(np.unique(each)) == len(each) for each in self._who]
        self._lengths = [len(table.weights) * len(table.equations) for table in tables]
        self._count = sum(self._lengths)

    @classmethod
    def of_counts(cls, tables: Sequence[Shown], random: Randomness) -> Iterator[Ints]:
        """The combinations about few persons of what tables count, with coefficients for each count.

        The first one is 1, and the others as near to 0 as they can be.
        """
        search = cls([replace(table, amounts=None) for table in tables], random)
        found = set()
        for _ in range(TRIALS):
            for combination, _ in search._last_words():
                scaled = _scaled(combination)
                if scaled.tobytes() not in found:
                    found.add(scaled.tobytes())
                    yield scaled

    def finds(self, minimum: int, apart: int) -> bool:
        """Whether a combination about too few persons was found; arguments as of `System.pins_down`."""
        for _ in range(TRIALS):
            for _, word in self._last_words():
                weight = int(np.count_nonzero(word))
                if 0 < weight < minimum or (0 < weight < apart and not self._is_of_one(word)):
                    return True
        return False

    def _is_of_one(self, word: Ints) -> bool:
        """Whether what a combination says of each person follows from one table alone."""
        drawn = np.array(self._random.below(self._people, self._count + 8), dtype=np.int64)
        sample = np.unique(np.concatenate([np.flatnonzero(word), drawn]))
        rows = np.split(self._columns(sample), np.cumsum(self._lengths)[:-1])
        return any(_spans(each, word[sample]) for each in rows)

    def _last_words(self) -> Iterator[tuple[Ints, Ints]]:
        """The combination that is the last to be left in one random order, and what it says of each person.

        Where none is left after the first persons, each of these alone keeps one combination from vanishing.
        """
        sample = np.array(self._random.below(self._people, self._count + 8), dtype=np.int64)
        both = np.concatenate([self._columns(sample), np.eye(self._count, dtype=np.int64)], axis=1)
        done = _eliminate(both, len(sample))
        left = both[done:, len(sample) :]
        last = None
        while len(left):
            word = self._word(left[0])
            touched = np.flatnonzero(word)
            if not len(touched):  # equations that depend on each other, such as a total and its cells
                left = left[1:]
                continue
            last = left[0], word
            person = touched[self._random.below(len(touched), 1)[0]]
            at = _times(left, self._columns(np.array([person]))[:, 0])
            factors = at[1:] * pow(int(at[0]), -1, PRIME) % PRIME
            left = (left[1:] - factors[:, None] * left[0]) % PRIME
        if last is not None:
            yield last
            return
        alone = both[:done, len(sample) :]
        for combination in alone if done * self._people <= MAX_ALONE else alone[-1:]:
            yield combination, self._word(combination)

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
        for place, (table, who) in enumerate(zip(self._tables, self._who, strict=True)):
            for weights in self._weights[place]:
                part = combination[row : row + len(table.equations)]
                row += len(table.equations)
                if not part.any():
                    continue
                cells = _times(table.equations.T.astype(np.int64), part)
                added = cells[table.cells] * weights % PRIME
                if self._has_one_entry_each[place]:
                    found[who] += added
                else:
                    np.add.at(found, who, added)
        return found % PRIME


class _Sums:
    """The opened sums of tables, person by person and exact."""

    def __init__(self, tables: Sequence[Shown]) -> None:
        everybody, who = np.unique(np.concatenate([t.persons for t in tables]), return_inverse=True)
        self.people = len(everybody)
        self.count = sum(table.sums for table in tables)
        self._tables = tables
        self._who = np.split(who.reshape(-1), np.cumsum([len(table.persons) for table in tables])[:-1])

    def differ_by_one(self, fresh: int, part: Fraction) -> bool:
        """Whether the difference of one of the last sums and another one, or of 0, is mostly one person's."""
        shape = (fresh, self.count + 1)
        most, total = np.zeros(shape), np.zeros(shape)
        step = max(1, MAX_COMPARED_AT_ONCE // (fresh * (self.count + 1)))
        for start in range(0, self.people, step):
            added = self._added(start, min(step, self.people - start)).astype(np.float64)
            others = np.concatenate([added, np.zeros((1, added.shape[1]))])
            apart = np.abs(added[-fresh:, None] - others[None])
            most = np.maximum(most, apart.max(axis=2))
            total += apart.sum(axis=2)
        return bool((most > float(part) * total * (1 + _ROUNDING)).any())

    def is_one(self, combination: Ints, part: Fraction) -> bool:
        """Whether the same combination of the sums, if its coefficients are small, is mostly one person's.

        Of tables with several sums the first of each are combined, then the second, and so on.
        """
        if np.abs(combination).max() > MAX_FACTOR:
            return False
        found, row = np.zeros((max(table.summed for table in self._tables), self.people)), 0
        for table, who in zip(self._tables, self._who, strict=True):
            cells = combination[row : row + len(table.equations)] @ table.equations.astype(np.int64)
            row += len(table.equations)
            if not cells.any():
                continue
            for place, sums in enumerate(found):
                amounts = _amounts(table)[min(place, table.summed - 1)]
                np.add.at(sums, who, (cells[table.cells] * amounts).astype(np.float64))
        parts = np.abs(found)
        return bool((parts.max(axis=1) > float(part) * parts.sum(axis=1) * (1 + _ROUNDING)).any())

    def _added(self, start: int, length: int) -> Ints:
        """What each of some persons adds to each sum, shape (sums, length)."""
        found, row = np.zeros((self.count, length), dtype=np.int64), 0
        for table, who in zip(self._tables, self._who, strict=True):
            chosen = np.flatnonzero((who >= start) & (who < start + length))
            for amounts in _amounts(table):
                by_cell = np.zeros((table.equations.shape[1], length), dtype=np.int64)
                np.add.at(by_cell, (table.cells[chosen], who[chosen] - start), amounts[chosen])
                found[row : row + len(table.equations)] = table.equations.astype(np.int64) @ by_cell
                row += len(table.equations)
        return found


def _scaled(combination: Ints) -> Ints:
    leading = int(combination[np.flatnonzero(combination)[0]])
    scaled = combination * pow(leading, -1, PRIME) % PRIME
    found: Ints = np.where(scaled > PRIME // 2, scaled - PRIME, scaled)
    return found


def _amounts(table: Shown) -> Ints:
    return np.zeros((0, len(table.cells)), np.int64) if table.amounts is None else table.amounts


def _spans(rows: Ints, word: Ints) -> bool:
    """Whether a combination of rows is the word."""
    both = np.concatenate([rows, word[None]]) % PRIME
    return _eliminate(both.copy(), both.shape[1]) == _eliminate(both[:-1].copy(), both.shape[1])


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


def _light_words(words: Ints, sizes: Ints, minimum: int) -> Iterator[Ints] | None:
    """Combinations of rows that are not 0 and whose atoms have fewer than `minimum` persons together.

    Of these the ones whose atoms hold no other's. It is None where there are too many sets to go through.
    """
    dimension = len(words)
    if not dimension:
        return iter(())
    merged = _merged(words)
    if comb(merged.shape[1], dimension - 1) > MAX_SETS:
        return None

    def found() -> Iterator[Ints]:
        for zeros in islice(combinations(range(merged.shape[1]), dimension - 1), MAX_SETS):
            left = _vanishing(merged[:, list(zeros)], words)
            # fewer pivots than columns: they depend on each other, and another set has the same words
            if len(left) == 1 and int(sizes[left[0] != 0].sum()) < minimum:
                yield left[0]

    return found()


def _merged(words: Ints) -> Ints:
    """Columns that are multiples of each other vanish together: one for all."""
    used = words[:, words.any(axis=0)]
    scaled = used.copy()
    for place in range(used.shape[1]):
        leading = int(used[np.flatnonzero(used[:, place])[0], place])
        scaled[:, place] = used[:, place] * pow(leading, -1, PRIME) % PRIME
    _, first = np.unique(scaled, axis=1, return_index=True)
    return used[:, first]

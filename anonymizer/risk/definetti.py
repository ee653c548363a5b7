"""The deFinetti attack: what groups, and how values go with quasi-identifiers, tell of a person together.

A promise such as 1 / l counts the values of a group alone. An attacker learns from the release itself how
values go with quasi-identifiers, and within a group gives each person the value that suits best: naive Bayes
on soft labels, which are brought to the counts of each group again and again.

Reference: Kifer, Attacks on privacy and deFinetti's theorem, SIGMOD 2009, section 4.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

import numpy as np
from numpy.typing import NDArray

from anonymizer.errors import TableError
from anonymizer.hierarchies.hierarchy import text_of
from anonymizer.risk.classes import classes_of
from anonymizer.risk.covering import PlacedRelease, ReleasedRows, spread
from anonymizer.tables.persons import PersonRows
from anonymizer.tables.randomness import Randomness
from anonymizer.tables.table import Table

Int = NDArray[np.int64]
Float = NDArray[np.float64]

MAX_PERSONS: Final = 5_000
MAX_LOOKS: Final = 1_000_000_000
"""Cells that are compared at most to find the groups of persons."""
MAX_VALUES: Final = 100
_FEWEST: Final = 500
_ROUNDS: Final = 20
_BALANCED: Final = 5
_BINS: Final = 10
_BLOCK_CELLS: Final = 1 << 22


@dataclass(frozen=True, slots=True)
class GroupedPersons:
    """Persons whose group an attacker knows.

    Attributes:
        persons: rows of the original, shape (n,).
        codes: whose each of them is, shape (n,); each of another person where rows are persons.
        groups: the group of each, from 0, shape (n,).
        counts: of each group how many of its rows have each value, shape (g, v).
        truth: the value of each person, shape (n,); -1 where it is not among them.
        looked: persons that were looked for.
    """

    persons: Int
    codes: Int
    groups: Int
    counts: Float
    truth: Int
    looked: int

    @property
    def shares(self) -> Float:
        """What each row counts for where each person counts once, shape (n,)."""
        return PersonRows(self.codes).shares(np.zeros_like(self.codes))


class ManyValuesError(TableError):
    """A column has more than `MAX_VALUES` values, of which nobody guesses one."""


@dataclass(frozen=True, slots=True)
class DefinettiRisk:
    """What the attack comes to.

    A person with several rows counts once, with the part of the rows that is meant.

    Attributes:
        persons: of whom a value was guessed: those who fit in one group only.
        looked: persons that were looked for; a random part of a large table.
        right: the part of the guesses that is right.
        surest: the same of the tenth of which the attacker is surest.
        by_groups: what the groups alone would let an attacker get right: the mean largest part of a value.
        commonest: what naming the commonest value gets right.
    """

    persons: int
    looked: int
    right: float
    surest: float
    by_groups: float
    commonest: float


def persons_by_group(
    original: Table, release: ReleasedRows, column: str, randomness: Randomness
) -> GroupedPersons:
    """The persons whose group an attacker knows.

    Args:
        original: with roles and hierarchies.
        release: its groups are those of anatomy, or classes of rows alike.
        column: the sensitive one, in both.
        randomness: draws `MAX_PERSONS` of more, and fewer where there are many classes.

    Raises:
        ManyValuesError: the column has too many values.
        TableError: nobody fits in one group only.
    """
    placed = PlacedRelease.of(original, release)
    values, theirs, truth = _values(original, release.table, column)
    _check_values(values, column)
    groups, count = (placed.own, len(placed.classes))
    if release.group is not None:
        groups, count = classes_of(release.table, (release.group,))
    looked, found = _found(placed, groups, count, randomness)
    known = found >= 0
    if not known.any():
        raise TableError("Nobody fits in one group only.", "Give the hierarchies of the labels.")
    here = theirs >= 0
    counts = np.bincount(groups[here] * values + theirs[here], minlength=count * values)
    codes = _codes(original)
    return GroupedPersons(
        looked[known],
        codes[looked[known]],
        found[known],
        counts.reshape(count, values).astype(np.float64),
        truth[looked[known]],
        len(np.unique(codes[looked])),
    )


def persons_by_decoys(
    original: Table, release: ReleasedRows, column: str, gamma: int, randomness: Randomness
) -> GroupedPersons:
    """The persons of a release whose values were drawn from hidden groups, by what was drawn for them.

    Of those for whom a value was drawn one in gamma has its true value; the others have the other values in
    proportion to their numbers, which a release of this kind keeps.

    Args:
        original: with roles.
        release: of which it is known whose a row is.
        column: the sensitive one.
        gamma: the size of the hidden groups, of different values.
        randomness: draws `MAX_PERSONS` of more.

    Raises:
        ManyValuesError: the column has too many values.
        TableError: it is not known whose a row is.
    """
    if release.persons is None:
        raise TableError("It is not known whose a row is.", "Measure the release as it is made.")
    values, own, truth = _values(original, release.table, column)
    _check_values(values, column)
    some = randomness.sample(len(own), min(MAX_PERSONS, len(own)))
    sizes = np.bincount(own, minlength=values).astype(np.float64)
    others = sizes[None, :] * sizes[:, None] / np.maximum(sizes.sum() - sizes, 1)[:, None]
    counts = (1 - 1 / gamma) * others
    np.fill_diagonal(counts, sizes / gamma)
    persons = release.persons[some]
    codes = _codes(original)[persons]
    return GroupedPersons(persons, codes, own[some], counts, truth[persons], len(np.unique(codes)))


def _codes(original: Table) -> Int:
    """Whose each row is; each of another person where there are no persons."""
    return np.arange(len(original)) if original.persons is None else original.persons.codes


def _check_values(values: int, column: str) -> None:
    if values > MAX_VALUES:
        raise ManyValuesError(
            f"Column {column!r} has {values:,} values.", f"Name one of at most {MAX_VALUES}."
        )


def _found(placed: PlacedRelease, groups: Int, count: int, randomness: Randomness) -> tuple[Int, Int]:
    """Persons, drawn of all, and the group of each; -1 of who fits in several.

    Where it is known whose a row is, the group is that of the person's row: then the attack is the one of
    Kifer, on rows. Else it is looked for by quasi-identifiers.
    """
    release = placed.release
    if release.persons is not None:
        rows = np.unique(release.rows, return_index=True)[1]
        some = randomness.sample(len(rows), min(MAX_PERSONS, len(rows)))
        return release.persons[some], groups[rows[some]]
    looks = len(placed.classes) * len(placed.people.low)
    most = min(MAX_PERSONS, max(_FEWEST, MAX_LOOKS // looks))
    inside = np.flatnonzero(placed.inside)
    looked = inside[randomness.sample(len(inside), min(most, len(inside)))]
    pairs = np.unique(placed.own * count + groups)
    starts = np.searchsorted(pairs // count, np.arange(len(placed.classes) + 1))
    found = np.full(len(looked), -1, dtype=np.int64)
    size = max(1, _BLOCK_CELLS // len(placed.classes))
    for first in range(0, len(looked), size):
        block = looked[first : first + size]
        who, group = spread(*placed.cover(block), starts, pairs % count)
        seen = np.unique(who * count + group)
        single = np.bincount(seen // count, minlength=len(block)) == 1
        kept = seen[single[seen // count]]
        found[first + kept // count] = kept % count
    return looked, found


def definetti_risk(
    original: Table, release: ReleasedRows, column: str, randomness: Randomness
) -> DefinettiRisk:
    """Carry out the attack on one sensitive column.

    Args:
        original: with roles and hierarchies.
        release: as `persons_by_group`.
        column: the sensitive one.
        randomness: as `persons_by_group`.

    Raises:
        TableError: as `persons_by_group`.
    """
    return definetti_of(original, release, persons_by_group(original, release, column, randomness))


def definetti_of(original: Table, release: ReleasedRows, known: GroupedPersons) -> DefinettiRisk:
    """As `definetti_risk`, of persons whose groups are known."""
    features = [_binned(original, name)[known.persons] for name in release.table.roles.quasi_identifiers]
    totals = known.counts.sum(axis=1)
    used = totals[known.groups] > 0
    shares = known.counts[known.groups] / np.maximum(totals[known.groups], 1)[:, None]
    soft = shares
    for _ in range(_ROUNDS):
        soft = _balanced(shares * _likelihood(features, soft), shares, known.groups, len(totals))
    guess, sure = soft.argmax(axis=1), soft.max(axis=1)
    right, weights = (guess == known.truth)[used], known.shares[used]
    order = np.argsort(-sure[used], kind="stable")
    surest = order[: 1 + int(np.searchsorted(np.cumsum(weights[order]), weights.sum() / 10 - 1e-9))]
    return DefinettiRisk(
        len(np.unique(known.codes[used])),
        known.looked,
        float(np.average(right, weights=weights)),
        float(np.average(right[surest], weights=weights[surest])),
        float(np.average(shares[used].max(axis=1), weights=weights)),
        float(np.average(known.truth[used] == known.counts.sum(axis=0).argmax(), weights=weights)),
    )


def _likelihood(features: list[Int], soft: Float) -> Float:
    """How likely each person's quasi-identifiers are by each value, up to a factor a person."""
    found = np.zeros(soft.shape)
    sums = soft.sum(axis=0)
    for codes in features:
        kinds = int(codes.max(initial=0)) + 1
        table = np.stack(
            [np.bincount(codes, soft[:, value], minlength=kinds) for value in range(soft.shape[1])]
        )
        found += np.log((table + 1) / (sums[:, None] + kinds))[:, codes].T
    likely: Float = np.exp(found - found.max(axis=1, keepdims=True))
    return likely


def _balanced(weights: Float, shares: Float, groups: Int, count: int) -> Float:
    """Soft labels in which each person has one value, and each group each value as often as it has it."""
    sizes = np.bincount(groups, minlength=count)
    wanted = np.zeros((count, shares.shape[1]))
    wanted[groups] = shares
    wanted *= sizes[:, None]
    for _ in range(_BALANCED):
        weights = weights / np.maximum(weights.sum(axis=1, keepdims=True), 1e-300)
        held = _summed(groups, weights, count)
        weights = weights * (wanted / np.maximum(held, 1e-300))[groups]
    normal: Float = weights / np.maximum(weights.sum(axis=1, keepdims=True), 1e-300)
    return normal


def _summed(places: Int, weights: Float, count: int) -> Float:
    """The sums of the rows of weights by place, shape (count, v)."""
    columns = [np.bincount(places, weights[:, value], minlength=count) for value in range(weights.shape[1])]
    return np.stack(columns, axis=1)


def _binned(table: Table, name: str) -> Int:
    """A quasi-identifier as codes from 0, numbers in intervals with about equally many rows."""
    codes = table.codes(name)
    found = codes.codes + 1
    if table.is_numeric(name) and len(codes.values) > _BINS:
        numbers = np.append(codes.values.astype(np.float64), np.nan)[codes.codes]
        edges = np.unique(np.nanquantile(numbers, np.linspace(0, 1, _BINS + 1)[1:-1]))
        found = np.where(np.isnan(numbers), 0, np.searchsorted(edges, numbers, side="right") + 1)
    return np.unique(found, return_inverse=True)[1].reshape(-1)


def _values(original: Table, release: Table, column: str) -> tuple[int, Int, Int]:
    """One numbering of the values of the release: how many, those of its rows, those of the original."""
    own, before = release.codes(column), original.codes(column)
    places = {text_of(value): number for number, value in enumerate(own.values.tolist())}
    known = np.array([*(places.get(text_of(value), -1) for value in before.values.tolist()), -1])
    return len(places), own.codes, known[before.codes]

"""Decoy groups, and sensitive values drawn from them.

Reference: Fu, Wang, Wong, Wang and Jiang, Small sum privacy and large sum utility in data publishing, Journal
of Biomedical Informatics 2014, section 3.1.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Final

import numpy as np
from numpy.typing import NDArray

from anonymizer.errors import TableError, UnreachableError
from anonymizer.hierarchies.hierarchy import text_of
from anonymizer.tables.encoding import Codes
from anonymizer.tables.randomness import Randomness

Int = NDArray[np.int64]

MIN_GAMMA: Final = 2
_VALUE: Final = np.uint64((1 << 32) - 1)
_KEY: Final = ~_VALUE
_TRADES: Final = 8
"""Each halves what the groups still have of the order in which values were dealt out."""


@dataclass(frozen=True, slots=True)
class Decoys:
    """Groups of `gamma` rows, all of different values.

    Attributes:
        rows: the rows of each group, shape (n / gamma, gamma).
        group: the group of each row, shape (n,).
    """

    rows: Int = field(repr=False)
    group: Int = field(repr=False)


def check_gamma(gamma: int) -> None:
    """Check the size of groups.

    Raises:
        TableError: it is below 2.
    """
    if gamma < MIN_GAMMA:
        raise TableError(f"gamma is {gamma}.", "Choose 2 or more; the literature advises 5 to 10.")


def check_eligible(codes: Codes, gamma: int, column: str) -> None:
    """Check that groups can be made of a column; fewer than gamma rows may be left out.

    Args:
        codes: of the column, without gaps; of n rows.
        gamma: the size of groups.
        column: its name.

    Raises:
        UnreachableError: there are fewer rows than gamma, or some value has more than floor(n / gamma); names
            the commonest.
    """
    rows = len(codes.codes)
    if rows < gamma:
        raise UnreachableError(f"{rows} rows make no group of {gamma}.", "Lower gamma, or give more rows.")
    counts = np.bincount(codes.codes)
    most = int(counts.argmax())
    if counts[most] > rows // gamma:
        raise UnreachableError(
            f"{counts[most]} of {rows} rows have the value {text_of(codes.values[most])!r} in "
            f"column {column!r}, more than {rows // gamma}, one in {gamma}: it is not eligible.",
            "Lower gamma, or divide the value into several.",
        )


def partition(values: Int, gamma: int, random: Randomness) -> Decoys:
    """Put rows into groups of different values.

    Rows lie in buckets by value, and the buckets are dealt out over the groups, one row to each in turn, so
    that no group gets a value twice. Then groups trade values in pairs (the curveball algorithm): which
    values meet depends on nothing but their numbers, as the reconstruction of counts takes for granted.
    Groups filled from the largest buckets, without trades, would always join the same values.

    Args:
        values: from 0, none in more than n / gamma rows, shape (n,); n is a multiple of gamma.
        gamma: at least 2.
        random: with a fixed seed the groups depend on the table only, so that who gets two releases of one
            table does not find each value where the groups overlap.

    References:
        The paper, section 3.1, step 2; Xiao and Tao, Anatomy, VLDB 2006, for the buckets.
        Strona et al., A fast and unbiased procedure to randomize ecological binary matrices with fixed row
        and column totals, Nature Communications 2014, for the trades.
    """
    count = len(values) // gamma
    ranks = random.permutation(int(values.max()) + 1)
    # sorted by bucket, place i goes to group i modulo count: the rows of a value stand side by side and are
    # at most count, so that no group gets two
    dealt = values[np.argsort(ranks[values], kind="stable")].astype(np.uint64).reshape(gamma, count).T.copy()
    for _ in range(_TRADES):
        _trade(dealt, random)
    # the slots of each value in order, to be filled with the rows of that value
    slots = np.argsort(dealt.ravel().astype(np.int32), kind="stable")
    # rows of a value in random order: a sorted table would otherwise put neighbours into neighbouring groups
    rows = np.lexsort((random.words(len(values)), values))
    placed = np.empty(len(values), dtype=np.int64)
    placed[slots] = rows
    group = np.empty(len(values), dtype=np.int64)
    group[rows] = slots // gamma
    return Decoys(placed.reshape(count, gamma), group)


def _trade(groups: NDArray[np.uint64], random: Randomness) -> None:
    """Let random pairs of groups exchange values that only one of them has; in place."""
    count, gamma = groups.shape
    order = random.permutation(count)
    half = count // 2
    first, second = order[:half], order[half : 2 * half]
    both = np.sort(np.concatenate([groups[first], groups[second]], axis=1), axis=1)
    # a random key above each value: one sort draws, and takes the values along
    keyed = random.words(both.size).reshape(both.shape) >> np.uint64(1) & _KEY | both
    common = both[:, 1:] == both[:, :-1]
    # of a common value one goes to either side: below, and above, all others
    keyed[:, :-1][common] &= _VALUE
    keyed[:, 1:][common] |= np.uint64(1 << 63)
    both = np.sort(keyed, axis=1) & _VALUE
    groups[first], groups[second] = both[:, :gamma], both[:, gamma:]


def draw_from_groups(decoys: Decoys, random: Randomness) -> Int:
    """For each row another row of its group, or itself, uniformly and independently (with replacement).

    Returns:
        The row whose value is published, shape (n,).

    Reference: the paper, section 3.1, step 3 with p = q = 1 / gamma.
    """
    gamma = decoys.rows.shape[1]
    found: Int = decoys.rows[decoys.group, random.integers(gamma, len(decoys.group))]
    return found


def drawn_anywhere(rows: int, random: Randomness) -> Int:
    """For each row any row (DBR): the column keeps its distribution and loses what it has to do with others.

    Returns:
        The row whose value is published, shape (rows,).

    Reference: the paper, sections 3 and 6.2.3.3.
    """
    return random.integers(rows, rows)

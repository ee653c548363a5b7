#!/usr/bin/env python3
"""Print how hard the problems of learning parity with noise are on which vector OLE rests: the tables of
docs/proofs/vole.md, which says what each column means.

    scripts/lpn_estimate.py
"""

from __future__ import annotations

import sys
from collections.abc import Iterator
from dataclasses import dataclass
from math import inf, lgamma, log, log2
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
sys.path.insert(0, str(ROOT))

from smc.oblivious import field_lpn, lpn  # noqa: E402

WEIGHT = lpn.WEIGHT
EXCESS_BITS = 16
"""What a column more than a relation has to have costs it in probability: the bits of a coefficient."""

RARE_BITS = 40
"""A matrix with shorter relations than those that are counted comes up with probability 2**-40."""

_DEGREES = 8


@dataclass(frozen=True)
class Problem:
    """A set of sizes.

    Attributes:
        name: for the table.
        rows: n.
        length: k.
        bins: t.
        bits: whether it is one over {0, 1}.
    """

    name: str
    rows: int
    length: int
    bins: int
    bits: bool = False


def of(name: str, sizes: lpn.LpnSet, *, bits: bool = False) -> Problem:
    """The problem of a full iteration."""
    return Problem(name, sizes.trees << sizes.depth, sizes.length, sizes.trees, bits)


PROBLEMS = (
    of("iterations", field_lpn.PRODUCTION),
    of("first entries", field_lpn.FIRST),
    of("raw rows, over bits", lpn.SMALLER, bits=True),
    Problem("smaller set, not taken", 180_224, 17_408, 704),
    of("silent comparisons, over bits", lpn.PRODUCTION, bits=True),
)


def chosen(count: int, taken: int) -> float:
    """log2 of a binomial coefficient."""
    if not 0 <= taken <= count:
        return -inf
    return (lgamma(count + 1) - lgamma(taken + 1) - lgamma(count - taken + 1)) / log(2)


def missed(problem: Problem, rows: int) -> float:
    """-log2 of the probability that none of so many rows has noise, however they are chosen."""
    return -problem.bins * log2(1 - rows / problem.rows)


def shortest_relation(problem: Problem) -> int:
    """The most rows of which, but for a chance of 2**-40 over the matrix, no set has a relation.

    Summed over all sets of j rows and of c columns, c up to 5 j, that hold all their places; a column beyond
    j - 1 counts 2**-16.
    """
    total = 0.0
    for rows in range(2, problem.length):
        terms = [
            chosen(problem.rows, rows)
            + chosen(problem.length, columns)
            + WEIGHT * rows * log2(columns / problem.length)
            - EXCESS_BITS * (columns - rows + 1)
            for columns in _columns(problem, rows)
        ]
        largest = max(terms)
        if largest > 0:
            return rows - 1
        # As if all numbers of columns had the largest term of those that are looked at.
        total += 2.0**largest * (WEIGHT // 2 * rows)
        if total > 2.0**-RARE_BITS:
            return rows - 1
    return problem.length


def _columns(problem: Problem, rows: int) -> Iterator[int]:
    last = min(problem.length, WEIGHT // 2 * rows)
    yield from range(rows - 1, last, max(1, (last - rows) // 64))
    yield last


def covered_rows(problem: Problem) -> int:
    """The size at which a random set of columns holds all places of as many rows as it has columns."""
    return int(problem.length * (problem.length / problem.rows) ** (1 / (WEIGHT - 1)))


def sparse_elimination(unknowns: int) -> float:
    """log2 of the operations of Wiedemann's method: twice as many products by the sparse matrix."""
    return log2(2 * WEIGHT * unknowns**2)


def algebraic(problem: Problem) -> tuple[float, int, int, int]:
    """The cheapest algebraic attack: log2 of its cost, bins with guesses, zeros guessed in each, and degree.

    Within a bin the products of two noise values are zero. With zeros guessed in some bins, the degree is the
    first at which the Hilbert series of these equations and of the parity checks is not positive; the cost is
    the square of the number of monomials of that degree, which solving takes at least. Over bits the sum of
    each bin is known, too, and squares are no new monomials.
    """
    size = problem.rows // problem.bins
    best = (inf, 0, 0, 0)
    for blocks in range(0, problem.bins + 1, max(1, problem.bins // 44)):
        for zeros in range(size):
            if (blocks == 0) != (zeros == 0):
                continue
            left = problem.length - blocks * zeros - (problem.bins if problem.bits else 0)
            guessed = -blocks * log2(1 - zeros / size)
            if left <= 0 or guessed >= best[0]:
                continue
            factors = (
                (size - 1, problem.bins - blocks),
                (size - 1 - zeros, blocks),
                (1, problem.length - problem.rows)
                if problem.bits
                else (-1, problem.rows - problem.length - problem.bins),
            )
            degree = _first_that_is_not_positive(factors)
            if degree is not None:
                cost = guessed + 2 * chosen(left + degree, degree)
                best = min(best, (cost, blocks, zeros, degree))
    return best


def _first_that_is_not_positive(factors: tuple[tuple[int, int], ...]) -> int | None:
    """The degree of that coefficient of the product of (1 + c z)**m, by the sums of powers of the c."""
    series = [1]
    for degree in range(1, _DEGREES + 1):
        powers = [sum(m * (-1) ** (i - 1) * c**i for c, m in factors) for i in range(1, degree + 1)]
        series.append(sum(powers[i - 1] * series[degree - i] for i in range(1, degree + 1)) // degree)
        if series[-1] <= 0:
            return degree
    return None


@dataclass(frozen=True)
class Estimate:
    """What attacks take, as log2 of operations.

    Attributes:
        relation: rows of the shortest relation.
        linear: the best linear test, if the shortest relation is known for nothing; 0 over bits, where a test
            is biased and not right or wrong, and the bound says nothing.
        covered: unknowns of the elimination in a set of columns.
        columns: elimination in sets of columns.
        elimination: elimination in all columns.
        algebra: the algebraic attack.
    """

    relation: int
    linear: float
    covered: int
    columns: float
    elimination: float
    algebra: float


def estimate(problem: Problem) -> Estimate:
    """All of them."""
    relation, covered = 0 if problem.bits else shortest_relation(problem), covered_rows(problem)
    return Estimate(
        relation,
        missed(problem, relation) + log2(relation) if relation else 0.0,
        covered,
        missed(problem, covered) + sparse_elimination(covered),
        missed(problem, problem.length) + sparse_elimination(problem.length),
        algebraic(problem)[0],
    )


def table(problems: tuple[Problem, ...] = PROBLEMS) -> list[str]:
    """The lines of the table."""
    lines = [
        "| problem | n | k | t | shortest relation | linear tests "
        "| in sets of columns | in all columns | algebraic |",
        "|---|--:|--:|--:|--:|--:|--:|--:|--:|",
    ]
    for problem in problems:
        found = estimate(problem)
        sizes = f"{problem.rows:,} | {problem.length:,} | {problem.bins:,}"
        attacks = found.columns, found.elimination, found.algebra
        costs = " | ".join([f"{found.linear:.0f}" if found.relation else "-", *(f"{c:.0f}" for c in attacks)])
        relation = f"{found.relation:,}" if found.relation else "-"
        lines.append(f"| {problem.name} | {sizes} | {relation} | {costs} |")
    return lines


if __name__ == "__main__":
    print("\n".join(table()))

"""Symmetric positive definite matrices of secret numbers, and what is solved with them."""

from __future__ import annotations

from fractions import Fraction
from math import ceil
from typing import Final

import numpy as np
from numpy.typing import NDArray

from smc.errors import DomainError, UsageError
from smc.protocols.session import Session
from smc.secret.ints import SecretInts
from smc.secret.reals.factors import M_BITS, M_SCALE, R_SCALE, Factors, factor
from smc.secret.reals.near import multiply, shift
from smc.secret.reals.pivots import OCTAVES
from smc.secret.reals.reals import Number, SecretReals
from smc.secret.reals.statements import Statement, Statements, join_statements
from smc.secret.sharing.bounds import Bounds
from smc.secret.sharing.fixed import MAX_SCALE

Word = NDArray[np.uint64]

MOST_COLUMNS: Final = 64

_REACH_SCALE: Final = 26
"""Fractional bits of solutions up to 1; of larger ones fewer, so that their words have as many bits, and of
smaller ones more."""

_LEAST_REACH: Final = 12

_QUADRATIC_SCALE: Final = 38

_HEADROOM: Final = 4
"""Bits by which the numbers on the way to a solution may exceed its reach."""

_PART_BITS: Final = 10
"""M_kj / d_k is stated to be at most 2**10."""

_VARIANCE_BITS: Final = 12
"""Diagonal entries of the scaled matrix's inverse are stated to be at most 2**12."""

_WORD_BITS: Final = 61
_TERM_BITS: Final = R_SCALE + 16
"""Of the bounds of terms that are added up."""


class Definite:
    """A symmetric positive definite matrix H of secret numbers, factored (`smc.secret.reals.factors`).

    Whether it is definite, and no column nearly a combination of others (other columns leave a thousandth of
    it unexplained at least), is stated of all that follows from it, and tested where that opens. Results are
    off by a part of 3e-6 times the largest of 1 / (1 - R**2) over the columns; round them before they are
    opened, since their last units depend on the shares.

    Args:
        session: this side of the run.
        factors: of the matrix.
        statements: that have to hold.
    """

    def __init__(self, session: Session, factors: Factors, statements: Statements) -> None:
        self._session = session
        self._factors = factors
        self._statements = statements
        self._rows, self._columns = np.tril_indices(self.size, -1)
        self._all = np.arange(self.size)

    @classmethod
    def of(cls, matrix: SecretReals) -> Definite:
        """Factor a matrix: about 11 rounds and 18 for each row.

        Args:
            matrix: symmetric, shape (p, p), p at most 64. The upper end of its range is at most 4**10 times
                each diagonal entry.

        Raises:
            UsageError: the matrix is not square, or too large.
        """
        shape = matrix.shape
        if len(shape) != 2 or shape[0] != shape[1] or not 1 <= shape[0] <= MOST_COLUMNS:
            raise UsageError(
                f"A definite matrix has as many columns as rows, at most {MOST_COLUMNS}; not {shape}.",
                "Give one row for each column.",
            )
        factors = factor(matrix.ints)
        return cls(matrix.session, factors, join_statements(matrix.statements, factors.statements))

    @property
    def size(self) -> int:
        """Rows of the matrix."""
        return len(self._factors.reciprocals)

    @property
    def statements(self) -> Statements:
        """What has to hold for the matrix to be definite, and no column nearly a combination of others."""
        return self._statements

    def solve(self, right: SecretReals, reach: Number) -> SecretReals:
        """Solve H x = `right`; 18 rounds.

        Args:
            right: in the unit of the matrix, shape (p,).
            reach: a stated bound of |x|, best a power of two. The nearer, the more fractional bits.

        Returns:
            Shape (p,), with 26 fractional bits for a reach of 1, one more for half of it, and so on.

        Raises:
            UsageError: the right side has another shape.
            DomainError: the ranges leave no room.
        """
        scale = _scale_of(reach)
        _, scaled, statements = self._weights(right, scale)
        found = scaled + self._times_lower(scaled[self._rows], self._columns)
        words = self._factors.scaling.times(found, self._all)
        derived = self._grown.shift(self._factors.scaling.steps)
        ints = SecretInts.from_shares(self._session, words, derived, scale)
        return SecretReals(ints, statements).within(-Fraction(reach), reach)

    def quadratic(self, vector: SecretReals, reach: Number) -> SecretReals:
        """The form v' H**-1 v, such as a chi-square of scores and their covariances; 14 rounds.

        Args:
            vector: v, in the unit of the matrix, shape (p,).
            reach: a stated bound of |H**-1 v|.

        Returns:
            Shape (1,); below 0 by no more than rounding.

        Raises:
            UsageError: the vector has another shape.
            DomainError: the ranges leave no room.
        """
        scale = _scale_of(reach)
        weights, scaled, statements = self._weights(vector, scale)
        (terms,) = multiply(self._session, (weights, scaled))
        most = _REACHED.square.upper
        kept = min(2 * scale, _QUADRATIC_SCALE, max(0, MAX_SCALE + self._factors.unit))
        (terms,) = shift(self._session, (terms, Bounds(-most, most), 2 * scale - kept))
        total = Bounds(-2, (most >> (2 * scale - kept)) + 1).sum_of(self.size)
        sums = terms.sum(keepdims=True, dtype=np.uint64)
        return self._in_unit(sums, total, kept - self._factors.unit, statements)

    def variances(self) -> SecretReals:
        """The diagonal of H**-1, shape (p,), in one divided by the unit of the matrix; 12 rounds.

        Raises:
            DomainError: the unit of the matrix is too far from its range.
        """
        session, factors, size = self._session, self._factors, self.size
        wide = Bounds(-(1 << 60), 1 << 60)
        (parts,) = multiply(session, (factors.lower, factors.reciprocals[self._rows]))
        (parts,) = shift(session, (parts, wide, M_SCALE))
        derived = Bounds((wide.lower >> M_SCALE) - 1, wide.upper >> M_SCALE)
        stated = self._state(parts, derived, 1 << (R_SCALE + _PART_BITS))
        (terms,) = multiply(session, (parts, factors.lower))
        (terms,) = shift(session, (terms, wide, M_SCALE))
        sums = factors.reciprocals + self._sum(terms, self._columns)
        most = (size << _TERM_BITS) + (1 << (R_SCALE + OCTAVES + 1))
        inverse = SecretReals(SecretInts.from_shares(session, sums, Bounds(-2 * size, most), R_SCALE))
        inverse = inverse.within(0, 1 << _VARIANCE_BITS)
        words = factors.scaling.times(factors.scaling.times(sums, self._all), self._all)
        bounds = inverse.ints.bounds.shift(2 * factors.scaling.steps)
        statements = join_statements(self._statements, stated, inverse.statements)
        return self._in_unit(words, bounds, R_SCALE + factors.unit, statements)

    @property
    def _grown(self) -> Bounds:
        """Of M or M' times a vector on the way to a solution."""
        return _around(1 << _TERM_BITS).sum_of(self.size)

    def _weights(self, right: SecretReals, scale: int) -> tuple[Word, Word, Statements]:
        """The vector w = M S v / U, D**-1 w, and what has to hold for both."""
        if right.shape != (self.size,):
            raise UsageError(
                f"The right side has the shape {right.shape}, and the matrix {self.size} rows.",
                "Give one number for each row.",
            )
        session, ints, steps = self._session, right.ints, self._factors.scaling.steps
        excess = max(0, ints.bounds.magnitude.bit_length() - (_WORD_BITS - steps))
        (words,) = shift(session, (ints.shares, ints.bounds, excess))
        words = self._factors.scaling.times(words, self._all)
        most = (ints.bounds.magnitude >> excess) + 2 << steps
        drop = ints.scale - excess + self._factors.unit - scale
        derived = _around((most >> drop) + 2 if drop > 0 else most << -drop)
        if derived.magnitude >> _WORD_BITS:
            raise DomainError(
                "By its range the right side is too large beside the matrix.",
                "State narrower ranges, or a larger reach.",
            )
        (words,) = shift(session, (words, _around(most), drop))
        statements = join_statements(self._statements, right.statements, self._state(words, derived))
        weights = words + self._times_lower(words[self._columns], self._rows)
        statements = join_statements(statements, self._state(weights, self._grown))
        (scaled,) = multiply(session, (weights, self._factors.reciprocals))
        wide = _REACHED * Bounds(0, 1 << (R_SCALE + OCTAVES))
        (scaled,) = shift(session, (scaled, wide, R_SCALE))
        derived = Bounds((wide.lower >> R_SCALE) - 1, wide.upper >> R_SCALE)
        return weights, scaled, join_statements(statements, self._state(scaled, derived))

    def _times_lower(self, words: Word, to: NDArray[np.int64]) -> Word:
        """Entries of M times numbers, added up over those that belong to the same place."""
        (terms,) = multiply(self._session, (self._factors.lower, words))
        (terms,) = shift(self._session, (terms, _REACHED * _around(1 << (M_SCALE + M_BITS)), M_SCALE))
        return self._sum(terms, to)

    def _sum(self, terms: Word, to: NDArray[np.int64]) -> Word:
        picked = np.array(to[:, None] == self._all, dtype=np.uint64)
        found: Word = terms @ picked
        return found

    def _state(self, words: Word, derived: Bounds, most: int | None = None) -> Statements:
        """That numbers are at most so large; if it is not said, no larger than those on the way may be."""
        within = _REACHED if most is None else _around(most)
        if derived.magnitude <= within.upper or not words.size:
            return ()
        return (Statement(SecretInts.from_shares(self._session, words, derived), within),)

    def _in_unit(self, words: Word, bounds: Bounds, scale: int, statements: Statements) -> SecretReals:
        """Numbers with a scale that need not be one of a word."""
        raised = max(0, -scale)
        if scale > MAX_SCALE or bounds.shift(raised).magnitude >> _WORD_BITS:
            raise DomainError(
                "The range of a matrix is too far from the unit of what follows from it.",
                "Count in a unit in which its entries are nearer to 1.",
            )
        shares = words << np.uint64(raised)
        ints = SecretInts.from_shares(self._session, shares, bounds.shift(raised), max(0, scale))
        return SecretReals(ints, statements)


def _around(most: int) -> Bounds:
    return Bounds(-most, most)


_REACHED: Final = _around(1 << (_REACH_SCALE + _HEADROOM))
"""Of the numbers on the way to a solution."""


def _scale_of(reach: Number) -> int:
    """Fractional bits of solutions up to a bound.

    Raises:
        DomainError: the bound is not positive, or too large.
    """
    exact = Fraction(reach)
    if not 0 < exact <= 1 << _REACH_SCALE:
        raise DomainError(
            "The reach of the solution is not positive, or too large.", f"State one up to 2**{_REACH_SCALE}."
        )
    if exact > 1:
        return _REACH_SCALE - (ceil(exact) - 1).bit_length()
    return _REACH_SCALE + min(_LEAST_REACH, int(1 / exact).bit_length() - 1)

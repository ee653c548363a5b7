"""A symmetric matrix of secret numbers scaled by powers of two, and factored column after column.

    Alice, Bob (shares of H, symmetric)
      == comparisons of the diagonal with powers of 4, selection ==    A = S H S / U,  3/16 <= A_jj <= 1
      for each column k:
        == start of 1 / d_k, one Newton step ==   l = A_k / d_k   (`smc.secret.reals.pivots`)
        == products, shifts ==   A = A - l A_k',  M = M - l M_k
      M A M' = D

That H is definite, and no column nearly a combination of others, is a statement: every pivot is at least
2**-10, and no entry on the way is larger than in a definite matrix. By induction over the columns no word
wraps before a statement is broken: where the diagonals are positive up to a column, entries beside them are
at most 2, since |sum l_i A_jk| <= 1 by the inequality of Cauchy and Schwarz; and where |A_ik| <= 2**5 d_k
too, which any definite matrix with such pivots fulfils, entries of L are at most 2**5, and all products fit.

Reference: L D L' by columns: Golub and Van Loan, Matrix computations, section 4.1; scaling: van der Sluis,
Condition numbers and equilibration of matrices, Numerische Mathematik 1969; the order of steps: duetto.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from fractions import Fraction
from math import ceil
from typing import Final, Self

import numpy as np
from numpy.typing import NDArray

from smc.protocols.session import Session
from smc.secret.comparison import msb, mux
from smc.secret.ints import SecretInts
from smc.secret.reals import pivots
from smc.secret.reals.near import multiply, public, publics, shift
from smc.secret.reals.pivots import LARGEST, LEAST, OCTAVES, PIVOT_SCALE, START_ERROR, START_SCALE
from smc.secret.reals.statements import Statement, Statements
from smc.secret.sharing.bounds import Bounds

Word = NDArray[np.uint64]
Bit = NDArray[np.uint8]

M_SCALE: Final = PIVOT_SCALE
"""Fractional bits of M."""

M_BITS: Final = 6
"""Entries of M are stated to be at most 2**6."""

R_SCALE: Final = 20
"""Fractional bits of reciprocals of pivots."""

_SCALINGS: Final = 10
"""Steps of S: variances of columns may be as far apart as 4**10."""

_MATRIX_BITS: Final = 41
"""More bits of entries are cut off before they are scaled."""

_DIAGONAL_BITS: Final = 24
"""Of a diagonal entry so many bits are compared."""

_L_BITS: Final = OCTAVES // 2
"""Entries of L are at most 2**5: |A_ik| <= sqrt(d_k), and d_k is at least 2**-10."""


@dataclass(frozen=True, slots=True)
class ColumnScaling:
    """S: XOR shares of the bits that say by which powers of two a column is raised, shape (steps, p)."""

    session: Session
    bits: Bit = field(repr=False)

    @classmethod
    def of(cls, session: Session, diagonal: Word, bits: int) -> Self:
        """By a diagonal of entries up to 2**bits: each is raised to 3/16 of that, or as near as can be.

        Args:
            session: this side of the run.
            diagonal: local shares, shape (p,).
            bits: at least 2.
        """
        steps = min(_SCALINGS, bits // 2)
        # Below 7/8 rather than 1, so that what a comparison leaves out cannot raise an entry above 1.
        thresholds = [max(1, (7 << bits >> 3) >> 2 * step) for step in range(1, steps + 1)]
        shift = max(0, bits - _DIAGONAL_BITS)
        below = publics(session, [each - 1 for each in thresholds])[:, None] - diagonal
        bounds = Bounds(
            ((thresholds[-1] - 1 - (1 << bits)) >> shift) - 1, (thresholds[0] - 1 + (1 << bits)) >> shift
        )
        found = msb.nonnegative(session, (below >> np.uint64(shift)).reshape(-1), bounds)
        return cls(session, found.reshape(below.shape))

    @property
    def steps(self) -> int:
        """The largest exponent of an entry of S."""
        return len(self.bits)

    def times(self, words: Word, columns: NDArray[np.int64]) -> Word:
        """Shares times the entry of S of the column that each belongs to, both of shape (n,)."""
        raised = words[None] << np.arange(self.steps, dtype=np.uint64)[:, None]
        taken = mux.select(self.session, self.bits[:, columns].reshape(-1), raised.reshape(-1))
        found: Word = words + taken.reshape(raised.shape).sum(axis=0, dtype=np.uint64)
        return found


@dataclass(frozen=True, slots=True)
class Factors:
    """What a matrix was factored into.

    Attributes:
        scaling: S.
        unit: U is 2**unit.
        lower: M without its diagonal of ones, by rows, shape (p (p - 1) / 2,).
        reciprocals: of D, shape (p,).
        statements: that have to hold.
    """

    scaling: ColumnScaling
    unit: int
    lower: Word = field(repr=False)
    reciprocals: Word = field(repr=False)
    statements: Statements


def factor(matrix: SecretInts) -> Factors:
    """Factor a symmetric matrix of shape (p, p); U is the power of two above its bounds."""
    session, bounds, size = matrix.session, matrix.bounds, len(matrix)
    rows, columns = np.tril_indices(size)
    bits = max(2, (bounds.magnitude - 1).bit_length())
    unit = bits - matrix.scale
    (words,) = shift(session, (matrix.shares[rows, columns], bounds, max(0, bits - _MATRIX_BITS)))
    bits = min(bits, _MATRIX_BITS)
    scaling = ColumnScaling.of(session, words[rows == columns], bits)
    words = scaling.times(scaling.times(words, rows), columns)
    wide = Bounds(-2 - (1 << bits), 1 << bits).shift(2 * scaling.steps)
    drop = bits - PIVOT_SCALE
    (words,) = shift(session, (words, wide, drop))
    wide = Bounds((wide.lower >> drop) - 1, wide.upper >> drop) if drop > 0 else wide.shift(-drop)
    return _Factoring(session, scaling, unit, words, wide, size).run()


class _Factoring:
    """Column after column.

    Args:
        session: this side of the run.
        scaling: S.
        unit: of U.
        scaled: shares of the lower half of A by rows, with `PIVOT_SCALE` fractional bits.
        wide: bounds of its entries.
        size: p.
    """

    def __init__(
        self, session: Session, scaling: ColumnScaling, unit: int, scaled: Word, wide: Bounds, size: int
    ) -> None:
        self._session, self._scaling, self._unit = session, scaling, unit
        self._rest, self._size = scaled, size
        self._statements: list[Statement] = []
        rows, columns = np.tril_indices(size)
        self._state(scaled[rows == columns], wide, Bounds(LEAST, LARGEST))
        self._state(scaled[rows != columns], wide, _around(LARGEST))

    def run(self) -> Factors:
        """All columns."""
        lower = np.zeros((self._size, 0), dtype=np.uint64)
        rows, reciprocals = [], []
        for left in reversed(range(self._size)):
            place = np.arange(1, left + 1)
            pivot, under = self._rest[:1], self._rest[place * (place + 1) // 2]
            self._state_column(pivot, under)
            quotients, reciprocal = self._divide(pivot, under)
            rows.append(lower[0])
            reciprocals.append(reciprocal)
            if left:
                lower = self._eliminate(quotients, under, lower)
        return Factors(
            self._scaling,
            self._unit,
            np.concatenate(rows),
            np.concatenate(reciprocals),
            tuple(self._statements),
        )

    def _divide(self, pivot: Word, under: Word) -> tuple[Word, Word]:
        """The column below a pivot divided by it, and one divided by it."""
        session = self._session
        start = pivots.start(session, pivot)
        raw, covered = multiply(session, (start, under), (start, pivot))
        point = PIVOT_SCALE + START_SCALE
        rest = publics(session, [1 << point]) - covered
        most = 1 + START_ERROR
        quotients, rest, reciprocal = shift(
            session,
            (raw, _around(most * (1 << (point + _L_BITS))), START_SCALE),
            (rest, _around(START_ERROR * (1 << point) + 1), PIVOT_SCALE),
            (start, Bounds(0, ceil(most * (1 << (START_SCALE + OCTAVES)))), START_SCALE - R_SCALE),
        )
        # What a shift leaves out is one on average.
        rest = rest + public(session, 1)
        small = ceil(START_ERROR * (1 << START_SCALE)) + 2
        more, inverse = multiply(session, (quotients, rest), (reciprocal, rest))
        more, inverse = shift(
            session,
            (more, _around(small << (PIVOT_SCALE + _L_BITS + 1)), START_SCALE),
            (inverse, _around(small << (R_SCALE + OCTAVES + 1)), START_SCALE),
        )
        return quotients + more, reciprocal + inverse

    def _eliminate(self, quotients: Word, under: Word, lower: Word) -> Word:
        """Take the column off what is left of A, and the first row of M off the others, which it returns."""
        left = len(quotients)
        rows, columns = np.tril_indices(left)
        taken, moved = multiply(
            self._session, (quotients[rows], under[columns]), (quotients[:, None], lower[:1])
        )
        taken, moved = shift(
            self._session,
            (taken, _around(1 << (2 * PIVOT_SCALE + _L_BITS + 1)), PIVOT_SCALE),
            (moved, _around(1 << (M_SCALE + M_BITS + PIVOT_SCALE + _L_BITS)), PIVOT_SCALE),
        )
        kept = np.flatnonzero(np.tril_indices(left + 1)[1] > 0)
        self._rest = self._rest[kept] - taken
        reached = LARGEST + (1 << (PIVOT_SCALE + _L_BITS + 1))
        self._state(self._rest[rows == columns], _around(reached), Bounds(LEAST, LARGEST))
        found = np.concatenate([lower[1:] - moved, np.negative(quotients)[:, None]], axis=1)
        self._state(
            found[0], _around(1 << (M_SCALE + M_BITS + _L_BITS + 6)), _around(1 << (M_SCALE + M_BITS))
        )
        return found

    def _state_column(self, pivot: Word, under: Word) -> None:
        """State that |A_ik| <= 2**5 d_k."""
        raised = pivot << np.uint64(_L_BITS)
        derived = Bounds(0, LARGEST << _L_BITS) + _around(2 * LARGEST)
        for side in (raised - under, raised + under):
            self._state(side, derived, Bounds(0, derived.upper))

    def _state(self, words: Word, derived: Bounds, within: Bounds) -> None:
        if words.size:
            ints = SecretInts.from_shares(self._session, words, derived)
            self._statements.append(Statement(ints, within))


def _around(most: Fraction | int) -> Bounds:
    return Bounds(-ceil(most), ceil(most))

"""Mantel-Haenszel figures over the strata of both, computed in secret; only figures of all strata come out.

    Alice, Bob (counts a, b, c, d of their own rows by stratum)
      == quotients of shares: parts of each stratum ==
      == products, and sums over the strata: local ==
      == quotients of the sums ==         odds ratio, risk ratio, variances of their logarithms, chi-square
      == tests of what is stated; rounding ==   the figures, or one bit that there are none

A recipient knows its own counts and may choose its rows: with very many in all strata but one, the sums are
about that one, and with weights of its choice its counts can be solved for. What protects them is
`smc.analyses.disclosure.pooled`: only counts go in here that limits would show. Digits beyond a 32nd of the
standard error have no meaning, and are rounded away in secret: a ratio to the power of two below a 32nd of
its standard error, a variance to one below its 64th, chi-square to 2**-7.

References: as of `smc.analyses.statistics.kinds.mantel_haenszel`.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Final

import numpy as np

from smc.analyses.statistics.kinds.mantel_haenszel import PooledFigures
from smc.analyses.statistics.queries.rows import Ints
from smc.forms import Role
from smc.protocols.session import Session
from smc.secret.ints import SecretInts, concatenate
from smc.secret.reals.reals import SecretReals, join
from smc.secret.reals.statements import Sealed
from smc.secret.sharing.bounds import Bounds
from smc.secret.sharing.fixed import Fixed

PART_BITS: Final = 28
"""Fractional bits of parts of a stratum."""

INVERSE_BITS: Final = 40
"""Fractional bits of one over a number of rows at most."""

ABOVE_ONE: Final = 1 + 2.0**-16
"""What a part may come out as: reciprocals are off by a millionth."""

LARGEST_RATIO: Final = 128
"""Ratios beyond it, or below one over it, are not told."""

LARGEST_CHI_SQUARE: Final = 1 << 16

MOST_ROWS: Final = (1 << 25) - 1
"""Of a side; one over more has no room."""

LEAST_SUM: Final = 0.25
"""The sums over strata that are divided by are at least so large."""

COARSE_BITS: Final = 16
"""Ratios have no more fractional bits after rounding."""

COARSE_VARIANCE_BITS: Final = 24
"""Nor have variances."""

CHI_SQUARE_BITS: Final = 7

_RATIO_BITS: Final = 22
_VARIANCE_BITS: Final = 30
_LEAST_BITS: Final = 8
_ROOM: Final = 60
"""Bits of a number on the way, without its sign."""


def pooled(session: Session, own: Ints, maximum_rows: int) -> tuple[SecretReals, ...]:
    """The figures of all strata, rounded: ratios and variances of odds and risk, and chi-square.

    Args:
        session: this side of the run.
        own: the local counts, shape (4, strata).
        maximum_rows: of either side.

    Returns:
        Shapes (2,), (2,) and (1,); what is stated of them is all that has to hold.
    """
    ratios, variances, chi_square = exact_figures(session, own, maximum_rows)
    rough = ratios.rescale(20)
    wide = rough * rough * variances.rescale(20)
    return (
        coarse(ratios, wide, 1024, COARSE_BITS, power=2),
        coarse(variances, variances, 64, COARSE_VARIANCE_BITS, power=1),
        chi_square.rescale(CHI_SQUARE_BITS),
    )


def exact_figures(session: Session, own: Ints, maximum_rows: int) -> tuple[SecretReals, ...]:
    """The figures before they are rounded."""
    return _Strata.of(session, own, maximum_rows).figures()


def read(sealed: Sealed, opened: Ints | None) -> PooledFigures | None:
    """The figures, by what came out of the opening.

    Raises:
        OutsideRange: there are none.
        ProtocolViolation: the peer sent what does not follow from any data.
    """
    found = sealed.read(opened)
    if found is None:
        return None
    (odds, risk), (odds_variance, risk_variance), (chi_square,) = (part.tolist() for part in found)
    return PooledFigures(odds, odds_variance, risk, risk_variance, chi_square)


def coarse(values: SecretReals, width: SecretReals, part: int, bits: int, *, power: int) -> SecretReals:
    """Values rounded to a power of two, each by a width of its own that stays secret.

    Args:
        values: shape (n,), positive.
        width: of each; rounded is to the power of two below width**(1 / power) / part**(1 / power).
        part: positive.
        bits: fractional bits at most, whatever the width.
        power: 1, or 2 where the widths are squares.

    Returns:
        With so many fractional bits.
    """
    session, places = values.session, np.arange(bits)
    # A step of 2**-u is above the width where width < part * 2**(-power u): each such u halves it.
    limits = np.floor(np.ldexp(float(part), width.scale - power * places)).astype(np.int64)
    repeated = concatenate([width.ints.reshape(-1, 1)] * bits, axis=1)
    narrow = SecretInts.from_bits(repeated < Fixed(limits[None], width.scale))
    most = 1 << bits
    up = (narrow @ (np.int64(1) << places) + 1).bounded(Bounds(1, most))
    down = (-(narrow @ (np.int64(1) << (bits - 1 - places))) + most).bounded(Bounds(1, most))
    steps = SecretReals(up, width.statements)
    step = SecretReals(SecretInts.from_shares(session, down.shares, down.bounds, bits))
    return (values * steps).rescale(0) * step


@dataclass(frozen=True, slots=True)
class _Strata:
    """The counts of both sides, and their parts of each stratum.

    Attributes:
        most: the most rows of either side.
        sides: the counts of each side, shape (4, strata), whole numbers.
        parts: of the rows of each stratum, shape (4, strata); 0 in an empty one.
        without: rows without the event over all but one.
    """

    most: int
    sides: Mapping[Role, SecretReals]
    parts: SecretReals
    without: SecretReals

    @classmethod
    def of(cls, session: Session, own: Ints, maximum_rows: int) -> _Strata:
        sides = {role: _counts(session, own, role, maximum_rows) for role in Role}
        rows = (sides[Role.ALICE] + sides[Role.BOB]).sum(axis=0).known(0, 2 * maximum_rows).or_one()
        divisors = _rows(rows, (rows - 1).or_one())
        inverses = divisors.reciprocal(min(INVERSE_BITS, _ROOM - (2 * maximum_rows).bit_length()))
        several = join([*[inverses[:1]] * 4, inverses[1:]])
        found = cls(maximum_rows, sides, several[:4], several[4])
        parts = found.times([(0,), (1,), (2,), (3,), (1, 3)], several, 3).rescale(PART_BITS)
        return replace(found, parts=parts[:4].known(0, ABOVE_ONE), without=parts[4])

    @property
    def bits(self) -> int:
        """Of a number of rows of both."""
        return (2 * self.most).bit_length()

    def figures(self) -> tuple[SecretReals, ...]:
        """Ratios, variances of their logarithms, and chi-square; the first two of odds and risk."""
        of_a, of_b, of_c, of_d = (self.parts[place] for place in range(4))
        first, second, agreeing = (
            (one + other).known(0, ABOVE_ONE) for one, other in ((of_a, of_b), (of_c, of_d), (of_a, of_d))
        )
        both = (first * second).known(0, 0.5)
        factors = (of_d, of_b, second, first, of_a, both, both * self.without)
        a, c, most = (0,), (2,), 2 * self.most
        counted = self.times([a, c, a, c, c, (0, 2), (0, 2)], _rows(*factors), most)
        odds, under_odds, risk, under_risk, together, spread, variance = (counted[row] for row in range(7))
        sums = self._sums(odds, under_odds, risk, under_risk, variance).within(LEAST_SUM, 2 * self.most)
        # sum (a - E) is sum (a d - b c) / n
        above, below, score = sums[[0, 2]], sums[[1, 3]], sums[[0]] - sums[[1]]
        weighed, spreads = self._weighed(agreeing, odds, under_odds), self._sums(spread - together)
        dividends = join([above, weighed, spreads.known(0, 2 * self.most), score])
        divisors = join([below, sums[:2], sums[[2]], sums[[4]]])
        quotients = self._quotients(dividends, divisors, _RATIO_BITS, LARGEST_RATIO + 2)
        ratios = quotients[:2].known(0, LARGEST_RATIO).given(*self._near(above, below, LARGEST_RATIO))
        parts, steps = quotients[2:4].known(0, 1), quotients[5:].known(-64, 64)
        # D / (O U) <= 1 / O + 1 / U, and so D / O <= 1 + U / O
        reached = join([parts + 1 - parts[[1, 0]], quotients[[4]].known(0, LARGEST_RATIO + 2).given(ratios)])
        found = self._quotients(reached, join([sums[:2], sums[[3]]]), _VARIANCE_BITS, 8).known(0, 8)
        odds_variance = found[:2].sum() * Fixed(np.array(1, dtype=np.int64), 1)
        variances = join([odds_variance.known(0, 8), found[2:]]).given(ratios)
        steps = steps.given(ratios, *self._near(score, sums[[4]], 64)).rescale(20)
        chi_square = steps * score.rescale(_ROOM - 27 - self.bits)
        return ratios, variances, chi_square.within(-1, LARGEST_CHI_SQUARE)

    def times(self, counts: Sequence[tuple[int, ...]], factors: SecretReals, most: int) -> SecretReals:
        """Counts of both sides times factors: each side's own, which it knows, with shared ones.

        Args:
            counts: for each row of factors the places of the counts whose sum it is multiplied by.
            factors: shape (n, strata).
            most: no product is larger.
        """
        one, other = (
            _rows(*(sum((each[place] for place in rest), each[first]) for first, *rest in counts)) * factors
            for each in self.sides.values()
        )
        return (one + other).known(0, most)

    def _sums(self, *values: SecretReals) -> SecretReals:
        """Over the strata, shape (n,), with as many fractional bits as quotients of them have room for."""
        several = _rows(*values)
        room = _ROOM - self.bits - several.shape[1].bit_length()
        found = several.rescale(min(several.scale, room)).sum(axis=1)
        return found.known(-2 * self.most, 2 * self.most).rescale(min(22, room))

    def _quotients(self, above: SecretReals, below: SecretReals, bits: int, largest: int) -> SecretReals:
        """With so many fractional bits, or as many as leave `_LEAST_BITS` for the divisor."""
        room = _ROOM - largest.bit_length() - self.bits
        bits = min(bits, room - _LEAST_BITS)
        divisor = below.rescale(min(room - bits, below.scale))
        dividend = above.rescale(min(above.scale, bits + divisor.scale))
        return dividend.over(divisor, bits, largest)

    def _weighed(self, agreeing: SecretReals, odds: SecretReals, under: SecretReals) -> SecretReals:
        """The sums of P a d / n and of Q b c / n, shape (2,)."""
        scale = _ROOM - 20 - self.bits
        parts = agreeing.rescale(20)
        shares, terms = _rows(parts, 1 - parts), _rows(odds, under).rescale(scale)
        found = (shares * terms).known(0, 2 * self.most)
        return self._sums(found[0], found[1]).known(0, 2 * self.most)

    def _near(self, one: SecretReals, other: SecretReals, largest: int) -> list[SecretReals]:
        """Numbers that are stated not to be negative, as sizes differ by a factor of `largest` at most.

        That of the first is so, and of two that are positive that of the second as well.
        """
        most = (largest + 1) * 2 * self.most
        sides = (one, -one) if one.lower < 0 else (one,)
        found = [(other * largest - side).within(0, most) for side in sides]
        return found if one.lower < 0 else [*found, (one * largest - other).within(0, most)]


def _counts(session: Session, own: Ints, role: Role, most: int) -> SecretReals:
    """The counts of a side, shared."""
    held = own if session.role is role else None
    return SecretReals(SecretInts.from_plain(session, held, role, Bounds(0, most), own.shape))


def _rows(*vectors: SecretReals) -> SecretReals:
    """Vectors as the rows of a matrix."""
    return join([each.reshape(1, -1) for each in vectors])

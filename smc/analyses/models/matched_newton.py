"""Newton's steps over matched rows, in secret: a fixed number of them, and nothing opens on the way.

    for each step       predictors, and of them what each match is expected to have, and its weight
                        b = b + H**-1 g,  g the gradient, H the information at b
    in the end          b, H**-1, and what has to be stated of them

Slots are in an order that nobody chose, so early steps are taken over the first of them, where there are
many, with a small ridge, which keeps them within reach. What they are off by, the last two or three steps
mend, over all slots.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction
from typing import ClassVar, Final, Generic, TypeVar

import numpy as np
from typing_extensions import override

from smc.analyses.models.matched_rows import MatchedRows
from smc.analyses.models.matched_sides import COEFFICIENT_BITS
from smc.analyses.models.matched_sums import clip, matrix_of
from smc.analyses.models.run import SMALL_STEP
from smc.secret.reals.definite import Definite
from smc.secret.reals.reals import SecretReals
from smc.secret.sharing.fixed import Fixed

MOST_COEFFICIENT: Final = 12
"""No coefficient is larger."""

EARLY_STEPS: Final = 6
TIMES: Final = 4 + EARLY_STEPS
"""How often rows are multiplied, at most."""

REACH: Final = 8
"""Of a step."""

_FEWEST_SLOTS: Final = 1 << 15
_EARLY_PART: Final = 4
"""Early steps are taken over a quarter of the slots, but so many at least."""

_RIDGE: Final = 0.25
"""Early coefficients are drawn to 0 as by a normal distribution of deviation 2."""


@dataclass(frozen=True, slots=True)
class Point:
    """A likelihood at coefficients.

    Attributes:
        start: what predictors are made of, the intercept first, stated to be within reach.
        coefficients: those of it that are asked for, shape (p,).
        gradient: shape (p,).
        weights: of the matches in the information, 0 elsewhere, shape (slots,).
    """

    start: SecretReals
    coefficients: SecretReals
    gradient: SecretReals
    weights: SecretReals


class Family(ABC):
    """What differs between models.

    Args:
        matched: the rows, or the first of them.
        bits: sums of weights, and of them times covariates, are below 2**bits.
    """

    early_reach: ClassVar[int] = REACH
    """Of an early step."""

    late: ClassVar[tuple[bool, ...]] = (True, False, True)
    """Of each of the last steps, whether its matrix is computed anew, or is that of the one before."""

    def __init__(self, matched: MatchedRows, bits: int) -> None:
        self.matched, self.bits = matched, bits

    @abstractmethod
    def first(self) -> SecretReals:
        """What predictors are made of in the first step."""

    @abstractmethod
    def at(self, start: SecretReals) -> Point:
        """The likelihood at coefficients."""

    def information(self, point: Point) -> SecretReals:
        """Minus its second derivatives there, shape (p, p)."""
        return matrix_of(self.matched.rows.gram(point.weights), self.matched, self.bits)

    @abstractmethod
    def state(self, start: SecretReals) -> SecretReals:
        """Something that follows from what has to hold of predictors."""

    def move(self, point: Point, step: SecretReals) -> SecretReals:
        """Where a step leads to."""
        return point.start + step


class SteepFamily(Family):
    """A model whose expectations grow without end, so that a long step leads astray: it is cut off."""

    early_reach = 1 << 6
    late = (True, True)

    @override
    def move(self, point: Point, step: SecretReals) -> SecretReals:
        """No coefficient moves by more than 1."""
        return super().move(point, clip(step, 1))


AnyFamily = TypeVar("AnyFamily", bound=Family)


@dataclass(frozen=True, slots=True)
class Found(Generic[AnyFamily]):
    """What the steps lead to.

    Attributes:
        family: of all rows.
        point: of the last step.
        coefficients: given that all holds that has to, shape (p,).
        variances: shape (p,).
        information: at the last step, shape (p, p).
    """

    family: AnyFamily
    point: Point
    coefficients: SecretReals
    variances: SecretReals
    information: SecretReals


def newton(family_of: Callable[[MatchedRows], AnyFamily], matched: MatchedRows) -> Found[AnyFamily]:
    """Find where a likelihood is largest; both parties call it.

    Args:
        family_of: makes the family of some rows.
        matched: all of them.

    Raises:
        ProtocolViolation: the peer sent something else than the protocol says.
    """
    slots = len(matched.member)
    start = _early(family_of(matched.first(min(slots, max(_FEWEST_SLOTS, slots // _EARLY_PART)))))
    family = family_of(matched)
    for number, anew in enumerate(family.late, 1):
        point = family.at(_within(start))
        if anew:
            information = family.information(point)
            definite = Definite.of(information)
        step = definite.solve(point.gradient, REACH)
        if number < len(family.late):
            start = family.move(point, step)
    variances = definite.variances()
    small = variances.rescale(step.scale) * Fixed.of(SMALL_STEP**2, 12) - step * step
    converged = small.within(0, max(Fraction(1), small.upper))
    found = (point.coefficients + step).given(converged, family.state(point.start))
    return Found(family, point, found, variances, information)


def ridge_of(size: int) -> Fixed:
    """What is added to the information in early steps."""
    return Fixed.of(_RIDGE * np.eye(size), 2)


def _early(family: Family) -> SecretReals:
    """Coefficients to begin with."""
    start = family.first()
    for _ in range(EARLY_STEPS):
        point = family.at(_within(start))
        definite = Definite.of(family.information(point) + ridge_of(len(point.coefficients)))
        drawn = point.gradient - point.coefficients * Fixed.of(_RIDGE, 2)
        start = family.move(point, definite.solve(drawn, family.early_reach))
    return start


def _within(start: SecretReals) -> SecretReals:
    return start.within(-MOST_COEFFICIENT, MOST_COEFFICIENT).rescale(COEFFICIENT_BITS)

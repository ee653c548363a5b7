"""The privacy loss of a run, in exact rationals, and how losses add up.

References: Bun and Steinke, Concentrated differential privacy, TCC 2016 propositions 1.3, 1.4
and 1.7; Dwork and Roth, The algorithmic foundations of differential privacy, 2014, section 3.5.
"""

from __future__ import annotations

from dataclasses import dataclass
from decimal import ROUND_CEILING, ROUND_FLOOR, Context, Decimal, localcontext
from fractions import Fraction
from typing import Final

from smc.errors import UsageError

MAX_TERM: Final = 10**9
"""The largest numerator and denominator of a number that people state a loss by, or a part of one."""

_ROUNDED_UP: Final = Context(prec=60, rounding=ROUND_CEILING)
_GRAIN: Final = Decimal("1e-12")


@dataclass(frozen=True, slots=True)
class Loss:
    """What a run, or several, cost under differential privacy.

    The mechanism is the composition of one that is (epsilon, delta)-differentially private and one that is
    rho-zCDP; all three are zero if nothing is released under differential privacy.

    Attributes:
        epsilon: of everything but Gaussian noise.
        delta: statistical distances of drawn noise from the ideal, and what mechanisms ask for themselves.
        rho: of Gaussian noise, zero-concentrated.
    """

    epsilon: Fraction = Fraction(0)
    delta: Fraction = Fraction(0)
    rho: Fraction = Fraction(0)

    def __post_init__(self) -> None:
        if min(self.epsilon, self.delta, self.rho) < 0:
            raise UsageError(
                "A privacy loss is negative.", "Write epsilon, delta and rho as numbers of at least 0."
            )

    def __bool__(self) -> bool:
        return bool(self.epsilon or self.rho or self.delta)

    def __add__(self, other: Loss) -> Loss:
        """Sequential composition."""
        return Loss(self.epsilon + other.epsilon, self.delta + other.delta, self.rho + other.rho)

    def epsilon_at(self, delta: Fraction) -> Fraction:
        """An epsilon for which the loss is at most (epsilon, delta), rounded up by less than 2e-12.

        Args:
            delta: the whole delta allowed, in [0, 1).

        Raises:
            UsageError: delta leaves nothing for the Gaussian noise, beside what the loss takes by itself.
        """
        left = delta - self.delta
        if left < 0 or (self.rho and left <= 0):
            raise UsageError(
                f"A loss with delta {float(self.delta):.3g} cannot be stated for delta {float(delta):.3g}.",
                "State it for a larger delta.",
            )
        if not self.rho:
            return self.epsilon
        with localcontext(_ROUNDED_UP):
            rho = Decimal(self.rho.numerator) / Decimal(self.rho.denominator)
            inverse = Decimal(left.denominator) / Decimal(left.numerator)
            gaussian = rho + 2 * (rho * inverse.ln().next_plus()).sqrt().next_plus()
            return self.epsilon + Fraction(gaussian.quantize(_GRAIN, ROUND_CEILING))


def rho_within(epsilon: Fraction, delta: Fraction) -> Fraction:
    """The largest rho, rounded down, whose zCDP implies (epsilon, delta)-differential privacy.

    Args:
        epsilon: positive.
        delta: in (0, 1).

    Raises:
        UsageError: they are not.
    """
    if epsilon <= 0 or not 0 < delta < 1:
        raise UsageError(
            "Gaussian noise needs epsilon above 0 and delta between 0 and 1.",
            'Write, for example, epsilon = "1" and delta = "1/1000000".',
        )
    with localcontext(Context(prec=60, rounding=ROUND_FLOOR)):
        log = -(Decimal(delta.numerator) / Decimal(delta.denominator)).ln()
        whole = Decimal(epsilon.numerator) / Decimal(epsilon.denominator)
        root = (log + whole).sqrt() - log.sqrt()
        found = Fraction((root * root).quantize(Decimal("1e-30"), ROUND_FLOOR))
    while Loss(rho=found).epsilon_at(delta) > epsilon:
        found -= found / 1_000_000
    return found

"""What joint noise costs, and its record."""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from typing import Final

from smc.oblivious import cost as oblivious
from smc.protocols.spec import Cost, Procedure
from smc.protocols.transfer_costs import TRANSFER_SECURITY, TRANSFERS, cost_below, cost_of
from smc.secret.noise import noise
from smc.secret.noise.distribution import Distribution
from smc.secret.noise.gaussian import DiscreteGaussian
from smc.secret.noise.laplace import DiscreteLaplace


def cost_draw(distributions: Sequence[Distribution], *, silent: bool | None = None) -> Cost:
    """The exact cost of `draw`, without the set-up of oblivious transfer."""
    count = noise.biased_bits(distributions)
    return cost_below(count, silent=silent) + cost_of(oblivious.bits_to_arithmetic(count))


DRAW: Final = Procedure(
    name="joint-noise",
    module=noise.__name__,
    inputs="public distributions, discrete Laplace, geometric or discrete Gaussian, one per draw",
    outputs="shares modulo 2^64 of independent draws",
    cost=cost_draw,
    learns="Neither party learns anything of the draws.",
    security=TRANSFER_SECURITY,
    reference="DKMMN06; distributions: GRS09, CKS20.",
    setups=(TRANSFERS,),
    example={"distributions": (DiscreteLaplace.of(Fraction(1, 2)), DiscreteGaussian.of(Fraction(20)))},
)

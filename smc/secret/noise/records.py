"""What joint noise costs, and its record."""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from typing import Final

from smc.network import Network
from smc.oblivious import cost as oblivious
from smc.protocols.against import Against
from smc.protocols.spec import Cost, Procedure
from smc.protocols.transfer_costs import TRANSFERS, cost_below, cost_of
from smc.secret.noise import noise
from smc.secret.noise.distribution import Distribution
from smc.secret.noise.gaussian import DiscreteGaussian
from smc.secret.noise.laplace import DiscreteLaplace


def cost_draw(
    distributions: Sequence[Distribution], network: Network | None = None, *, silent: bool | None = None
) -> Cost:
    """The exact cost of `draw` over a network, without the set-up of oblivious transfer."""
    count = noise.biased_bits(distributions)
    return cost_below(count, network, silent=silent) + cost_of(oblivious.bits_to_arithmetic(count))


DRAW: Final = Procedure(
    name="joint-noise",
    against=Against.PRIVATE,
    module=noise.__name__,
    cost=cost_draw,
    setups=(TRANSFERS,),
    example={"distributions": (DiscreteLaplace.of(Fraction(1, 2)), DiscreteGaussian.of(Fraction(20)))},
)

"""What the tests of limits cost, for estimates: exact flights and bytes, without the set-up of transfers."""

from __future__ import annotations

from collections.abc import Sequence
from collections.abc import Set as AbstractSet

from smc.analyses.disclosure.limits import Limits
from smc.forms import Role
from smc.protocols.agreement import AGREEMENT_COST
from smc.protocols.spec import Cost
from smc.secret import opening, signs
from smc.secret.bits import BOTH, cost_and
from smc.secret.bounds import Bounds


def limits_apply(limits: Limits, sums: int) -> bool:
    """Whether a table with so many sums is tested, and oblivious transfer is set up for it."""
    return limits.minimum_group > 1 or (limits.dominance < 1 and sums > 0)


def cost_table(
    cells: int, sums: int, limits: Limits, recipients: AbstractSet[Role], numbers: Sequence[int]
) -> Cost:
    """Of `Release.table` with a part that is the input of each side, of which nothing has to be withheld.

    Where cells are withheld, fewer numbers are opened, and a test of the totals may come on top.

    Args:
        cells: of the table.
        sums: further tables that the rule of dominance holds for.
        limits: of both policies.
        recipients: who gets the table.
        numbers: of each opening, without limits.
    """
    total = Cost()
    if limits_apply(limits, sums):
        rules = (limits.minimum_group > 1) + sums * (limits.dominance < 1)
        for _ in range(len(Role) * rules - 1 + len(Role)):  # or of all suspects; both roomy, and not suspect
            total += cost_and(cells)
        total += opening.cost_bits(2 * cells, BOTH)
    total += AGREEMENT_COST
    for count in numbers:
        total += opening.cost(count, recipients)
    return total


def cost_demand(bounds: Sequence[Bounds], minimum: int) -> Cost:
    """Of `Release.test` for secret numbers with these bounds that each have to reach a minimum."""
    if not bounds or minimum <= 0:
        return Cost()
    total = opening.cost_bits(1, BOTH)
    for each in bounds:
        total += signs.cost_nonnegative(1, Bounds(each.lower - minimum, each.upper - minimum))
    for _ in bounds[1:]:
        total += cost_and(1)
    return total

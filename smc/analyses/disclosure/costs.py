"""What the tests of limits cost, for estimates: exact flights and bytes, without the set-up of transfers."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from collections.abc import Set as AbstractSet
from dataclasses import dataclass

from smc.analyses.disclosure.limits import NO_LIMITS, Limits
from smc.forms import Role
from smc.protocols.agreement import AGREEMENT_COST
from smc.protocols.spec import Cost
from smc.secret import argmin, msb, opening
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


@dataclass(frozen=True, slots=True)
class SumShape:
    """What is public of a sum that is tested for dominance.

    Attributes:
        column: bounds of what each row adds.
        slots: rows that could add something.
        most: rows that do at most.
    """

    column: Bounds
    slots: int
    most: int


def cost_test(
    demands: Iterable[tuple[Bounds, int]],
    limits: Limits = NO_LIMITS,
    sums: Sequence[SumShape] = (),
    apart: Sequence[Bounds] = (),
) -> Cost:
    """Of `Release.test`, without the set-up of transfers.

    Args:
        demands: bounds of each distinct secret number with the largest minimum that it has to reach; a
            minimum of 0 asks for nothing.
        limits: that hold for `sums` and `apart`.
        sums: that nobody may dominate.
        apart: bounds of the numbers of persons that have to be 0 or a group.
    """
    total, bits = Cost(), 0
    for bounds, minimum in demands:
        if minimum > 0:
            total += _cost_reaching(bounds, minimum)
            bits += 1
    part, whole = limits.dominance.numerator, limits.dominance.denominator
    for each in sums if limits.weighs else ():
        least = each.column.summed(each.most) * Bounds(part, part) - each.column * Bounds(whole, whole)
        total += argmin.cost(1, each.slots, each.column) + msb.cost_nonnegative(1, least)
        bits += 1
    for bounds in apart if limits.minimum_group > 1 else ():
        total += _cost_reaching(bounds, limits.minimum_group) + _cost_reaching(bounds, 1)
        bits += 1
    for _ in range(bits - 1):
        total += cost_and(1)
    return total + opening.cost_bits(1, BOTH) if bits else total


def _cost_reaching(bounds: Bounds, minimum: int) -> Cost:
    return msb.cost_nonnegative(1, bounds - Bounds(minimum, minimum))

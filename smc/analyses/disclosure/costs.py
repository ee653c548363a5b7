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


def cost_tables(numbers: int, sums: int, recipients: AbstractSet[Role]) -> Cost:
    """Of `Release.tables`, whatever is withheld.

    Args:
        numbers: cells and totals of all tables.
        sums: further tables beside each table of counts.
        recipients: who gets the tables.
    """
    return AGREEMENT_COST + opening.cost(numbers * (2 + sums), recipients)


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

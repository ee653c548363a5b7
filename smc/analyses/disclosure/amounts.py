"""What rows add to a sum, as dominance looks at it: the one way from values to what is weighed.

Nobody may have more than a part of a sum of distances from the lower bound that the holder's own catalog
declares. A bound far below all values makes these distances alike, so that nobody dominates a sum: a stay of
days between two dates has a bound of minus the years between the declared ones. Whoever gets a sum and a
count takes any constant off. So where the bound is below 0, absolute values are weighed beside them:

    sum of y, lower bound l < 0, one person with more than a part p of |y_1| + ... + |y_n|      refused
    the same with more than p of (y_1 - l) + ... + (y_n - l)                                    refused

Not weighed are distances from other constants: of values that all lie near 1,000,000, with a bound of 0, a
person who has 900,000 more dominates nothing. Declare bounds near the values.

Who weighs a sum takes `Amounts`, or `weighed` where values are secret; `tests/architecture/test_owned.py`
names the few places that do not.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from smc.analyses.disclosure.audit import Members
from smc.analyses.disclosure.exact_figure import defect
from smc.analyses.disclosure.figures import Sum
from smc.analyses.disclosure.owned import Owned
from smc.secret.linear_ints import LinearInts
from smc.secret.sharing.bounds import Bounds

Ints = NDArray[np.int64]


def is_signed(declared: Owned[Bounds]) -> bool:
    """Whether absolute values are weighed as well."""
    return declared.value.lower < 0


@dataclass(frozen=True, slots=True)
class Amounts:
    """What rows in the clear add to a sum, all of shape (n,).

    Attributes:
        above: distances from the lower bound, not negative.
        signed: the values themselves where the bound is below 0, else None.
    """

    above: Ints = field(repr=False)
    signed: Ints | None = field(repr=False)

    @classmethod
    def of(cls, values: Ints, declared: Owned[Bounds]) -> Amounts:
        """Of values within bounds.

        Args:
            values: of each row, shape (n,).
            declared: the bounds that the side's own catalog declares.
        """
        return cls(values - declared.value.lower, values if is_signed(declared) else None)

    @property
    def ways(self) -> list[Ints]:
        """What nobody may have too large a part of, each not negative."""
        return [self.above, *([] if self.signed is None else [np.abs(self.signed)])]

    def times(self, weights: Ints) -> Amounts:
        """Each row's amount times its weight, which is not negative."""
        return Amounts(self.above * weights, None if self.signed is None else self.signed * weights)

    def members(self, persons: Ints, cells: Ints) -> Members:
        """The rows with their amounts, for the auditor."""
        return Members(persons, cells, self.above, self.signed)


def weighed(
    column: LinearInts,
    sizes: LinearInts | None,
    members: LinearInts,
    declared: Owned[Bounds],
    total: Callable[[LinearInts], LinearInts],
) -> list[Sum]:
    """What nobody may dominate of a sum of secret values; local.

    A constant of the job that all rows have, such as the first day of a derived column, is in none of the
    distances.

    Args:
        column: what each row adds, 0 for rows that add nothing, shape (n,).
        sizes: its absolute values, where `is_signed`.
        members: 1 for rows that add something, else 0; shape (n,).
        declared: bounds of what a row adds.
        total: adds up a column.

    Raises:
        DisclosureRefused: the absolute values are missing.
    """
    lower, upper = declared.value.lower, declared.value.upper
    above = (column - members * lower).bounded(Bounds(0, upper - lower))
    found = [above]
    if is_signed(declared):
        if sizes is None:
            raise defect("weighs a sum of numbers that can be negative without their absolute values")
        found.append(sizes)
    return [Sum(total(each), each) for each in found]

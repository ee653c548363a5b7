"""Public bounds of shared integers: interval arithmetic, and the refusal of what could wrap.

A shared word stands for an integer in (-2**63, 2**63). Every operation works out from the bounds of its
operands where its result can lie, before a message is sent; a result that could leave that range is refused.
Bounds are public, so are the widths of comparisons that follow from them.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

import numpy as np
from numpy.typing import NDArray

from smc.errors import DomainError, UsageError
from smc.forms import Role
from smc.numeric.shapes import of_shape

LIMIT: Final = 1 << 63
"""Held integers and what is computed on the way stay strictly below this in absolute value."""

WORD_BITS: Final = 64


@dataclass(frozen=True, slots=True)
class Bounds:
    """All integers from `lower` to `upper`, both included.

    Attributes:
        lower: the least.
        upper: the largest, not below `lower`.
    """

    lower: int
    upper: int

    def __post_init__(self) -> None:
        if self.lower > self.upper:
            raise UsageError("The lower bound is above the upper bound.", "Exchange the bounds.")

    @classmethod
    def of(cls, given: Bounds | tuple[int, int]) -> Bounds:
        """Bounds, which may be given as two integers.

        Raises:
            UsageError: they are neither, or in the wrong order.
        """
        if isinstance(given, Bounds):
            return given
        if (
            not isinstance(given, tuple)
            or len(given) != 2
            or not all(isinstance(end, int) and not isinstance(end, bool) for end in given)
        ):
            raise UsageError("The bounds are not two integers.", "Give Bounds(0, 100), or (0, 100).")
        return cls(*given)

    def __add__(self, other: Bounds) -> Bounds:
        return Bounds(self.lower + other.lower, self.upper + other.upper)

    def __sub__(self, other: Bounds) -> Bounds:
        return Bounds(self.lower - other.upper, self.upper - other.lower)

    def __neg__(self) -> Bounds:
        return Bounds(-self.upper, -self.lower)

    def __mul__(self, other: Bounds) -> Bounds:
        corners = [a * b for a in (self.lower, self.upper) for b in (other.lower, other.upper)]
        return Bounds(min(corners), max(corners))

    def hull(self, other: Bounds) -> Bounds:
        """The smallest bounds around both."""
        return Bounds(min(self.lower, other.lower), max(self.upper, other.upper))

    def shift(self, bits: int) -> Bounds:
        """Times 2**bits."""
        return Bounds(self.lower << bits, self.upper << bits)

    def sum_of(self, count: int) -> Bounds:
        """Of a sum of `count` such integers."""
        return Bounds(count * self.lower, count * self.upper)

    @property
    def square(self) -> Bounds:
        """Of an integer times itself."""
        crosses = self.lower <= 0 <= self.upper
        ends = (self.lower**2, self.upper**2)
        return Bounds(0 if crosses else min(ends), max(ends))

    @property
    def magnitude(self) -> int:
        """The largest absolute value."""
        return max(abs(self.lower), abs(self.upper))

    @property
    def sign_bits(self) -> int:
        """The least w >= 1 such that all lie in [-2**w, 2**w)."""
        return max(1, self.upper.bit_length(), (~self.lower).bit_length() if self.lower < 0 else 0)

    @property
    def span_bits(self) -> int:
        """Bits of the distance from the lower bound: 0 if there is but one value."""
        return (self.upper - self.lower).bit_length()

    @of_shape(lambda self, values: True)
    def holds(self, values: NDArray[np.int64]) -> bool:
        """Whether all of them lie within."""
        return not values.size or self.contains(int(values.min()), int(values.max()))

    def contains(self, least: int, largest: int) -> bool:
        """Whether both lie within."""
        return self.lower <= least and largest <= self.upper

    def fit(self, operation: str) -> Bounds:
        """These bounds, if no word can wrap.

        Args:
            operation: what the message names.

        Raises:
            DomainError: they reach 2**63 in absolute value.
        """
        if self.magnitude >= LIMIT:
            raise DomainError(
                f"{operation}: by the declared bounds a value could need {self.magnitude.bit_length()} bits "
                f"and a sign; shared words hold 63.",
                "Declare narrower bounds, or truncate the operands first.",
            )
        return self


@dataclass(frozen=True, slots=True)
class Operand:
    """What both parties know of a factor.

    Attributes:
        bounds: of its values.
        owner: the party whose share is the value itself, the other's being zero; None if it is truly shared.
    """

    bounds: Bounds
    owner: Role | None = None

    @property
    def entry_bits(self) -> int:
        """Bits of one party's part of the factor, counted from `offset`."""
        return WORD_BITS if self.owner is None else self.bounds.span_bits

    @property
    def offset(self) -> int:
        """What is subtracted of a part before it is cut into bits."""
        return 0 if self.owner is None else self.bounds.lower


SHARED: Final = Operand(Bounds(1 - LIMIT, LIMIT - 1))
"""A factor that neither party knows."""

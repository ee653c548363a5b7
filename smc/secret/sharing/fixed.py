"""Public numbers in fixed point: integers that count units of 2**-scale."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from smc.errors import DomainError, UsageError
from smc.secret.sharing.bounds import LIMIT, Bounds

MAX_SCALE = 62
"""More fractional bits would leave no room for a whole number."""

PublicInts = int | Sequence[int] | NDArray[np.integer]
"""Public whole numbers."""


def check_scale(scale: int) -> int:
    """The scale, if it is one.

    Raises:
        UsageError: it is not a number of bits from 0 to 62.
    """
    if not 0 <= scale <= MAX_SCALE:
        raise UsageError(
            f"A number cannot have {scale} fractional bits.", f"Use a scale from 0 to {MAX_SCALE}."
        )
    return scale


def held_integers(values: PublicInts) -> NDArray[np.int64]:
    """Integers as an array of 64-bit ones.

    Raises:
        UsageError: they are not integers.
        DomainError: one does not fit 63 bits and a sign.
    """
    array = values if isinstance(values, np.ndarray) else np.asarray(values, dtype=object)
    if array.dtype.kind not in "iuO" or (
        array.dtype.kind == "O" and not all(isinstance(value, int | np.integer) for value in array.flat)
    ):
        raise UsageError(
            "The values are not all integers.",
            "Give Fixed.of(values, 8) with scale=8 and bounds in units of 2**-8, or use SecretReals.",
        )
    if array.size and (int(array.max()) >= LIMIT or int(array.min()) <= -LIMIT):
        raise DomainError("An integer does not fit into 63 bits and a sign.", "Use a smaller scale or unit.")
    return array.astype(np.int64)


@dataclass(frozen=True, slots=True, eq=False)
class Fixed:
    """Public numbers, held * 2**-scale.

    Attributes:
        held: 64-bit integers, any shape that broadcasts.
        scale: fractional bits, 0 to 62.
    """

    held: NDArray[np.int64] = field(repr=False)
    scale: int = 0

    @classmethod
    def of(cls, values: float | Sequence[float] | NDArray[np.floating], scale: int) -> Fixed:
        """The nearest fixed-point numbers, halves to even: off by at most 2**-(scale + 1).

        Raises:
            UsageError: the scale is none.
            DomainError: a number is not finite or does not fit.
        """
        scaled = np.rint(np.ldexp(np.asarray(values, dtype=np.float64), check_scale(scale)))
        if not (np.abs(scaled) < float(LIMIT)).all():
            raise DomainError(
                "A number is not finite, or does not fit into 63 bits and a sign.",
                "Use a smaller scale or unit.",
            )
        return cls(scaled.astype(np.int64), scale)

    @property
    def bounds(self) -> Bounds:
        """Tight bounds of the held integers."""
        return Bounds(int(self.held.min()), int(self.held.max())) if self.held.size else Bounds(0, 0)

    @property
    def words(self) -> NDArray[np.uint64]:
        """The held integers modulo 2**64."""
        return self.held.view(np.uint64)

    def at_scale(self, scale: int, operation: str) -> Fixed:
        """The same numbers at a scale that is no smaller.

        Raises:
            UsageError: the scale is smaller.
            DomainError: a number does not fit it.
        """
        if scale < self.scale:
            raise UsageError(
                f"{operation}: the public operand has {self.scale} fractional bits, the secret one {scale}.",
                "Give the public operand no more fractional bits than the secret one has.",
            )
        self.bounds.shift(scale - self.scale).fit(operation)
        return Fixed(self.held << (scale - self.scale), scale)


def held_at(values: PublicInts | Fixed, scale: int) -> NDArray[np.int64]:
    """The held integers of an input with the stated scale. Raises as `held_integers`, and on other scales."""
    if not isinstance(values, Fixed):
        return held_integers(values)
    if values.scale != scale:
        raise UsageError(
            f"The input has {values.scale} fractional bits, and {scale} are stated.",
            f"State scale={values.scale}, at both parties.",
        )
    return values.held


def as_fixed(values: PublicInts | Fixed) -> Fixed:
    """Public operands: whole numbers have scale 0."""
    return values if isinstance(values, Fixed) else Fixed(held_integers(values))

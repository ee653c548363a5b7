"""Vectors and matrices of integers and fixed-point numbers that neither party sees: shares modulo 2**64."""

from __future__ import annotations

from typing import NoReturn, Self

import numpy as np
from typing_extensions import override

from smc.errors import UsageError
from smc.secret.bits import SecretBits
from smc.secret.division import truncation
from smc.secret.division.division import Division
from smc.secret.linear_ints import LinearInts, Public, check_inner, concatenate, select
from smc.secret.products import words as products
from smc.secret.shares import Word
from smc.secret.sharing.bounds import Bounds
from smc.secret.sharing.fixed import check_scale
from smc.secret.sharing.shapes import check_shapes

__all__ = ["Public", "SecretInts", "concatenate", "select"]


class SecretInts(LinearInts):
    """Shared integers with everything: `LinearInts`, products of secrets, truncation and division.

    Products add the scales of their factors. `x // y` and `x % y` take a positive public integer, `x**n` a
    public exponent; quotients of secrets have to say their digits: `divide`. Times secret bits they are what
    they were where the bit is 1, else 0, in two rounds.
    """

    @override
    def __mul__(self, other: LinearInts | SecretBits | Public) -> Self:
        if isinstance(other, SecretBits):
            return select(other, self, self * 0)
        if not isinstance(other, LinearInts):
            return super().__mul__(other)
        if other is self:
            return self._square()
        check_shapes("multiply", self.shape, other.shape)
        bounds = (self._bounds * other._bounds).fit("multiply")
        left, right = np.broadcast_arrays(self._shares, other._shares)
        product = products.multiply(
            self._session, left.reshape(-1), right.reshape(-1), self.kind, other.kind
        ).reshape(left.shape)
        return self._new(product, bounds, self._common(other), self._scale + other._scale)

    def _square(self) -> Self:
        bounds = self._bounds.square.fit("multiply")
        if self._owner is None:
            square = products.square(self._session, self._shares.reshape(-1)).reshape(self.shape)
        else:
            square = self._shares * self._shares
        return self._with(square, bounds, scale=2 * self._scale)

    @override
    def __matmul__(self, other: LinearInts | Public) -> Self:
        if not isinstance(other, LinearInts):
            return super().__matmul__(other)
        left = self.reshape(1, -1) if self._shares.ndim == 1 else self
        right = other.reshape(-1, 1) if other._shares.ndim == 1 else other
        check_inner(left.shape[1], right.shape[0])
        bounds = (self._bounds * other._bounds).sum_of(left.shape[1]).fit("matrix product")
        product = products.matmul(self._session, left._shares, right._shares, left.kind, right.kind)
        shape = (*self.shape[:-1], *other.shape[1:]) or (1,)
        return self._new(product.reshape(shape), bounds, self._common(other), self._scale + other._scale)

    __rmul__ = __mul__

    def truncate(self, bits: int) -> Self:
        """The held integers divided by 2**bits, rounded down, exactly; the scale stays.

        Raises:
            UsageError: bits is not from 0 to 62.
            DomainError: the bounds leave no room.
        """
        if check_scale(bits) == 0:
            return self
        bounds = truncation.shifted_bounds(self._bounds, bits)
        if self._owner is not None:
            return self._with((self._shares.view(np.int64) >> bits).view(np.uint64), bounds)
        shares = truncation.shift(self._session, self._shares.reshape(-1), self._bounds, bits)
        return self._with(shares.reshape(self.shape), bounds)

    def rescale(self, scale: int) -> Self:
        """The same values with another number of fractional bits.

        More are exact and local; fewer round down, by less than 2**-scale.

        Raises:
            DomainError: the bounds leave no room.
        """
        if scale < self._scale:
            truncated = self.truncate(self._scale - check_scale(scale))
            return truncated._with(truncated.shares, scale=scale)
        bits = check_scale(scale) - self._scale
        bounds = self._bounds.shift(bits).fit("rescale")
        return self._with(self._shares << np.uint64(bits), bounds, scale)

    def __floordiv__(self, divisor: int) -> Self:
        """The held integers divided by a positive public integer, rounded down, exactly; the scale stays."""
        if divisor < 1:
            raise UsageError(
                "divide: the public divisor is not positive.",
                "Give a divisor above 0; for a negative one, negate both operands.",
            )
        if divisor & (divisor - 1) == 0:
            return self.truncate(divisor.bit_length() - 1)
        bounds = truncation.divided_bounds(self._bounds, divisor)
        if self._owner is not None:
            return self._with((self._shares.view(np.int64) // divisor).view(np.uint64), bounds)
        shares = truncation.divide(self._session, self._shares.reshape(-1), self._bounds, divisor)
        return self._with(shares.reshape(self.shape), bounds)

    def __mod__(self, divisor: int) -> Self:
        """What `//` leaves of the held integers: from 0 to divisor - 1, also of negative ones."""
        return (self - (self // divisor) * divisor).with_bounds(Bounds(0, divisor - 1))

    def __pow__(self, exponent: int) -> Self:
        """The values to the power of a public integer from 1 on; scales add up as in products.

        Raises:
            UsageError: the exponent is not a positive integer.
            DomainError: the bounds leave no room.
        """
        if not isinstance(exponent, int) or exponent < 1:
            raise UsageError(
                f"power: the exponent is {exponent!r}.", "Give a public integer from 1 on, such as x ** 2."
            )
        half = self ** (exponent // 2) if exponent > 1 else None
        if half is None:
            return self
        return half * half if exponent % 2 == 0 else half * half * self

    def __abs__(self) -> Self:
        """Without their signs: one comparison and one choice each."""
        if self._bounds.lower >= 0:
            return self
        return select(self >= 0, self, -self).with_bounds(Bounds(0, self._bounds.magnitude))

    def max(self, axis: int = -1) -> Self:
        """The largest along an axis; `maximum` has places, too."""
        return self.maximum(axis)[1]

    def min(self, axis: int = -1) -> Self:
        """The least along an axis; `minimum` has places, too."""
        return self.minimum(axis)[1]

    def mean(self, axis: int | None = None, scale: int = 16) -> Self:
        """Means along an axis, or of all elements, rounded down to so many fractional bits.

        Raises:
            UsageError: there is nothing to average.
            DomainError: the bounds leave no room.
        """
        return self.sum(axis).rescale(scale) // self._count_averaged(axis)

    def var(self, axis: int | None = None, scale: int = 16) -> Self:
        """Variances along an axis, or of all elements, with the divisor n, rounded down to so many bits.

        n times the sum of the squares, less the square of the sum, by n * n.

        Raises:
            UsageError: there is nothing to average.
            DomainError: the bounds leave no room.
        """
        count, total = self._count_averaged(axis), self.sum(axis)
        spread = (self * self).sum(axis) * count - total * total
        return spread.with_bounds(Bounds(0, spread.bounds.magnitude)).rescale(scale) // count**2

    def _count_averaged(self, axis: int | None) -> int:
        """How many elements an average along an axis is over."""
        count = self._shares.size if axis is None else self.shape[axis]
        if not count:
            raise UsageError("There is nothing to average.", "Give at least one element.")
        return count

    def __truediv__(self, divisor: object) -> NoReturn:
        raise UsageError(
            "divide: `/` does not say how many fractional bits the quotient has.",
            "Use x.divide(y, scale) for a secret divisor, x.rescale(scale) // n for a public one, or "
            "duetto.SecretReals.",
        )

    def divide(self, divisor: LinearInts, scale: int, largest: int | None = None) -> Self:
        """Secret divided by secret, rounded towards zero: off by less than 2**-scale.

        Args:
            divisor: its bounds are positive, not zero.
            scale: fractional bits of the quotient; with those of the divisor no fewer than the local ones.
            largest: of the quotients' held integers in absolute value, on the caller's word, where more is
                known of them than the bounds of both say. For a part of one it is 2**scale, and saves two
                thirds of the bytes and four fifths of the rounds.

        Raises:
            UsageError: the scale is too small, or the largest quotient negative.
            DomainError: the divisor could be zero or negative, or the bounds leave no room.
        """
        shift = check_scale(scale) + divisor._scale - self._scale
        if shift < 0:
            raise UsageError(
                "divide: the quotient would have fewer fractional bits than the division leaves.",
                "Ask for a larger scale.",
            )
        if largest is not None and largest < 0:
            raise UsageError(
                "divide: the largest quotient is below 0.", "Give its largest held integer in absolute value."
            )
        check_shapes("divide", self.shape, divisor.shape)
        bounds = self._bounds.shift(shift).fit("divide")
        left, right = np.broadcast_arrays(self._shares << np.uint64(shift), divisor._shares)
        held = Bounds(0, bounds.magnitude)
        way = Division.of(left.size, held, divisor._bounds, largest, divisor._owner)
        most = held.upper // divisor._bounds.lower
        quotients = Bounds(0, most if largest is None else min(most, largest))
        signed = self._with(left, bounds, scale)
        if bounds.lower >= 0:
            return signed._divide(right, way, quotients)
        positive = signed >= 0
        positive_part = select(positive, signed, -signed).with_bounds(held)
        whole = positive_part._divide(right, way, quotients)
        return select(positive, whole, -whole)

    def _divide(self, right: Word, way: Division, quotients: Bounds) -> Self:
        left, words = self._shares.reshape(-1), right.reshape(-1)
        shares = way.run(self._session, left, words).reshape(self.shape)
        return type(self)(self._session, shares, quotients, self._scale)

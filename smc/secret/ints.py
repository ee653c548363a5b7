"""Vectors and matrices of integers and fixed-point numbers that neither party sees: shares modulo 2**64."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray
from typing_extensions import override

from smc.errors import UsageError
from smc.forms import Role
from smc.secret.bits import SecretBits
from smc.secret.comparison import argmin, msb, mux
from smc.secret.division import truncation
from smc.secret.division.division import Division
from smc.secret.products import words as products
from smc.secret.shares import SharedWords, Word
from smc.secret.sharing.bounds import Bounds
from smc.secret.sharing.fixed import Fixed, PublicInts, as_fixed, check_scale
from smc.secret.sharing.shapes import check_shapes

Public = PublicInts | Fixed


class SecretInts(SharedWords):
    """Integers of which each party holds an additive share modulo 2**64.

    A value is `held` * 2**-scale: `held` is the shared integer, `scale` a public number of fractional bits.
    `bounds`, public as well, enclose every held integer; every operation derives those of its result and
    raises DomainError before anything is sent if a word could wrap. The owner of an input checks it against
    the bounds declared for it; beside that only what is opened is checked against its bounds.

    `owner` names a party that knows all held integers, because they are its input or a local function of it:
    its shares are the integers, the peer's are zero. Operations use that to send less; what is opened
    shows no more for it, since a recipient can compute the peer's share from the result and its own share.

    Operators broadcast as numpy does. A public operand is an integer, an array of them, or `Fixed`; integers
    are whole numbers, whatever the scale of the secret operand. Two secret operands of `+`, `-` and
    comparisons have the same scale; products add their scales. Both parties call the same operations in the
    same order.

    Make them with `from_both`, `from_plain`, `from_shares` or `from_bits`.
    """

    __hash__ = None  # type: ignore[assignment]

    @classmethod
    def from_bits(cls, bits: SecretBits) -> SecretInts:
        """Secret bits as the integers 0 and 1; two rounds, 12 bytes each."""
        counted = bits.session.oblivious.bits_to_arithmetic(bits.shares.reshape(-1))
        return cls(bits.session, counted.reshape(bits.shape), Bounds(0, 1))

    def __neg__(self) -> SecretInts:
        return self._with(np.negative(self._shares), -self._bounds)

    def __add__(self, other: SecretInts | Public) -> SecretInts:
        shares, bounds, owner = self._aligned(other, "add")
        return self._owned(self._shares + shares, (self._bounds + bounds).fit("add"), owner, self._scale)

    def __sub__(self, other: SecretInts | Public) -> SecretInts:
        shares, bounds, owner = self._aligned(other, "subtract")
        return self._owned(self._shares - shares, (self._bounds - bounds).fit("subtract"), owner, self._scale)

    def __rsub__(self, other: Public) -> SecretInts:
        return -self + other

    def __mul__(self, other: SecretInts | Public) -> SecretInts:
        if not isinstance(other, SecretInts):
            factor = as_fixed(other)
            check_shapes("multiply", self.shape, factor.held.shape)
            bounds = (self._bounds * factor.bounds).fit("multiply")
            return self._with(self._shares * factor.words, bounds, scale=self._scale + factor.scale)
        if other is self:
            return self._squared()
        check_shapes("multiply", self.shape, other.shape)
        bounds = (self._bounds * other._bounds).fit("multiply")
        left, right = np.broadcast_arrays(self._shares, other._shares)
        product = products.multiply(
            self._session, left.reshape(-1), right.reshape(-1), self.kind, other.kind
        ).reshape(left.shape)
        return self._owned(product, bounds, self._common(other), self._scale + other._scale)

    def _squared(self) -> SecretInts:
        bounds = self._bounds.square.fit("multiply")
        if self._owner is None:
            square = products.square(self._session, self._shares.reshape(-1)).reshape(self.shape)
        else:
            square = self._shares * self._shares
        return self._with(square, bounds, scale=2 * self._scale)

    def __matmul__(self, other: SecretInts | Public) -> SecretInts:
        if not isinstance(other, SecretInts):
            factor = as_fixed(other)
            return self.T.__rmatmul__(Fixed(factor.held.T, factor.scale)).T
        left = self.reshape(1, -1) if self._shares.ndim == 1 else self
        right = other.reshape(-1, 1) if other._shares.ndim == 1 else other
        _check_inner(left.shape[1], right.shape[0])
        bounds = (self._bounds * other._bounds).summed(left.shape[1]).fit("matrix product")
        product = products.matmul(self._session, left._shares, right._shares, left.kind, right.kind)
        shape = (*self.shape[:-1], *other.shape[1:]) or (1,)
        return self._owned(product.reshape(shape), bounds, self._common(other), self._scale + other._scale)

    def __rmatmul__(self, other: Public) -> SecretInts:
        factor = as_fixed(other)
        if factor.held.ndim not in (1, 2):
            raise UsageError(
                "matrix product: the other operand is a single number.", "Use * with single numbers."
            )
        _check_inner(factor.held.shape[-1], self.shape[0])
        bounds = _weighed(self._bounds, factor.held).fit("matrix product")
        product = np.atleast_1d(factor.words @ self._shares)
        return self._with(product, bounds, scale=self._scale + factor.scale)

    __radd__ = __add__
    __rmul__ = __mul__

    def __ge__(self, other: SecretInts | Public) -> SecretBits:
        return self._difference(other)._nonnegative()

    def __le__(self, other: SecretInts | Public) -> SecretBits:
        return (-self._difference(other))._nonnegative()

    def __lt__(self, other: SecretInts | Public) -> SecretBits:
        return ~(self >= other)

    def __gt__(self, other: SecretInts | Public) -> SecretBits:
        return ~(self <= other)

    @override
    def __eq__(self, other: SecretInts | Public) -> SecretBits:  # type: ignore[override]
        difference = self._difference(other)
        if difference._owner is not None:
            return difference._local_bits(difference._shares == 0)
        shares = msb.zero(self._session, difference._shares.reshape(-1), difference._bounds)
        return SecretBits(self._session, shares.reshape(difference.shape))

    @override
    def __ne__(self, other: SecretInts | Public) -> SecretBits:  # type: ignore[override]
        return ~(self == other)

    def sum(self, axis: int | None = None) -> SecretInts:
        """Sums along an axis, or of all elements; one-dimensional, local.

        Raises:
            DomainError: by the bounds a sum could wrap.
        """
        count = self._shares.size if axis is None else self.shape[axis]
        total = np.atleast_1d(self._shares.sum(axis=axis, dtype=np.uint64))
        return self._with(total, self._bounds.summed(count).fit("sum"))

    def truncate(self, bits: int) -> SecretInts:
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

    def rescale(self, scale: int) -> SecretInts:
        """The same values with another number of fractional bits.

        More are exact and local; fewer round down, by less than 2**-scale.

        Raises:
            DomainError: the bounds leave no room.
        """
        if scale < self._scale:
            truncated = self.truncate(self._scale - check_scale(scale))
            return truncated._with(truncated.shares, scale=scale)
        bits = check_scale(scale) - self._scale
        bounds = self._bounds.shifted(bits).fit("rescale")
        return self._with(self._shares << np.uint64(bits), bounds, scale)

    def __floordiv__(self, divisor: int) -> SecretInts:
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

    def divide(self, divisor: SecretInts, scale: int) -> SecretInts:
        """Secret divided by secret, rounded towards zero: off by less than 2**-scale.

        Args:
            divisor: its bounds are positive, not zero.
            scale: fractional bits of the quotient; with those of the divisor no fewer than the local ones.

        Raises:
            UsageError: the scale is too small.
            DomainError: the divisor could be zero or negative, or the bounds leave no room.
        """
        shift = check_scale(scale) + divisor._scale - self._scale
        if shift < 0:
            raise UsageError(
                "divide: the quotient would have fewer fractional bits than the division leaves.",
                "Ask for a larger scale.",
            )
        check_shapes("divide", self.shape, divisor.shape)
        bounds = self._bounds.shifted(shift).fit("divide")
        left, right = np.broadcast_arrays(self._shares << np.uint64(shift), divisor._shares)
        way = Division.of(left.size, Bounds(0, bounds.magnitude), divisor._bounds, owner=divisor._owner)
        signed = self._with(left, bounds, scale)
        if bounds.lower >= 0:
            return signed._divided(right, way, divisor)
        positive = signed >= 0
        positive_part = select(positive, signed, -signed).bounded(Bounds(0, bounds.magnitude))
        whole = positive_part._divided(right, way, divisor)
        return select(positive, whole, -whole)

    def _divided(self, right: Word, way: Division, divisor: SecretInts) -> SecretInts:
        left, words = self._shares.reshape(-1), right.reshape(-1)
        shares = way.run(self._session, left, words).reshape(self.shape)
        largest = self._bounds.upper // divisor._bounds.lower
        return SecretInts(self._session, shares, Bounds(0, largest), self._scale)

    def argmin(self, axis: int = -1) -> SecretInts:
        """Where the least of each row along the axis stands, the first one of equals."""
        return self.minimum(axis)[0]

    def argmax(self, axis: int = -1) -> SecretInts:
        """Where the largest of each row along the axis stands, the first one of equals."""
        return self.maximum(axis)[0]

    def maximum(self, axis: int = -1) -> tuple[SecretInts, SecretInts]:
        """As `minimum`, of the largest."""
        places, values = (-self).minimum(axis)
        return places, -values

    def minimum(self, axis: int = -1) -> tuple[SecretInts, SecretInts]:
        """Places and values of the least along an axis, the first one of equals; one-dimensional.

        Raises:
            UsageError: there is nothing to choose from.
            DomainError: the distance of the bounds does not fit a word.
        """
        rows = np.atleast_2d(np.moveaxis(self._shares, axis, -1))
        if not rows.shape[1]:
            raise UsageError(
                "argmin: there is nothing to choose from.", "Give every row at least one element."
            )
        (self._bounds - self._bounds).fit("argmin")
        if self._owner is None:
            places, values = argmin.least(self._session, rows, self._bounds)
        else:
            found = np.argmin(rows.view(np.int64), axis=1)
            places, values = found.astype(np.uint64), rows[np.arange(len(rows)), found]
        return self._with(places, Bounds(0, rows.shape[1] - 1), scale=0), self._with(values)

    def _nonnegative(self) -> SecretBits:
        if self._owner is not None:
            return self._local_bits(self._shares.view(np.int64) >= 0)
        shares = msb.nonnegative(self._session, self._shares.reshape(-1), self._bounds)
        return SecretBits(self._session, shares.reshape(self.shape))

    def _local_bits(self, own: NDArray[np.bool_]) -> SecretBits:
        """Bits that the owner knows, from what comes out at its side."""
        return SecretBits(self._session, (own & (self._session.role is self._owner)).astype(np.uint8))

    def _difference(self, other: SecretInts | Public) -> SecretInts:
        shares, bounds, owner = self._aligned(other, "compare")
        return self._owned(self._shares - shares, (self._bounds - bounds).fit("compare"), owner, self._scale)

    def _aligned(self, other: SecretInts | Public, operation: str) -> tuple[Word, Bounds, Role | None]:
        """Local shares of the other operand at the local scale, its bounds, and who owns what comes out."""
        if isinstance(other, SecretInts):
            if other._scale != self._scale:
                raise UsageError(
                    f"{operation}: the operands have {self._scale} and {other._scale} fractional bits.",
                    "Rescale one of them.",
                )
            check_shapes(operation, self.shape, other.shape)
            return other._shares, other._bounds, self._common(other)
        public = as_fixed(other).at_scale(self._scale, operation)
        check_shapes(operation, self.shape, public.held.shape)
        adds = self._session.role is (self._owner or Role.ALICE)
        return public.words if adds else np.zeros_like(public.words), public.bounds, self._owner

    def _common(self, other: SecretInts) -> Role | None:
        return self._owner if self._owner is other._owner else None

    def _owned(self, shares: Word, bounds: Bounds, owner: Role | None, scale: int) -> SecretInts:
        return SecretInts(self._session, shares, bounds, scale, owner)


def select(bits: SecretBits, first: SecretInts, second: SecretInts) -> SecretInts:
    """`first` where the bit is 1, else `second`; element by element, broadcasting as numpy does.

    Two rounds and 24 bytes per element, or 12 if both belong to one party.

    Raises:
        UsageError: the two have different scales.
    """
    shares, bounds, owner = first._aligned(second, "select")
    check_shapes("select", bits.shape, first.shape, second.shape)
    difference, chosen = np.broadcast_arrays(first.shares - shares, bits.shares)
    gated = mux.select(bits.session, chosen.reshape(-1), difference.reshape(-1), owner)
    result = second.shares + gated.reshape(difference.shape)
    return SecretInts(bits.session, result, first.bounds.hull(bounds), first.scale)


def concatenate(parts: Sequence[SecretInts], axis: int = 0) -> SecretInts:
    """Parts of one scale joined along an axis; local.

    Raises:
        UsageError: there is no part, or the scales differ.
    """
    if len({part.scale for part in parts}) != 1:
        raise UsageError(
            "concatenate: the parts have different scales, or there is none.",
            "Give at least one part, and rescale all to one scale.",
        )
    bounds = parts[0].bounds
    for part in parts[1:]:
        bounds = bounds.hull(part.bounds)
    owners = {part.owner for part in parts}
    owner = parts[0].owner if len(owners) == 1 else None
    shares = np.concatenate([part.shares for part in parts], axis=axis)
    return SecretInts(parts[0].session, shares, bounds, parts[0].scale, owner)


def _check_inner(left: int, right: int) -> None:
    if left != right:
        raise UsageError(
            f"matrix product: the left operand has {left} columns, but the right one has {right} rows.",
            "Give both the same number, for instance by transposing one of them.",
        )


def _weighed(bounds: Bounds, weights: NDArray[np.int64]) -> Bounds:
    """Of sums of integers times the weights of each row."""
    rows = np.atleast_2d(weights).astype(object)
    plus, minus = np.maximum(rows, 0).sum(axis=1), np.minimum(rows, 0).sum(axis=1)
    lowest = plus * bounds.lower + minus * bounds.upper
    highest = plus * bounds.upper + minus * bounds.lower
    return Bounds(min(map(int, lowest), default=0), max(map(int, highest), default=0))

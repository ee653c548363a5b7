"""Sums, public factors, comparisons and least values of integers that neither party sees.

This is what releases, noise and matching compute with. It is part of the core (docs/core.md), and so has no
product of two secrets, no truncation and no division: `smc.secret.ints` adds those.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Self, TypeVar

import numpy as np
from numpy.typing import NDArray
from typing_extensions import override

from smc.errors import UsageError
from smc.forms import Role
from smc.secret.bits import SecretBits
from smc.secret.comparison import argmin, msb, mux
from smc.secret.shares import SharedWords, Word
from smc.secret.sharing.bounds import Bounds
from smc.secret.sharing.fixed import Fixed, PublicInts, as_fixed
from smc.secret.sharing.shapes import check_shapes

Public = PublicInts | Fixed


class LinearInts(SharedWords):
    """Integers of which each party holds an additive share modulo 2**64, and what needs no product of them.

    A value is `held` * 2**-scale: `held` is the shared integer, `scale` a public number of fractional bits.
    `bounds`, public as well, enclose every held integer; every operation derives those of its result and
    raises DomainError before anything is sent if a word could wrap. The owner of an input checks it against
    the bounds declared for it; beside that only what is opened is checked against its bounds.

    `owner` names a party that knows all held integers, because they are its input or a local function of it:
    its shares are the integers, the peer's are zero. Operations use that to send less; what is opened
    shows no more for it, since a recipient can compute the peer's share from the result and its own share.

    Operators broadcast as numpy does. A public operand is an integer, an array of them, or `Fixed`; integers
    are whole numbers, whatever the scale of the secret operand. Two secret operands of `+`, `-` and
    comparisons have the same scale. Both parties call the same operations in the same order.

    Make them with `from_both`, `from_plain`, `from_shares` or `from_bits`.
    """

    __hash__ = None  # type: ignore[assignment]

    @classmethod
    def from_bits(cls, bits: SecretBits) -> Self:
        """Secret bits as the integers 0 and 1; two rounds, 12 bytes each."""
        counted = bits.session.oblivious.bits_to_arithmetic(bits.shares.reshape(-1))
        return cls(bits.session, counted.reshape(bits.shape), Bounds(0, 1))

    def __neg__(self) -> Self:
        return self._with(np.negative(self._shares), -self._bounds)

    def __add__(self, other: LinearInts | Public) -> Self:
        shares, bounds, owner = self._align(other, "add")
        return self._new(self._shares + shares, (self._bounds + bounds).fit("add"), owner, self._scale)

    def __sub__(self, other: LinearInts | Public) -> Self:
        shares, bounds, owner = self._align(other, "subtract")
        return self._new(self._shares - shares, (self._bounds - bounds).fit("subtract"), owner, self._scale)

    def __rsub__(self, other: Public) -> Self:
        return -self + other

    def __mul__(self, other: Public) -> Self:
        factor = as_fixed(other)
        check_shapes("multiply", self.shape, factor.held.shape)
        bounds = (self._bounds * factor.bounds).fit("multiply")
        return self._with(self._shares * factor.words, bounds, scale=self._scale + factor.scale)

    def __matmul__(self, other: Public) -> Self:
        factor = as_fixed(other)
        return self.T.__rmatmul__(Fixed(factor.held.T, factor.scale)).T

    def __rmatmul__(self, other: Public) -> Self:
        factor = as_fixed(other)
        if factor.held.ndim not in (1, 2):
            raise UsageError(
                "matrix product: the other operand is a single number.", "Use * with single numbers."
            )
        check_inner(factor.held.shape[-1], self.shape[0])
        bounds = _weigh(self._bounds, factor.held).fit("matrix product")
        product = np.atleast_1d(factor.words @ self._shares)
        return self._with(product, bounds, scale=self._scale + factor.scale)

    __radd__ = __add__
    __rmul__ = __mul__

    def __ge__(self, other: LinearInts | Public) -> SecretBits:
        return self._difference(other)._nonnegative()

    def __le__(self, other: LinearInts | Public) -> SecretBits:
        return (-self._difference(other))._nonnegative()

    def __lt__(self, other: LinearInts | Public) -> SecretBits:
        return ~(self >= other)

    def __gt__(self, other: LinearInts | Public) -> SecretBits:
        return ~(self <= other)

    @override
    def __eq__(self, other: LinearInts | Public) -> SecretBits:  # type: ignore[override]
        difference = self._difference(other)
        if difference._owner is not None:
            return difference._local_bits(difference._shares == 0)
        shares = msb.zero(self._session, difference._shares.reshape(-1), difference._bounds)
        return SecretBits(self._session, shares.reshape(difference.shape))

    @override
    def __ne__(self, other: LinearInts | Public) -> SecretBits:  # type: ignore[override]
        return ~(self == other)

    def sum(self, axis: int | None = None) -> Self:
        """Sums along an axis, or of all elements; one-dimensional, local.

        Raises:
            DomainError: by the bounds a sum could wrap.
        """
        count = self._shares.size if axis is None else self.shape[axis]
        total = np.atleast_1d(self._shares.sum(axis=axis, dtype=np.uint64))
        return self._with(total, self._bounds.sum_of(count).fit("sum"))

    def argmin(self, axis: int = -1) -> Self:
        """Where the least of each row along the axis stands, the first one of equals."""
        return self.minimum(axis)[0]

    def argmax(self, axis: int = -1) -> Self:
        """Where the largest of each row along the axis stands, the first one of equals."""
        return self.maximum(axis)[0]

    def maximum(self, axis: int = -1) -> tuple[Self, Self]:
        """As `minimum`, of the largest."""
        places, values = (-self).minimum(axis)
        return places, -values

    def minimum(self, axis: int = -1) -> tuple[Self, Self]:
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

    def _difference(self, other: LinearInts | Public) -> Self:
        shares, bounds, owner = self._align(other, "compare")
        return self._new(self._shares - shares, (self._bounds - bounds).fit("compare"), owner, self._scale)

    def _align(self, other: LinearInts | Public, operation: str) -> tuple[Word, Bounds, Role | None]:
        """Local shares of the other operand at the local scale, its bounds, and who owns what comes out."""
        if isinstance(other, LinearInts):
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

    def _common(self, other: LinearInts) -> Role | None:
        return self._owner if self._owner is other._owner else None

    def _new(self, shares: Word, bounds: Bounds, owner: Role | None, scale: int) -> Self:
        return type(self)(self._session, shares, bounds, scale, owner)


Ints = TypeVar("Ints", bound=LinearInts)


def select(bits: SecretBits, first: Ints, second: Ints) -> Ints:
    """`first` where the bit is 1, else `second`; element by element, broadcasting as numpy does.

    Two rounds and 24 bytes per element, or 12 if both belong to one party.

    Raises:
        UsageError: the two have different scales.
    """
    shares, bounds, owner = first._align(second, "select")
    check_shapes("select", bits.shape, first.shape, second.shape)
    difference, chosen = np.broadcast_arrays(first.shares - shares, bits.shares)
    gated = mux.select(bits.session, chosen.reshape(-1), difference.reshape(-1), owner)
    result = second.shares + gated.reshape(difference.shape)
    return type(first)(bits.session, result, first.bounds.hull(bounds), first.scale)


def concatenate(parts: Sequence[Ints], axis: int = 0) -> Ints:
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
    return type(parts[0])(parts[0].session, shares, bounds, parts[0].scale, owner)


def check_inner(left: int, right: int) -> None:
    """Check that the inner sides of a matrix product are equal.

    Raises:
        UsageError: they are not.
    """
    if left != right:
        raise UsageError(
            f"matrix product: the left operand has {left} columns, but the right one has {right} rows.",
            "Give both the same number, for instance by transposing one of them.",
        )


def _weigh(bounds: Bounds, weights: NDArray[np.int64]) -> Bounds:
    """Of sums of integers times the weights of each row."""
    rows = np.atleast_2d(weights).astype(object)
    plus, minus = np.maximum(rows, 0).sum(axis=1), np.minimum(rows, 0).sum(axis=1)
    lowest = plus * bounds.lower + minus * bounds.upper
    highest = plus * bounds.upper + minus * bounds.lower
    return Bounds(min(map(int, lowest), default=0), max(map(int, highest), default=0))

"""Vectors and matrices of numbers with fractions that neither party sees, each with a range."""

from __future__ import annotations

from collections.abc import Sequence
from collections.abc import Set as AbstractSet
from fractions import Fraction
from math import ceil, floor
from typing import Any, Self

import numpy as np
from typing_extensions import override

from smc.errors import DomainError
from smc.forms import Role
from smc.numeric.shapes import contiguous
from smc.protocols.session import Session
from smc.secret.bits import BOTH, SecretBits
from smc.secret.ints import Public, SecretInts, concatenate, select
from smc.secret.reals.reciprocals import reciprocal_of
from smc.secret.reals.scans import prefix_products, round_to
from smc.secret.reals.statements import Floats, Sealed, Statement, Statements, join_statements, seal
from smc.secret.sharing.bounds import Bounds
from smc.secret.sharing.fixed import Fixed, as_fixed
from smc.secret.sharing.truth import NoTruth

Number = int | float | Fraction
"""An end of a range; exact."""


class SecretReals(NoTruth):
    """Numbers of which each party holds a share: `SecretInts` whose scales and ranges look after themselves.

    Each has a public number of fractional bits, `scale`, and a range from `lower` to `upper`, which follows
    from the ranges of what it was computed of. Sums align scales. Products of two have the larger scale of
    both, rounded to the nearest, exactly. Where more is known of a number than follows, say so at the number:

    - `known` for what holds by mathematics, whatever the data are: a part of a whole is at most 1;
    - `within` for what data can break: it is tested in secret when a figure opens that follows from it. If it
      does not hold, no figure opens: one bit does, to the recipients, who get `OutsideRange`.

    A product that might not fit a word is refused before anything is sent. Public operands are whole numbers,
    arrays of them, or `Fixed`. Operators broadcast as numpy does; both parties call the same operations in
    the same order.

    Args:
        ints: shares, bounds and scale.
        statements: that have to hold for the numbers to mean something.
    """

    __array_ufunc__ = None
    __hash__ = None  # type: ignore[assignment]

    def __init__(self, ints: SecretInts, statements: Statements = ()) -> None:
        self._ints = ints
        self._statements = statements

    @classmethod
    def from_plain(
        cls,
        session: Session,
        values: Floats | Sequence[float] | None,
        owner: Role,
        lower: Number,
        upper: Number,
        shape: int | tuple[int, ...],
        scale: int,
    ) -> Self:
        """The input of one party, rounded to the nearest; nothing is sent.

        Args:
            session: this side of the run.
            values: at their owner, None at the peer.
            owner: whose input it is.
            lower: of the values.
            upper: of the values.
            shape: public; one or two dimensions.
            scale: fractional bits.

        Raises:
            UsageError: values on the wrong side, or of another shape than declared.
            DomainError: a value lies outside its range, or the range does not fit a word.
        """
        held = None if values is None else Fixed.of(np.asarray(values, dtype=np.float64), scale).held
        return cls(
            SecretInts.from_plain(session, held, owner, _held_bounds(lower, upper, scale), shape, scale)
        )

    @classmethod
    def sum_of_both(
        cls, session: Session, values: Floats | Sequence[float], lower: Number, upper: Number, scale: int
    ) -> Self:
        """The sum of what both parties have, such as of their tables; nothing is sent.

        Args:
            session: this side of the run.
            values: of this party, one or two dimensions; the peer's have the same shape.
            lower: of the values of either party.
            upper: of the values of either party.
            scale: fractional bits.

        Raises:
            DomainError: a value lies outside its range, or the range does not fit a word.
        """
        fixed = Fixed.of(np.asarray(values, dtype=np.float64), scale)
        own = SecretInts.from_plain(
            session, fixed.held, session.role, _held_bounds(lower, upper, scale), fixed.held.shape, scale
        )
        return cls(SecretInts.from_shares(session, own.shares, own.bounds + own.bounds, scale))

    @property
    def ints(self) -> SecretInts:
        """The held integers; what is computed of them knows nothing of what was stated."""
        return self._ints

    @property
    def statements(self) -> Statements:
        """What has to hold for the numbers to mean something."""
        return self._statements

    @property
    def session(self) -> Session:
        """This side of the run."""
        return self._ints.session

    @property
    def scale(self) -> int:
        """Fractional bits."""
        return self._ints.scale

    @property
    def lower(self) -> Fraction:
        """No number is below this."""
        return Fraction(self._ints.bounds.lower, 1 << self.scale)

    @property
    def upper(self) -> Fraction:
        """No number is above this."""
        return Fraction(self._ints.bounds.upper, 1 << self.scale)

    @property
    def shape(self) -> tuple[int, ...]:
        """Public."""
        return self._ints.shape

    def __len__(self) -> int:
        return len(self._ints)

    @override
    def __repr__(self) -> str:
        ends = f"{float(self.lower):g} to {float(self.upper):g}"
        return f"SecretReals(shape={self.shape}, {ends}, scale={self.scale})"

    @property
    def T(self) -> Self:  # noqa: N802 - as numpy says it
        """Transposed."""
        return self._as(self._ints.T)

    def __getitem__(self, index: Any) -> Self:
        """Elements at public places, as numpy picks them; at least one-dimensional."""
        return self._as(self._ints[index])

    def reshape(self, *shape: int) -> Self:
        """The same numbers in another shape."""
        return self._as(self._ints.reshape(*shape))

    def within(self, lower: Number, upper: Number) -> Self:
        """The same numbers, stated to lie within a range; data decide whether they do.

        Nothing is sent now. When something that follows opens, all statements are tested in one batch.

        Raises:
            DomainError: by what is known of them no number can lie within.
        """
        derived = self._ints.bounds
        stated = _intersect(derived, _held_bounds(lower, upper, self.scale))
        if stated == derived:
            return self
        statement = Statement(self._ints, stated)
        return type(self)(self._ints.with_bounds(stated), join_statements(self._statements, (statement,)))

    def known(self, lower: Number, upper: Number) -> Self:
        """The same numbers, of which the caller knows that they lie within a range, whatever the data are.

        Raises:
            DomainError: by what is known of them no number can lie within.
        """
        return self._as(
            self._ints.with_bounds(_intersect(self._ints.bounds, _held_bounds(lower, upper, self.scale)))
        )

    def given(self, *others: SecretReals) -> Self:
        """The same numbers, which mean something only if all that was stated of others holds, too."""
        return type(self)(
            self._ints, join_statements(self._statements, *(other._statements for other in others))
        )

    def rescale(self, scale: int) -> Self:
        """The same numbers with another number of fractional bits, rounded to the nearest, exactly.

        Raises:
            DomainError: the range leaves no room.
        """
        return self._as(round_to(self._ints, scale))

    def __neg__(self) -> Self:
        return self._as(-self._ints)

    def __add__(self, other: SecretReals | Public) -> Self:
        left, right = self._align(other)
        return self._from(left + right, other)

    def __sub__(self, other: SecretReals | Public) -> Self:
        left, right = self._align(other)
        return self._from(left - right, other)

    def __rsub__(self, other: Public) -> Self:
        return -self + other

    def __mul__(self, other: SecretReals | Public) -> Self:
        factor = _factor(other)
        product = self._ints * factor
        return self._from(round_to(product, max(self.scale, factor.scale)), other)

    def __matmul__(self, other: SecretReals | Public) -> Self:
        factor = _factor(other)
        product = self._ints @ factor
        return self._from(round_to(product, max(self.scale, factor.scale)), other)

    def __rmatmul__(self, other: Public) -> Self:
        factor = as_fixed(other)
        return self._as(round_to(factor @ self._ints, max(self.scale, factor.scale)))

    __radd__ = __add__
    __rmul__ = __mul__

    def sum(self, axis: int | None = None, *, known: tuple[Number, Number] | None = None) -> Self:
        """Sums along an axis, or of all; one-dimensional, local.

        Args:
            axis: along which; None for all.
            known: what the sums lie within, on the caller's word as with `known`, where less follows from
                the ranges of the summands: each may be large, and all together no larger.

        Raises:
            DomainError: a sum could wrap.
        """
        if known is None:
            return self._as(self._ints.sum(axis))
        shares = self._ints.shares
        found = np.add.reduce(shares.reshape(-1) if axis is None else shares, axis=axis or 0, dtype=np.uint64)
        bounds = _held_bounds(*known, self.scale).fit("sum")
        held = SecretInts.from_shares(self.session, contiguous(found).reshape(-1), bounds, self.scale)
        return self._as(held)

    def cumsum(self, axis: int = -1, *, reverse: bool = False, at: Sequence[int] | None = None) -> Self:
        """Sums up to each place along an axis, that place included; local.

        Args:
            axis: along which.
            reverse: sum from each place to the end instead.
            at: the places whose sums are wanted; None for all.

        Raises:
            DomainError: by the ranges a sum could wrap.
        """
        shares = np.moveaxis(self._ints.shares, axis, -1)
        sums = np.add.accumulate(shares[..., ::-1] if reverse else shares, axis=-1, dtype=np.uint64)
        sums = sums[..., ::-1] if reverse else sums
        found = contiguous(np.moveaxis(sums if at is None else sums[..., list(at)], -1, axis))
        bounds = self._ints.bounds.hull(self._ints.bounds.sum_of(shares.shape[-1])).fit("cumsum")
        return self._as(SecretInts(self.session, found, bounds, self.scale, self._ints.owner))

    def cumprod(self, axis: int = -1, *, at: Sequence[int] | None = None) -> Self:
        """Products up to each place along an axis, that place included.

        First the products between two wanted places, level by level, then those of all up to each: 8 or 9
        rounds for each level, of which there are log2 of the longest block and log2 of the number of places.

        Args:
            axis: along which.
            at: the ascending places whose products are wanted; None for all.

        Raises:
            UsageError: the places are not ascending.
            DomainError: a number could lie outside -1 to 1, so that products might not fit.
        """
        if max(-self.lower, self.upper) > 1:
            raise DomainError(
                "cumprod: by its range a factor could lie outside -1 to 1.", "State its range with `within`."
            )
        rows = self._ints if axis % len(self.shape) == len(self.shape) - 1 else self._ints.T
        products = prefix_products(rows.reshape(-1, rows.shape[-1]), at)
        found = products.reshape(*rows.shape[:-1], products.shape[1])
        return self._as(found if rows is self._ints else found.T)

    def or_one(self) -> Self:
        """The numbers, and 1 in the place of 0: what a quotient is divided by; a test of each.

        Raises:
            DomainError: a number could be negative.
        """
        if self._ints.bounds.lower < 0:
            raise DomainError(
                "or_one: by its range a number could be negative.", "State its range with `within`."
            )
        if self._ints.bounds.lower > 0:
            return self
        one = 1 << self.scale
        zeros = SecretInts.from_bits(self._ints == 0)
        zeros = SecretInts(self.session, zeros.shares, zeros.bounds)
        found = self._ints + zeros.rescale(self.scale)
        return self._as(found.with_bounds(Bounds(1, max(one, self._ints.bounds.upper))))

    def over(self, divisor: SecretReals, bits: int, largest: Number = 1) -> Self:
        """Quotients, rounded towards zero.

        Args:
            divisor: positive by its range; `or_one` makes it so.
            bits: fractional bits of the quotients.
            largest: of the quotients in absolute value, on the caller's word as with `known`: a part of a
                whole is at most 1. The nearer, the cheaper.

        Raises:
            UsageError: the divisor and the quotients have fewer fractional bits than what is divided.
            DomainError: the divisor could be zero or negative, or the ranges leave no room.
        """
        quotients = self._ints.divide(divisor._ints, bits, ceil(Fraction(largest) * (1 << bits)))
        return self._from(quotients, divisor)

    def reciprocal(self, bits: int) -> Self:
        """One divided by counts, off by what `smc.secret.reals.reciprocals` says.

        With 44 bits that is less than a part of 2**-15, and mostly one of a million.

        Args:
            bits: fractional bits.

        Raises:
            UsageError: the numbers have fractional bits.
            DomainError: a number could be zero or negative, or is too large.
        """
        return self._as(reciprocal_of(self._ints, bits))

    def select(self, bits: SecretBits, other: SecretReals) -> Self:
        """These numbers where the bit is 1, else the others; at the larger scale of both."""
        scale = max(self.scale, other.scale)
        return self._from(select(bits, self._ints.rescale(scale), other._ints.rescale(scale)), other)

    def seal(self, *others: SecretReals) -> Sealed:
        """This figure and others in one vector to be opened, with the bit that says whether they hold.

        The statements of all of them are tested here.
        """
        figures = (self, *others)
        statements = join_statements(*(figure._statements for figure in figures))
        return seal(self.session, [figure._ints for figure in figures], statements)

    def reveal(self, recipients: AbstractSet[Role] = BOTH) -> Floats | None:
        """Open the numbers to the recipients, and to nobody else.

        Args:
            recipients: who learns them; the same on both sides.

        Returns:
            The numbers in their shape; None for a party that is not a recipient.

        Raises:
            OutsideRange: what was stated does not hold for the data; at the recipients, who learn no more.
            ProtocolViolation: the peer sent something else than the protocol says.
        """
        sealed = self.seal()
        found = sealed.read(sealed.ints.reveal(recipients))
        return None if found is None else found[0]

    def _as(self, ints: SecretInts) -> Self:
        return type(self)(ints, self._statements)

    def _from(self, ints: SecretInts, other: SecretReals | Public) -> Self:
        more = other._statements if isinstance(other, SecretReals) else ()
        return type(self)(ints, join_statements(self._statements, more))

    def _align(self, other: SecretReals | Public) -> tuple[SecretInts, SecretInts | Fixed]:
        """Both operands at the larger scale of both."""
        operand = _factor(other)
        scale = max(self.scale, operand.scale)
        left = self._ints.rescale(scale)
        return left, operand.rescale(scale) if isinstance(operand, SecretInts) else operand


def join(parts: Sequence[SecretReals], axis: int = 0) -> SecretReals:
    """Parts joined along an axis, at the largest scale of all; local."""
    scale = max(part.scale for part in parts)
    ints = concatenate([part.ints.rescale(scale) for part in parts], axis=axis)
    return SecretReals(ints, join_statements(*(part.statements for part in parts)))


def _factor(other: SecretReals | Public) -> SecretInts | Fixed:
    return other.ints if isinstance(other, SecretReals) else as_fixed(other)


def _held_bounds(lower: Number, upper: Number, scale: int) -> Bounds:
    """The least bounds of held integers around a range."""
    return Bounds(floor(Fraction(lower) * (1 << scale)), ceil(Fraction(upper) * (1 << scale)))


def _intersect(derived: Bounds, stated: Bounds) -> Bounds:
    """What lies within both.

    Raises:
        DomainError: nothing does.
    """
    lower, upper = max(derived.lower, stated.lower), min(derived.upper, stated.upper)
    if lower > upper:
        raise DomainError(
            "By what is known of the numbers none can lie within the stated range.", "Correct the range."
        )
    return Bounds(lower, upper)

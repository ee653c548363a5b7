"""What shared integers are, before anything is computed on them: shares, bounds, scale and owner."""

from __future__ import annotations

from typing import Any, Self

import numpy as np
from numpy.typing import NDArray
from typing_extensions import override

from smc.errors import DomainError, ProtocolViolation, UsageError
from smc.forms import Role
from smc.numeric.shapes import of_shape
from smc.protocols.exchange.row_counts import exchange_counts
from smc.protocols.session import Session
from smc.secret.bits import BOTH
from smc.secret.sharing import opening
from smc.secret.sharing.bounds import Bounds, Operand
from smc.secret.sharing.fixed import Fixed, PublicInts, check_scale, held_at
from smc.secret.sharing.truth import NoTruth

Word = NDArray[np.uint64]


class SharedWords(NoTruth):
    """Held integers with what is public of them; `smc.secret.ints.SecretInts` computes on them.

    Args:
        session: this side of the run.
        shares: local additive shares modulo 2**64, one- or two-dimensional.
        bounds: public; of the held integers.
        scale: fractional bits.
        owner: the party whose shares are the held integers, the other's being zero; None if neither.

    Raises:
        UsageError: the shares are of another type or shape, or the scale is none.
        DomainError: the bounds do not fit a word.
    """

    __array_ufunc__ = None

    def __init__(
        self, session: Session, shares: Word, bounds: Bounds, scale: int = 0, owner: Role | None = None
    ) -> None:
        if shares.dtype != np.uint64 or shares.ndim not in (1, 2):
            raise UsageError(
                "The shares are not a uint64 array with one or two dimensions.",
                "Make secret integers with secret_ints, or convert the shares.",
            )
        self._session = session
        self._shares = shares
        self._bounds = bounds.fit("share")
        self._scale = check_scale(scale)
        self._owner = owner

    @classmethod
    def from_plain(
        cls,
        session: Session,
        values: PublicInts | Fixed | None,
        owner: Role,
        bounds: Bounds | tuple[int, int],
        shape: int | tuple[int, ...],
        scale: int = 0,
    ) -> Self:
        """The input of one party; nothing is sent.

        Args:
            session: this side of the run.
            values: the held integers at their owner, or fixed-point numbers of that scale; None at the peer.
            owner: whose input it is.
            bounds: public; of the held integers.
            shape: public; of the values, one or two dimensions.
            scale: fractional bits.

        Raises:
            UsageError: values on the wrong side, or of another type or shape than declared.
            DomainError: a value lies outside the bounds, or the bounds do not fit a word.
        """
        bounds = Bounds.of(bounds)
        wanted = (shape,) if isinstance(shape, int) else shape
        if (values is None) is (session.role is owner):
            raise UsageError(
                "Either both parties gave values, or none of them did.",
                "Give the values at their owner, and None at the other party.",
            )
        held = np.zeros(wanted, dtype=np.int64) if values is None else held_at(values, scale)
        if held.shape != wanted:
            raise UsageError(
                f"The input has shape {held.shape} instead of {wanted}.", "Declare the shape that it has."
            )
        if values is not None and not bounds.holds(held):
            raise DomainError(
                "An input lies outside its declared bounds.", "Declare wider bounds, or correct the data."
            )
        return cls(session, held.view(np.uint64), bounds, scale, owner)

    @classmethod
    def from_both(
        cls, session: Session, values: PublicInts | Fixed, bounds: Bounds | tuple[int, int], scale: int = 0
    ) -> tuple[Self, Self]:
        """The inputs of both parties, which are of one shape and within the same bounds.

        The shapes are exchanged, in one round of 12 bytes each way; of the values nothing is sent.

        Args:
            session: this side of the run.
            values: the held integers of this party, or fixed-point numbers with that scale, one or two
                dimensions; the peer's have the same shape.
            bounds: public; of the held integers of both.
            scale: fractional bits.

        Returns:
            Alice's integers and Bob's.

        Raises:
            UsageError: the values are not integers, or have no dimension or more than two.
            DomainError: a value lies outside the bounds, the bounds do not fit a word, or the two inputs have
                different shapes, which both sides find.
        """
        bounds, held = Bounds.of(bounds), held_at(values, scale)
        if held.ndim not in (1, 2):
            raise UsageError(
                f"An input has {held.ndim} dimensions; it takes one or two.", "Give a list of integers."
            )
        peer = exchange_counts(session, [held.ndim, held.shape[0], held.shape[-1]])
        if peer != [held.ndim, held.shape[0], held.shape[-1]]:
            theirs = tuple(map(int, peer[1 : 1 + peer[0]]))
            raise DomainError(
                f"This side's input has the shape {held.shape}, the peer's {theirs}.",
                "Bring as many values on both sides.",
            )
        alice, bob = (
            cls.from_plain(session, held if owner is session.role else None, owner, bounds, held.shape, scale)
            for owner in Role
        )
        return alice, bob

    @classmethod
    def from_shares(cls, session: Session, shares: Word, bounds: Bounds, scale: int = 0) -> Self:
        """Shares that another protocol made.

        Args:
            session: this side of the run.
            shares: local additive shares modulo 2**64, negative integers wrapped, shape (n,) or (n, m).
            bounds: public; of the held integers, on the caller's word.
            scale: fractional bits.

        Raises:
            UsageError: the shares are of another type or shape.
            DomainError: the bounds do not fit a word.
        """
        return cls(session, shares, bounds, scale)

    @property
    def session(self) -> Session:
        """This side of the run."""
        return self._session

    @property
    def shares(self) -> Word:
        """The local shares."""
        return self._shares

    @property
    def bounds(self) -> Bounds:
        """Of the held integers."""
        return self._bounds

    @property
    def scale(self) -> int:
        """Fractional bits."""
        return self._scale

    @property
    def owner(self) -> Role | None:
        """The party whose shares are the held integers, the other's being zero; None if neither."""
        return self._owner

    @property
    def kind(self) -> Operand:
        """What the cost functions of `smc.secret.products.words` want to know."""
        return Operand(self._bounds, self._owner)

    @property
    def shape(self) -> tuple[int, ...]:
        """Public."""
        return self._shares.shape

    def __len__(self) -> int:
        return len(self._shares)

    @override
    def __repr__(self) -> str:
        return f"{type(self).__name__}(shape={self.shape}, bounds={self._bounds}, scale={self._scale})"

    @property
    def T(self) -> Self:  # noqa: N802 - as numpy says it
        """Transposed."""
        return self._with(self._shares.T)

    def __getitem__(self, index: Any) -> Self:
        """Elements at public places, as numpy picks them; at least one-dimensional."""
        return self._with(np.atleast_1d(self._shares[index]))

    def reshape(self, *shape: int) -> Self:
        """The same integers in another shape."""
        return self._with(self._shares.reshape(shape))

    def with_bounds(self, bounds: Bounds) -> Self:
        """The same integers with bounds that the caller vouches for."""
        return self._with(self._shares, bounds)

    def reveal(self, recipients: opening.Recipients = BOTH) -> NDArray[np.int64] | None:
        """Open the held integers to the recipients, and to nobody else; one flight.

        Args:
            recipients: who learns them; the same on both sides.

        Returns:
            The held integers in their shape, to be multiplied by 2**-scale; None for a party that is
            not a recipient.

        Raises:
            ProtocolViolation: the peer sent something else than the protocol says, or what came out lies
                outside the bounds.
        """
        opened = opening.open_words(self._session, self._shares.reshape(-1), opening.roles_of(recipients))
        if opened is None:
            return None
        return _within(opened.view(np.int64).reshape(self.shape), self._bounds)

    def _with(self, shares: Word, bounds: Bounds | None = None, scale: int | None = None) -> Self:
        """Other shares that belong to the same owner; bounds and scale are kept unless given."""
        return type(self)(
            self._session,
            shares,
            self._bounds if bounds is None else bounds,
            self._scale if scale is None else scale,
            self._owner,
        )


@of_shape(lambda held, bounds: np.broadcast_to(np.int64(max(bounds.lower, min(0, bounds.upper))), held.shape))
def _within(held: NDArray[np.int64], bounds: Bounds) -> NDArray[np.int64]:
    """Opened integers.

    Raises:
        ProtocolViolation: one lies outside the bounds.
    """
    if not bounds.holds(held):
        raise ProtocolViolation("reveal: an opened integer lies outside its declared bounds.")
    return held

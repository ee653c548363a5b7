"""Vectors and matrices of bits that neither party sees: XOR shares."""

from __future__ import annotations

from typing import Any, Final

import numpy as np
from numpy.typing import NDArray
from typing_extensions import override

from smc.errors import UsageError
from smc.forms import Role
from smc.protocols.session import Session
from smc.secret.comparison.msb import public_bits
from smc.secret.sharing import opening
from smc.secret.sharing.shapes import check_shapes
from smc.secret.sharing.truth import NoTruth

Bit = NDArray[np.uint8]
PublicBits = bool | NDArray[np.bool_]

BOTH: Final = frozenset(Role)


class SecretBits(NoTruth):
    """Bits of which each party holds an XOR share.

    `&`, `|`, `^` and `~` work element by element, with other secret bits or with public ones (a bool or an
    array of them), and broadcast as numpy does. `^`, `~` and what has a public operand are local; the others
    take two rounds and 8.5 bytes per bit. Both parties call the same operations in the same order. There is
    no `if` on secret bits: `smc.secret.ints.select` takes one of two values by them.

    Args:
        session: this side of the run.
        shares: local shares, zeros and ones as uint8, one- or two-dimensional.

    Raises:
        UsageError: the shares are of another type or shape.
    """

    __array_ufunc__ = None
    __hash__ = None  # type: ignore[assignment]

    def __init__(self, session: Session, shares: Bit) -> None:
        if shares.dtype != np.uint8 or shares.ndim not in (1, 2) or (shares > 1).any():
            raise UsageError(
                "The shares of bits are not a uint8 array of zeros and ones with one or two dimensions.",
                "Make secret bits by comparing secret integers.",
            )
        self._session = session
        self._shares = shares

    @property
    def session(self) -> Session:
        """This side of the run."""
        return self._session

    @property
    def shares(self) -> Bit:
        """The local XOR shares."""
        return self._shares

    @property
    def shape(self) -> tuple[int, ...]:
        """Public."""
        return self._shares.shape

    def __len__(self) -> int:
        return len(self._shares)

    @override
    def __repr__(self) -> str:
        return f"SecretBits(shape={self.shape})"

    def __getitem__(self, index: Any) -> SecretBits:
        """Elements at public places, as numpy picks them; at least one-dimensional."""
        return SecretBits(self._session, np.atleast_1d(self._shares[index]))

    def reshape(self, *shape: int) -> SecretBits:
        """The same bits in another shape."""
        return SecretBits(self._session, self._shares.reshape(shape))

    def __invert__(self) -> SecretBits:
        flip = np.ones_like(self._shares)
        return SecretBits(self._session, self._shares ^ public_bits(self._session, flip))

    def __xor__(self, other: SecretBits | PublicBits) -> SecretBits:
        check_shapes("^", self.shape, _shape(other))
        if isinstance(other, SecretBits):
            return SecretBits(self._session, self._shares ^ other._shares)
        flip = np.broadcast_to(_public(other), np.broadcast_shapes(self.shape, np.shape(other)))
        return SecretBits(self._session, self._shares ^ public_bits(self._session, flip))

    def __and__(self, other: SecretBits | PublicBits) -> SecretBits:
        check_shapes("&", self.shape, _shape(other))
        if not isinstance(other, SecretBits):
            return SecretBits(self._session, self._shares & _public(other))
        left, right = np.broadcast_arrays(self._shares, other._shares)
        product = self._session.oblivious.and_bits(left.reshape(-1), right.reshape(-1))
        return SecretBits(self._session, product.reshape(left.shape))

    def __or__(self, other: SecretBits | PublicBits) -> SecretBits:
        return ~(~self & (~other if isinstance(other, SecretBits) else _public(other) == 0))

    __rxor__ = __xor__
    __rand__ = __and__
    __ror__ = __or__

    def reveal(self, recipients: opening.Recipients = BOTH) -> NDArray[np.bool_] | None:
        """Open the bits to the recipients, and to nobody else; one flight.

        Args:
            recipients: who learns them; the same on both sides.

        Returns:
            The bits in their shape, or None for a party that is not a recipient.

        Raises:
            ProtocolViolation: the peer sent something else than the protocol says.
        """
        opened = opening.open_bits(self._session, self._shares.reshape(-1), opening.roles_of(recipients))
        return None if opened is None else opened.astype(np.bool_).reshape(self.shape)


def _shape(bits: SecretBits | PublicBits) -> tuple[int, ...]:
    return bits.shape if isinstance(bits, SecretBits) else np.shape(bits)


def _public(bits: PublicBits) -> Bit:
    array = np.asarray(bits)
    if array.dtype != np.bool_:
        raise UsageError(
            "The public operand of secret bits is not made of bits.", "Use True, False or an array of bool."
        )
    return array.astype(np.uint8)

"""An order of rows that one party knows, or neither, and columns that are brought into it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Final, TypeVar

import numpy as np

from smc.errors import UsageError
from smc.forms import Role
from smc.protocols.session import Session
from smc.secret.linear_ints import LinearInts
from smc.secret.orders import permutation, sorting
from smc.secret.orders.benes import Index

Ints = TypeVar("Ints", bound=LinearInts)


@dataclass(frozen=True, slots=True)
class _Move:
    """Row k becomes row order[k].

    Attributes:
        owner: who knows the order; None if it is public.
        order: None at the party that does not know it.
    """

    owner: Role | None
    order: Index | None = field(repr=False)

    @property
    def inverse(self) -> _Move:
        return _Move(self.owner, None if self.order is None else np.argsort(self.order))


class Order:
    """An order of rows, in which columns can be brought, and back.

    That of keys which one party knows is known to that party, and sorting costs nothing. That of keys which
    neither knows is known to neither: `Order.of` opens nothing but an order that both parties have shuffled
    before, which is random whatever the keys are. Equal keys keep their order.

    Columns move through a network of switches that does not show where. All that are given at once go the
    same way, so that each further one costs a word a switch. What a party knows itself it moves alone, for
    nothing, where the order is its own.

    Args:
        session: this side of the run.
        size: rows.
        moves: one after the other.
    """

    def __init__(self, session: Session, size: int, moves: Sequence[_Move]) -> None:
        self._session: Final = session
        self._size: Final = size
        self._moves: Final = tuple(moves)

    @classmethod
    def of(cls, keys: LinearInts) -> Order:
        """The order of keys, the least first.

        Args:
            keys: shape (n,); of several columns make one, such as year * 12 + month.

        Raises:
            UsageError: the keys have two dimensions.
            DomainError: by their bounds, keys that neither party knows are too long; nothing was sent.
            ProtocolViolation: the peer sent something else than the protocol says.
        """
        if len(keys.shape) != 1:
            raise UsageError(
                f"Keys have one dimension, not the shape {keys.shape}.",
                "Make one number of several columns, or give one of them.",
            )
        session, owner = keys.session, keys.owner
        if owner is not None:
            held = keys.shares.view(np.int64)
            return cls.of_owner(
                session,
                owner,
                np.argsort(held, kind="stable") if session.role is owner else None,
                len(keys),
            )
        found = sorting.sort(session, keys.shares, keys.bounds)
        shuffles = [_Move(role, found.shuffle if session.role is role else None) for role in Role]
        return cls(session, len(keys), [*shuffles, _Move(None, found.order)])

    @classmethod
    def of_owner(cls, session: Session, owner: Role, order: Index | None, size: int) -> Order:
        """An order that one party makes as it likes.

        Args:
            session: this side of the run.
            owner: who knows it.
            order: at the owner a permutation of range(size): row k becomes row order[k]; None at the other.
            size: rows, public.

        Raises:
            UsageError: the order is on the wrong side, or of another length.
        """
        if (order is None) is (session.role is owner) or (order is not None and order.shape != (size,)):
            raise UsageError(
                "The order is on the wrong side, or has not as many places as there are rows.",
                "Give it at its owner, one number for each row, and None at the other party.",
            )
        return cls(session, size, [_Move(owner, order)])

    def __len__(self) -> int:
        return self._size

    def apply(self, *columns: Ints) -> tuple[Ints, ...]:
        """Bring columns into this order; they keep their bounds and scales.

        Args:
            columns: one number a row each, or several: shape (n,) or (n, m).

        Returns:
            The columns, row k of each being that of the k-th key.

        Raises:
            UsageError: a column has another number of rows, or the order is no permutation.
            ProtocolViolation: the peer sent something else than the protocol says.
        """
        return self._move_columns(columns, self._moves)

    def back(self, *columns: Ints) -> tuple[Ints, ...]:
        """Bring columns from this order to where rows were before, such as ranks to those who have them.

        Args:
            columns: as of `apply`.

        Raises:
            UsageError: a column has another number of rows, or the order is no permutation.
            ProtocolViolation: the peer sent something else than the protocol says.
        """
        return self._move_columns(columns, [move.inverse for move in reversed(self._moves)])

    def _move_columns(self, columns: tuple[Ints, ...], moves: Sequence[_Move]) -> tuple[Ints, ...]:
        for column in columns:
            if len(column) != self._size:
                raise UsageError(
                    f"A column has {len(column)} rows, and the order {self._size}.", "Give one of each row."
                )
        found = list(columns)
        for move in moves:
            found = self._step(found, move)
        return tuple(found)

    def _step(self, columns: list[Ints], move: _Move) -> list[Ints]:
        if move.owner is None:
            return [column[move.order] for column in columns]
        alone = [column.owner is move.owner for column in columns]
        network = [column for column, own in zip(columns, alone, strict=True) if not own]
        moved = iter(self._through(network, move))
        # At the party that does not know the order its shares of what the other one knows are zero anywhere.
        return [
            (column if move.order is None else column[move.order]) if own else next(moved)
            for column, own in zip(columns, alone, strict=True)
        ]

    def _through(self, columns: list[Ints], move: _Move) -> list[Ints]:
        """Columns that the owner of the order does not know."""
        if not columns or move.owner is None or self._size < 2:
            return columns
        rows = np.concatenate([column.shares.reshape(self._size, -1) for column in columns], axis=1)
        rows = permutation.permute(self._session, rows, move.owner, move.order)
        widths = np.cumsum([column.shares.size // self._size for column in columns])[:-1]
        parts = np.split(rows, widths, axis=1)
        return [
            type(column).from_shares(
                self._session, np.ascontiguousarray(part).reshape(column.shape), column.bounds, column.scale
            )
            for column, part in zip(columns, parts, strict=True)
        ]

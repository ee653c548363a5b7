"""Rows of numbers that are used many times: X b, X' r and X' diag(w) X, where nobody knows a whole row.

    Alice (own columns, share of the shared ones)         Bob (own columns, share of the shared ones)
      X = M_A E_A + M_B E_B     M of a party: its own columns and its shares of the shared ones
      X b       == each party's M, in digits, times secret b ==          modulo a period, for a function
      X' r      == rows of each party's M times the other's r, encrypted ==
      X' w X    == rows w M of each party times the other's M, encrypted once,
                   and rows of products of two columns times the other's w ==

Shares of rows that do not change are a matrix that a party knows. So nothing is multiplied row by row: a
product with a secret vector is one of a party's matrix and the other's share, by lattice encryption.

Entries of own columns are whole numbers at a public scale. Shared columns are shared modulo 2**64, so that
sums over rows are exact whatever a share is. Rows that are not to count have a 0 in r and w; what the columns
hold there does not matter.

Assumes: `smc.secret.lattice.columns`, `smc.secret.lattice.factors`.
Reference: as there; fixed shares as a matrix of each side: duetto.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from itertools import combinations_with_replacement, zip_longest
from typing import Final

import numpy as np
from numpy.typing import NDArray

from smc.errors import DomainError, UsageError
from smc.forms import Role
from smc.numeric.shapes import contiguous
from smc.protocols.session import Session
from smc.secret.ints import SecretInts
from smc.secret.lattice.columns import (
    ColumnsLayout,
    HeldColumns,
    PeerInner,
    columns_layout,
    exchange_columns,
)
from smc.secret.lattice.factors import LatticeFactors, LatticePlan
from smc.secret.products.repeated import FactorShape, RepeatedFactors
from smc.secret.reals.functions import Angles
from smc.secret.reals.reals import SecretReals
from smc.secret.sharing.bounds import WORD_BITS, Bounds

Word = NDArray[np.uint64]
Ints = NDArray[np.int64]

_DIGIT_BITS: Final = 11
_SIZE: Final = 1 << (WORD_BITS - 1)
"""Of integers modulo 2**64, counted from the middle."""


@dataclass(frozen=True, slots=True)
class RowsLayout:
    """What is public of rows.

    Attributes:
        rows: n.
        alice: columns that Alice knows.
        bob: columns that Bob knows.
        shared: columns that neither knows.
        scale: fractional bits of all entries, which are at most 1 in size.
        times: how often rows are multiplied in all, at most: that is what results are exact for.
    """

    rows: int
    alice: int
    bob: int
    shared: int
    scale: int
    times: int

    @property
    def size(self) -> int:
        """p, columns in all: Alice's, Bob's, then the shared ones."""
        return self.alice + self.bob + self.shared

    def places(self, role: Role) -> list[int]:
        """The columns of X that a party's matrix has a part of."""
        first = range(self.alice) if role is Role.ALICE else range(self.alice, self.alice + self.bob)
        return [*first, *range(self.alice + self.bob, self.size)]

    def count_owned(self, role: Role) -> int:
        """How many of these it knows."""
        return self.alice if role is Role.ALICE else self.bob

    def digits(self, width: int) -> list[int]:
        """Bits of the digits that shares modulo 2**width are cut into."""
        count = -(-width // _DIGIT_BITS)
        return [width // count + (place < width % count) for place in range(count)]

    def factor(self, role: Role, width: int) -> FactorShape:
        """Of a party's matrix in digits."""
        cut = [bits for bits in self.digits(width) for _ in range(self.shared)]
        return FactorShape(self.rows, (self.scale + 2,) * self.count_owned(role) + tuple(cut))

    def columns_layout(self, columns: int, rows: int) -> ColumnsLayout:
        """Of columns of words that a party's rows of words are multiplied by.

        Raises:
            DomainError: no lattice is exact for so many rows.
        """
        found = columns_layout(self.rows, columns, _SIZE, rows * self.times, WORD_BITS)
        if found is None:
            raise DomainError(f"No lattice is exact for products over {self.rows} rows.", "Use fewer rows.")
        return found


class FixedRows:
    """Rows of numbers from -1 to 1.

    Args:
        session: this side of the run.
        layout: public.
        own: the local columns as integers at the layout's scale, shape (n, owned).
        shared: local shares modulo 2**64 of the shared columns, likewise, shape (n, shared); None where there
            are none.

    Raises:
        UsageError: the shapes are not those of the layout, or a party would have no column at all.
        DomainError: an own entry is larger than 1, or there are too many rows.
    """

    def __init__(self, session: Session, layout: RowsLayout, own: Ints, shared: Word | None = None) -> None:
        owned = layout.count_owned(session.role)
        if shared is None:
            shared = np.zeros((layout.rows, layout.shared), dtype=np.uint64, like=own)
        if own.shape != (layout.rows, owned) or shared.shape != (layout.rows, layout.shared):
            raise UsageError(
                f"The columns have the shapes {own.shape} and {shared.shape}, and their layout is for "
                f"{layout.rows} rows of {owned} and {layout.shared}.",
                "Make the layout for the columns.",
            )
        if not all(layout.places(role) for role in Role):
            raise UsageError("A party has no column and no share of one.", "Share a column.")
        one = 1 << layout.scale
        if not Bounds(-one, one).holds(own):
            raise DomainError("An entry is larger than 1.", "Scale the columns to -1 to 1.")
        self.session, self.layout = session, layout
        self._own, self._shared = own, shared
        self._matrix = contiguous(np.concatenate([own.view(np.uint64), shared], axis=1).T)
        self._factors: dict[int, LatticeFactors | RepeatedFactors] = {}
        self._columns: _Exchanged | None = None

    def first(self, count: int) -> FixedRows:
        """The first rows, as rows of their own; local."""
        layout = replace(self.layout, rows=count)
        return FixedRows(self.session, layout, self._own[:count], self._shared[:count])

    def predictor(self, coefficients: SecretReals, period: int) -> Angles:
        """X b modulo a period; 2 rounds and about 32 bytes a row.

        Args:
            coefficients: b, shape (p,).
            period: a power of two.
        """
        width = self.layout.scale + coefficients.scale + period.bit_length() - 1
        words = coefficients.ints.shares
        own, peer = (
            self._in_digits(role, words, width)[:, None]
            for role in (self.session.role, self.session.role.other)
        )
        mine, theirs = self._lattice(width).times(own, peer, width)
        lifted = words[: self.layout.alice + self.layout.bob].sum(dtype=np.uint64)
        total = (mine + theirs)[:, 0] - (lifted << np.uint64(self.layout.scale + 1))
        return Angles(self.session, total, width, period, coefficients.statements)

    def transposed(self, values: SecretReals) -> SecretReals:
        """X' r, exact; 2 rounds, about 50 bytes a row and 0.1 MB a column.

        Args:
            values: r, shape (n,).

        Returns:
            Shape (p,).

        Raises:
            DomainError: by the range of r a sum could wrap.
        """
        words = values.ints.shares
        session, layout = self.session, self.layout
        found = self._send(words[:, None], 1).products(
            lambda part: self._matrix[part].view(np.int64), len(self._matrix), self._peer_columns
        )
        result = np.zeros(layout.size, dtype=np.uint64)
        own, peer = (layout.places(role) for role in (session.role, session.role.other))
        np.add.at(result, own, found[0][:, 0] + self._matrix @ words)
        np.add.at(result, peer, found[1][:, 0])
        bounds = values.ints.bounds.hull(-values.ints.bounds).shift(layout.scale).sum_of(layout.rows)
        scale = layout.scale + values.scale
        return SecretReals(
            SecretInts.from_shares(session, result, bounds.fit("sum over rows"), scale), values.statements
        )

    def gram(self, weights: SecretReals) -> SecretReals:
        """X' diag(w) X, exact; 2 rounds, about 50 bytes a row and 0.1 MB for each pair of columns.

        Args:
            weights: w, shape (n,).

        Returns:
            Shape (p, p), symmetric.

        Raises:
            DomainError: by the range of w a sum could wrap.
        """
        session, layout, words = self.session, self.layout, weights.ints.shares
        own, peer = (layout.places(role) for role in (session.role, session.role.other))
        weighed = self._matrix * words
        crossed = self._exchange().products(
            lambda part: weighed[part].view(np.int64), len(own), self._peer_columns
        )
        pairs = list(combinations_with_replacement(range(len(own)), 2))
        peer_pairs = list(combinations_with_replacement(range(len(peer)), 2))

        def products(part: slice) -> Ints:
            left, right = np.array(pairs[part]).T
            found: Ints = (self._matrix[left] * self._matrix[right]).view(np.int64)
            return found

        squares = self._send(words[:, None], 1).products(products, len(pairs), len(peer_pairs))
        result = np.zeros((layout.size, layout.size), dtype=np.uint64)
        np.add.at(result, np.ix_(own, own), weighed @ self._matrix.T + _symmetric(squares[0][:, 0], pairs))
        np.add.at(result, np.ix_(peer, peer), _symmetric(squares[1][:, 0], peer_pairs))
        for rows, columns, part in ((own, peer, crossed[0]), (peer, own, crossed[1])):
            np.add.at(result, np.ix_(rows, columns), part)
            np.add.at(result, np.ix_(columns, rows), part.T)
        most = max(weights.ints.bounds.magnitude << (2 * layout.scale), 1) * layout.rows
        bounds = Bounds(-most, most).fit("sum over rows")
        scale = 2 * layout.scale + weights.scale
        return SecretReals(SecretInts.from_shares(session, result, bounds, scale), weights.statements)

    def between(self, weights: SecretReals, columns: OwnedColumns) -> SecretReals:
        """X' diag(w) Z, exact; 6 rounds, about 75 bytes a row and 0.1 MB for each pair of columns.

        Args:
            weights: w, shape (n,).
            columns: Z.

        Returns:
            Shape (p, q).

        Raises:
            DomainError: by the range of w a sum could wrap.
        """
        session, layout, words = self.session, self.layout, weights.ints.shares
        owner, count = columns.owner, columns.count
        places, others = layout.places(owner), layout.places(owner.other)
        matrix, z = self._matrix, columns.values
        weighed = matrix * words
        mine = session.role is owner

        def weighed_z(part: slice) -> Ints:
            found: Ints = (contiguous(z.T[part]).view(np.uint64) * words).view(np.int64)
            return found

        def pairs(part: slice) -> Ints:
            left, right = np.divmod(np.arange(part.start, part.stop), count)
            found: Ints = (matrix[left] * contiguous(z.T[right]).view(np.uint64)).view(np.int64)
            return found

        crossed = self._exchange().one_way(weighed_z if mine else None, count)
        sent = layout.columns_layout(1, len(places) * count)
        products = _OneWay(session, owner.other, sent, words[:, None]).products(pairs, len(places) * count)
        peers = columns.encrypt(layout, len(others)).products(
            lambda part: weighed[part].view(np.int64), len(others)
        )
        result = np.zeros((layout.size, count), dtype=np.uint64)
        if mine:
            np.add.at(result, places, weighed @ z.view(np.uint64))
        np.add.at(result, places, products.reshape(len(places), count))
        np.add.at(result, others, crossed.T + peers)
        scale = layout.scale + columns.scale
        most = max(weights.ints.bounds.magnitude << scale, 1) * layout.rows
        bounds = Bounds(-most, most).fit("sum over rows")
        ints = SecretInts.from_shares(session, result, bounds, scale + weights.scale)
        return SecretReals(ints, weights.statements)

    def _exchange(self) -> _Exchanged:
        """The columns of both parties at the other one."""
        if self._columns is None:
            self._columns = self._send(contiguous(self._matrix.T), self._peer_columns)
        return self._columns

    @property
    def _peer_columns(self) -> int:
        return len(self.layout.places(self.session.role.other))

    def _lattice(self, width: int) -> LatticeFactors | RepeatedFactors:
        """The local matrix in digits, made once for each width."""
        if width not in self._factors:
            role, layout = self.session.role, self.layout
            mine, theirs = layout.factor(role, width), layout.factor(role.other, width)
            lifted = (self._own + (1 << (layout.scale + 1))).view(np.uint64)
            cut, at = [lifted], 0
            for bits in layout.digits(width):
                cut.append(self._shared >> np.uint64(at) & np.uint64((1 << bits) - 1))
                at += bits
            own = np.concatenate(cut, axis=1)
            alice, bob = (layout.factor(each, width) for each in Role)
            plan = LatticePlan.of(alice, bob, (1, 1), width, layout.times)
            self._factors[width] = (
                RepeatedFactors(self.session, own, mine, theirs)
                if plan is None
                else LatticeFactors(self.session, plan, own, mine, theirs)
            )
        return self._factors[width]

    def _in_digits(self, role: Role, words: Word, width: int) -> Word:
        """What a party's matrix in digits is multiplied by: b by its columns, and for each digit."""
        layout = self.layout
        places, at = layout.places(role), 0
        shared = words[layout.alice + layout.bob :]
        parts = [words[places[: layout.count_owned(role)]]]
        for bits in layout.digits(width):
            parts.append(shared << np.uint64(at))
            at += bits
        return np.concatenate(parts)

    def _send(self, columns: Word, peers: int) -> _Exchanged:
        """Encrypt local columns for the peer, and take its, so many."""
        layout, own = self.layout, len(self._matrix)
        most = max(own, self._peer_columns)
        rows = most * (most + 1) // 2
        mine, theirs = layout.columns_layout(columns.shape[1], rows), layout.columns_layout(peers, rows)
        held, inner = exchange_columns(self.session, (mine, columns), theirs)
        return _Exchanged(held, inner, mine, theirs)


@dataclass(frozen=True, slots=True)
class _Exchanged:
    """Columns of both parties, encrypted at the other one.

    Attributes:
        held: the local ones.
        inner: the peer's.
        mine: the layout of the local ones.
        theirs: of the peer's.
    """

    held: HeldColumns
    inner: PeerInner
    mine: ColumnsLayout
    theirs: ColumnsLayout

    def products(self, rows: Callable[[slice], Ints], count: int, peers: int) -> tuple[Word, Word]:
        """This side's rows times the peer's columns, and the peer's rows times this side's columns.

        Args:
            rows: gives some of this side's rows.
            count: of these.
            peers: of the peer's.
        """
        own, peer = [], []
        for outgoing, incoming in zip_longest(self.theirs.batches(count), self.mine.batches(peers)):
            if outgoing:
                own.append(self.inner.send(rows(outgoing)))
            if incoming:
                peer.append(self.held.receive(incoming.stop - incoming.start))
        return np.concatenate(own), np.concatenate(peer)

    def one_way(self, rows: Callable[[slice], Ints] | None, count: int) -> Word:
        """One party's rows times the other's columns.

        Args:
            rows: gives some of them; None at the other party.
            count: of these.
        """
        if rows is None:
            return self.held.times(count)
        return np.concatenate([self.inner.send(rows(part)) for part in self.theirs.batches(count)])


class _OneWay:
    """Columns of one party, encrypted at the other one.

    Args:
        session: this side of the run.
        holder: whose they are.
        layout: public.
        columns: at the holder, shape (n, k); of no meaning elsewhere.
    """

    def __init__(self, session: Session, holder: Role, layout: ColumnsLayout, columns: Word) -> None:
        self._layout = layout
        self._side: HeldColumns | PeerInner
        if session.role is holder:
            self._side = HeldColumns(session, layout, columns)
            for group in layout.groups():
                self._side.send(group)
        else:
            self._side = PeerInner(session, layout)
            for group in layout.groups():
                self._side.take(group)

    def products(self, rows: Callable[[slice], Ints], count: int) -> Word:
        """Rows of the other party times the columns, shape (count, k).

        Args:
            rows: gives some of them; called at the other party alone.
            count: of rows.
        """
        if isinstance(self._side, HeldColumns):
            return self._side.times(count)
        return np.concatenate([self._side.send(rows(part)) for part in self._layout.batches(count)])


class OwnedColumns:
    """Columns of numbers from -1 to 1 that one party knows.

    Args:
        session: this side of the run.
        owner: who.
        values: at the owner integers at the scale, shape (n, q); at the other party anything of that shape.
        scale: fractional bits.
    """

    def __init__(self, session: Session, owner: Role, values: Ints, scale: int) -> None:
        self.session, self.owner, self.values, self.scale = session, owner, values, scale
        self._sent: _OneWay | None = None

    @property
    def count(self) -> int:
        """Columns."""
        return int(self.values.shape[1])

    def first(self, count: int) -> OwnedColumns:
        """The first rows; local."""
        return OwnedColumns(self.session, self.owner, self.values[:count], self.scale)

    def encrypt(self, layout: RowsLayout, rows: int) -> _OneWay:
        """The columns at the other party, sent once; for so many rows at a time of those of the layout."""
        if self._sent is None:
            sent = layout.columns_layout(self.count, rows)
            self._sent = _OneWay(self.session, self.owner, sent, contiguous(self.values).view(np.uint64))
        return self._sent


def _symmetric(values: Word, pairs: list[tuple[int, int]]) -> Word:
    """A symmetric matrix by its entries on and above the diagonal."""
    size = pairs[-1][0] + 1
    result = np.zeros((size, size), dtype=np.uint64)
    left, right = np.array(pairs).T
    result[left, right] = values
    result[right, left] = values
    return result

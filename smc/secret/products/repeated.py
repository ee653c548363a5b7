"""Matrices of whole numbers, one of each party, that are multiplied by secret matrices again and again.

    chooser (matrix X, bits x_ib of its entries)             sender (own share V of the other factor)
      once:        choices x_ib          -- matrices -->     rows q_ib, offset D
                   rows q_ib + x_ib D
      each time:                         <-- corrections --  c_ib = G(q_ib) - G(q_ib + D) + V_i
                   s_ib = G(q_ib + x_ib D) + x_ib c_ib       s'_ib = -G(q_ib)
      shares of X V modulo 2**w: the sums over i and b of 2**b s_ib and of 2**b s'_ib

The chooser's bits are the same each time, so the transfers are made once and only their expansion G is drawn
afresh, under a new key. Of c_ib only the low w - b bits matter, and whole bytes of them are sent. Both
directions, Alice's matrix and Bob's, run at once. Where the rows would take more memory than `KEPT_TRANSFERS`
allow, they are made anew each time.

Inputs: a matrix of whole numbers at each party; each time shares modulo 2**64 of a factor for each of them.
Outputs: each time shares modulo 2**w of both products.
Learns: neither party anything; every correction is masked by what the chooser did not choose.
Assumes: `smc.oblivious`, `smc.secret.sharing.masks`.
Cost: `cost`.
Reference: Gilboa, CRYPTO 1999, section 4; Mohassel and Zhang, SecureML, IEEE S&P 2017, section IV, who reuse
one masked data matrix in all rounds of a training.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache, lru_cache
from itertools import zip_longest
from typing import Final

import numpy as np
from numpy.typing import NDArray

from smc.errors import UsageError
from smc.forms import Role
from smc.numeric.shapes import shape_array
from smc.oblivious.cost import matrix_bytes
from smc.oblivious.spans import SPAN_BYTES
from smc.pieces import chunks
from smc.protocols.against import Against
from smc.protocols.flights import Flight
from smc.protocols.session import Session
from smc.protocols.spec import Cost, Procedure, cost_each
from smc.protocols.spec import lengths as lengths_of
from smc.protocols.transfer_costs import TRANSFERS
from smc.secret.sharing.masks import (
    Expander,
    MaskedParts,
    Words,
    masked_bytes,
    receive_masked,
    send_masked,
    word_type,
)
from smc.tracing.charges import charge

Word = NDArray[np.uint64]

KEPT_TRANSFERS: Final = 1 << 25
"""Most transfers of one direction whose rows are kept: half a gibibyte."""

_BLOCK_TRANSFERS: Final = 1 << 20
_PIECE_BYTES: Final = 1 << 20


@dataclass(frozen=True, slots=True)
class FactorShape:
    """What is public of a matrix.

    Attributes:
        rows: how many.
        bits: of the entries of each column, which are not negative; 0 for a column of zeros.
    """

    rows: int
    bits: tuple[int, ...]

    @property
    def planes(self) -> tuple[tuple[int, ...], ...]:
        """For each bit from the lowest one the columns whose entries have it."""
        return _planes_of(self.bits)

    @property
    def transfers(self) -> int:
        """Per row."""
        return sum(self.bits)

    @property
    def kept(self) -> bool:
        """Whether the rows of the transfers are kept from time to time."""
        return self.rows * self.transfers <= KEPT_TRANSFERS

    def blocks(self) -> list[slice]:
        """Rows whose transfers are made at once."""
        return _cut(self.rows, _BLOCK_TRANSFERS // max(1, self.transfers)) if self.transfers else []

    def shapes(self, rows: int, length: int, width: int) -> list[tuple[tuple[int, ...], int]]:
        """The corrections of so many rows: shape and width of those for each bit."""
        return [((len(columns), rows, length), width - bit) for bit, columns in enumerate(self.planes)]

    def bursts(self, block: slice, length: int, width: int) -> list[list[slice]]:
        """Rows of a block whose corrections are sent before the peer's are read, message by message."""
        each = masked_bytes(self.shapes(1, length, width))
        pieces = [
            slice(block.start + piece.start, block.start + piece.stop)
            for piece in _cut(block.stop - block.start, _PIECE_BYTES // each)
        ]
        most = max(1, SPAN_BYTES // (2 * max(_PIECE_BYTES, each)))
        return [pieces[i : i + most] for i in range(0, len(pieces), most)]


@cache
def _planes_of(widths: tuple[int, ...]) -> tuple[tuple[int, ...], ...]:
    # Columns of narrow entries have no high bits: a bit has the columns that reach it, and no others.
    deepest = max(widths, default=0)
    return tuple(tuple(i for i, bits in enumerate(widths) if bits > bit) for bit in range(deepest))


def _cut(count: int, size: int) -> list[slice]:
    step = max(1, size)
    return list(chunks(count, step))


@dataclass(slots=True)
class _TransferRows:
    """The rows of a block's transfers, for each bit of shape (columns, rows, 2), and the sender's offset."""

    planes: list[Word]
    offset: Word


_NO_OFFSET: Final = np.zeros(2, dtype=np.uint64)
_NO_ROWS: Final = _TransferRows([], _NO_OFFSET)


class RepeatedFactors:
    """The matrices of both parties.

    Args:
        session: this side of the run.
        own: the local matrix, shape (n, m), entries below 2**bits of their column.
        entries: what is public of the local matrix.
        peer: what is public of the peer's.

    Raises:
        UsageError: the local matrix is another one than declared.
    """

    def __init__(self, session: Session, own: Word, entries: FactorShape, peer: FactorShape) -> None:
        limits = np.array([1 << bits for bits in entries.bits], dtype=np.uint64)
        if own.shape != (entries.rows, len(entries.bits)) or (own >= limits).any():
            raise UsageError(
                "The matrix does not have the declared shape, or an entry has more bits than declared.",
                "Declare the shape and the bits that it has.",
            )
        self.session = session
        self._made = False
        self._own = own
        self._entries = entries
        self._peer = peer
        # Transposed: the choices of a bit go column after column, as the rows of their transfers do.
        self._bits = [
            (own.T[list(columns)] >> np.uint64(bit) & np.uint64(1)).astype(np.uint8)
            for bit, columns in enumerate(entries.planes)
        ]
        self._chosen: list[_TransferRows] = []
        self._sent: list[_TransferRows] = []

    def _price(self, own_factor: Word, peer_factor: Word, width: int) -> tuple[Cost, tuple[Words, Words]]:
        """What `times` costs and gives."""
        sides = ((self._entries, own_factor.shape[1]), (self._peer, peer_factor.shape[1]))
        alice, bob = sides if self.session.role is Role.ALICE else sides[::-1]
        first, self._made = not self._made, True
        made = cost(alice[0], bob[0], (alice[1], bob[1]), width, first=first)
        own, other = (shape_array((side.rows, length), word_type(width)) for side, length in sides)
        return made, (own, other)

    @charge(_price)
    def times(self, own_factor: Word, peer_factor: Word, width: int) -> tuple[Words, Words]:
        """Multiply both matrices.

        Args:
            own_factor: local shares of what the local matrix is multiplied by, shape (m, length).
            peer_factor: local shares of what the peer's matrix is multiplied by, shape (m', length').
            width: bits of the words, up to 64.

        Returns:
            Local shares, modulo 2**width (bits above are arbitrary), of the local matrix times its factor,
            shape (n, length), and of the peer's times its factor, shape (n', length').

        Raises:
            ProtocolViolation: the peer sent something else than the protocol says.
        """
        kind = word_type(width)
        narrow = peer_factor.astype(kind)
        own = self._own.astype(kind) @ own_factor.astype(kind)
        other = np.zeros((self._peer.rows, narrow.shape[1]), dtype=kind, like=narrow)
        length = own.shape[1]
        blocks = zip_longest(self._entries.blocks(), self._peer.blocks())
        # Each matrix is cut by its own widths, so one side may have blocks left where the other has none.
        for number, (mine, theirs) in enumerate(blocks):
            chosen, sent = self._rows(number, mine, theirs)
            bursts = zip_longest(
                self._peer.bursts(theirs, narrow.shape[1], width) if theirs else [],
                self._entries.bursts(mine, length, width) if mine else [],
                fillvalue=(),
            )
            # No more is sent than a transport buffers before the peer's burst is read.
            for outgoing, incoming in bursts:
                for piece in outgoing:
                    other[piece] += self._send(_within(sent, theirs, piece), narrow, width)
                for piece in incoming:
                    shapes = self._entries.shapes(piece.stop - piece.start, length, width)
                    masked = receive_masked(self.session, shapes)
                    own[piece] += self._choose(_within(chosen, mine, piece), piece, masked, length, width)
        return own, other

    def _rows(
        self, number: int, mine: slice | None, theirs: slice | None
    ) -> tuple[_TransferRows, _TransferRows]:
        """The rows of a block, made if they are not kept; one flight."""
        # Blocks come in the same order each time, so a block that is kept stands at its number.
        chosen = self._chosen[number] if number < len(self._chosen) else None
        sent = self._sent[number] if number < len(self._sent) else None
        oblivious = self.session.oblivious
        # The order is that of `_choices`: bit after bit, within it column after column, row by row.
        if mine and chosen is None:
            rows = oblivious.receive_rows(self._choices(mine))
            chosen = _TransferRows(_planes(rows, self._entries, mine), _NO_OFFSET)
            if self._entries.kept:
                self._chosen.append(chosen)
        if theirs and sent is None:
            found, offset = oblivious.send_rows((theirs.stop - theirs.start) * self._peer.transfers)
            sent = _TransferRows(_planes(found, self._peer, theirs), offset)
            if self._peer.kept:
                self._sent.append(sent)
        return chosen or _NO_ROWS, sent or _NO_ROWS

    def _choices(self, block: slice) -> NDArray[np.uint8]:
        return np.concatenate([bits[:, block].reshape(-1) for bits in self._bits])

    def _send(self, rows: _TransferRows, factor: Words, width: int) -> Words:
        """Send the corrections of a piece; the local shares, shape (rows, length)."""
        # Rows may serve many factors: a fresh key for each piece makes its masks new. It can be public, since
        # of the two rows of a transfer the receiver still knows only the chosen one.
        key = self.session.random.bytes(16)
        expander = Expander(key, factor.shape[1], width)
        share = np.zeros((rows.planes[0].shape[1], factor.shape[1]), dtype=factor.dtype, like=factor)
        parts = []
        for bit, (plane, columns) in enumerate(zip(rows.planes, self._peer.planes, strict=True)):
            masks = expander.masks(plane)
            corrections = masks - expander.masks(plane ^ rows.offset)
            # Bit b of an entry weighs 2**b, so of its correction only the low width - b bits are sent.
            corrections += factor[list(columns)][:, None]
            parts.append((corrections, width - bit))
            share -= masks.sum(axis=0, dtype=factor.dtype) << factor.dtype.type(bit)
        send_masked(self.session, key, parts)
        return share

    def _choose(
        self, rows: _TransferRows, piece: slice, masked: MaskedParts, length: int, width: int
    ) -> Words:
        """The local shares of a piece from its corrections, shape (rows, length)."""
        kind = word_type(width)
        expander = Expander(masked.key, length, width)
        share = np.zeros((piece.stop - piece.start, length), dtype=kind)
        for bit, (plane, corrections) in enumerate(zip(rows.planes, masked.words(kind), strict=True)):
            # The mask of the chosen row, plus the correction where the bit is 1, is the sender's mask of
            # row 0 plus bit times factor, whichever row was chosen.
            chosen = expander.masks(plane)
            chosen += corrections * self._bits[bit][:, piece, None]
            share += chosen.sum(axis=0, dtype=kind) << kind.type(bit)
        return share


def _planes(rows: Word, entries: FactorShape, block: slice) -> list[Word]:
    """Rows in the order of choices, cut into those of each bit."""
    height = block.stop - block.start
    ends = np.cumsum([height * len(columns) for columns in entries.planes])[:-1]
    return [part.reshape(-1, height, 2) for part in np.split(rows, ends)]


def _within(rows: _TransferRows, block: slice, piece: slice) -> _TransferRows:
    part = slice(piece.start - block.start, piece.stop - block.start)
    return _TransferRows([plane[:, part] for plane in rows.planes], rows.offset)


@lru_cache(256)
def cost(alice: FactorShape, bob: FactorShape, lengths: tuple[int, int], width: int, *, first: bool) -> Cost:
    """The exact cost of `times`, without the set-up of oblivious transfer.

    Args:
        alice: what is public of Alice's matrix.
        bob: of Bob's.
        lengths: columns of what Alice's and what Bob's matrix is multiplied by.
        width: bits of the words.
        first: whether it is the first time, when all transfers are made.
    """
    sides = ((alice, lengths[0], Role.BOB), (bob, lengths[1], Role.ALICE))

    def block_cost(sizes: tuple[int | None, ...]) -> Cost:
        made = {
            sender.other: matrix_bytes(size * entries.transfers)
            for (entries, _, sender), size in zip(sides, sizes, strict=True)
            if size and (first or not entries.kept)
        }
        bursts = [
            entries.bursts(slice(0, size), length, width) if size else []
            for (entries, length, _), size in zip(sides, sizes, strict=True)
        ]
        return _flight(made) + sum(map(burst_cost, zip_longest(*bursts, fillvalue=[])), Cost())

    def burst_cost(burst: tuple[list[slice], ...]) -> Cost:
        return _flight(
            {
                sender: sum(
                    # nearly all pieces are of one size
                    count * masked_bytes(entries.shapes(rows, length, width))
                    for rows, count in Counter(p.stop - p.start for p in pieces).items()
                )
                for (entries, length, sender), pieces in zip(sides, burst, strict=True)
                if pieces
            }
        )

    blocks = (lengths_of(entries.blocks()) for entries in (alice, bob))
    return cost_each(zip_longest(*blocks), block_cost)


def _flight(sent: Mapping[Role, int]) -> Cost:
    if not sent:
        return Cost()
    flight = Flight.BOTH if len(sent) > 1 else Flight(next(iter(sent)).name[0])
    return Cost((flight,), sent.get(Role.ALICE, 0), sent.get(Role.BOB, 0))


SPEC: Final = Procedure(
    name="repeated-products",
    against=Against.PRIVATE,
    module=__name__,
    cost=cost,
    setups=(TRANSFERS,),
    example={
        "alice": FactorShape(20, (8, 4)),
        "bob": FactorShape(10, (6,)),
        "lengths": (3, 2),
        "width": 32,
        "first": True,
    },
)

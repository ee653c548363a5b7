"""Inner products of long columns, some of each party, by additive lattice encryption.

    Alice (rows of integers X, g x n, call by call)       Bob (columns Y, n x k, modulo 2**w, once)
                             <-- seed, encryptions of zero, encrypted Y --
                             -- responses -->
      shares of X Y modulo 2**w, by rounding what each can compute

Alice is the evaluator, Bob the key holder, or the reverse. The columns are encrypted once and serve all
calls; what a call sends does not depend on their length.

Inputs: columns modulo 2**w at the key holder, once; at the evaluator rows of integers, call by call.
Outputs: shares modulo 2**w of the inner products of each row with each column.
Learns: neither party anything. The evaluator sees ciphertexts; what the key holder gets does not depend on
what it encrypted, and is uniform to it under the assumption. Of all results of the run that the layout is for
any is off by one with probability 2**-30 at most.
Assumes: `smc.ciphers.lattice_inner`. A key holder that deviates learns nothing; an evaluator that does learns
nothing before shares are opened.
Cost: `ColumnsLayout.query_bytes` once, and `ColumnsLayout.response_bytes` for each call.
Reference: `smc.ciphers.lattice_inner`.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import cache
from itertools import zip_longest
from typing import Final

import numpy as np
from numpy.typing import NDArray

from smc.channel.message import Message
from smc.channel.vectors import ByteRows, ExpectedByteRows, byte_row
from smc.ciphers.lattice import SEED_BYTES
from smc.ciphers.lattice_inner import ColumnParameters, OwnColumns, PeerColumns
from smc.ciphers.lattice_ring import (
    LIMB_BITS,
    pack_limbs,
    pack_words,
    packed_limbs_size,
    packed_size,
    unpack_limbs,
    unpack_words,
)
from smc.errors import UsageError
from smc.oblivious.spans import SPAN_BYTES
from smc.pieces import chunks
from smc.protocols.against import Against
from smc.protocols.flights import Flight
from smc.protocols.session import Session
from smc.protocols.spec import Cost, Procedure

Word = NDArray[np.uint64]
Whole = NDArray[np.int64]

_ROWS: Final = 8
"""Most rows of integers that are multiplied at once, for memory."""


@dataclass(frozen=True, slots=True)
class LatticeZeros(Message, kind="lattice-zeros", hidden=True):
    """What the public polynomials are drawn from, and encryptions of zero, from the key holder."""

    seed: ByteRows
    zeros: ByteRows


@dataclass(frozen=True, slots=True)
class LatticeColumns(Message, kind="lattice-columns", hidden=True):
    """Encrypted entries of all columns, as many as a polynomial has coefficients, from the key holder."""

    limbs: ByteRows


@dataclass(frozen=True, slots=True)
class LatticeInner(Message, kind="lattice-inner", hidden=True):
    """Second components of inner products."""

    second: ByteRows


@dataclass(frozen=True, slots=True)
class ColumnsLayout:
    """What is public of a run, and what it sends.

    Attributes:
        parameters: of the encryption.
    """

    parameters: ColumnParameters

    @property
    def zeros_size(self) -> int:
        """Bytes of the encryptions of zero."""
        lattice = self.parameters.lattice
        return packed_size(lattice.limbs * self.parameters.columns * lattice.degree, LIMB_BITS)

    def query_size(self, factor: int) -> int:
        """Bytes of the columns' entries in one polynomial."""
        entries = self.parameters.entries(factor)
        count = (entries.stop - entries.start) * self.parameters.columns
        return packed_size(self.parameters.lattice.limbs * count, LIMB_BITS)

    def groups(self) -> Iterator[range]:
        """Polynomials that are sent before the peer's are read."""
        each = max(1, SPAN_BYTES // (2 * self.query_size(0)))
        for part in chunks(self.parameters.factors, each):
            yield range(part.start, part.stop)

    def group_bytes(self, group: range) -> int:
        """Bytes from the key holder with these polynomials; seed and zeros go along with the first ones."""
        start = 0 if group.start else SEED_BYTES + self.zeros_size
        return start + sum(self.query_size(factor) for factor in group)

    @property
    def query_bytes(self) -> int:
        """Bytes from the key holder, once."""
        return sum(self.group_bytes(group) for group in self.groups())

    def response_size(self, rows: int) -> int:
        """Bytes of the second components of so many rows at once."""
        lattice = self.parameters.lattice
        return packed_limbs_size(rows * lattice.degree, lattice.second_bits)

    def batches(self, rows: int) -> Iterator[slice]:
        """Rows that are multiplied at once, as memory and the buffers of transports allow."""
        return chunks(rows, max(1, min(_ROWS, SPAN_BYTES // (2 * self.response_size(1)))))

    def response_bytes(self, rows: int) -> int:
        """Bytes from the evaluator for a call with so many rows."""
        return sum(self.response_size(part.stop - part.start) for part in self.batches(rows))


@cache
def columns_layout(length: int, columns: int, bound: int, calls: int, width: int) -> ColumnsLayout | None:
    """The layout of a run, or None where no secure parameters are exact.

    Args:
        length: n, entries of a column.
        columns: k.
        bound: of the size of the evaluator's integers.
        calls: rows of integers in all.
        width: w, at most 64.
    """
    parameters = ColumnParameters.of(length, columns, bound, calls, width)
    if parameters is None:
        return None
    layout = ColumnsLayout(parameters)
    return layout if layout.zeros_size + 2 * layout.query_size(0) <= SPAN_BYTES else None


class HeldColumns:
    """The key holder's side of a run; the peer makes a `PeerInner` at the same place.

    Args:
        session: this side.
        layout: public.
        columns: Y, shape (n, k); of integers modulo 2**w the lower w bits count.
    """

    def __init__(self, session: Session, layout: ColumnsLayout, columns: Word) -> None:
        given = layout.parameters
        if columns.shape != (given.length, given.columns):
            raise UsageError(
                f"The columns have the shape {columns.shape}, and their layout is for "
                f"{(given.length, given.columns)}.",
                "Make the layout for the columns.",
            )
        self._session, self._layout = session, layout
        self._plain = columns & np.uint64((1 << given.lattice.width) - 1)
        self._cipher = OwnColumns(given, session.random)

    def send(self, group: range) -> None:
        """Encrypt and send these polynomials, from `ColumnsLayout.groups` in their order."""
        if not group.start:
            zeros = pack_words(self._cipher.zeros().reshape(-1), LIMB_BITS)
            self._session.channel.send(LatticeZeros(byte_row(self._cipher.seed), ByteRows(zeros[None])))
        for factor in group:
            limbs = self._cipher.encrypt(factor, self._plain[self._layout.parameters.entries(factor)])
            self._session.channel.send(
                LatticeColumns(ByteRows(pack_words(limbs.reshape(-1), LIMB_BITS)[None]))
            )

    def receive(self, rows: int) -> Word:
        """The peer's rows of one batch times the columns.

        Args:
            rows: of the peer's integers.

        Returns:
            Local shares modulo 2**w, shape (rows, k).

        Raises:
            ProtocolViolation: the peer sent something else than the protocol says.
        """
        lattice = self._layout.parameters.lattice
        packed = self._session.channel.recv(
            LatticeInner, ExpectedByteRows(1, self._layout.response_size(rows))
        )
        return self._cipher.decrypt(unpack_limbs(packed, (rows, lattice.degree), lattice.second_bits))

    def times(self, rows: int) -> Word:
        """All batches of a call; the peer calls `PeerInner.times`. Otherwise as `receive`."""
        result = np.empty((rows, self._layout.parameters.columns), dtype=np.uint64)
        for part in self._layout.batches(rows):
            result[part] = self.receive(part.stop - part.start)
        return result


class PeerInner:
    """The evaluator's side of a run; the peer makes a `HeldColumns` at the same place.

    Args:
        session: this side.
        layout: public.
    """

    def __init__(self, session: Session, layout: ColumnsLayout) -> None:
        self._session, self._layout = session, layout
        self._cipher: PeerColumns | None = None

    def take(self, group: range) -> None:
        """Receive these polynomials.

        Raises:
            ProtocolViolation: the peer sent something else than the protocol says.
        """
        given, channel = self._layout.parameters, self._session.channel
        if self._cipher is None:
            seed, data = channel.recv(
                LatticeZeros, ExpectedByteRows(1, SEED_BYTES), ExpectedByteRows(1, self._layout.zeros_size)
            )
            zeros = _limbs(data, (given.lattice.limbs, given.columns, given.lattice.degree))
            self._cipher = PeerColumns(given, seed.tobytes(), zeros, self._session.random)
        for factor in group:
            data = channel.recv(LatticeColumns, ExpectedByteRows(1, self._layout.query_size(factor)))
            entries = given.entries(factor)
            count = entries.stop - entries.start
            self._cipher.take(_limbs(data, (given.lattice.limbs, given.columns, count)))

    def send(self, integers: Whole) -> Word:
        """One batch of local rows times the peer's columns; the peer calls `HeldColumns.receive`.

        Args:
            integers: shape (rows, n), of the size that the layout was made for.

        Returns:
            Local shares modulo 2**w, shape (rows, k).

        Raises:
            UsageError: the rows have another length or larger integers than the layout is for, or the columns
                have not come.
        """
        if self._cipher is None:
            raise UsageError("The peer's columns have not come.", "Take them first.")
        second, shares = self._cipher.respond(integers)
        packed = pack_limbs(second, self._layout.parameters.lattice.second_bits)
        self._session.channel.send(LatticeInner(ByteRows(packed[None])))
        return shares

    def times(self, integers: Whole) -> Word:
        """All batches of a call. Otherwise as `send`."""
        result = np.empty((len(integers), self._layout.parameters.columns), dtype=np.uint64, like=integers)
        for part in self._layout.batches(len(integers)):
            result[part] = self.send(integers[part])
        return result


def exchange_columns(
    session: Session, own: tuple[ColumnsLayout, Word], peer: ColumnsLayout
) -> tuple[HeldColumns, PeerInner]:
    """Send the local columns and take the peer's at once.

    Args:
        session: this side of the run.
        own: the layout of the local columns, and these.
        peer: the layout of the peer's.

    Raises:
        ProtocolViolation: the peer sent something else than the protocol says.
    """
    held, inner = HeldColumns(session, *own), PeerInner(session, peer)
    for outgoing, incoming in zip_longest(own[0].groups(), peer.groups()):
        if outgoing:
            held.send(outgoing)
        if incoming:
            inner.take(incoming)
    return held, inner


def cost_exchange(alice: ColumnsLayout, bob: ColumnsLayout) -> Cost:
    """The exact cost of `exchange_columns`, of Alice's columns and of Bob's."""
    total = Cost()
    for mine, theirs in zip_longest(alice.groups(), bob.groups()):
        sent = [layout.group_bytes(group) if group else 0 for layout, group in ((alice, mine), (bob, theirs))]
        flight = Flight.BOTH if all(sent) else Flight.ALICE if sent[0] else Flight.BOB
        total += Cost((flight,), sent[0], sent[1])
    return total


def inner_products(
    session: Session, layout: ColumnsLayout, integers: Callable[[slice], Whole] | None, columns: Word | None
) -> Word:
    """One party's rows of integers times the other's columns, once.

    Args:
        session: this side of the run.
        layout: public.
        integers: at the evaluator, gives some of as many rows as the layout is for, shape (rows, n); else
            None.
        columns: at the key holder, shape (n, k); else None.

    Returns:
        Local shares modulo 2**w, shape (rows, k).

    Raises:
        ProtocolViolation: the peer sent something else than the protocol says.
        UsageError: this side gives neither; as `PeerInner.send`.
    """
    given = layout.parameters
    if integers is None:
        if columns is None:
            raise UsageError("This side has neither integers nor columns.", "Give one of both.")
        held = HeldColumns(session, layout, columns)
        for group in layout.groups():
            held.send(group)
        return held.times(given.calls)
    peer = PeerInner(session, layout)
    for group in layout.groups():
        peer.take(group)
    result = np.empty((given.calls, given.columns), dtype=np.uint64)
    for part in layout.batches(given.calls):
        result[part] = peer.send(integers(part))
    return result


def cost_inner_products(layout: ColumnsLayout) -> Cost:
    """The exact cost of all calls as one, with the query; the key holder is Bob."""
    sent = layout.response_bytes(layout.parameters.calls)
    return Cost((Flight.BOB, Flight.ALICE), sent, layout.query_bytes)


def _limbs(data: NDArray[np.uint8], shape: tuple[int, ...]) -> Word:
    return unpack_words(data, int(np.prod(shape)), LIMB_BITS).reshape(shape)


def cost(rows: int, length: int, columns: int, bound: int, width: int) -> Cost:
    """The exact cost of one call for all rows, with the query; the key holder is Bob.

    Raises:
        UsageError: no secure parameters are exact for these sizes.
    """
    layout = columns_layout(length, columns, bound, rows, width)
    if layout is None:
        raise UsageError(
            f"No lattice is exact and secure for integers up to {bound} and words of {width} bits.",
            "Multiply by oblivious transfer.",
        )
    return cost_inner_products(layout)


SPEC: Final = Procedure(
    name="lattice-inner-products",
    against=Against.PRIVATE,
    module=__name__,
    cost=cost,
    example={"rows": 3, "length": 1000, "columns": 2, "bound": 4095, "width": 64},
)

"""Permuting shared vectors in an order that one party knows and the other does not learn.

    owner (order; switches s of a Benes network)      peer
      choice s of every switch    -- matrices -->       rows r0, r1 of every switch
      crossing: d' = its differences                    crossing: d its differences
                                  <-- k, c --           c = G_k(r0) + d - G_k(r1)
      moved: s d' + G_k(r_s) + s c                      moved: -G_k(r0)

At a switch the values u, v become u - s (u - v), v + s (u - v), word by word. The owner's part of s (u - v)
is local, the peer's is a correlated transfer. All words of a row take the same way, so one transfer serves
them: its rows of 128 bits are expanded to as many words (`smc.secret.sharing.masks`). As these fix the peer's
new shares, all columns of switches fit into one flight, piece by piece, so that neither side holds it whole.

Inputs: shares modulo 2**b, with b up to 64, of n rows of m integers; at the owner an order of n places.
Outputs: shares of the rows in that order.
Learns: neither party anything.
Assumes: `smc.oblivious`, of large batches silent transfers; `smc.secret.sharing.masks`.
Cost: `cost`; two rounds, and 4 + m b / 8 bytes for each of n log2 n - n / 2 switches, n rounded up to a power
of two; of large networks three rounds and 0.3 + m b / 8 bytes, see `transfer_costs.takes_silent_blocks`.
Reference: Mohassel and Sadeghian, How to hide circuits in MPC, EUROCRYPT 2013, section 3 (oblivious switching
networks); the network as in `smc.secret.orders.benes`.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Final

import numpy as np
from numpy.typing import NDArray

from smc.errors import UsageError
from smc.forms import Role
from smc.network import Network
from smc.numeric.narrow_words import WORD_BITS, Unsigned
from smc.pieces import chunks
from smc.protocols.against import Against
from smc.protocols.flights import Flight
from smc.protocols.session import Session
from smc.protocols.spec import Cost, Procedure
from smc.protocols.transfer_costs import TRANSFERS, cost_blocks, takes_silent_blocks
from smc.secret.orders.benes import Index, Word, apply, columns_for, switches, wires_for
from smc.secret.sharing.masks import (
    KEY_BYTES,
    Expander,
    MaskedWords,
    masked_bytes,
    packed_bytes,
    receive_masked,
    send_masked,
    word_type,
)
from smc.tracing.repeats import traced_once

_PIECE_BYTES: Final = 1 << 22
"""Of one message, unless a single column of switches is larger."""


@dataclass(frozen=True, slots=True)
class SwitchCorrections(MaskedWords, kind="switch-corrections", hidden=True):
    """Corrections of columns of switches, from the party that does not know the order."""


@traced_once
def permute(session: Session, shares: Word, owner: Role, order: Index | None, bits: int = WORD_BITS) -> Word:
    """Permute rows of integers shared modulo 2**bits.

    Args:
        session: this side of the run.
        shares: local shares, shape (n,) or (n, m); bits above are dropped.
        owner: who knows the order.
        order: at the owner a permutation of range(n): row k of the result is row order[k]; else None.
        bits: from 1 to 64.

    Returns:
        Local shares, of the same shape.

    Raises:
        UsageError: the order is missing, is on the wrong side, or is not a permutation, or there are no words
            of so many bits.
        ProtocolViolation: the peer sent something else than the protocol says.
    """
    if (order is None) is (session.role is owner):
        raise UsageError(
            "Either both parties gave an order, or none of them did.",
            "Give the order at its owner, and None at the other party.",
        )
    if not 1 <= bits <= WORD_BITS:
        raise UsageError(f"There are no words of {bits} bits here.", f"Use 1 to {WORD_BITS}.")
    count, columns = len(shares), shares.size // max(1, len(shares))
    # The network takes a power of two; both parties' shares of the wires past the rows are zero, and stay.
    wires, kind = wires_for(count), word_type(bits)
    padded = np.zeros((wires, columns), dtype=kind, like=shares)
    padded[:count] = shares.reshape(count, columns).astype(kind)
    if order is not None:
        moved = _choose(session, padded, _whole(order, count), bits)
    else:
        moved = _send(session, padded, bits)
    found: Word = moved[:count].astype(np.uint64) & np.uint64((1 << bits) - 1)
    return found.reshape(shares.shape)


def cost(
    count: int, owner: Role, network: Network | None = None, bits: int = WORD_BITS, columns: int = 1
) -> Cost:
    """The exact cost of `permute` over a network: flights and bytes, without the set-up of the transfers.

    Args:
        count: rows.
        owner: who knows the order.
        network: that of the session.
        bits: of an integer.
        columns: integers of a row.
    """
    wires = wires_for(count)
    pieces = [_shape(wires, part, columns) for part in _pieces(wires, columns, bits)]
    sent = sum(masked_bytes([(shape, bits)]) for shape in pieces)
    answer = Cost((Flight.BOB,) * len(pieces), 0, sent)
    total = cost_blocks(columns_for(wires) * wires // 2, network).mirror + answer
    return total if owner is Role.ALICE else total.mirror


def _pieces(wires: int, columns: int, bits: int) -> Iterator[slice]:
    """The columns of switches whose corrections are sent at once."""
    size = max(1, wires // 2 * columns * packed_bytes(bits))
    return chunks(columns_for(wires), max(1, _PIECE_BYTES // size))


def _shape(wires: int, part: slice, columns: int) -> tuple[int, int, int]:
    return part.stop - part.start, wires // 2, columns


def _whole(order: Index, count: int) -> Index:
    """The order on all wires of the network; those past the rows stay."""
    if order.shape != (count,) or (np.sort(order) != np.arange(count, like=order)).any():
        raise UsageError(
            f"The order is not a permutation of the {count} places of the rows.",
            f"Give each number from 0 to {count - 1} once.",
        )
    return np.concatenate([order, np.arange(count, wires_for(count), like=order)])


def _choose(session: Session, values: Unsigned, order: Index, bits: int) -> Unsigned:
    wires, columns = values.shape
    crossed = switches(order)
    silent = takes_silent_blocks(session.network, crossed.size)
    rows = session.oblivious.receive_blocks(crossed.reshape(-1), silent=silent).reshape(*crossed.shape, 2)
    received = _receive(session, wires, columns, bits)

    def swap(differences: Unsigned, column: int) -> Unsigned:
        expander, correction = next(received)
        # G(r_c) + c (d + G(r_0) + d' - G(r_1)) = G(r_0) + c (d + d'), which with the sender's -G(r_0) adds up
        # to what a crossed switch moves from one wire to the other.
        moved: Unsigned = expander.masks(rows[column]) + crossed[column][:, None] * (differences + correction)
        return moved

    return apply(values, swap)


def _receive(
    session: Session, wires: int, columns: int, bits: int
) -> Iterator[tuple[Expander, NDArray[np.unsignedinteger]]]:
    """For each column of switches what expands its rows, and its corrections, shape (wires / 2, columns)."""
    for part in _pieces(wires, columns, bits):
        masked = receive_masked(session, [(_shape(wires, part, columns), bits)], SwitchCorrections)
        expander = Expander(masked.key, columns, bits)
        (corrections,) = masked.words(expander.type)
        for place in range(len(corrections)):
            yield expander, corrections[place]


def _send(session: Session, values: Unsigned, bits: int) -> Unsigned:
    wires, columns = values.shape
    shape = (columns_for(wires), wires // 2, 2)
    transfers = columns_for(wires) * wires // 2
    silent = takes_silent_blocks(session.network, transfers)
    zero, one = (rows.reshape(shape) for rows in session.oblivious.send_blocks(transfers, silent=silent))
    pieces = {part.stop - 1: part for part in _pieces(wires, columns, bits)}
    corrections: list[Unsigned] = []
    key = b""
    expander: Expander | None = None

    def swap(differences: Unsigned, column: int) -> Unsigned:
        nonlocal key, expander
        if expander is None:
            key = session.random.bytes(KEY_BYTES)
            expander = Expander(key, columns, bits)
        masks = expander.masks(zero[column])
        corrections.append(masks + differences - expander.masks(one[column]))
        if column in pieces:
            send_masked(session, key, [(np.stack(corrections), bits)], SwitchCorrections)
            corrections.clear()
            expander = None
        moved: Unsigned = np.negative(masks)
        return moved

    return apply(values, swap)


SPEC: Final = Procedure(
    name="permutation",
    against=Against.PRIVATE,
    module=__name__,
    cost=cost,
    setups=(TRANSFERS,),
    example={"count": 1000, "owner": Role.ALICE, "columns": 3},
)

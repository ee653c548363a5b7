"""Sums of rows that one party holds, over groups that neither knows.

Bit e_ij, XOR-shared, tells whether row i belongs to group j. With e' the share of the party that owns the
rows and e'' the other's, e = e' + (1 - 2 e') e'': of e_ij x_i the owner knows all but one bit.

    owner (rows x, shares e')                          other (shares e'')
      choices e''_ij             <-- matrices --         rows q_ij + e''_ij D
      rows q_ij, offset D        -- corrections -->      c_ij = G(q_ij) - G(q_ij + D) + (1 - 2 e'_ij) x_i
      sum over i of e'_ij x_i - G(q_ij)                  sum over i of G(q_ij + e''_ij D) + e''_ij c_ij

The sums are formed modulo 2**w, as narrow as their bounds allow, and lifted to 64 bits at the end: for
0 <= s < 2**(w - 1) the shares wrap exactly where one of them has its top bit set. Alice's rows and Bob's are
summed at once.

Inputs: the rows of each party, and XOR shares of all e_ij.
Outputs: shares modulo 2**w of the sums of each group, modulo 2**64 once lifted.
Learns: neither party anything; every correction is masked by what the other did not choose.
Assumes: `smc.oblivious`, `smc.secret.sharing.masks`.
Cost: `cost`.
Reference: the selection of Rathee et al., CrypTFlow2, CCS 2020, section 3, with vectors; the wrap from the
top bits: Huang, Lu, Hong and Ding, Cheetah, USENIX Security 2022, section 4.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import zip_longest
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from smc.forms import Role
from smc.numeric.shapes import contiguous
from smc.oblivious.cost import matrix_bytes
from smc.oblivious.spans import SPAN_BYTES
from smc.pieces import chunks
from smc.protocols.against import Against
from smc.protocols.flights import Flight
from smc.protocols.session import Session
from smc.protocols.spec import Cost, Procedure, cost_each, lengths
from smc.protocols.transfer_costs import TRANSFERS
from smc.secret.sharing.masks import (
    KEY_BYTES,
    Expander,
    Words,
    masked_bytes,
    receive_masked,
    send_masked,
    word_type,
)

Word = NDArray[np.uint64]
Bit = NDArray[np.uint8]

_WORD_BITS: Final = 64
_NARROW_BITS: Final = 32


@dataclass(frozen=True, slots=True)
class Grouping:
    """What is public of one party's rows.

    Attributes:
        rows: how many.
        length: numbers in each.
        groups: how many groups they may belong to.
    """

    rows: int
    length: int
    groups: int

    def blocks(self, width: int) -> list[slice]:
        """Rows that are treated at once; nothing where there are no numbers or groups."""
        if not (self.length and self.groups):
            return []
        each = masked_bytes(self.shapes(1, width))
        step = max(1, (SPAN_BYTES // 4) // each)
        return list(chunks(self.rows, step))

    def shapes(self, rows: int, width: int) -> list[tuple[tuple[int, ...], int]]:
        """The corrections of so many rows, and the width of their words."""
        return [((self.groups, rows, self.length), width)]


def word_bits(largest: int) -> int:
    """Bits of the words in which sums from 0 to `largest` are formed: 32 where that suffices, else 64."""
    return _NARROW_BITS if largest < 1 << (_NARROW_BITS - 1) else _WORD_BITS


def sums(
    session: Session,
    own: Sequence[NDArray[Any]],
    own_bits: Bit,
    peer: Grouping,
    peer_bits: Bit,
    width: int,
) -> tuple[Words, Words]:
    """Sum both parties' rows over the groups.

    Args:
        session: this side of the run.
        own: columns of the local rows, of any types of whole numbers, which lie beside each other; each of
            shape (n, m), length of them together.
        own_bits: local XOR shares of the groups of the local rows, shape (n, groups).
        peer: what is public of the peer's rows.
        peer_bits: local XOR shares of their groups, shape (n', groups').
        width: bits of the words, 32 or 64: `word_bits`.

    Returns:
        Local shares modulo 2**width of the sums of the local rows, shape (groups, length), and of the peer's,
        shape (groups', length'); for `extend_shares`.

    Raises:
        ProtocolViolation: the peer sent something else than the protocol says.
    """
    kind = word_type(width)
    mine = Grouping(len(own_bits), sum(part.shape[1] for part in own), own_bits.shape[1])
    total = np.zeros((mine.groups, mine.length), dtype=kind)
    other = np.zeros((peer.groups, peer.length), dtype=kind)
    for outgoing, incoming in zip_longest(mine.blocks(width), peer.blocks(width)):
        if incoming:
            # This matrix leaves before the peer's is read, so that both directions share their flights.
            choices = contiguous(peer_bits[incoming].T).reshape(-1)
            chosen = session.oblivious.receive_rows(choices).reshape(peer.groups, -1, 2)
        if outgoing:
            # A block at a time, as wide columns of all rows may be most of a party's memory.
            rows = np.hstack([part[outgoing].astype(kind) for part in own])
            bits = own_bits[outgoing].T
            # e' x, which the owner of the rows knows by itself.
            total += bits.astype(kind) @ rows
            total -= _send(session, rows, bits, width)
        if incoming:
            other += _receive(session, chosen, peer_bits[incoming].T, peer, width)
    return total, other


def extend_shares(session: Session, words: Words, width: int) -> Word:
    """Shares modulo 2**64 from shares modulo 2**width of integers from 0 to below 2**(width - 1).

    Args:
        session: this side of the run.
        words: local shares, shape (n, m), bits above the width 0.
        width: 32 or 64; at 64 nothing is sent.

    Raises:
        ProtocolViolation: the peer sent something else than the protocol says.
    """
    wide = words.astype(np.uint64).reshape(-1)
    if width < _WORD_BITS:
        tops = (wide >> np.uint64(width - 1)).astype(np.uint8)
        if session.role is Role.ALICE:
            products = session.oblivious.correlate(tops.astype(np.uint64))
        else:
            products = session.oblivious.receive(tops)
        # The wrap is the OR of the top bits, t_A + t_B - t_A t_B.
        wide = wide - ((tops - products) << np.uint64(width))
    return wide.reshape(words.shape)


def _send(session: Session, rows: Words, bits: Bit, width: int) -> Words:
    """Send the corrections of a block; the sum of the masks, shape (groups, length)."""
    groups, count = bits.shape
    found, offset = session.oblivious.send_rows(groups * count)
    found = found.reshape(groups, count, 2)
    key = session.random.bytes(KEY_BYTES)
    expander = Expander(key, rows.shape[1], width)
    masks = expander.masks(found)
    corrections = masks - expander.masks(found ^ offset)
    # e x = e' x + (1 - 2 e') e'' x: the peer's bit chooses x where the local share is 0, and -x where it is
    # 1.
    corrections += np.where(bits[..., None] == 1, np.negative(rows), rows)
    send_masked(session, key, [(corrections, width)])
    total: Words = masks.sum(axis=1, dtype=rows.dtype)
    return total


def _receive(session: Session, chosen: Word, bits: Bit, peer: Grouping, width: int) -> Words:
    """The sum of what was chosen, shape (groups, length)."""
    kind = word_type(width)
    masked = receive_masked(session, peer.shapes(bits.shape[1], width))
    expander = Expander(masked.key, peer.length, width)
    (corrections,) = masked.words(kind)
    corrections *= bits[..., None]
    corrections += expander.masks(chosen)
    total: Words = corrections.sum(axis=1, dtype=kind)
    return total


def cost(alice: Grouping, bob: Grouping, width: int) -> Cost:
    """The exact cost of `sums`: flights and bytes, without the set-up of oblivious transfer."""
    sides = ((alice, Role.ALICE), (bob, Role.BOB))

    def block_cost(sizes: tuple[int | None, ...]) -> Cost:
        present = [(*side, size) for side, size in zip(sides, sizes, strict=True) if size]
        made = _flight({r.other: matrix_bytes(size * g.groups) for g, r, size in present})
        return made + _flight({r: masked_bytes(g.shapes(size, width)) for g, r, size in present})

    return cost_each(zip_longest(*(lengths(side.blocks(width)) for side in (alice, bob))), block_cost)


def _flight(sent: dict[Role, int]) -> Cost:
    flight = Flight.BOTH if len(sent) > 1 else Flight(next(iter(sent)).name[0])
    return Cost((flight,), sent.get(Role.ALICE, 0), sent.get(Role.BOB, 0))


SPEC: Final = Procedure(
    name="grouped-sums",
    against=Against.PRIVATE,
    module=__name__,
    cost=cost,
    setups=(TRANSFERS,),
    example={"alice": Grouping(100, 3, 4), "bob": Grouping(50, 2, 4), "width": 32},
)

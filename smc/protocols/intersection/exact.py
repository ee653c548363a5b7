"""Private set intersection: the receiver learns which of its keys the sender has.

    receiver (n keys)                              sender (m keys)
      coins                      <-- coins -->       coins                     both: three hash functions
      cuckoo table: x_b or nothing per bin b         its keys in random order, y_1 .. y_m
      F_b(x_b)                   <-- OPRF -->        F_b for every bin b
                                 <-- masks --        row i: F_b(y_i) for the three bins b of y_i
      the keys x_b with F_b(x_b) in a row,
      in the column of the hash function
      that put x_b into b
    where both are to learn the intersection:
      one bit per row            -- matches -->      the keys y_i whose row has a match

Where a bin is empty, the receiver asks for a random key. All masks are of the same length, which depends on n
and m alone: 40 + log2(n m) bits in whole bytes.

Inputs: distinct keys of 128 bits, hashed under a salt that was not known when they were chosen. Both know n
    and m; if either is 0 nothing is sent.
Outputs: a bit for each key of the receiver, and of the sender if both are to learn.
Learns: the receiver which of its keys the sender has. The sender nothing, or which of its keys the receiver
    has. The rows are in random order, the masks in them are pseudorandom but for the one of a common key; the
    sender's bits show the row of a key, not the column, which would say something of other keys in the table.
Assumes: semi-honest parties, `smc.oblivious.oprf`, `smc.protocols.intersection.cuckoo`. A key is taken for
    common that is not with probability below 2**-40 over all keys; hashes of 128 bits add n m 2**-128.
Cost: `records.cost_intersection`; 41 bytes per key of the receiver and 30 per key of the sender at a
    million keys each; 4 rounds, 5 if both are to learn, and 5 more at the first use of oblivious transfer in
    a session.
Reference: Kolesnikov, Kumaresan, Rosulek and Trieu, Efficient batched oblivious PRF with applications to
    private set intersection, CCS 2016, section 5 (without a stash).
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Final

import numpy as np
from numpy.typing import NDArray

from smc.channel.message import Message
from smc.channel.vectors import Bits, ByteRows, ExpectedBits, ExpectedByteRows
from smc.pieces import chunks
from smc.protocols.coins import toss
from smc.protocols.exchange.row_counts import RowCount
from smc.protocols.intersection import cuckoo
from smc.protocols.intersection.mask_rows import locate, mask_bytes
from smc.protocols.session import Session

Word = NDArray[np.uint64]
Found = NDArray[np.bool_]

_PIECE_BYTES: Final = 1 << 20


@dataclass(frozen=True, slots=True)
class IntersectionMasks(Message, kind="intersection-masks"):
    """Three masks for each of some keys, from the sender."""

    rows: ByteRows


@dataclass(frozen=True, slots=True)
class IntersectionMatches(Message, kind="intersection-matches"):
    """Which rows have a match, from the receiver."""

    bits: Bits


def receive(session: Session, keys: Word, peer_count: RowCount, *, tell: bool = False) -> Found:
    """The side that learns; the peer calls `send`.

    Args:
        session: this side of the run.
        keys: distinct, shape (n, 2).
        peer_count: keys of the sender.
        tell: whether the sender is to learn which of its keys match; both say the same.

    Returns:
        Which of this party's keys the sender has, shape (n,).

    Raises:
        ProtocolViolation: the peer sent something else than the protocol says.
    """
    found = np.zeros(len(keys), dtype=np.bool_, like=keys)
    if not (len(keys) and peer_count):
        return found
    placement = cuckoo.place(keys, toss(session)[: cuckoo.SEED_BYTES])
    bins = np.flatnonzero(placement.slots >= 0)
    inputs = session.random.words(2 * len(placement.slots)).reshape(-1, 2)
    inputs[bins] = keys[placement.slots[bins]]
    width = mask_bytes(len(keys), peer_count)
    masks = session.oblivious.prf_receive(inputs, width)
    rows = np.empty((peer_count, cuckoo.HASHES, width), dtype=np.uint8, like=masks)
    for part in _pieces(peer_count, rows[0].size):
        size = part.stop - part.start
        piece = session.channel.recv(IntersectionMasks, ExpectedByteRows(size, rows[0].size))
        rows[part] = piece.reshape(size, cuckoo.HASHES, width)
        session.report("intersection", part.stop, peer_count)
    matched = np.zeros(peer_count, dtype=np.uint8, like=masks)
    for column in range(cuckoo.HASHES):
        own = bins[placement.hashes[bins] == column]
        places = locate(masks[own], rows[:, column])
        hits = places >= 0
        found[placement.slots[own[hits]]] = True
        matched[places[hits]] = 1
    if tell:
        session.channel.send(IntersectionMatches(Bits(matched)))
    return found


def send(session: Session, keys: Word, peer_count: RowCount, *, tell: bool = False) -> Found | None:
    """The side that answers; the peer calls `receive`.

    Args:
        session: this side of the run.
        keys: distinct, shape (m, 2).
        peer_count: keys of the receiver.
        tell: as there.

    Returns:
        Which of this party's keys the receiver has, shape (m,), or None without `tell`.

    Raises:
        ProtocolViolation: the peer sent something else than the protocol says.
    """
    if not (len(keys) and peer_count):
        return np.zeros(len(keys), dtype=np.bool_, like=keys) if tell else None
    order = session.random.permutation(len(keys))
    shuffled = keys[order]
    seed = toss(session)[: cuckoo.SEED_BYTES]
    bins = cuckoo.bins_for(peer_count)
    places = cuckoo.candidates(shuffled, seed, bins)
    functions = session.oblivious.prf_send(bins, mask_bytes(len(keys), peer_count))
    rows = np.empty((len(keys), cuckoo.HASHES, functions.width), dtype=np.uint8, like=keys)
    for column in range(cuckoo.HASHES):
        rows[:, column] = functions.evaluate(places[column], shuffled)
        session.report("intersection", column + 1, cuckoo.HASHES)
    for part in _pieces(len(keys), rows[0].size):
        session.channel.send(IntersectionMasks(ByteRows(rows[part])))
    if not tell:
        return None
    found = np.empty(len(keys), dtype=np.bool_, like=keys)
    found[order] = session.channel.recv(IntersectionMatches, ExpectedBits(len(keys)))
    return found


def _pieces(count: int, row_bytes: int) -> Iterator[slice]:
    size = max(1, _PIECE_BYTES // row_bytes)
    return chunks(count, size)

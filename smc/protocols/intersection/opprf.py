"""A programmed oblivious function on the bins of a hash table: keys of one party, payloads of the other.

    receiver (n keys)                                 sender (m keys, each with a payload)
                                 <-- coins -->          both: hash functions
      cuckoo table: a key x_b or nothing per bin b      (b, y, h) for every key y and hash function h
      F_b(x_b, h)                <-- single oprf -->    F_b(y, h) of all of them
                                 <-- seed, store --     store: (y, h) -> F_b(y, h) ^ (payload of y - r_b)
      v_b = store(x_b, h) ^ F_b(x_b, h)                 r_b, uniform, one per bin

v_b + r_b is the payload of x_b modulo 2**64 if the sender has the key x_b, and uniform otherwise. Where a bin
is empty, the receiver asks for a random key instead.

Two points of one bin would show whether the sender has both keys: their values would differ by a difference
of payloads. So every bin has a function of its own, of which a receiver gets one value whatever it sends.

Inputs: distinct keys of 128 bits, hashed under a salt that was not known when they were chosen; the
    sender's payloads, w words for each key. Both know n, m and w.
Outputs: v at the receiver, r at the sender, one row of w words per bin; the receiver also knows which of its
    keys lies in which bin.
Learns: neither party anything. To the receiver the store is uniform: all that is stored is masked by the
    functions at points that it did not ask, and at the one of a bin that it may have asked by r_b. That holds
    for whatever a receiver sends; a sender that deviates learns nothing either, but can store what it likes.
Assumes: `single_oprf`, `okvs` and `cuckoo` of this folder.
Cost: `records.cost_opprf`; 5 rounds; at a million keys 21 bytes per key of the receiver and 32 w per key
of the sender.
Reference: Kolesnikov, Matania, Pinkas, Rosulek and Trieu, Practical multi-party private set intersection
from symmetric-key techniques, CCS 2017 (the programmed function); Pinkas, Schneider, Tkachenko and Yanai,
Efficient circuit-based PSI with linear communication, EUROCRYPT 2019 (one target per bin); with a key-value
store: Rindal and Schoppmann, VOLE-PSI, EUROCRYPT 2021.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Final

import numpy as np
from numpy.typing import NDArray

from smc.channel.message import Message
from smc.channel.vectors import ByteRows, ExpectedByteRows, ExpectedWords, Words, byte_row
from smc.pieces import chunks
from smc.protocols.coins import toss
from smc.protocols.exchange.row_counts import RowCount
from smc.protocols.intersection import cuckoo, okvs, single_oprf
from smc.protocols.session import Session

Word = NDArray[np.uint64]

WORD_BYTES: Final = 8
_PIECE_WORDS: Final = 1 << 17


@dataclass(frozen=True, slots=True)
class StoreSeed(Message, kind="store-seed", hidden=True):
    """The seed of the store, from the sender."""

    seed: ByteRows


@dataclass(frozen=True, slots=True)
class StorePiece(Message, kind="store-piece"):
    """Entries of the store, from the sender."""

    entries: Words


@dataclass(frozen=True, slots=True)
class Received:
    """What the receiver gets.

    Attributes:
        slots: the number of the local key in each bin, or -1, shape (bins,).
        values: v, shape (bins, w).
    """

    slots: NDArray[np.int64] = field(repr=False)
    values: Word = field(repr=False)


def receive(
    session: Session, keys: Word, peer_count: RowCount, words: int, seed: bytes | None = None
) -> Received:
    """The side that asks; the peer calls `send`.

    Args:
        session: this side of the run.
        keys: distinct, shape (n, 2).
        peer_count: keys of the sender.
        words: of each payload.
        seed: of the hash functions, tossed with the peer once the keys were fixed; None to toss one here.
            The same keys lie in the same bins under the same seed.

    Raises:
        ProtocolViolation: the peer sent something else than the protocol says.
        UsageError: the keys are not distinct.
    """
    placement = cuckoo.place(keys, (seed or toss(session))[: cuckoo.SEED_BYTES])
    slots = placement.slots
    # Every bin asks, also an empty one: the number of requests says nothing of the table.
    points = session.random.words(2 * len(slots)).reshape(-1, 2)
    taken = slots >= 0
    points[taken] = _inputs(keys[slots[taken]], placement.hashes[taken])
    masks = single_oprf.receive(session, points, words)
    # Drawn only now that all keys are fixed, as `okvs` assumes of the seed of its hash.
    seed = session.channel.recv(StoreSeed, ExpectedByteRows(1, okvs.SEED_BYTES)).tobytes()
    store = np.empty((okvs.StoreSize.of(store_entries(peer_count)).rows, words), dtype=np.uint64, like=masks)
    for part in _pieces(*store.shape):
        rows = store[part]
        rows[:] = session.channel.recv(StorePiece, ExpectedWords(rows.size)).reshape(rows.shape)
    return Received(slots, okvs.decode(store, points, seed, store_entries(peer_count)) ^ masks)


def send(
    session: Session,
    keys: Word,
    payloads: Word,
    peer_count: RowCount,
    seed: bytes | None = None,
    xored: int = 0,
) -> Word:
    """The side that answers; the peer calls `receive`.

    Args:
        session: this side of the run.
        keys: distinct, shape (m, 2).
        payloads: shape (m, w).
        peer_count: keys of the receiver.
        seed: as of `receive`.
        xored: how many of the words, the last ones, are v ^ r instead of v + r.

    Returns:
        r, shape (bins, w).

    Raises:
        ProtocolViolation: the peer sent something else than the protocol says.
        UsageError: the keys are not distinct.
    """
    bins = cuckoo.bins_for(peer_count)
    places, own, hashes = cuckoo.simple(keys, (seed or toss(session))[: cuckoo.SEED_BYTES], bins)
    words = payloads.shape[1]
    inputs = _inputs(keys[own], hashes)
    functions = single_oprf.send(session, bins)
    # Only now, since so many requests have come: what the peer only announces takes no memory.
    shares = session.random.words(bins * words).reshape(bins, words)
    # One target per key and hash function: whichever function puts the receiver's key into its bin, what is
    # stored there opens to the payload less the r of that bin.
    values = payloads[own]
    added = words - xored
    values[:, :added] -= shares[places, :added]
    values[:, added:] ^= shares[places, added:]
    # Only the function of the right bin, asked at the right key, takes this mask off again.
    values ^= functions.values(places, inputs, words)
    seed = session.random.bytes(okvs.SEED_BYTES)
    store = okvs.encode(inputs, values, seed, session.random)
    session.channel.send(StoreSeed(byte_row(seed)))
    for part in _pieces(*store.shape):
        session.channel.send(StorePiece(Words(store[part].reshape(-1))))
    return shares


def store_entries(count: int) -> int:
    """Entries of the store for so many keys of the sender: one for each hash function."""
    return cuckoo.HASHES * count


def _inputs(keys: Word, hashes: NDArray[np.uint8]) -> Word:
    """Keys with the number of the hash function that put them into their bin, shape (n, 2).

    It is added to two bits of the key: as keys are hashes, no other key differs in these bits alone.
    """
    inputs = keys.copy()
    inputs[:, 0] ^= hashes.astype(np.uint64) << np.uint64(62)
    return inputs


def _pieces(rows: int, words: int) -> Iterator[slice]:
    size = max(1, _PIECE_WORDS // max(1, words))
    return chunks(rows, size)

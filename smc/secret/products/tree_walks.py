"""The leaves that secret decisions lead to, in complete trees whose leaves one party has.

A place in a level of a tree is XOR-shared: Alice has a, Bob b, and the node is that at a ^ b. Each party's
shares of the decisions of a level are a table; it offers them in the order j -> j ^ its own place, and the
peer takes the entry at its place, which is its share at the node:

    Alice (place a, shares c of a level's decisions)        Bob (place b, shares d)
      the last bit of a              == transfers ==          keys K_j0, K_j1 of his table's bit j
      keys L_j0, L_j1 of her table   == transfers ==          the last bit of b
      for all j: c[j ^ a] ^ r ^ pad of seed S_j   <-- and -->   d[j ^ b] ^ s ^ pad of seed T_j
      r ^ (d at the node ^ s), appended to a                  s ^ (c at the node ^ r), appended to b

At the bottom only the owner of the leaves offers a table, of words, masked by its share. Seeds run down a
binary tree: S_jb = H(S_j + K_b), by a hash H under a key that is drawn once the peer has chosen. Who takes an
entry has one key of each bit, and so the seeds along one path; where another path leaves it, that one takes a
key that is uniform to it.

Inputs: XOR shares of the decisions of n trees of depth d, in breadth-first order, 1 for the right child; the
leaves at their owner.
Outputs: shares modulo 2**w of the leaves that are reached.
Learns: neither party anything: what each takes is masked by a bit or word that the peer draws anew.
Assumes: `smc.oblivious`. AES-128 as an ideal cipher, of which H is the hash of single blocks as in
`smc.secret.products.gilboa`; a key of it serves at most 2**21 of them.
Cost: `cost`; a tree takes 2**d w / 8 + 2**(d - 2) bytes and 2 d - 1 transfers, and 2 d rounds all together.
Reference: Naor and Pinkas, Computationally secure oblivious transfer, Journal of Cryptology 2005, section 3
(one of many out of one of two); that shared bits lead through tables of both in turn: duetto. Paths
through a tree that one party has put into a random order: Wu, Feng, Naehrig and Lauter, Privately evaluating
decision trees and random forests, PoPETs 2016.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

import numpy as np
from cryptography.hazmat.primitives.ciphers import Cipher, algorithms, modes
from numpy.typing import NDArray

from smc.channel.message import Message
from smc.channel.vectors import ByteRows, ExpectedByteRows, byte_row
from smc.ciphers.lattice_ring import pack_words, packed_size, unpack_words
from smc.errors import UsageError
from smc.forms import Role
from smc.numeric.shapes import contiguous, of_shape, shape_array
from smc.oblivious.cost import FlightBytes, extended_blocks
from smc.protocols.against import Against
from smc.protocols.flights import Flight
from smc.protocols.session import Session
from smc.protocols.spec import Cost, Procedure
from smc.protocols.transfer_costs import TRANSFERS, cost_of

Word = NDArray[np.uint64]
Whole = NDArray[np.int64]
Bit = NDArray[np.uint8]

KEY_BYTES: Final = 16
MAX_WIDTH: Final = 57
MAX_DEPTH: Final = 12
MAX_ENTRIES: Final = 1 << 20
"""Entries of all leaves of one call."""

_PADS: Final = np.uint64(1 << 32)
"""Sets the hashes that are pads apart from those that are seeds."""


@dataclass(frozen=True, slots=True)
class TableKey(Message, kind="table-key", hidden=True):
    """The key of the hash of a level, drawn once the peer has chosen."""

    key: ByteRows


@dataclass(frozen=True, slots=True)
class MaskedTables(Message, kind="masked-tables", hidden=True):
    """The entries of a level's tables under pads, without gaps."""

    entries: ByteRows


def walk(session: Session, decisions: Bit, owner: Role, leaves: Word | None, size: int, width: int) -> Word:
    """Walk down trees.

    Args:
        session: this side of the run.
        decisions: local XOR shares, shape (n, 2**d - 1).
        owner: whose the leaves are.
        leaves: at the owner of t trees, t a divisor of n, shape (t, 2**d, size); tree k takes the leaves k
            modulo t; bits above `width` are dropped. None at the peer.
        size: how many words a leaf has.
        width: w, 1 to 57.

    Returns:
        Local shares modulo 2**w of the leaves that are reached (bits above are zero), shape (n, size).

    Raises:
        UsageError: the trees are not complete, or too large for one call.
        ProtocolViolation: the peer sent something else than the protocol says.
    """
    count, depth = len(decisions), (decisions.shape[1] + 1).bit_length() - 1
    _check(count, depth, size, width)
    if decisions.shape[1] != (1 << depth) - 1 or (leaves is None) is (session.role is owner):
        raise UsageError(
            "The trees are not complete, or the leaves are not at their owner.",
            "Fill the trees up, and give the leaves at their owner alone.",
        )
    if not count:
        return np.zeros((0, size), dtype=np.uint64, like=decisions)
    offered, taken = _Seeds(count, decisions), _Seeds(count, decisions)
    last = contiguous(decisions[:, 0])
    place = last.astype(np.int64)
    for level in range(1, depth):
        taken_keys = session.oblivious.receive_blocks(last)
        offered_keys = session.oblivious.send_blocks(count)
        order = np.arange(1 << level) ^ place[:, None]
        table = np.take_along_axis(decisions[:, (1 << level) - 1 :], order, axis=1)
        own = session.random.bits(count)
        pads = offered.extend(_drawn_key(session), offered_keys, 1)
        _offer(session, table[..., None] ^ own[:, None, None] ^ pads, 1)
        one = taken.follow(_received_key(session), taken_keys, 1)
        found = _take(session, place, level, 1, 1)
        last = own ^ ((found ^ one[:, 0])[:, 0] & np.uint64(1)).astype(np.uint8)
        place = 2 * place + last
    if leaves is None:
        keys = session.oblivious.receive_blocks(last)
        one = taken.follow(_received_key(session), keys, size)
        result = _take(session, place, depth, size, width) - one[:, 0]
    else:
        pairs = session.oblivious.send_blocks(count)
        order = np.arange(1 << depth) ^ place[:, None]
        trees = (np.arange(count) % len(leaves))[:, None]
        result = session.random.words(count * size).reshape(count, size)
        pads = offered.extend(_drawn_key(session), pairs, size)
        _offer(session, leaves[trees, order] - result[:, None] + pads, width)
    return result & np.uint64((1 << width) - 1)


def cost(count: int, depth: int, size: int, width: int, owner: Role = Role.ALICE) -> Cost:
    """The exact cost: flights and bytes, without the set-up of the transfers.

    Args:
        count: trees.
        depth: d.
        size: words of a leaf.
        width: w.
        owner: of the leaves.
    """
    if not count:
        return Cost()
    total = Cost()
    one_way = extended_blocks(count)
    both = [_both_ways(step) for step in one_way]
    for level in range(1, depth):
        each = KEY_BYTES + packed_size(count << level, 1)
        total += cost_of(both) + Cost((Flight.BOTH,), each, each)
    sent = KEY_BYTES + packed_size(count * size << depth, width)
    last = cost_of(one_way) + Cost((Flight.ALICE,), sent, 0)
    return total + (last if owner is Role.ALICE else last.mirror)


def _both_ways(step: FlightBytes) -> FlightBytes:
    each = step.first + step.second
    return FlightBytes(each, each)


class _Seeds:
    """Seeds of a level: of all places of the tables that are offered, or of the one that is taken.

    Args:
        count: tables.
        like: an array of the run.
    """

    def __init__(self, count: int, like: Bit) -> None:
        self._seeds: Word = np.zeros((count, 1, 2), dtype=np.uint64, like=like)

    def extend(self, key: bytes, pairs: tuple[Word, Word], size: int) -> Word:
        """Go down by both keys of each table; the pads of all places, shape (n, places, size)."""
        keys = np.stack(pairs, axis=1)
        children = self._seeds[:, :, None] ^ keys[:, None]
        self._seeds = _hash(key, children.reshape(len(keys), -1, 2))
        return _pads(key, self._seeds, size)

    def follow(self, key: bytes, keys: Word, size: int) -> Word:
        """Go down by the key that was taken; the pads of its place, shape (n, 1, size)."""
        self._seeds = _hash(key, self._seeds ^ keys[:, None])
        return _pads(key, self._seeds, size)


def _drawn_key(session: Session) -> bytes:
    key = session.random.bytes(KEY_BYTES)
    session.channel.send(TableKey(byte_row(key)))
    return key


def _received_key(session: Session) -> bytes:
    found: bytes = session.channel.recv(TableKey, ExpectedByteRows(1, KEY_BYTES)).tobytes()
    return found


def _offer(session: Session, entries: Word, width: int) -> None:
    """Send entries of shape (n, places, size)."""
    kept = contiguous(entries & np.uint64((1 << width) - 1)).reshape(-1)
    session.channel.send(MaskedTables(ByteRows(pack_words(kept, width)[None])))


def _take(session: Session, place: Whole, level: int, size: int, width: int) -> Word:
    """Of the peer's entries those at the local places, shape (n, size)."""
    total = len(place) * size << level
    packed = session.channel.recv(MaskedTables, ExpectedByteRows(1, packed_size(total, width)))
    entries = unpack_words(packed.reshape(-1), total, width).reshape(len(place), 1 << level, size)
    found: Word = np.take_along_axis(entries, place[:, None, None], axis=1)[:, 0]
    return found


def _check(count: int, depth: int, size: int, width: int) -> None:
    if not 1 <= depth <= MAX_DEPTH or not 1 <= width <= MAX_WIDTH or size < 1:
        raise UsageError(
            f"There are no trees of depth {depth} whose leaves have {width} bits.",
            f"Use 1 to {MAX_DEPTH} and 1 to {MAX_WIDTH}.",
        )
    if count * size << depth > MAX_ENTRIES:
        raise UsageError(f"{count} trees have more than {MAX_ENTRIES} leaves.", "Walk in several calls.")


def _pads(key: bytes, seeds: Word, size: int) -> Word:
    """So many words of each seed, shape (n, places, size)."""
    pairs = (size + 1) // 2
    numbers = _PADS + np.arange(pairs, dtype=np.uint64)
    low = seeds[:, :, None, 0] ^ numbers
    high = seeds[:, :, None, 1] ^ np.zeros(pairs, dtype=np.uint64)
    hashed = _hash(key, np.stack([low, high], axis=-1))
    found: Word = hashed.reshape(*seeds.shape[:2], 2 * pairs)[..., :size]
    return found


@of_shape(lambda key, blocks: shape_array(blocks.shape, np.uint64))
def _hash(key: bytes, blocks: Word) -> Word:
    """H of each block, in the same shape."""
    whole = np.ascontiguousarray(blocks)
    cipher = Cipher(algorithms.AES(key), modes.ECB()).encryptor()  # noqa: S305 - a hash of single blocks
    hashed = np.frombuffer(cipher.update(whole.view(np.uint8).reshape(-1).data), dtype=np.uint64)
    found: Word = hashed.reshape(whole.shape) ^ whole
    return found


SPEC: Final = Procedure(
    name="tree-walk",
    against=Against.PRIVATE,
    module=__name__,
    cost=cost,
    setups=(TRANSFERS,),
    example={"count": 1000, "depth": 5, "size": 1, "width": 24},
)

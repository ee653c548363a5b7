"""Entries of tables of one party at places that the other knows, as shares.

    chooser (a place of d bits in each table)          owner (tables of 2**d entries)
      a choice for every bit      == transfers ==        keys K_j0, K_j1 of each bit j
                                  <-- key of a hash H --
      S of its place, by its d keys                      S of all places:  S_ib = H(S_i + K_jb)
                                  <-- entries - r + pads of S --
      its entry less the pad: entry - r                  r

The places of a table are the leaves of a binary tree: the seed of a node is a hash of its parent's seed and
of the key of its last bit. The chooser has one key of each bit, and so the seeds along one path. At the
first bit at which another path leaves it, that path takes a key that is uniform to the chooser.

Inputs: tables of entries modulo 2**w at the owner, a place in each at the chooser.
Outputs: shares modulo 2**w of the entries at these places.
Learns: neither party anything. What the chooser gets is masked by r, which the owner draws anew.
Assumes: `smc.oblivious`; of large batches silent transfers. AES-128 as an ideal cipher, of which H is the
hash of single blocks as in `smc.secret.products.gilboa`; a key of it serves at most 2**21 of them.
Cost: `cost`; 2**d w / 8 bytes for the entries of a table, and d transfers of 128 bits.
Reference: Naor and Pinkas, Computationally secure oblivious transfer, Journal of Cryptology 2005, section 3
(one of many out of one of two); that seeds run down a tree: this house.
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
from smc.network import Network
from smc.numeric.shapes import contiguous, of_shape, shape_array
from smc.protocols.against import Against
from smc.protocols.flights import Flight
from smc.protocols.session import Session
from smc.protocols.spec import Cost, Procedure
from smc.protocols.transfer_costs import TRANSFERS, cost_blocks, takes_silent_blocks

Word = NDArray[np.uint64]
Whole = NDArray[np.int64]

KEY_BYTES: Final = 16
MAX_WIDTH: Final = 57
MAX_DEPTH: Final = 16
MAX_ENTRIES: Final = 1 << 20
"""Entries of all tables of one call."""


@dataclass(frozen=True, slots=True)
class LookupKey(Message, kind="lookup-key", hidden=True):
    """The key of the hash, drawn once the chooser has chosen, from the owner."""

    key: ByteRows


@dataclass(frozen=True, slots=True)
class MaskedTables(Message, kind="masked-tables", hidden=True):
    """All entries under pads, from the owner."""

    entries: ByteRows


def send_tables(session: Session, tables: Word, width: int) -> Word:
    """Look up as the owner; the peer calls `choose`.

    Args:
        session: this side of the run.
        tables: shape (n, 2**d, m): m entries at each place; bits above `width` are dropped.
        width: w, 1 to 57.

    Returns:
        Local shares modulo 2**w of the entries (bits above are zero), shape (n, m).

    Raises:
        UsageError: there are too many entries, or places that are not a power of two.
        ProtocolViolation: the peer sent something else than the protocol says.
    """
    count, places, size = tables.shape
    depth = places.bit_length() - 1
    _check(count, depth, size, width)
    if places != 1 << depth:
        raise UsageError(f"A table has {places} places.", "Fill it up to a power of two.")
    zero = np.zeros((count, size), dtype=np.uint64, like=tables)
    if not count:
        return zero
    silent = takes_silent_blocks(session.network, count * depth)
    pairs = session.oblivious.send_blocks(count * depth, silent=silent)
    keys = np.stack([each.reshape(count, depth, 2) for each in pairs], axis=2)
    key = session.random.bytes(KEY_BYTES)
    session.channel.send(LookupKey(byte_row(key)))
    mask = np.uint64((1 << width) - 1)
    own = session.random.words(count * size).reshape(count, size) & mask
    masked = tables - own[:, None] + _pads(key, _all_seeds(key, keys), size)
    entries = contiguous(masked & mask).reshape(-1)
    session.channel.send(MaskedTables(ByteRows(pack_words(entries, width)[None])))
    return own + zero


def choose(session: Session, places: Whole, depth: int, size: int, width: int) -> Word:
    """Look up as the party that knows the places; the peer calls `send_tables`.

    Args:
        session: this side of the run.
        places: in each table, from 0 to 2**d - 1, shape (n,).
        depth: d, at least 1.
        size: m, entries at each place.
        width: w.

    Returns:
        Local shares, as of `send_tables`.

    Raises:
        UsageError: there are too many entries.
        ProtocolViolation: the peer sent something else than the protocol says.
    """
    count = len(places)
    _check(count, depth, size, width)
    if not count:
        return np.zeros((0, size), dtype=np.uint64, like=places)
    bits = places[:, None] >> np.arange(depth - 1, -1, -1)
    choices = contiguous((bits & 1).astype(np.uint8)).reshape(-1)
    silent = takes_silent_blocks(session.network, len(choices))
    keys = session.oblivious.receive_blocks(choices, silent=silent).reshape(count, depth, 2)
    key = session.channel.recv(LookupKey, ExpectedByteRows(1, KEY_BYTES)).tobytes()
    total = count * size << depth
    packed = session.channel.recv(MaskedTables, ExpectedByteRows(1, packed_size(total, width)))
    entries = unpack_words(packed.reshape(-1), total, width).reshape(count, 1 << depth, size)
    pads = _pads(key, _one_seed(key, keys), size)[:, 0]
    found: Word = entries[np.arange(count), places] - pads
    return found & np.uint64((1 << width) - 1)


def cost(
    count: int, depth: int, size: int, width: int, owner: Role = Role.ALICE, network: Network | None = None
) -> Cost:
    """The exact cost over a network: flights and bytes, without the set-up of the transfers.

    Args:
        count: tables.
        depth: d.
        size: m.
        width: w.
        owner: of the tables.
        network: that of the session.
    """
    if not count:
        return Cost()
    sent = KEY_BYTES + packed_size(count * size << depth, width)
    total = cost_blocks(count * depth, network) + Cost((Flight.ALICE,), sent, 0)
    return total if owner is Role.ALICE else total.mirror


def _check(count: int, depth: int, size: int, width: int) -> None:
    if not 1 <= depth <= MAX_DEPTH or not 1 <= width <= MAX_WIDTH or size < 1:
        raise UsageError(
            f"There are no tables of {depth} bits with entries of {width}.",
            f"Use 1 to {MAX_DEPTH} and 1 to {MAX_WIDTH}.",
        )
    if count * size << depth > MAX_ENTRIES:
        raise UsageError(
            f"{count} tables have more than {MAX_ENTRIES} entries.", "Look them up in several calls."
        )


@of_shape(lambda key, keys: shape_array((len(keys), 1 << keys.shape[1], 2), np.uint64))
def _all_seeds(key: bytes, keys: Word) -> Word:
    """The seeds of all places, from keys of shape (n, d, 2, 2): (n, 2**d, 2)."""
    seeds = np.zeros((len(keys), 1, 2), dtype=np.uint64)
    for level in range(keys.shape[1]):
        children = seeds[:, :, None] ^ keys[:, level][:, None]
        seeds = _hashed(key, children.reshape(len(keys), -1, 2))
    return seeds


@of_shape(lambda key, keys: shape_array((len(keys), 1, 2), np.uint64))
def _one_seed(key: bytes, keys: Word) -> Word:
    """The seeds of one place of each table, from keys of shape (n, d, 2): (n, 1, 2)."""
    seeds = np.zeros((len(keys), 1, 2), dtype=np.uint64)
    for level in range(keys.shape[1]):
        seeds = _hashed(key, seeds ^ keys[:, level][:, None])
    return seeds


@of_shape(lambda key, seeds, size: shape_array((*seeds.shape[:2], size), np.uint64))
def _pads(key: bytes, seeds: Word, size: int) -> Word:
    """So many words of each seed, shape (n, places, size); a seed serves nothing else."""
    pairs = (size + 1) // 2
    blocks = np.empty((*seeds.shape[:2], pairs, 2), dtype=np.uint64)
    np.bitwise_xor(seeds[:, :, None, 0], np.arange(pairs, dtype=np.uint64), out=blocks[..., 0])
    blocks[..., 1] = seeds[:, :, None, 1]
    found: Word = _hashed(key, blocks).reshape(*seeds.shape[:2], -1)[..., :size]
    return found


def _hashed(key: bytes, blocks: Word) -> Word:
    """H of each block, in the same shape."""
    whole = np.ascontiguousarray(blocks)
    cipher = Cipher(algorithms.AES(key), modes.ECB()).encryptor()  # noqa: S305 - a hash of single blocks
    hashed = np.frombuffer(cipher.update(whole.view(np.uint8).reshape(-1).data), dtype=np.uint64)
    found: Word = hashed.reshape(whole.shape) ^ whole
    return found


SPEC: Final = Procedure(
    name="table-lookup",
    against=Against.PRIVATE,
    module=__name__,
    cost=cost,
    setups=(TRANSFERS,),
    example={"count": 1000, "depth": 5, "size": 1, "width": 24},
)

"""Pools: the correlated randomness of comparisons, made ahead of time and used once.

    Alice                                       Bob
      random choices, digits and triples          random choices, digits and triples
                          <-- matrices -->                              (both at once, one flight per span)
      a half under a name                         a half under the same name

Each party holds its half of a pool: random 1-of-16 transfers for every digit, with random choices, and the
bit triples of the carry tree. Using it costs a shift of the choices instead of an extension: the receiver
tells choice ^ digit, and the sender renumbers its pads by it.

What is taken is erased from the pool first. A pool that is exported as bytes is empty afterwards, so there is
one copy at a time; whoever stores the bytes has to delete them before the pool made from them is used. Before
use both parties compare the pool's name and how much of it is left, so a half that was used before, or
restored from a backup, is refused by the other side.

`PeerPools` is where pools lie between sessions, as protocols see it; who keeps them encrypted on disk is not
known here.

Inputs: nothing but how many comparisons of how many bits, and who will hold x.
Outputs: each party its half of a pool, under the same name.
Learns: neither party anything of the other's half. Nor does a peer that deviates from a filling, whose
    transfers are checked before a half is kept. But it can keep its own half after use: where this side's
    home comes back from a backup together with its log of used pools, such a peer uses the pool once more and
    learns relations between the values of both runs. One that follows the protocol has deleted its half. So
    pools are semi-honest.
Assumes: as `smc.oblivious.softspoken` and `smc.oblivious.ot_1_of_16`, in the session that made the pool; that
the bytes are stored where only their owner can read or change them.
Cost: `smc.oblivious.cost.preparation`: the matrices of the comparisons, one flight per span.
Reference: Beaver, Precomputing oblivious transfer, CRYPTO 1995.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from math import prod
from threading import Lock
from typing import Final, Protocol

import numpy as np
from typing_extensions import override

from smc.channel.channel import Channel
from smc.channel.message import Message
from smc.channel.vectors import ByteRows, ExpectedByteRows
from smc.errors import ProtocolViolation, UsageError
from smc.oblivious.bitmatrix import SLOTS, Word, words_for
from smc.oblivious.ot_1_of_16 import CHOICES, DIGIT_BITS
from smc.oblivious.prepared import Portion, Triples
from smc.oblivious.spans import POOL_NAME_BYTES, Digits

_MAGIC: Final = b"duetto-pool-1\0"
_MAX_BITS: Final = 1 << 12


@dataclass(frozen=True, slots=True)
class PoolState(Message, kind="pool-state", hidden=True):
    """Both ways: the name of a pool and how much of it is left."""

    state: ByteRows


def _shapes(bits: int, holds_x: bool) -> list[tuple[int, ...]]:
    """Shapes of a pool's arrays without their last axis: choices, chosen, pads, and the triples' a, b, c."""
    digits = Digits.of(bits)
    sent, received = digits.sent_by_x, digits.sent_by_y
    if not holds_x:
        sent, received = received, sent
    joins = digits.joins
    return [(DIGIT_BITS, received), (2, received), (CHOICES, 2, sent), (joins,), (2, joins), (2, joins)]


class Pool:
    """One party's half of a pool.

    Args:
        name: the same on both sides, 32 bytes, and never the same twice.
        bits: width of the numbers to compare.
        holds_x: whether the local numbers are x.
        arrays: choices, chosen pads, pads, and a, b and c of the triples, the last axis words of slots.
    """

    def __init__(self, name: bytes, bits: int, holds_x: bool, arrays: Sequence[Word]) -> None:
        self.name = name
        self.bits = bits
        self.holds_x = holds_x
        self._arrays = list(arrays)
        self._lock = Lock()

    def __len__(self) -> int:
        """Comparisons that are left; every batch uses up a multiple of 64."""
        return SLOTS * self._width

    @property
    def _width(self) -> int:
        width: int = self._arrays[0].shape[-1]
        return width

    @override
    def __repr__(self) -> str:
        return f"Pool({len(self)} comparisons of {self.bits} bits)"

    @classmethod
    def of(cls, name: bytes, bits: int, holds_x: bool, portions: Sequence[Portion]) -> Pool:
        """A pool of fresh portions."""
        rows = [(p.choices, p.chosen, p.pads, p.triples.a, p.triples.b, p.triples.c) for p in portions]
        shapes = _shapes(bits, holds_x)
        widths = [p.triples.a.shape[-1] for p in portions]
        arrays = [
            np.concatenate(
                [row[i].reshape(*shape, width) for row, width in zip(rows, widths, strict=True)], axis=-1
            )
            for i, shape in enumerate(shapes)
        ]
        return cls(name, bits, holds_x, arrays)

    def fits(self, count: int, bits: int, holds_x: bool) -> bool:
        """Whether the pool is made for such numbers and has enough left."""
        return bits == self.bits and holds_x == self.holds_x and SLOTS * words_for(count) <= len(self)

    def take(self, count: int) -> Portion:
        """Take what `count` comparisons need; it is erased from the pool before it is returned.

        Raises:
            UsageError: there is not enough left.
        """
        width = words_for(count)
        with self._lock:
            if SLOTS * width > len(self):
                raise UsageError(
                    f"The pool has {len(self)} comparisons left, but {SLOTS * width} are needed.",
                    "Fill a new pool.",
                )
            taken = [array[..., :width].copy() for array in self._arrays]
            for array in self._arrays:
                array[..., :width] = 0
            self._arrays = [array[..., width:] for array in self._arrays]
        choices, chosen, pads = taken[:3]
        return Portion(
            choices.reshape(DIGIT_BITS, -1),
            chosen.reshape(2, -1),
            pads.reshape(CHOICES, 2, -1),
            Triples(*taken[3:]),
        )

    def export(self) -> bytes:
        """The pool as bytes for an encrypted store; the pool itself is empty afterwards."""
        with self._lock:
            header = self.name + self.bits.to_bytes(2, "big") + bytes([self.holds_x])
            width = self._width
            body: bytes = b"".join(array.astype("<u8").tobytes() for array in self._arrays)
            for array in self._arrays:
                array[:] = 0
            self._arrays = [array[..., width:] for array in self._arrays]
        return _MAGIC + header + width.to_bytes(8, "big") + body

    @classmethod
    def load(cls, data: bytes) -> Pool:
        """The pool that `export` gave; delete the stored bytes before it is used.

        Raises:
            UsageError: the bytes are not a pool.
        """
        start = len(_MAGIC)
        header = data[start : start + POOL_NAME_BYTES + 11]
        name, rest = header[:POOL_NAME_BYTES], header[POOL_NAME_BYTES:]
        bits, width = int.from_bytes(rest[:2], "big"), int.from_bytes(rest[3:], "big")
        body = data[start + len(header) :]
        known = data[:start] == _MAGIC and len(rest) == 11 and 1 <= bits <= _MAX_BITS and rest[2] <= 1
        shapes = _shapes(bits, rest[2] == 1) if known else []
        if not known or 8 * width * sum(prod(shape) for shape in shapes) != len(body):
            raise UsageError("These bytes are not a pool of correlated randomness.", "Fill a new pool.")
        words = np.frombuffer(body, dtype="<u8").astype(np.uint64)
        arrays, used = [], 0
        for shape in shapes:
            size = prod(shape) * width
            arrays.append(words[used : used + size].reshape(*shape, width))
            used += size
        return cls(name, bits, rest[2] == 1, arrays)


@dataclass(frozen=True, slots=True)
class PoolInfo:
    """What is known of a pool without its secrets.

    Attributes:
        name: the same on both sides, 32 bytes.
        comparisons: how many it is good for, a multiple of 64.
        bits: width of the numbers to compare.
        holds_x: whether the local numbers will be x.
    """

    name: bytes
    comparisons: int
    bits: int
    holds_x: bool

    @classmethod
    def of(cls, pool: Pool) -> PoolInfo:
        """The description of a pool as it is now."""
        return cls(pool.name, len(pool), pool.bits, pool.holds_x)


class PeerPools(Protocol):
    """The local halves of the pools with one peer.

    What is taken is gone from it for good before it is handed out, so a pool is used at most once.
    """

    def put(self, stored: PoolInfo, data: bytes) -> None:
        """Keep what `Pool.export` gave.

        Raises:
            DuettoError: there is no room, or a pool of that name is or was there.
        """
        ...

    def pools(self) -> Sequence[PoolInfo]:
        """What is there, in any order."""
        ...

    def take(self, name: bytes) -> bytes | None:
        """Delete a pool and then hand it out; None if there is none of that name.

        Raises:
            DuettoError: it is damaged, or was taken before.
        """
        ...


def agree(channel: Channel, pool: Pool) -> None:
    """Compare a pool with the peer's.

    Raises:
        ProtocolViolation: the peer has another pool, or another part of it left.
    """
    state = pool.name + len(pool).to_bytes(8, "big")
    channel.send(PoolState(ByteRows(np.frombuffer(state, dtype=np.uint8).reshape(1, -1))))
    other = channel.recv(PoolState, ExpectedByteRows(1, len(state)))
    if other.tobytes() != state:
        raise ProtocolViolation(
            "The pools of the two parties do not belong together, or one has been used.",
            "Delete both and fill a new pool.",
        )

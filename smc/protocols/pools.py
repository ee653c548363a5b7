"""Agreeing on a pool that both parties have kept, and taking it from both stores.

    Alice (names of fitting pools)  -- offer -->   Bob (names of fitting pools)
                                    <-- offer --   at the same time
      the first of Alice's that Bob offers as well, or none: then the end
      deletes it, then reads it                      deletes it, then reads it
                                    -- taken -->
                                    <-- taken --   at the same time
      uses it if both have it                        uses it if both have it

A pool that only one side could take is lost, and the run goes on without. So is what a run leaves of a pool.

Inputs: each side's pools, or none; the comparisons to make, their bits and who holds x.
Outputs: the pool in use in this session, or None.
Learns: each party the random names of up to 8 pools that the peer keeps for such comparisons with it.
Assumes: stores that hand out a pool at most once; as `smc.oblivious.pool`.
Cost: 1 round and 256 bytes each way; with a pool in common 1 round and 1 byte more, and 1 round and 40 bytes
of `ObliviousEngine.use_pool` if both could take it.
Reference: Beaver, Precomputing oblivious transfer, CRYPTO 1995, for what a pool is.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

import numpy as np

from smc.channel.message import Message
from smc.channel.vectors import ByteRows, ExpectedByteRows
from smc.errors import ProtocolViolation
from smc.forms import Role
from smc.oblivious.pool import Pool
from smc.oblivious.spans import POOL_NAME_BYTES
from smc.protocols.against import Against
from smc.protocols.flights import Flight
from smc.protocols.full_session import FullSession
from smc.protocols.spec import Cost, Procedure

OFFERS: Final = 8
"""Pools that a side names; more of one kind wait until these are used."""

_NOBODY: Final = bytes(POOL_NAME_BYTES)


@dataclass(frozen=True, slots=True)
class PoolOffer(Message, kind="pool-offer", hidden=True):
    """The sender's names of fitting pools, the smallest pool first, filled up with zeros."""

    names: ByteRows


@dataclass(frozen=True, slots=True)
class PoolTaken(Message, kind="pool-taken", hidden=True):
    """Whether the sender has taken the pool: 1 or 0."""

    done: ByteRows


def offer_cost() -> Cost:
    """The exact cost if the parties have no pool in common."""
    size = OFFERS * POOL_NAME_BYTES
    return Cost((Flight.BOTH,), size, size)


def take_pool(session: FullSession, comparisons: int, bits: int, *, holds_x: bool) -> Pool | None:
    """Find a pool for the comparisons that are to come, and let the session use it; both parties call it.

    Args:
        session: this side.
        comparisons: how many there will be, every batch rounded up to a multiple of 64.
        bits: their width.
        holds_x: whether the local numbers will be x; the sides say the opposite.

    Returns:
        The pool that is in use from now on, or None if the parties have none in common.

    Raises:
        ProtocolViolation: the peer sent something else than the protocol says.
        DuettoError: the local store holds a damaged pool.
    """
    own = _fitting(session, comparisons, bits, holds_x=holds_x)
    rows = np.frombuffer(b"".join([*own, *[_NOBODY] * (OFFERS - len(own))]), np.uint8)
    session.channel.send(PoolOffer(ByteRows(rows.reshape(OFFERS, POOL_NAME_BYTES))))
    listed = session.channel.recv(PoolOffer, ExpectedByteRows(OFFERS, POOL_NAME_BYTES))
    theirs = [row.tobytes() for row in listed]
    alices, bobs = (own, theirs) if session.role is Role.ALICE else (theirs, own)
    name = next((name for name in alices if name in bobs and name != _NOBODY), None)
    if name is None:
        return None
    pool = _take(session, name)
    session.channel.send(PoolTaken(ByteRows(np.array([[pool is not None]], np.uint8))))
    answer = int(session.channel.recv(PoolTaken, ExpectedByteRows(1, 1))[0, 0])
    if answer > 1:
        raise ProtocolViolation("The peer's answer about a pool is neither yes nor no.")
    if pool is None or not answer:
        return None
    session.oblivious.use_pool(pool)
    return pool


def _fitting(session: FullSession, comparisons: int, bits: int, *, holds_x: bool) -> list[bytes]:
    """The names of the local pools that would do, the smallest first."""
    kept = session.precomputed.pools() if session.precomputed is not None else ()
    fitting = [p for p in kept if (p.bits, p.holds_x) == (bits, holds_x) and p.comparisons >= comparisons]
    fitting.sort(key=lambda pool: (pool.comparisons, pool.name))
    return [pool.name for pool in fitting[:OFFERS]]


def _take(session: FullSession, name: bytes) -> Pool | None:
    data = session.precomputed.take(name) if session.precomputed is not None else None
    return Pool.load(data) if data is not None else None


SPEC: Final = Procedure(
    name="pool-agreement",
    against=Against.PRIVATE,
    module=__name__,
    cost=offer_cost,
)

"""Comparing which pools both parties have kept.

    Alice (names of all her pools)  -- names -->   Bob (names of all his pools)
                                    <-- names --   at the same time
      parts hers into those that Bob named, and the rest; he does the same

A half whose other half is gone, by a crash or since the peer has deleted it, is of no use: who compares can
delete it, and make another pool.

Inputs: each side's pools with this peer, or none, and how many names are told at most.
Outputs: the local pools, in two lists: those that the peer has, too, and those that it has not.
Learns: each party the random names of all pools that the peer keeps with it, and so how many.
Assumes: nothing; a peer that tells other names makes this side delete halves, or keep useless ones.
Cost: 1 round and 32 bytes each way for each name that may be told.
Reference: none; `smc.oblivious.pool` says what a pool is.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

import numpy as np

from smc.channel.message import Message
from smc.channel.vectors import ByteRows, ExpectedByteRows
from smc.errors import UsageError
from smc.oblivious.pool import PoolInfo
from smc.oblivious.spans import POOL_NAME_BYTES
from smc.protocols.against import Against
from smc.protocols.flights import Flight
from smc.protocols.full_session import FullSession
from smc.protocols.spec import Cost, Procedure

_NOBODY: Final = bytes(POOL_NAME_BYTES)


@dataclass(frozen=True, slots=True)
class PoolNames(Message, kind="pool-names", hidden=True):
    """Both ways: the names of all pools that the sender keeps with the receiver, filled up with zeros."""

    names: ByteRows


@dataclass(frozen=True, slots=True)
class KeptByBoth:
    """The local pools with a peer, after comparing.

    Attributes:
        common: those that the peer has, too.
        lost: those of which the other half is gone.
    """

    common: Sequence[PoolInfo]
    lost: Sequence[PoolInfo]


def stock_cost(most: int) -> Cost:
    """The exact cost."""
    size = most * POOL_NAME_BYTES
    return Cost((Flight.BOTH,), size, size)


def compare_stock(session: FullSession, most: int) -> KeptByBoth:
    """Compare which pools both parties have; both call it.

    Args:
        session: this side.
        most: names that are told, the same on both sides, at least as many as either keeps pools.

    Raises:
        UsageError: this side keeps more pools.
        ProtocolViolation: the peer sent something else than the protocol says.
    """
    kept = session.precomputed.pools() if session.precomputed is not None else ()
    if len(kept) > most:
        raise UsageError(
            f"{len(kept)} pools are kept, more than the {most} that are compared.",
            "Use some up, or delete them with `duetto pool clear`.",
        )
    told = b"".join([*(pool.name for pool in kept), *[_NOBODY] * (most - len(kept))])
    session.channel.send(PoolNames(ByteRows(np.frombuffer(told, np.uint8).reshape(most, POOL_NAME_BYTES))))
    rows = session.channel.recv(PoolNames, ExpectedByteRows(most, POOL_NAME_BYTES))
    theirs = {row.tobytes() for row in rows}
    return KeptByBoth(
        [pool for pool in kept if pool.name in theirs], [pool for pool in kept if pool.name not in theirs]
    )


SPEC: Final = Procedure(
    name="pool-stock",
    against=Against.PRIVATE,
    module=__name__,
    cost=stock_cost,
    example={"most": 64},
)

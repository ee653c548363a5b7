"""Sums of shared columns over groups of rows that one party knows; the other learns not even how large.

    owner (group of each row)                    both (shares of columns)
      one more row of zeros for each group, which stands last in it, local
      == rows in the order of groups, a network ==      sums up to each row, local
      == the added rows first, a network ==             sums up to the end of each group; differences, local

What is sent does not depend on the groups, and hardly on how many there are.

Inputs: shares modulo 2**64 of n rows of m integers; at the owner the group of each row, or none.
Outputs: shares of the sums of each group.
Learns: neither party anything.
Assumes: `smc.secret.orders.permutation`.
Cost: `cost`; two networks over n rows and one for each group.
Reference: prefix sums in a secret order, as in sorting-based joins and aggregation; Mohassel and Sadeghian,
EUROCRYPT 2013, for the networks.
"""

from __future__ import annotations

from typing import Final

import numpy as np

from smc.forms import Role
from smc.network import Network
from smc.numeric.shapes import of_shape, shape_array
from smc.protocols.against import Against
from smc.protocols.session import Session
from smc.protocols.spec import Cost, Procedure
from smc.protocols.transfer_costs import TRANSFERS
from smc.secret.orders import permutation
from smc.secret.orders.benes import Index, Word


def group_sums(session: Session, rows: Word, owner: Role, groups: Index | None, count: int) -> Word:
    """Add up rows by group.

    Args:
        session: this side of the run.
        rows: local shares modulo 2**64, shape (n, m).
        owner: who knows the groups.
        groups: at the owner that of each row from 0, or a negative number for none, shape (n,); None at the
            other party.
        count: groups, public.

    Returns:
        Local shares of the sums, shape (count, m).

    Raises:
        UsageError: the groups are missing or on the wrong side.
        ProtocolViolation: the peer sent something else than the protocol says.
    """
    order, ends = (None, None) if groups is None else _orders(groups, count)
    added = np.zeros((count, rows.shape[1]), dtype=np.uint64, like=rows)
    ordered = permutation.permute(session, np.concatenate([rows, added]), owner, order)
    until = ordered.cumsum(axis=0, dtype=np.uint64)
    at_ends = permutation.permute(session, until, owner, ends)[:count]
    found: Word = at_ends.copy()
    found[1:] -= at_ends[:-1]
    return found


@of_shape(lambda groups, count: (shape_array(len(groups) + count, np.int64),) * 2)
def _orders(groups: Index, count: int) -> tuple[Index, Index]:
    """The order of groups, added rows last in each and rows without one at the end; and added rows first."""
    every = np.concatenate([np.where(groups < 0, count, groups), np.arange(count)])
    order = np.argsort(every, kind="stable")
    added = order >= len(groups)
    ends = np.concatenate([np.flatnonzero(added), np.flatnonzero(~added)])
    return order, ends


def cost(count: int, groups: int, columns: int, owner: Role, network: Network | None = None) -> Cost:
    """The exact cost of `group_sums`, without the set-up of oblivious transfer.

    Args:
        count: rows.
        groups: of them.
        columns: integers of a row.
        owner: who knows the groups.
        network: that of the session.
    """
    once = permutation.cost(count + groups, owner, network, columns=columns)
    return once + once


SPEC: Final = Procedure(
    name="group-sums",
    against=Against.PRIVATE,
    module=__name__,
    cost=cost,
    setups=(TRANSFERS,),
    example={"count": 900, "groups": 50, "columns": 2, "owner": Role.ALICE},
)

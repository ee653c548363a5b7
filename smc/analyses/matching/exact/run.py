"""The joint run of an exact matching that shows keys, one side."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from smc.analyses.disclosure.figures import Rows
from smc.analyses.disclosure.release import Release
from smc.analyses.records.joint_hashes import hash_jointly
from smc.analyses.records.keys import KeyedRows
from smc.forms import Role
from smc.protocols.exchange.row_counts import RowCount
from smc.protocols.intersection import exact
from smc.protocols.session import Session
from smc.secret.joins.circuit_psi import align
from smc.secret.linear_ints import LinearInts


def run(
    session: Session, keyed: KeyedRows, recipients: frozenset[Role], release: Release
) -> NDArray[np.bool_] | None:
    """Find the keys of both sides.

    Args:
        session: this side.
        keyed: the local rows under their keys, which are distinct.
        recipients: who gets the keys.
        release: gives them.

    Returns:
        For each local row whether the other side has its key; None for a party that gets none.

    Raises:
        DisclosureRefused: a limit stands against the run, at both sides.
        ProtocolViolation: the peer sent something else than the protocol says.
    """
    keys, peer_count = hash_jointly(session, keyed, release)
    release.intersection(lambda: (_size(session, keys, peer_count),))
    counts = (len(keys), peer_count) if session.role is Role.ALICE else (peer_count, len(keys))
    tell = len(recipients) == len(Role)
    if session.role is receiver_of(recipients, *counts):
        return release.protocol(Rows(), exact.receive, session, keys, peer_count, tell=tell)
    return release.protocol(Rows(), exact.send, session, keys, peer_count, tell=tell)


def _size(session: Session, keys: NDArray[np.uint64], peer_count: RowCount) -> LinearInts:
    """How many keys both sides have, one secret number, before a protocol shows of what they are."""
    nothing = np.zeros((len(keys), 0), dtype=np.int64, like=keys)
    return align(session, keys, peer_count, nothing, (), ()).size()


def receiver_of(recipients: frozenset[Role], alice_count: int, bob_count: int) -> Role:
    """Who receives in the protocol: the recipient; of two the one with fewer keys, which costs less."""
    if len(recipients) == 1:
        return next(iter(recipients))
    return Role.ALICE if alice_count <= bob_count else Role.BOB

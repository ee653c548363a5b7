"""Hashing the keys of both sides under a salt that both have drawn."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from smc.analyses.disclosure.release import Release
from smc.analyses.records.keys import KeyedRows, hash_keys
from smc.protocols.coins import toss
from smc.protocols.exchange.row_counts import RowCount, exchange_counts
from smc.protocols.session import Session


def hash_jointly(session: Session, keyed: KeyedRows, release: Release) -> tuple[NDArray[np.uint64], RowCount]:
    """Hash the local keys under a salt drawn with the peer, once the sizes of both sets are allowed.

    Args:
        session: this side.
        keyed: the local rows; the salt is drawn once they are fixed.
        release: with the limits on sets.

    Returns:
        The local keys, shape (n, 2), and how many the peer has.

    Raises:
        DisclosureRefused: a limit on sets stands against the run, at both sides.
        ProtocolViolation: the peer sent something else than the protocol says.
    """
    peer_count = exchange_counts(session, [len(keyed)])[0]
    release.sets(len(keyed), peer_count)
    keys = hash_keys(keyed, toss(session))
    session.report("keys", 1, 1)
    return keys, peer_count

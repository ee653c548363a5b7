"""Small groups in noisy results: withheld inside the protocol, by their noisy counts.

A result whose noisy row count is below the least one comes out as 0, and so does its count, which no shown
result has; so recipients see which results are withheld, and the others nothing. It costs no further privacy,
as it follows from the noisy count.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from smc.protocols.session import Session
from smc.secret.comparison import mux
from smc.secret.linear_ints import LinearInts
from smc.secret.sharing.bounds import LIMIT, Bounds

Ints = NDArray[np.int64]
Word = NDArray[np.uint64]


def withhold(session: Session, words: Word, counts: Ints, least: int) -> Word:
    """Replace by 0 what is about too few rows.

    Args:
        session: this side of the run.
        words: local shares of the results, shape (n,), less than 2**62 in absolute value.
        counts: for each result, which one counts its rows, shape (n,).
        least: rows that a result is about at least, positive.

    Returns:
        Own shares, shape (n,).
    """
    places, which = np.unique(counts, return_inverse=True)
    counted = LinearInts.from_shares(session, words[places], Bounds(1 - LIMIT // 2, LIMIT // 2 - 1))
    enough = counted >= least
    return mux.select(session, enough.shares[which], words)

"""Noise that neither party knows: shares modulo 2**64 of discrete Laplace draws.

    Alice                                       Bob
      words u_A uniform                           words u_B uniform
      shares of [u < T], u = u_A ^ u_B, T public     for every binary digit of every geometric variable
      XOR shares of bits -> shares modulo 2**64
      sum of digits * 2**i of the first variable, minus those of the second

As one of u_A and u_B suffices to make u uniform, a party's own words say nothing about the draw. The words
are XOR-shared rather than added: the bound is public, so the first level of the comparison is local and no
wrap-around has to be corrected.

Learns: neither party anything of the draws.
Assumes: semi-honest parties, `smc.oblivious`.
Cost: `cost`; the number of rounds does not depend on how many draws there are, up to 66,560 biased bits.
Reference: Dwork, Kenthapadi, McSherry, Mironov and Naor, Our data, ourselves: privacy via distributed noise
generation, EUROCRYPT 2006.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from smc.oblivious import cost as oblivious
from smc.protocols.comparison.oblivious import cost_of
from smc.protocols.session import Session
from smc.protocols.spec import Cost
from smc.secret.laplace import DiscreteLaplace


def draw(session: Session, laws: Sequence[DiscreteLaplace]) -> NDArray[np.uint64]:
    """Independent draws, all in one batch; both parties call it with the same laws.

    Args:
        session: the own side of the run.
        laws: the law of each draw, n of them.

    Returns:
        Own shares, shape (n,): the sum of both sides' is the draw modulo 2**64, negative ones wrapped.

    Raises:
        ProtocolViolation: the peer sent something else than the protocol says.
    """
    if not laws:
        return np.empty(0, dtype=np.uint64)
    thresholds = np.array([t for law in laws for t in law.thresholds * 2], dtype=np.uint64)
    own = session.random.words(len(thresholds))
    digits = session.oblivious.to_words(session.oblivious.below(own, thresholds))
    starts = np.cumsum([0, *(2 * law.digits for law in laws[:-1])])
    return np.add.reduceat(digits * _weights(laws), starts)


def _weights(laws: Sequence[DiscreteLaplace]) -> NDArray[np.uint64]:
    """2**i for the digits of the first variable of each draw, -2**i for those of the second."""
    powers = [[1 << digit for digit in range(law.digits)] for law in laws]
    signed = [weight for row in powers for weight in (*row, *(-power for power in row))]
    return np.array(signed, dtype=np.int64).view(np.uint64)


def cost(laws: Sequence[DiscreteLaplace]) -> Cost:
    """The exact cost of `draw`, without the set-up of oblivious transfer."""
    bits = sum(2 * law.digits for law in laws)
    return cost_of((*oblivious.below(bits), *oblivious.to_words(bits)))

"""Noise that neither party knows: shares modulo 2**64 of draws from public distributions.

    Alice                                       Bob
      words u_A uniform                           words u_B uniform
      shares of [u < T], u = u_A ^ u_B, T public     for every threshold T of every draw
      XOR shares of bits -> shares modulo 2**64
      offset + sum of weight * bit                   for every draw

As one of u_A and u_B suffices to make u uniform, a party's own words say nothing about the draw. The words
are XOR-shared rather than added: the bound is public, so the first level of the comparison is local and no
wrap-around has to be corrected. What words, thresholds and weights a distribution has,
`smc.secret.noise.laplace` and `smc.secret.noise.gaussian` say.

Inputs: the public distributions of n draws.
Outputs: shares modulo 2**64 of the draws.
Learns: neither party anything of the draws.
Assumes: `smc.oblivious`; of large batches silent transfers where the network is slow.
Cost: `records.cost_draw`; the number of rounds does not depend on how many draws there are, up to 66,560
biased bits.
Reference: Dwork, Kenthapadi, McSherry, Mironov and Naor, Our data, ourselves: privacy via distributed noise
generation, EUROCRYPT 2006.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import groupby

import numpy as np
from numpy.typing import NDArray

from smc.forms import Role
from smc.numeric.shapes import of_shape, shape_array
from smc.protocols.session import Session
from smc.secret.noise.distribution import BiasedBits, Distribution


def draw(
    session: Session, distributions: Sequence[Distribution], *, silent: bool | None = None
) -> NDArray[np.uint64]:
    """Independent draws, all in one batch; both parties call it with the same arguments.

    Args:
        session: this side of the run.
        distributions: the distribution of each draw, n of them.
        silent: whether to compare by silent transfers; None for where `transfer_costs.takes_silent_below`
            says so. False where others are made ahead, which these would wait for.

    Returns:
        Local shares, shape (n,): the sum of both sides' is the draw modulo 2**64, negative ones wrapped.

    Raises:
        ProtocolViolation: the peer sent something else than the protocol says.
    """
    if not distributions:
        return np.empty(0, dtype=np.uint64)
    runs = _runs(distributions)
    own, thresholds = _comparands(session, runs)
    if silent is None:
        silent = session.takes_silent_below(len(thresholds))
    found = session.oblivious.below(own, thresholds, silent=silent)
    digits = session.oblivious.bits_to_arithmetic(found)
    drawn = []
    start = 0
    for bits, count in runs:
        stop = start + len(bits.weights) * count
        sums = digits[start:stop].reshape(count, -1) @ bits.weights.view(np.uint64)
        drawn.append(sums + np.array(bits.offset * (session.role is Role.ALICE)).view(np.uint64))
        start = stop
    return np.concatenate(drawn)


@of_shape(
    lambda session, runs: (
        (shape_array(sum(len(bits.weights) * count for bits, count in runs), np.uint64),) * 2
    )
)
def _comparands(
    session: Session, runs: Sequence[tuple[BiasedBits, int]]
) -> tuple[NDArray[np.uint64], NDArray[np.uint64]]:
    """Own words for all biased bits, and what they are compared with."""
    own = session.random.words(sum(_words(bits) * count for bits, count in runs))
    return own[_places(runs)], np.concatenate([np.tile(bits.thresholds, count) for bits, count in runs])


def _runs(distributions: Sequence[Distribution]) -> list[tuple[BiasedBits, int]]:
    """The distributions, those that follow each other alike counted together."""
    alike = ([*group] for _, group in groupby(distributions, key=id))
    return [(group[0].bits, len(group)) for group in alike]


def _words(bits: BiasedBits) -> int:
    return int(bits.words[-1]) + 1


def _places(runs: Sequence[tuple[BiasedBits, int]]) -> NDArray[np.int64]:
    """Which of all words each bit looks at."""
    places = []
    start = 0
    for bits, count in runs:
        firsts = start + _words(bits) * np.arange(count)
        places.append((firsts[:, None] + bits.words).reshape(-1))
        start += _words(bits) * count
    return np.concatenate(places)


def biased_bits(distributions: Sequence[Distribution]) -> int:
    """From how many biased bits the draws come."""
    return sum(len(bits.weights) * times for bits, times in _runs(distributions))

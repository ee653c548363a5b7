"""How alike rows are to the nearest that they claim, in secret, and how many are how alike.

A word of b bits, 32 or 64, holds the two numbers that a Dice coefficient 2 c / (a + b) is made of:

    word = score 2**(b - 9) + (a + b),     score = most - (a + b - 2 c), or the word 0 without a claim

Only the score matters where words are compared to find the nearest. A coefficient reaches T where

    score - most + (1 - T) (a + b) >= 0

which, times 2**15 and rounded, is linear in score and a + b: T has two digits, so that the left side is 0 or
more, or at most -1/100, and a + b is at most 256.

To part the two, both parties' lower bits are looked at: shares of a number below 2**9 modulo 2**k add up past
2**k, unless both are below 2**9 themselves. Each party sees that of its own, and that both are is the product
of two bits, for which there is a correlated transfer.

Inputs: shares of words.
Outputs: XOR shares of who reaches T; shares of the numbers of rows in bins.
Learns: neither party anything.
Assumes: `smc.secret.comparison.msb`, `smc.secret.comparison.mux`, `smc.oblivious`.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from fractions import Fraction
from typing import Final

import numpy as np

from smc.analyses.matching.tolerant.histogram import EDGES
from smc.analyses.matching.tolerant.places import Bit, Word
from smc.analyses.matching.tolerant.word_layout import WordLayout
from smc.forms import Role
from smc.pieces import chunks
from smc.protocols.session import Session
from smc.secret.comparison import msb, mux
from smc.secret.sharing.bounds import Bounds

_GRAIN: Final = 15
"""Binary digits of coefficients: 2**15 exceeds 100 * 256, the rounding."""

_SIZE_BITS: Final = np.uint64(9)
"""Of a + b."""

STRETCH_ROWS: Final = 1 << 20
"""So many comparisons are made at a time."""


@dataclass(frozen=True, slots=True)
class Nearest:
    """Local shares of what words hold, shape (n,) each.

    Attributes:
        scores: modulo 2**9.
        sizes: a + b.
    """

    scores: Word = field(repr=False)
    sizes: Word = field(repr=False)

    @classmethod
    def of(cls, session: Session, layout: WordLayout, found: Word) -> Nearest:
        """Part words of that layout, shape (n,).

        Raises:
            ProtocolViolation: the peer sent something else than the protocol says.
        """
        lower = found & np.uint64((1 << int(layout.score_bit)) - 1)
        small = ((lower >> _SIZE_BITS) == 0).astype(np.uint8)
        first, own = session.role is Role.ALICE, small.astype(np.uint64)
        bits, words = (np.zeros_like(small), own) if first else (small, np.zeros_like(own))
        carried = np.uint64(first) - mux.select(session, bits, words, Role.ALICE)
        return cls((found >> layout.score_bit) + carried, lower - (carried << layout.score_bit))


def words(layout: WordLayout, scores: Word, sizes: Word) -> Word:
    """Local shares of words, from those of scores modulo 2**9 and of a + b."""
    return (scores << layout.score_bit) + sizes


def reaches(session: Session, nearest: Nearest, threshold: Fraction, most: int) -> Bit:
    """XOR shares of which coefficients reach a threshold in hundredths."""
    return msb.nonnegative(session, _margins(session, nearest, threshold, most), _bounds(most))


def count_words(session: Session, nearest: Nearest, most: int) -> Word:
    """Local shares of how many words lie in each bin.

    Args:
        session: this side of the run.
        nearest: what they hold, n at least 1.
        most: what scores are taken from.
    """
    above = []
    for part in _parts(len(nearest.scores)):
        margins = [_margins(session, nearest, edge, most) for edge in EDGES[part]]
        bits = msb.nonnegative(session, np.concatenate(margins), _bounds(most))
        ones = session.oblivious.bits_to_arithmetic(bits)
        above.append(ones.reshape(len(margins), -1).sum(axis=1, dtype=np.uint64))
    reached: Word = np.concatenate(above)
    reached[:-1] -= reached[1:].copy()
    return reached


def _parts(rows: int) -> Iterator[slice]:
    return chunks(len(EDGES), max(1, STRETCH_ROWS // rows))


def _margins(session: Session, nearest: Nearest, threshold: Fraction, most: int) -> Word:
    """Local shares, modulo 2**24, of a number that is negative where the threshold is not reached."""
    factor = -int(-(1 - threshold) * (1 << _GRAIN) // 1)
    margins = (nearest.scores << np.uint64(_GRAIN)) + np.uint64(factor) * nearest.sizes
    if session.role is Role.ALICE:
        margins -= np.uint64(most << _GRAIN)
    return margins


def _bounds(most: int) -> Bounds:
    return Bounds(-(most << _GRAIN), most << _GRAIN)

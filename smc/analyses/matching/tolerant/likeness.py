"""How alike rows are to the nearest that they claim, in secret, and how many are how alike.

A word holds the two numbers that a Dice coefficient 2 c / (a + b) is made of:

    word = score 2**55 + (a + b),     score = most - (a + b - 2 c), or the word 0 without a claim

Only the score matters where words are compared to find the nearest. A coefficient reaches T where

    score - most + (1 - T) (a + b) >= 0

which, times 2**15 and rounded, is linear in the word's shares: T has two digits, so that the left side is 0
or more, or at most -1/100, and a + b is at most 256.

Inputs: shares of words.
Outputs: XOR shares of who reaches T; shares of the numbers of rows in bins.
Learns: neither party anything.
Assumes: `smc.secret.comparison.msb`, `smc.oblivious`.
"""

from __future__ import annotations

from collections.abc import Iterator
from fractions import Fraction
from typing import Final

import numpy as np

from smc.analyses.matching.tolerant.histogram import EDGES
from smc.analyses.matching.tolerant.places import Bit, Word
from smc.forms import Role
from smc.pieces import chunks
from smc.protocols.session import Session
from smc.secret.comparison import msb
from smc.secret.sharing.bounds import Bounds

SCORE_BIT: Final = np.uint64(55)
"""Scores are known modulo 2**9, and so are at home in the top bits of a word."""

_GRAIN: Final = 15
"""Binary digits of coefficients: 2**15 exceeds 100 * (256 + 2), the rounding and the carry of a word."""

_GRAIN_BIT: Final = SCORE_BIT - np.uint64(_GRAIN)

STRETCH_ROWS: Final = 1 << 20
"""So many comparisons are made at a time."""


def words(scores: Word, sizes: Word) -> Word:
    """Local shares of words, from those of scores modulo 2**9 and of a + b."""
    return (scores << SCORE_BIT) + sizes


def scores(session: Session, found: Word) -> Word:
    """Local shares of words without what stands below the score.

    Both shares of a small number modulo 2**55 add up past 2**55 but for one in 2**46, and then a score is
    larger by one, which is to say that another row may be taken for as near.
    """
    carried = np.uint64(session.role is Role.ALICE)
    return ((found >> SCORE_BIT) + carried) << SCORE_BIT


def reaches(session: Session, found: Word, threshold: Fraction, most: int) -> Bit:
    """XOR shares of which coefficients reach a threshold in hundredths."""
    return msb.nonnegative(session, _margins(session, found, threshold, most), _bounds(most))


def count_words(session: Session, found: Word, most: int) -> Word:
    """Local shares of how many words lie in each bin.

    Args:
        session: this side of the run.
        found: local shares of words, shape (n,), n at least 1.
        most: what scores are taken from.
    """
    above = []
    for part in _parts(len(found)):
        margins = [_margins(session, found, edge, most) for edge in EDGES[part]]
        bits = msb.nonnegative(session, np.concatenate(margins), _bounds(most))
        ones = session.oblivious.bits_to_arithmetic(bits)
        above.append(ones.reshape(len(margins), -1).sum(axis=1, dtype=np.uint64))
    reached: Word = np.concatenate(above)
    reached[:-1] -= reached[1:].copy()
    return reached


def _parts(rows: int) -> Iterator[slice]:
    return chunks(len(EDGES), max(1, STRETCH_ROWS // rows))


def _margins(session: Session, found: Word, threshold: Fraction, most: int) -> Word:
    """Local shares, modulo 2**24, of a number that is negative where the threshold is not reached."""
    factor = -int(-(1 - threshold) * (1 << _GRAIN) // 1)
    margins = (found >> _GRAIN_BIT) + np.uint64(factor) * found
    if session.role is Role.ALICE:
        # What the lower bits of both shares carry is lost above: one is added for it.
        margins += np.uint64((1 - (most << _GRAIN)) % (1 << 64))
    return margins


def _bounds(most: int) -> Bounds:
    return Bounds(-(most << _GRAIN), most << _GRAIN)

"""What both parties compute on the pairs of places of some buckets, where each knows its own side's rows."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Final

import numpy as np
from numpy.typing import NDArray

from smc.analyses.matching.tolerant.blocking import EMPTY, BucketLayout, Index
from smc.analyses.matching.tolerant.records import Records
from smc.forms import Role
from smc.pieces import chunks
from smc.protocols.session import Session
from smc.secret.bits import SecretBits
from smc.secret.comparison import msb, mux, pairing
from smc.secret.comparison.pairing import Best
from smc.secret.products import common_ones
from smc.secret.sharing.bounds import Bounds
from smc.tracing.repeats import traced_once

Word = NDArray[np.uint64]
Bit = NDArray[np.uint8]

STRETCH_PAIRS: Final = 1 << 20
"""About as many pairs are compared at a time."""


def stretches(buckets: int, capacity: int) -> Iterator[slice]:
    """Cut the buckets of a pass."""
    size = max(1, STRETCH_PAIRS // capacity**2)
    return chunks(buckets, size)


@dataclass(frozen=True, slots=True)
class Places:
    """This side of some buckets.

    Attributes:
        rows: own row numbers or `EMPTY`, shape (b, capacity).
        ranks: the place of each among the rows of its bucket, same shape.
    """

    rows: Index = field(repr=False)
    ranks: Index = field(repr=False)

    @classmethod
    def shuffle(cls, session: Session, layout: BucketLayout) -> Places:
        """Put the rows of each bucket into random places of it, so that a place says nothing."""
        words = session.random.words(layout.rows.size).reshape(layout.rows.shape)
        ranks = np.argsort(words, axis=1)
        return cls(np.take_along_axis(layout.rows, ranks, axis=1), ranks)

    def __getitem__(self, part: slice) -> Places:
        return Places(self.rows[part], self.ranks[part])

    def order(self, size: int) -> Index:
        """Numbers from 0 to `size` - 1: rows at their places, all others at the empty ones and behind."""
        order = np.full(size, EMPTY, like=self.rows)
        order[: self.rows.size] = self.rows.reshape(-1)
        missing = np.ones(size, dtype=np.bool_, like=order)
        missing[order[order != EMPTY]] = False
        order[order == EMPTY] = np.flatnonzero(missing)
        return order

    def deliver(self, session: Session, role: Role, chosen: Bit, words: Index) -> Word:
        """What `role` receives of each pair: a word of the other side's row if the pair is chosen, else 0.

        Args:
            session: this side of the run.
            role: who receives it.
            chosen: local XOR shares, shape (b, capacity, capacity).
            words: of the local rows, used at the other side, shape (n,).

        Returns:
            Local shares, shape (b, capacity, capacity).
        """
        return _deliver(session, role, chosen, self.rows, words)


@traced_once
def _deliver(session: Session, role: Role, chosen: Bit, rows: Index, words: Index) -> Word:
    """What `Places.deliver` gives, of the rows at the local places."""
    values = np.zeros(chosen.shape, dtype=np.uint64, like=chosen)
    if session.role is not role:
        values += own_shares(session, np.where(rows == EMPTY, 0, words[rows]))
    delivered = mux.select(session, chosen.reshape(-1), values.reshape(-1), role.other)
    return delivered.reshape(chosen.shape)


def across(role: Role) -> int:
    """The axis of the other side's places, in arrays of shape (buckets, Alice's places, Bob's places)."""
    return 2 if role is Role.ALICE else 1


def own_shares(session: Session, parts: Index) -> Word:
    """What depends on this party's places alone, shape (b, capacity), as its shares of all pairs."""
    words = parts.view(np.uint64)
    return words[:, :, None] if session.role is Role.ALICE else words[:, None]


class Pairs:
    """All pairs of places of some buckets, compared: one side.

    Args:
        session: this side of the run.
        records: the local ones.
        places: the local places.
    """

    def __init__(self, session: Session, records: Records, places: Places) -> None:
        self._session = session
        self._score = records.score
        self._places = places
        brought = records.bits if session.role is Role.ALICE else records.weigh
        self._margins = _margins(session, brought(places.rows), records.local(places.rows), self._score.grain)

    def alike(self) -> Bit:
        """Own XOR shares of which pairs match, shape (b, capacity, capacity)."""
        return _nonnegative(self._session, self._margins, self._score.margins)

    def best(self, eligible: Bit) -> Best:
        """Own shares of the nearest of eligible pairs, which match; scores are modulo a power of two."""
        score = self._score
        ranked = score.tie_bits, score.first_rank, score.most_rank
        return _best(self._session, eligible, self._margins, self._places.ranks, *ranked)


@traced_once
def _margins(session: Session, filters: Bit, terms: Index, grain: int) -> Word:
    """Shares of the margins of all pairs of places, in units of 2**-grain, shape (b, capacity, capacity)."""
    overlaps = common_ones.overlaps(session, filters).astype(np.uint64)
    return (overlaps << np.uint64(grain)) + own_shares(session, terms)


@traced_once
def _nonnegative(session: Session, margins: Word, bounds: Bounds) -> Bit:
    """XOR shares of which margins are not below 0."""
    return msb.nonnegative(session, margins.reshape(-1), bounds).reshape(margins.shape)


@traced_once
def _best(
    session: Session, eligible: Bit, margins: Word, ranks: Index, tie_bits: int, first: int, most: int
) -> Best:
    """What `Pairs.best` gives: margins with the places of rows below them, `first` more, are up to `most`."""
    scores = margins << np.uint64(tie_bits)
    scores -= own_shares(session, ranks)
    if session.role is Role.ALICE:
        scores += np.uint64(first)
    return pairing.best(session, eligible, scores, most)


@traced_once
def newly(session: Session, role: Role, chosen: Bit, marks: Bit) -> Word:
    """Which places of a side are in a chosen pair and were not marked before.

    Args:
        session: this side of the run.
        role: whose places.
        chosen: local XOR shares, shape (b, capacity, capacity).
        marks: own XOR shares, shape (b, capacity).

    Returns:
        Own shares modulo 2**64 of ones and zeros, shape (b * capacity,).
    """
    found = SecretBits(session, np.moveaxis(chosen, across(role), 2).reshape(marks.size, -1))
    while found.shape[1] > 1:
        half = found.shape[1] // 2
        joined = found[:, :half] | found[:, half : 2 * half]
        rest = found.shares[:, 2 * half :]
        found = SecretBits(session, np.concatenate([joined.shares, rest], axis=1))
    fresh = found.reshape(-1) & ~SecretBits(session, marks.reshape(-1))
    return session.oblivious.bits_to_arithmetic(fresh.shares)

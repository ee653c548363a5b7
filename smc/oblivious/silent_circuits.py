"""Comparison from silent transfers: digits of two bits, and the carry tree of `smc.oblivious.circuits`.

    both: pads of silent transfers, for triples and digits       (one flight)
    receiver of a digit v, random choice c      -- c ^ v -->     sender renumbers its pads by it
    sender of a digit                           <-- offers --    g and p for v = 1, 2, 3, masked
    carry tree                                  -- openings --   ceil(log2 digits) times

A 1-of-4 transfer comes from two 1-of-2 ones with choices c0 and c1: the pad of value (v0, v1) is the sum of
two bits of pad v0 of the first, those numbered v1, and of two bits of pad v1 of the second, those numbered
v0. Each pad that the receiver lacks serves different bits to different values, so the three pads of values it
did not choose are independent and uniform to it. Two bits per digit take the fewest bytes: per digit 8 bits
of messages, where a digit of four would take 34 and save one join of 6 bits each way.

Words that are XOR-shared and public bounds take the carry tree only, whose triples are such transfers.

Learns: neither party anything; every offer is masked by a pad, every choice by a random one.
Assumes: `smc.oblivious.silent_transfers`.
Cost: `comparison` and `below`, exactly.
Reference: as in `smc.oblivious.circuits`; 1-of-N from 1-of-2 transfers: Naor and Pinkas, STOC 1999.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Final

import numpy as np

from smc.channel.channel import Channel
from smc.channel.message import Message
from smc.channel.vectors import ExpectedWords, Words
from smc.oblivious.bitmatrix import SLOTS, Word, words_for
from smc.oblivious.circuits import Circuits, DigitShifts
from smc.oblivious.cost import FlightBytes, compares_in_lanes, openings, over_lanes, takes_lanes
from smc.oblivious.lpn import PRODUCTION, LpnSet
from smc.oblivious.silent_transfers import CHOICES, SilentTransfers, refills, rows_of
from smc.oblivious.spans import BELOW_WORD_BYTES, WORD_BITS, Digits
from smc.pieces import chunks

DIGIT_BITS: Final = 2

SPAN_WORDS: Final = 1 << 19
"""Most words of silent transfers of one direction that are made at once: about 60 MiB of pads."""

_WORD: Final = 8
_OFFERED: Final = 2 * (CHOICES - 1)


@dataclass(frozen=True, slots=True)
class PairOffers(Message, kind="pair-offers", hidden=True):
    """What the sender of 1-of-4 transfers offers for the values 1 to 3, masked."""

    words: Words


@dataclass(frozen=True, slots=True)
class SilentDigits:
    """What comparing takes, per word of 64 comparisons.

    Attributes:
        sent_by_x: digits whose transfers the holder of x sends, the lowest ones.
        sent_by_y: digits whose transfers the holder of y sends.
    """

    sent_by_x: int
    sent_by_y: int

    @classmethod
    def of(cls, bits: int) -> SilentDigits:
        """For numbers of so many bits."""
        digits = -(-bits // DIGIT_BITS)
        return cls((digits + 1) // 2, digits // 2)

    @property
    def digits(self) -> int:
        """Digits of two bits."""
        return self.sent_by_x + self.sent_by_y

    @property
    def joins(self) -> int:
        """Pairs of neighbours that are joined until one is left."""
        return self.digits - 1

    @property
    def transfers(self) -> int:
        """Silent transfers per comparison in each direction; the same in both."""
        return self.joins + DIGIT_BITS * self.sent_by_x

    def spans(self, count: int) -> Iterator[slice]:
        """Cut a batch of `count` comparisons."""
        return _spans(count, self.transfers)


@dataclass(slots=True)
class PrefetchedWords:
    """Counts what is taken of delivered transfers, see `smc.oblivious.silent_transfers`, and what is made.

    Attributes:
        words: of delivered transfers that are left, of each direction.
        rows: that each party made beside them, of both directions together; of lanes, those of the first.
    """

    words: int = 0
    rows: int = 0

    def gives(self, words: int) -> bool:
        """Take so many, if they are there."""
        if words > self.words:
            return False
        self.words -= words
        return True


def words_of_spans(count: int, bits: int) -> list[int]:
    """Words of silent transfers that each span of a batch takes."""
    layout = SilentDigits.of(bits)
    return [layout.transfers * words_for(span.stop - span.start) for span in layout.spans(count)]


def comparison(
    count: int,
    bits: int,
    lanes: int = 1,
    sizes: LpnSet = PRODUCTION,
    stock: PrefetchedWords | None = None,
) -> tuple[FlightBytes, ...]:
    """Comparing `count` pairs; the first party holds x.

    Args:
        count: pairs.
        bits: of the numbers.
        lanes: that the session has.
        sizes: of the problem.
        stock: what was made before; None for nothing.
    """
    stock = stock or PrefetchedWords()
    if not compares_in_lanes(count, bits, lanes):
        return _compare(count, bits, sizes, stock)
    made = PrefetchedWords()  # lanes have nothing that was made before
    word_bytes = Digits.of(bits).word_bytes
    steps = over_lanes(count, lanes, word_bytes, lambda part: _compare(part, bits, sizes, made))
    stock.rows += made.rows // lanes
    return steps


def _compare(count: int, bits: int, sizes: LpnSet, stock: PrefetchedWords) -> tuple[FlightBytes, ...]:
    layout = SilentDigits.of(bits)
    steps: list[FlightBytes] = []
    for span in layout.spans(count):
        width = words_for(span.stop - span.start)
        plane = width * _WORD
        steps += _make(layout.transfers * width, sizes, stock)
        steps += [
            FlightBytes(DIGIT_BITS * plane * layout.sent_by_y, DIGIT_BITS * plane * layout.sent_by_x),
            FlightBytes(_OFFERED * plane * layout.sent_by_x, _OFFERED * plane * layout.sent_by_y),
        ]
        steps += openings(width, layout.digits)
    return tuple(steps)


BELOW_TRANSFERS: Final = WORD_BITS - 1
"""Silent transfers in each direction that comparing a word with a public bound takes: one for each join."""


def below_spans(count: int) -> Iterator[slice]:
    """Cut a batch of `count` comparisons of words with public bounds."""
    return _spans(count, BELOW_TRANSFERS)


def below(
    count: int, lanes: int = 1, sizes: LpnSet = PRODUCTION, stock: PrefetchedWords | None = None
) -> tuple[FlightBytes, ...]:
    """Comparing `count` XOR-shared words with public bounds; arguments as of `comparison`."""
    stock = stock or PrefetchedWords()
    if not takes_lanes(count, BELOW_WORD_BYTES, lanes):
        return _below(count, sizes, stock)
    made = PrefetchedWords()
    steps = over_lanes(count, lanes, BELOW_WORD_BYTES, lambda part: _below(part, sizes, made))
    stock.rows += made.rows // lanes
    return steps


def _below(count: int, sizes: LpnSet, stock: PrefetchedWords) -> tuple[FlightBytes, ...]:
    steps: list[FlightBytes] = []
    for span in below_spans(count):
        width = words_for(span.stop - span.start)
        steps += _make(BELOW_TRANSFERS * width, sizes, stock)
        steps += openings(width, WORD_BITS)
    return tuple(steps)


def _make(words: int, sizes: LpnSet, stock: PrefetchedWords) -> list[FlightBytes]:
    """What silent transfers cost that are not in stock."""
    if stock.gives(words):
        return []
    refill = refills(words, sizes)
    stock.rows += 2 * rows_of(words, sizes)
    return [FlightBytes(refill, refill, refills=True)]


def _spans(count: int, transfers: int) -> Iterator[slice]:
    return chunks(count, SLOTS * max(1, SPAN_WORDS // transfers))


class SilentComparison:
    """Comparison with the peer that takes its randomness from silent transfers.

    Args:
        channel: the conversation with the peer.
        circuits: with the peer, for the carry tree.
        silent: silent transfers with the peer.
    """

    def __init__(self, channel: Channel, circuits: Circuits, silent: SilentTransfers) -> None:
        self._channel = channel
        self._circuits = circuits
        self._silent = silent

    def not_below(self, planes: Word, *, holds_x: bool) -> Word:
        """One side of x >= y.

        Args:
            planes: of the local number, shape (bits, w).
            holds_x: whether the local number is x; the sides say the opposite.

        Returns:
            Local XOR shares, shape (w,).
        """
        below = self._compare(planes, holds_x=holds_x)[0]
        # x >= y is not x < y: one of the two shares is flipped.
        return ~below if holds_x else below

    def equal(self, planes: Word, *, holds_x: bool) -> Word:
        """One side of x == y, for what a comparison costs; arguments and result as of `not_below`."""
        return self._compare(planes, holds_x=holds_x)[1]

    def below(self, words: Word, bounds: Word) -> Word:
        """See `Circuits.below`."""
        return self._circuits.below(
            words, bounds, self._silent.pads(BELOW_TRANSFERS * words.shape[1]).triples()
        )

    def _compare(self, planes: Word, *, holds_x: bool) -> tuple[Word, Word]:
        """Local XOR shares of x < y and of x == y, shape (w,) each."""
        bits, width = planes.shape
        layout = SilentDigits.of(bits)
        padded = np.zeros((DIGIT_BITS * layout.digits, width), dtype=np.uint64)
        padded[:bits] = planes
        own = padded.reshape(layout.digits, DIGIT_BITS, width)
        low, high = own[: layout.sent_by_x], own[layout.sent_by_x :]
        sent, received = (low, high) if holds_x else (high, low)

        pads = self._silent.pads(layout.transfers * width)
        # The first transfers become triples, the rest digits, two transfers each; both parties cut alike.
        triples = pads[: layout.joins * width].triples().reshape(layout.joins, width)
        of_digits = pads[layout.joins * width :]
        offering = of_digits[: DIGIT_BITS * len(sent) * width].offer()
        choices, chosen = of_digits[: DIGIT_BITS * len(received) * width].take()

        wanted = _digit_planes(received)
        if wanted.size:
            self._channel.send(DigitShifts(Words((choices ^ wanted).reshape(-1))))
        mine = self._offer(_digit_planes(sent), offering, holds_x)
        theirs = self._take(wanted, chosen)
        lower, upper = (mine, theirs) if holds_x else (theirs, mine)
        below, equal = np.concatenate([lower.reshape(2, -1, width), upper.reshape(2, -1, width)], axis=1)
        return self._circuits.carry(below, equal, triples)

    def _offer(self, digits: Word, pads: Word, holds_x: bool) -> Word:
        """Offer g and p for every value of the peer's digits.

        Args:
            digits: own, planes, shape (2, v).
            pads: by the peer's random choices, shape (4, 2, v).
            holds_x: whether the local digits are those of x.

        Returns:
            Local shares of g and p, shape (2, v).
        """
        share: Word = pads[0]
        if not digits.size:
            return share
        shifts = self._channel.recv(DigitShifts, ExpectedWords(digits.size)).reshape(digits.shape)
        for bit, shift in enumerate(shifts):
            for value in range(CHOICES):
                # Where the wanted choice is not the random one in this bit, pads of values that differ in it
                # change places.
                if not value >> bit & 1:
                    swap = shift & (pads[value] ^ pads[value | 1 << bit])
                    pads[value] ^= swap
                    pads[value | 1 << bit] ^= swap
        same = _minterms(digits)
        below = np.zeros(digits.shape[1], dtype=np.uint64)
        # g of value v is [x < v], for v from below, or [v < y], for v from above: the minterms passed so far,
        # which exclude each other, so that XOR adds them up.
        for value in range(CHOICES) if holds_x else reversed(range(CHOICES)):
            pads[value, 0] ^= below
            below ^= same[value]
        pads[:, 1] ^= same
        # With this share the offer for value 0 is zero, and is not sent.
        masked = pads[1:] ^ share
        self._channel.send(PairOffers(Words(masked.reshape(-1))))
        return share

    def _take(self, digits: Word, chosen: Word) -> Word:
        """Take the offers for the local digits, planes, shape (2, v), by their pads, of the same shape."""
        if not digits.size:
            return chosen
        offers = self._channel.recv(PairOffers, ExpectedWords((CHOICES - 1) * chosen.size))
        for offer, where in zip(offers.reshape(CHOICES - 1, 2, -1), _minterms(digits)[1:], strict=True):
            chosen ^= offer & where
        return chosen


def _digit_planes(digits: Word) -> Word:
    """Shape (d, 2, w) to (2, d * w)."""
    return np.ascontiguousarray(digits.transpose(1, 0, 2)).reshape(DIGIT_BITS, -1)


def _minterms(planes: Word) -> Word:
    """For every value of two bits, where the planes have it; shape (2, v) to (4, v)."""
    low, high = planes
    return np.stack([~(low | high), low & ~high, high & ~low, low & high])

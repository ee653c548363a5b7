"""Circuits on XOR-shared planes of bits: AND from triples, and comparison in logarithmic depth.

    Alice (x, or shares)                                Bob (y, or shares)
      choices                      -- matrices --         choices                     (both at once)
      offers of lower digits       -- offers --           offers of upper digits      (both at once)
      carry tree, or AND           -- openings --         level by level              (both at once)

A comparison of k digits is a carry tree: for every digit, g says that here the left number is below the right
one, p that they agree; two neighbours join by

    g = g_high ^ p_high g_low,    p = p_high p_low

until one g is left. Both products share p_high, so a triple with one left and two right operands serves
both, and one pair of transfers makes it. XOR is right for "or": g and p of a position exclude each other.

Shares of g and p of a digit of four bits, one party's x and the other's y, come from one 1-of-16 transfer:
the sender offers, for every value of the receiver's digit, g and p masked by its local shares. For the lower
half of the digits the holder of x sends, for the others the holder of y, so that both work alike.

Inputs: a digit of each party, or XOR shares of bits.
Outputs: XOR shares of the bit that the circuit gives.
Learns: neither party anything; every opened bit is masked by a fresh random bit of a triple, every offered
bit by a pad.
Assumes: `smc.oblivious.softspoken`, `smc.oblivious.ot_1_of_16`.
Cost: `smc.oblivious.cost`; ceil(log2 k) openings.
Reference: digits by 1-of-N transfer: Rathee, Rathee, Kumar, Chandran, Gupta, Rastogi and Sharma, CrypTFlow2,
CCS 2020, section 3.1; tree: Garay, Schoenmakers and Villegas, PKC 2007; Goldreich, Micali and Wigderson, STOC
1987; Beaver, CRYPTO 1991; one transfer each way per triple: Asharov, Lindell, Schneider and Zohner, CCS 2013.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from smc.channel.channel import Channel
from smc.channel.message import Message
from smc.channel.vectors import ExpectedWords, Words
from smc.numeric.random import Randomness
from smc.oblivious.bitmatrix import Word, words_for
from smc.oblivious.ot_1_of_16 import CHOICES, DIGIT_BITS
from smc.oblivious.prepared import Portion, Triples
from smc.oblivious.spans import WORD_BITS, Digits, spans
from smc.oblivious.transfers import Transfers


@dataclass(frozen=True, slots=True)
class Openings(Message, kind="triple-openings", hidden=True):
    """Masked operands of AND gates, from either party."""

    words: Words


@dataclass(frozen=True, slots=True)
class DigitOffers(Message, kind="digit-offers", hidden=True):
    """What the sender of 1-of-16 transfers offers for the choices 1 to 15, masked."""

    words: Words


@dataclass(frozen=True, slots=True)
class DigitShifts(Message, kind="digit-shifts", hidden=True):
    """By what the receiver's digits differ from its random choices, from the receiver."""

    words: Words


class Circuits:
    """Circuits with the peer; planes are arrays of words, shape (..., w).

    Args:
        leads: whether this party adds public constants; true on exactly one side.
        channel: the conversation with the peer.
        transfers: extended transfers with the peer.
    """

    def __init__(self, leads: bool, channel: Channel, transfers: Transfers) -> None:
        self._leads = leads
        self._channel = channel
        self._transfers = transfers

    def conjunction(self, left: Word, right: Word) -> Word:
        """Shares of left AND right, shapes (w,)."""
        width = len(left)
        triples = self._transfers.prepared.taken_triples(width) or self._transfers.triples(width)
        mine = np.stack([left ^ triples.a, right ^ triples.b[0]])
        opened = self._open(mine)
        result: Word = self._finish(opened, triples.a, triples.b[:1], triples.c[:1])[0]
        return result

    def _open(self, masked: Word) -> Word:
        """Open XOR-shared masked planes, any shape, to both parties."""
        self._channel.send(Openings(Words(masked.reshape(-1))))
        theirs = self._channel.recv(Openings, ExpectedWords(masked.size))
        opened: Word = masked ^ theirs.reshape(masked.shape)
        return opened

    def _finish(self, opened: Word, a: Word, b: Word, c: Word) -> Word:
        left, right = opened[0], opened[1:]
        # With left = x + a and right = y + b opened, x y = left right + left b + right a + a b; the public
        # product is added on one side.
        result: Word = c ^ (left & b) ^ (right & a)
        if self._leads:
            result ^= left & right
        return result

    def carry(self, below: Word, equal: Word, triples: Triples) -> tuple[Word, Word]:
        """The tree, for k digits.

        Args:
            below: shares of "left is below right" of each digit, shape (k, w), the least significant first.
            equal: shares of "left is right", of the same shape.
            triples: shape (k - 1, w).

        Returns:
            Shares of "left is below right" and of "left is right", shape (w,) each.
        """
        used = 0
        while len(below) > 1:
            pairs = len(below) // 2
            even, odd = slice(0, 2 * pairs, 2), slice(1, 2 * pairs, 2)
            # The odd digit of each pair is the higher one. Of an odd number the highest waits for the next
            # level.
            part = triples[used : used + pairs]
            right = np.stack([below[even], equal[even]])
            opened = self._open(np.concatenate([(equal[odd] ^ part.a)[None], right ^ part.b]))
            joined = self._finish(opened, part.a, part.b, part.c)
            below = np.concatenate([below[odd] ^ joined[0], below[2 * pairs :]])
            equal = np.concatenate([joined[1], equal[2 * pairs :]])
            used += pairs
        return below[0], equal[0]

    def not_below(self, planes: Word, *, holds_x: bool, prepared: Portion | None = None) -> Word:
        """One side of x >= y.

        Args:
            planes: of the local number, shape (bits, w).
            holds_x: whether the local number is x; the sides say the opposite.
            prepared: from a pool on both sides, or on neither.

        Returns:
            Local XOR shares, shape (w,).
        """
        below, _ = self._compare(planes, holds_x=holds_x, prepared=prepared)
        return ~below if holds_x else below

    def equal(self, planes: Word, *, holds_x: bool) -> Word:
        """One side of x == y, for what a comparison costs.

        Args:
            planes: as for `not_below`.
            holds_x: as there.

        Returns:
            Local XOR shares, shape (w,).
        """
        return self._compare(planes, holds_x=holds_x, prepared=None)[1]

    def _compare(self, planes: Word, *, holds_x: bool, prepared: Portion | None) -> tuple[Word, Word]:
        """Local XOR shares of x < y and of x == y, shape (w,) each."""
        bits, width = planes.shape
        digits = Digits.of(bits)
        padded = np.zeros((DIGIT_BITS * digits.count, width), dtype=np.uint64)
        padded[:bits] = planes
        own = padded.reshape(digits.count, DIGIT_BITS, width)
        low, high = own[: digits.sent_by_x], own[digits.sent_by_x :]
        sent, received = (low, high) if holds_x else (high, low)

        choices = np.ascontiguousarray(received.transpose(1, 0, 2)).reshape(DIGIT_BITS, -1)
        if prepared is None:
            portion = self.prepare(choices, digits, width, holds_x=holds_x)
        else:
            portion = self._shift(choices, prepared)
        offered = self._offer(sent.transpose(1, 0, 2).reshape(DIGIT_BITS, -1), portion.pads, holds_x)
        taken = self._take(choices, portion.chosen)
        lower, upper = (offered, taken) if holds_x else (taken, offered)
        below, equal = np.concatenate([lower.reshape(2, -1, width), upper.reshape(2, -1, width)], axis=1)
        return self.carry(below, equal, portion.triples)

    def prepare(self, choices: Word, digits: Digits, width: int, *, holds_x: bool) -> Portion:
        """The transfers and triples of a batch of comparisons; one flight.

        Args:
            choices: planes of the digits received, shape (4, d * width).
            digits: of the numbers.
            width: words per plane.
            holds_x: whether the local numbers are x.
        """
        sent = digits.sent_by_x if holds_x else digits.sent_by_y
        # Both of the local matrices leave before the peer's are read, so all of it is one flight.
        chosen = self._transfers.receive_choices(choices)
        begun = self._transfers.begin_triples(digits.joins * width)
        pads = self._transfers.send_choices(sent * width)
        triples = self._transfers.end_triples(*begun).reshape(digits.joins, width)
        return Portion(choices, chosen, pads, triples)

    def portions(self, random: Randomness, count: int, bits: int, *, holds_x: bool) -> list[Portion]:
        """Transfers and triples for `count` comparisons, with random choices; see `prepare`."""
        digits = Digits.of(bits)
        received = digits.sent_by_y if holds_x else digits.sent_by_x
        made = []
        for span in spans(count, digits.word_bytes):
            width = words_for(span.stop - span.start)
            choices = random.words(DIGIT_BITS * received * width).reshape(DIGIT_BITS, -1)
            made.append(self.prepare(choices, digits, width, holds_x=holds_x))
        return made

    def _shift(self, choices: Word, prepared: Portion) -> Portion:
        """Renumber prepared pads for the choices that are wanted; one flight.

        Args:
            choices: the local wanted ones, shape (4, v).
            prepared: with random choices of the same shape.
        """
        if choices.size:
            self._channel.send(DigitShifts(Words((choices ^ prepared.choices).reshape(-1))))
        pads = prepared.pads
        if pads.size:
            expected = ExpectedWords(DIGIT_BITS * pads.shape[2])
            shifts = self._channel.recv(DigitShifts, expected).reshape(DIGIT_BITS, -1)
            for bit, shift in enumerate(shifts):
                # Axis 1 is this bit of the value; where the wanted choice is not the random one in it, the
                # two halves change places.
                halves = pads.reshape(-1, 2, 1 << bit, 2, pads.shape[2])
                swap = (halves[:, 0] ^ halves[:, 1]) & shift
                halves[:, 0] ^= swap
                halves[:, 1] ^= swap
        return Portion(choices, prepared.chosen, pads, prepared.triples)

    def _offer(self, digits: Word, pads: Word, holds_x: bool) -> Word:
        """Offer g and p for every choice of the peer.

        Args:
            digits: own, planes, shape (4, v).
            pads: shape (16, 2, v); the content is lost.
            holds_x: whether the local digits are those of x.

        Returns:
            Local shares of g and p, shape (2, v).
        """
        same = _minterms(digits)
        below = np.zeros(digits.shape[1], dtype=np.uint64)
        # g of choice v is [x < v], for v from below, or [v < y], for v from above: the minterms passed so
        # far, which exclude each other, so that XOR adds them up.
        order = range(CHOICES) if holds_x else reversed(range(CHOICES))
        for choice in order:
            pads[choice, 0] ^= below
            below ^= same[choice]
        pads[:, 1] ^= same
        # With this share the offer for choice 0 is zero, and is not sent.
        share: Word = pads[0]
        masked = pads[1:]
        masked ^= share
        if digits.size:
            self._channel.send(DigitOffers(Words(masked.reshape(-1))))
        return share

    def _take(self, choices: Word, chosen: Word) -> Word:
        """Take the offer for the local choices.

        Args:
            choices: planes, shape (4, v).
            chosen: the pads of these choices, shape (2, v); the content is lost.

        Returns:
            Local shares of g and p, shape (2, v).
        """
        if not choices.size:
            return chosen
        size = (CHOICES - 1) * chosen.size
        offers = self._channel.recv(DigitOffers, ExpectedWords(size)).reshape(CHOICES - 1, 2, -1)
        for offer, mine in zip(offers, _minterms(choices)[1:], strict=True):
            chosen ^= offer & mine
        return chosen

    def below(self, words: Word, bounds: Word, triples: Triples | None = None) -> Word:
        """Shares of [word < bound] for planes of XOR-shared words and public bounds, shapes (64, w).

        The 63 * w triples are made by extended transfers unless they are given.
        """
        joins, width = WORD_BITS - 1, words.shape[1]
        made = self._transfers.triples(joins * width) if triples is None else triples
        triples = made.reshape(joins, width)
        # The bound is public, so both are linear in the shares: g = bound & ~word, p = ~(word ^ bound).
        if self._leads:
            return self.carry(bounds & ~words, ~(words ^ bounds), triples)[0]
        return self.carry(bounds & words, words, triples)[0]


def _minterms(planes: Word) -> Word:
    """For every value of four bits, where the planes have it; shape (4, v) to (16, v)."""
    zero, one, two, three = planes
    low = [~(zero | one), zero & ~one, one & ~zero, zero & one]
    high = [~(two | three), two & ~three, three & ~two, two & three]
    return np.stack([low[value & 3] & high[value >> 2] for value in range(CHOICES)])

"""Circuits on XOR-shared bits: AND from triples, and comparison in logarithmic depth.

A comparison of k-bit numbers is a carry tree: for every bit, g says that here the left number is below
the right one, p that they agree; two neighbours join by

    g = g_high ^ p_high g_low,    p = p_high p_low

until one g is left. Both products share p_high, so a triple with one left and two right operands serves
both, and one pair of transfers makes it. XOR is right for "or": g and p of a position exclude each other.

Learns: neither party anything; every opened bit is masked by a fresh random bit of a triple.
Assumes: `smc.oblivious.extension`; semi-honest parties.
Cost: `smc.oblivious.cost`; ceil(log2 k) openings.
Reference: Goldreich, Micali and Wigderson, STOC 1987; Beaver, Efficient multiparty protocols using circuit
randomization, CRYPTO 1991; tree: Garay, Schoenmakers and Villegas, PKC 2007; one transfer each way
per triple: Asharov, Lindell, Schneider and Zohner, CCS 2013.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from smc.channel.channel import Channel
from smc.channel.message import Message
from smc.channel.vectors import Bits, ExpectedBits
from smc.numeric.random import Randomness
from smc.oblivious.bitmatrix import Bit, Word, planes
from smc.oblivious.cost import WORD_BITS, comparison_transfers
from smc.oblivious.transfers import Pads, Transfers, Triples, low_bits, triples_from


@dataclass(frozen=True, slots=True)
class Openings(Message):
    """Masked operands of AND gates, from either party."""

    bits: Bits


@dataclass(frozen=True, slots=True)
class LeafCorrections(Message):
    """Corrections that turn the y holder's random bits into its own y, masked by them."""

    bits: Bits


def _not(bits: Bit) -> Bit:
    return bits ^ np.uint8(1)


class Circuits:
    """Circuits with the peer.

    Args:
        leads: whether this party adds public constants; true on exactly one side.
        channel: the conversation with the peer.
        random: the source of choice bits.
        transfers: extended transfers with the peer.
    """

    def __init__(self, leads: bool, channel: Channel, random: Randomness, transfers: Transfers) -> None:
        self._leads = leads
        self._channel = channel
        self._random = random
        self._transfers = transfers

    def _open(self, masked: Bit) -> Bit:
        """Open XOR-shared masked bits, any shape, to both parties."""
        flat = masked.reshape(-1)
        self._channel.send(Openings(Bits(flat)))
        theirs = self._channel.recv(Openings, ExpectedBits(len(flat)))
        opened: Bit = (flat ^ theirs).reshape(masked.shape)
        return opened

    def conjunction(self, left: Bit, right: Bit) -> Bit:
        """Shares of left AND right, shapes (n,)."""
        triples = self._transfers.triples(len(left))
        opened = self._open(np.stack([left ^ triples.a, right ^ triples.b[0]]))
        result: Bit = self._finish(opened, triples.a, triples.b[:1], triples.c[:1])[0]
        return result

    def _products(self, left: Bit, right: Bit, triples: Triples) -> Bit:
        """Shares of left AND either row of right; shapes (n,) and (2, n)."""
        opened = self._open(np.concatenate([(left ^ triples.a)[None], right ^ triples.b]))
        return self._finish(opened, triples.a, triples.b, triples.c)

    def _finish(self, opened: Bit, a: Bit, b: Bit, c: Bit) -> Bit:
        left, right = opened[0], opened[1:]
        result: Bit = c ^ (left & b) ^ (right & a)
        if self._leads:
            result ^= left & right
        return result

    def _carry(self, below: Bit, equal: Bit, triples: Triples) -> Bit:
        """The tree; shapes (k, n), the least significant plane first.

        Returns:
            Shares of "left is below right", shape (n,).
        """
        used = 0
        while len(below) > 1:
            pairs = len(below) // 2
            count = below[0].size
            even, odd = slice(0, 2 * pairs, 2), slice(1, 2 * pairs, 2)
            part = triples[used : used + pairs * count]
            right = np.stack([below[even].reshape(-1), equal[even].reshape(-1)])
            joined = self._products(equal[odd].reshape(-1), right, part).reshape(2, pairs, count)
            below = np.concatenate([below[odd] ^ joined[0], below[2 * pairs :]])
            equal = np.concatenate([joined[1], equal[2 * pairs :]])
            used += pairs * count
        result: Bit = below[0]
        return result

    def x_not_below(self, x: Bit) -> Bit:
        """The x holder's side of x >= y; the peer calls `y_not_above`.

        Args:
            x: planes of x, shape (bits, n).

        Returns:
            Own XOR shares, shape (n,).
        """
        bits, count = x.shape
        choices = np.concatenate([_not(x).reshape(-1), self._random.bits((bits - 1) * count)])
        pads = self._transfers.both_ways(choices, (bits - 1) * count)
        correction = self._channel.recv(LeafCorrections, ExpectedBits(bits * count))
        leaves, tree = choices[: bits * count], choices[bits * count :]
        below = low_bits(pads.chosen[: bits * count], 1)[0] ^ (leaves & correction)
        triples = triples_from(tree, Pads(pads.chosen[bits * count :], pads.zero, pads.one))
        return _not(self._carry(below.reshape(bits, count), _not(x), triples))

    def y_not_above(self, y: Bit) -> Bit:
        """The y holder's side of x >= y; the peer calls `x_not_below`.

        Args:
            y: planes of y, shape (bits, n).
        """
        bits, count = y.shape
        choices = self._random.bits((bits - 1) * count)
        pads = self._transfers.both_ways(choices, comparison_transfers(bits)[0] * count)
        zero, one = (low_bits(side[: bits * count], 1)[0] for side in (pads.zero, pads.one))
        self._channel.send(LeafCorrections(Bits(zero ^ one ^ y.reshape(-1))))
        rest = Pads(pads.chosen, pads.zero[bits * count :], pads.one[bits * count :])
        return self._carry(zero.reshape(bits, count), y, triples_from(choices, rest))

    def below(self, words: Word, bounds: Word) -> Bit:
        """Shares of [word < bound] for XOR-shared words and public bounds, shapes (n,)."""
        own, public = planes(words, WORD_BITS), planes(bounds, WORD_BITS)
        triples = self._transfers.triples((WORD_BITS - 1) * len(words))
        flip = np.uint8(self._leads)
        return self._carry(public & (own ^ flip), own ^ (flip & _not(public)), triples)

"""Batches of transfers over the channel: random, correlated modulo 2**64, and bit triples.

Learns: neither party anything of the other's pads, correlations or triples beyond its own output.
Assumes: `smc.oblivious.extension`.
"""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np

from smc.channel.channel import Channel
from smc.channel.message import Message
from smc.channel.vectors import ExpectedRows, ExpectedWords, Rows, Words
from smc.forms import Role
from smc.numeric.random import Randomness
from smc.oblivious.base import BaseKeys
from smc.oblivious.bitmatrix import COLUMNS, Bit, Word, words_for
from smc.oblivious.extension import OtReceiver, OtSender


@dataclass(frozen=True, slots=True)
class Columns(Message):
    """The matrix of an extension, from its receiver."""

    matrix: Rows


@dataclass(frozen=True, slots=True)
class Corrections(Message):
    """Corrections of correlated transfers, from their sender."""

    words: Words


@dataclass(frozen=True, slots=True)
class Pads:
    """Random transfers in both directions, seen from one party.

    Attributes:
        chosen: pads received, shape (n,).
        zero: pads of choice 0 of the transfers sent, shape (m,).
        one: pads of choice 1, shape (m,).
    """

    chosen: Word = field(repr=False)
    zero: Word = field(repr=False)
    one: Word = field(repr=False)


@dataclass(frozen=True, slots=True)
class Triples:
    """XOR shares of n random bits a, of 2 x n random bits b and of c = a b (a with either row of b)."""

    a: Bit = field(repr=False)
    b: Bit = field(repr=False)
    c: Bit = field(repr=False)

    def __getitem__(self, part: slice) -> Triples:
        return Triples(self.a[part], self.b[:, part], self.c[:, part])


def low_bits(pads: Word, rows: int) -> Bit:
    """The lowest bits of pads, shape (rows, n)."""
    octets = pads.astype(np.uint8)
    return np.stack([(octets >> row) & 1 for row in range(rows)])


class Transfers:
    """Both directions of extended transfers with the peer.

    Args:
        role: the own role.
        channel: the conversation with the peer.
        random: the source of choice bits.
        keys: from the set-up.
    """

    def __init__(self, role: Role, channel: Channel, random: Randomness, keys: BaseKeys) -> None:
        self._channel = channel
        self._random = random
        self._receiver = OtReceiver(keys, role)
        self._sender = OtSender(keys, role)

    def both_ways(self, choices: Bit, sends: int) -> Pads:
        """Random transfers in both directions in one flight.

        Args:
            choices: own choice bits, shape (n,).
            sends: transfers that the own party sends.
        """
        chosen = zero = one = np.empty(0, dtype=np.uint64)
        if len(choices):
            matrix, chosen = self._receiver.extend(choices)
            self._channel.send(Columns(Rows(matrix)))
        if sends:
            received = self._channel.recv(Columns, ExpectedRows(COLUMNS, 8 * words_for(sends)))
            zero, one = self._sender.extend(sends, received)
        return Pads(chosen, zero, one)

    def triples(self, count: int) -> Triples:
        """Fresh random triples; one flight, both parties alike."""
        choices = self._random.bits(count)
        return triples_from(choices, self.both_ways(choices, count))

    def correlate(self, deltas: Word) -> Word:
        """Send correlated transfers.

        Args:
            deltas: shape (n,).

        Returns:
            Shares s with s + s' = choice * delta (mod 2**64), where s' is what `receive` gives the peer.
        """
        pads = self.both_ways(np.empty(0, dtype=np.uint8), len(deltas))
        self._channel.send(Corrections(Words(pads.zero + deltas - pads.one)))
        return np.negative(pads.zero)

    def receive(self, choices: Bit) -> Word:
        """Receive correlated transfers; the peer calls `correlate`.

        Args:
            choices: shape (n,), bits.
        """
        pads = self.both_ways(choices, 0)
        corrections = self._channel.recv(Corrections, ExpectedWords(len(choices)))
        return pads.chosen + choices * corrections


def triples_from(choices: Bit, pads: Pads) -> Triples:
    """Triples from random transfers, one in either direction for each.

    The own share of a is the own choice, that of b the difference of the own two pads. The cross terms come
    out of the pads: the pad one party received and the other's pad of choice 0 differ by choice * difference.
    """
    zero = low_bits(pads.zero, 2)
    b = zero ^ low_bits(pads.one, 2)
    return Triples(choices, b, (choices & b) ^ zero ^ low_bits(pads.chosen, 2))

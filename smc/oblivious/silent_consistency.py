"""Whether a sender of silent transfers made its trees right: sums of leaves, compared before openings.

    sender (leaves v, D)                            receiver (leaves w, which are v + e D)
      refills                           -->
      V = sum of v_i K^i                              W = sum of w_i K^i, chi = sum of e_i K^i
                                        <-- x' --     x' = chi + x*
      SHA-256(V + Y* + x' D)            -->           SHA-256(W + Z*): the same?

e is 1 at the missing leaves, of which the sender knows nothing; sums and products are those of the field of
2**128 elements. The key K of each block follows from all refills up to it, so that a sender has fixed what it
sent when it learns K. 128 rows of the reserve that serve nothing else hide chi: Z* = Y* + x* D for Y* the
sum of their x^j q_j, Z* that of x^j t_j and x* that of x^j r_j.

Inputs: the leaves of both ends.
Outputs: none; the receiver goes on or ends the session.
Learns: the receiver a hash of what it knows, or else of what it cannot know without D; a sender that bends a
sum learns a level of the missing leaf's place if it guesses it, and else the session ends.
Assumes: SHA-256 as a random oracle; the rows of the reserve as of `smc.oblivious.silent_ot`.
Cost: 16 bytes from the receiver, then 32 from the sender, for any number of iterations.
Reference: Yang, Weng, Lan, Zhang and Wang, Ferret, CCS 2020, section 4.2. docs/proofs/transfers.md.
"""

from __future__ import annotations

import hashlib
import hmac
from collections import deque
from dataclasses import dataclass
from typing import Final

import numpy as np

from smc.channel.channel import Channel
from smc.channel.message import Message
from smc.channel.vectors import ByteRows, ExpectedByteRows, ExpectedWords, Words, byte_row
from smc.forms import Role
from smc.oblivious.bitmatrix import Word
from smc.oblivious.numpy_field import ELEMENT_BITS, FieldLoops

MASK_ROWS: Final = ELEMENT_BITS
CHALLENGE_BYTES: Final = 16
ANSWER_BYTES: Final = 32
_WORDS: Final = 2
_DOMAIN: Final = b"duetto/oblivious/silent-check/1"
_ONE: Final = np.uint64(1)


@dataclass(frozen=True, slots=True)
class SilentChallenge(Message, kind="silent-challenge", hidden=True):
    """From the receiver of silent transfers: the sum of the places of its missing leaves, hidden."""

    words: Words


@dataclass(frozen=True, slots=True)
class SilentAnswer(Message, kind="silent-answer", hidden=True):
    """From their sender: the hash of what the receiver's sums have to come to."""

    digest: ByteRows


class RowSums:
    """What both ends of a direction add up.

    Args:
        session: id of the session.
        sender: the party that sends.
        field: loops over the field.
        mask: the rows that hide the next challenge, shape (128, 2).

    Attributes:
        used: whether there were iterations since the last check.
    """

    def __init__(self, session: bytes, sender: Role, field: FieldLoops, mask: Word) -> None:
        self._state = hashlib.sha256(_DOMAIN + session + sender.value.encode().ljust(8)).digest()
        self._field = field
        self._mask = self._next = mask.copy()
        self._sums = np.zeros((2, _WORDS), dtype=np.uint64)
        self._now = np.zeros_like(self._sums)
        self._made: deque[tuple[Word, Word]] = deque()
        self.used = False

    def add(self, message: Word, rows: Word, *, marked: bool) -> None:
        """Add the leaves of a block of the iteration under way.

        Args:
            message: what the sender sends of it.
            rows: the leaves, shape (n, 2); of a receiver those that were missing have 1 for their lowest bit.
            marked: whether the rows are the receiver's.
        """
        self._state = hashlib.sha256(self._state + message.tobytes()).digest()
        key = np.frombuffer(self._state[:CHALLENGE_BYTES], dtype=np.uint64)
        self._now[0] ^= self._field.tag(rows, key)
        if marked:
            places = np.zeros_like(rows)
            np.bitwise_and(rows[:, 0], _ONE, out=places[:, 0])
            self._now[1] ^= self._field.tag(places, key)

    def end_iteration(self, mask: Word) -> None:
        """End the iteration, which gives the mask of the next check, shape (128, 2)."""
        self._made.append((self._now, mask.copy()))
        self._now = np.zeros_like(self._sums)

    def count_in(self, iterations: int) -> None:
        """Let the next check cover the next iterations: both ends do so when their refills travel."""
        for _ in range(iterations):
            sums, self._next = self._made.popleft()
            self._sums = self._sums ^ sums
            self.used = True

    def _hidden(self) -> Word:
        """The sum of the leaves and of the mask, shape (2,)."""
        total: Word = self._sums[0] ^ self._field.pack(self._mask)[0]
        return total

    def _renew(self) -> None:
        self._mask, self.used = self._next, False
        self._sums = np.zeros_like(self._sums)


class SenderSums(RowSums):
    """The sender's."""

    def answer(self, channel: Channel, offset: Word) -> None:
        """Answer the receiver's challenge, once for each mask.

        Args:
            channel: the conversation with the peer.
            offset: D, shape (2,).
        """
        words = channel.recv(SilentChallenge, ExpectedWords(_WORDS))
        total = self._hidden()[None].copy()
        self._field.add_products(np.ascontiguousarray(words)[None], offset, total)
        self._renew()
        channel.send(SilentAnswer(byte_row(hashlib.sha256(total.tobytes()).digest())))


class ReceiverSums(RowSums):
    """The receiver's."""

    def challenge(self, channel: Channel) -> None:
        """Send what the sender's answer depends on."""
        choices = np.packbits((self._mask[:, 0] & _ONE).astype(np.uint8), bitorder="little")
        channel.send(SilentChallenge(Words(self._sums[1] ^ choices.view(np.uint64))))

    def holds(self, channel: Channel) -> bool:
        """Take the answer; whether the sender's refills since the last check are right."""
        shown = channel.recv(SilentAnswer, ExpectedByteRows(1, ANSWER_BYTES))
        expected = hashlib.sha256(self._hidden().tobytes()).digest()
        self._renew()
        return hmac.compare_digest(expected, shown.tobytes())

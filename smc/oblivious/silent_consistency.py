"""Whether a sender of silent transfers made its trees right: sums of leaves, compared before openings.

    sender (leaves v, D)                            receiver (leaves w, which are v + e D)
      refills                           -->
      V = sum of tags of v                            W = sum of tags of w, chi = sum of tags of e
                                        <-- x' --     x' = chi + x*
      SHA-256(V + Y* + x' D)            -->           SHA-256(W + Z*): the same?

e is 1 at the missing leaves, of which the sender knows nothing; sums and products are those of the field of
AES-GCM. The tag of a block is linear over the field: its rows, in 64 lines, are weighed by powers of one key,
and the sums of lines by powers of another. Keys follow from all refills so far, so that a sender has fixed
what it sent when it learns them. 128 rows of the reserve that serve nothing else hide chi: Y*, Z* and x* are
the tags, under a public key, of the rows of both ends and of their choices, so that Z* = Y* + x* D.

Inputs: the leaves of both ends.
Outputs: none; the receiver goes on or ends the session.
Learns: the receiver a hash of what it knows, or else of what it cannot know without D; a sender that bends a
sum passes if it guesses how that changes the missing leaf, and otherwise the session ends.
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
from smc.oblivious.bitmatrix import SLOTS, Word
from smc.oblivious.kernels import Kernels
from smc.oblivious.numpy_field import ELEMENT_BITS

MASK_ROWS: Final = ELEMENT_BITS
CHALLENGE_BYTES: Final = 16
ANSWER_BYTES: Final = 32
_WORDS: Final = 2
_DOMAIN: Final = b"duetto/oblivious/silent-check/1"
_ONE: Final = np.uint64(1)
_FIRST: Final = np.uint64(7)


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
        kernels: what makes tags.
        mask: the rows that hide the next challenge, shape (128, 2).

    Attributes:
        used: whether there were iterations since the last check.
    """

    def __init__(self, session: bytes, sender: Role, kernels: Kernels, mask: Word) -> None:
        self._state = hashlib.sha256(_DOMAIN + session + sender.value.encode().ljust(8)).digest()
        self._mask_key = _words(self._state)[:_WORDS]
        self._kernels = kernels
        self._mask = self._next = mask.copy()
        self._sums = np.zeros((2, _WORDS), dtype=np.uint64)
        self._now = np.zeros_like(self._sums)
        self._made: deque[tuple[Word, Word]] = deque()
        self.used = False

    def add(self, message: Word, rows: Word, *, marked: bool) -> None:
        """Add the leaves of a block of the iteration under way.

        Args:
            message: what the sender sends of it.
            rows: the leaves, shape (n, 2) with n a multiple of 64; of a receiver those that were missing have
                1 for their lowest bit.
            marked: whether the rows are the receiver's.
        """
        self._state = hashlib.sha256(self._state + message.tobytes()).digest()
        keys = _words(self._state)
        self._now[0] ^= self._tag(rows, keys)
        if marked:
            self._now[1] ^= self._tag(_places(rows), keys)

    def _tag(self, rows: Word, keys: Word) -> Word:
        lines = self._kernels.tags(rows.reshape(SLOTS, -1), keys[:_WORDS])
        tag: Word = self._kernels.tags(lines.reshape(1, -1), keys[_WORDS:])[0]
        return tag

    def _mask_tag(self, rows: Word) -> Word:
        """Of the mask's rows: powers of a key that lies in no smaller field are linearly independent."""
        tag: Word = self._kernels.tags(rows.reshape(1, -1), self._mask_key)[0]
        return tag

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

    def _hide(self) -> Word:
        """The sum of the leaves and of the mask, shape (2,)."""
        total: Word = self._sums[0] ^ self._mask_tag(self._mask)
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
        product = np.zeros((1, _WORDS), dtype=np.uint64)
        self._kernels.field.add_products(_reverse_bits(words)[None], _reverse_bits(offset), product)
        total = self._hide() ^ _reverse_bits(product[0])
        self._renew()
        channel.send(SilentAnswer(byte_row(hashlib.sha256(total.tobytes()).digest())))


class ReceiverSums(RowSums):
    """The receiver's."""

    def challenge(self, channel: Channel) -> None:
        """Send what the sender's answer depends on."""
        channel.send(SilentChallenge(Words(self._sums[1] ^ self._mask_tag(_places(self._mask)))))

    def holds(self, channel: Channel) -> bool:
        """Take the answer; whether the sender's refills since the last check are right."""
        shown = channel.recv(SilentAnswer, ExpectedByteRows(1, ANSWER_BYTES))
        expected = hashlib.sha256(self._hide().tobytes()).digest()
        self._renew()
        return hmac.compare_digest(expected, shown.tobytes())


def _words(state: bytes) -> Word:
    return np.frombuffer(state, dtype=np.uint64)


def _places(rows: Word) -> Word:
    """1 of AES-GCM's field, the highest bit of the first byte, where the lowest bit of a row is 1, else 0."""
    places = np.zeros_like(rows)
    np.bitwise_and(rows[:, 0], _ONE, out=places[:, 0])
    np.left_shift(places[:, 0], _FIRST, out=places[:, 0])
    return places


def _reverse_bits(element: Word) -> Word:
    """An element of AES-GCM's field in the order of bits of `numpy_field`, or back: each byte is reversed."""
    bits = np.unpackbits(np.ascontiguousarray(element).view(np.uint8), bitorder="little")
    return np.packbits(bits, bitorder="big").view(np.uint64)

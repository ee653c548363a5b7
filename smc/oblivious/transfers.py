"""Batches of transfers over the channel: random, 1-of-16, correlated modulo 2**64, and bit triples.

    chooser (bit c)                                     sender (d modulo 2**64)
      choice c                  -- matrices -->           pads p_0, p_1
      has p_c                   <-- corrections --        p_0 + d - p_1
      share p_c + c (p_0 + d - p_1) = p_0 + c d           share -p_0

The receiver's half of a batch sends, the sender's half receives; who is both runs the receiver's half first.

Inputs: bits at the receiver; integers modulo 2**64 at the sender where the transfers are correlated.
Outputs: pads at both; or shares of bit times integer modulo 2**64; or shares of a triple's bits.
Learns: neither party anything of the other's pads, correlations or triples beyond its own output.
Assumes: `smc.oblivious.softspoken`, `smc.oblivious.ot_1_of_16`.
Cost: `smc.oblivious.cost`: 4 bytes of matrix per transfer, 8 bytes of correction where it is correlated.
Reference: correlated transfers: Asharov, Lindell, Schneider and Zohner, CCS 2013; Gilboa, CRYPTO 1999,
section 4; XOR shares of bits to shares modulo 2**64 from one of them: Demmler, Schneider and Zohner, ABY,
NDSS 2015.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field

import numpy as np

from smc.channel.channel import Channel
from smc.channel.message import Message
from smc.channel.vectors import ExpectedWords, Words
from smc.forms import Role
from smc.numeric.narrow_words import WORD_BITS, pack, packed_words, unpack
from smc.numeric.random import Randomness
from smc.oblivious.bitmatrix import SLOTS, Bit, Word, pack_slots, unpack_slots, words_for
from smc.oblivious.correlated_transfers import BITS, BLOCKS, ROWS, WORDS
from smc.oblivious.prepared import PreparedTransfers, Triples
from smc.oblivious.setup import Ends, set_up


@dataclass(frozen=True, slots=True)
class TransferCorrections(Message, kind="transfer-corrections", hidden=True):
    """Corrections of correlated transfers, from their sender."""

    words: Words


@dataclass(frozen=True, slots=True)
class TransferFlips(Message, kind="transfer-flips", hidden=True):
    """From the receiver of prepared transfers: where the choices it wants are not the random ones."""

    words: Words


@dataclass(frozen=True, slots=True)
class Correlations:
    """Correlated transfers of both directions: the receiver's row is the sender's, plus D where it chose 1.

    Attributes:
        offset: the local D, shape (2,).
        sent: rows of the transfers that this party sends, shape (n, 2).
        choices: of those that it receives, bits, shape (n,).
        received: their rows, shape (n, 2).
    """

    offset: Word = field(repr=False)
    sent: Word = field(repr=False)
    choices: Bit = field(repr=False)
    received: Word = field(repr=False)


class Transfers:
    """Both directions of extended transfers with the peer, which `setup` makes ready.

    Args:
        role: this side's role.
        channel: the conversation with the peer.
        random: the source of choice bits.
    """

    def __init__(self, role: Role, channel: Channel, random: Randomness) -> None:
        self._role = role
        self._channel = channel
        self._random = random
        self._made: Ends | None = None
        self._prepared = PreparedTransfers.none()
        self._coming: Callable[[], PreparedTransfers] | None = None

    @property
    def prepared(self) -> PreparedTransfers:
        """What is left of the transfers that were prepared; waits for those that another thread makes."""
        if self._coming is not None:
            coming, self._coming = self._coming, None
            self._prepared = coming()
        return self._prepared

    def prepare_by(self, coming: Callable[[], PreparedTransfers]) -> None:
        """Let the next steps take transfers that this gives. What was prepared before is dropped."""
        self._coming = coming

    @property
    def _ends(self) -> Ends:
        """What makes transfers."""
        return self._made or self.setup()

    def setup(self) -> Ends:
        """Run the set-up, if it has not run; both parties alike. Raises as `smc.oblivious.setup.set_up`."""
        if self._made is None:
            self._made = set_up(self._role, self._channel, self._random)
        return self._made

    @property
    def session(self) -> bytes:
        """Id of the session, the same on both sides and never the same twice."""
        return self.setup().session

    def prepare(self, count: int, words: int) -> Callable[[], None]:
        """Make correlated transfers with random choices, and triples, for the next steps; one flight.

        These take them as long as there are enough. What was prepared before is dropped.

        Args:
            count: transfers of each direction.
            words: of triples.

        Returns:
            What takes the peer's messages; others may be sent before.
        """
        choices = unpack_slots(self._random.words(words_for(count)), count)
        chosen = self._choose(choices).reshape(-1)[:count]
        begun = self.begin_triples(words)

        def end() -> None:
            made = PreparedTransfers(*self._pads(count), choices, chosen, self.end_triples(*begun))
            self.prepare_by(lambda: made)

        return end

    def receive_choices(self, choices: Word) -> Word:
        """Receive random 1-of-16 transfers of two bits; the peer calls `send_choices`.

        Args:
            choices: planes, shape (4, w).

        Returns:
            The pads, shape (2, w).
        """
        return self._ends.choice_receiver.receive(choices, BITS)

    def send_choices(self, width: int) -> Word:
        """Send random 1-of-16 transfers of two bits.

        Args:
            width: words per plane.

        Returns:
            The pads of every choice, shape (16, 2, width).
        """
        return self._ends.choice_sender.send(width, BITS)

    def receive_bits(self, choices: Word) -> Word:
        """Receive random 1-of-2 transfers of two bits; the peer calls `send_bits`.

        Args:
            choices: a plane, shape (w,).

        Returns:
            The pads, shape (2, w).
        """
        return self._ends.bit_receiver.receive(choices[None], BITS)

    def send_bits(self, width: int) -> Word:
        """Send random 1-of-2 transfers of two bits.

        Args:
            width: words per plane.

        Returns:
            The pads of choice 0 and of choice 1, shape (2, 2, width).
        """
        return self._ends.bit_sender.send(width, BITS)

    def triples(self, width: int) -> Triples:
        """64 * width fresh random triples; one flight, both parties alike.

        The local share of a is the local choice, that of b the difference of the two local pads. The cross
        terms come out of the pads: the pad one party received and the other's pad of choice 0 differ by
        choice * difference.
        """
        choices, chosen = self.begin_triples(width)
        return self.end_triples(choices, chosen)

    def begin_triples(self, width: int) -> tuple[Word, Word]:
        """The first half of `triples`, which sends: choices, shape (width,), and pads, shape (2, width)."""
        choices = self._random.words(width)
        return choices, self.receive_bits(choices)

    def end_triples(self, choices: Word, chosen: Word) -> Triples:
        """The second half of `triples`, which receives.

        Args:
            choices: from `begin_triples`.
            chosen: from there, too.
        """
        zero, one = self.send_bits(len(choices))
        # a b = a1 b1 + a1 b2 + a2 b1 + a2 b2: each party adds its product to what the pads give of the other
        # two.
        one ^= zero
        chosen ^= zero
        chosen ^= choices & one
        return Triples(choices, one, chosen)

    def correlations(self, width: int) -> Correlations:
        """64 * width correlated transfers in each direction, before the hash; one flight, both alike."""
        choices = self._random.words(width)
        # The receiver's half goes first at both parties, and so both matrices are under way at once.
        received = self._ends.bit_receiver.receive(choices[None], ROWS)
        sent = self._ends.bit_sender.send(width, ROWS)[0]
        # Bits and rows are both in slot order from here on.
        bits = unpack_slots(choices, SLOTS * width)
        offset = self._ends.bit_sender.offset
        return Correlations(offset, sent.reshape(-1, 2), bits, received.reshape(-1, 2))

    def correlate(self, deltas: Word) -> Word:
        """Send correlated transfers.

        Args:
            deltas: shape (n,).

        Returns:
            Shares s with s + s' = choice * delta (mod 2**64), where s' is what `receive` gives the peer.
        """
        made = self.prepared.take(len(deltas))
        if made is None:
            return self._correct(deltas)
        self._channel.send(TransferCorrections(Words(made.corrections(deltas))))
        return made.send(deltas, self._flips(len(deltas)))

    def receive(self, choices: Bit) -> Word:
        """Receive correlated transfers; the peer calls `correlate`.

        Args:
            choices: shape (n,), bits.
        """
        made = self.prepared.take(len(choices))
        if made is None:
            return self._take_corrections(choices, self._choose(choices))
        flips = self._flip(choices, made)
        return made.receive(self._corrections(len(choices)), flips)

    def exchange(self, deltas: Word, choices: Bit, bits: int = WORD_BITS) -> tuple[Word, Word]:
        """Send and receive as many correlated transfers at once; the peer does the same.

        Args:
            deltas: shape (n,), for the peer's choices.
            choices: shape (n,), bits.
            bits: how many of the products count; those above are arbitrary.

        Returns:
            The local shares of the peer's choices times the deltas, and of the choices times the peer's.
        """
        made = self.prepared.take(len(choices))
        if made is None:
            pads = self._choose(choices)
            sent = self._correct(deltas, bits)
            return sent, self._take_corrections(choices, pads, bits)
        own = self._flip(choices, made)
        self._channel.send(TransferCorrections(Words(pack(made.corrections(deltas), bits))))
        sent = made.send(deltas, self._flips(len(deltas)))
        return sent, made.receive(self._corrections(len(choices), bits), own)

    def _flip(self, choices: Bit, made: PreparedTransfers) -> Bit:
        """Send where the choices are not those of prepared transfers."""
        flips: Bit = choices ^ made.choices
        self._channel.send(TransferFlips(Words(pack_slots(flips))))
        return flips

    def _flips(self, count: int) -> Bit:
        return unpack_slots(self._channel.recv(TransferFlips, ExpectedWords(words_for(count))), count)

    def _corrections(self, count: int, bits: int = WORD_BITS) -> Word:
        words = self._channel.recv(TransferCorrections, ExpectedWords(packed_words(count, bits)))
        return unpack(words, count, bits)

    def _pads(self, count: int) -> tuple[Word, Word]:
        """Take the peer's matrices; the pads of choice 0 and of choice 1, shape (count,) each."""
        zero, one = self._ends.bit_sender.send(words_for(count), WORDS)
        # Slot (r, k) of the grid is place r * width + k of the batch, so the flat array is in order.
        return zero.reshape(-1)[:count], one.reshape(-1)[:count]

    def _correct(self, deltas: Word, bits: int = WORD_BITS) -> Word:
        """Take the peer's matrices and send corrections."""
        pads, others = self._pads(len(deltas))
        self._channel.send(TransferCorrections(Words(pack(pads + deltas - others, bits))))
        return np.negative(pads)

    def _choose(self, choices: Bit) -> Word:
        """Send matrices; the pads of the choices."""
        return self._ends.bit_receiver.receive(pack_slots(choices)[None], WORDS)

    def _take_corrections(self, choices: Bit, pads: Word, bits: int = WORD_BITS) -> Word:
        """Take the peer's corrections of such pads."""
        # The correction does not depend on the choice, and the pad that was not chosen hides delta in it:
        # pad_c + c (pad_0 + delta - pad_1) is pad_0 + c delta whichever pad it is.
        corrections = self._corrections(len(choices), bits)
        return pads.reshape(-1)[: len(choices)] + choices * corrections

    def send_rows(self, count: int) -> tuple[Word, Word]:
        """Send transfers of 128 bits before the hash; the peer calls `receive_rows`.

        Args:
            count: transfers.

        Returns:
            The rows of choice 0, shape (count, 2), and the offset to those of choice 1, shape (2,).
        """
        (rows,) = self._ends.bit_sender.send(words_for(count), ROWS)
        # A batch fills whole words; the transfers past `count` are never used.
        return rows.reshape(-1, 2)[:count], self._ends.bit_sender.offset

    def receive_rows(self, choices: Bit) -> Word:
        """Receive transfers of 128 bits before the hash.

        Args:
            choices: shape (n,), bits.

        Returns:
            The sender's rows, plus its offset where the choice is 1, shape (n, 2).
        """
        rows = self._ends.bit_receiver.receive(pack_slots(choices)[None], ROWS)
        return rows.reshape(-1, 2)[: len(choices)]

    def receive_blocks(self, choices: Bit) -> Word:
        """Receive random 1-of-2 transfers of 128 bits; the peer calls `send_blocks`.

        Args:
            choices: shape (n,), bits.

        Returns:
            The pads, shape (n, 2).
        """
        pads = self._ends.bit_receiver.receive(pack_slots(choices)[None], BLOCKS)
        return pads.reshape(-1, 2)[: len(choices)]

    def send_blocks(self, count: int) -> tuple[Word, Word]:
        """Send random 1-of-2 transfers of 128 bits.

        Args:
            count: n.

        Returns:
            The pads of choice 0 and of choice 1, shape (n, 2) each.
        """
        zero, one = self._ends.bit_sender.send(words_for(count), BLOCKS)
        return zero.reshape(-1, 2)[:count], one.reshape(-1, 2)[:count]

"""Correlated transfers with random choices, and triples, made before it is known what for: one round to use.

    chooser (random choice r, its pad p_r)              sender (pads p_0, p_1)
      choice c                -- c ^ r -->
                              <-- k = p_0 + d - p_1 --    (both at once)
      s = p_r + r k = p_0 + r d
      share: s if c = r, else -s                          share: -p_0 if c = r, else d + p_0

c d is r d where the two choices are the same, and d - r d elsewhere. Each transfer is used once.

Inputs: the pads of transfers with random choices; then choices and integers modulo 2**64.
Outputs: shares modulo 2**64 of choice times integer.
Learns: neither party anything: a choice is masked by a random one, an integer by the pad that was not chosen.
Assumes: `smc.oblivious.softspoken` or `smc.oblivious.silent_ot`.
Cost: `smc.oblivious.cost.prepare`, or refills for `smc.oblivious.silent_transfers.prepared_words`; and the
steps of the former module with `take`.
Reference: Beaver, Precomputing oblivious transfer, CRYPTO 1995.
"""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np

from smc.oblivious.bitmatrix import SLOTS, Bit, Word, pack_slots


@dataclass(frozen=True, slots=True)
class Triples:
    """XOR shares of random bits a, of two rows of random bits b and of c = a b (a with either row of b).

    Attributes:
        a: planes, shape (..., w).
        b: shape (2, ..., w).
        c: shape (2, ..., w).
    """

    a: Word = field(repr=False)
    b: Word = field(repr=False)
    c: Word = field(repr=False)

    @classmethod
    def of_pads(cls, choices: Word, zero: Word, one: Word, chosen: Word) -> Triples:
        """One triple of each pair of transfers of two bits with random choices.

        The pad that one party chose and the other's pad of choice 0 differ by choice times difference: the
        cross terms of a b. The local product is added to them.

        Args:
            choices: of the transfers received, shape (w,).
            zero: pads of choice 0 of those sent, shape (2, w).
            one: those of choice 1.
            chosen: pads of those received, shape (2, w).
        """
        differences = one ^ zero
        return cls(choices, differences, chosen ^ zero ^ (choices & differences))

    def __getitem__(self, part: slice) -> Triples:
        return Triples(self.a[part], self.b[:, part], self.c[:, part])

    def reshape(self, *shape: int) -> Triples:
        """The same triples, a in another shape."""
        return Triples(self.a.reshape(shape), self.b.reshape(2, *shape), self.c.reshape(2, *shape))


@dataclass(frozen=True, slots=True)
class Portion:
    """What one party needs for a batch of comparisons, w words per plane.

    Attributes:
        choices: random choices of the digits received, shape (4, d * w).
        chosen: pads of these choices, shape (2, d * w).
        pads: pads of every choice of the digits sent, shape (16, 2, e * w).
        triples: of the joins, shape (j, w).
    """

    choices: Word = field(repr=False)
    chosen: Word = field(repr=False)
    pads: Word = field(repr=False)
    triples: Triples = field(repr=False)


@dataclass(slots=True)
class PreparedTransfers:
    """As many transfers in each direction; what is taken is gone.

    Attributes:
        zero: pads of choice 0 of the transfers that this party sends, shape (n,).
        one: those of choice 1.
        choices: random choices of the transfers that it receives, bits, shape (n,).
        chosen: their pads, shape (n,).
        triples: shape (w,).
    """

    zero: Word = field(repr=False)
    one: Word = field(repr=False)
    choices: Bit = field(repr=False)
    chosen: Word = field(repr=False)
    triples: Triples = field(repr=False)

    @classmethod
    def none(cls) -> PreparedTransfers:
        """Nothing."""
        words, pairs = np.empty(0, dtype=np.uint64), np.empty((2, 0), dtype=np.uint64)
        return cls(words, words, np.empty(0, dtype=np.uint8), words, Triples(words, pairs, pairs))

    @classmethod
    def of_blocks(cls, count: int, pads: tuple[Word, Word], choices: Bit, chosen: Word) -> PreparedTransfers:
        """Made of random transfers of 128 bits, each of which serves for one of these.

        Args:
            count: of them; each 64 of the others, in whole words, are one word of triples.
            pads: of choice 0 and of choice 1 of those sent, shape (n, 2) each.
            choices: of those received, bits, shape (n,).
            chosen: their pads, shape (n, 2).
        """
        zero, one = pads
        cut = [side[:, 0].copy() for side in (zero, one, chosen)]  # the other halves are not kept
        rest = slice(-(-count // SLOTS) * SLOTS, None)
        bits = pack_slots(choices[rest])
        # Two bits of a pad, for two products with one choice.
        planes = [
            np.stack(
                [pack_slots((side[rest] >> np.uint64(bit) & np.uint64(1)).astype(np.uint8)) for bit in (0, 1)]
            )
            for side in cut
        ]
        triples = Triples.of_pads(bits, planes[0], planes[1], planes[2])
        return cls(cut[0][:count], cut[1][:count], choices[:count], cut[2][:count], triples)

    def take(self, count: int) -> PreparedTransfers | None:
        """The next transfers of each direction; None where fewer are left."""
        if count > len(self.choices):
            return None
        first = slice(0, count)
        made = PreparedTransfers(
            self.zero[first], self.one[first], self.choices[first], self.chosen[first], self.triples[:0]
        )
        self.zero, self.one = self.zero[count:], self.one[count:]
        self.choices, self.chosen = self.choices[count:], self.chosen[count:]
        return made

    def taken_triples(self, width: int) -> Triples | None:
        """The next triples, shape (width,); None where fewer are left."""
        if width > len(self.triples.a):
            return None
        taken, self.triples = self.triples[:width], self.triples[width:]
        return taken

    def corrections(self, deltas: Word) -> Word:
        """What the sender of integers, shape (n,), sends."""
        return self.zero + deltas - self.one

    def send(self, deltas: Word, flips: Bit) -> Word:
        """The sender's shares, by where the chooser's choices are not the random ones; shape (n,) each."""
        share: Word = np.where(flips == 1, deltas + self.zero, np.negative(self.zero))
        return share

    def receive(self, corrections: Word, flips: Bit) -> Word:
        """The chooser's shares, shape (n,)."""
        share = self.chosen + self.choices * corrections
        result: Word = np.where(flips == 1, np.negative(share), share)
        return result

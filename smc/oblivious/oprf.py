"""Batched oblivious pseudorandom functions: one per instance, evaluated at one point by the receiver.

    receiver (all 16 leaves of 64 trees; inputs x)        sender (all leaves but one of each)
      u_s = sum of G(leaf z) over z                         D_s = number of the missing leaf
      t_s = sum of z G(leaf z)
      c_s = u_s + C(x)_s                -- c -->            q_s = sum of (z + D_s) G(leaf z) + D_s c_s
      F_i(x_i) = H(t_i)                                     F_i(y) = H(q_i + C(y) D)

Everything is over the field of sixteen elements, {0, 1}[w] modulo w**4 + w + 1, each element four bits, G's
outputs too; s runs over the 64 trees, i over the instances. C is a pseudorandom code: 64 symbols, which are
AES-128 of the input under two public keys of the batch. Row i of q is that of t plus C(x_i) D, symbol by
symbol, so a function at another point y is H(t_i + (C(y) - C(x_i)) D): it hides behind the symbols of D at
which the two code words differ.

H(a, b) of a row of 2 x 128 bits is E'(z) + z with z = E(a) + a + b over bits, E and E' AES-128 under two
public keys that serve one piece of 2**15 instances; wider values take more keys in the place of E'.

Inputs: x_i at the receiver, 128 bits each.
Outputs: F_i(x_i) at the receiver, all F_i at the sender.
Learns: the sender nothing (each u_s contains the stream of the leaf it lacks); the receiver nothing of its
functions at other points.
Assumes: semi-honest parties, inputs that were chosen before the session began or hashed under a salt drawn
in it; `smc.oblivious.ggm_trees`, `smc.oblivious.transfers`; AES-128 as generator G and as an ideal cipher.
Two words of C differ in fewer than 32 symbols, 128 bits of D, with probability P[B(64, 15/16) < 32] <
2**-74, so that with 2**34 points y none does but for a chance of 2**-40 (`distance_failure`). A party that
makes p evaluations under the keys of a piece then learns something of one of its m hidden values with
probability of about m (p 2**-128 + p**2 2**-225): the second term is for a guess of both halves of a row.
Cost: `oprf_steps.steps`; 32 bytes per instance.
Reference: Kolesnikov, Kumaresan, Rosulek and Trieu, Efficient batched oblivious PRF with applications to
private set intersection, CCS 2016, section 3 (the function from a pseudorandom code, over bits); the
correlation over larger fields: Roy, SoftSpokenOT, CRYPTO 2022, sections 3 and 5.
"""

from __future__ import annotations

import hashlib
from dataclasses import dataclass, field
from fractions import Fraction
from math import comb
from typing import Final

import numpy as np
from numpy.typing import NDArray

from smc.channel.channel import Channel
from smc.channel.message import Message
from smc.channel.vectors import ByteRows, ExpectedByteRows
from smc.errors import UsageError
from smc.forms import Role
from smc.numeric.random import Randomness
from smc.oblivious.bitmatrix import SLOTS, Word, words_for
from smc.oblivious.gf16 import DEPTH, LEAVES, SYMBOLS, Weigher, products, times_powers, transpose
from smc.oblivious.ggm_trees import SeedTrees
from smc.oblivious.prf_ciphers import PrfCiphers
from smc.oblivious.prg import SEED_BYTES
from smc.oblivious.transfers import Transfers
from smc.oblivious.workspace import Workspace
from smc.pieces import chunks

DISTANCE: Final = 32
"""Symbols in which code words differ."""

WIDTH: Final = 16
"""Bytes of a value, unless asked."""

BASE_TRANSFERS: Final = SYMBOLS * DEPTH
"""Transfers that the seed trees of one direction take."""

SUM_BYTES: Final = 2 * SEED_BYTES
ROW_BYTES: Final = SYMBOLS * DEPTH // 8
"""What an instance costs."""

PIECE_WORDS: Final = 512
"""Most words per plane in one message: 2**15 instances, a mebibyte."""


MAX_FUNCTIONS: Final = 1 << 28
"""More functions are not made at once: their rows alone would fill 8 GiB."""

_BLOCK: Final = 1 << 13
_PLACE_BITS: Final = 32
_BASE_DOMAIN: Final = b"duetto/oblivious/prf-base/1"


@dataclass(frozen=True, slots=True)
class PrfSums(Message, kind="prf-sums"):
    """The masked sums of every level of the seed trees, from the receiver."""

    sums: ByteRows


@dataclass(frozen=True, slots=True)
class PrfMatrix(Message, kind="prf-matrix"):
    """The masked code words of a piece, from the receiver: a row for each bit of each symbol."""

    matrix: ByteRows


def distance_failure(points: int) -> Fraction:
    """The probability that one of so many pairs of code words is closer than `DISTANCE`, by the union bound.

    Args:
        points: evaluations by the sender, each of which meets one input of the receiver.
    """
    ways = sum(comb(SYMBOLS, differ) * (LEAVES - 1) ** differ for differ in range(DISTANCE))
    return points * Fraction(ways, LEAVES**SYMBOLS)


def pieces(count: int) -> list[slice]:
    """The instances of each message."""
    size = SLOTS * PIECE_WORDS
    return list(chunks(count, size))


class PrfReceiver:
    """The receiving end of one direction; making one runs its set-up.

    Args:
        transfers: with the peer, which makes a `PrfSender` at the same time.
        channel: the conversation with the peer.
        random: the source of randomness.
        sender: the party that sends, which is the peer.
    """

    def __init__(self, transfers: Transfers, channel: Channel, random: Randomness, sender: Role) -> None:
        rows, offset = transfers.send_rows(BASE_TRANSFERS)
        pairs = np.stack(
            [_base_keys(transfers.session, sender, keys) for keys in (rows, rows ^ offset)], axis=1
        )
        roots = random.words(2 * SYMBOLS).reshape(SYMBOLS, 2)
        trees = SeedTrees(transfers.session, sender.other, DEPTH)
        leaves, sums = trees.grow(roots, pairs.reshape(SYMBOLS, DEPTH, 2, 2))
        channel.send(PrfSums(ByteRows(sums)))
        self._channel = channel
        self._workspace = Workspace()
        self._ciphers = PrfCiphers(transfers.session, sender, self._workspace)
        self._weigher = Weigher(leaves, self._workspace)
        self._batches = self._pieces = 0

    def evaluate(self, inputs: Word, width: int) -> NDArray[np.uint8]:
        """The values of fresh functions, one per input.

        Args:
            inputs: shape (n, 2).
            width: bytes of a value.

        Returns:
            Shape (n, width).
        """
        values = np.empty((len(inputs), width), dtype=np.uint8)
        for part in pieces(len(inputs)):
            matrix, rows = self._extend(inputs[part])
            self._channel.send(PrfMatrix(ByteRows(matrix)))
            for block in chunks(part.stop - part.start, _BLOCK):
                first = np.ascontiguousarray(rows[block, :2])
                self._ciphers.hash(self._pieces, first, rows[block, 2:], values[part][block])
            # Pieces are counted on through all batches: the number names the keys of the hash, which serve
            # one piece.
            self._pieces += 1
        self._batches += 1
        return values

    def _extend(self, inputs: Word) -> tuple[NDArray[np.uint8], Word]:
        """The matrix for the sender, shape (256, 8 w) bytes, and the local rows t, shape (64 w, 4)."""
        width = words_for(len(inputs))
        words = self._workspace.words("words", SLOTS, width, DEPTH)
        flat = words.reshape(-1, DEPTH)
        # The last word is filled up; what stands for these instances is never evaluated.
        flat[len(inputs) :] = 0
        low, high = self._ciphers.code(self._batches, np.ascontiguousarray(inputs))
        flat[: len(inputs), :2], flat[: len(inputs), 2:] = low, high
        codes = transpose(words, self._workspace)
        matrix = self._workspace.words("matrix", SYMBOLS, DEPTH, width)
        symbols = self._workspace.words("symbols", SYMBOLS, width, DEPTH)
        weighed = self._workspace.words("own", DEPTH, width)
        for tree in range(SYMBOLS):
            total, sums = self._weigher.tree(tree, width)
            # u_s and C(x)_s; t_s is the sum over b of w**b times the streams whose place has bit b.
            np.bitwise_xor(total, codes[tree].T, out=matrix[tree])
            times_powers(sums, weighed)
            symbols[tree] = weighed.T
        rows = transpose(symbols, self._workspace).reshape(-1, DEPTH)
        return matrix.view(np.uint8).reshape(BASE_TRANSFERS, 8 * width), rows


@dataclass(frozen=True, slots=True)
class Keys:
    """The sender's side of a batch: every function at every point.

    Attributes:
        rows: q, shape (n, 4).
        products: word (i, j) has bit s where bit i of w**j D_s is 1, shape (4, 4).
        batch: its number.
        first_piece: number of its first piece.
        width: bytes of a value.
        ciphers: of the direction.
    """

    rows: Word = field(repr=False)
    products: Word = field(repr=False)
    batch: int
    first_piece: int
    width: int
    ciphers: PrfCiphers = field(repr=False)

    def __len__(self) -> int:
        return len(self.rows)

    def evaluate(self, instances: NDArray[np.int64], inputs: Word) -> NDArray[np.uint8]:
        """Values of functions.

        Args:
            instances: which function, 0 to n - 1, shape (m,), in any order.
            inputs: at which point, shape (m, 2).

        Returns:
            Shape (m, width).

        Raises:
            UsageError: the two do not pair up, or there is no such function.
        """
        if len(instances) != len(inputs):
            raise UsageError(
                f"There are {len(instances)} numbers of functions, but {len(inputs)} inputs.",
                "Give the number of a function for each input.",
            )
        values = np.empty((len(inputs), self.width), dtype=np.uint8)
        if not len(instances):
            return values
        if instances.min() < 0 or instances.max() >= len(self):
            raise UsageError(
                f"The batch of {len(self)} functions has no function of that number.",
                f"Use numbers from 0 to {len(self) - 1}.",
            )
        # sorting words that hold both is several times faster than sorting places
        packed = np.sort(instances << _PLACE_BITS | np.arange(len(instances)))
        ordered, order = packed >> _PLACE_BITS, packed & (1 << _PLACE_BITS) - 1
        parts = pieces(len(self))
        ends = np.searchsorted(ordered, [part.stop for part in parts])
        start = 0
        for number, end in enumerate(ends.tolist()):
            for block in range(start, end, _BLOCK):
                part = slice(block, min(block + _BLOCK, end))
                values[order[part]] = self._block(
                    self.first_piece + number, ordered[part], inputs[order[part]]
                )
            start = end
        return values

    def _block(self, piece: int, instances: NDArray[np.int64], inputs: Word) -> NDArray[np.uint8]:
        codes = [
            np.ascontiguousarray(half[:, word])
            for half in self.ciphers.code(self.batch, inputs)
            for word in (0, 1)
        ]
        rows = self.rows[instances]
        scratch = np.empty_like(codes[0])
        for bit in range(DEPTH):
            # Plane `bit` of C(y) D: of each plane w**j of the code word the symbols s where w**j D_s has this
            # bit.
            column = np.bitwise_and(codes[0], self.products[bit, 0])
            for power in range(1, DEPTH):
                np.bitwise_and(codes[power], self.products[bit, power], out=scratch)
                column ^= scratch
            rows[:, bit] ^= column
        values = np.empty((len(inputs), self.width), dtype=np.uint8)
        self.ciphers.hash(piece, np.ascontiguousarray(rows[:, :2]), rows[:, 2:], values)
        return values


class PrfSender:
    """The sending end of one direction; making one runs its set-up.

    Args:
        transfers: with the peer, which makes a `PrfReceiver` at the same time.
        channel: the conversation with the peer.
        random: the source of randomness.
        sender: this side's role.
    """

    def __init__(self, transfers: Transfers, channel: Channel, random: Randomness, sender: Role) -> None:
        choices = random.bits(BASE_TRANSFERS)
        chosen = _base_keys(transfers.session, sender, transfers.receive_rows(choices))
        sums = channel.recv(PrfSums, ExpectedByteRows(BASE_TRANSFERS, SUM_BYTES))
        trees = SeedTrees(transfers.session, sender.other, DEPTH)
        leaves, missing = trees.regrow(
            sums, choices.reshape(SYMBOLS, DEPTH), chosen.reshape(SYMBOLS, DEPTH, 2)
        )
        # As in `softspoken`: at place y the stream of leaf y + D_s, which has weight y in q; the missing one
        # has 0.
        moved = np.arange(LEAVES) ^ missing[:, None]
        self._channel = channel
        self._workspace = Workspace()
        self._ciphers = PrfCiphers(transfers.session, sender, self._workspace)
        self._weigher = Weigher(leaves[np.arange(SYMBOLS)[:, None], moved], self._workspace)
        bits = missing[:, None] >> np.arange(DEPTH) & 1
        # -1 is all ones: AND with it multiplies a plane by a bit of D_s.
        self._masks = (-bits).view(np.uint64)
        self._products = products(missing)
        self._batches = self._pieces = 0

    def keys(self, count: int, width: int) -> Keys:
        """Fresh functions; the receiver evaluates each once.

        Args:
            count: how many, at most `MAX_FUNCTIONS`.
            width: bytes of a value.

        Raises:
            UsageError: there are too many.
            ProtocolViolation: the peer sent something else than the protocol says.
        """
        if count > MAX_FUNCTIONS:
            raise UsageError(
                f"{count} keys are more than the {MAX_FUNCTIONS} that one run can take.",
                "Split the data into several jobs.",
            )
        first, batch = self._pieces, self._batches
        rows = np.empty((count, DEPTH), dtype=np.uint64)
        for part in pieces(count):
            size = part.stop - part.start
            expected = ExpectedByteRows(BASE_TRANSFERS, 8 * words_for(size))
            rows[part] = self._extend(self._channel.recv(PrfMatrix, expected))[:size]
            self._pieces += 1
        self._batches += 1
        return Keys(rows, self._products, batch, first, width, self._ciphers)

    def _extend(self, matrix: NDArray[np.uint8]) -> Word:
        """The rows q, shape (64 w, 4), valid until the next call."""
        received = matrix.view(np.uint64).reshape(SYMBOLS, DEPTH, -1)
        width = received.shape[2]
        symbols = self._workspace.words("symbols", SYMBOLS, width, DEPTH)
        weighed = self._workspace.words("own", DEPTH, width)
        masked = self._workspace.words("masked", DEPTH, DEPTH, width)
        for tree in range(SYMBOLS):
            sums = self._weigher.tree(tree, width)[1]
            np.bitwise_and(received[tree], self._masks[tree][:, None, None], out=masked)
            sums ^= masked
            times_powers(sums, weighed)
            symbols[tree] = weighed.T
        return transpose(symbols, self._workspace).reshape(-1, DEPTH)


class Functions:
    """Both directions of one session, each set up at its first use.

    Args:
        role: this side's role.
        channel: the conversation with the peer.
        random: the source of randomness.
    """

    def __init__(self, role: Role, channel: Channel, random: Randomness) -> None:
        self._role = role
        self._channel = channel
        self._random = random
        self._receiver: PrfReceiver | None = None
        self._sender: PrfSender | None = None

    def receive(self, transfers: Transfers, inputs: Word, width: int) -> NDArray[np.uint8]:
        """The values of fresh functions, one per input; see `PrfReceiver`."""
        if self._receiver is None:
            self._receiver = PrfReceiver(transfers, self._channel, self._random, self._role.other)
        return self._receiver.evaluate(inputs, width)

    def send(self, transfers: Transfers, count: int, width: int) -> Keys:
        """Fresh functions; see `PrfSender`."""
        if self._sender is None:
            self._sender = PrfSender(transfers, self._channel, self._random, self._role)
        return self._sender.keys(count, width)


def _base_keys(session: bytes, sender: Role, rows: Word) -> Word:
    """Keys from the rows of base transfers, shape (n, 2) both."""
    name = _BASE_DOMAIN + session + sender.value.encode().ljust(8)
    digests = [
        hashlib.sha256(name + number.to_bytes(2, "big") + row.tobytes()).digest()[:SEED_BYTES]
        for number, row in enumerate(rows)
    ]
    return np.frombuffer(b"".join(digests), dtype=np.uint64).reshape(-1, 2)

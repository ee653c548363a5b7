"""Silent transfers of both directions over the channel: pads of four bits, and of 128 for chosen bits.

    both ways at once                                   one way, the peer's choices a
      == refills, one each ==                             sender    -- refill -->        receiver, random c
      pads of four bits and random choices                          <-- c ^ a --
                                                          pads, those of a first         the pad of a

Transfers of both ways can be ordered before they are wanted: the sender's half is then made by another thread
from the order to the delivery, which sends the refills, and the receiver's half from there to the first use.
So can correlated transfers and triples with random choices (`smc.oblivious.prepared`), of iterations of their
own, which come first, as they are used first. Sizes and order of the messages do not depend on when the other
thread is ready, only how long parties wait.

Learns: neither party anything; a choice is masked by a random one.
Assumes: `smc.oblivious.silent_ot`.
Cost: `refills`, `blocks`, `setup`, exactly.
Reference: correction of random choices: Beaver, Precomputing oblivious transfer, CRYPTO 1995.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import Executor
from contextvars import copy_context
from dataclasses import dataclass, field
from functools import cache, partial
from typing import Any, Final, TypeVar

import numpy as np
from numpy.typing import NDArray

from smc.channel.channel import Channel
from smc.channel.message import Message
from smc.channel.vectors import ByteRows, ExpectedByteRows, ExpectedWords, Words
from smc.errors import InconsistentTransfers, UsageError
from smc.forms import Role
from smc.numeric.random import Randomness
from smc.oblivious.bitmatrix import Bit, Word, pack_slots, unpack_slots, words_for
from smc.oblivious.correlated_transfers import ONE_OF_2
from smc.oblivious.cost import FlightBytes
from smc.oblivious.kernels import make_kernels
from smc.oblivious.lpn import PRODUCTION, LpnSet
from smc.oblivious.prepared import PreparedTransfers, Triples
from smc.oblivious.silent_consistency import (
    MASK_ROWS,
    ReceiverSums,
    SenderSums,
)
from smc.oblivious.silent_ot import PAD_BITS, SilentReceiver, SilentSender, even, mark_choices, message_bytes
from smc.oblivious.transfers import Transfers
from smc.oblivious.workspace import Workspace

T = TypeVar("T")
Bytes = NDArray[np.uint8]

CHOICES: Final = 4
"""Of the 1-of-4 transfers that come from two of these."""

_WORD: Final = 8


def setup(sizes: LpnSet = PRODUCTION) -> tuple[FlightBytes, ...]:
    """The first reserve of both directions; the set-up of `smc.oblivious.cost` comes before it."""
    size = ONE_OF_2.bytes_received(_first_words(sizes))
    return (FlightBytes(size, size),)


def _first_words(sizes: LpnSet) -> int:
    """Words of extended transfers for the first reserve, and for the mask of the first check."""
    return words_for(sizes.reserve_rows + MASK_ROWS)


def refills(words: int, sizes: LpnSet = PRODUCTION) -> int:
    """Bytes that the sender of 64 * words silent transfers sends for them."""
    return sum(message_bytes(sizes, blocks) for blocks in sizes.iterations(words))


def prepared_words(count: int, triples: int) -> int:
    """Words of silent transfers of which so many correlated transfers and words of triples are made."""
    return words_for(count) + triples


def rows_of(words: int, sizes: LpnSet = PRODUCTION) -> int:
    """Rows that either end makes for 64 * words silent transfers of one direction."""
    given = sizes.iterations(words)
    return (sum(given) + sizes.reserve_blocks * len(given)) * sizes.block_rows


def blocks(count: int, sizes: LpnSet = PRODUCTION) -> tuple[FlightBytes, ...]:
    """So many silent transfers of 128 bits; the first party sends them."""
    if count == 0:
        return ()
    words = words_for(count)
    return FlightBytes(refills(words, sizes), 0, refills=True), FlightBytes(0, _WORD * words)


@dataclass(frozen=True, slots=True)
class Refill(Message, kind="silent-refill", hidden=True):
    """Sums of the trees of one iteration, from the sender of silent transfers."""

    sums: ByteRows


@dataclass(frozen=True, slots=True)
class SilentChoices(Message, kind="silent-choices", hidden=True):
    """From the receiver of silent transfers: where the choices it wants are not the random ones."""

    words: Words


@dataclass(frozen=True, slots=True)
class Pads:
    """Silent transfers of both directions.

    Attributes:
        zero: pads of choice 0 of the transfers that this party sends, shape (4, w).
        one: those of choice 1.
        choices: random choices of the transfers that it receives, shape (w,).
        chosen: their pads, shape (4, w).
    """

    zero: Word = field(repr=False)
    one: Word = field(repr=False)
    choices: Word = field(repr=False)
    chosen: Word = field(repr=False)

    @classmethod
    def none(cls) -> Pads:
        """No transfers."""
        zero, one, chosen = (np.empty((PAD_BITS, 0), dtype=np.uint64) for _ in range(3))
        return cls(zero, one, np.empty(0, dtype=np.uint64), chosen)

    def __getitem__(self, part: slice) -> Pads:
        return Pads(self.zero[:, part], self.one[:, part], self.choices[part], self.chosen[:, part])

    def triples(self) -> Triples:
        """One triple of each pair of transfers, as `Transfers.triples` makes them."""
        return Triples.of_pads(self.choices, self.zero[:2], self.one[:2], self.chosen[:2])

    def offer(self) -> Word:
        """Pads of the 1-of-4 transfers sent, of which the first half of the words is the lower choice.

        Returns:
            Shape (4, 2, w / 2).
        """
        half = self.zero.shape[1] // 2
        # Of the four bits of a pad entry 0 has the first two and entry 1 the last two: v >> 1 picks those of
        # the lower choice's pad, v & 1 those of the higher one's, so no two values share a bit.
        low = [side[:, :half].reshape(2, 2, -1) for side in (self.zero, self.one)]
        high = [side[:, half : 2 * half].reshape(2, 2, -1) for side in (self.zero, self.one)]
        return np.stack([low[v & 1][v >> 1] ^ high[v >> 1][v & 1] for v in range(CHOICES)])

    def take(self) -> tuple[Word, Word]:
        """The 1-of-4 transfers received: choices, shape (2, w / 2), and their pads, of the same shape."""
        half = len(self.choices) // 2
        choices = self.choices[: 2 * half].reshape(2, half)
        low = self.chosen[:, :half].reshape(2, 2, -1)
        high = self.chosen[:, half : 2 * half].reshape(2, 2, -1)
        return choices, _pick(low, choices[1]) ^ _pick(high, choices[0])


def _pick(options: Word, choices: Word) -> Word:
    """Option 0 or 1, slot by slot: shapes (2, 2, w) and (w,) to (2, w)."""
    picked: Word = options[0] ^ choices & (options[0] ^ options[1])
    return picked


@dataclass(frozen=True, slots=True)
class _Order:
    """What was ordered.

    Attributes:
        words: of transfers for `pads`.
        count: correlated transfers.
        counts: of the iterations for both kinds, those for correlated transfers and triples first.
        messages: the refills, once `sent` was called.
        sent: waits for the sender's half of both kinds.
    """

    words: int
    count: int
    counts: tuple[list[int], list[int]]
    messages: list[Message] = field(repr=False)
    sent: Callable[[], tuple[tuple[Word, Word], tuple[Word, Word]]] = field(repr=False)


class SilentTransfers:
    """Both directions of silent transfers with the peer; making one sends the first reserve.

    Args:
        role: this side's role.
        channel: the conversation with the peer.
        random: the source of seeds.
        transfers: extended transfers with the peer, for the first reserve.
        sizes: of the problem.
        executor: where ordered transfers are made; None for this thread, when they are wanted.
    """

    def __init__(
        self,
        role: Role,
        channel: Channel,
        random: Randomness,
        transfers: Transfers,
        sizes: LpnSet = PRODUCTION,
        executor: Executor | None = None,
    ) -> None:
        self._channel = channel
        self._transfers = transfers
        self._sizes = sizes
        self._executor = executor
        first = transfers.correlations(_first_words(sizes))
        part = slice(0, sizes.reserve_rows)
        rest = slice(part.stop, part.stop + MASK_ROWS)
        kernels, session = make_kernels(Workspace()), transfers.session
        self._sent_sums = SenderSums(session, role, kernels, even(first.sent[rest]))
        mask = mark_choices(first.choices[rest], first.received[rest])
        self._received_sums = ReceiverSums(session, role.other, kernels, mask)
        self._sender = SilentSender(
            first.offset, first.sent[part], session, role, sizes, random, self._sent_sums
        )
        self._receiver = SilentReceiver(
            first.choices[part], first.received[part], session, role.other, sizes, self._received_sums
        )
        self._ordered: _Order | None = None
        self._delivered: Callable[[], Pads] | None = None
        self._stock = Pads.none()

    def order(self, words: int, count: int = 0, triples: int = 0) -> None:
        """Order 64 * words transfers in each direction for `pads`; sends nothing.

        Args:
            words: of these.
            count: correlated transfers of each direction that are prepared with random choices.
            triples: words of them, likewise.

        Raises:
            UsageError: an order has not been delivered.
        """
        self._check_delivered()
        iterations = self._sizes.iterations
        counts, messages = (iterations(prepared_words(count, triples)), iterations(words)), list[Message]()
        seeds = [[self._sender.seeds(blocks) for blocks in each] for each in counts]

        def make() -> tuple[tuple[Word, Word], tuple[Word, Word]]:
            blocks = self._sent_blocks(counts[0], seeds[0], messages.append)
            return blocks, self._send_half(counts[1], seeds[1], messages.append)

        self._ordered = _Order(words, count, counts, messages, self._begin(make))

    def deliver(self) -> Callable[[], None]:
        """Send what was ordered; one flight. Without an order nothing happens.

        Returns:
            What takes the peer's messages, and raises ProtocolViolation if one has another size. Others may
            be sent before.
        """
        if self._ordered is None:
            return lambda: None
        order, self._ordered = self._ordered, None
        blocks, pads = order.sent()
        for message in order.messages:
            self._send(message)

        def end() -> None:
            first, second = order.counts
            refills = list(self._refills(first + second))
            # The iterations of one direction follow each other: those of an earlier delivery end before.
            self._settle()
            early = self._begin(self._received_blocks, first, refills[: len(first)])

            def late() -> tuple[Word, Word]:
                early()
                return self._receive_half(second, refills[len(first) :])

            taken = self._begin(late)
            self._delivered = lambda: Pads(*pads, *taken())[: order.words]
            if first:
                self._transfers.prepare_by(lambda: PreparedTransfers.of_blocks(order.count, blocks, *early()))

        return end

    def pads(self, words: int) -> Pads:
        """64 * words fresh transfers in each direction.

        They are taken from what was delivered, where as many are left; else they are made now, in one flight.

        Raises:
            UsageError: they are to be made while an order has not been delivered.
            ProtocolViolation: a message of the peer has another size.
        """
        self._settle()
        if words <= len(self._stock.choices):
            taken, self._stock = self._stock[:words], self._stock[words:]
            return taken
        self._check_delivered()
        counts = self._sizes.iterations(words)
        # All refills leave before the first is read: however many there are, they take one flight.
        seeds = [self._sender.seeds(blocks) for blocks in counts]
        sent = self._send_half(counts, seeds, self._send)
        return Pads(*sent, *self._receive_half(counts, self._refills(counts)))[:words]

    def challenge(self) -> None:
        """The first part of the check that the peer's refills since the last one are right: one flight."""
        self._settle()
        if self._received_sums.used:
            self._received_sums.challenge(self._channel)

    def answer(self) -> None:
        """The second part, after the peer's first; one flight.

        Raises:
            InconsistentTransfers: its refills are not right.
        """
        if self._sent_sums.used:
            self._sent_sums.answer(self._channel, self._sender.offset)
        if self._received_sums.used and not self._received_sums.holds(self._channel):
            raise InconsistentTransfers

    def _send(self, refill: Message) -> None:
        self._channel.set_unchecked(True)
        self._channel.send(refill)
        self._sent_sums.count_in(1)

    def _send_half(
        self, counts: list[int], seeds: list[Word], tell: Callable[[Message], None]
    ) -> tuple[Word, Word]:
        """The sender's half: pads of choice 0 and of choice 1; tells the refills."""
        width = self._sizes.block_words
        zero, one = (np.empty((PAD_BITS, sum(counts) * width), dtype=np.uint64) for _ in range(2))
        for blocks, drawn, part in zip(counts, seeds, _parts(counts, width), strict=True):
            message, zero[:, part], one[:, part] = self._sender.extend(blocks, drawn)
            tell(Refill(ByteRows(message)))
        return zero, one

    def _sent_blocks(
        self, counts: list[int], seeds: list[Word] | list[None], tell: Callable[[Message], None]
    ) -> tuple[Word, Word]:
        """The sender's half of transfers of 128 bits, of whole blocks."""
        height = self._sizes.block_rows
        zero, one = (np.empty((sum(counts) * height, 2), dtype=np.uint64) for _ in range(2))
        for blocks, drawn, part in zip(counts, seeds, _parts(counts, height), strict=True):
            message, zero[part], one[part] = self._sender.extend_blocks(blocks, drawn)
            tell(Refill(ByteRows(message)))
        return zero, one

    def _received_blocks(self, counts: list[int], refills: Iterable[Bytes]) -> tuple[Bit, Word]:
        """The receiver's half of these: choices, and their pads."""
        height = self._sizes.block_rows
        choices = np.empty(sum(counts) * height, dtype=np.uint8)
        pads = np.empty((len(choices), 2), dtype=np.uint64)
        for blocks, refill, part in zip(counts, refills, _parts(counts, height), strict=True):
            choices[part], pads[part] = self._receiver.extend_blocks(blocks, refill)
            self._received_sums.count_in(1)
        return choices, pads

    def _receive_half(self, counts: list[int], refills: Iterable[Bytes]) -> tuple[Word, Word]:
        """The receiver's half: choices, and their pads."""
        width = self._sizes.block_words
        choices = np.empty(sum(counts) * width, dtype=np.uint64)
        chosen = np.empty((PAD_BITS, len(choices)), dtype=np.uint64)
        for blocks, refill, part in zip(counts, refills, _parts(counts, width), strict=True):
            choices[part], chosen[:, part] = self._receiver.extend(blocks, refill)
            self._received_sums.count_in(1)
        return choices, chosen

    def _refills(self, counts: list[int]) -> Iterator[Bytes]:
        for blocks in counts:
            size = message_bytes(self._sizes, blocks)
            self._channel.set_unchecked(True)
            yield self._channel.recv(Refill, ExpectedByteRows(1, size))

    def _begin(self, work: Callable[..., T], *arguments: Any) -> Callable[[], T]:
        """Begin work in another thread; gives what waits for it, once, and raises what it raised."""
        if self._executor is None:
            return cache(partial(work, *arguments))
        # It asks what this thread asks: whether the run is still wanted.
        return cache(self._executor.submit(copy_context().run, work, *arguments).result)

    def _settle(self) -> None:
        """Wait for what was delivered."""
        if self._delivered is not None:
            made, self._delivered = self._delivered, None
            self._stock = made()

    def _check_delivered(self) -> None:
        if self._ordered is not None:
            raise UsageError(
                "Silent transfers were ordered and not delivered.", "Deliver them before you make others."
            )

    def begin_blocks(self, count: int) -> Callable[[], tuple[Word, Word]]:
        """Send transfers of 128 bits: this sends, the peer's `receive_blocks` answers.

        Several may be begun before the first is ended, and are ended in the same order.

        Args:
            count: n.

        Returns:
            What takes the answer, and gives the pads of choice 0 and of choice 1, shape (n, 2) each.
        """
        self._check_delivered()
        words = words_for(count)
        counts = self._sizes.iterations(words)
        zero, one = self._sent_blocks(counts, [None] * len(counts), self._send)

        def end() -> tuple[Word, Word]:
            if count:
                shifts = self._channel.recv(SilentChoices, ExpectedWords(words))
                # Where the wanted choice is not the random one the two pads change places.
                turned = np.negative(unpack_slots(shifts, count).astype(np.uint64))[:, None]
                turned = turned & (zero[:count] ^ one[:count])
                zero[:count] ^= turned
                one[:count] ^= turned
            return zero[:count], one[:count]

        return end

    def receive_blocks(self, choices: Bit) -> Word:
        """Receive transfers of 128 bits; the peer calls `begin_blocks`.

        Args:
            choices: bits, shape (n,).

        Returns:
            The pads, shape (n, 2).

        Raises:
            ProtocolViolation: a message of the peer has another size.
        """
        self._check_delivered()
        self._settle()
        count = len(choices)
        counts = self._sizes.iterations(words_for(count))
        random, pads = self._received_blocks(counts, self._refills(counts))
        if count:
            self._channel.send(SilentChoices(Words(pack_slots(random[:count] ^ choices))))
        return pads[:count]


def _parts(counts: list[int], width: int) -> Iterator[slice]:
    start = 0
    for count in counts:
        yield slice(start, start + count * width)
        start += count * width

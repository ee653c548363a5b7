"""The oblivious engine with silent transfers, with transfers that are made ahead, and with pools."""

from __future__ import annotations

import hashlib
from collections.abc import Callable
from concurrent.futures import Executor
from typing import Final

import numpy as np
from typing_extensions import override

from smc.channel.channel import Channel
from smc.errors import UsageError
from smc.forms import Role
from smc.numeric.random import Randomness
from smc.oblivious.batches import check_bits, join_parts, same_length
from smc.oblivious.bitmatrix import Bit, Integers, Word, planes, unpack_slots
from smc.oblivious.engine import ObliviousEngine
from smc.oblivious.pool import Pool, agree
from smc.oblivious.silent_circuits import SilentComparison, SilentDigits, below_spans
from smc.oblivious.silent_transfers import SilentTransfers
from smc.oblivious.spans import WORD_BITS, Digits, spans

_POOL_DOMAIN: Final = b"duetto/oblivious/pool/1"


class SilentEngine(ObliviousEngine):
    """An `ObliviousEngine` that also makes silent transfers where it is asked to, and compares out of pools.

    Args:
        role: this side's role; exactly one side is Alice.
        channel: the conversation with the peer.
        random: the source of randomness.
        executor: where what is ordered is made meanwhile; None for no other thread.
    """

    def __init__(
        self, role: Role, channel: Channel, random: Randomness, executor: Executor | None = None
    ) -> None:
        super().__init__(role, channel, random)
        self._executor = executor
        self._silent: tuple[SilentTransfers, SilentComparison] | None = None
        self._pool: Pool | None = None
        self._pools_made = 0

    @override
    def setup(self) -> None:
        """As of `ObliviousEngine`; with a pool in use nothing runs.

        What the pool does not hold sets up when it is first used.
        """
        with self._guard():
            if self._pool is None:
                self._ready()

    @override
    def setup_silent(self) -> None:
        """Run `setup` and make the first reserve of silent transfers, if that has not happened: a round more.

        Raises:
            ProtocolViolation: the peer sent something else than the protocol says.
        """
        with self._guard():
            self._ready_silent()

    @override
    def verify(self) -> None:
        """As of `ObliviousEngine`: two flights, and nothing without silent transfers since the last check."""
        with self._guard():
            if self._silent is not None:
                self._silent[0].challenge()
                self._silent[0].answer()
            self._channel.set_unchecked(False)

    @override
    def order_silent(self, words: int, count: int = 0, triples: int = 0) -> None:
        """Order silent transfers for comparisons, and others; see `smc.oblivious.silent_transfers`."""
        with self._guard():
            self._ready_silent()[0].order(words, count, triples)

    @override
    def deliver(self, count: int = 0, words: int = 0) -> None:
        """Deliver what was ordered, and `prepare` so many transfers and words of triples: one flight.

        Where an order has transfers and triples, these are taken and no others. What was prepared before is
        dropped.
        """
        with self._guard():
            ends = [self._ready()[0].prepare(count, words)]
            ends += [self._silent[0].deliver()] if self._silent is not None else []
            for end in ends:
                end()

    def fill_pool(self, count: int, bits: int, *, holds_x: bool) -> Pool:
        """Make a pool for later comparisons, in this session or another one with the same peer.

        It may be stored at once: whatever transfers the session has made until then are checked before.

        Args:
            count: comparisons.
            bits: the bit bound.
            holds_x: whether the local numbers will be x; the sides say the opposite.

        Returns:
            The local half.

        Raises:
            InconsistentTransfers: the peer's transfers are not right.
        """
        self.verify()
        with self._guard():
            if bits < 1 or count < 1:
                what = f"A pool cannot be filled for {count} comparisons of {bits} bits."
                raise UsageError(what, "Ask for at least 1 comparison of at least 1 bit.")
            transfers, circuits = self._ready()
            portions = circuits.portions(self._random, count, bits, holds_x=holds_x)
            self._pools_made += 1
            number = self._pools_made.to_bytes(8, "big")
            name = hashlib.sha256(_POOL_DOMAIN + transfers.session + number).digest()
            return Pool.of(name, bits, holds_x, portions)

    def use_pool(self, pool: Pool) -> None:
        """Compare out of a pool from now on, as long as a whole batch fits; both parties alike.

        Args:
            pool: the local half.

        Raises:
            ProtocolViolation: the peer has another pool, or another part of it left.
        """
        with self._guard():
            agree(self._channel, pool)
            self._pool = pool

    @override
    def below(self, words: Word, bounds: Word, *, silent: bool = False) -> Bit:
        if not silent:
            return super().below(words, bounds)
        with self._guard():
            same_length(words, bounds)
            parts = []
            for part in below_spans(len(words)):
                circuits = self._ready_silent()[1]
                shares = circuits.below(planes(words[part], WORD_BITS), planes(bounds[part], WORD_BITS))
                parts.append(unpack_slots(shares, part.stop - part.start))
            return join_parts(parts, np.uint8)

    @override
    def begin_blocks(self, count: int, *, silent: bool = False) -> Callable[[], tuple[Word, Word]]:
        if not silent:
            return super().begin_blocks(count)
        with self._guard():
            end = self._ready_silent()[0].begin_blocks(count)
        return self._ending(end)

    @override
    def receive_blocks(self, choices: Bit, *, silent: bool = False) -> Word:
        if not silent:
            return super().receive_blocks(choices)
        with self._guard():
            check_bits(choices)
            return self._ready_silent()[0].receive_blocks(choices)

    @override
    def _compare(
        self, values: Integers, bits: int, *, holds_x: bool, silent: bool, equal: bool = False
    ) -> Bit:
        if silent and bits >= 1:
            return self._compare_silently(values, bits, holds_x=holds_x, equal=equal)
        pool = self._pool
        if equal or pool is None or not pool.fits(len(values), bits, holds_x):
            return super()._compare(values, bits, holds_x=holds_x, silent=False, equal=equal)
        return self._compare_prepared(values, bits, pool, holds_x=holds_x)

    def _compare_silently(self, values: Integers, bits: int, *, holds_x: bool, equal: bool) -> Bit:
        with self._guard():
            parts = []
            for part in SilentDigits.of(bits).spans(len(values)):
                circuits = self._ready_silent()[1]
                compare = circuits.equal if equal else circuits.not_below
                shares = compare(planes(values[part], bits), holds_x=holds_x)
                parts.append(unpack_slots(shares, part.stop - part.start))
            return join_parts(parts, np.uint8)

    def _compare_prepared(self, values: Integers, bits: int, pool: Pool, *, holds_x: bool) -> Bit:
        """Compare out of a pool, which takes no transfer, and so no set-up."""
        with self._guard():
            parts = []
            for part in spans(len(values), Digits.of(bits).prepared_word_bytes):
                own, count = planes(values[part], bits), part.stop - part.start
                shares = self._circuits.not_below(own, holds_x=holds_x, prepared=pool.take(count))
                parts.append(unpack_slots(shares, count))
            return join_parts(parts, np.uint8)

    def _ready_silent(self) -> tuple[SilentTransfers, SilentComparison]:
        if self._silent is None:
            transfers, circuits = self._ready()
            given = (self._role, self._channel, self._random, transfers)
            source = SilentTransfers(*given, executor=self._executor)
            self._silent = source, SilentComparison(self._channel, circuits, source)
        return self._silent

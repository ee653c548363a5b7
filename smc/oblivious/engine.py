"""The oblivious engine of a session: what protocols call, by extended transfers alone.

`smc.oblivious.silent_engine` adds silent transfers and pools.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import partial

import numpy as np

from smc.channel.channel import Channel
from smc.errors import UsageError
from smc.forms import Role
from smc.numeric.random import Randomness
from smc.oblivious.batches import check_bits, join_parts, same_length
from smc.oblivious.bitmatrix import Bit, Integers, Word, pack_slots, planes, unpack_slots
from smc.oblivious.circuits import Circuits
from smc.oblivious.spans import (
    BELOW_WORD_BYTES,
    CONJUNCTION_WORD_BYTES,
    CORRELATED_WORD_BYTES,
    WORD_BITS,
    Digits,
    spans,
)
from smc.oblivious.transfers import Transfers
from smc.oblivious.vole import ReceivedVole, SentVole, Voles


class ObliviousEngine:
    """Oblivious transfer and XOR-shared circuits with one peer, for one session.

    Both parties call the same methods in the same order (or, where a method has two sides, its two sides)
    with the same public sizes. The set-up runs at the first use. After any exception the engine refuses all
    further use: a repeated step would use masks twice.

    Args:
        role: this side's role; exactly one side is Alice.
        channel: the conversation with the peer.
        random: the source of randomness.
    """

    def __init__(self, role: Role, channel: Channel, random: Randomness) -> None:
        self._role = role
        self._channel = channel
        self._random = random
        self._transfers = Transfers(role, channel, random)
        self._circuits = Circuits(role is Role.ALICE, channel, self._transfers)
        self._voles = Voles(role, channel, random)
        self._failed = False

    def setup(self) -> None:
        """Run the base transfers, if they have not run: 2 rounds, `smc.oblivious.cost.SETUP`.

        Raises:
            ProtocolViolation: as of `smc.oblivious.setup.set_up`.
        """
        with self._guard():
            self._ready()

    def verify(self) -> None:
        """Check that the peer's transfers so far are consistent, before anything that they hide is opened.

        Both parties call it at the same place. Extended transfers are checked as they come, see
        `smc.oblivious.consistency`; silent ones wait for it, see `smc.oblivious.silent_consistency`.

        Raises:
            ProtocolViolation: they are not.
        """

    def setup_lanes(self) -> None:
        """Open the lanes of a `LanedEngine`, if that has not happened."""

    def setup_silent(self) -> None:
        """Make the first reserve of silent transfers, with an engine that has them.

        Raises:
            UsageError: this engine has none.
        """
        raise _extended_only()

    def order_silent(self, words: int, count: int = 0, triples: int = 0) -> None:
        """Order silent transfers, as of `SilentEngine`. Raises as `setup_silent`."""
        del words, count, triples
        raise _extended_only()

    def deliver(self, count: int = 0, words: int = 0) -> None:
        """Deliver what was ordered, as of `SilentEngine`. Raises as `setup_silent`."""
        del count, words
        raise _extended_only()

    def greater_equal_x(self, values: Integers, bits: int, *, silent: bool = False) -> Bit:
        """Compare as the holder of x; the peer calls `greater_equal_y`.

        Args:
            values: x, n integers in [0, 2**bits); an array of unsigned ones is fastest.
            bits: the bit bound, at least 1; both parties name the same.
            silent: whether to take silent transfers, for fewer bytes and more work; both say the same.

        Returns:
            Local XOR shares of x >= y, shape (n,).

        Raises:
            DomainError: a value is outside its bound.
            ProtocolViolation: the peer sent something else than the protocol says.
        """
        return self._compare(values, bits, holds_x=True, silent=silent)

    def greater_equal_y(self, values: Integers, bits: int, *, silent: bool = False) -> Bit:
        """Compare as the holder of y; the peer calls `greater_equal_x`.

        Args:
            values: y, n integers in [0, 2**bits).
            bits: the bit bound.
            silent: as there.

        Returns:
            Local XOR shares of x >= y, shape (n,).
        """
        return self._compare(values, bits, holds_x=False, silent=silent)

    def equal(self, values: Integers, bits: int, *, holds_x: bool, silent: bool = False) -> Bit:
        """Test for equality, for what a comparison costs; pools are left alone. Raises as `greater_equal_x`.

        Args:
            values: own, n integers in [0, 2**bits); an array of unsigned ones is fastest.
            bits: the bit bound, at least 1; both parties name the same.
            holds_x: true on exactly one side.
            silent: as there.

        Returns:
            Local XOR shares of x == y, shape (n,).
        """
        return self._compare(values, bits, holds_x=holds_x, silent=silent, equal=True)

    def below(self, words: Word, bounds: Word, *, silent: bool = False) -> Bit:
        """Compare XOR-shared words with public bounds.

        Args:
            words: local XOR shares, shape (n,).
            bounds: public, the same on both sides, shape (n,).
            silent: as of `greater_equal_x`.

        Returns:
            Local XOR shares of word < bound, shape (n,).
        """
        with self._guard():
            same_length(words, bounds)
            self._check_extended(silent)
            parts = []
            for part in spans(len(words), BELOW_WORD_BYTES):
                shares = self._ready()[1].below(
                    planes(words[part], WORD_BITS), planes(bounds[part], WORD_BITS)
                )
                parts.append(unpack_slots(shares, part.stop - part.start))
            return join_parts(parts, np.uint8)

    def and_bits(self, left: Bit, right: Bit) -> Bit:
        """AND of XOR-shared bits.

        Args:
            left: local shares, shape (n,).
            right: local shares, shape (n,).

        Returns:
            Local XOR shares of the products, shape (n,).
        """
        with self._guard():
            check_bits(left)
            check_bits(right)
            same_length(left, right)
            parts = []
            for part in spans(len(left), CONJUNCTION_WORD_BYTES):
                shares = self._ready()[1].conjunction(pack_slots(left[part]), pack_slots(right[part]))
                parts.append(unpack_slots(shares, part.stop - part.start))
            return join_parts(parts, np.uint8)

    def bits_to_arithmetic(self, bits: Bit, sends: bool | None = None) -> Word:
        """Turn XOR shares of bits into additive shares modulo 2**64.

        Args:
            bits: local XOR shares, shape (n,).
            sends: whether this party is the first one in `smc.oblivious.cost.bits_to_arithmetic`; the sides
                say the opposite. Alice is, unless said.

        Returns:
            Local shares, shape (n,): the two sides' sum is the bit, modulo 2**64.
        """
        first = self._role is Role.ALICE if sends is None else sends
        with self._guard():
            check_bits(bits)
            parts = [self._convert(bits[part], first) for part in spans(len(bits), CORRELATED_WORD_BYTES)]
            return join_parts(parts, np.uint64)

    def correlate(self, deltas: Word) -> Word:
        """Send correlated transfers modulo 2**64; the peer calls `receive`.

        From deltas, shape (n,), to local shares of choice * delta, shape (n,).
        """
        with self._guard():
            cut = spans(len(deltas), CORRELATED_WORD_BYTES)
            return join_parts([self._ready()[0].correlate(deltas[part]) for part in cut], np.uint64)

    def receive(self, choices: Bit) -> Word:
        """Receive correlated transfers modulo 2**64; the peer calls `correlate`.

        From choices, bits, shape (n,), to local shares of choice * delta, shape (n,).
        """
        with self._guard():
            check_bits(choices)
            cut = spans(len(choices), CORRELATED_WORD_BYTES)
            return join_parts([self._ready()[0].receive(choices[part]) for part in cut], np.uint64)

    def exchange(self, deltas: Word, choices: Bit, bits: int = WORD_BITS) -> tuple[Word, Word]:
        """Send and receive as many correlated transfers modulo 2**bits at once; the peer calls it too.

        From deltas and choices, shape (n,) each, to local shares of the peer's choices times the deltas,
        and of the choices times the peer's deltas; bits above are arbitrary.
        """
        with self._guard():
            check_bits(choices)
            same_length(deltas, choices)
            parts = [
                self._ready()[0].exchange(deltas[part], choices[part], bits)
                for part in spans(len(deltas), CORRELATED_WORD_BYTES)
            ]
            sent, got = zip(*parts, strict=True) if parts else ((), ())
            return join_parts(sent, np.uint64), join_parts(got, np.uint64)

    def send_rows(self, count: int) -> tuple[Word, Word]:
        """Send transfers of 128 bits before the hash; the peer calls `receive_rows`.

        To be used, rows are hashed by a function for which the offset is a secret key, with a key of its own
        for each use: see `smc.oblivious.correlation_robust_hash`.

        Args:
            count: transfers; the peer's matrix of `matrix_bytes(count)` has to fit a transport's buffers.

        Returns:
            The rows of choice 0, shape (count, 2), and the offset, added to those of choice 1, shape (2,).
        """
        with self._guard():
            return self._ready()[0].send_rows(count)

    def receive_rows(self, choices: Bit) -> Word:
        """Receive transfers of 128 bits before the hash; the peer calls `send_rows`.

        Args:
            choices: bits, shape (n,).

        Returns:
            The sender's rows, plus its offset where the choice is 1, shape (n, 2).
        """
        with self._guard():
            check_bits(choices)
            return self._ready()[0].receive_rows(choices)

    def send_blocks(self, count: int, *, silent: bool = False) -> tuple[Word, Word]:
        """Send random transfers of 128 bits: pads of choice 0 and of choice 1, shape (count, 2) each."""
        return self.begin_blocks(count, silent=silent)()

    def begin_blocks(self, count: int, *, silent: bool = False) -> Callable[[], tuple[Word, Word]]:
        """Begin what `send_blocks` does; others may begin before it ends, and end in the same order.

        Gives what ends it: silent transfers are made before the peer has said what it chooses.
        """
        with self._guard():
            self._check_extended(silent)
            transfers = self._ready()[0]
        return self._ending(partial(transfers.send_blocks, count))

    def receive_blocks(self, choices: Bit, *, silent: bool = False) -> Word:
        """Receive random 1-of-2 transfers of 128 bits; the peer calls `send_blocks`, as silent as this.

        From choices, bits, shape (n,), to their pads, shape (n, 2).
        """
        with self._guard():
            self._check_extended(silent)
            check_bits(choices)
            return self._ready()[0].receive_blocks(choices)

    def vole_receive(self, count: int) -> ReceivedVole:
        """Receive vector OLE of so many rows; the peer calls `vole_send`, and they check it, see there.

        Raises:
            UsageError: there are too many.
            ProtocolViolation: the peer sent something else than the protocol says.
        """
        with self._guard():
            return self._voles.receive(self._ready()[0], count)

    def vole_send(self, count: int) -> SentVole:
        """Send vector OLE of so many rows; the peer calls `vole_receive`. Raises as that."""
        with self._guard():
            return self._voles.send(self._ready()[0], count)

    def _compare(
        self, values: Integers, bits: int, *, holds_x: bool, silent: bool, equal: bool = False
    ) -> Bit:
        with self._guard():
            if bits < 1:
                raise UsageError(f"Numbers of {bits} bits cannot be compared.", "Use at least 1 bit.")
            self._check_extended(silent)
            parts = []
            for part in spans(len(values), Digits.of(bits).word_bytes):
                own = planes(values[part], bits)
                circuits = self._ready()[1]
                compare = circuits.equal if equal else circuits.not_below
                shares = compare(own, holds_x=holds_x)
                parts.append(unpack_slots(shares, part.stop - part.start))
            return join_parts(parts, np.uint8)

    def _convert(self, bits: Bit, first: bool) -> Word:
        """Shares of b = b1 + b2 - 2 b1 b2, the product from a correlated transfer."""
        transfers, own = self._ready()[0], bits.astype(np.uint64)
        product = transfers.correlate(own) if first else transfers.receive(bits)
        return own - (product << np.uint64(1))

    def _ready(self) -> tuple[Transfers, Circuits]:
        self._transfers.setup()
        return self._transfers, self._circuits

    def _check_extended(self, silent: bool) -> None:
        if silent:
            raise _extended_only()

    def _ending(self, end: Callable[[], tuple[Word, Word]]) -> Callable[[], tuple[Word, Word]]:
        def ended() -> tuple[Word, Word]:
            with self._guard():
                return end()

        return ended

    @contextmanager
    def _guard(self) -> Iterator[None]:
        if self._failed:
            raise UsageError("Oblivious transfer failed and cannot be used again.", "Start a new session.")
        self._failed = True
        yield
        self._failed = False


def _extended_only() -> UsageError:
    return UsageError(
        "This engine makes extended transfers alone.", "Use `smc.protocols.full_session.FullSession`."
    )

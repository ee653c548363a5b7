"""The oblivious engine of a session: what protocols call."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import TypeVar

import numpy as np
from numpy.typing import NDArray

from smc.channel.channel import Channel
from smc.errors import UsageError
from smc.forms import Role
from smc.numeric.random import Randomness
from smc.oblivious.base import exchange
from smc.oblivious.bitmatrix import Bit, Word, planes
from smc.oblivious.circuits import Circuits
from smc.oblivious.cost import WORD_BITS, blocks, comparison_transfers
from smc.oblivious.transfers import Transfers

T = TypeVar("T", bound=np.generic)


class ObliviousEngine:
    """Oblivious transfer and XOR-shared circuits with one peer, for one session.

    Both parties call the same methods in the same order (or, where a method has two sides, its two sides)
    with the same public sizes. The set-up runs at the first use. After any exception the engine refuses all
    further use: a repeated step would use masks twice.

    Args:
        role: the own role; exactly one side is Alice.
        channel: the conversation with the peer.
        random: the source of randomness.
    """

    def __init__(self, role: Role, channel: Channel, random: Randomness) -> None:
        self._role = role
        self._channel = channel
        self._random = random
        self._transfers: Transfers | None = None
        self._circuits: Circuits | None = None
        self._failed = False

    def setup(self) -> None:
        """Run the base transfers, if they have not run: 2 rounds, `smc.oblivious.cost.SETUP`.

        Raises:
            ProtocolViolation: the peer sent invalid points.
        """
        with self._guarded():
            self._ready()

    def greater_equal_x(self, values: Sequence[int] | Word, bits: int) -> Bit:
        """Compare as the holder of x; the peer calls `greater_equal_y`.

        Args:
            values: x, n integers in [0, 2**bits).
            bits: the bit bound, at least 1; both parties name the same.

        Returns:
            Own XOR shares of x >= y, shape (n,).

        Raises:
            DomainError: a value is outside its bound.
            ProtocolViolation: the peer sent something else than the protocol says.
        """
        return self._compare(values, bits, lambda circuits: circuits.x_not_below)

    def greater_equal_y(self, values: Sequence[int] | Word, bits: int) -> Bit:
        """Compare as the holder of y; the peer calls `greater_equal_x`.

        Args:
            values: y, n integers in [0, 2**bits).
            bits: the bit bound.

        Returns:
            Own XOR shares of x >= y, shape (n,).
        """
        return self._compare(values, bits, lambda circuits: circuits.y_not_above)

    def below(self, words: Word, bounds: Word) -> Bit:
        """Compare XOR-shared words with public bounds.

        Args:
            words: own XOR shares, shape (n,).
            bounds: public, the same on both sides, shape (n,).

        Returns:
            Own XOR shares of word < bound, shape (n,).
        """
        with self._guarded():
            _same_length(words, bounds)
            return _joined(
                [
                    self._ready()[1].below(words[part], bounds[part])
                    for part in blocks(len(words), WORD_BITS - 1)
                ],
                np.uint8,
            )

    def and_bits(self, left: Bit, right: Bit) -> Bit:
        """AND of XOR-shared bits.

        Args:
            left: own shares, shape (n,).
            right: own shares, shape (n,).

        Returns:
            Own XOR shares of the products, shape (n,).
        """
        with self._guarded():
            _check_bits(left)
            _check_bits(right)
            _same_length(left, right)
            return _joined(
                [self._ready()[1].conjunction(left[part], right[part]) for part in blocks(len(left), 1)],
                np.uint8,
            )

    def to_words(self, bits: Bit, sends: bool | None = None) -> Word:
        """Turn XOR shares of bits into additive shares modulo 2**64.

        Args:
            bits: own XOR shares, shape (n,).
            sends: whether this party is the first one in `smc.oblivious.cost.to_words`; the sides say the
                opposite. Alice is, unless said.

        Returns:
            Own shares, shape (n,): the two sides' sum is the bit, modulo 2**64.
        """
        first = self._role is Role.ALICE if sends is None else sends
        with self._guarded():
            _check_bits(bits)
            return _joined(
                [self._convert(bits[part], first) for part in blocks(len(bits), 1)],
                np.uint64,
            )

    def correlate(self, deltas: Word) -> Word:
        """Send correlated transfers modulo 2**64; the peer calls `receive`.

        Args:
            deltas: shape (n,).

        Returns:
            Own shares of choice * delta, shape (n,).
        """
        with self._guarded():
            parts = [self._ready()[0].correlate(deltas[part]) for part in blocks(len(deltas), 1)]
            return _joined(parts, np.uint64)

    def receive(self, choices: Bit) -> Word:
        """Receive correlated transfers modulo 2**64; the peer calls `correlate`.

        Args:
            choices: bits, shape (n,).

        Returns:
            Own shares of choice * delta, shape (n,).
        """
        with self._guarded():
            _check_bits(choices)
            parts = [self._ready()[0].receive(choices[part]) for part in blocks(len(choices), 1)]
            return _joined(parts, np.uint64)

    def _compare(
        self, values: Sequence[int] | Word, bits: int, side: Callable[[Circuits], Callable[[Bit], Bit]]
    ) -> Bit:
        with self._guarded():
            if bits < 1:
                raise UsageError("A comparison needs at least 1 bit.", "Declare the bound of x and y.")
            parts = []
            for part in blocks(len(values), comparison_transfers(bits)[0]):
                block = planes(values[part], bits)
                parts.append(side(self._ready()[1])(block))
            return _joined(parts, np.uint8)

    def _convert(self, bits: Bit, first: bool) -> Word:
        """Shares of b = b1 + b2 - 2 b1 b2, the product from a correlated transfer."""
        transfers = self._ready()[0]
        own = bits.astype(np.uint64)
        product = transfers.correlate(own) if first else transfers.receive(bits)
        return own - (product << np.uint64(1))

    def _ready(self) -> tuple[Transfers, Circuits]:
        if self._transfers is None or self._circuits is None:
            keys = exchange(self._role, self._channel, self._random)
            self._transfers = Transfers(self._role, self._channel, self._random, keys)
            self._circuits = Circuits(self._role is Role.ALICE, self._channel, self._random, self._transfers)
        return self._transfers, self._circuits

    @contextmanager
    def _guarded(self) -> Iterator[None]:
        if self._failed:
            raise UsageError(
                "Oblivious transfer failed in this session before and is not used again.",
                "Start a new session.",
            )
        self._failed = True
        yield
        self._failed = False


def _joined(parts: Sequence[NDArray[T]], kind: type[T]) -> NDArray[T]:
    return np.concatenate(parts) if parts else np.empty(0, dtype=kind)


def _check_bits(bits: Bit) -> None:
    if bits.dtype != np.uint8 or bits.ndim != 1 or (bits > 1).any():
        raise UsageError("Shares of bits are a one-dimensional uint8 array of zeros and ones.")


def _same_length(left: NDArray[np.generic], right: NDArray[np.generic]) -> None:
    if len(left) != len(right):
        raise UsageError(f"{len(left)} left and {len(right)} right operands do not pair up.")

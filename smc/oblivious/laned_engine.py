"""The oblivious engine of a session with lanes: cuts large batches, and lets the lanes work side by side."""

from __future__ import annotations

from collections.abc import Sequence
from concurrent.futures import ALL_COMPLETED, FIRST_EXCEPTION, Executor, Future, ThreadPoolExecutor, wait
from contextvars import copy_context
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray
from typing_extensions import override

from smc.channel.channel import Channel
from smc.channel.lanes import Lanes
from smc.errors import DuettoError
from smc.forms import Role
from smc.numeric.narrow_words import WORD_BITS
from smc.numeric.random import Randomness
from smc.oblivious.batches import check_bits, same_length
from smc.oblivious.bitmatrix import Bit, Integers, Word, limbs
from smc.oblivious.cost import compares_in_lanes, lane_parts, takes_lanes
from smc.oblivious.lanes import LaneAnswer, LaneCall, LaneEnd, LaneLost, LaneOpener, agree_on
from smc.oblivious.silent_engine import SilentEngine
from smc.oblivious.spans import BELOW_WORD_BYTES, CONJUNCTION_WORD_BYTES, CORRELATED_WORD_BYTES

SEED_BYTES: Final = 32
"""Of a lane."""

_ENDED: Final = "The work of another lane failed."


class LanedEngine(SilentEngine):
    """An `SilentEngine` that does large batches in lanes; both parties have one with as many lanes.

    The lanes are made at the first such batch. Small batches, those out of a pool and all else is done by the
    engine itself. A lane that fails ends the use of the engine.

    Args:
        role: this side's role.
        channel: the conversation with the peer.
        random: the source of the engine's own randomness; lanes have theirs from the operating system, or
            from seeds out of this one where the run replays.
        executor: as of `SilentEngine`.
        count: lanes, at least 2.
        open_lane: makes this party's end of a lane.
    """

    def __init__(
        self,
        role: Role,
        channel: Channel,
        random: Randomness,
        executor: Executor | None,
        count: int,
        open_lane: LaneOpener,
    ) -> None:
        super().__init__(role, channel, random, executor)
        self._count = count
        self._open_lane = open_lane
        self._shared: Lanes | None = None
        self._record = False
        self._lanes: list[LaneEnd] = []
        self._lanes_unchecked = False
        self._threads: ThreadPoolExecutor | None = None

    @override
    def setup_lanes(self) -> None:
        """Agree on their number with the peer, and set them up: four rounds.

        Raises:
            ProtocolViolation: the peer has another number.
            LaneLost: a lane cannot be opened.
        """
        with self._guard():
            if self._shared is None:
                self._open()

    @override
    def verify(self) -> None:
        if self._lanes_unchecked:
            self._lanes_unchecked = False
            with self._guard():
                self._together([LaneCall("verify") for _ in self._lanes])
        super().verify()

    @override
    def below(self, words: Word, bounds: Word, *, silent: bool = False) -> Bit:
        same_length(words, bounds)
        if not self._takes(len(words), BELOW_WORD_BYTES):
            return super().below(words, bounds, silent=silent)
        return self._cut("below", words, bounds, silent=silent)[0]

    @override
    def and_bits(self, left: Bit, right: Bit) -> Bit:
        same_length(left, right)
        if not self._takes(len(left), CONJUNCTION_WORD_BYTES):
            return super().and_bits(left, right)
        return self._cut("and_bits", left, right)[0]

    @override
    def bits_to_arithmetic(self, bits: Bit, sends: bool | None = None) -> Word:
        if not self._takes(len(bits), CORRELATED_WORD_BYTES):
            return super().bits_to_arithmetic(bits, sends)
        return self._cut("bits_to_arithmetic", bits, sends=sends)[0]

    @override
    def correlate(self, deltas: Word) -> Word:
        if not self._takes(len(deltas), CORRELATED_WORD_BYTES):
            return super().correlate(deltas)
        return self._cut("correlate", deltas)[0]

    @override
    def receive(self, choices: Bit) -> Word:
        if not self._takes(len(choices), CORRELATED_WORD_BYTES):
            return super().receive(choices)
        return self._cut("receive", choices)[0]

    @override
    def exchange(self, deltas: Word, choices: Bit, bits: int = WORD_BITS) -> tuple[Word, Word]:
        check_bits(choices)
        same_length(deltas, choices)
        if not self._takes(len(deltas), CORRELATED_WORD_BYTES):
            return super().exchange(deltas, choices, bits)
        sent, received = self._cut("exchange", deltas, choices)
        return sent, received

    def close(self, error: DuettoError | None = None) -> None:
        """End the lanes; those that work raise `error`. The engine is of no further use."""
        self._failed = True
        if self._shared is not None:
            self._shared.fail(error or LaneLost(_ENDED))
        for lane in self._lanes:
            lane.close()
        if self._threads is not None:
            self._threads.shutdown(wait=False, cancel_futures=True)

    @override
    def _compare(
        self, values: Integers, bits: int, *, holds_x: bool, silent: bool, equal: bool = False
    ) -> Bit:
        words, pool = self._words(values, bits), self._pool
        pooled = not (equal or silent) and pool is not None and pool.fits(len(values), bits, holds_x)
        if words is None or pooled:
            return super()._compare(values, bits, holds_x=holds_x, silent=silent, equal=equal)
        if equal:
            return self._cut("equal", words, bits=bits, holds_x=holds_x, silent=silent)[0]
        method = "greater_equal_x" if holds_x else "greater_equal_y"
        return self._cut(method, words, bits=bits, silent=silent)[0]

    def _takes(self, count: int, word_bytes: int) -> bool:
        return takes_lanes(count, word_bytes, self._count)

    def _words(self, values: Integers, bits: int) -> Word | None:
        """The numbers as words, if the batch goes over lanes, where their bits are checked."""
        if bits < 1 or not compares_in_lanes(len(values), bits, self._count):
            return None
        return limbs(values, bits)[0]

    def _cut(self, method: str, *arrays: NDArray[Any], **options: int | bool | None) -> list[NDArray[Any]]:
        """Do a batch in lanes: both parties call it for the two sides of the same one."""
        self.setup_lanes()
        if options.get("silent"):
            self._lanes_unchecked = True
            self._channel.set_unchecked(True)
        with self._guard():
            parts = lane_parts(len(arrays[0]), self._count)
            answers = self._together(
                [LaneCall(method, tuple(array[part] for array in arrays), options) for part in parts]
            )
            return [np.concatenate(of) for of in zip(*(each.arrays for each in answers), strict=True)]

    def _open(self) -> None:
        agree_on(self._channel, self._count)
        self._shared = Lanes.of(self._channel, self._count)
        self._record = self._shared.is_record
        self._threads = ThreadPoolExecutor(self._count, thread_name_prefix="lane")
        numbers = range(1, self._count + 1)
        for number in numbers:
            seed = self._random.bytes(SEED_BYTES) if self._random.replays else None
            self._lanes.append(self._open_lane(self._role, number, self._shared.transport(number), seed))
        self._together([LaneCall("setup_silent") for _ in numbers])

    def _together(self, calls: Sequence[LaneCall]) -> list[LaneAnswer]:
        """What all lanes answer; as soon as one fails, its error."""
        if self._threads is None:
            raise LaneLost(_ENDED)
        clock = self._channel.clock
        futures: list[Future[LaneAnswer]] = [
            self._threads.submit(copy_context().run, lane.run, call, clock)
            for lane, call in zip(self._lanes, calls, strict=True)
        ]
        # A lane that fails ends the others; in a replay each comes to its own end, as it may have in the run.
        wait(futures, return_when=ALL_COMPLETED if self._record else FIRST_EXCEPTION)
        errors = [error for each in futures if each.done() and (error := each.exception()) is not None]
        if errors:
            error = min(errors, key=lambda found: isinstance(found, LaneLost))
            self.close(error if isinstance(error, DuettoError) else None)
            raise error
        answers = [each.result() for each in futures]
        for answer in answers:
            self._channel.take_in(answer.traffic, answer.clock)
        return answers

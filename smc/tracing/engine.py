"""The oblivious engine of a traced run: it takes its flights from `smc.oblivious.cost`, and gives shapes."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import replace
from functools import lru_cache
from typing import Any, Final, cast

import numpy as np
from typing_extensions import override

from smc.errors import DuettoError, UsageError
from smc.forms import Role
from smc.numeric.narrow_words import WORD_BITS
from smc.numeric.random import Randomness
from smc.numeric.shape_arrays import shape_array
from smc.oblivious import cost, silent_circuits, silent_transfers, vole_steps
from smc.oblivious.bitmatrix import Bit, Integers, Word, words_for
from smc.oblivious.cost import OPENING, SETUP, FlightBytes, Unchecked
from smc.oblivious.lanes import agreement
from smc.oblivious.pool import Pool
from smc.oblivious.silent_circuits import PrefetchedWords
from smc.oblivious.silent_engine import SilentEngine
from smc.oblivious.vole import ReceivedVole, SentVole, VoleAnswer, VoleChallenge
from smc.oblivious.vole_plan import PRODUCTION
from smc.protocols.spec import Cost
from smc.protocols.transfer_costs import cost_of
from smc.tracing.channel import TracedChannel

_BLOCK_WORDS = 2
_CHALLENGE: Final = VoleChallenge.kind()
_ANSWER: Final = VoleAnswer.kind()


class TracedSent(SentVole):
    """What `SilentEngine.vole_send` gives."""

    __slots__ = ()

    @override
    def answer(self) -> None:
        sizes = cast(TracedChannel, self.channel)
        sizes.hear(_CHALLENGE, vole_steps.CHALLENGE_BYTES)
        sizes.tell(_ANSWER, vole_steps.ANSWER_BYTES)


class TracedReceived(ReceivedVole):
    """What `SilentEngine.vole_receive` gives."""

    __slots__ = ()

    @override
    def challenge(self) -> bytes:
        cast(TracedChannel, self.channel).tell(_CHALLENGE, vole_steps.CHALLENGE_BYTES)
        return b""

    @override
    def verify(self, expected: bytes) -> None:
        cast(TracedChannel, self.channel).hear(_ANSWER, vole_steps.ANSWER_BYTES)


class TracedEngine(SilentEngine):
    """One side; see `SilentEngine` for the methods.

    Args:
        role: this side's role.
        channel: to the other side.
        lanes: that the run has, 1 for none but its own.
    """

    def __init__(self, role: Role, channel: TracedChannel, lanes: int) -> None:
        self._alice, self._sizes, self._lanes = role is Role.ALICE, channel, lanes
        self._is_ready = self._has_reserve = self.opened_lanes = False
        self._unchecked, self._unchecked_lanes = Unchecked(), Unchecked()
        self._directions: set[bool] = set()
        self._prepared = self._triples = self._ordered = 0
        self._ordered_ahead = 0, 0
        self._stock = PrefetchedWords()
        self.transfers = self.triples = 0
        """Correlated transfers and words of triples that could be prepared, since `count_from_here`."""
        self.ahead_rows = 0
        """Rows of silent transfers that another thread makes."""
        self.block_rows = 0

    @property
    def silent_rows(self) -> int:
        """Rows of silent transfers that this side makes when they are wanted."""
        return self._stock.rows + self.block_rows

    @property
    def modules(self) -> frozenset[str]:
        """Those whose protocols this side has run so far."""
        used = {
            "smc.oblivious.transfers": self._is_ready or self.opened_lanes,
            "smc.oblivious.silent_ot": self._has_reserve or self.opened_lanes,
            "smc.oblivious.vole": bool(self._directions),
        }
        return frozenset(module for module, is_used in used.items() if is_used)

    @property
    def state(self) -> tuple[Any, ...]:
        """All that decides what the next step takes."""
        flags = self._is_ready, self._has_reserve, self.opened_lanes, frozenset(self._directions)
        ordered = self._ordered, *self._ordered_ahead
        return (
            *flags,
            self._unchecked,
            self._unchecked_lanes,
            self._prepared,
            self._triples,
            *ordered,
            self._stock.words,
        )

    def enter(self, state: tuple[Any, ...]) -> None:
        """Come into a `state` in which this engine has been."""
        self._is_ready, self._has_reserve, self.opened_lanes, directions, *rest = state
        self._directions = set(directions)
        self._unchecked, self._unchecked_lanes, self._prepared, self._triples, *rest = rest
        self._ordered, transfers, triples, self._stock.words = rest
        self._ordered_ahead = transfers, triples

    @property
    def counts(self) -> tuple[int, ...]:
        """What was counted so far, for `add_counts`."""
        return self.transfers, self.triples, self.ahead_rows, self.block_rows, self._stock.rows

    def add_counts(self, more: Sequence[int]) -> None:
        """Count as much more."""
        self.transfers += more[0]
        self.triples += more[1]
        self.ahead_rows += more[2]
        self.block_rows += more[3]
        self._stock.rows += more[4]

    def count_from_here(self) -> None:
        """Count what could be prepared from here on."""
        self.transfers = self.triples = 0

    @override
    def setup(self) -> None:
        if not self._is_ready:
            self._is_ready = True
            self._meet(SETUP, first=self._alice)

    @override
    def verify(self) -> None:
        own, self._unchecked = self._unchecked, Unchecked()
        lanes, self._unchecked_lanes = self._unchecked_lanes, Unchecked()
        for steps in (own.check(), lanes.check(self._lanes)):
            if steps:
                self._meet(steps, first=self._alice)

    @override
    def setup_lanes(self) -> None:
        if self._lanes > 1 and not self.opened_lanes:
            self.opened_lanes = True
            each = (*SETUP, *silent_transfers.setup())
            every = [
                replace(step, first=self._lanes * step.first, second=self._lanes * step.second)
                for step in each
            ]
            self._meet([agreement(), *every], first=self._alice, lanes=True)

    @override
    def setup_silent(self) -> None:
        self.setup()
        if not self._has_reserve:
            self._has_reserve = True
            self._meet(silent_transfers.setup(), first=self._alice)

    @override
    def order_silent(self, words: int, count: int = 0, triples: int = 0) -> None:
        self.setup_silent()
        self._ordered, self._ordered_ahead = words, (count, triples)

    @override
    def deliver(self, count: int = 0, words: int = 0) -> None:
        self.setup()
        (matrices,) = cost.prepare(count, words)
        sent = matrices.first
        first = silent_transfers.prepared_words(*self._ordered_ahead)
        for ordered in (first, self._ordered):
            sent += silent_transfers.refills(ordered)
            self.ahead_rows += 2 * silent_transfers.rows_of(ordered)
        if self._ordered:
            self._stock.words = self._ordered
        self._prepared, self._triples = self._ordered_ahead if first else (count, words)
        refills = bool(first or self._ordered)
        self._ordered, self._ordered_ahead = 0, (0, 0)
        self._meet([FlightBytes(sent, sent, refills=refills)], first=self._alice)

    @override
    def below(self, words: Word, bounds: Word, *, silent: bool = False) -> Bit:
        if silent:
            steps = silent_circuits.below(len(words), self._lanes, stock=self._stock)
        else:
            steps = cost.below(len(words), self._lanes)
        self._take(steps, first=self._alice, silent=silent)
        return shape_array(len(words), np.uint8)

    @override
    def and_bits(self, left: Bit, right: Bit) -> Bit:
        if len(left) != len(right):
            raise UsageError(
                f"There are {len(left)} left operands, but {len(right)} right ones.", "Pair them up."
            )
        self._take_prepared(
            lambda prepared: cost.conjunction(len(left), self._lanes, taken=prepared), first=self._alice
        )
        return shape_array(len(left), np.uint8)

    @override
    def bits_to_arithmetic(self, bits: Bit, sends: bool | None = None) -> Word:
        return self._correlate(len(bits), first=self._alice if sends is None else sends)

    @override
    def correlate(self, deltas: Word) -> Word:
        return self._correlate(len(deltas), first=True)

    @override
    def receive(self, choices: Bit) -> Word:
        return self._correlate(len(choices), first=False)

    @override
    def exchange(self, deltas: Word, choices: Bit, bits: int = WORD_BITS) -> tuple[Word, Word]:
        if len(deltas) != len(choices):
            raise UsageError(f"There are {len(deltas)} deltas, but {len(choices)} choices.", "Pair them up.")
        self._take_prepared(
            lambda prepared: cost.exchange(len(deltas), self._lanes, bits, taken=prepared),
            first=self._alice,
        )
        return shape_array(len(deltas), np.uint64), shape_array(len(deltas), np.uint64)

    @override
    def send_rows(self, count: int) -> tuple[Word, Word]:
        self._take(cost.extended_blocks(count), first=True)
        return shape_array((count, _BLOCK_WORDS), np.uint64), shape_array(_BLOCK_WORDS, np.uint64)

    @override
    def receive_rows(self, choices: Bit) -> Word:
        self._take(cost.extended_blocks(len(choices)), first=False)
        return shape_array((len(choices), _BLOCK_WORDS), np.uint64)

    @override
    def begin_blocks(self, count: int, *, silent: bool = False) -> Callable[[], tuple[Word, Word]]:
        steps = self._blocks(count, silent=silent)
        self._one_way(steps, sends=True, part=slice(0, 1 if silent else 0))

        def end() -> tuple[Word, Word]:
            self._one_way(steps, sends=True, part=slice(1 if silent else 0, None))
            return shape_array((count, _BLOCK_WORDS), np.uint64), shape_array(
                (count, _BLOCK_WORDS), np.uint64
            )

        return end

    @override
    def receive_blocks(self, choices: Bit, *, silent: bool = False) -> Word:
        self._one_way(self._blocks(len(choices), silent=silent), sends=False, part=slice(None))
        return shape_array((len(choices), _BLOCK_WORDS), np.uint64)

    @override
    def vole_receive(self, count: int) -> ReceivedVole:
        self._meet_vole(count, sends=False)
        rows = shape_array((count, _BLOCK_WORDS), np.uint64)
        return TracedReceived(rows, rows, rows, self._sizes, Randomness())

    @override
    def vole_send(self, count: int) -> SentVole:
        self._meet_vole(count, sends=True)
        rows = shape_array((count, _BLOCK_WORDS), np.uint64)
        return TracedSent(shape_array(_BLOCK_WORDS, np.uint64), rows, rows, self._sizes)

    @override
    def fill_pool(self, count: int, bits: int, *, holds_x: bool) -> Pool:
        """A pool holds what a traced run does not have."""
        raise _untraceable_error("Filling a pool")

    @override
    def use_pool(self, pool: Pool) -> None:
        """A pool holds what a traced run does not have."""
        raise _untraceable_error("Comparing out of a pool")

    @override
    def _compare(
        self, values: Integers, bits: int, *, holds_x: bool, silent: bool, equal: bool = False
    ) -> Bit:
        count = len(values)
        if silent:
            steps = silent_circuits.comparison(count, bits, self._lanes, stock=self._stock)
        else:
            steps = cost.comparison(count, bits, self._lanes)
        self._take(steps, first=holds_x, silent=silent)
        return shape_array(count, np.uint8)

    def _correlate(self, count: int, *, first: bool) -> Word:
        self._take_prepared(
            lambda prepared: cost.bits_to_arithmetic(count, self._lanes, taken=prepared), first=first
        )
        return shape_array(count, np.uint64)

    def _meet_vole(self, count: int, *, sends: bool) -> None:
        self.setup()
        PRODUCTION.check(count)
        if sends not in self._directions:
            self._directions.add(sends)
            self._meet(vole_steps.setup(), first=sends)
        self._meet(vole_steps.steps(count), first=sends)

    def _blocks(self, count: int, *, silent: bool) -> tuple[FlightBytes, ...]:
        """The flights of transfers of 128 bits; the first party sends them."""
        if not silent:
            self.setup()
            return cost.extended_blocks(count)
        self.setup_silent()
        self.block_rows += silent_transfers.rows_of(words_for(count)) if count else 0
        return silent_transfers.blocks(count)

    def _one_way(self, steps: tuple[FlightBytes, ...], *, sends: bool, part: slice) -> None:
        """Flights of which the ends may stand apart from the beginning."""
        made = Unchecked().after(steps[part])
        self._note(made if sends is self._alice else made.mirror, lanes=False)
        for step in steps[part]:
            if (step.first > 0) is sends:
                self._sizes.tell("blocks", step.first or step.second)
            else:
                self._sizes.hear("blocks", step.first or step.second)

    def _take_prepared(self, steps_of: Callable[[bool], tuple[FlightBytes, ...]], *, first: bool) -> None:
        """Steps that take what was prepared, where there is enough of it."""
        steps = steps_of(True)
        transfers, triples = sum(s.prepared for s in steps), sum(s.triples for s in steps)
        self.transfers += transfers
        self.triples += triples
        if transfers > self._prepared or triples > self._triples:
            steps = steps_of(False)
        else:
            self._prepared -= transfers
            self._triples -= triples
        self._take(steps, first=first)

    def _take(self, steps: Iterable[FlightBytes], *, first: bool, silent: bool = False) -> None:
        """Exchange steps after what comes before their first use."""
        flights = list(steps)
        if not flights:
            return
        if lanes := flights[0] == OPENING:
            self.setup_lanes()
        elif silent:
            self.setup_silent()
        else:
            self.setup()
        self._meet(flights, first=first, lanes=lanes)

    def note_silent(self, sender: Role) -> None:
        """Let the next check cover silent transfers of a step whose messages are not gone through."""
        self._note(Unchecked(sender is Role.ALICE, sender is Role.BOB), lanes=False)

    def _note(self, made: Unchecked, *, lanes: bool) -> None:
        """Let the next check cover what was made, of which Alice is the first party."""
        if lanes:
            self._unchecked_lanes |= made
        else:
            self._unchecked |= made

    def _meet(self, steps: Iterable[FlightBytes], *, first: bool, lanes: bool = False) -> None:
        steps = tuple(steps)
        made = Unchecked().after(steps)
        self._note(made if first is self._alice else made.mirror, lanes=lanes)
        cost = _cost_of(steps)
        self._sizes.charge(cost if first is self._alice else cost.mirror)


@lru_cache(1024)
def _cost_of(steps: tuple[FlightBytes, ...]) -> Cost:
    """What steps cost whose first party is Alice."""
    return cost_of([step for step in steps if step != OPENING])


class UntraceableError(DuettoError):
    """Something whose price is not that of a run over shapes; take it from the planner."""

    code = "trace"
    advice = "Take its price from the planner."


def _untraceable_error(what: str) -> UntraceableError:
    return UntraceableError(f"{what} cannot be traced.")

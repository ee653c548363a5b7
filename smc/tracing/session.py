"""The session of a traced run, and the run of a program over shapes."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from concurrent.futures import Executor, Future, ThreadPoolExecutor, wait
from contextvars import copy_context
from dataclasses import dataclass, field
from typing import Any, TypeVar, cast

import numpy as np
from numpy.typing import NDArray
from typing_extensions import override

from smc.errors import DomainError, ProtocolViolation, TooManyRowsError
from smc.forms import Role
from smc.network import Network
from smc.numeric.random import Randomness
from smc.numeric.shape_arrays import BlankBytes, shape_array
from smc.numeric.shapes import Traced
from smc.protocols.flights import Flight
from smc.protocols.full_session import FullSession
from smc.protocols.spec import Cost
from smc.protocols.transfer_costs import SILENT_ROWS
from smc.tracing.channel import TracedChannel, TraceEnded
from smc.tracing.engine import TracedEngine

T = TypeVar("T")


class TracedRandomness(Randomness, Traced):
    """Draws of which only their number is known."""

    @override
    def bytes(self, count: int) -> bytes:
        return BlankBytes(count)

    @override
    def below(self, bound: int, count: int) -> list[int]:
        return [0] * count

    @override
    def units(self, modulus: int, count: int) -> list[int]:
        return [1] * count

    @override
    def bits(self, count: int) -> NDArray[np.uint8]:
        return shape_array(count, np.uint8)

    @override
    def words(self, count: int) -> NDArray[np.uint64]:
        return shape_array(count, np.uint64)

    @override
    def permutation(self, count: int) -> NDArray[np.int64]:
        return shape_array(count, np.int64)

    @override
    def shuffled(self, items: Sequence[T]) -> list[T]:
        return list(items)


class _Inline(Executor):
    """Does work at once, in the thread that hands it in."""

    @override
    def submit(self, fn: Callable[..., T], /, *args: Any, **kwargs: Any) -> Future[T]:
        done: Future[T] = Future()
        done.set_result(fn(*args, **kwargs))
        return done


@dataclass(slots=True)
class TracedSession(FullSession, Traced):
    """One side of a traced run: nothing in it stands for data, and nothing that it opens is a result."""

    engine: TracedEngine = field(init=False, repr=False)
    charged: set[str] = field(init=False, repr=False, default_factory=set)
    """Modules of which a step was priced, and not gone through."""
    repeats: dict[Any, Any] = field(init=False, repr=False, default_factory=dict)
    """What `smc.tracing.repeats` keeps of this run."""

    @classmethod
    def of(cls, role: Role, channel: TracedChannel, network: Network | None, lanes: int) -> TracedSession:
        """A session over sizes."""
        made = cls(role, channel, _Inline(), random=TracedRandomness(), network=network, lanes=lanes)
        made.engine = TracedEngine(role, channel, lanes)
        return made

    @property
    @override
    def oblivious(self) -> TracedEngine:
        """The engine that makes nothing."""
        return self.engine

    @property
    @override
    def has_data(self) -> bool:
        return False

    def charge(self, cost: Cost) -> None:
        """Take what a step costs, and what is made before its first one of the kind."""
        oblivious = self.oblivious
        if Flight.RESERVE in cost.flights:
            oblivious.setup_silent()
        if Flight.LANES in cost.flights:
            oblivious.setup_lanes()
        self.engine.block_rows += cost.alice_operations.get(SILENT_ROWS, 0)
        self.sizes.charge(cost)

    @property
    def modules(self) -> frozenset[str]:
        """Those whose protocols this side has run without messages that are seen."""
        return self.oblivious.modules | self.charged

    @property
    def sizes(self) -> TracedChannel:
        """The channel, as what it is."""
        return cast(TracedChannel, self.channel)

    @override
    def close(self) -> None:
        """Nothing is held."""


@dataclass(frozen=True, slots=True)
class Trace:
    """What a run takes, by the shapes of what it works on.

    Attributes:
        rounds: chain of dependent messages.
        alice_bytes: bytes from Alice to Bob.
        bob_bytes: bytes from Bob to Alice.
        silent_rows: rows of silent transfers that each party makes when they are wanted.
        ahead_rows: those that another thread makes before.
        opens_lanes: whether a batch is large enough to be cut into lanes.
        modules: those whose protocols are run, by which `smc.levels` knows what the run holds.
    """

    rounds: int
    alice_bytes: int
    bob_bytes: int
    silent_rows: int
    ahead_rows: int
    opens_lanes: bool
    modules: frozenset[str]


def trace(run: Callable[[TracedSession], Any], network: Network | None = None, lanes: int = 1) -> Trace:
    """Run both sides of a program over shapes.

    Args:
        run: called with the session of either side. What it is given stands for data and is none; what it
            returns is dropped.
        network: the link that both plan for, see `Session.network`.
        lanes: see `Session.lanes`.

    A program that refuses what stands for data, such as bounds that are only likely, costs what it sent
    before: whether a run is refused is asked of the data themselves.

    Raises:
        TooManyRowsError: no run of the program takes so many rows.
        UsageError: the program does not fit itself, such as operands of unlike sizes.
        ProtocolViolation: one side ends where the other one goes on, and has refused nothing.
    """
    channels = TracedChannel.pair()
    sessions = [
        TracedSession.of(role, channel, network, lanes) for role, channel in zip(Role, channels, strict=True)
    ]

    def side(session: TracedSession, channel: TracedChannel) -> bool:
        try:
            run(session)
        except TooManyRowsError:
            raise
        except DomainError:
            return True
        else:
            return False
        finally:
            channel.end()

    with ThreadPoolExecutor(2, thread_name_prefix="trace") as sides:
        ends = [
            sides.submit(copy_context().run, side, session, channel)
            for session, channel in zip(sessions, channels, strict=True)
        ]
        wait(ends)
    errors = [error for end in ends if (error := end.exception()) is not None]
    for error in errors:
        if not isinstance(error, TraceEnded):
            raise error
    refused = any(end.exception() is None and end.result() for end in ends)
    if (not TracedChannel.count(*channels) or errors) and not refused:
        raise ProtocolViolation("One side of a traced run ended, and the other one went on.")
    sent = [channel.traffic for channel in channels]
    engines = [session.engine for session in sessions]
    return Trace(
        max(each.rounds for each in sent),
        sent[0].sent,
        sent[1].sent,
        max(each.silent_rows for each in engines),
        max(each.ahead_rows for each in engines),
        any(each.opened_lanes for each in engines),
        frozenset().union(*(channel.modules for channel in channels), *(s.modules for s in sessions)),
    )

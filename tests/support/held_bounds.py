"""Every shared integer whose sign is taken, or of which bits are cut, is held against its declared bounds.

Bounds are on the caller's word: what lies outside gives a wrong result for some shares and not for others,
with a probability that no run of tests may ever meet. Here both parties' shares of such an integer are added
up, in programs that `run_pair` runs, and one that lies outside fails the test whatever its shares are.
Nothing is sent for it, so sizes and rounds stay what they are.
"""

from __future__ import annotations

import sys
import threading
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import pytest

from smc import pair
from smc.forms import Role
from smc.protocols.session import Session
from smc.secret.comparison import msb
from smc.secret.division import truncation
from smc.secret.sharing.bounds import Bounds


class OutsideBounds(AssertionError):
    """A shared integer was not what its bounds say."""


TOLERANT = "smc.analyses.matching.tolerant"
LOW_BITS = {
    "smc.analyses.models.matched_expected.within_reach",
    "smc.analyses.predictors.tree_scores.tree_scores",
    "smc.analyses.validation.scores.reached_by_trees",
    "smc.analyses.scoring.study.ScoringStudy._decide",
    "smc.analyses.matching.vectors.pairs.alike",
    "smc.secret.comparison.argmin_one_hot.one_hot",
    "smc.secret.division.newton._Division._start",
    "smc.secret.orders.sorting._above",
    "smc.secret.comparison.pairing.best.<locals>.<lambda>",
    "smc.secret.reals.factors.ColumnScaling.of",
    "smc.secret.reals.pivots.start",
    "smc.secret.reals.reciprocals._raise",
    "smc.secret.reals.reciprocals._start",
    f"{TOLERANT}.one_to_one.OneToOne._forwards",
    f"{TOLERANT}.places._nonnegative",
    f"{TOLERANT}.rank_join.RankJoin._claims.<locals>.<lambda>",
    f"{TOLERANT}.rank_join.RankJoin._compare",
    f"{TOLERANT}.rank_join.RankJoin._leads",
    f"{TOLERANT}.rank_join.RankJoin._reach",
}
"""Where shares are such modulo a smaller power of two: as many low bits are seen as a sign is taken of."""

GATED = {f"{TOLERANT}.rank_join.RankJoin._compare": lambda names: names["joined"].member}
"""Where some integers do not count, and XOR shares of which do: here slots without an item have random words,
and the bit that says so is taken to all that comes of them."""


_PAUSES: list[None] = []
"""One for each context in which nothing is held."""


@contextmanager
def unwatched() -> Iterator[None]:
    """Hold no integers of runs in this context: of programs whose data break what they state on purpose."""
    _PAUSES.append(None)
    try:
        yield
    finally:
        _PAUSES.pop()


@dataclass
class _Brought:
    """What one side brought."""

    operation: str
    words: np.ndarray
    bounds: Bounds
    counted: np.ndarray | None


@dataclass
class _Run:
    """What one side of a run has brought that the other side has not yet."""

    lock: threading.Lock = field(default_factory=threading.Lock)
    calls: dict[Role, int] = field(default_factory=lambda: dict.fromkeys(Role, 0))
    waiting: dict[int, _Brought] = field(default_factory=dict)


class Watch:
    """The integers of all runs under it.

    Attributes:
        seen: how many integers were looked at, by the function that brought them.
    """

    def __init__(self) -> None:
        self.seen: Counter[str] = Counter()
        self._here = threading.local()
        self._runs: dict[int, _Run] = {}

    def started(self, transports: tuple[Any, Any]) -> tuple[Any, Any]:
        """Two ends of a new run."""
        run = _Run()
        self._runs |= {id(end): run for end in transports}
        return transports

    def entered(self, session: Session) -> None:
        """The thread that calls is one party of a run."""
        self._here.run = self._runs.pop(id(session.channel._transport))

    def show(self, operation: str, session: Session, words: np.ndarray, bounds: Bounds) -> None:
        """One side's shares; the side that comes second looks at the sums."""
        run = getattr(self._here, "run", None)
        if run is None or _PAUSES:
            return
        frame = sys._getframe(2)
        while frame.f_globals["__name__"] == __name__ and frame.f_back is not None:
            frame = frame.f_back  # one watch under another
        where = f"{frame.f_globals['__name__']}.{frame.f_code.co_qualname}"
        counted = GATED[where](frame.f_locals) if where in GATED else None
        with run.lock:
            place = run.calls[session.role]
            run.calls[session.role] += 1
            other = run.waiting.pop(place, None)
            if other is None:
                run.waiting[place] = _Brought(operation, words.copy(), bounds, counted)
                return
            self.seen[where] += words.size
        if (operation, bounds, words.shape) != (other.operation, other.bounds, other.words.shape):
            raise OutsideBounds(
                f"{operation} of {bounds}, and at the peer {other.operation} of {other.bounds}"
            )
        held = (words + other.words).view(np.int64)
        if where in LOW_BITS:
            above = np.int64(63 - bounds.sign_bits)
            held = held << above >> above
        if counted is not None and other.counted is not None:
            held = held[(counted ^ other.counted).astype(bool)]
        if held.size and not bounds.contains(int(held.min()), int(held.max())):
            raise OutsideBounds(
                f"{operation} in {where}: {held.min()} to {held.max()} is declared to be in {bounds}"
            )


@contextmanager
def watched() -> Iterator[Watch]:
    """Hold all integers of runs that begin in this context against their bounds.

    Raises:
        OutsideBounds: one lies outside, or the two sides declare other bounds.
    """
    watch = Watch()

    def shown(operation: str, call: Callable[..., Any]) -> Callable[..., Any]:
        def with_look(session: Session, words: np.ndarray, bounds: Bounds, *more: Any) -> Any:
            watch.show(operation, session, words, bounds)
            return call(session, words, bounds, *more)

        return with_look

    def parts_shown(session: Session, parts: Any) -> Any:
        for words, bounds, _ in parts:
            watch.show("shift_near", session, words, bounds)
        return near(session, parts)

    def entered(role: Callable[[Session], Any], session: Session) -> Any:
        watch.entered(session)
        return finish(role, session)

    near, finish, begin = truncation.shift_near, pair._finish, pair.memory_pair
    with pytest.MonkeyPatch.context() as patch:
        for module, name in (
            (msb, "nonnegative"),
            (msb, "zero"),
            (truncation, "shift"),
            (truncation, "divide"),
        ):
            patch.setattr(module, name, shown(name, getattr(module, name)))
        patch.setattr(truncation, "shift_near", parts_shown)
        patch.setattr(pair, "memory_pair", lambda timeout: watch.started(begin(timeout)))
        patch.setattr(pair, "_finish", entered)
        yield watch


def watching() -> Iterator[Watch]:
    """The body of a fixture under which all runs are held to their bounds."""
    with watched() as watch:
        yield watch

"""Long work in pieces, with a question before each of them: does anybody still want it?

A run that is given up from its own side, since it was cancelled, is past its deadline or its daemon stops,
wakes at once if it waits for the peer. If it computes, it ends at the next question. So whatever goes over
many rows goes over them by `chunks` or `each`, as the arithmetic on the executor does, and channels ask
before every message.

Whoever starts a run says by `asking` what the question is; without that nothing is ever given up.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from itertools import islice
from typing import Final, TypeVar

T = TypeVar("T")

Question = Callable[[], None]
"""Returns if the work is still wanted, and raises what ends it if not."""

Report = Callable[[str, int, int], None]
"""Called with (stage, done, of) as long work proceeds."""

ROWS: Final = 1 << 10
"""Rows of a piece of work that is done in Python, one row after the other."""


def _always_wanted() -> None:
    return None


_QUESTION: ContextVar[Question] = ContextVar("question", default=_always_wanted)


def report_nothing(stage: str, done: int, of: int) -> None:
    """Report to nobody."""
    del stage, done, of


def check_cancelled() -> None:
    """Ask once whether the work of this thread is still wanted.

    Raises:
        Exception: what the question of `asking` raises.
    """
    _QUESTION.get()()


@contextmanager
def asking(question: Question) -> Iterator[None]:
    """Let the work of this thread ask this question, until the end of the block."""
    before = _QUESTION.set(question)
    try:
        yield
    finally:
        _QUESTION.reset(before)


def chunks(count: int, size: int) -> Iterator[slice]:
    """Slices of at most `size` that follow each other up to `count`; asks before each."""
    for start in range(0, count, size):
        check_cancelled()
        yield slice(start, min(start + size, count))


def each(items: Iterable[T], size: int = ROWS) -> Iterator[T]:
    """The items; asks before every `size` of them."""
    left = iter(items)
    while piece := list(islice(left, size)):
        check_cancelled()
        yield from piece

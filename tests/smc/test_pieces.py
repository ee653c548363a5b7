from __future__ import annotations

from concurrent.futures import Executor, Future

import pytest

from smc.channel.channel import Channel
from smc.channel.memory import memory_pair
from smc.channel.vectors import Bits
from smc.errors import Cancelled
from smc.numeric.modular import POWERS, powers
from smc.pieces import ROWS, asking, check_cancelled, chunks, each
from smc.protocols.intersection.exact import IntersectionMatches


class Unwanted:
    """A question that is answered with no from the `last` time on."""

    def __init__(self, last: int) -> None:
        self.times = 0
        self._last = last

    def __call__(self) -> None:
        self.times += 1
        if self.times >= self._last:
            raise Cancelled("Nobody wants it any more.")


class Later(Executor):
    """Does the work of a task when its result is asked for, and counts."""

    def __init__(self):
        self.done = 0
        self.futures: list[Future] = []

    def submit(self, fn, /, *args, **kwargs):
        executor = self

        class Task(Future):
            def result(self, timeout=None):
                executor.done += 1
                return fn(*args, **kwargs)

        self.futures.append(Task())
        return self.futures[-1]


def test_without_a_question_nothing_ends():
    assert [(part.start, part.stop) for part in chunks(10, 4)] == [(0, 4), (4, 8), (8, 10)]
    assert list(each(range(3000))) == list(range(3000))
    assert list(chunks(0, 5)) == []
    check_cancelled()


def test_pieces_are_cut_until_nobody_wants_them():
    got: list[slice] = []
    with asking(Unwanted(3)), pytest.raises(Cancelled):
        got.extend(chunks(100, 10))
    assert got == [slice(0, 10), slice(10, 20)]


def test_items_are_given_in_pieces_until_nobody_wants_them():
    got: list[int] = []
    with asking(Unwanted(3)), pytest.raises(Cancelled):
        got.extend(each(range(10 * ROWS)))
    assert len(got) == 2 * ROWS


def test_a_question_counts_for_its_block_and_its_thread_only():
    with asking(Unwanted(2)):
        with asking(Unwanted(1)), pytest.raises(Cancelled):
            check_cancelled()
        check_cancelled()
        with pytest.raises(Cancelled):
            check_cancelled()
    check_cancelled()


def test_tasks_that_nobody_wants_are_not_begun():
    executor = Later()
    with asking(Unwanted(4)), pytest.raises(Cancelled):
        powers(list(range(1, 1000)), 5, 1009, executor)
    assert executor.done == 3
    assert len(executor.futures) == -(-999 // POWERS)
    assert all(future.cancelled() for future in executor.futures)


def test_a_channel_asks_before_each_message():
    here, there = (Channel(end) for end in memory_pair(1.0))
    with asking(Unwanted(1)):
        with pytest.raises(Cancelled):
            here.send(IntersectionMatches(Bits([1])))
        with pytest.raises(Cancelled):
            there.finish()

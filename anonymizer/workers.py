"""Other processes that do work of this package, each on copies of what it is given."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import Future
from itertools import islice
from typing import Any, Final, Protocol, TypeVar

T = TypeVar("T")
S = TypeVar("S")
Item = TypeVar("Item")

AHEAD: Final = 256
"""Most tasks that are given before their results are asked for."""


class Workers(Protocol):
    """Whoever has them decides where they are; they see the table in clear.

    Failures of a worker, not of its task, are errors of whoever has them.
    """

    def share(self, value: T) -> T:
        """Bring a large value to all workers, once; what is returned stands for it in `submit`."""

    def submit(self, fn: Callable[..., T], /, *args: Any) -> Future[T]:
        """Do a task: a function at the top of a module, and its arguments."""


def each(
    task: Callable[[S, Item], T], shared: S, items: Iterable[Item], workers: Workers | None
) -> Iterator[T]:
    """`task(shared, item)` of all items, in their order.

    Args:
        task: a function at the top of a module.
        shared: what it takes first, perhaps large.
        items: what it takes second.
        workers: who does it; None for this process, one item after the other.
    """
    if workers is None:
        yield from (task(shared, item) for item in items)
        return
    there, left = workers.share(shared), iter(items)
    given: deque[Future[T]] = deque()
    try:
        while True:
            given.extend(workers.submit(task, there, item) for item in islice(left, AHEAD - len(given)))
            if not given:
                return
            yield given.popleft().result()
    finally:
        for future in given:
            future.cancel()

"""What gRPC takes out, message by message, of a stream that stays open while there is nothing to say."""

from __future__ import annotations

import threading
from collections import deque
from collections.abc import Callable, Iterator
from typing import Generic, TypeVar

T = TypeVar("T")


class SendQueue(Generic[T]):
    """Messages for one stream, in order; iterating waits for the next one. Thread-safe.

    It sets no bound: whoever puts something in waits for room first, which `taken` gives back.

    Args:
        taken: called once for each message that was put in, when gRPC has taken it or never will.
    """

    def __init__(self, taken: Callable[[], object] = lambda: None) -> None:
        self._taken = taken
        self._changed = threading.Condition()
        self._waiting: deque[T] = deque()
        self._is_over = False

    def put(self, message: T) -> bool:
        """Queue a message; returns whether the stream is still open."""
        with self._changed:
            is_open = not self._is_over
            if is_open:
                self._waiting.append(message)
                self._changed.notify_all()
        if not is_open:
            self._taken()
        return is_open

    def withdraw(self, message: T) -> None:
        """Take a message back that gRPC has not taken yet, if so."""
        with self._changed:
            if message not in self._waiting:
                return
            self._waiting.remove(message)
        self._taken()

    def end(self) -> None:
        """End the stream, and forget what nobody has taken; also twice."""
        with self._changed:
            self._is_over = True
            left = len(self._waiting)
            self._waiting.clear()
            self._changed.notify_all()
        for _ in range(left):
            self._taken()

    def __iter__(self) -> Iterator[T]:
        """What is to be sent, until `end`."""
        while True:
            with self._changed:
                self._changed.wait_for(lambda: self._waiting or self._is_over)
                if self._is_over:
                    return
                message = self._waiting.popleft()
            try:
                yield message
            finally:  # gRPC asks for the next one when it has taken this one, or closes the iterator
                self._taken()

"""A program that stops on its way, and goes on once others have come as far."""

from __future__ import annotations

from collections.abc import Callable
from contextvars import copy_context
from threading import Semaphore, Thread
from typing import Generic, TypeVar

T = TypeVar("T")


class Turn(Generic[T]):
    """One of several programs that take turns: at any time one of them runs, or whoever began them.

    It runs in a thread of its own, since it stops within calls that know nothing of turns; nothing goes on
    beside it. It asks the question of `smc.pieces.asking` that its beginner asks.

    Args:
        program: what runs.
    """

    def __init__(self, program: Callable[[], T]) -> None:
        self._program = program
        self._go, self._back = Semaphore(0), Semaphore(0)
        self._thread = Thread(target=copy_context().run, args=(self._run,), name="duetto-turn", daemon=True)
        self._results: list[T] = []
        self._raised: BaseException | None = None
        self._thrown: BaseException | None = None

    @property
    def is_waiting(self) -> bool:
        """Whether it has stopped on its way."""
        return self._thread.is_alive()

    @property
    def result(self) -> T:
        """What it gave; it has ended."""
        (found,) = self._results
        return found

    def go_on(self) -> None:
        """Let it run until it stops or ends.

        Raises:
            BaseException: what it raises.
        """
        if self._thread.ident is None:
            self._thread.start()
        else:
            self._go.release()
        self._back.acquire()
        if self._results or self._raised is not None:
            self._thread.join()
        if self._raised is not None:
            raise self._raised

    def give_up(self, error: BaseException) -> BaseException | None:
        """Raise an error where it waits, if it does.

        Returns:
            What it raises thereupon.
        """
        if not self.is_waiting:
            return None
        self._thrown = error
        try:
            self.go_on()
        except BaseException as raised:
            return raised
        return None

    def stop(self) -> None:
        """Stop, and go on at the next turn; called by the program itself.

        Raises:
            BaseException: the error with which it is given up.
        """
        self._back.release()
        self._go.acquire()
        if self._thrown is not None:
            raise self._thrown

    def _run(self) -> None:
        try:
            self._results.append(self._program())
        except BaseException as raised:
            self._raised = raised
        finally:
            self._back.release()

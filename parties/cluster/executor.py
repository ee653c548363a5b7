"""A Dask cluster behind the interface of `concurrent.futures`, with an end for everything that could wait.

Dask itself gives the tasks of a worker that dies to others, and waits without end for workers where none is
left, or for a scheduler that has fallen silent. Here a cluster that finishes nothing for a stated time is
asked whether it still answers, and if it does not, its tasks are given up with a typed error. So is what a
lost connection leaves behind; the next task connects again.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Callable
from concurrent.futures import CancelledError, Executor, Future, InvalidStateError
from contextlib import suppress
from typing import TYPE_CHECKING, Any, Final, TypeVar

from typing_extensions import override

from parties.cluster.connecting import Members, connect, members
from parties.cluster.work import work
from parties.config import Dask
from parties.errors import ClusterError, ClusterUnavailable
from parties.release import release
from smc.errors import DuettoError

if TYPE_CHECKING:
    from distributed import Client

T = TypeVar("T")

_LEAVE_SECONDS: Final = 2.0
"""How long a connection that is no longer wanted may take to close."""


class ClusterExecutor(Executor):
    """Runs functions of this program on the workers; connects when it is first used.

    Several threads may use it. A task that raises an error of duetto's raises it here.

    Args:
        dask: the cluster.
    """

    def __init__(self, dask: Dask) -> None:
        self._dask = dask
        self._connecting = threading.Lock()
        self._client: Client | None = None
        self._given = threading.Condition()
        self._open: dict[Future[Any], Future[Any]] = {}
        self._last = 0.0
        self._watched = False
        self._closed = False

    @override
    def __repr__(self) -> str:
        return f"ClusterExecutor({self._dask.url})"

    def members(self) -> Members:
        """Connect anew, and say who does the work. Raises as `connect`."""
        client, members = connect(self._dask)
        client.close(timeout=_LEAVE_SECONDS)
        return members

    def share(self, value: T) -> T:
        """Bring a large value to all workers, once.

        Returns:
            What stands for the value among the arguments of `submit`, and nowhere else.

        Raises:
            DuettoError: as `connect`, or the workers do not take it within `dask_seconds`.
        """
        client = self._connect()
        try:
            handle: T = client.scatter(value, broadcast=True, hash=False, timeout=self._dask.seconds)
        except (OSError, TimeoutError, CancelledError) as problem:
            raise ClusterUnavailable(
                f"The workers of the Dask cluster at {self._dask.url} did not take the data "
                f"({type(problem).__name__}).",
                _PATIENCE,
            ) from None
        return handle

    @override
    def submit(self, fn: Callable[..., T], /, *args: Any, **kwargs: Any) -> Future[T]:
        """Give a task to the cluster.

        Args:
            fn: a function at the top of a module of this program, or a partial of one.
            args: what it takes; sent to scheduler and worker, which belong to this institution.
            kwargs: none.

        Raises:
            DuettoError: as `connect`, if there is no connection yet.
        """
        if kwargs:
            raise TypeError("a task of the cluster takes its arguments by position")
        executor = self._connect().get_executor(pure=False)
        future: Future[T] = Future()
        try:
            there: Future[T] = executor.submit(work, release(), fn, *args)
        except (OSError, RuntimeError):
            raise _lost_error(self._dask) from None
        with self._given:
            self._open[future] = there
            self._last = time.monotonic()
            if not self._watched:
                self._watched = True
                threading.Thread(target=self._watch, name="dask-patience", daemon=True).start()
        future.add_done_callback(self._settle)
        there.add_done_callback(lambda ended: self._pass_on(future, ended))
        return future

    @override
    def shutdown(self, wait: bool = True, *, cancel_futures: bool = False) -> None:
        """Leave the cluster. Tasks that are still open end as unavailable, whatever `wait` says."""
        self._closed = True
        self._give_up("This party has left its Dask cluster.")

    def _connect(self) -> Client:
        with self._connecting:
            if self._closed:
                raise ClusterUnavailable("This party has left its Dask cluster.")
            if self._client is None or self._client.status != "running":
                _leave(self._client)
                self._client = None
                self._client, _ = connect(self._dask)
            return self._client

    def _pass_on(self, future: Future[T], there: Future[T]) -> None:
        """Pass an outcome on."""
        with suppress(InvalidStateError):  # given up, or no longer wanted
            if there.cancelled():
                future.set_exception(_lost_error(self._dask))
            elif (problem := there.exception()) is not None:
                future.set_exception(_to_error(problem))
            else:
                future.set_result(there.result())

    def _settle(self, future: Future[Any]) -> None:
        """Forget a task that has ended here, and end it there if nobody wants it any more."""
        with self._given:
            there = self._open.pop(future, None)
            self._last = time.monotonic()
            self._given.notify_all()
        if there is not None:
            there.cancel()

    def _watch(self) -> None:
        """Give up when nothing is finished and nobody answers; ends as soon as no task is open."""
        while True:
            with self._given:
                if not self._open:
                    self._watched = False
                    return
                left = self._last + self._dask.seconds - time.monotonic()
                if left > 0:
                    self._given.wait(left)
                    continue
            self._look()

    def _look(self) -> None:
        """Ask the cluster whether it works on; with a task that takes long it does."""
        with self._connecting:
            client = self._client
        try:
            if client is None:
                raise _lost_error(self._dask)
            members(client, self._dask)
        except Exception as problem:  # a client that is just closing has many; this thread has to go on
            why = problem.what if isinstance(problem, ClusterError) else _lost_error(self._dask).what
            self._give_up(f"For {self._dask.seconds} seconds the Dask cluster has finished nothing. {why}")
        else:
            with self._given:
                self._last = time.monotonic()

    def _give_up(self, what: str) -> None:
        """End all tasks that are open, and the connection."""
        with self._connecting:  # before anybody hears of it and tries again
            client, self._client = self._client, None
        with self._given:
            futures = list(self._open)
        for future in futures:
            with suppress(InvalidStateError):
                future.set_exception(ClusterUnavailable(what, _PATIENCE))
        _leave(client)


_PATIENCE: Final = (
    "See with `duetto doctor` whether its scheduler answers and has workers, and start them again; then try "
    "again."
)


def _leave(client: Client | None) -> None:
    if client is not None:
        with suppress(Exception):  # it may be half closed, and is wanted no more
            client.close(timeout=_LEAVE_SECONDS)


def _lost_error(dask: Dask) -> ClusterError:
    return ClusterUnavailable(
        f"The Dask cluster at {dask.url} has lost a task: the connection to its scheduler broke, or what the "
        "task needs went with its only worker."
    )


def _to_error(problem: BaseException) -> DuettoError:
    """What a task of the cluster ended with, as an error of the house."""
    if isinstance(problem, DuettoError):
        return problem
    from distributed.scheduler import KilledWorker

    if isinstance(problem, KilledWorker):
        return ClusterUnavailable(
            "Several workers of the Dask cluster have died at the same task.",
            "See in their logs whether they had too little memory, and start them again.",
        )
    return ClusterError(f"A worker of the Dask cluster could not do its task ({type(problem).__name__}).")

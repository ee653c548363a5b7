"""Sources are read in a process of their own, within bounds of memory and time, and never in this one.

A file can hold anything: a sheet of 17 billion cells in 1.5 kB, one line without end, a pipe instead of a
file; and a library that reads it may end its process. So a daemon or a command lets a worker
(`parties.catalog.reader`) read. What ends the worker is an error here that names the source.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Generator, Iterable, Iterator
from contextlib import closing
from pathlib import Path
from typing import Any, Final, cast

from parties.catalog.declarations.declaration import DatasetDeclaration
from parties.catalog.drafting.adding import Addition, Asked
from parties.catalog.loading.checking import Checked
from parties.catalog.loading.loaded import Loaded
from parties.catalog.reader import VALUES
from parties.config import Limits
from parties.errors import DataError, StorageError
from parties.workers.process import Worker
from smc.errors import DuettoError
from smc.pieces import check_cancelled

_MODULE: Final = "parties.catalog.reader"
_AT_ONCE: Final = 8
"""Sources that a daemon or a command reads at once; further ones wait."""
_KEPT: Final = 2
"""Workers that wait for the next source, since starting one takes tenths of a second. A job of two columns
or two jobs often read at once."""
_KEPT_BYTES: Final = 256 << 20
"""A worker that has more than this in memory when it has read is not kept."""
_ASK_SECONDS: Final = 0.25


class _Workers:
    """The workers of this process that read nothing now."""

    def __init__(self) -> None:
        self._idle: list[Worker] = []
        self._lock = threading.Lock()
        self.places = threading.BoundedSemaphore(_AT_ONCE)

    def take(self) -> Worker:
        """One that nobody else has.

        Raises:
            OSError: the system lets no more processes start.
        """
        while True:
            with self._lock:
                worker = self._idle.pop() if self._idle else None
            if worker is None:
                return Worker(_MODULE)
            if worker.is_alive:
                return worker
            worker.close()

    def give_back(self, worker: Worker, taken: int) -> None:
        """Keep one that has answered, or end it."""
        with self._lock:
            if taken <= _KEPT_BYTES and len(self._idle) < _KEPT:
                self._idle.append(worker)
                return
        worker.close()


_WORKERS: Final = _Workers()


class Reader:
    """Reads sources, each within the bounds of a party; what it raises is an error of that source.

    Args:
        limits: of the party.

    Attributes:
        memory: bytes that reading one source may take.
    """

    def __init__(self, limits: Limits) -> None:
        self.memory: Final = limits.source_memory
        self._seconds = limits.source_seconds

    def load(
        self,
        dataset: DatasetDeclaration,
        columns: Iterable[str],
        secret: bytes | None = None,
        keeping: Iterable[str] = (),
    ) -> Loaded:
        """Read columns of a data set, as `parties.catalog.loading.loading.load` does.

        Raises:
            DataError: as there, or reading takes more than it may, or ends its process.
            ConfigError: as there.
            StorageError: no process can be started.
        """
        return cast(Loaded, self._only(dataset.place, "load", dataset, [*columns], secret, [*keeping]))

    def load_pieces(
        self, dataset: DatasetDeclaration, columns: Iterable[str], keeping: Iterable[str] = ()
    ) -> Iterator[Loaded]:
        """Read columns of a data set piece by piece, as `loading.load_pieces` does; see `load`."""
        return self._all(dataset.place, "load_pieces", dataset, [*columns], [*keeping])

    def check(self, dataset: DatasetDeclaration) -> Checked:
        """Read a data set whole, with the errors of `parties.catalog.loading.checking.check_dataset`."""
        try:
            return cast(Checked, self._only(dataset.place, "checked", dataset))
        except DataError as error:
            return Checked(None, error)

    def draft(self, path: Path, asked: Asked) -> Addition:
        """Draft an entry for a source, as `adding.draft_addition` does; see `load`."""
        place = Path(asked.source).name if asked.source and "://" not in asked.source else "The database"
        return cast(Addition, self._only(place, "drafted", path, asked))

    def stamp(self, dataset: DatasetDeclaration) -> tuple[int, ...] | None:
        """What changes with a file, as `stamps.stamp_of` finds it; see `load`."""
        return cast("tuple[int, ...] | None", self._only(dataset.place, "stamp", dataset))

    def _only(self, place: str, call: str, *given: Any) -> Any:
        with closing(self._all(place, call, *given)) as values:
            found = next(values)
            for _ in values:
                raise TypeError(f"{call} has more than one answer")
            return found

    def _all(self, place: str, call: str, *given: Any) -> Generator[Any, None, None]:
        check_cancelled()
        while not _WORKERS.places.acquire(timeout=_ASK_SECONDS):
            check_cancelled()
        try:
            worker = _WORKERS.take()
        except OSError as problem:
            _WORKERS.places.release()
            raise StorageError(
                f"{place} cannot be read: no process can be started ({problem.strerror}).",
                "Raise the limit of processes of this user or service, or end others.",
            ) from None
        taken = None
        try:
            worker.question = self._question(place)
            words, sent = VALUES.words([call, self.memory, self._seconds, place, [*given]])
            worker.pipe.put(words, *sent)
            while taken is None:
                words, data = worker.pipe.get()
                if "end" in words:
                    taken = int(words["end"])
                    continue
                value = VALUES.value(words, data)
                del words, data
                if isinstance(value, DuettoError):
                    taken = int(worker.pipe.get()[0]["end"])
                    raise value
                yield value
                del value
                check_cancelled()
        except (EOFError, OSError):
            raise self._ending(place, worker) from None
        finally:
            if taken is None:
                worker.close()
            else:
                _WORKERS.give_back(worker, taken)
            _WORKERS.places.release()

    def _question(self, place: str) -> Callable[[], None]:
        until = time.monotonic() + self._seconds

        def question() -> None:
            check_cancelled()
            if time.monotonic() > until:
                raise self._too_slow(place)

        return question

    def _too_slow(self, place: str) -> DataError:
        return DataError(
            f"{place} was not read within {self._seconds} seconds.",
            "Check that its disk or database answers, let it hold or select less, or raise source_seconds "
            "below [limits] in duetto.toml.",
        )

    def _ending(self, place: str, worker: Worker) -> DataError:
        return DataError(
            f"{place} cannot be read: its reader {worker.why()}, as by a damaged source or one that needs "
            f"more than {self.memory >> 20} MiB of memory.",
            "Save the source again, or as CSV, or raise source_mib below [limits] in duetto.toml.",
        )

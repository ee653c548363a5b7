"""The worker that reads sources: `python -m parties.catalog.reader`.

It is told what to read of which data set and what it may take for that, and answers with arrays, texts and
errors. Nobody else opens a source. It has no keys but the secret for the hashes of persons, and writes
nothing.
"""

from __future__ import annotations

import traceback
from collections.abc import Callable, Iterator, Mapping
from typing import Any, Final

from commons.tabular.dialect import Dialect, Writing
from parties.catalog.columns.columns import ColumnDeclaration
from parties.catalog.declarations.declaration import DatasetDeclaration
from parties.catalog.declarations.stamps import stamp_of
from parties.catalog.drafting.adding import Addition, Asked, draft_addition
from parties.catalog.drafting.drafting import Choices, ColumnDraft, Draft
from parties.catalog.drafting.suggesting import Code
from parties.catalog.loading.checking import Checked, check_dataset
from parties.catalog.loading.loaded import Loaded
from parties.catalog.loading.loading import load, load_pieces
from parties.catalog.loading.survey import Fault
from parties.errors import ConfigError, DataError, StorageError
from parties.workers.pipe import Pipe
from parties.workers.process import end_with_parent, limit_resources, memory_used
from parties.workers.values import Values
from smc.analyses.studies.columns import Column, Schema
from smc.errors import DuettoError, UsageError

VALUES: Final = Values(
    (
        *(DatasetDeclaration, ColumnDeclaration, Schema, Dialect, Writing),
        *(Loaded, Column, Checked, Fault, Asked, Addition, Choices, Draft, ColumnDraft, Code),
    ),
    (DataError, ConfigError, StorageError, UsageError, DuettoError),
)
"""What goes between this worker and whoever asks it."""

_SPARE_SECONDS: Final = 10
"""Whoever asks ends the worker in time; so much later the kernel does."""


def _one(function: Callable[..., Any]) -> Callable[..., Iterator[Any]]:
    def only(*given: Any) -> Iterator[Any]:
        yield function(*given)

    return only


CALLS: Final[Mapping[str, Callable[..., Iterator[Any]]]] = {
    "load": _one(load),
    "load_pieces": load_pieces,
    "checked": _one(check_dataset),
    "drafted": _one(draft_addition),
    "stamp": _one(stamp_of),
}
"""What can be asked for."""


def work(pipe: Pipe) -> None:
    """Answer until whoever asks is gone."""
    while True:
        words, data = pipe.get()
        name, memory, seconds, place, given = VALUES.value(words, data)
        try:
            limit_resources(memory, seconds + _SPARE_SECONDS)
            for value in CALLS[name](*given):
                _put(pipe, value)
                del value
        except DuettoError as error:
            _put(pipe, error)
        except MemoryError:
            _put(pipe, _too_large(place, memory))
        except (EOFError, BrokenPipeError, ConnectionError):
            raise
        except BaseException as error:  # panics of foreign code are no exceptions
            _put(pipe, _failure(place, error))
        limit_resources(memory, 0)
        pipe.put({"end": memory_used()})


def _put(pipe: Pipe, value: Any) -> None:
    words, data = VALUES.words(value)
    pipe.put(words, *data)


def _too_large(place: str, memory: int) -> DataError:
    return DataError(
        f"{place} cannot be read in {memory >> 20} MiB of memory.",
        "Read fewer rows or columns, split the source, or raise source_mib below [limits] in duetto.toml.",
    )


def _failure(place: str, error: BaseException) -> DataError:
    """A defect here or in a library, without its words, which may hold cells."""
    last = traceback.extract_tb(error.__traceback__)[-1]
    return DataError(
        f"{place} cannot be read: its reader failed with {type(error).__name__} at "
        f"{'/'.join(last.filename.split('/')[-2:])}:{last.lineno}.",
        "Save the source again, or as CSV; if this happens again, report it.",
    )


def main() -> None:
    """Work at the pipe that is the standard input."""
    try:
        work(end_with_parent())
    except (EOFError, OSError):
        return  # nobody asks any more


if __name__ == "__main__":
    main()

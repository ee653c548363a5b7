"""The file of a ledger, and what its entries come to."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import Any, Final

from commons.logs.chain import Chain, ChainedLog
from parties.ledger.entries import Entry, LedgerError, broken_entry, parse_line
from parties.ledger.tally import Tally


@dataclass(slots=True)
class Known:
    """What has been read and checked.

    Attributes:
        chain: what the file holds.
        tally: what its entries come to.
        counted: how many are in the tally.
    """

    chain: Chain[Entry] = field(default_factory=Chain)
    tally: Tally = field(default_factory=Tally)
    counted: int = 0

    @property
    def entries(self) -> list[Entry]:
        """All entries, in their order."""
        return self.chain.lines


class ChainFile:
    """A file of entries; all methods but `lock` need its lock.

    Each reading looks at the whole file. What was checked before and is still there byte by byte is not
    parsed again.

    Args:
        path: the file; it is made when first written.
        clock: the time to write into entries.
    """

    def __init__(self, path: Path, clock: Callable[[], str]) -> None:
        self._log: Final = ChainedLog(path, parse_line, broken_entry, partial(_unusable, path))
        self._clock = clock
        self._known = Known()

    @property
    def torn(self) -> tuple[Path, ...]:
        """Pieces of lines that a crash cut off and that were moved aside."""
        return self._log.torn

    def lock(self) -> AbstractContextManager[None]:
        """Hold the lock that all other methods need, on a file beside the ledger.

        Raises:
            LedgerError: the file cannot be used.
        """
        return self._log.lock()

    def read(self) -> Known:
        """What is in the file, checked; what a crash has left of a line is repaired.

        Raises:
            LedgerError: the chain is broken or the file unreadable.
        """
        chain = self._log.read(self._known.chain)
        self._log.repair(chain)
        if chain is not self._known.chain:
            self._known = Known(chain)
        for entry in chain.lines[self._known.counted :]:
            self._known.tally.add(entry)
        self._known.counted = len(chain.lines)
        return self._known

    def append(self, **content: str | int) -> Entry:
        """Write the next entry and force it to disk; the file has been read since it was locked."""
        return self.extend([content])[0]

    def extend(self, contents: Sequence[Mapping[str, str | int]]) -> list[Entry]:
        """The same for the next entries, in one piece."""
        return self._log.extend([partial(self._entry, content) for content in contents])

    def _entry(self, content: Mapping[str, Any], number: int, previous: str) -> Entry:
        return Entry(number, previous, self._clock(), **content).seal()


def _unusable(path: Path, problem: OSError) -> LedgerError:
    return LedgerError(
        f"The ledger {path.name} cannot be used: {problem.strerror or type(problem).__name__}.",
        "Check the disk and the rights of the file.",
    )

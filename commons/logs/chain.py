"""The file of a chain of lines: append-only, locked, forced to disk before anybody goes on.

The ledger of joint jobs, the audit log and the record of releases are such files. What their lines say and
how their errors are worded is theirs.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from contextlib import AbstractContextManager, contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Final, Generic, TypeVar

from commons.logs.files import (
    PRIVATE,
    ForeignWrite,
    lock_beside,
    lock_itself,
    open_log,
    pieces,
    set_aside,
)
from commons.logs.lines import GENESIS, START, Line, Link

L = TypeVar("L", bound=Line)

UNREADABLE: Final = "cannot be read"
DISCONTINUOUS: Final = "does not continue the one before"


@dataclass(slots=True)
class Chain(Generic[L]):
    """What a file holds.

    Attributes:
        lines: its whole lines, checked.
        data: the same as they stand in the file.
        tail: what follows the last newline: a line that is being written, or that a crash cut off.
    """

    lines: list[L] = field(default_factory=list)
    data: bytes = field(default=b"", repr=False)
    tail: bytes = b""


class ChainedLog(Generic[L]):
    """A file of lines that are a chain.

    Args:
        path: the file; it is made when first written.
        parse: reads a line without its newline; raises ValueError where it is none.
        broken: the error that a line, by its place from 0, is not as it was written, with `UNREADABLE` or
            `DISCONTINUOUS`.
        unusable: the error that the operating system does not let the file be used.
        after: what its first line continues, with the hash `ANY` if nobody knows it.
        mode: rights of a file that is made.
    """

    def __init__(
        self,
        path: Path,
        parse: Callable[[bytes], L],
        broken: Callable[[int, str], Exception],
        unusable: Callable[[OSError], Exception],
        *,
        after: Link = START,
        mode: int = PRIVATE,
    ) -> None:
        self.path: Final = path
        self._parse = parse
        self._broken = broken
        self._unusable = unusable
        self._after = after
        self._mode = mode
        self._end = after
        self._size = 0
        self._is_left_over = False

    @property
    def end(self) -> Link:
        """Number and hash of the last line that was read or written."""
        return self._end

    @property
    def size(self) -> int:
        """Length of the lines that were read or written, in bytes."""
        return self._size

    @property
    def torn(self) -> tuple[Path, ...]:
        """Pieces of lines that a crash cut off and that were put aside."""
        return pieces(self.path)

    @contextmanager
    def lock(self, *, beside: bool = True) -> Iterator[None]:
        """Hold the lock that writing and repairing need, beside the file or of the file itself.

        Raises:
            Exception: `unusable` if the file cannot be used; whatever `OSError` is raised inside, too.
        """
        held: AbstractContextManager[None]
        held = lock_beside(self.path) if beside else lock_itself(self.path, self._mode)
        with self._explain_errors(), held:
            yield

    def read(self, known: Chain[L] | None = None) -> Chain[L]:
        """Read the whole file and check it.

        Args:
            known: what was read before. What is still there byte by byte is not parsed again: its lines are
                kept and further ones added.

        Returns:
            What it holds; `known` itself if the file still begins so.

        Raises:
            Exception: `broken`, or `unusable`.
        """
        with self._explain_errors():
            try:
                data = self.path.read_bytes()
            except FileNotFoundError:
                data = b""
        chain = known if known is not None and data.startswith(known.data) else Chain[L]()
        *found, chain.tail = data[len(chain.data) :].split(b"\n")
        before = chain.lines[-1].link if chain.lines else self._after
        fresh: list[L] = []
        for place, piece in enumerate(found, len(chain.lines)):
            try:
                line = self._parse(piece)
            except (ValueError, RecursionError):
                raise self._broken(place, UNREADABLE) from None
            if not line.continues(before):
                raise self._broken(place, DISCONTINUOUS)
            fresh.append(line)
            before = line.link
        chain.lines.extend(fresh)
        chain.data = data[: len(data) - len(chain.tail)]
        self._note(chain)
        return chain

    def repair(self, chain: Chain[L]) -> Path | None:
        """Handle a last line without newline, the trace of a crash; the lock has been held since it was read.

        Where only the newline is missing the line counts, since it may have been announced. A piece of a line
        is put aside.

        Returns:
            Where the piece lies; None if there was none.

        Raises:
            Exception: `unusable`.
        """
        if not chain.tail:
            return None
        with self._explain_errors():
            aside, line = None, self._successor(chain.tail)
            if line is None:
                aside = set_aside(self.path, chain.tail, self._end[0] + 1)
            with open_log(self.path) as file:
                if line is None:
                    file.cut(len(chain.data))
                else:
                    file.append(b"\n", len(chain.data) + len(chain.tail))
                    chain.data += chain.tail + b"\n"
                    chain.lines.append(line)
        chain.tail = b""
        self._note(chain)
        return aside

    def extend(self, makes: Iterable[Callable[[int, str], L]]) -> list[L]:
        """Write the next lines in one piece; on return they are on the disk, after an error none is.

        Nobody else has written since the file was read: the lock is held, or there is no other writer.

        Args:
            makes: each gives a line, from its number and the hash of the one before.

        Raises:
            Exception: `unusable`.
        """
        lines: list[L] = []
        end = self._end
        for make in makes:
            lines.append(make(end[0] + 1, end[1] or GENESIS))
            end = lines[-1].link
        data = b"".join(line.line() for line in lines)
        with self._explain_errors(), open_log(self.path, mode=self._mode) as file:
            if file.size < self._size or (file.size > self._size and not self._is_left_over):
                raise ForeignWrite
            self._is_left_over = True
            try:
                file.append(data, self._size)
            except OSError:
                self._is_left_over = file.size != self._size
                raise
            self._is_left_over = False
        self._size += len(data)
        self._end = end
        return lines

    def _successor(self, tail: bytes) -> L | None:
        """The line that a tail is, but for its newline; None if it is a piece of one."""
        try:
            line = self._parse(tail)
        except (ValueError, RecursionError):
            return None
        return line if line.continues(self._end) else None

    def _note(self, chain: Chain[L]) -> None:
        self._size = len(chain.data)
        self._end = chain.lines[-1].link if chain.lines else self._after
        self._is_left_over = False

    @contextmanager
    def _explain_errors(self) -> Iterator[None]:
        try:
            yield
        except OSError as problem:
            raise self._unusable(problem) from None

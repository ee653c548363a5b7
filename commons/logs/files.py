"""Writing at the end of a file so that a crash or a full disk leaves all that was there, and locks for it."""

from __future__ import annotations

import errno
import fcntl
import glob
import os
import stat
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager, suppress
from itertools import count
from pathlib import Path
from typing import Final

PRIVATE: Final = 0o600
TORN: Final = ".torn-"
"""Stands between the name of a log and a number in the names of pieces that `set_aside` has kept."""


class ForeignWrite(OSError):  # noqa: N818 - a kind of OSError, named after its cause like those of Python
    """The file has not the length that it was left with: somebody has written to it who holds no lock."""

    def __init__(self) -> None:
        super().__init__(errno.EBUSY, "another program has written to it")


class LogFile:
    """A file that only grows, while it is open.

    Args:
        path: of the file.
        descriptor: of the file, open for reading and writing and not for appending.
    """

    def __init__(self, path: Path, descriptor: int) -> None:
        self.path: Final = path
        self.descriptor: Final = descriptor

    @property
    def size(self) -> int:
        """Its length in bytes."""
        return os.fstat(self.descriptor).st_size

    def append(self, data: bytes, size: int) -> None:
        """Write behind the first `size` bytes; what stands there is cut off: nobody has relied on it.

        On return the data and the name of the file are on the disk. After an error they are cut off again,
        or, where the disk refuses that too, by the next `append`.

        Raises:
            OSError: as of the operating system.
        """
        try:
            if self.size > size:
                self.cut(size)
            view, place = memoryview(data), size
            while view:
                written = os.pwrite(self.descriptor, view, place)
                view, place = view[written:], place + written
            os.fsync(self.descriptor)
            sync(self.path.parent)
        except OSError:
            with suppress(OSError):
                self.cut(size)
            raise

    def cut(self, size: int) -> None:
        """Leave the first `size` bytes; on return the others are gone from the disk."""
        os.ftruncate(self.descriptor, size)
        os.fsync(self.descriptor)


@contextmanager
def open_log(path: Path, flags: int = 0, mode: int = PRIVATE) -> Iterator[LogFile]:
    """Open a file that only grows, and make it if it is missing.

    Args:
        path: of the file.
        flags: further ones for `os.open`.
        mode: rights of a file that is made.

    Raises:
        OSError: it cannot be opened.
    """
    descriptor = os.open(path, os.O_RDWR | os.O_CREAT | flags, mode)
    try:
        yield LogFile(path, descriptor)
    finally:
        os.close(descriptor)


def set_aside(path: Path, piece: bytes, number: int) -> Path:
    """Keep the piece of a line that a crash cut off in a file beside its log; returns its path.

    A file that is there already is never overwritten. One with the same piece will do: the crash was just
    after it had been written.

    Args:
        path: of the log.
        piece: what is left of the line.
        number: of the line, for the name of the file.

    Raises:
        OSError: it cannot be written.
    """
    names = (f"{path.name}{TORN}{number}" + (f"-{again}" if again else "") for again in count())
    places = (path.with_name(name) for name in names)
    aside = next(place for place in places if not place.exists() or place.read_bytes() == piece)
    if not aside.exists():
        try:
            with open_log(aside, os.O_EXCL) as file:
                file.append(piece, 0)
        except BaseException:
            aside.unlink(missing_ok=True)
            raise
    return aside


def pieces(path: Path) -> tuple[Path, ...]:
    """The files in which `set_aside` has kept pieces of lines of a log."""
    return tuple(sorted(path.parent.glob(f"{glob.escape(path.name)}{TORN}*")))


@contextmanager
def lock(path: Path, flags: int = os.O_RDWR | os.O_CREAT) -> Iterator[None]:
    """Hold the lock of a file, of which the content does not matter; other threads and processes wait.

    Raises:
        OSError: it cannot be opened.
    """
    held = os.open(path, flags, PRIVATE)
    try:
        fcntl.flock(held, fcntl.LOCK_EX)
        yield
    finally:
        os.close(held)


@contextmanager
def lock_beside(path: Path) -> Iterator[None]:
    """Hold the lock of a log: of the file `NAME.lock` beside it, as `lock`.

    Where nothing can be written, as on a copy for auditors, the log itself is locked.
    """
    with ExitStack() as held:
        try:
            held.enter_context(lock(path.with_name(f"{path.name}.lock")))
        except OSError as problem:
            if problem.errno != errno.EROFS:
                raise
            held.enter_context(lock(path, os.O_RDONLY))
        yield


@contextmanager
def lock_itself(path: Path, mode: int) -> Iterator[None]:
    """Hold the lock of a file, made if it is missing, where nothing shall lie beside it.

    A file that was made here and is empty in the end is taken away again.

    Args:
        path: of the file.
        mode: rights of a file that is made.

    Raises:
        OSError: it cannot be opened, or is a folder, device or pipe.
    """
    held, is_new = _open_locked(path, mode)
    try:
        yield
    finally:
        # an own file that stayed empty says nothing, and others who wait for it look again
        if is_new and not os.fstat(held).st_size:
            path.unlink(missing_ok=True)
        os.close(held)


def _open_locked(path: Path, mode: int) -> tuple[int, bool]:
    """Open a file and wait for its lock; whether it was made here."""
    while True:
        is_new = not path.exists()
        if path.is_symlink() if is_new else not path.is_file():  # a link that leads nowhere cannot be made
            raise _strange()
        try:
            # without waiting for a writer, should it have become a pipe
            new = os.O_CREAT | os.O_EXCL if is_new else 0
            file = os.open(path, os.O_RDWR | os.O_NONBLOCK | new, mode)
        except (FileExistsError, FileNotFoundError):
            if path.parent.is_dir():
                continue  # another process has made it or taken it away
            raise
        try:
            fcntl.flock(file, fcntl.LOCK_EX)
            found = os.fstat(file)
            if not stat.S_ISREG(found.st_mode):
                raise _strange()
            if path.exists() and os.path.samestat(found, path.stat()):
                return file, is_new
        except BaseException:
            os.close(file)
            raise
        os.close(file)  # whoever had it has taken it away


def _strange() -> OSError:
    return OSError(errno.EINVAL, "it is not an ordinary file")


def sync(folder: Path) -> None:
    """Force the names in a folder to the disk."""
    descriptor = os.open(folder, os.O_RDONLY | os.O_DIRECTORY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)

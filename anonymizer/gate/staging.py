"""Files that appear together: all of them or none."""

from __future__ import annotations

import fcntl
import os
import shutil
import stat
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Final

from anonymizer.errors import FileError

_PREFIX: Final = ".duetto-unpublished-"


class Staging:
    """Files that are made and looked at in folders that nobody else may read, beside the wanted places."""

    def __init__(self) -> None:
        self._wanted: dict[Path, Path] = {}
        self._folders: dict[Path, Path] = {}
        self._private: set[Path] = set()
        self._locks: list[int] = []

    def place(self, path: Path, *, private: bool = False) -> Path:
        """Where to make a file that is to become `path`; it keeps its name and so its kind.

        Args:
            path: of the file.
            private: nobody else may read it.

        Raises:
            FileError: the folder of `path` cannot be written in, or `path` is there and not a file that a
                release may take the place of.
        """
        _replaceable(path)
        self._wanted[path] = self._beside(path)
        if private:
            self._private.add(path)
        return self._wanted[path]

    def folder(self, path: Path) -> Path:
        """Where to make a folder that is to become `path`, with all that is in it, in one step.

        Raises:
            FileError: the folder around `path` cannot be written in, or `path` is there and not an empty
                folder: a release never takes the place of other files.
        """
        _free(path)
        place = self._beside(path)
        try:
            place.mkdir()
        except OSError as problem:
            raise FileError(f"{path} cannot be written: {problem.strerror}.", "Check the folder.") from None
        self._folders[path] = place
        return place

    def final_names(self, text: str) -> str:
        """A text with the wanted files in place of those that are being made."""
        for path, place in (self._wanted | self._folders).items():
            text = text.replace(str(place), str(path))
        return text

    def clear(self) -> None:
        """Take away all that was not published."""
        for place in (*self._wanted.values(), *self._folders.values()):
            shutil.rmtree(place.parent, ignore_errors=True)
        while self._locks:
            os.close(self._locks.pop())

    def _beside(self, path: Path) -> Path:
        """A place of the same name in a new folder beside `path`, locked as long as this process uses it."""
        try:
            clear_stale(path.parent)
            while True:
                folder = Path(tempfile.mkdtemp(prefix=_PREFIX, dir=path.parent))
                with suppress(FileNotFoundError):
                    lock = _lock(folder, wait=True)
                    if lock is None or folder.exists():
                        break
                    os.close(lock)
                # another process took it for a dead one's before it was locked
        except OSError as problem:
            raise FileError(f"{path} cannot be written: {problem.strerror}.", "Check the folder.") from None
        if lock is not None:
            self._locks.append(lock)
        return folder / path.name

    def publish(self) -> None:
        """Move all files to their places, then folders; if one cannot be moved, all is put back.

        Raises:
            FileError: one could not be moved; everything is as before.
        """
        moved: list[tuple[Path, Path | None]] = []
        try:
            for path, place in self._wanted.items():
                with place.open("rb") as file:
                    os.fsync(file.fileno())
                place.chmod(0o600 if path in self._private else 0o666 & ~_umask())
                _replaceable(path)
                old = place.with_name(f"{place.name}.old") if path.exists() else None
                if old is not None:
                    path.replace(old)
                moved.append((path, old))
                place.replace(path)
            for path, place in self._folders.items():
                _opened_up(place)
                _free(path)
                place.replace(path)
        except BaseException as problem:
            for path, old in reversed(moved):
                path.unlink(missing_ok=True)
                if old is not None:
                    old.replace(path)
            if isinstance(problem, OSError):
                reason = problem.strerror or type(problem).__name__
                raise FileError(f"The files cannot be written: {reason}.", "Check folder and disk.") from None
            raise


@contextmanager
def staging() -> Iterator[Staging]:
    """A place for files, which is gone afterwards with all that was not published.

    Raises:
        FileError: a file could not be written.
    """
    staged = Staging()
    try:
        yield staged
    except FileError as problem:
        raise FileError(staged.final_names(problem.what), problem.hint) from None
    except OSError as problem:
        reason = problem.strerror or type(problem).__name__
        raise FileError(f"The files cannot be written: {reason}.", "Check folder and disk.") from None
    finally:
        staged.clear()


def clear_stale(folder: Path) -> None:
    """Take away what runs that were killed have left in a folder: unpublished releases, unchecked.

    Only folders of this account whose lock nobody holds: the system frees it when a process ends.
    """
    for place in sorted(folder.glob(f"{_PREFIX}*")):
        try:
            found = place.lstat()
            if not stat.S_ISDIR(found.st_mode) or found.st_uid != os.geteuid():
                continue
            lock = _lock(place, wait=False)
        except OSError:
            continue
        if lock is not None:
            shutil.rmtree(place, ignore_errors=True)
            os.close(lock)


def _lock(folder: Path, *, wait: bool) -> int | None:
    """The descriptor of a locked folder; None if another holds it, or the file system has no locks."""
    lock = os.open(folder, os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW)
    try:
        fcntl.flock(lock, fcntl.LOCK_EX if wait else fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError:
        os.close(lock)
        return None
    return lock


def _opened_up(folder: Path) -> None:
    """Give a folder the rights of new files and folders, and have its files on the disk."""
    for path in sorted(folder.rglob("*")):
        if path.is_file():
            with path.open("rb") as file:
                os.fsync(file.fileno())
        path.chmod((0o777 if path.is_dir() else 0o666) & ~_umask())
    folder.chmod(0o777 & ~_umask())


def _free(path: Path) -> None:
    """Refuse to put a folder where something is."""
    if path.is_symlink() or (path.exists() and not (path.is_dir() and not any(path.iterdir()))):
        raise FileError(f"{path} is there already.", "Name a new folder, or take it away.")


def _replaceable(path: Path) -> None:
    """Refuse to put a file where a folder, a device or a pipe is: what is in a folder would be lost."""
    if path.exists() and not path.is_file():
        kind = "a folder" if path.is_dir() else "not a regular file"
        raise FileError(f"{path} cannot be written: it is {kind}.", "Give another name, or take it away.")


def _umask() -> int:
    mask = os.umask(0)
    os.umask(mask)
    return mask

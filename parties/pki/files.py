"""Files that must be whole or absent, and files that only their owner may read."""

from __future__ import annotations

import fcntl
import os
import pwd
import re
import shutil
import stat
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from shlex import quote
from typing import Final

from commons.files import replacing
from parties.errors import ConfigError

PRIVATE: Final = 0o600
PUBLIC: Final = 0o644
PRIVATE_FOLDER: Final = 0o700

COPYING: Final = ("backup", ".copying")
"""Name and ending of folders in `run` in which a backup is made."""

_ENDING: Final = ".new"
_LEFT_SECONDS: Final = 60.0


def write_atomically(path: Path, data: bytes, mode: int = PUBLIC) -> None:
    """Write a file so that a crash leaves the old one or the new one; both it and its folder are synced."""
    with replacing(path, mode, suffix=_ENDING) as part:
        part.write_bytes(data)


def sweep(folder: Path) -> list[Path]:
    """Delete what a crash has left of files being written, in a folder and the folders in it.

    What is younger than a minute stays: another process may be writing it.

    Returns:
        What was deleted.
    """
    before = time.time() - _LEFT_SECONDS
    stale = [file for pattern in (f".*{_ENDING}", f"*/.*{_ENDING}") for file in folder.glob(pattern)]
    deleted = []
    for file in stale:
        with suppress(OSError):
            if file.lstat().st_mtime < before:
                file.unlink()
                deleted.append(file)
    return deleted


def sweep_left(folder: Path, name: str, ending: str) -> None:
    """Delete temporary files and folders, `.NAME.xxxxxxxx.ENDING`, that a process that was killed has left.

    One that still works at its file or folder has it locked, and keeps it.
    """
    left = re.compile(rf"\.{re.escape(name)}\.\w{{8}}{re.escape(ending)}", re.ASCII)
    for path in folder.iterdir():
        if not left.fullmatch(path.name):
            continue
        with suppress(OSError):
            descriptor = os.open(path, os.O_RDONLY | os.O_NOFOLLOW)
            try:
                fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
                if path.is_dir():
                    shutil.rmtree(path)
                else:
                    path.unlink()
            finally:
                os.close(descriptor)


@contextmanager
def temporary_folder(folder: Path, name: str, ending: str) -> Iterator[Path]:
    """A private folder in a folder, deleted at the end; what others have left of such is deleted first."""
    sweep_left(folder, name, ending)
    made = Path(tempfile.mkdtemp(ending, f".{name}.", folder))
    held = os.open(made, os.O_RDONLY | os.O_DIRECTORY)
    try:
        fcntl.flock(held, fcntl.LOCK_EX)
        yield made
    finally:
        shutil.rmtree(made, ignore_errors=True)
        os.close(held)


def account(uid: int) -> str:
    """The name of an account, or its number if it has none."""
    try:
        return pwd.getpwuid(uid).pw_name
    except KeyError:
        return str(uid)


def check_private(path: Path) -> None:
    """Check that a file or folder with secrets belongs to this user and that nobody else may touch it.

    Raises:
        ConfigError: it is missing, belongs to another user, or is open to others.
    """
    try:
        status = path.stat()
    except OSError as error:
        raise ConfigError(
            f"{path} cannot be read ({type(error).__name__}).", "Restore it from a copy of the home."
        ) from None
    if status.st_uid != os.geteuid():
        raise ConfigError(
            f"{path} belongs to another user.",
            "Run as the user who made the party. If the home is that user's and was restored by another, "
            f"give it back as root: `chown -R {account(os.geteuid())}: {quote(str(path))}`.",
        )
    if stat.S_IMODE(status.st_mode) & 0o077:
        mode = "700" if stat.S_ISDIR(status.st_mode) else "600"
        raise ConfigError(f"{path} is open to other users.", f"Run `chmod {mode} {quote(str(path))}`.")


def check_guarded(path: Path) -> None:
    """Check that not every user of this machine may write a file or folder; one that is missing is guarded.

    Raises:
        ConfigError: everybody may.
    """
    try:
        mode = path.stat().st_mode
    except OSError:
        return
    if mode & stat.S_IWOTH:
        raise ConfigError(
            f"Every user of this machine may write {path}.", f"Run `chmod o-w {quote(str(path))}`."
        )


def read_private(path: Path, maximum: int = 1 << 16) -> bytes:
    """The content of a private file of at most `most` bytes.

    Raises:
        ConfigError: as `check_private`, or the file is too long.
    """
    check_private(path)
    with path.open("rb") as file:
        data = file.read(maximum + 1)
    if len(data) > maximum:
        raise ConfigError(f"{path} is longer than {maximum} bytes.", "Restore it from a copy.")
    return data

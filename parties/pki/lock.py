"""One daemon a party: a locked file in the party's home that holds the process id."""

from __future__ import annotations

import fcntl
import os
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Final

from parties.config import Config
from parties.errors import ConfigError
from parties.pki.files import PRIVATE, PRIVATE_FOLDER, check_private, sweep
from parties.pki.home import pid_path, require_guarded

MOVED: Final = "moved.json"
"""The mark of a home that was packed to live elsewhere."""


@contextmanager
def only_one(config: Config, *, moved: bool = False) -> Iterator[None]:
    """Hold the lock of the home, with the process id in its file, so that no second daemon starts.

    Temporary files that an earlier one left over when it was killed are deleted.

    Args:
        config: of the home.
        moved: whether the home may be one that was packed to live elsewhere.

    Raises:
        ConfigError: a daemon runs already, or others may use or write the home, or it has moved.
    """
    folder = pid_path(config).parent
    folder.mkdir(mode=PRIVATE_FOLDER, exist_ok=True)
    check_private(folder)
    require_guarded(config)
    descriptor = os.open(pid_path(config), os.O_RDWR | os.O_CREAT | os.O_NOFOLLOW, PRIVATE)
    try:
        try:
            fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            raise ConfigError(
                f"The daemon of {config.name} runs already.", "Stop it with `duetto party stop`."
            ) from None
        if not moved:
            require_here(config)
        os.ftruncate(descriptor, 0)
        os.write(descriptor, f"{os.getpid()}\n".encode())
        sweep(config.home)
        yield
        os.ftruncate(descriptor, 0)
    finally:
        os.close(descriptor)


def require_here(config: Config) -> None:
    """Refuse a home that was packed to live elsewhere.

    Raises:
        ConfigError: it was; it may run there, and two would spend the same budget.
    """
    if os.path.lexists(config.home / MOVED):
        raise ConfigError(
            f"{config.name} has moved away from {config.home}; this home is out of use.",
            "Use it where `duetto party unpack` has put it. If the archive is lost and was never unpacked, "
            "make another with `duetto party pack FILE`, and unpack that into an empty folder.",
        )


def running_pid(config: Config) -> int | None:
    """The process id of the running daemon, or None if none runs."""
    try:
        descriptor = os.open(pid_path(config), os.O_RDONLY | os.O_NOFOLLOW)
    except OSError:
        return None
    try:
        fcntl.flock(descriptor, fcntl.LOCK_SH | fcntl.LOCK_NB)
    except BlockingIOError:
        text = os.read(descriptor, 32).decode("ascii", "replace").strip()
        return int(text) if text.isdigit() else None
    finally:
        os.close(descriptor)
    return None

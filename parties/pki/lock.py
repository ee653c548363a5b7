"""One daemon a party: a locked file in the party's home that holds the process id."""

from __future__ import annotations

import fcntl
import os
from collections.abc import Iterator
from contextlib import contextmanager

from parties.config import Config
from parties.errors import ConfigError
from parties.pki.files import PRIVATE, PRIVATE_FOLDER, check_private, sweep
from parties.pki.home import pid_path


@contextmanager
def only_one(config: Config) -> Iterator[None]:
    """Hold the lock of the home, with the process id in its file, so that no second daemon starts.

    Temporary files that an earlier one left over when it was killed are deleted.

    Raises:
        ConfigError: a daemon runs already, or the home is open to other users.
    """
    folder = pid_path(config).parent
    folder.mkdir(mode=PRIVATE_FOLDER, exist_ok=True)
    check_private(folder)
    descriptor = os.open(pid_path(config), os.O_RDWR | os.O_CREAT | os.O_NOFOLLOW, PRIVATE)
    try:
        try:
            fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            raise ConfigError(
                f"The daemon of {config.name} runs already.", "Stop it with `duetto party stop`."
            ) from None
        os.ftruncate(descriptor, 0)
        os.write(descriptor, f"{os.getpid()}\n".encode())
        sweep(config.home)
        yield
        os.ftruncate(descriptor, 0)
    finally:
        os.close(descriptor)


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

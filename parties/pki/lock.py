"""One daemon a party: a lock on the folder of the home itself, which no file deleted in it takes away.

The process id stands in `run/daemon.pid`, whose own lock daemons of earlier releases hold and look at.
"""

from __future__ import annotations

import fcntl
import os
import socket
import time
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager, suppress
from pathlib import Path
from shlex import quote
from typing import Final

from parties.config import Config
from parties.errors import ConfigError, DaemonUnavailable
from parties.exits import why_unreadable
from parties.pki.files import COPYING, PRIVATE, PRIVATE_FOLDER, check_private, sweep, sweep_left
from parties.pki.home import pid_path, require_guarded, socket_path
from parties.pki.socket_peer import peer_process

MOVED: Final = "moved.json"
"""The mark of a home that was packed to live elsewhere."""

_TRIES: Final = 20
_PAUSE_SECONDS: Final = 0.05
"""Commands that ask whether a daemon runs hold the lock for a moment, which is no daemon."""

_ASK_SECONDS: Final = 2.0


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
    with ExitStack() as held:
        if not _try_lock(_open(config.home, held), fcntl.LOCK_EX, tries=_TRIES):
            raise _runs_already(config)
        folder = pid_path(config).parent
        folder.mkdir(mode=PRIVATE_FOLDER, exist_ok=True)
        check_private(folder)
        require_guarded(config)
        descriptor = os.open(pid_path(config), os.O_RDWR | os.O_CREAT | os.O_NOFOLLOW, PRIVATE)
        held.callback(os.close, descriptor)
        if not _try_lock(descriptor, fcntl.LOCK_EX, tries=_TRIES):
            raise _runs_already(config)
        if not moved:
            require_here(config)
        os.ftruncate(descriptor, 0)
        os.write(descriptor, f"{os.getpid()}\n".encode())
        sweep(config.home)
        sweep_left(folder, *COPYING)
        yield
        os.ftruncate(descriptor, 0)


def _open(home: Path, held: ExitStack) -> int:
    descriptor = os.open(home, os.O_RDONLY | os.O_DIRECTORY)
    held.callback(os.close, descriptor)
    return descriptor


def _try_lock(descriptor: int, kind: int, tries: int = 1) -> bool:
    """Whether a lock can be had, at once or within as many tries.

    Raises:
        ConfigError: the file system has no such locks.
    """
    for number in range(tries):
        if number:
            time.sleep(_PAUSE_SECONDS)
        try:
            fcntl.flock(descriptor, kind | fcntl.LOCK_NB)
        except BlockingIOError:
            continue
        except OSError as problem:
            raise ConfigError(
                f"The home cannot be locked: {why_unreadable(problem)}.", "Move it to a local disk."
            ) from None
        return True
    return False


def _runs_already(config: Config) -> ConfigError:
    return ConfigError(f"The daemon of {config.name} runs already.", "Stop it with `duetto party stop`.")


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
    """The process id of the running daemon, or None if none runs.

    Raises:
        DaemonUnavailable: one runs, and nothing says which process it is.
    """
    for number in range(_TRIES):
        if number:
            time.sleep(_PAUSE_SECONDS)  # it starts, or ends
        with ExitStack() as held:
            try:
                is_locked = not _try_lock(_open(config.home, held), fcntl.LOCK_SH)
            except OSError:
                return None
            has_written = _is_held(pid_path(config), held)
        if not (is_locked or has_written):
            return None
        found = _listening(config) or (_read_number(pid_path(config)) if has_written else None)
        if found is not None:
            return found
    raise DaemonUnavailable(
        f"A process holds the lock of {config.home}, and neither the control socket nor the file "
        f"{pid_path(config).name} says which.",
        f"Find it with `lsof {quote(str(config.home))}`, and end it.",
    )


def _is_held(path: Path, held: ExitStack) -> bool:
    """Whether a daemon has locked the file with its process id; those of earlier releases lock no other."""
    try:
        descriptor = os.open(path, os.O_RDONLY | os.O_NOFOLLOW)
    except OSError:
        return False
    held.callback(os.close, descriptor)
    return not _try_lock(descriptor, fcntl.LOCK_SH)


def _listening(config: Config) -> int | None:
    """Who listens at the control socket."""
    with suppress(OSError, ConfigError), socket.socket(socket.AF_UNIX, socket.SOCK_STREAM) as asked:
        asked.settimeout(_ASK_SECONDS)
        asked.connect(str(socket_path(config)))
        found = peer_process(asked)
        return found.pid or None if found is not None else None
    return None


def _read_number(path: Path) -> int | None:
    with suppress(OSError):
        descriptor = os.open(path, os.O_RDONLY | os.O_NOFOLLOW)
        try:
            text = os.read(descriptor, 32).decode("ascii", "replace").strip()
        finally:
            os.close(descriptor)
        return int(text) if text.isdigit() and int(text) else None
    return None

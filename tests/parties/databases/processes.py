"""A database server of a test run: in a folder of its own, on a port of its own, ended by its pid."""

from __future__ import annotations

import os
import pwd
import shutil
import subprocess
import tempfile
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

import pytest

PASSWORD = "correct-horse"
_SECONDS = 60

User = Mapping[str, Any]
"""As whom a program runs, as `subprocess` takes it; empty for who runs the tests."""


@contextmanager
def own_folder(product: str, name: str) -> Iterator[tuple[Path, User]]:
    """A folder for a server, and whom it belongs to: none runs as root, so another user then.

    Args:
        product: its name.
        name: of the user that its package makes.
    """
    as_user: dict[str, Any] = {}
    folder = Path(tempfile.mkdtemp(prefix=f"duetto-{name}-"))
    try:
        if os.geteuid() == 0:
            user = next((u for u in pwd.getpwall() if u.pw_name in (name, "nobody")), None)
            if user is None:
                pytest.skip(f"{product} does not run as root, and there is no user nobody")
            os.chown(folder, user.pw_uid, user.pw_gid)
            as_user = {"user": user.pw_uid, "group": user.pw_gid, "extra_groups": []}
        yield folder, as_user
    finally:
        shutil.rmtree(folder, ignore_errors=True)


def set_up(command: Sequence[Any], folder: Path, as_user: User) -> None:
    """Make the server's files."""
    subprocess.run(command, check=True, capture_output=True, cwd=folder, timeout=2 * _SECONDS, **as_user)


@contextmanager
def serving(
    product: str,
    command: Sequence[Any],
    folder: Path,
    as_user: User,
    ask: Callable[[], object],
    refused: type[Exception],
) -> Iterator[None]:
    """Run a server.

    Args:
        product: its name.
        command: that starts it.
        folder: of its files and its log.
        as_user: as of `own_folder`.
        ask: answered once it serves; raises `refused` before.
        refused: see there.
    """
    with (folder / "log").open("wb") as log:
        process = subprocess.Popen(command, stdout=log, stderr=log, cwd=folder, **as_user)
    try:
        end = time.monotonic() + _SECONDS
        while True:
            with suppress(refused):
                ask()
                break
            if process.poll() is not None or time.monotonic() > end:
                pytest.fail(f"{product} did not start: {(folder / 'log').read_text()[-400:]}")
            time.sleep(0.1)
        yield
    finally:
        process.terminate()
        try:
            process.wait(_SECONDS)
        except subprocess.TimeoutExpired:
            process.kill()
            process.wait()

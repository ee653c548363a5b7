"""Hands a notice over in a process of its own, which is ended when its time is over.

A server that never answers, answers without end or drips, a name that is not resolved, and a program that
does not end or leaves others behind cost the daemon nothing but the wait of one thread.
"""

from __future__ import annotations

import json
import os
import sys
from pathlib import Path
from typing import Final

from parties.errors import ConfigError, NoticeError
from parties.hooks import AnyHook, CommandHook, MailHook
from parties.notices.notice import Notice
from parties.pki.files import check_guarded, read_private
from parties.processes import run_bounded
from parties.texts import escape_unprintable

SECRET_BYTES: Final = 16
"""The shortest secret by which a notice is signed."""

MAX_SECRET: Final = 4096
MAX_REASON: Final = 300
"""Letters of what a sender says of its failure."""

_SENDER: Final = (sys.executable, "-P", "-m", "parties.notices.sender")


def check_hook(hook: AnyHook) -> None:
    """Check the files that a hook names.

    Raises:
        ConfigError: one is missing, too short, or open to others.
    """
    if isinstance(hook, CommandHook):
        program = Path(hook.command[0])
        if not program.is_file() or not os.access(program, os.X_OK):
            raise ConfigError(
                f"The program {program} of hook {hook.name!r} does not exist or may not be run.",
                "Correct its path in command, or make it executable.",
            )
        check_guarded(program)
    elif isinstance(hook, MailHook):
        if hook.login is not None:
            read_login(hook.login)
    else:
        read_secret(hook.secret)


def read_login(path: Path) -> tuple[str, str]:
    """Name and password of a private file.

    Raises:
        ConfigError: it is open to others, or does not hold two lines.
    """
    try:
        name, password = read_private(path, MAX_SECRET).decode().splitlines()
    except ValueError:
        raise ConfigError(
            f"{path} does not hold two lines.",
            "Write the name on the first line and the password on the second.",
        ) from None
    return name, password


def read_secret(path: Path) -> bytes:
    """The secret of a private file, without the end of its line.

    Raises:
        ConfigError: it is open to others, or too short.
    """
    secret = read_private(path, MAX_SECRET).strip()
    if len(secret) < SECRET_BYTES:
        raise ConfigError(
            f"The secret in {path} is shorter than {SECRET_BYTES} bytes.",
            f"Make one: `(umask 077; openssl rand -hex 32 > {path})`, and give it to the server.",
        )
    return secret


def send(hook: AnyHook, notice: Notice) -> None:
    """Hand a notice over once; returns when whoever takes it has taken it.

    Raises:
        ConfigError: a file that the hook names is not in order.
        NoticeError: it was not taken, or not in time.
    """
    check_hook(hook)
    if isinstance(hook, CommandHook):
        status, _ = _run(hook.command, notice.body, hook, reads=False)
        if status:
            how = f"was ended by signal {-status}" if status < 0 else f"ended with status {status}"
            raise NoticeError(f"The program {hook.command[0]} {how}.", _try(hook))
        return
    if isinstance(hook, MailHook):
        way = {name: getattr(hook, name) for name in ("to", "sender", "server", "port", "tls")}
        way["login"] = str(hook.login) if hook.login else ""
    else:
        way = {"url": hook.url, "secret": str(hook.secret)}
    task = {"way": way, "notice": notice.document, "seconds": hook.seconds}
    status, said = _run(_SENDER, json.dumps(task).encode(), hook, reads=True)
    if status:
        reason = escape_unprintable(said.decode(errors="replace"))[:MAX_REASON]
        raise NoticeError(reason or f"The sender ended with status {status}.", _try(hook))


def _run(command: tuple[str, ...], given: bytes, hook: AnyHook, *, reads: bool) -> tuple[int, bytes]:
    """Run a program; its exit status, and the beginning of what it has written, if that is read."""
    seconds = hook.seconds + 1 if reads else hook.seconds  # the sender knows its time, and says more
    try:
        ended = run_bounded(command, given, seconds, MAX_REASON if reads else 0)
    except OSError as problem:
        raise NoticeError(f"{command[0]} does not start: {problem.strerror}.", _try(hook)) from None
    if ended.status is None:
        raise NoticeError(f"It took longer than {hook.seconds} seconds.", _try(hook))
    return ended.status, ended.said


def _try(hook: AnyHook) -> str:
    return f"Correct the section [[on_event]] named {hook.name!r}, and try `duetto notice test {hook.name}`."

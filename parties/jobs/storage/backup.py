"""A copy of a home in one file, made while its daemon runs, from which nothing can be spent again.

What changes is copied in such an order that the copy is never better than the home was at some moment: jobs
before their results, so that a result that came meanwhile lies aside and none is missing; both, and stamps,
before the ledger, which so has all that the jobs have spent and what stamps are about; and the ledger,
the record of exact jobs and the audit log together, under the locks of the first two. What was prepared for
later comparisons is left out, since it must not exist twice.

A home that was restored is refused by every peer that has seen more of its ledger (`parties.ledger.heads`).
"""

from __future__ import annotations

import errno
import fcntl
import os
import shutil
import sqlite3
from collections.abc import Iterator
from contextlib import ExitStack, closing, contextmanager
from pathlib import Path
from typing import Final

from parties.audit.files import FOLDER as AUDIT
from parties.clock import CLOCK
from parties.config import Config
from parties.errors import StorageError
from parties.exits import why_unreadable
from parties.jobs.storage.reading import FILE as JOBS
from parties.ledger import doubts, heads
from parties.ledger.book import open_ledger
from parties.pki.files import COPYING, PRIVATE, PRIVATE_FOLDER, temporary_folder
from parties.pki.lock import require_here
from parties.pki.moving import TAKEN, check_place, new_archive, write_archive
from parties.stamps.files import FOLDER as STAMPS

_NO_ROOM: Final = (errno.ENOSPC, errno.EDQUOT)
_LEDGER: Final = "ledger.jsonl"
_EXACT: Final = "exact-jobs.log"
_RESULTS: Final = "results"
_LATER: Final = frozenset(
    {
        *(_LEDGER, _EXACT, _RESULTS, STAMPS, AUDIT, heads.FILE, doubts.FILE, "run", "pools"),
        *(f"{JOBS}{end}" for end in ("", "-wal", "-shm")),
        *(f"{name}.lock" for name in (_LEDGER, _EXACT)),
    }
)
"""What is not simply copied."""


def back_up(config: Config, archive: Path) -> tuple[str, dict[str, str]]:
    """Write a copy of a home into an archive; its daemon may run, and the home stays in use.

    Args:
        config: of the home.
        archive: a file that does not exist, outside of the home.

    Returns:
        When it was made, RFC 3339 in UTC; and the SHA-256 of each file by its path in the home.

    Raises:
        ConfigError: the archive exists or lies in the home, the home has moved, or it holds a link or such.
        LedgerError: the ledger is broken.
        StorageError: the database cannot be read, or the disk is full.
    """
    archive = archive.absolute()
    check_place(config, archive)
    require_here(config)
    home = config.home.resolve()
    (home / "run").mkdir(mode=PRIVATE_FOLDER, exist_ok=True)
    with new_archive(archive) as file, temporary_folder(home / "run", *COPYING) as copy:
        taken = CLOCK.stamp()
        try:
            _copy(home, copy)
        except OSError as problem:
            if problem.errno in _NO_ROOM:
                raise _full(home) from None
            raise StorageError(
                f"{problem.filename or home} cannot be copied: {why_unreadable(problem)}.",
                "Give this user the right to read all of the home.",
            ) from None
        open_ledger(copy).entries()
        (copy / f"{_LEDGER}.lock").unlink()
        try:
            return taken, write_archive(config.name, copy, file, **{TAKEN: taken})
        except OSError as problem:
            raise StorageError(
                f"The archive {archive} cannot be written: {why_unreadable(problem)}.",
                "Free space on its disk, or name a file on another one.",
            ) from None


def _full(home: Path) -> StorageError:
    return StorageError(
        f"{home} cannot be copied: its disk is full.",
        "Free space there: a backup first copies the database of the jobs, the ledger and the logs in it.",
    )


def _copy(home: Path, copy: Path) -> None:
    if (home / JOBS).exists():
        _copy_database(home / JOBS, copy / JOBS)
    if (home / _RESULTS).is_dir():
        # A result never changes; a second name for it takes no room and outlives its deletion.
        shutil.copytree(home / _RESULTS, copy / _RESULTS, copy_function=_link, ignore=_unfinished_files)
    if (home / STAMPS).is_dir():  # a stamp taken meanwhile would be about more than the copies below have
        shutil.copytree(home / STAMPS, copy / STAMPS, ignore=_unfinished_files)
    with _lock(home / f"{_EXACT}.lock"), _lock(home / f"{_LEDGER}.lock"):
        for name in (heads.FILE, doubts.FILE, _LEDGER, _EXACT):
            if (home / name).exists():
                shutil.copyfile(home / name, copy / name)
        # Its lines say how many entries the ledger had, and it has each decision before the ledger does.
        if (home / AUDIT).is_dir():
            shutil.copytree(home / AUDIT, copy / AUDIT, copy_function=_whole_lines)
    for path in home.iterdir():
        if path.name in _LATER or path.name in _unfinished_files(str(home), [path.name]):
            continue
        if path.is_dir() and not path.is_symlink():
            shutil.copytree(path, copy / path.name, ignore=_unfinished_files, symlinks=True)
        else:
            shutil.copyfile(path, copy / path.name, follow_symlinks=False)


def _copy_database(source: Path, target: Path) -> None:
    os.close(os.open(target, os.O_RDWR | os.O_CREAT | os.O_EXCL, PRIVATE))
    try:
        with closing(sqlite3.connect(source)) as found, closing(sqlite3.connect(target)) as made:
            found.backup(made)
            made.execute("pragma journal_mode=delete")
            whole = made.execute("pragma quick_check").fetchone()[0]
    except sqlite3.Error as problem:
        whole = getattr(problem, "sqlite_errorname", type(problem).__name__)
        if whole == "SQLITE_FULL":
            raise _full(source.parent) from None
    if whole != "ok":
        raise StorageError(
            f"The jobs in {source} cannot be copied: {whole}.", "Look at it with `duetto doctor`."
        )


def _link(source: str, target: str) -> None:
    try:
        os.link(source, target, follow_symlinks=False)
    except FileNotFoundError:  # deleted meanwhile
        return
    except OSError:
        shutil.copyfile(source, target, follow_symlinks=False)


def _whole_lines(source: str, target: str) -> None:
    data = Path(source).read_bytes()
    end = data.rfind(b"\n") + 1 if source.endswith(".jsonl") else None
    Path(target).write_bytes(data[:end])


def _unfinished_files(folder: str, names: list[str]) -> set[str]:
    """Files that are being written and have no name yet."""
    del folder
    return {name for name in names if name.startswith(".") and name.endswith(".new")}


@contextmanager
def _lock(path: Path) -> Iterator[None]:
    with ExitStack() as stack:
        lock = os.open(path, os.O_RDWR | os.O_CREAT, PRIVATE)
        stack.callback(os.close, lock)
        fcntl.flock(lock, fcntl.LOCK_EX)
        yield

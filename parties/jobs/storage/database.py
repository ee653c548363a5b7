"""The database of the jobs: its schema, the way there from earlier releases, and its errors.

The tables hold what is small. A listing reads `jobs` alone, whose rows have a few hundred bytes; contract,
signatures, facts and certificate of a job are in `papers`; results are files, see
`parties.jobs.storage.results`.
"""

from __future__ import annotations

import os
import sqlite3
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager
from pathlib import Path
from typing import Final
from urllib.parse import quote

from parties.contracts.contract import outline
from parties.errors import StorageError
from parties.jobs.storage.results import ResultFolder

VERSION: Final = 3
"""The `user_version` of the schema below. Version 0 is one wide table, results included; version 1 calls the
hint of an error `error_mend`; with version 2 and before, results are files in clear."""

_SCHEMA: Final = (
    """create table jobs (
        number integer primary key,
        job_id text not null unique,
        state text not null,
        role text not null,
        peer text not null,
        dataset text not null,
        outgoing integer not null,
        analysis text not null,
        title text not null,
        format integer not null,
        digest text not null,
        created text not null,
        updated text not null,
        started text not null default '',
        kept integer not null default 0,
        deleted text not null default '',
        error_code text not null default '',
        error_what text not null default '',
        error_hint text not null default ''
    )""",
    "create index jobs_by_state on jobs (state)",
    """create table papers (
        job_id text primary key references jobs (job_id),
        contract blob not null,
        own_signature blob not null default x'',
        peer_signature blob not null default x'',
        facts text not null default '',
        certificate text not null default ''
    )""",
)

_RESTORE: Final = "Stop the daemon and restore it from a copy; the ledger is a file of its own."
_REASONS: Final = {
    "SQLITE_FULL": ("the disk is full", "Free space on it; the daemon goes on by itself."),
    "SQLITE_BUSY": ("another program holds it locked", "End the other program that has it open."),
    "SQLITE_LOCKED": ("another program holds it locked", "End the other program that has it open."),
    "SQLITE_READONLY": ("it may not be written", "Give this user the right to write it."),
    "SQLITE_CANTOPEN": ("it cannot be opened", "Check that this user may read and write it."),
    "SQLITE_CORRUPT": ("it is damaged", _RESTORE),
    "SQLITE_NOTADB": ("it is not a database", _RESTORE),
}
_OTHERWISE: Final = ("", "Check the disk and its free space.")


class Database:
    """One connection to the database of a party's jobs, made or brought up to date when it is opened.

    Not thread-safe by itself: the store holds a lock around each use.

    Args:
        path: the file, made with mode 0600.
        results: where results are kept; those in a database of version 0 move there.
        only_looks: whether it is only read, and not brought up to date: also where nobody may write.

    Raises:
        StorageError: it cannot be opened or brought up to date, or a newer release made it; where it is only
            read, also if an earlier one did.
    """

    def __init__(self, path: Path, results: ResultFolder, *, only_looks: bool = False) -> None:
        self._path = path
        if only_looks:
            self._connection = self._looked_at()
            self._opened = _file_of(path)
            return
        try:
            os.close(os.open(path, os.O_RDWR | os.O_CREAT, 0o600))
            path.chmod(0o600)
        except OSError as problem:
            raise StorageError(
                f"{path} cannot be opened: {problem.strerror}.", "Check that this user may read and write it."
            ) from None
        with self.translated():
            self._connection = sqlite3.connect(path, check_same_thread=False, isolation_level=None)
            self._connection.row_factory = sqlite3.Row
            for pragma in ("journal_mode=wal", "synchronous=full", "secure_delete=on"):
                self._connection.execute(f"pragma {pragma}")
            self._bring_up_to_date(results)
        self._opened = _file_of(path)

    @property
    def is_in_place(self) -> bool:
        """Whether its file is still the one that was opened: what is written to another is lost."""
        return _file_of(self._path) == self._opened

    def close(self) -> None:
        """Close the connection."""
        with self.translated():
            self._connection.close()

    def check_writing(self) -> None:
        """Check that the database can be written: another connection begins to, and takes that back.

        Raises:
            StorageError: this user may not write, or another program holds the database locked.
        """
        with self.translated(), closing(sqlite3.connect(self._path, isolation_level=None)) as other:
            other.execute("begin immediate")
            other.execute("rollback")

    def rows(self, query: str, values: tuple[object, ...] = ()) -> list[sqlite3.Row]:
        """All rows of a query.

        Raises:
            StorageError: the database cannot be read.
        """
        with self.translated():
            return self._connection.execute(query, values).fetchall()

    def execute(self, statement: str, values: tuple[object, ...] = ()) -> int:
        """Execute a statement; returns how many rows it changed. Raises as `rows` does.

        A broken constraint raises `sqlite3.IntegrityError`.
        """
        with self.translated():
            return self._connection.execute(statement, values).rowcount

    def checkpoint(self) -> None:
        """Take what is written into the database itself, so that nothing older stays in its log.

        Raises:
            StorageError: it cannot be written.
        """
        with self.translated():
            self._connection.execute("pragma wal_checkpoint(truncate)").fetchall()

    @contextmanager
    def transaction(self) -> Iterator[None]:
        """All that is executed within, or nothing of it.

        Raises:
            StorageError: it could not be written.
        """
        with self.translated():
            self._connection.execute("begin immediate")
            try:
                yield
                self._connection.execute("commit")
            except BaseException:
                if self._connection.in_transaction:
                    self._connection.execute("rollback")
                raise

    @contextmanager
    def translated(self) -> Iterator[None]:
        """Errors of SQLite as `StorageError`, with what to do."""
        try:
            yield
        except sqlite3.IntegrityError:
            raise
        except sqlite3.Error as problem:
            name = "_".join(getattr(problem, "sqlite_errorname", "").split("_")[:2])
            why, hint = _REASONS.get(name, _OTHERWISE)
            why = why or name or type(problem).__name__
            raise StorageError(f"The jobs in {self._path} cannot be read or written: {why}.", hint) from None

    def _looked_at(self) -> sqlite3.Connection:
        """A connection that writes nothing.

        SQLite needs a file beside the database of a running daemon, and makes it if it is not there. Where it
        may not, nothing changes either, and the database is read as it stands.
        """
        address = f"file:{quote(os.fsencode(self._path))}?mode=ro"
        with self.translated():
            try:
                return self._connected(address)
            except sqlite3.OperationalError as problem:
                if not _is_refused(problem):
                    raise
            return self._connected(f"{address}&immutable=1")

    def _connected(self, address: str) -> sqlite3.Connection:
        connection = sqlite3.connect(address, uri=True, check_same_thread=False, isolation_level=None)
        try:
            connection.row_factory = sqlite3.Row
            version = int(connection.execute("pragma user_version").fetchone()[0])
            connection.execute("select count(*) from sqlite_master").fetchone()
        except sqlite3.Error:
            connection.close()
            raise
        if version != VERSION:
            connection.close()
            raise StorageError(
                f"{self._path} was made by another release: version {version}; this one knows {VERSION}.",
                "Start the daemon, which brings it up to date if the release was an earlier one.",
            )
        return connection

    def _bring_up_to_date(self, results: ResultFolder) -> None:
        if self._version() == VERSION:
            return
        moved = False
        with self.transaction():  # another process may have been faster
            version = self._version()
            if version > VERSION:
                raise StorageError(
                    f"{self._path} was made by a newer release: version {version}; this one knows {VERSION}.",
                    "Install that release again.",
                )
            if version < VERSION:
                moved = _is_version_0(self._connection)
                _STEPS[version](self._connection, results)
                self._connection.execute(f"pragma user_version={VERSION}")
        if moved:
            self._connection.execute("vacuum")
            self.checkpoint()

    def _version(self) -> int:
        return int(self._connection.execute("pragma user_version").fetchone()[0])


def _file_of(path: Path) -> tuple[int, int] | None:
    """Which file is at a path: its device and its number there; None if there is none."""
    try:
        found = path.stat()
    except OSError:
        return None
    return (found.st_dev, found.st_ino)


def _is_refused(problem: sqlite3.OperationalError) -> bool:
    return str(getattr(problem, "sqlite_errorname", "")).startswith(("SQLITE_CANTOPEN", "SQLITE_READONLY"))


def _is_version_0(connection: sqlite3.Connection) -> bool:
    query = "select count(*) from sqlite_master where type = 'table' and name = 'jobs'"
    return bool(connection.execute(query).fetchone()[0])


def _from_version_0(connection: sqlite3.Connection, results: ResultFolder) -> None:
    """From one wide table, which new homes do not have, to the schema above; results become files.

    The files are written before the transaction ends: after a crash they are written once more.
    """
    old = _is_version_0(connection)
    if old:
        connection.execute("alter table jobs rename to jobs_0")
    for statement in _SCHEMA:
        connection.execute(statement)
    if not old:
        return
    present = {row["name"] for row in connection.execute("pragma table_info(jobs_0)")}
    certificate = "certificate" if "certificate" in present else "''"
    numbers = connection.execute("select rowid from jobs_0 order by created, rowid").fetchall()
    for (number,) in numbers:
        row = connection.execute("select * from jobs_0 where rowid = ?", (number,)).fetchone()
        found = outline(row["contract"])
        if row["outcome"]:
            results.write(row["job_id"], row["outcome"])
        connection.execute(
            "insert into jobs (job_id, state, role, peer, dataset, outgoing, "
            "analysis, title, format, digest, "
            "created, updated, started, kept, error_code, error_what, error_hint) "
            "select job_id, state, role, peer, dataset, outgoing, ?, ?, ?, ?, "
            "created, updated, started, outcome != '', error_code, error_what, error_mend "
            "from jobs_0 where rowid = ?",
            (found.analysis, found.title, found.format, found.digest, number),
        )
        connection.execute(
            "insert into papers (job_id, contract, own_signature, peer_signature, facts, certificate) "  # noqa: S608
            f"select job_id, contract, own_signature, peer_signature, facts, {certificate} "
            "from jobs_0 where rowid = ?",
            (number,),
        )
    connection.execute("drop table jobs_0")


def _from_version_1(connection: sqlite3.Connection, results: ResultFolder) -> None:
    connection.execute("alter table jobs rename column error_mend to error_hint")
    results.seal_all()


def _from_version_2(connection: sqlite3.Connection, results: ResultFolder) -> None:
    del connection
    results.seal_all()


_STEPS: Final[dict[int, Callable[[sqlite3.Connection, ResultFolder], None]]] = {
    0: _from_version_0,
    1: _from_version_1,
    2: _from_version_2,
}
"""How a database of each earlier version becomes one of the schema above."""

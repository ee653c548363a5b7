"""Queries of databases: sessions that cannot write, rows as they come, each failure with its own message."""

from __future__ import annotations

import importlib
import re
import sqlite3
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack, closing, contextmanager, suppress
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, Final

import numpy as np

from commons.errors import near
from parties.catalog.sources import mariadb, postgres
from parties.catalog.sources.batch import ROWS, Batch, Place, pick, positions
from parties.errors import ConfigError, DataError

DRIVERS: Final = ("sqlite3", "duckdb", "psycopg", "pymysql", "pyodbc", "oracledb")
"""DB-API modules that may be imported; each connects by one connection string."""

FILE_SCHEMES: Final = {"sqlite3": "sqlite", "duckdb": "duckdb"}
"""Drivers whose databases are files, and how addresses of these begin."""

SCHEMES: Final = {
    "sqlite": "sqlite3",
    "duckdb": "duckdb",
    "postgresql": "psycopg",
    "postgres": "psycopg",
    "mariadb": "pymysql",
    "mysql": "pymysql",
}
"""Drivers by how an address begins."""

EXTRAS: Final = {"psycopg": "postgres", "duckdb": "duckdb", "pymysql": "mariadb"}
"""The extras of duetto that install drivers."""

_LISTINGS: Final = {
    "sqlite3": "select name from sqlite_master where type in ('table', 'view') order by name",
    "pymysql": "select concat(table_schema, '.', table_name) from information_schema.tables "
    "where table_schema not in ('information_schema', 'mysql', 'performance_schema', 'sys') order by 1",
}
"""The queries of all tables and views, where they are not those of the standard."""

_CONNECT_SECONDS: Final = 10
_SELECTING: Final = (
    sqlite3.SQLITE_SELECT,
    sqlite3.SQLITE_READ,
    sqlite3.SQLITE_FUNCTION,
    sqlite3.SQLITE_RECURSIVE,
)
_DUCKDB: Final = {"enable_external_access": "false", "lock_configuration": "true", "temp_directory": ""}
"""No other files, extensions or addresses, and no query changes that."""
_WRITES_FILES: Final = re.compile(r"\b(outfile|dumpfile)\b", re.IGNORECASE)
"""Words with which a query of MariaDB writes a file on the server, which read-only sessions may."""
_STRINGS: Final = re.compile(r"'(?:[^']|'')*'|\"(?:[^\"]|\"\")*\"|--[^\n]*|/\*.*?\*/", re.DOTALL)
_TOO_SLOW: Final = (
    "stopped the query: it took longer than the server lets it, or somebody cancelled it",
    "Raise the server's limits of time for this user, or let the query read less; then submit the job again.",
)
_FAILURES: Final = (
    ("28", "does not accept the user or the password", "Correct the user and the password in url_file."),
    (
        "no entry",
        "does not let this user into the database, or has none of that name",
        "Correct the name at the end of the address, or ask for GRANT SELECT on the database for this user.",
    ),
    (
        "no table",
        "does not let this user read a table, or has none of that name",
        "Correct the name of the table, or ask for GRANT SELECT on it for this user.",
    ),
    ("3D", "has no database of that name", "Correct the name of the database at the end of the address."),
    ("42501", "does not let this user read a table", "Ask for GRANT SELECT on the table for this user."),
    ("42P01", "has no table of that name", "Correct the query in the catalog, with the schema if need be."),
    ("42703", "has no column of that name", "Correct the query in the catalog."),
    (
        "25006",
        "was asked for more than to select from it; sessions are read-only",
        "Let the query select only.",
    ),
    ("42", "does not understand the query", "Correct the query in the catalog."),
    ("22", "could not compute a cell of the query", "Correct the casts in the query, or the data."),
    ("53", "has no room for another session or more memory", "Try again later."),
    ("57014", *_TOO_SLOW),
    ("25P0", *_TOO_SLOW),
    ("57", "ended the session, and may be shutting down", "Check that it runs, and try again."),
    ("08006", "went away during the session", "Check that it runs, and try again."),
    ("08", "cannot be reached", "Check that it runs, and host and port of the address."),
)
"""What the classes of SQLSTATE, and two that MariaDB leaves open, mean to a steward, the narrowest first."""
_CONNECTING: Final = (
    ("28", r"authentication failed|no password supplied|role \".*\" does not exist|pg_hba"),
    ("3D", r"database \".*\" does not exist"),
    ("42501", r"permission denied for database"),
    ("53", r"too many (clients|connections)|remaining connection slots"),
    ("57", r"starting up|shutting down|recovery mode"),
    (
        "08",
        r"refused|could not translate|not known|no route|timeout|timed out|unreachable|no such file|closed",
    ),
)
"""The class of a failure to connect, by the words of libpq, which gives no SQLSTATE then."""


@dataclass(frozen=True, slots=True)
class Query:
    """What is asked of which database.

    Attributes:
        driver: one of `DRIVERS`.
        url: its connection string; the path of a file.
        query: one statement that selects.
        place: how errors call the data set.
    """

    driver: str
    url: str
    query: str
    place: str


def is_single(query: str) -> bool:
    """Whether a text is one SQL statement: no semicolon but at its end, texts and comments apart."""
    return ";" not in _STRINGS.sub(" ", query).strip().rstrip("; \n\t")


def read(asked: Query, columns: Sequence[str]) -> Iterator[Batch]:
    """The rows of a query.

    Raises:
        DataError: the database cannot be reached, refuses, or the query has no such column; says which.
        ConfigError: the driver is not allowed or not installed.
    """
    with cursor(asked) as opened:
        where = positions(asked.place, [entry[0] for entry in opened.description], columns)
        changed: dict[int, Callable[[Any], Any]] = {}
        if asked.driver == "pymysql":
            mariadb.check_exact(opened.description, where, asked.place)
            changed = dict.fromkeys(mariadb.truths(opened.description), mariadb.truth)
        elif asked.driver == "duckdb":
            changed = {at: _single for at, entry in enumerate(opened.description) if str(entry[1]) == "FLOAT"}
        first = 1
        while rows := opened.fetchmany(ROWS):
            cells = pick(rows, where)
            for place, at in enumerate(where):
                if at in changed:
                    cells[place] = list(map(changed[at], cells[place]))
            yield Batch(Place(first), len(rows), cells)
            first += len(rows)


def _single(cell: float | None) -> float | None:
    """A float of 32 bits as the double that its shortest text shows."""
    return None if cell is None else float(str(np.float32(cell)))


def tables_of(asked: Query) -> list[str]:
    """The tables and views that the user of a database sees, as a query would name them.

    Args:
        asked: its query does not matter.

    Raises:
        DataError: as `read`.
        ConfigError: as `read`.
    """
    listing = _LISTINGS.get(
        asked.driver,
        "select table_schema || '.' || table_name from information_schema.tables "
        "where table_schema not in ('pg_catalog', 'information_schema') order by 1",
    )
    with cursor(replace(asked, query=listing)) as opened:
        return [str(row[0]) for row in opened.fetchall()]


def query_of(table: str, driver: str) -> str:
    """The query of all rows of a table, whose name may have a schema before a point, for a driver."""
    mark = "`" if driver == "pymysql" else '"'
    parts = (mark + part.replace(mark, 2 * mark) + mark for part in table.split("."))
    return f"select * from {'.'.join(parts)}"  # noqa: S608 - names are quoted


@contextmanager
def cursor(asked: Query) -> Iterator[Any]:
    """A cursor that has executed the query, in a session that cannot write.

    Raises:
        DataError: as `read`.
        ConfigError: as `read`.
    """
    if not is_single(asked.query):
        raise ConfigError(
            f"The query of {asked.place} has more than one statement.",
            "Write one SELECT, without semicolons.",
        )
    if asked.driver == "pymysql" and _WRITES_FILES.search(asked.query):
        raise ConfigError(
            f"The query of {asked.place} writes a file on the server (outfile, dumpfile).",
            "Let it select only; give a column of such a name another one in a view.",
        )
    connect, failures = _driver(asked)
    with ExitStack() as stack:
        try:
            connection = stack.enter_context(closing(connect()))
        except failures as problem:
            raise _connecting(asked, problem) from None
        try:
            opened = _cursor(asked, connection)
            stack.callback(_close, asked, opened, failures)
            opened.execute(asked.query)
            if opened.description is None:
                raise DataError(f"The query of {asked.place} returns no rows.", "Write a SELECT statement.")
            yield opened
        except failures as problem:
            raise _failing(asked, problem, connection) from None


def _close(asked: Query, opened: Any, failures: type[Exception]) -> None:
    """Close a cursor, whose session may have ended."""
    with suppress(failures):
        if asked.driver == "pymysql":
            mariadb.close(opened, failures)
        else:
            opened.close()


def _cursor(asked: Query, connection: Any) -> Any:
    """Of PostgreSQL one on the server's side: it sends rows as they are asked for, of one statement."""
    if asked.driver != "psycopg":
        return connection.cursor()
    found = connection.cursor(name="duetto")
    found.itersize = ROWS
    return found


def _driver(asked: Query) -> tuple[Callable[[], Any], type[Exception]]:
    if asked.driver not in DRIVERS:
        raise ConfigError(
            f"{asked.place}: driver {asked.driver!r} is not allowed.", near(asked.driver, DRIVERS)
        )
    if asked.driver in FILE_SCHEMES and not Path(asked.url).is_file():
        there = Path(asked.url).exists()
        why = "is not a regular file" if there else "does not exist"
        raise DataError(f"{asked.place}: the database file {why}.", "Correct url in the catalog.")
    if asked.driver == "sqlite3":
        return lambda: _sqlite(Path(asked.url).resolve()), sqlite3.Error
    module = _module(asked)
    if asked.driver == "duckdb":
        return lambda: module.connect(asked.url, read_only=True, config=dict(_DUCKDB)), module.Error
    if asked.driver == "pymysql":
        return lambda: mariadb.connect(module, asked.url, asked.place, _CONNECT_SECONDS), module.Error
    if asked.driver == "pyodbc":
        return lambda: module.connect(asked.url, readonly=True, timeout=_CONNECT_SECONDS), module.Error
    if asked.driver == "oracledb":
        return lambda: _oracle(module, asked.url), module.Error
    return lambda: postgres.connect(module, asked.url, _CONNECT_SECONDS), module.Error


def _module(asked: Query) -> Any:
    try:
        return importlib.import_module(asked.driver)
    except ModuleNotFoundError as problem:
        missing = problem.name == asked.driver
    except ImportError:
        missing = False
    if missing:
        package = f"'duetto[{EXTRAS[asked.driver]}]'" if asked.driver in EXTRAS else asked.driver
        raise ConfigError(
            f"{asked.place} needs {asked.driver}, which is not installed.", f"Run pip install {package}."
        )
    library = (
        "libpq: run pip install 'duetto[postgres]'"
        if asked.driver == "psycopg"
        else "a library of the vendor"
    )
    raise ConfigError(
        f"{asked.place} needs {asked.driver}, which is installed and cannot be loaded.",
        f"It lacks {library}.",
    )


def _sqlite(path: Path) -> sqlite3.Connection:
    """A session that reads this one database and does nothing else, whatever the query says."""
    connection = sqlite3.connect(f"{path.as_uri()}?mode=ro", uri=True)
    connection.setlimit(sqlite3.SQLITE_LIMIT_ATTACHED, 0)
    connection.execute("pragma temp_store = memory")
    connection.set_authorizer(_allowed)
    return connection


def _allowed(action: int, first: str | None, second: str | None, *_: str | None) -> int:
    """Whether SQLite may do something for a query: it selects, and indexes look at their own state."""
    if action == sqlite3.SQLITE_PRAGMA and first == "data_version" and second is None:
        return sqlite3.SQLITE_OK  # of full-text indexes
    if action == sqlite3.SQLITE_UPDATE and first == "sqlite_master":
        return sqlite3.SQLITE_OK  # what virtual tables declare of themselves; nothing is written there
    if action == sqlite3.SQLITE_FUNCTION and second == "load_extension":
        return sqlite3.SQLITE_DENY
    return sqlite3.SQLITE_OK if action in _SELECTING else sqlite3.SQLITE_DENY


def _oracle(module: Any, url: str) -> Any:
    connection = module.connect(url)
    with closing(connection.cursor()) as first:
        first.execute("SET TRANSACTION READ ONLY")
    return connection


def _connecting(asked: Query, problem: Exception) -> DataError:
    what, hint = "cannot be opened", "Check address, user and rights."
    if asked.driver == "pymysql":
        found, code = mariadb.class_of(problem)
        return _explained(asked, found, code, what, hint)
    state = getattr(problem, "sqlstate", None)
    if not state:
        words = str(problem)
        state = next((one for one, form in _CONNECTING if re.search(form, words, re.IGNORECASE)), "")
    return _explained(asked, state, _code(problem, state), what, hint)


def _failing(asked: Query, problem: Exception, connection: Any) -> DataError:
    state = postgres.class_of(connection, problem) if asked.driver == "psycopg" else ""
    code = _code(problem, state)
    if asked.driver == "pymysql":
        state, code = mariadb.class_of(problem)
    elif not state:
        words = str(problem).lower()
        tables = r"no such table|table with name .* does not exist"
        found = [
            ("42P01", tables),
            ("42703", "no such column|binder error.*not found"),
            (
                "25006",
                "not authorized|too many attached|read-only|permission error",
            ),
            ("42", "syntax|parser error"),
        ]
        state = next((one for one, form in found if re.search(form, words)), "")
    return _explained(
        asked,
        state,
        code,
        "refused the query",
        "Check the query and the rights of the user; `duetto data check` repeats this.",
    )


def _code(problem: Exception, state: str) -> str:
    return f"SQLSTATE {state}" if len(state) == 5 else type(problem).__name__


def _explained(asked: Query, state: str, code: str, what: str, hint: str) -> DataError:
    """The error of a state; the database's own words may hold cells, and are left out."""
    for start, meaning, advice in _FAILURES:
        if state.startswith(start):
            said = f" ({code})" if " " in code else ""
            return DataError(f"The database of {asked.place} {meaning}{said}.", advice)
    return DataError(f"The database of {asked.place} {what}: {code}.", hint)

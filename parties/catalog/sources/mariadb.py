"""MariaDB and MySQL: sessions that cannot write, truth values, and what their numbers of errors mean."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from typing import Any, Final
from urllib.parse import parse_qsl, unquote, urlsplit

from commons.errors import near
from parties.errors import ConfigError, DataError

_OPTIONS: Final = ("ssl_ca", "ssl_cert", "ssl_key", "unix_socket")
_TINY: Final = 1
_BIT: Final = 16
_FLOAT: Final = 4
_ANY_SCALE: Final = 31
"""The scale of columns that hold numbers of any."""
_ERRORS: Final = (
    ("28", (1045, 1698, 1820, 1862, 4151)),
    ("no entry", (1044,)),
    ("3D", (1049,)),
    ("no table", (1142,)),
    ("42501", (1143, 1227, 1370)),
    ("42P01", (1146,)),
    ("42703", (1054,)),
    ("25006", (1290, 1792)),
    ("53", (1037, 1040, 1041, 1203, 1226)),
    ("57014", (1317, 1969, 3024)),
    ("57", (1053, 1927)),
    ("08006", (2006, 2013)),
    ("08", (1129, 1130, 2002, 2003, 2005)),
    ("42", (1064, 1305, 1630)),
)
"""The classes of failures of `parties.catalog.sources.databases`, by the numbers of errors."""


def connect(module: Any, url: str, place: str, seconds: int) -> Any:
    """A session that sends rows as they are asked for, and whose transactions are all read-only.

    Args:
        module: PyMySQL.
        url: mariadb://USER:PASSWORD@HOST:PORT/DATABASE?ssl_ca=FILE.
        place: how errors call the data set.
        seconds: to wait for the server.

    Raises:
        ConfigError: the address lacks a host or a database, or has an option that is not known.
    """
    try:
        found = urlsplit(url)
        host, port, options = found.hostname, found.port or 3306, dict(parse_qsl(found.query))
    except ValueError:
        host, port, options = None, 0, {}
    database = found.path.removeprefix("/") if host else ""
    if not host or not re.fullmatch(r"[^/]+", database):
        raise ConfigError(
            f"{place}: the address of the database lacks a host or the name of a database.",
            "Write mariadb://USER:PASSWORD@HOST/DATABASE into url_file.",
        )
    for key in options:
        if key not in _OPTIONS:
            raise ConfigError(
                f"{place}: the address of the database has an unknown option {key!r}.", near(key, _OPTIONS)
            )
    verified = {"ssl_verify_cert": True, "ssl_verify_identity": True} if "ssl_ca" in options else {}
    return module.connect(
        host=host,
        port=port,
        user=unquote(found.username or ""),
        password=unquote(found.password or ""),
        database=unquote(database),
        charset="utf8mb4",
        connect_timeout=seconds,
        cursorclass=module.cursors.SSCursor,
        init_command="SET SESSION TRANSACTION READ ONLY",
        **verified,
        **options,
    )


def close(opened: Any, failures: type[Exception]) -> None:
    """Close a cursor, whose session may have ended.

    Args:
        opened: the cursor. If it has rows left, the server sends them all before it can be closed.
        failures: those of PyMySQL.
    """
    try:
        opened.close()
    except (AttributeError, failures):
        # PyMySQL reads the rows that are left from a socket that is gone, and would do so once more when
        # the objects are deleted.
        opened._result.unbuffered_active = False
        opened.close()


def class_of(problem: Exception) -> tuple[str, str]:
    """The class of a failure, empty if it is none of those known, and the words that name it."""
    number = problem.args[0] if problem.args and isinstance(problem.args[0], int) else 0
    found = next((one for one, numbers in _ERRORS if number in numbers), "")
    return found, f"error {number}" if number else type(problem).__name__


def check_exact(description: Sequence[Sequence[Any]], where: Iterable[int], place: str) -> None:
    """Refuse columns of the type FLOAT, of whose numbers the server sends no more than six digits.

    Args:
        description: of all columns of a query.
        where: the places of those that are read.
        place: how errors call the data set.

    Raises:
        DataError: one is of that type, without digits after the point that the type fixes.
    """
    for at in where:
        if description[at][1] == _FLOAT and description[at][5] == _ANY_SCALE:
            name = str(description[at][0])
            quoted = "`" + name.replace("`", "``") + "`"
            raise DataError(
                f"{place}: MariaDB sends column {name!r} rounded to six digits, as its type is FLOAT.",
                f"Write cast({quoted} as decimal(12, 2)) as {quoted} into the query, with the digits that "
                "are meant, or as double for all that are stored.",
            )


def truths(description: Iterable[Sequence[Any]]) -> frozenset[int]:
    """The places of the columns that hold truth values: BOOLEAN, which is TINYINT(1), and BIT(1)."""
    return frozenset(
        place for place, entry in enumerate(description) if entry[1] in (_TINY, _BIT) and entry[3] == 1
    )


def truth(cell: Any) -> Any:
    """A cell of such a column: a truth value; other numbers than 0 and 1 stay as they are."""
    if isinstance(cell, bytes):
        cell = int.from_bytes(cell, "big")
    return bool(cell) if isinstance(cell, int) and cell in (0, 1) else cell

"""A MariaDB server of a test run: in a folder of its own, on a port of its own, ended by its pid."""

from __future__ import annotations

import os
import shutil
from collections.abc import Iterator
from contextlib import closing, contextmanager
from dataclasses import dataclass
from pathlib import Path

import pytest

from scripts.processes import free_port
from tests.parties.databases.processes import PASSWORD, own_folder, serving, set_up


@dataclass(frozen=True)
class MariaServer:
    """A running server; `boss` may do all, `clerk` reads and writes all tables, `reader` what is granted.

    Attributes:
        port: on 127.0.0.1.
        folder: of its data.
    """

    port: int
    folder: Path

    def url(self, *, user: str = "reader", password: str = PASSWORD, database: str = "hospital") -> str:
        """An address with a password."""
        return f"mariadb://{user}:{password}@127.0.0.1:{self.port}/{database}"

    def run(self, *statements: str) -> tuple[tuple[object, ...], ...]:
        """Execute statements as `boss`; the rows of the last one."""
        import pymysql

        with closing(
            pymysql.connect(
                host="127.0.0.1",
                port=self.port,
                user="boss",
                password=PASSWORD,
                database="hospital",
                autocommit=True,
            )
        ) as connection, connection.cursor() as cursor:  # fmt: skip
            for statement in statements:
                cursor.execute(statement)
            return tuple(cursor.fetchall())


def program() -> str | None:
    """The server's program, which is not on every user's PATH."""
    return shutil.which("mariadbd", path=f"{os.environ.get('PATH', '')}:/usr/sbin:/usr/local/sbin")


@contextmanager
def running() -> Iterator[MariaServer]:
    """A server, as long as it is needed."""
    server, maker = program(), shutil.which("mariadb-install-db")
    if server is None or maker is None:
        pytest.skip("MariaDB's programs are not installed (Debian's package mariadb-server)")
    pymysql = pytest.importorskip("pymysql", reason="pymysql is not installed")
    with own_folder("MariaDB", "mysql") as (folder, as_user):
        made = [maker, "--no-defaults", f"--datadir={folder / 'data'}", "--skip-test-db"]
        quick = ["--auth-root-authentication-method=normal", "--innodb-flush-log-at-trx-commit=0"]
        set_up([*made, *quick], folder, as_user)
        first = folder / "first.sql"
        first.write_text(
            "create database hospital character set utf8mb4;\n"
            f"create user boss identified by '{PASSWORD}';\n"
            "grant all on *.* to boss with grant option;\n"
            f"create user reader identified by '{PASSWORD}';\n"
            f"create user clerk identified by '{PASSWORD}';\n"
            "grant select, insert, delete on hospital.* to clerk;\n"
        )
        first.chmod(0o644)
        found = MariaServer(free_port(), folder)
        settings = {
            "datadir": folder / "data",
            "socket": folder / "socket",
            "pid-file": folder / "pid",
            "port": found.port,
            "bind-address": "127.0.0.1",
            "init-file": first,
            "innodb-flush-log-at-trx-commit": 0,
            "innodb-buffer-pool-size": "32M",
        }
        command = [server, "--no-defaults", *(f"--{key}={value}" for key, value in settings.items())]

        def ask() -> None:
            found.run("select 1")

        with serving("MariaDB", command, folder, as_user, ask, pymysql.OperationalError):
            yield found

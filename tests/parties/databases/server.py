"""A PostgreSQL server of a test run: in a folder of its own, on a port of its own, ended by its pid."""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

import pytest

from scripts.processes import free_port
from tests.parties.databases.processes import PASSWORD, own_folder, serving, set_up


@dataclass(frozen=True)
class Server:
    """A running server; `boss` may do all, `reader` may select from what is granted.

    Attributes:
        port: on 127.0.0.1.
        folder: of its data.
    """

    port: int
    folder: Path

    def url(self, *, user: str = "reader", password: str = PASSWORD, database: str = "hospital") -> str:
        """An address with a password."""
        return f"postgresql://{user}:{password}@127.0.0.1:{self.port}/{database}"

    def run(self, *statements: str, database: str = "hospital") -> None:
        """Execute statements as `boss`, each committed."""
        import psycopg

        with psycopg.connect(self.url(user="boss", database=database), autocommit=True) as connection:
            for statement in statements:
                connection.execute(statement)


def programs() -> Path | None:
    """The folder with initdb and postgres, where the machine has one."""
    found = shutil.which("initdb")
    folders = [Path(found).parent] if found else sorted(Path("/usr/lib/postgresql").glob("*/bin"))
    return next((folder for folder in reversed(folders) if (folder / "initdb").exists()), None)


@contextmanager
def running() -> Iterator[Server]:
    """A server, as long as it is needed."""
    where = programs()
    if where is None:
        pytest.skip("PostgreSQL's programs are not installed (Debian's package postgresql)")
    psycopg = pytest.importorskip("psycopg", reason="psycopg is not installed")
    with own_folder("PostgreSQL", "postgres") as (folder, as_user):
        secret, data = folder / "password", folder / "data"
        secret.write_text(PASSWORD)
        secret.chmod(0o644)
        made = [where / "initdb", "-D", data, "-U", "boss", "--auth=scram-sha-256", f"--pwfile={secret}"]
        set_up([*made, "-E", "UTF8", "--locale=C", "--no-sync"], folder, as_user)
        server = Server(free_port(), folder)
        settings = {"listen_addresses": "127.0.0.1", "unix_socket_directories": "", "fsync": "off"}
        words = [word for key, value in settings.items() for word in ("-c", f"{key}={value}")]
        command = [where / "postgres", "-D", data, "-p", str(server.port), *words]

        def ask() -> None:
            psycopg.connect(server.url(user="boss", database="postgres"), connect_timeout=2).close()

        with serving("PostgreSQL", command, folder, as_user, ask, psycopg.OperationalError):
            server.run(f"create role reader login password '{PASSWORD}'", database="postgres")
            server.run("create database hospital", database="postgres")
            yield server

"""A PostgreSQL server of a test run: in a folder of its own, on a port of its own, ended by its pid."""

from __future__ import annotations

import os
import pwd
import shutil
import socket
import subprocess
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

import pytest

PASSWORD = "correct-horse"
_SECONDS = 30


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
    """A server, as long as it is needed; PostgreSQL refuses to run as root, so another user runs it then."""
    where = programs()
    if where is None:
        pytest.skip("PostgreSQL's programs are not installed (Debian's package postgresql)")
    pytest.importorskip("psycopg", reason="psycopg is not installed")
    as_user = {}
    folder = Path(tempfile.mkdtemp(prefix="duetto-pg-"))
    if os.geteuid() == 0:
        user = next((u for u in pwd.getpwall() if u.pw_name in ("postgres", "nobody")), None)
        if user is None:
            pytest.skip("PostgreSQL does not run as root, and there is no user nobody")
        os.chown(folder, user.pw_uid, user.pw_gid)
        as_user = {"user": user.pw_uid, "group": user.pw_gid, "extra_groups": []}
    secret = folder / "password"
    secret.write_text(PASSWORD)
    secret.chmod(0o644)
    made = [
        where / "initdb",
        "-D",
        folder / "data",
        "-U",
        "boss",
        "--auth=scram-sha-256",
        f"--pwfile={secret}",
    ]
    quick = ["-E", "UTF8", "--locale=C", "--no-sync"]
    subprocess.run(
        [*made, *quick], check=True, capture_output=True, cwd=folder, timeout=_SECONDS * 2, **as_user
    )
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    settings = {"listen_addresses": "127.0.0.1", "unix_socket_directories": "", "fsync": "off"}
    words = [word for key, value in settings.items() for word in ("-c", f"{key}={value}")]
    with (folder / "log").open("wb") as log:
        process = subprocess.Popen(
            [where / "postgres", "-D", folder / "data", "-p", str(port), *words],
            stdout=log,
            stderr=log,
            cwd=folder,
            **as_user,
        )
    try:
        server = Server(port, folder)
        _wait(server, process)
        server.run(f"create role reader login password '{PASSWORD}'", database="postgres")
        server.run("create database hospital", database="postgres")
        yield server
    finally:
        process.terminate()
        try:
            process.wait(_SECONDS)
        except subprocess.TimeoutExpired:
            process.kill()
            process.wait()
        shutil.rmtree(folder, ignore_errors=True)


def _wait(server: Server, process: subprocess.Popen[bytes]) -> None:
    import psycopg

    end = time.monotonic() + _SECONDS
    while True:
        try:
            psycopg.connect(server.url(user="boss", database="postgres"), connect_timeout=2).close()
            return
        except psycopg.OperationalError:
            if process.poll() is not None or time.monotonic() > end:
                pytest.fail(f"PostgreSQL did not start: {(server.folder / 'log').read_text()[-400:]}")
            time.sleep(0.1)

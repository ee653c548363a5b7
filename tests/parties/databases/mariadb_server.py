"""A MariaDB server of a test run: in a folder of its own, on a port of its own, ended by its pid."""

from __future__ import annotations

import os
import pwd
import shutil
import socket
import subprocess
import tempfile
import time
from collections.abc import Iterator
from contextlib import closing, contextmanager
from dataclasses import dataclass
from pathlib import Path

import pytest

PASSWORD = "correct-horse"
_SECONDS = 60


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
    """A server, as long as it is needed; MariaDB refuses to run as root, so another user runs it then."""
    server, maker = program(), shutil.which("mariadb-install-db")
    if server is None or maker is None:
        pytest.skip("MariaDB's programs are not installed (Debian's package mariadb-server)")
    pytest.importorskip("pymysql", reason="pymysql is not installed")
    as_user = {}
    folder = Path(tempfile.mkdtemp(prefix="duetto-maria-"))
    if os.geteuid() == 0:
        user = next((u for u in pwd.getpwall() if u.pw_name in ("mysql", "nobody")), None)
        if user is None:
            pytest.skip("MariaDB does not run as root, and there is no user nobody")
        os.chown(folder, user.pw_uid, user.pw_gid)
        as_user = {"user": user.pw_uid, "group": user.pw_gid, "extra_groups": []}
    made = [maker, "--no-defaults", f"--datadir={folder / 'data'}", "--skip-test-db"]
    quick = ["--auth-root-authentication-method=normal", "--innodb-flush-log-at-trx-commit=0"]
    subprocess.run(
        [*made, *quick], check=True, capture_output=True, cwd=folder, timeout=2 * _SECONDS, **as_user
    )
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
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    settings = {
        "datadir": folder / "data",
        "socket": folder / "socket",
        "pid-file": folder / "pid",
        "port": port,
        "bind-address": "127.0.0.1",
        "init-file": first,
        "innodb-flush-log-at-trx-commit": 0,
        "innodb-buffer-pool-size": "32M",
    }
    with (folder / "log").open("wb") as log:
        process = subprocess.Popen(
            [server, "--no-defaults", *(f"--{key}={value}" for key, value in settings.items())],
            stdout=log,
            stderr=log,
            cwd=folder,
            **as_user,
        )
    try:
        found = MariaServer(port, folder)
        _wait(found, process)
        yield found
    finally:
        process.terminate()
        try:
            process.wait(_SECONDS)
        except subprocess.TimeoutExpired:
            process.kill()
            process.wait()
        shutil.rmtree(folder, ignore_errors=True)


def _wait(server: MariaServer, process: subprocess.Popen[bytes]) -> None:
    import pymysql

    end = time.monotonic() + _SECONDS
    while True:
        try:
            server.run("select 1")
            return
        except pymysql.OperationalError:
            if process.poll() is not None or time.monotonic() > end:
                pytest.fail(f"MariaDB did not start: {(server.folder / 'log').read_text()[-400:]}")
            time.sleep(0.1)

"""Servers that go away, or stop a query, while its rows are added up; and what memory large tables take.

Servers that are killed here are those of a test alone.
"""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
import tomli_w

from parties.catalog.declarations.declaration import DatasetDeclaration, load_catalog
from parties.catalog.loading.loaded import Loaded
from parties.catalog.loading.loading import load_pieces
from parties.errors import DataError
from tests.parties.databases import mariadb_server, server

COLUMNS = {"x": {"type": "integer", "lower": 0, "upper": 10**9}}
MANY = {
    "postgres": "select x, 'some text to fill buffers' as y from generate_series(1, 2000000) x",
    "mariadb": "select seq as x, 'some text to fill buffers' as y from seq_1_to_2000000",
}
SLOW = {
    "postgres": "select x, pg_sleep(case when x > 80000 then 100 else 0 end)::text as y "
    "from generate_series(1, 2000000) x",
    "mariadb": "select seq as x, sleep(if(seq > 80000, 100, 0)) as y from seq_1_to_2000000",
}


def declared(folder: Path, url: str, query: str, columns: dict = COLUMNS) -> DatasetDeclaration:
    secret = folder / "db.url"
    secret.write_text(url)
    secret.chmod(0o600)
    entry = {"kind": "sql", "url_file": "db.url", "query": query, "columns": columns}
    (folder / "catalog.toml").write_text(tomli_w.dumps({"datasets": {"d": entry}}))
    return load_catalog(folder / "catalog.toml").dataset("d")


def broken(pieces: Iterator[Loaded]) -> DataError:
    """How the remaining rows are refused."""
    with pytest.raises(DataError) as caught:
        for _ in pieces:
            pass
    assert "correct-horse" not in str(caught.value)
    return caught.value


def postgres_process(found: server.Server) -> int:
    """The process of the reader's session."""
    import psycopg

    with psycopg.connect(found.url(user="boss")) as boss:
        asked = "select pid from pg_stat_activity where usename = 'reader'"
        ((number,),) = boss.execute(asked).fetchall()
    return number


@contextmanager
def first_piece(folder: Path, url: str, query: str) -> Iterator[Iterator[Loaded]]:
    """All pieces of a query but the first, which has been read."""
    pieces = load_pieces(declared(folder, url, query), ["x"])
    assert next(pieces).rows > 0
    yield pieces


def test_a_postgres_that_is_killed_among_the_rows_has_gone_away(tmp_path):
    with server.running() as found, first_piece(tmp_path, found.url(), MANY["postgres"]) as pieces:
        os.kill(postgres_process(found), signal.SIGKILL)
        problem = broken(pieces)
    assert "went away during the session (SQLSTATE 08006)" in str(problem)
    assert problem.hint == "Check that it runs, and try again."


def test_a_postgres_that_shuts_down_among_the_rows_says_so(tmp_path):
    with server.running() as found, first_piece(tmp_path, found.url(), MANY["postgres"]) as pieces:
        postmaster = int((found.folder / "data" / "postmaster.pid").read_text().split()[0])
        os.kill(postmaster, signal.SIGINT)
        problem = broken(pieces)
    assert "ended the session, and may be shutting down (SQLSTATE 57P01)" in str(problem)
    assert problem.hint == "Check that it runs, and try again."


def test_a_mariadb_that_is_killed_among_the_rows_has_gone_away(tmp_path):
    with (
        mariadb_server.running() as found,
        first_piece(tmp_path, found.url(user="clerk"), MANY["mariadb"]) as pieces,
    ):
        os.kill(int((found.folder / "pid").read_text()), signal.SIGKILL)
        problem = broken(pieces)
    assert "went away during the session (error 2013)" in str(problem)
    assert problem.hint == "Check that it runs, and try again."


@pytest.mark.parametrize(
    ("setting", "query", "state"),
    [
        ("statement_timeout = '5s'", "postgres", "57014"),
        ("idle_in_transaction_session_timeout = '2s'", "idle", "25P03"),
    ],
)
def test_a_postgres_that_stops_a_query_names_its_limit_of_time(server, tmp_path, setting, query, state):
    import psycopg

    server.run(f"alter role reader set {setting}")
    try:
        with first_piece(tmp_path, server.url(), SLOW.get(query, MANY["postgres"])) as pieces:
            if query == "idle":
                with psycopg.connect(server.url(user="boss"), autocommit=True) as boss:
                    asked = "select count(*) from pg_stat_activity where usename = 'reader'"
                    while boss.execute(asked).fetchone() != (0,):
                        boss.execute("select pg_sleep(0.05)")
            problem = broken(pieces)
    finally:
        server.run("alter role reader reset all")
    assert f"took longer than the server lets it, or somebody cancelled it (SQLSTATE {state})" in str(problem)
    assert "limits of time" in problem.hint


def test_a_mariadb_that_stops_a_query_names_its_limit_of_time(maria, tmp_path):
    maria.run("alter user clerk with max_statement_time 5")
    try:
        with first_piece(tmp_path, maria.url(user="clerk"), SLOW["mariadb"]) as pieces:
            problem = broken(pieces)
    finally:
        maria.run("alter user clerk with max_statement_time 0")
    assert "took longer than the server lets it, or somebody cancelled it (error 1969)" in str(problem)
    assert "limits of time" in problem.hint


MEASURE = """
import sys
from pathlib import Path
from parties.catalog.declarations.declaration import load_catalog
from parties.catalog.loading.loading import load_pieces
from parties.contracts.spec import Side
from parties.jobs.checks.local_data import added_up, can_add_up
from smc.analyses.registry import ANALYSES

dataset = load_catalog(Path(sys.argv[1])).dataset("d")
side = Side("north", "d", {"x": "x", "g": "g"})
queries = [
    {"kind": "sum", "name": "s", "column": "x", "lower": "0", "upper": "50", "by": ["g"]},
    {"kind": "histogram", "name": "h", "column": "x", "edges": ["0", "30", "60"]},
]
job = ANALYSES["statistics"].parse({"epsilon": "1", "queries": queries})
assert can_add_up(job, dataset, side)
totals = added_up(job, dataset, side, (), load_pieces).columns
assert totals.refusal is None, totals.refusal
peak = next(line for line in Path("/proc/self/status").read_text().splitlines() if line.startswith("VmHWM"))
print(totals.rows, int(peak.split()[1]))
"""
GROUPED = {
    "x": {"type": "decimal", "scale": 1, "lower": 0, "upper": 1000},
    "g": {"type": "category", "values": ["a", "b", "c"]},
}
TABLES = {
    "server": "create table {name} as select (i % 1000)::numeric(6, 1) as x, "
    "substr('abc', 1 + i % 3, 1)::char(4) as g from generate_series(1, {rows}) i",
    "maria": "create table {name} as select cast(seq % 1000 as decimal(6, 1)) as x, "
    "cast(substr('abc', 1 + seq % 3, 1) as char(4)) as g from seq_1_to_{rows}",
}


@pytest.mark.slow
@pytest.mark.parametrize("which", ["server", "maria"])
def test_a_million_rows_are_added_up_in_the_memory_of_a_tenth(request, tmp_path, which):
    if not Path("/proc/self/status").exists():
        pytest.skip("this machine does not say the peak of a process")
    found = request.getfixturevalue(which)
    peaks = []
    for rows in (100_000, 1_000_000):
        name = f"rows_{rows}"
        found.run(
            f"drop table if exists {name}",
            TABLES[which].format(name=name, rows=rows),
            f"grant select on {name} to reader",
        )
        declared(tmp_path, found.url(), f"select * from {name}", GROUPED)
        words = [sys.executable, "-c", MEASURE, str(tmp_path / "catalog.toml")]
        done = subprocess.run(words, capture_output=True, text=True, timeout=170, check=True)
        counted, kibibytes = map(int, done.stdout.split())
        assert counted == rows
        peaks.append(kibibytes)
    assert peaks[1] - peaks[0] < 8 * 1024

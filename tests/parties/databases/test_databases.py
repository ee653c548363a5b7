"""Databases as sources: SQLite, DuckDB and real servers of PostgreSQL and MariaDB, by the same cases."""

from __future__ import annotations

import sqlite3
import sys
from collections.abc import Callable
from contextlib import closing
from dataclasses import dataclass, replace
from pathlib import Path

import pytest
import tomli_w

from parties.catalog.declarations.declaration import DatasetDeclaration, load_catalog
from parties.catalog.drafting.drafting import draft
from parties.catalog.loading.loading import load
from parties.catalog.sources import databases
from parties.catalog.sources.databases import Query, is_single, query_of, read, tables_of
from parties.catalog.sources.postgres import connect
from parties.errors import ConfigError, DataError
from tests.parties.databases.streaming import rows_and_megabytes

CREATE = (
    "create table visits "
    "(id integer, age integer, mass numeric(6, 2), seen timestamp, smoker boolean, note text)"
)
INSERT = (
    "insert into visits values (1, 40, 70.50, '2020-01-01 00:00:00', true, 'A'), "
    "(2, null, 80.25, '2020-01-02 00:00:00', false, null), (3, 50, 90, '2020-01-03 00:00:00', true, 'C')"
)
COLUMNS = {
    "age": {"type": "integer", "lower": 0, "upper": 120, "missing": "drop"},
    "mass": {"type": "decimal", "scale": 2, "lower": 0, "upper": 300},
    "seen": {"type": "date", "lower": "2000-01-01", "upper": "2030-12-31"},
    "smoker": {"type": "category", "values": ["False", "True"]},
}


@dataclass(frozen=True)
class Database:
    """A database with the table `visits`.

    Attributes:
        entries: of a catalog, that say where it is.
        day: how it writes the day of `seen` in a query.
        truth: how it writes the truth value of `smoker`.
        count: the rows that the table has now.
        empty: the statement that would delete them.
    """

    entries: dict[str, str]
    day: str
    truth: str
    count: Callable[[], int]


def sqlite(folder: Path) -> Database:
    path = folder / "d.db"

    def run(statement):
        with closing(sqlite3.connect(path)) as made, made:
            return made.execute(statement).fetchall()

    run(CREATE)
    run(INSERT)
    truth = "case smoker when 1 then 'True' else 'False' end as smoker"
    return Database(
        {"url": "sqlite:///d.db"},
        "date(seen) as seen",
        truth,
        lambda: run("select count(*) from visits")[0][0],
    )


def duckdb(folder: Path) -> Database:
    module = pytest.importorskip("duckdb", reason="duckdb is not installed")
    path = folder / "d.duckdb"

    def run(statement):
        with closing(module.connect(str(path))) as made:
            return made.execute(statement).fetchall()

    run(CREATE)
    run(INSERT)
    return Database(
        {"url": "duckdb:///d.duckdb"}, "seen", "smoker", lambda: run("select count(*) from visits")[0][0]
    )


def postgres(folder: Path, server) -> Database:
    import psycopg

    server.run("drop table if exists visits", CREATE, INSERT, "grant select, delete on visits to reader")
    secret = folder / "db.url"
    secret.write_text(server.url())
    secret.chmod(0o600)

    def count():
        with psycopg.connect(server.url()) as opened:
            return opened.execute("select count(*) from visits").fetchone()[0]

    return Database({"url_file": "db.url"}, "seen", "smoker", count)


def mariadb(folder: Path, server) -> Database:
    server.run("drop table if exists visits", CREATE, INSERT)
    secret = folder / "db.url"
    secret.write_text(server.url(user="clerk"))
    secret.chmod(0o600)
    return Database(
        {"url_file": "db.url"}, "seen", "smoker", lambda: server.run("select count(*) from visits")[0][0]
    )


@pytest.fixture(params=["sqlite", "duckdb", "postgres", "mariadb"])
def database(request, tmp_path):
    if request.param == "postgres":
        return postgres(tmp_path, request.getfixturevalue("server"))
    if request.param == "mariadb":
        return mariadb(tmp_path, request.getfixturevalue("maria"))
    return {"sqlite": sqlite, "duckdb": duckdb}[request.param](tmp_path)


def declared(folder: Path, database: Database, query: str, columns=COLUMNS) -> DatasetDeclaration:
    entry = {"kind": "sql", "query": query, "columns": columns, **database.entries}
    (folder / "catalog.toml").write_text(tomli_w.dumps({"datasets": {"v": entry}}))
    return load_catalog(folder / "catalog.toml").dataset("v")


def test_all_kinds_of_cells_are_read(tmp_path, database):
    query = f"select id, age, mass, {database.day}, {database.truth} from visits order by id"
    read = load(declared(tmp_path, database, query), COLUMNS)
    assert (read.rows, read.left_out) == (2, 1)
    assert {name: [*column.integers] for name, column in read.columns.items()} == {
        "age": [40, 50],
        "mass": [7050, 9000],
        "seen": [18262, 18264],
        "smoker": [1, 1],
    }


@pytest.mark.parametrize(
    "query",
    [
        "select age from visits; commit; delete from visits",
        "select age from visits; commit; delete from visits; commit; select 1 as age",
        "delete from visits returning age",
        "commit",
        "delete from visits",
    ],
)
def test_no_query_writes(tmp_path, database, query, monkeypatch):
    if not is_single(query):
        with pytest.raises(ConfigError, match="more than one statement"):
            declared(tmp_path, database, query)
        monkeypatch.setattr("parties.catalog.declarations.tables.is_single", lambda _: True)
        monkeypatch.setattr(databases, "is_single", lambda _: True)
    with pytest.raises(DataError) as caught:
        load(declared(tmp_path, database, query, {"age": COLUMNS["age"]}), ["age"])
    assert caught.value.hint
    assert database.count() == 3


@pytest.mark.parametrize(
    ("query", "part"),
    [
        ("select age from visit", "has no table of that name"),
        ("select agee from visits", "has no column of that name"),
        ("selec age from visits", "does not understand the query"),
        ("select mass from visits", "has no column 'age'"),
    ],
)
def test_wrong_queries_are_told_apart(tmp_path, database, query, part):
    with pytest.raises(DataError, match=part) as caught:
        load(declared(tmp_path, database, query, {"age": COLUMNS["age"]}), ["age"])
    assert caught.value.hint


def test_tables_are_listed_and_drafted(tmp_path, database):
    dataset = declared(tmp_path, database, "select 1")
    (table,) = [one for one in tables_of(dataset.asked) if one.endswith("visits")]
    found = draft(replace(dataset, query=query_of(table, dataset.driver)))
    assert found.rows == 3
    assert found.columns["age"].column.missing == "drop"
    assert found.key == ("id",)


def test_a_database_that_is_not_there(tmp_path):
    asked = Query("sqlite3", str(tmp_path / "none.db"), "select 1", "data set v")
    with pytest.raises(DataError, match="does not exist"):
        [*read(asked, ["x"])]


@pytest.mark.parametrize(
    ("change", "part"),
    [
        ({"password": "wrong"}, "does not accept the user or the password"),
        ({"user": "nobody"}, "does not accept the user or the password"),
        ({"database": "nowhere"}, "has no database of that name"),
        ({"port": 1}, "cannot be reached"),
    ],
)
def test_each_way_not_to_get_in_has_its_message(server, change, part):
    port = change.get("port", server.port)
    url = replace(server, port=port).url(**{key: value for key, value in change.items() if key != "port"})
    with pytest.raises(DataError, match=part) as caught:
        [*read(Query("psycopg", url, "select 1 as x", "data set v"), ["x"])]
    assert caught.value.hint
    for secret in ("wrong", "correct-horse"):
        assert secret not in str(caught.value)


@pytest.mark.parametrize(
    ("query", "part"),
    [
        ("select x from hidden", "does not let this user read a table .SQLSTATE 42501"),
        ("select 'secret cell'::int as x", "could not compute a cell of the query .SQLSTATE 22P02"),
        ("select pg_terminate_backend(pg_backend_pid()) as x", "ended the session"),
        ("select nextval('numbers') as x", "sessions are read-only"),
    ],
)
def test_what_the_server_refuses_has_its_message(server, query, part):
    server.run(
        "create table if not exists hidden (x integer)",
        "create sequence if not exists numbers",
        "grant usage on sequence numbers to reader",
    )
    with pytest.raises(DataError, match=part) as caught:
        [*read(Query("psycopg", server.url(), query, "data set v"), ["x"])]
    assert "secret cell" not in str(caught.value)


def test_a_host_that_is_gone_is_noticed_unless_the_address_says_how(server):
    import psycopg

    for address, idle in ((server.url(), "60"), (server.url() + "?keepalives_idle=7", "7")):
        with closing(connect(psycopg, address, 10)) as connection:
            found = connection.info.get_parameters()
            assert (found["keepalives_idle"], found["keepalives_count"]) == (idle, "4")
            assert found["connect_timeout"] == "10"


def test_later_transactions_of_a_session_are_read_only_too(server):
    server.run("create table if not exists kept (x integer)", "grant insert on kept to reader")
    import psycopg

    connection = connect(psycopg, server.url(), 10)
    with closing(connection):
        for _ in range(2):
            with pytest.raises(psycopg.errors.ReadOnlySqlTransaction):
                connection.execute("insert into kept values (1)")
            connection.execute("commit")
            connection.read_only = None


@pytest.mark.parametrize("missing", [True, False])
def test_a_driver_that_lacks_is_told_from_one_that_cannot_be_loaded(tmp_path, monkeypatch, missing):
    if missing:
        monkeypatch.setitem(sys.modules, "psycopg", None)
    else:
        (tmp_path / "psycopg.py").write_text("raise ImportError('no pq wrapper available')")
        monkeypatch.syspath_prepend(tmp_path)
        monkeypatch.delitem(sys.modules, "psycopg", raising=False)
    with pytest.raises(ConfigError) as caught:
        [*read(Query("psycopg", "host=x", "select 1 as x", "data set v"), ["x"])]
    expected = "duetto[postgres]" if missing else "cannot be loaded"
    assert expected in str(caught.value)


@pytest.mark.parametrize(
    ("query", "single"),
    [
        ("select 1;", True),
        ("select ';' as x, \"a;b\" from t -- ; no\n", True),
        ("select /* ; */ 'it''s;' ; \n", True),
        ("select 1; delete from t", False),
        ("select ''; delete from t", False),
        ("select 1 -- x\n; commit", False),
    ],
)
def test_statements_are_counted_apart_from_texts_and_comments(query, single):
    assert is_single(query) is single


@pytest.mark.slow
def test_a_million_rows_stream_in_little_memory(server):
    columns = ", ".join(f"i::bigint * {place + 7919} as c{place}" for place in range(8))
    server.run(
        f"create table if not exists large as select {columns} from generate_series(1, 1000000) i",
        "grant select on large to reader",
    )
    rows, megabytes = rows_and_megabytes("psycopg", server.url(), "select * from large")
    assert rows == 1_000_000
    assert megabytes < 300

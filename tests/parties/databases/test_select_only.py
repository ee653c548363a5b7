"""Queries of a catalog select from their database; they write nothing and read nothing else."""

from __future__ import annotations

import sqlite3
from pathlib import Path

import pytest

from parties.catalog.sources.databases import Query, read
from parties.errors import ConfigError, DataError

pytestmark = pytest.mark.attack


def sqlite_file(folder: Path) -> str:
    path = folder / "own.sqlite"
    with sqlite3.connect(path) as database:
        database.execute("create table t (x integer)")
        database.executemany("insert into t values (?)", [(1,), (2,)])
        database.execute("create virtual table words using fts5(word)")
        database.execute("insert into words values ('hello')")
    database.close()
    return str(path)


def duckdb_file(folder: Path) -> str:
    duckdb = pytest.importorskip("duckdb")
    path = str(folder / "own.duckdb")
    with duckdb.connect(path) as database:
        database.execute("create table t as select * from (values (1), (2)) as v(x)")
    return path


def cells(driver: str, path: str, query: str) -> list[object]:
    batches = list(read(Query(driver, path, query, "data set t"), ["x"]))
    return [cell for batch in batches for cell in batch.columns[0]]


@pytest.mark.parametrize("taken", ["setlimit", "set_authorizer"])
def test_sqlite_refuses_by_two_walls(tmp_path, monkeypatch, taken):
    """The limit alone lets no database be attached; the authorizer alone lets nothing but a selection run."""
    path = sqlite_file(tmp_path)

    class Connection(sqlite3.Connection):
        pass

    setattr(Connection, taken, lambda self, *_: None)
    real = sqlite3.connect
    monkeypatch.setattr(
        "parties.catalog.sources.databases.sqlite3.connect",
        lambda *given, **named: real(*given, factory=Connection, **named),
    )
    with pytest.raises(DataError):
        cells("sqlite3", path, f"attach database '{tmp_path / 'evil'}' as other")
    assert not (tmp_path / "evil").exists()
    names = "select name as x from pragma_database_list"
    if taken == "setlimit":
        with pytest.raises(DataError):
            cells("sqlite3", path, names)
    else:
        assert cells("sqlite3", path, names) == ["main"]  # what the authorizer keeps from queries


@pytest.mark.parametrize(
    "query",
    [
        "attach database '{other}' as other",
        "vacuum into '{other}'",
        "create temp table s (x integer)",
        "insert into t values (3) returning x",
        "pragma journal_mode = delete",
        "select load_extension('{other}') as x",
        "select * from pragma_database_list",
    ],
)
def test_sqlite_neither_writes_nor_attaches(tmp_path, query):
    path = sqlite_file(tmp_path)
    before = {one.name: one.read_bytes() for one in tmp_path.iterdir()}
    with pytest.raises(DataError) as refused:
        cells("sqlite3", path, query.format(other=tmp_path / "evil"))
    assert refused.value.hint
    assert {one.name: one.read_bytes() for one in tmp_path.iterdir()} == before


@pytest.mark.parametrize(
    "query",
    [
        "select x from t order by x",
        "with recursive n(x) as (select 1 union all select x + 1 from n where x < 2) select x from n",
        "select count(*) + row_number() over () - 1 as x from words where words match 'hello' "
        "union all select max(x) from t",
    ],
)
def test_sqlite_still_selects(tmp_path, query):
    assert cells("sqlite3", sqlite_file(tmp_path), query) == [1, 2]


@pytest.mark.parametrize(
    "query",
    [
        "copy (select 1 as x) to '{other}'",
        "attach '{other}'",
        "select content as x from read_text('/etc/hostname')",
        "select * from '/etc/hostname'",
        "install httpfs",
        "set enable_external_access = true",
        "create table s (x integer)",
    ],
)
def test_duckdb_neither_writes_nor_reads_other_files(tmp_path, query):
    path = duckdb_file(tmp_path)
    with pytest.raises(DataError) as refused:
        cells("duckdb", path, query.format(other=tmp_path / "evil"))
    assert refused.value.hint
    assert [one.name for one in tmp_path.iterdir()] == ["own.duckdb"]
    assert cells("duckdb", path, "select x from t order by x") == [1, 2]


@pytest.mark.parametrize(
    "query",
    ["select 1 as x into outfile 'f'", "select 1 as x INTO/**/DumpFile 'f'", "/*! outfile */"],
)
def test_mariadb_is_not_asked_to_write_files_on_its_server(query):
    with pytest.raises(ConfigError, match="writes a file on the server"):
        cells("pymysql", "mariadb://nobody@127.0.0.1:1/d", query)

"""What is particular to MariaDB: who gets in, what is refused, truth values, and rows that stream."""

from __future__ import annotations

import gc
import sys
from contextlib import closing
from dataclasses import replace
from itertools import islice

import pytest
import tomli_w

from parties.catalog.declarations.declaration import load_catalog
from parties.catalog.drafting.adding import Asked, draft_addition
from parties.catalog.sources import mariadb
from parties.catalog.sources.databases import Query, cursor, read
from parties.errors import ConfigError, DataError
from tests.parties.databases.streaming import rows_and_megabytes

HERE = "data set v"


@pytest.mark.parametrize(
    ("change", "part"),
    [
        ({"password": "wrong"}, "does not accept the user or the password .error 1045"),
        ({"user": "stranger"}, "does not accept the user or the password .error 1045"),
        ({"database": "nowhere"}, "into the database, or has none of that name .error 1044"),
        ({"user": "boss", "database": "nowhere"}, "has no database of that name .error 1049"),
        ({"port": 1}, "cannot be reached .error 2003"),
    ],
)
def test_each_way_not_to_get_in_has_its_message(maria, change, part):
    port = change.get("port", maria.port)
    url = replace(maria, port=port).url(**{key: value for key, value in change.items() if key != "port"})
    maria.run("create table if not exists seen (x int)", "grant select on seen to reader")
    with pytest.raises(DataError, match=part) as caught:
        [*read(Query("pymysql", url, "select 1 as x", HERE), ["x"])]
    assert caught.value.hint
    for secret in ("wrong", "correct-horse"):
        assert secret not in str(caught.value)


@pytest.mark.parametrize(
    ("query", "part"),
    [
        ("select x from hidden", "does not let this user read a table, or has none of that name .error 1142"),
        ("select x from absent", "does not let this user read a table, or has none of that name .error 1142"),
        ("drop table seen", "sessions are read-only .error 1792"),
        ("create table made (x int)", "sessions are read-only .error 1792"),
        ("insert into seen values (1)", "sessions are read-only .error 1792"),
        ("kill query connection_id()", "stopped the query"),
        ("select 'secret cell' from", "does not understand the query .error 1064"),
    ],
)
def test_what_the_server_refuses_has_its_message(maria, query, part):
    maria.run(
        "create table if not exists hidden (x int)",
        "create table if not exists seen (x int)",
        "grant all on seen to reader",
    )
    with pytest.raises(DataError, match=part) as caught:
        [*read(Query("pymysql", maria.url(), query, HERE), ["x"])]
    assert "secret cell" not in str(caught.value)
    assert maria.run("select count(*) from seen") == ((0,),)


@pytest.mark.attack
def test_later_transactions_of_a_session_are_read_only_too(maria):
    import pymysql

    maria.run("create table if not exists kept (x int)", "grant insert on kept to reader")
    with closing(mariadb.connect(pymysql, maria.url(), HERE, 10)) as connection:
        for _ in range(2):
            with (
                connection.cursor() as opened,
                pytest.raises(pymysql.OperationalError, match="READ ONLY transaction"),
            ):
                opened.execute("insert into kept values (1)")
            connection.commit()


def test_truth_values_are_told_from_numbers(maria):
    """BOOLEAN is TINYINT(1), which may hold other numbers too: these stay numbers."""
    maria.run(
        "drop table if exists truths",
        "create table truths (i int, b boolean, t bit(1), n tinyint, m bit(8))",
        "insert into truths values (1, true, b'1', 1, 1), (2, false, b'0', 0, 0), "
        "(3, null, null, null, null), (4, 7, b'1', 7, 7)",
        "grant select on truths to reader",
    )
    query = Query("pymysql", maria.url(), "select * from truths order by i", HERE)
    (batch,) = read(query, ["n", "b", "t"])
    assert [*map(list, batch.columns)] == [[1, 0, None, 7], [True, False, None, 7], [True, False, None, True]]
    assert [type(cell) for cell in batch.columns[1]] == [bool, bool, type(None), int]
    assert [type(cell) for cell in batch.columns[0]] == [int, int, type(None), int]


def large(maria):
    maria.run(
        "create table if not exists large as "
        "select seq as x, repeat('a', 200) as filling from seq_1_to_200000",
        "grant select on large to reader",
    )


def test_a_session_that_ends_among_the_rows_has_its_message(maria, monkeypatch):
    lost = []
    monkeypatch.setattr(sys, "unraisablehook", lost.append)
    large(maria)
    rows = read(Query("pymysql", maria.url(), "select x, filling from large", HERE), ["x"])
    assert next(rows).rows
    (session,) = maria.run("select id from information_schema.processlist where user = 'reader'")
    maria.run(f"kill {session[0]}")
    with pytest.raises(DataError, match="went away during the session") as caught:
        list(rows)
    assert caught.value.hint == "Check that it runs, and try again."
    del rows, caught
    gc.collect()
    assert not lost


def test_rows_come_as_they_are_asked_for(maria):
    """The first rows are there while the server still computes the others."""
    large(maria)
    query = "select x, sleep(if(x >= 200000, 100, 0)) as y from large"
    asked = Query("pymysql", maria.url(), query, HERE)
    with cursor(asked) as opened:
        assert [row[0] for row in islice(iter(opened.fetchone, None), 100)] == [*range(1, 101)]
        (session,) = maria.run("select id from information_schema.processlist where user = 'reader'")
        maria.run(f"kill {session[0]}")


@pytest.mark.parametrize(
    ("url", "part"),
    [
        ("mariadb://me@host", "lacks a host or the name of a database"),
        ("mariadb:///x", "lacks a host or the name of a database"),
        ("mariadb://me@host:port/x", "lacks a host or the name of a database"),
        ("mariadb://me@host/x?ssl_cs=a", "unknown option 'ssl_cs'"),
    ],
)
def test_an_address_that_is_not_one_is_refused(url, part):
    with pytest.raises(ConfigError, match=part) as caught:
        [*read(Query("pymysql", url, "select 1 as x", HERE), ["x"])]
    assert caught.value.hint


def test_a_server_without_the_asked_certificate_is_refused(maria, tmp_path):
    """With ssl_ca an unverified server gets no password."""
    import ssl

    authorities = ssl.get_default_verify_paths().cafile
    if authorities is None:
        pytest.skip("no file of certificates")
    url = f"{maria.url()}?ssl_ca={authorities}"
    with pytest.raises(DataError) as caught:
        [*read(Query("pymysql", url, "select 1 as x", HERE), ["x"])]
    assert caught.value.hint


def test_a_table_is_added_to_the_catalog(maria, tmp_path):
    maria.run(
        "drop table if exists stays",
        "create table stays (id int primary key, age int, smoker boolean, came date)",
        *(f"insert into stays values ({i}, {20 + i}, {i % 2}, '2020-01-{1 + i % 28:02}')" for i in range(30)),
        "grant select on stays to reader",
    )
    secret = tmp_path / "db.url"
    secret.write_text(maria.url())
    secret.chmod(0o600)
    catalog = tmp_path / "catalog.toml"
    catalog.write_text(tomli_w.dumps({}))
    found = draft_addition(catalog, Asked(url_file=str(secret), table="hospital.stays"))
    columns = found.draft.columns
    assert {name: column.column.type for name, column in columns.items()} == {
        "id": "text",
        "age": "integer",
        "smoker": "category",
        "came": "date",
    }
    assert found.draft.key == ("id",)
    found.write()
    dataset = load_catalog(catalog).dataset("stays")
    (batch,) = read(dataset.asked, ["age", "smoker"])
    assert batch.columns[1][:2] == [False, True]


@pytest.mark.slow
def test_a_million_rows_stream_in_little_memory(maria):
    columns = ", ".join(f"seq * {place + 7919} as c{place}" for place in range(8))
    maria.run(
        f"create table if not exists million as select {columns} from seq_1_to_1000000",
        "grant select on million to reader",
    )
    rows, megabytes = rows_and_megabytes("pymysql", maria.url(), "select * from million")
    assert rows == 1_000_000
    assert megabytes < 300

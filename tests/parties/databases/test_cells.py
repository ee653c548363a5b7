"""Cells that files hardly have: each is held as the text that the server would write, or refused by row."""

from __future__ import annotations

from contextlib import closing
from pathlib import Path

import pytest
import tomli_w

from parties.catalog.declarations.declaration import load_catalog
from parties.catalog.loading.loading import load
from parties.errors import DataError

SECRET = b"s" * 32
INTEGER = {"type": "integer", "lower": -(10**9), "upper": 10**9}
DECIMAL = {"type": "decimal", "scale": 2, "lower": -(10**9), "upper": 10**9}
DATE = {"type": "date", "lower": "1900-01-01", "upper": "2100-01-01"}
TEXT = {"type": "text"}


def declared(folder: Path, source: dict, columns: dict, **fields: object):
    (folder / "catalog.toml").write_text(
        tomli_w.dumps({"datasets": {"d": {**source, "columns": columns, **fields}}})
    )
    return load_catalog(folder / "catalog.toml").dataset("d")


def asked(folder: Path, url: str, query: str) -> dict:
    secret = folder / "db.url"
    secret.write_text(url)
    secret.chmod(0o600)
    return {"kind": "sql", "url_file": "db.url", "query": query}


def held(folder: Path, url: str, query: str, column: dict):
    """What is held for the column `x` of a query."""
    return load(declared(folder, asked(folder, url, query), {"x": column}), ["x"])


@pytest.mark.parametrize(
    ("cell", "column", "part", "advice"),
    [
        ("'Infinity'::numeric", INTEGER, "is not an integer", "Correct the cell"),
        ("'-Infinity'::numeric", DECIMAL, "is not a number", "Correct the cell"),
        ("'NaN'::numeric", INTEGER, "is not an integer", 'missing_tokens = ["NaN"]'),
        ("'NaN'::float8", DECIMAL, "is not a number", 'missing_tokens = ["NaN"]'),
        ("'-Infinity'::float8", DECIMAL, "is not a number", "Correct the cell"),
        ("1e-20::numeric", DECIMAL, "is not a number with at most 2 digits", "Correct the cell"),
        ("1.5::float8", INTEGER, "is not an integer", 'type = "decimal" and scale = 1'),
        ("2::float8", INTEGER, "is not an integer", ""),
        ("'infinity'::date", DATE, "is not a date of the form", ""),
        ("'-infinity'::timestamp", DATE, "is not a date of the form", ""),
        ("'infinity'::timestamptz", DATE, "is not a date of the form", ""),
        ("'10000-01-01'::date", DATE, "is not a date of the form", ""),
        ("'0044-03-15 BC'::date", DATE, "is not a date of the form", ""),
        ("'9999-12-31 23:59:59.9999999'::timestamp", DATE, "is not a date of the form", ""),
        ("'2020-01-01'::timestamptz", DATE, "is a time, not a date", "CAST(x AS date)"),
        ("'2020-01-01 00:00:00.000001'::timestamp", DATE, "is a time, not a date", "CAST(x AS date)"),
        ("'1899-12-31'::date", DATE, "is outside the declared bounds", "Widen lower or upper"),
        ("array[1, 2]", TEXT, "is not a text", ""),
        ("'{}'::jsonb", TEXT, "is not a text", ""),
    ],
)
def test_postgres_cells_that_are_no_values_are_refused_by_their_row(
    server, tmp_path, cell, column, part, advice
):
    query = f"select case when i = 3 then {cell} end as x from generate_series(1, 4) i"
    with pytest.raises(DataError, match=f"row 3: the cell of column 'x' {part}") as caught:
        held(tmp_path, server.url(), query, {**column, "missing": "drop"})
    assert advice in caught.value.hint


@pytest.mark.parametrize(
    ("cell", "column", "token", "value"),
    [
        ("'NaN'::numeric", DECIMAL, "NaN", "1"),
        ("'NaN'::float8", DECIMAL, "NaN", "1"),
        ("'NaN'::float4", DECIMAL, "NaN", "1"),
        ("999::float8", DECIMAL, "999", "1"),
        ("999::numeric(5, 1)", DECIMAL, "999.0", "1"),
        ("-9::smallint", INTEGER, "-9", "1"),
        ("'infinity'::date", DATE, "infinity", "date '1970-01-02'"),
        ("'?   '::char(9)", INTEGER, "?", "'1'"),
    ],
)
def test_tokens_of_missing_cells_are_texts_as_a_server_writes_them(
    server, tmp_path, cell, column, token, value
):
    query = f"select case i when 2 then {cell} else {value} end as x from generate_series(1, 3) i"
    found = held(tmp_path, server.url(), query, {**column, "missing": "drop", "missing_tokens": [token]})
    assert (found.rows, found.left_out) == (2, 1)
    assert found.numbers.tolist() == [1, 3]


@pytest.mark.parametrize("cells", ["NaN", "nan"])
def test_nan_in_parquet_is_missing_where_the_catalog_says_so(tmp_path, cells):
    pa = pytest.importorskip("pyarrow")
    from pyarrow import parquet

    parquet.write_table(pa.table({"x": [1.0, float("nan"), 2.5]}), tmp_path / "d.parquet")
    column = {**DECIMAL, "missing": "drop", "missing_tokens": [cells]}
    found = load(declared(tmp_path, {"source": "d.parquet"}, {"x": column}), ["x"])
    assert found.columns["x"].integers == [100, 250]


@pytest.mark.parametrize(
    ("cell", "column", "value"),
    [
        ("7::numeric(3, 0)", {"type": "category", "values": ["5", "7"]}, 1),
        ("7.50::numeric(3, 2)", {"type": "category", "values": ["7.5", "7.50"]}, 1),
        ("'a'::char(9)", {"type": "category", "values": ["A", "a"]}, 1),
        ("5e-324::float8 + 0.1::float8 + 0.2::float8", {**DECIMAL, "scale": 17}, 30000000000000004),
        ("0.1::float4", DECIMAL, 10),
        ("-0.0::float8", DECIMAL, 0),
        ("1e3::numeric(9, 2)", INTEGER, 1000),
        ("9223372036854775807", {**INTEGER, "upper": 2**63 - 1}, 2**63 - 1),
        ("1e30::numeric", {**INTEGER, "upper": 10**30}, 10**30),
        ("timestamp '2000-02-29'", DATE, 11016),
    ],
)
@pytest.mark.parametrize("digits", [0, 1])
def test_postgres_cells_are_held_exactly_whatever_the_server_is_set_to(
    server, tmp_path, cell, column, value, digits
):
    server.run(
        f"alter role reader set extra_float_digits = {digits}", "alter role reader set datestyle = 'German'"
    )
    try:
        if column.get("scale") == 17:
            column = {**column, "lower": 0, "upper": 1}
        found = held(tmp_path, server.url(), f"select {cell} as x", column)
    finally:
        server.run("alter role reader reset extra_float_digits", "alter role reader reset datestyle")
    assert [*map(int, found.columns["x"].values)] == [value]


@pytest.mark.parametrize(
    ("cell", "text"),
    [
        ("'4c1f42c2-e803-11f1-88b6-02fc00000001'::uuid", "4c1f42c2-e803-11f1-88b6-02fc00000001"),
        ("12::numeric(9, 0)", "12"),
        ("1e-9::numeric", "0.000000001"),
        ("'a b  '::char(9)", "a b"),
        ("U&'e\\0301'", "é"),
    ],
)
def test_postgres_keys_are_the_texts_that_files_have(server, tmp_path, cell, text):
    found = load(
        declared(tmp_path, asked(tmp_path, server.url(), f"select {cell} as x"), {"x": TEXT}, person="x"),
        ["x"],
        SECRET,
    )
    (tmp_path / "d.csv").write_text(f"x\n{text}\n", encoding="utf-8")
    same = load(declared(tmp_path, {"source": "d.csv"}, {"x": TEXT}, person="x"), ["x"], SECRET)
    assert found.columns["x"].texts == same.columns["x"].texts == [text]
    assert found.identities.tobytes() == same.identities.tobytes()


@pytest.mark.parametrize("encoding", ["LATIN1", "SQL_ASCII", "UTF8"])
def test_texts_come_in_unicode_whatever_the_database_is_encoded_in(server, tmp_path, encoding):
    name = f"in_{encoding.lower()}"
    server.run(f"create database {name} encoding '{encoding}' template template0", database="postgres")
    found = held(tmp_path, server.url(database=name), "select 'é' as x", TEXT)
    assert found.columns["x"].texts == ["é"]


def test_bytes_that_are_no_unicode_are_refused(server, tmp_path):
    server.run("create database bytes encoding 'SQL_ASCII' template template0", database="postgres")
    with pytest.raises(DataError, match="SQLSTATE 22021") as caught:
        held(tmp_path, server.url(database="bytes"), "select E'\\xe9'::text as x", TEXT)
    assert caught.value.hint


@pytest.mark.parametrize(
    ("kind", "value"),
    [("float", "123456.78"), ("float unsigned", "16777217"), ("float", "0.1")],
)
def test_mariadb_rounds_no_numbers_in_silence(maria, tmp_path, kind, value):
    """A FLOAT of 123456.78 comes as 123457, with the type's digits it comes whole."""
    maria.run(
        "drop table if exists floats",
        f"create table floats (x {kind}, y float(12, 2), z double)",
        f"insert into floats values ({value}, {value}, {value})",
        "grant select on floats to reader",
    )
    with pytest.raises(DataError, match="rounded to six digits") as caught:
        held(tmp_path, maria.url(), "select * from floats", DECIMAL)
    assert "cast(`x` as decimal(12, 2)) as `x`" in caught.value.hint
    found = held(tmp_path, maria.url(), "select cast(x as decimal(12, 2)) as x from floats", DECIMAL)
    number = {"123456.78": 12345678, "16777217": 1677721600, "0.1": 10}[value]
    assert found.columns["x"].integers == [number]
    assert held(tmp_path, maria.url(), "select y as x from floats", DECIMAL).columns["x"].integers == [number]
    assert held(tmp_path, maria.url(), "select x as f, 1 as x from floats", INTEGER).rows == 1


@pytest.mark.parametrize(
    ("kind", "cell", "part"),
    [
        ("date", "'0000-00-00'", "is not a date"),
        ("date", "'2020-00-10'", "is not a date"),
        ("datetime", "'0000-00-00'", "is not a date"),
        ("binary(3)", "'ab'", "is not a date"),
        ("time", "'12:00'", "is not a date"),
    ],
)
def test_mariadb_days_that_are_none_are_refused_by_their_row(maria, tmp_path, kind, cell, part):
    import pymysql

    words = {"user": "boss", "password": "correct-horse", "database": "hospital"}
    with (
        closing(pymysql.connect(host="127.0.0.1", port=maria.port, autocommit=True, **words)) as session,
        session.cursor() as cursor,
    ):
        cursor.execute("set sql_mode = ''")
        cursor.execute("drop table if exists days")
        cursor.execute(f"create table days (i int, x {kind})")
        cursor.execute(f"insert into days values (1, null), (2, {cell})")
        cursor.execute("grant select on days to reader")
    with pytest.raises(DataError, match=f"row 2: the cell of column 'x' {part}"):
        held(tmp_path, maria.url(), "select * from days order by i", {**DATE, "missing": "drop"})


PEOPLE = ["ann", "Ann", "ANN ", "ann", "é", "e", "É", "e\u0301", "ß", "ss", "12", "012"]
"""Twelve rows of ten persons; the collation of MariaDB takes them for fewer."""


@pytest.mark.parametrize("kind", ["char(8)", "varchar(8)"])
@pytest.mark.parametrize("which", ["server", "maria"])
def test_persons_of_a_database_are_those_of_a_file(request, tmp_path, which, kind):
    found = request.getfixturevalue(which)
    rows = ", ".join(f"({row}, '{name}')" for row, name in enumerate(PEOPLE))
    end = " character set utf8mb4 collate utf8mb4_general_ci" if which == "maria" else ""
    found.run(
        "drop table if exists people",
        f"create table people (i int, who {kind}){end}",
        f"insert into people values {rows}",
        "grant select on people to reader",
    )
    (tmp_path / "d.csv").write_text("i,who\n" + "".join(f"{i},{who}\n" for i, who in enumerate(PEOPLE)))
    columns = {"who": TEXT, "i": INTEGER}
    sources = (
        asked(tmp_path, found.url(), "select * from people order by i"),
        {"source": "d.csv"},
    )
    one, other = (
        load(declared(tmp_path, source, columns, person="who"), ["i"], SECRET) for source in sources
    )
    assert one.persons.tolist() == other.persons.tolist()
    assert len({*one.persons.tolist()}) == 10
    assert one.identities.tobytes() == other.identities.tobytes()
    assert one.aliases.tobytes() == other.aliases.tobytes()

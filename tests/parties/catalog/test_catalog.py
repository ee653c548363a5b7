"""The catalog: declarations, exact cells, and every error with its place and without the value."""

from __future__ import annotations

import sqlite3
import sys
import types
from datetime import date
from decimal import Decimal

import pytest
from hypothesis import given
from hypothesis import strategies as st

from parties.catalog import EXAMPLE
from parties.catalog.columns.cells import parser
from parties.catalog.columns.columns import ColumnDeclaration
from parties.catalog.declarations.declaration import load_catalog
from parties.catalog.loading.loading import count_rows, load
from parties.errors import ConfigError, DataError
from smc.analyses.studies.columns import Schema

PATIENTS = """
[datasets.patients]
source = "patients.csv"
key = "id"
[datasets.patients.columns.age]
type = "integer"
lower = 0
upper = 120
unit = "years"
[datasets.patients.columns.mass]
type = "decimal"
scale = 1
lower = 0
upper = 300.5
[datasets.patients.columns.smoker]
type = "category"
values = ["no", "yes"]
[datasets.patients.columns.seen]
type = "date"
lower = 1970-01-01
upper = "1970-12-31"
"""

GOOD = "id,age,mass,smoker,seen\nA1,30,70.5,no,1970-01-02\nA2,+0,300.50,yes,1970-12-31\n"


def catalog(tmp_path, text, **files):
    for name, content in files.items():
        (tmp_path / name.replace("_csv", ".csv")).write_bytes(
            content if isinstance(content, bytes) else content.encode()
        )
    path = tmp_path / "catalog.toml"
    path.write_text(text)
    return load_catalog(path)


def loaded(tmp_path, content, columns=("age", "mass", "smoker", "seen")):
    return load(catalog(tmp_path, PATIENTS, patients_csv=content).dataset("patients"), columns).columns


def test_values_are_held_exactly(tmp_path):
    columns = loaded(tmp_path, GOOD)
    assert columns["age"].integers == [30, 0]
    assert columns["mass"].integers == [705, 3005]
    assert columns["smoker"].integers == [0, 1]
    assert columns["seen"].integers == [1, 364]
    assert columns["mass"].schema == Schema("decimal", 1, 0, 3005)
    assert columns["seen"].schema.unit == "days since 1970-01-01"


@pytest.mark.parametrize("ending", ["\n\n\n", "", "\n   \n"])
def test_mark_and_trailing_blank_lines_are_tolerated(tmp_path, ending):
    assert len(loaded(tmp_path, b"\xef\xbb\xbf" + GOOD.rstrip().encode() + ending.encode())["age"]) == 2


@pytest.mark.parametrize(
    ("content", "parts"),
    [
        (GOOD.replace("A2", "A1"), ["row 2 (line 3)", "'id'", "row 1 (line 2)"]),
        (GOOD.replace("A2", " "), ["row 2 (line 3)", "key cell", "'id'", "empty"]),
        (GOOD.replace("30", ""), ["row 1 (line 2)", "'age'", "empty"]),
        (GOOD.replace("30", "121"), ["row 1 (line 2)", "'age'", "outside"]),
        (GOOD.replace("30", "-1"), ["row 1 (line 2)", "'age'", "outside"]),
        (GOOD.replace("30", "3O"), ["row 1 (line 2)", "'age'", "not an integer"]),
        (GOOD.replace("30", "3_0"), ["'age'", "not an integer"]),
        (GOOD.replace("30", "30.0"), ["'age'", "not an integer"]),
        (GOOD.replace("30", "٣٠"), ["'age'", "not an integer"]),
        (GOOD.replace("70.5", "70.55"), ["'mass'", "at most 1 digits"]),
        (GOOD.replace("70.5", "7e1"), ["'mass'", "not a number"]),
        (GOOD.replace("70.5", "nan"), ["'mass'", "not a number"]),
        (GOOD.replace("no,", "maybe,"), ["'smoker'", "not one of the declared labels"]),
        (GOOD.replace("1970-01-02", "02.01.1970"), ["'seen'", "not a date"]),
        (GOOD.replace("1970-01-02", "1970-02-31"), ["'seen'", "not a date"]),
        (GOOD.replace("1970-01-02", "19700102"), ["'seen'", "not a date"]),
        (GOOD.replace("A2,+0", "A2"), ["row 2 (line 3)", "4 cells", "5"]),
        (GOOD.replace("age", "Age"), ["no column 'age'", "'Age'"]),
        (GOOD.replace("mass", "age"), ["twice", "'age'"]),
        (GOOD.replace("no,", '"no,'), ["not valid CSV"]),
        (GOOD.encode().replace(b"A1", b"\xff\xfe"), ["not in UTF-8", 'encoding = "cp1252"']),
        ("", ["is empty"]),
        ("\n \n", ["is empty"]),
    ],
)
def test_bad_rows_are_named_without_their_value(tmp_path, content, parts):
    with pytest.raises(DataError) as caught:
        loaded(tmp_path, content)
    assert all(part in str(caught.value) for part in ["patients.csv", *parts])
    assert caught.value.hint
    for value in ("121", "3O", "70.55", "maybe", "A1"):
        assert value not in str(caught.value)


def test_a_missing_file_column_or_data_set_is_an_error_with_near_names(tmp_path):
    found = catalog(tmp_path, PATIENTS)
    with pytest.raises(DataError, match="does not exist"):
        count_rows(found.dataset("patients"))
    with pytest.raises(DataError, match="'patients'"):
        found.dataset("patient")
    with pytest.raises(DataError, match="'age'"):
        found.schema("patients", "aeg")
    with pytest.raises(DataError, match="'age'"):
        load(found.dataset("patients"), ["agee"])


@pytest.mark.parametrize("name", ["../patients", "/etc/passwd", "a/b", "", ".."])
def test_names_never_become_paths(tmp_path, name):
    found = catalog(tmp_path, PATIENTS, patients_csv=GOOD)
    with pytest.raises(DataError):
        found.dataset(name)
    with pytest.raises(ConfigError, match="plain word"):
        catalog(tmp_path, PATIENTS.replace("patients]", f'"{name}"]').replace("s.patients.", f's."{name}".'))


@pytest.mark.parametrize(
    ("before", "after", "part"),
    [
        ("lower = 0\nupper = 120", "upper = 120", "lower is missing"),
        ("lower = 0\nupper = 120", "lower = 5\nupper = 4", "above upper"),
        ("upper = 120", "upper = 120.5", "integer"),
        ("upper = 300.5", "upper = 300.55", "1 digits"),
        ("scale = 1", "scale = 19", "above 18"),
        ('values = ["no", "yes"]', "values = []", "empty"),
        ('values = ["no", "yes"]', 'values = ["no", "no"]', "twice"),
        ("1970-01-01", "1970-01-01T00:00:00", "not a date"),
        ('type = "date"', 'type = "date"\nunit = "birthday"', "cannot be chosen for dates"),
        ('unit = "years"', 'units = "years"', "'unit'"),
        ('type = "integer"', 'type = "interger"', "'integer'"),
        ('source = "patients.csv"', 'source = "patients.doc"', "source ends in none of .csv"),
        ('source = "patients.csv"', 'kind = "csv"', "source"),
        ("[datasets.patients]", "[dataset.x]\n[datasets.patients]", "'datasets'"),
        ('key = "id"', "key = 1", "list of texts"),
        ('source = "patients.csv"', "source = ", "not valid TOML"),
    ],
)
def test_a_wrong_declaration_names_its_place(tmp_path, before, after, part):
    assert before in PATIENTS
    with pytest.raises(ConfigError) as caught:
        catalog(tmp_path, PATIENTS.replace(before, after))
    assert part in str(caught.value)
    assert "catalog.toml" in str(caught.value)


def test_the_example_declares_nothing_and_its_comment_is_valid(tmp_path):
    assert not catalog(tmp_path, EXAMPLE).datasets
    plain = "\n".join(line.removeprefix("#").strip() for line in EXAMPLE.splitlines()[2:])
    assert set(catalog(tmp_path, plain).datasets) == {"patients", "visits", "limit"}


def test_several_keys_identify_a_row_together(tmp_path):
    text = PATIENTS.replace('key = "id"', 'key = ["id", "seen"]')
    rows = GOOD.replace("A2", "A1")
    assert count_rows(catalog(tmp_path, text, patients_csv=rows).dataset("patients")) == 2


SHARES = """
[datasets.s]
source = "s.csv"
[datasets.s.columns.x]
type = "share"
modulus = "{modulus}"
[datasets.s.columns.c]
type = "ciphertext"
"""


@pytest.mark.parametrize(
    ("modulus", "cell", "held"),
    [
        ("2", "1", "2"),
        ("2^64", str(2**64 - 1), str(2**64)),
        ("alice", "9" * 900, "alice"),
        ("97", "96", "97"),
    ],
)
def test_shares_and_ciphertexts(tmp_path, modulus, cell, held):
    found = catalog(tmp_path, SHARES.format(modulus=modulus), s_csv=f"x,c\n{cell},0xFf\n").dataset("s")
    columns = load(found, ["x", "c"]).columns
    assert columns["x"].integers == [int(cell)]
    assert columns["x"].schema.modulus == held
    assert columns["c"].integers == [255]


@pytest.mark.parametrize("row", ["2,ff", "-1,ff", "1,xyz", "1,0", "1,"])
def test_bad_shares_and_ciphertexts(tmp_path, row):
    found = catalog(tmp_path, SHARES.format(modulus="2"), s_csv=f"x,c\n{row}\n").dataset("s")
    with pytest.raises(DataError):
        load(found, ["x", "c"])


@pytest.mark.parametrize("modulus", ["1", "0", "-5", "carol", "2^0", "2^", ""])
def test_bad_moduli(tmp_path, modulus):
    with pytest.raises(ConfigError, match="modulus"):
        catalog(tmp_path, SHARES.format(modulus=modulus))


VALUE = """
[datasets.limit]
kind = "value"
values = { limit = "40.5" }
[datasets.limit.columns.limit]
type = "decimal"
scale = 2
lower = 0
upper = 100
"""


def test_a_single_value(tmp_path):
    assert load(catalog(tmp_path, VALUE).dataset("limit"), ["limit"]).columns["limit"].integers == [4050]


SQL = """
[datasets.v]
kind = "sql"
url = "sqlite:///v.db"
query = "select age, mass from v order by age"
[datasets.v.columns.age]
type = "integer"
lower = 0
upper = 120
[datasets.v.columns.mass]
type = "decimal"
scale = 1
lower = 0
upper = 300
"""


@pytest.fixture
def database(tmp_path):
    path = tmp_path / "v.db"
    with sqlite3.connect(path) as connection:
        connection.execute("create table v (age integer, mass real)")
        connection.executemany("insert into v values (?, ?)", [(30, 70.5), (20, 0.1)])
    connection.close()
    return path


def test_sqlite_is_read_and_never_written(tmp_path, database):
    columns = load(catalog(tmp_path, SQL).dataset("v"), ["age", "mass"]).columns
    assert columns["age"].integers == [20, 30]
    assert columns["mass"].integers == [1, 705]
    for query in ("delete from v", "create table w (x)"):
        with pytest.raises(DataError):
            count_rows(
                catalog(tmp_path, SQL.replace("select age, mass from v order by age", query)).dataset("v")
            )
    assert count_rows(catalog(tmp_path, SQL).dataset("v")) == 2


def test_sql_errors_have_a_hint(tmp_path, database):
    for broken in (
        SQL.replace("from v", "from w"),
        SQL.replace("age, mass", "mass"),
        SQL.replace("v.db", "w.db"),
    ):
        with pytest.raises(DataError) as caught:
            count_rows(catalog(tmp_path, broken).dataset("v"))
        assert caught.value.hint


def test_a_float_with_more_digits_than_declared_is_refused(tmp_path, database):
    with sqlite3.connect(database) as connection:
        connection.execute("insert into v values (40, 0.30000000000000004)")
    connection.close()
    with pytest.raises(DataError, match="at most 1 digits"):
        count_rows(catalog(tmp_path, SQL).dataset("v"))


def test_other_drivers_by_name_from_a_list(tmp_path, database, monkeypatch):
    text = SQL.replace('url = "sqlite:///v.db"', 'url = "host=db"\ndriver = "pyodbc"')
    monkeypatch.setitem(sys.modules, "pyodbc", None)
    with pytest.raises(ConfigError, match="not installed"):
        count_rows(catalog(tmp_path, text).dataset("v"))
    fake = types.SimpleNamespace(
        connect=lambda url, readonly, timeout: sqlite3.connect(database), Error=sqlite3.Error
    )
    monkeypatch.setitem(sys.modules, "pyodbc", fake)
    assert count_rows(catalog(tmp_path, text).dataset("v")) == 2
    with pytest.raises(ConfigError, match="driver is 'os'"):
        catalog(tmp_path, text.replace("pyodbc", "os"))


def test_passwords_stay_out_of_the_catalog(tmp_path):
    text = SQL.replace("sqlite:///v.db", "postgresql://me:secret@db/x").replace(
        "kind", 'driver = "psycopg"\nkind'
    )
    with pytest.raises(ConfigError) as caught:
        catalog(tmp_path, text)
    assert "secret" not in str(caught.value)
    secret = tmp_path / "db.url"
    secret.write_text("host=db password=secret\n")
    text = text.replace('url = "postgresql://me:secret@db/x"', 'url_file = "db.url"')
    secret.chmod(0o644)
    with pytest.raises(ConfigError, match="chmod 600"):
        catalog(tmp_path, text)
    secret.chmod(0o600)
    found = catalog(tmp_path, text).dataset("v")
    assert found.url == "host=db password=secret"
    assert "secret" not in repr(found)


PARQUET = """
[datasets.p]
source = "p.parquet"
key = "id"
[datasets.p.columns.age]
type = "integer"
lower = 0
upper = 120
[datasets.p.columns.mass]
type = "decimal"
scale = 1
lower = 0
upper = 300
[datasets.p.columns.seen]
type = "date"
lower = 1970-01-01
upper = 1970-12-31
"""


def test_parquet(tmp_path):
    pa = pytest.importorskip("pyarrow")
    from pyarrow import parquet

    def write(**changes):
        columns = {"id": ["a", "b"], "age": [1, 2], "mass": [0.1, 2.0], "seen": [date(1970, 1, 2)] * 2}
        parquet.write_table(pa.table(columns | changes), tmp_path / "p.parquet")
        return load(catalog(tmp_path, PARQUET).dataset("p"), ["age", "mass", "seen"]).columns

    assert write()["mass"].integers == [1, 20]
    assert write(mass=[Decimal("1.50"), Decimal(7)])["mass"].integers == [15, 70]
    assert write()["seen"].integers == [1, 1]
    for bad in ({"age": [1.0, 2.0]}, {"age": [1, None]}, {"id": ["a", "a"]}, {"mass": [0.25, 1.0]}):
        with pytest.raises(DataError, match="row"):
            write(**bad)
    parquet.write_table(pa.table({"id": ["a"], "age": [1], "mass": [1]}), tmp_path / "p.parquet")
    with pytest.raises(DataError, match="no column 'seen'"):
        count_rows(catalog(tmp_path, PARQUET).dataset("p"))
    (tmp_path / "p.parquet").write_bytes(b"PAR1 and no more")
    with pytest.raises(DataError, match="Parquet"):
        count_rows(catalog(tmp_path, PARQUET).dataset("p"))


def test_parquet_without_its_library(tmp_path, monkeypatch):
    found = catalog(tmp_path, PARQUET)
    (tmp_path / "p.parquet").write_bytes(b"")
    monkeypatch.setitem(sys.modules, "pyarrow", None)
    with pytest.raises(ConfigError, match="duetto\\[parquet\\]"):
        count_rows(found.dataset("p"))


@given(st.integers(-(10**12), 10**12), st.integers(0, 6))
def test_decimals_are_what_decimal_says(number, scale):
    column = ColumnDeclaration("x", "decimal", Schema("decimal", scale, -(10**20), 10**20))
    text = format(Decimal(number).scaleb(-scale), "f")
    assert parser(column)(text) == number
    assert parser(column)(Decimal(text)) == number


@given(st.text(max_size=12))
def test_a_cell_is_an_integer_or_refused(text):
    column = ColumnDeclaration("x", "integer", Schema("integer", lower=-(10**12), upper=10**12))
    try:
        value = parser(column)(text)
    except ValueError:
        return
    assert str(value) == text.strip().lstrip("+").replace("-0", "0") or int(text) == value


@pytest.mark.parametrize(
    ("before", "after"),
    [('unit = "years"', 'unit = "ye\\u202Ears"'), ('unit = "years"', 'unit = "a\\nb"')],
)
def test_declarations_that_cannot_be_printed_are_refused(tmp_path, before, after):
    column = f'[datasets.a.columns.x]\ntype = "integer"\nlower = 0\nupper = 1\n{before}\n'
    text = f'[datasets.a]\nsource = "a.csv"\n{column}'
    path = tmp_path / "catalog.toml"
    path.write_text(text)
    load_catalog(path)
    path.write_text(text.replace(before, after))
    with pytest.raises(ConfigError, match="cannot be printed") as caught:
        load_catalog(path)
    assert "\u202e" not in str(caught.value)

"""Totals of rows that a database sends are those of the same rows in files, or the same refusal.

Nothing is added up by a database: it sends rows, which are read piece by piece. So these tests compare what
reaches the totals: PostgreSQL, MariaDB and DuckDB against CSV and Parquet, with cells that each writes in its
own way. All numbers are exact, and equal means bit for bit.
"""

from __future__ import annotations

import csv
import re
from contextlib import closing
from dataclasses import dataclass
from datetime import date, datetime
from decimal import Decimal
from pathlib import Path
from unittest import mock

import pytest
import tomli_w
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from parties.catalog.declarations.declaration import load_catalog
from parties.catalog.loading import loading
from parties.catalog.loading.loading import load, load_pieces
from parties.catalog.sources import databases
from parties.contracts.spec import Side
from parties.errors import DataError
from parties.jobs.checks.local_data import added_up, can_add_up, columns_of
from smc.analyses.registry import ANALYSES

pa = pytest.importorskip("pyarrow")
parquet = pytest.importorskip("pyarrow.parquet")

EXTREME = 2**63
COLUMNS = {
    "big": {"type": "integer", "lower": -EXTREME, "upper": EXTREME - 1},
    "whole": {"type": "integer", "lower": -1000, "upper": 1000},
    "mass": {"type": "decimal", "scale": 3, "lower": -500, "upper": 500},
    "rate": {"type": "decimal", "scale": 2, "lower": -100, "upper": 1000},
    "code": {"type": "category", "values": ["a", "A", "ab", "1"]},
    "name": {"type": "category", "values": ["e", "E", "é", "É", "ss", "ß", "東京"]},
    "smoker": {"type": "category", "values": ["false", "true"]},
    "seen": {"type": "date", "lower": "1900-01-01", "upper": "2099-12-31"},
    "came": {"type": "date", "lower": "1900-01-01", "upper": "2099-12-31"},
}
TYPES = {
    "postgres": {
        "big": "bigint",
        "whole": "numeric(10, 0)",
        "mass": "numeric",
        "rate": "float8",
        "code": "char(8)",
        "name": "text",
        "smoker": "boolean",
        "seen": "date",
        "came": "timestamp",
    },
    "mariadb": {
        "big": "bigint",
        "whole": "decimal(10, 0)",
        "mass": "decimal(30, 6)",
        "rate": "double",
        "code": "char(8)",
        "name": "varchar(40)",
        "smoker": "boolean",
        "seen": "date",
        "came": "datetime",
    },
    "duckdb": {
        "big": "bigint",
        "whole": "decimal(10, 0)",
        "mass": "decimal(30, 6)",
        "rate": "double",
        "code": "varchar",
        "name": "varchar",
        "smoker": "boolean",
        "seen": "date",
        "came": "timestamp",
    },
}
ARROW = {
    "big": pa.int64(),
    "whole": pa.decimal128(10, 0),
    "mass": pa.decimal128(30, 6),
    "rate": pa.float64(),
    "code": pa.string(),
    "name": pa.string(),
    "smoker": pa.bool_(),
    "seen": pa.date32(),
    "came": pa.timestamp("us"),
}
QUERIES = [
    {"kind": "count", "name": "all", "column": "big"},
    {"kind": "count", "name": "some", "column": "mass", "where": [{"column": "whole", "at_least": 1}]},
    {"kind": "sum", "name": "clamped", "column": "big", "lower": "-7", "upper": "70"},
    {"kind": "sum", "name": "masses", "column": "mass", "lower": "-20", "upper": "20", "by": ["name"]},
    {"kind": "mean", "name": "rates", "column": "rate", "lower": "0", "upper": "90"},
    {"kind": "variance", "name": "spread", "column": "rate", "lower": "0", "upper": "90"},
    {"kind": "histogram", "name": "wholes", "column": "whole", "edges": ["-10", "0", "60"], "by": ["code"]},
    {"kind": "crosstab", "name": "both", "columns": ["name", "code"]},
    {"kind": "crosstab", "name": "more", "columns": ["smoker", "name"]},
    {"kind": "median", "name": "middle", "column": "mass", "lower": "-100", "upper": "100", "step": "5"},
    {"kind": "histogram", "name": "days", "column": "seen", "edges": ["-9000", "0", "9000"]},
    {"kind": "histogram", "name": "times", "column": "came", "edges": ["-9000", "0", "9000"]},
]
JOB = ANALYSES["statistics"].parse({"epsilon": "1", "queries": QUERIES})
SIDE = Side("north", "d", {name: name for name in COLUMNS})


@dataclass(frozen=True)
class Database:
    """A database whose table `cells` can be filled.

    Attributes:
        kind: a key of `TYPES`.
        entries: of a catalog, that say where it is.
        connect: opens a session that may write.
        mark: what stands for a value in its statements.
        end: what ends a statement that makes a table.
    """

    kind: str
    entries: dict[str, str]
    connect: object
    mark: str
    end: str = ""

    def fill(self, types: dict[str, str], rows: list[tuple]) -> None:
        """Make the table anew, with these rows and their numbers in the column `row`."""
        columns = ", ".join(f"{name} {kind}" for name, kind in types.items())
        marks = ", ".join([self.mark] * (len(types) + 1))
        with closing(self.connect()) as session, closing(session.cursor()) as cursor:
            cursor.execute("drop table if exists cells")
            cursor.execute(f"create table cells (row_number_ int, {columns}){self.end}")
            if self.kind == "postgres":
                cursor.execute("grant select on cells to reader")
            if rows:
                numbered = [(number, *row) for number, row in enumerate(rows)]
                cursor.executemany(f"insert into cells values ({marks})", numbered)
            session.commit()


@pytest.fixture(params=["postgres", "mariadb", "duckdb"])
def database(request, tmp_path):
    kind = request.param
    if kind == "duckdb":
        module = pytest.importorskip("duckdb", reason="duckdb is not installed")
        path = tmp_path / "d.duckdb"
        return Database(kind, {"url": f"duckdb:///{path}"}, lambda: module.connect(str(path)), "?")
    secret = tmp_path / "db.url"
    if kind == "postgres":
        server = request.getfixturevalue("server")
        import psycopg

        secret.write_text(server.url())
        found = Database(
            kind, {"url_file": str(secret)}, lambda: psycopg.connect(server.url(user="boss")), "%s"
        )
    else:
        server = request.getfixturevalue("maria")
        import pymysql

        secret.write_text(server.url(user="clerk"))
        words = {"user": "boss", "password": "correct-horse", "database": "hospital", "charset": "utf8mb4"}
        found = Database(
            kind,
            {"url_file": str(secret)},
            lambda: pymysql.connect(host="127.0.0.1", port=server.port, **words),
            "%s",
            " character set utf8mb4 collate utf8mb4_general_ci",
        )
    secret.chmod(0o600)
    return found


def declared(folder: Path, source: dict, columns: dict, **fields: object):
    (folder / "catalog.toml").write_text(
        tomli_w.dumps({"datasets": {"d": {**source, "columns": columns, **fields}}})
    )
    return load_catalog(folder / "catalog.toml").dataset("d")


def in_database(database: Database, where: str = "") -> dict:
    query = f"select * from cells {where} order by row_number_"
    return {"kind": "sql", "query": query, **database.entries}


def in_csv(folder: Path, names, rows: list[tuple]) -> dict:
    with (folder / "d.csv").open("w", newline="", encoding="utf-8") as file:
        writer = csv.writer(file)
        writer.writerow(names)
        writer.writerows([["" if cell is None else text_of(cell) for cell in row] for row in rows])
    return {"source": "d.csv"}


def in_parquet(folder: Path, kinds: dict, rows: list[tuple]) -> dict:
    columns = zip(*rows, strict=True) if rows else [()] * len(kinds)
    arrays = {
        name: pa.array(list(cells), kind) for (name, kind), cells in zip(kinds.items(), columns, strict=True)
    }
    parquet.write_table(pa.table(arrays), folder / "d.parquet")
    return {"source": "d.parquet"}


def text_of(cell: object) -> str:
    """A cell as a CSV file has it."""
    if isinstance(cell, bool):
        return str(cell).lower()
    if isinstance(cell, datetime):
        return cell.date().isoformat()
    if isinstance(cell, float | Decimal):
        return format(Decimal(repr(cell)) if isinstance(cell, float) else cell, "f")
    return str(cell)


def outcome(dataset):
    """The totals, rows and notes; or the refusal, with its hint, in words that do not name the source."""
    assert can_add_up(JOB, dataset, SIDE)
    try:
        totals = added_up(JOB, dataset, SIDE, (), load_pieces)
        rows = JOB.totals([columns_of(SIDE, load(dataset, COLUMNS))])
    except DataError as problem:
        return re.sub(r" \(line [0-9]+\)", "", str(problem).replace(dataset.place, "d"))
    assert totals.columns.refusal is None
    assert entries(totals.columns) == entries(rows)
    return entries(totals.columns), totals.columns.rows, totals.notes


def entries(totals):
    return [found.tolist() for found in totals.entries]


def everywhere(database: Database, folder: Path, columns: dict, rows: list[tuple]) -> list:
    """The outcomes of the database, of CSV and of Parquet."""
    database.fill(TYPES[database.kind], rows)
    sources = (in_database(database), in_csv(folder, COLUMNS, rows), in_parquet(folder, ARROW, rows))
    return [outcome(declared(folder, source, columns)) for source in sources]


NARROW = st.integers(-1000, 1000)
USUAL = {
    "big": st.sampled_from([-EXTREME, EXTREME - 1, 0, -1]) | NARROW,
    "whole": NARROW.map(Decimal),
    "mass": st.integers(-500_000, 500_000).map(lambda thousandths: Decimal(thousandths).scaleb(-3)),
    "rate": st.integers(-10_000, 100_000).map(lambda hundredths: hundredths / 100) | st.just(-0.0),
    "code": st.sampled_from(["a", "A", "ab", "1", "a   ", "A "]),
    "name": st.sampled_from(["e", "E", "é", "É", "ss", "ß", "東京", "e ", " é"]),
    "smoker": st.booleans(),
    "seen": st.dates(date(1900, 1, 1), date(2099, 12, 31)),
    "came": st.dates(date(1900, 1, 1), date(2099, 12, 31)).map(lambda d: datetime(d.year, d.month, d.day)),
}
ODD = {
    "whole": st.sampled_from([Decimal(1001), Decimal(-9999999999)]),
    "mass": st.sampled_from([Decimal("0.0001"), Decimal("500.001"), Decimal("-1e20")]),
    "rate": st.sampled_from([0.1 + 0.2, 1e300, 5e-324, 1000.01]),
    "code": st.sampled_from(["B", "aB", "", "  "]),
    "name": st.sampled_from(["e\u0301x", "Ss", "ẞ", "Tōkyō", "東京 ", ""]),
    "seen": st.sampled_from([date(1899, 12, 31), date(2100, 1, 1)]),
}
IMPUTED = {
    "big": "-9",
    "whole": "3",
    "mass": "1.25",
    "rate": "50.5",
    "code": "ab",
    "name": "ß",
    "smoker": "true",
    "seen": "1970-01-02",
    "came": "2000-02-29",
}


@st.composite
def tables(draw):
    """Rows with few odd cells and some missing ones, and what is done about missing cells."""
    count = draw(st.integers(0, 9))
    columns, cells = {}, {}
    for name, entry in COLUMNS.items():
        held = draw(st.lists(USUAL[name], min_size=count, max_size=count))
        if count and name in ODD and draw(st.integers(0, 7)) == 0:
            held[draw(st.integers(0, count - 1))] = draw(ODD[name])
        missing = draw(st.sampled_from(["error", "drop", "impute"]))
        if count and (missing != "error" or draw(st.integers(0, 9)) == 0):
            for place in draw(st.sets(st.integers(0, count - 1), max_size=3)):
                held[place] = None
        done = {"impute": IMPUTED[name]} if missing == "impute" else {"missing": missing}
        columns[name] = {**entry, **done}
        cells[name] = held
    return columns, list(zip(*cells.values(), strict=True))


@given(tables(), st.integers(1, 4))
@settings(suppress_health_check=[HealthCheck.function_scoped_fixture])
def test_totals_of_a_database_are_those_of_files(database, tmp_path, table, size):
    columns, rows = table
    with mock.patch.object(databases, "ROWS", size), mock.patch.object(loading, "PIECE_ROWS", 2 * size):
        found, *others = everywhere(database, tmp_path, columns, rows)
    assert others == [found, found]


def test_what_collations_take_for_the_same_stays_apart(database, tmp_path):
    """One row each, and in MariaDB all of `names` are fewer groups."""
    names = COLUMNS["name"]["values"]
    rows = [(0, Decimal(0), Decimal(1), 0.0, "a", name, True, None, None) for name in names]
    columns = {name: {**entry, "missing": "error"} for name, entry in COLUMNS.items()}
    columns |= {name: {**COLUMNS[name], "impute": IMPUTED[name]} for name in ("seen", "came")}
    found, *others = everywhere(database, tmp_path, columns, rows)
    assert others == [found, found]
    sums = found[0][[query["name"] for query in QUERIES].index("masses")]
    assert sums
    assert 0 not in sums
    if database.kind == "mariadb":
        with closing(database.connect()) as session, closing(session.cursor()) as cursor:
            cursor.execute("select name from cells group by name")
            assert len(cursor.fetchall()) < len(names)


@pytest.mark.parametrize("database", ["postgres", "duckdb"], indirect=True)
def test_floats_of_32_bits_have_their_shortest_texts(database, tmp_path):
    """As `0.1`, not as the double beside it; MariaDB sends so few digits that it is refused elsewhere."""
    cells = [0.1, 123456.78, None, -0.0, 16777216.0, 3.5]
    column = {"x": {"type": "decimal", "scale": 2, "lower": -(10**9), "upper": 10**9, "missing": "drop"}}
    database.fill({"x": "real"}, [(cell,) for cell in cells])
    sources = [in_database(database), in_parquet(tmp_path, {"x": pa.float32()}, [(cell,) for cell in cells])]
    for source in sources:
        found = load(declared(tmp_path, source, column), ["x"])
        assert found.columns["x"].integers == [10, 12345678, 0, 1677721600, 350]


@pytest.mark.parametrize("where", ["", "where 1 = 0"])
def test_no_rows_are_totals_of_nothing(database, tmp_path, where):
    row = (1, Decimal(1), Decimal(1), 1.0, "a", "e", True, date(2000, 1, 1), datetime(2000, 1, 1))
    database.fill(TYPES[database.kind], [row] if where else [])
    found = outcome(declared(tmp_path, in_database(database, where), COLUMNS))
    assert found == outcome(declared(tmp_path, in_csv(tmp_path, COLUMNS, []), COLUMNS))
    assert found[1] == 0

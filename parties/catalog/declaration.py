"""What `catalog.toml` declares: data sets by name, with typed and bounded columns."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import date
from decimal import Decimal
from pathlib import Path
from typing import Any

from parties.errors import ConfigError, DataError
from parties.toml import StrictTable, near, read
from smc.analyses.base import Schema

KINDS = ("csv", "parquet", "sql", "value")
TYPES = ("integer", "decimal", "category", "date", "share", "ciphertext")
NAME = re.compile(r"[A-Za-z_][A-Za-z0-9_.\-]{0,63}")
"""What names of data sets, and of parties and columns in job files, may look like."""

_EPOCH = date(1970, 1, 1).toordinal()
_POWER = re.compile(r"(\d{1,3})\^(\d{1,4})")


@dataclass(frozen=True, slots=True)
class ColumnDeclaration:
    """One declared column.

    Attributes:
        name: the column's name in the source.
        type: one of `TYPES`.
        schema: what the peer may know of it.
    """

    name: str
    type: str
    schema: Schema


@dataclass(frozen=True, slots=True)
class DatasetDeclaration:
    """One declared data set.

    Attributes:
        name: its name in job files and policies; never used as a path.
        kind: one of `KINDS`.
        columns: the declared columns by name; no other column is ever read, keys apart.
        key: the columns that together identify a row; may be empty.
        source: the file of CSV and Parquet.
        url: the SQL connection string.
        query: the SQL query.
        driver: the DB-API module.
        values: the cells of a value data set, one row.
    """

    name: str
    kind: str
    columns: Mapping[str, ColumnDeclaration]
    key: tuple[str, ...] = ()
    source: Path | None = None
    url: str = field(default="", repr=False)
    query: str = ""
    driver: str = "sqlite3"
    values: Mapping[str, Any] = field(default_factory=dict, repr=False)

    @property
    def place(self) -> str:
        """How errors call the source."""
        return self.source.name if self.source else f"data set {self.name}"


@dataclass(frozen=True, slots=True)
class Catalog:
    """All data sets of a party."""

    datasets: Mapping[str, DatasetDeclaration]

    def dataset(self, name: str) -> DatasetDeclaration:
        """The declaration of a data set.

        Raises:
            DataError: there is none of that name.
        """
        found = self.datasets.get(name)
        if found is None:
            raise DataError(f"The catalog has no data set {name!r}.", near(name, list(self.datasets)))
        return found

    def schema(self, dataset: str, column: str) -> Schema:
        """The schema of one declared column.

        Raises:
            DataError: there is no such data set or column.
        """
        declared = self.dataset(dataset).columns
        if column not in declared:
            raise DataError(
                f"Data set {dataset!r} declares no column {column!r}.", near(column, list(declared))
            )
        return declared[column].schema


def load_catalog(path: Path) -> Catalog:
    """Read a catalog; relative paths in it are meant from its folder.

    Raises:
        ConfigError: the file is missing or declares something impossible; says where and how to mend it.
    """
    top = StrictTable(read(path, ConfigError), path.name, ConfigError)
    datasets = {
        name: _dataset(name, table, path) for name, table in top.table("datasets", required=False).items()
    }
    top.close()
    return Catalog(datasets)


def _dataset(name: str, raw: Any, path: Path) -> DatasetDeclaration:
    table = StrictTable(raw, f"{path.name}, data set {name}", ConfigError)
    if not NAME.fullmatch(name):
        raise table.fail("its name", "is not a plain word", "Use letters, digits, point, hyphen, underscore.")
    columns = {
        column: _column(column, StrictTable(declared, f"{table.place}, column {column}", ConfigError))
        for column, declared in table.table("columns").items()
    }
    if not columns:
        raise table.fail("columns", "is empty", f"Declare columns as [datasets.{name}.columns.NAME].")
    kind, source = _kind(table, path)
    key = (table.text("key"),) if isinstance(table.raw("key"), str) else table.texts("key", ())
    fields: dict[str, Any] = {}
    if kind == "sql":
        fields = _sql(table, path)
    elif kind == "value":
        fields = {"values": dict(table.table("values").items())}
        if key:
            raise table.fail("key", "makes no sense for a single row", "Remove it.")
    table.close()
    return DatasetDeclaration(name, kind, columns, key, source, **fields)


def _kind(table: StrictTable, path: Path) -> tuple[str, Path | None]:
    source = (path.parent / table.text("source")) if table.has("source") else None
    ending = source.suffix.lower().lstrip(".") if source else ""
    kind = table.choice("kind", KINDS, ending if ending in KINDS[:2] else None)
    if (kind in KINDS[:2]) != (source is not None):
        raise table.fail(
            "source", f"does not fit kind {kind!r}", "Files have a source; sql and value have none."
        )
    return kind, source


def _sql(table: StrictTable, path: Path) -> dict[str, Any]:
    if table.has("url") == table.has("url_file"):
        raise table.fail("url", "is needed, or url_file, and not both", 'Write url = "sqlite:///file.db".')
    if table.has("url_file"):
        url = _secret_url(table, path.parent / table.text("url_file"))
    else:
        url = table.text("url")
        if re.search(r"://[^/@]*:[^/@]*@|password\s*=|pwd\s*=", url, re.IGNORECASE):
            raise table.fail(
                "url", "holds a password", "Put it in a file of mode 0600 and name it as url_file."
            )
    driver = table.text("driver", "sqlite3")
    if driver == "sqlite3":
        if not url.startswith("sqlite:///"):
            raise table.fail(
                "url", "is no SQLite address", 'Write sqlite:///file.db, or set driver = "psycopg".'
            )
        url = str(path.parent / url.removeprefix("sqlite:///"))
    return {"url": url, "query": table.text("query"), "driver": driver}


def _secret_url(table: StrictTable, file: Path) -> str:
    try:
        if file.stat().st_mode & 0o077:
            raise table.fail("url_file", "may be read by others", f"Run chmod 600 {file}.")
        return file.read_text(encoding="utf-8").strip()
    except (OSError, UnicodeDecodeError):
        raise table.fail("url_file", "cannot be read", f"Check {file}.") from None


def _column(name: str, table: StrictTable) -> ColumnDeclaration:
    kind = table.choice("type", TYPES)
    unit = table.text("unit", "")
    schema: Schema
    if kind == "integer":
        lower, upper = _bounds(table, table.integer)
        schema = Schema("integer", lower=lower, upper=upper, unit=unit)
    elif kind == "date":
        lower, upper = _bounds(table, lambda key: _day(table, key))
        schema = Schema("integer", lower=lower, upper=upper, unit=unit or "days since 1970-01-01")
    elif kind == "decimal":
        scale = table.integer("scale", least=0)
        if scale > 18:
            raise table.fail("scale", "is above 18", "Choose at most 18 digits after the point.")
        lower, upper = _bounds(table, lambda key: _scaled(table, key, scale))
        schema = Schema("decimal", scale, lower, upper, unit=unit)
    elif kind == "category":
        values = table.texts("values")
        if not values or any(not value.strip() or value != value.strip() for value in values):
            raise table.fail(
                "values", "is empty, or a label is blank or has blanks around it", "List the labels."
            )
        schema = Schema("category", lower=0, upper=len(values) - 1, categories=values, unit=unit)
    elif kind == "share":
        schema = Schema("share", modulus=_modulus(table), unit=unit)
    else:
        schema = Schema("ciphertext", unit=unit)
    table.close()
    return ColumnDeclaration(name, kind, schema)


def _bounds(table: StrictTable, held: Any) -> tuple[int, int]:
    lower, upper = held("lower"), held("upper")
    if lower > upper:
        raise table.fail("lower", "is above upper", "Exchange them.")
    return lower, upper


def _day(table: StrictTable, key: str) -> int:
    value = table.raw(key)
    if isinstance(value, str):
        try:
            value = date.fromisoformat(value)
        except ValueError:
            value = None
    if type(value) is not date:
        raise table.fail(key, "is no date", "Write it as 1990-12-31.")
    return value.toordinal() - _EPOCH


def _scaled(table: StrictTable, key: str, scale: int) -> int:
    value = table.raw(key)
    try:
        if isinstance(value, bool) or not isinstance(value, int | str | Decimal):
            raise ValueError
        held = Decimal(value).scaleb(scale)
        if held != held.to_integral_value():
            raise ValueError
        return int(held)
    except (ValueError, ArithmeticError):
        raise table.fail(key, f"is no number with {scale} digits after the point", "Correct it.") from None


def _modulus(table: StrictTable) -> str:
    text = table.text("modulus").strip()
    if text in ("alice", "bob"):
        return text
    power = _POWER.fullmatch(text)
    if power and 0 < int(power[2]) <= 8192:
        value = int(power[1]) ** int(power[2])
    elif text.isascii() and text.isdigit() and len(text) <= 2500:
        value = int(text)
    else:
        value = 0
    if value < 2:
        raise table.fail(
            "modulus", "is none", 'Write "2", "2^64", an integer, or "alice" or "bob" for a Paillier N.'
        )
    return str(value)

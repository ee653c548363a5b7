"""What `catalog.toml` declares: data sets by name, with declared columns, keys, persons and a population."""

from __future__ import annotations

import json
import re
from collections.abc import Hashable, Mapping
from collections.abc import Set as AbstractSet
from dataclasses import dataclass, field
from pathlib import Path
from shlex import quote
from typing import Any, Final

from commons.errors import near
from parties.catalog.cells import parser
from parties.catalog.columns import ColumnDeclaration, parse_column
from parties.catalog.databases import DRIVERS, FILE_SCHEMES, SCHEMES, Query, is_single
from parties.catalog.dialect import Dialect, Writing, parse_dialect, parse_writing
from parties.catalog.persons import Kind, kind_of
from parties.catalog.strangers import unlike
from parties.errors import ConfigError, DataError
from parties.texts import NAME
from parties.toml import StrictTable, read
from smc.analyses.studies.columns import Schema

FILES: Final = {
    ".csv": "csv",
    ".csv.gz": "csv",
    ".tsv": "csv",
    ".xlsx": "excel",
    ".xls": "excel",
    ".ods": "excel",
    ".parquet": "parquet",
}
"""The kinds of files, by the ends of their names."""
_CONFIRMING: Final = {"bounds": "bounds {}=LOWER:UPPER", "labels": "values {}=LABEL,LABEL"}
KINDS: Final = ("csv", "excel", "parquet", "sql", "value")

MAXIMUM_ROWS: Final = 10_000_000
"""The most rows of a data set that declares no number."""


@dataclass(frozen=True, slots=True)
class DatasetDeclaration:
    """One declared data set.

    Attributes:
        name: its name in job files and policies; never used as a path.
        kind: one of `KINDS`.
        columns: the declared columns by name; no other column is ever read, keys and persons apart.
        population: whose data these are. Data sets of one population share one privacy budget.
        key: the columns that together identify a row; may be empty.
        person: the columns that together tell whom a row is about; empty if each row is about another person.
        source: the file of CSV, Excel and Parquet.
        dialect: how the source is written.
        sheet: of an Excel file; empty if it has one only.
        url: the SQL connection string.
        query: the SQL query.
        driver: the DB-API module.
        values: the cells of a value data set, one row.
        maximum_rows: the most rows that the source may have; public, and so the same whatever rows there are.
        maximum_rows_per_person: the most rows about one person; likewise; None where nothing is declared.
    """

    name: str
    kind: str
    columns: Mapping[str, ColumnDeclaration]
    population: str
    key: tuple[str, ...] = ()
    person: tuple[str, ...] = ()
    source: Path | None = None
    dialect: Dialect = field(default_factory=Dialect)
    sheet: str = ""
    url: str = field(default="", repr=False)
    query: str = ""
    driver: str = "sqlite3"
    values: Mapping[str, Any] = field(default_factory=dict, repr=False)
    maximum_rows: int = MAXIMUM_ROWS
    maximum_rows_per_person: int | None = None

    @property
    def naming(self) -> tuple[str, ...]:
        """The columns that tell whom a row is about; the key where each row is about another person."""
        return self.person or self.key

    @property
    def kinds(self) -> tuple[Kind, ...]:
        """By what the cells of `naming` are compared."""
        return tuple(kind_of(self.columns.get(column)) for column in self.naming)

    @property
    def origin(self) -> Hashable:
        """What is the same for two names of one source; None of a single row in the catalog itself.

        Files, SQLite databases too, are the same however they are reached, queries however they are spaced.
        """
        if self.source is not None:
            file = _same_file(self.source)
            return (file, self.sheet) if self.sheet else file
        if self.kind != "sql":
            return None
        asked = " ".join(self.query.split()).rstrip("; ")
        return (self.driver, _same_file(Path(self.url)) if self.driver in FILE_SCHEMES else self.url, asked)

    @property
    def rows_per_person(self) -> int | None:
        """The most rows about one person: 1 where each row is another; None where nothing is declared."""
        return self.maximum_rows_per_person if self.person else 1

    def entry(self, column: str) -> str:
        """The table of the catalog that declares a column, as TOML writes its name."""
        return f"{self.table}.columns.{toml_key(column)}"

    @property
    def table(self) -> str:
        """The table of the catalog that declares the data set, as TOML writes its name."""
        return f"datasets.{toml_key(self.name)}"

    @property
    def asked(self) -> Query:
        """What is asked of the database of an SQL data set."""
        return Query(self.driver, self.url, self.query, self.place)

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

    def tells_unlike(self, name: str) -> tuple[str, str] | None:
        """What is wrong, and how to fix it, where data sets of one population call a person differently.

        Between columns of different types, or a key and persons, everybody would be a stranger.

        Args:
            name: of one of them, which is declared.
        """
        own = self.datasets[name]
        alike = [d for d in self.datasets.values() if d.population == own.population and d.naming]
        return unlike(own, alike) if own.naming else None

    def names_of_persons(self, name: str, columns: AbstractSet[str]) -> tuple[str, ...]:
        """Which of these columns name persons, in order: tables by them would have a cell for each person.

        They are those that tell persons apart in some data set of the population, and those of a key of which
        no column is missing.

        Args:
            name: of a data set, which is declared.
            columns: of it.
        """
        population = self.datasets[name].population
        found: set[str] = set()
        for each in self.datasets.values():
            if each.population == population:
                found |= columns & set(each.naming)
                found |= set(each.key) if columns >= set(each.key) else set()
        return tuple(sorted(found))

    def schema(self, dataset: str, column: str) -> Schema:
        """The schema of one declared column, for jobs: the peer sees it, and noise is scaled by its bounds.

        Raises:
            DataError: there is no such data set or column, or nobody has confirmed its bounds and labels.
        """
        found = self.dataset(dataset)
        declared = found.columns
        if column not in declared:
            raise DataError(
                f"Data set {dataset!r} declares no column {column!r}.", near(column, list(declared))
            )
        if not declared[column].is_confirmed:
            what = "labels" if declared[column].type == "category" else "bounds"
            raise DataError(
                f"The {what} of column {column!r} of data set {dataset!r} come from the data, and nobody has "
                "confirmed them: the peer would see them, and noise would be scaled by them.",
                f"Run `duetto data confirm {toml_key(dataset)} {quote(column)} "
                f"--{_CONFIRMING[what].format(quote(column))}` with what is known without the data.",
            )
        return declared[column].schema


def toml_key(name: str) -> str:
    """A name as TOML writes it in a header."""
    return name if re.fullmatch(r"[A-Za-z0-9_-]+", name) else json.dumps(name, ensure_ascii=False)


def _same_file(path: Path) -> Hashable:
    try:
        found = path.stat()
    except OSError:
        return str(path.absolute())
    return (found.st_dev, found.st_ino)


def load_catalog(path: Path) -> Catalog:
    """Read a catalog; relative paths in it are meant from its folder.

    Raises:
        ConfigError: the file is missing or declares something impossible; says where and how to fix it.
    """
    return catalog_of(read(path, ConfigError), path)


def catalog_of(document: Mapping[str, Any], path: Path) -> Catalog:
    """What a parsed catalog declares.

    Args:
        document: the TOML.
        path: where it stands, or will stand.

    Raises:
        ConfigError: as `load_catalog`.
    """
    top = StrictTable(document, path.name, ConfigError)
    datasets = {
        name: _dataset(name, table, path) for name, table in top.table("datasets", required=False).items()
    }
    top.close()
    for name, dataset in datasets.items():
        shared = datasets.get(dataset.population, dataset).population
        if shared != dataset.population:
            raise ConfigError(
                f"{path.name}, data set {name}: its population {dataset.population!r} is a data set of "
                f"another population, {shared!r}.",
                f"Write population = {shared!r}, or choose another name.",
            )
    _check_sources(path.name, datasets)
    return Catalog(datasets)


def _check_sources(place: str, datasets: Mapping[str, DatasetDeclaration]) -> None:
    """Refuse two names of one source that do not share a population: each would have a budget of its own.

    A file is the same through links, too; of databases the address and the query are compared as they stand.
    """
    seen: dict[Hashable, DatasetDeclaration] = {}
    for dataset in datasets.values():
        source = dataset.origin
        first = seen.setdefault(source, dataset) if source is not None else dataset
        if first.population != dataset.population:
            raise ConfigError(
                f"{place}: data sets {first.name!r} and {dataset.name!r} read the same source and would have "
                "two budgets for the same people.",
                f'Write population = "{first.population}" below [datasets.{dataset.name}].',
            )


def _dataset(name: str, raw: Any, path: Path) -> DatasetDeclaration:
    table = StrictTable(raw, f"{path.name}, data set {name}", ConfigError)
    if not NAME.fullmatch(name):
        raise table.fail("its name", "is not a plain word", "Use letters, digits, point, hyphen, underscore.")
    kind, source = _kind(table, path)
    dialect = Dialect()
    if kind == "csv":
        dialect = parse_dialect(table)
    elif kind != "value":
        dialect = Dialect(writing=parse_writing(table, Writing()))
    columns = {
        column: _column(
            column, StrictTable(declared, f"{table.place}, column {column}", ConfigError), dialect.writing
        )
        for column, declared in table.table("columns").items()
    }
    if not columns:
        raise table.fail("columns", "is empty", f"Declare columns as [datasets.{name}.columns.NAME].")
    population = table.text("population", name)
    if not NAME.fullmatch(population):
        raise table.fail(
            "population", "is not a plain word", "Use letters, digits, point, hyphen, underscore."
        )
    key, person = _names(table, "key"), _names(table, "person")
    for column in (*key, *person):
        declared = columns.get(column)
        if declared and (declared.missing == "impute" or declared.constant is not None):
            raise table.fail(
                "key or person",
                f"names {column!r}, whose cells come from the catalog (constant or impute)",
                "Name a column of the source; rows where it is missing can be dropped.",
            )
    fields: dict[str, Any] = {}
    if kind == "sql":
        fields = _sql(table, path)
    elif kind == "value":
        fields = {"values": dict(table.table("values").items())}
        if key or person:
            raise table.fail("key or person", "makes no sense for a single row", "Remove it.")
    elif kind == "excel":
        fields = {"sheet": table.text("sheet", "")}
    fields |= _most_rows(table, person)
    table.close()
    return DatasetDeclaration(name, kind, columns, population, key, person, source, dialect, **fields)


def _most_rows(table: StrictTable, person: tuple[str, ...]) -> dict[str, int]:
    """How many rows there may be, of all and of one person."""
    found = {"maximum_rows": table.integer("maximum_rows", MAXIMUM_ROWS, minimum=1)}
    if table.has("maximum_rows_per_person"):
        if not person:
            raise table.fail(
                "maximum_rows_per_person",
                "is declared without person",
                'Write person = "COLUMN" as well; else each row is about another person.',
            )
        found["maximum_rows_per_person"] = table.integer("maximum_rows_per_person", minimum=1)
    return found


def _names(table: StrictTable, key: str) -> tuple[str, ...]:
    return (table.text(key),) if isinstance(table.raw(key), str) else table.texts(key, ())


def _column(name: str, table: StrictTable, writing: Writing) -> ColumnDeclaration:
    column = parse_column(name, table, writing)
    stated = {"impute": column.imputed if column.missing == "impute" else None, "constant": column.constant}
    for key, text in stated.items():
        try:
            if text is not None:
                parser(column)(text)
        except ValueError as problem:
            raise table.fail(key, str(problem), "Give a value as cells of this column hold it.") from None
    return column


def _kind(table: StrictTable, path: Path) -> tuple[str, Path | None]:
    source = (path.parent / table.text("source")) if table.has("source") else None
    known = file_kind(source) if source else None
    if source is not None and known is None and not table.has("kind"):
        raise table.fail("source", f"ends in none of {', '.join(FILES)}", 'Say what it is: kind = "csv".')
    kind = table.choice("kind", KINDS, known)
    if (kind in FILES.values()) != (source is not None):
        raise table.fail(
            "source", f"does not fit kind {kind!r}", "Files have a source; sql and value have none."
        )
    return kind, source


def file_kind(path: Path) -> str | None:
    """The kind of a file by the end of its name, None if that says nothing."""
    return next((kind for ending, kind in FILES.items() if path.name.lower().endswith(ending)), None)


def _sql(table: StrictTable, path: Path) -> dict[str, Any]:
    if table.has("url") == table.has("url_file"):
        raise table.fail("url", "or url_file is needed, and not both", 'Write url = "sqlite:///file.db".')
    if table.has("url_file"):
        url = _secret_url(table, path.parent / table.text("url_file"))
    else:
        url = table.text("url")
        if re.search(r"://[^/@]*:[^/@]*@|password\s*=|pwd\s*=", url, re.IGNORECASE):
            hint = "Put it in a file of mode 0600: url_file = ..., or `duetto data add --url-file ...`."
            raise table.fail("url", "holds a password", hint)
    scheme = url.partition("://")[0] if "://" in url else ""
    if scheme and scheme not in SCHEMES and not table.has("driver"):
        known = ", ".join(f"{known}://" for known in SCHEMES)
        raise table.fail(
            "url",
            f"begins with {scheme[:32]!r}",
            f"Known are {known}. What lies elsewhere has to be saved as a file first.",
        )
    driver = table.choice("driver", DRIVERS, SCHEMES.get(scheme))
    if driver in FILE_SCHEMES:
        start = f"{FILE_SCHEMES[driver]}:///"
        if not url.startswith(start):
            raise table.fail("url", f"is not an address for {driver}", f"Write {start}file.db.")
        url = str(path.parent / url.removeprefix(start))
    query = table.text("query")
    if not is_single(query):
        raise table.fail("query", "has more than one statement", "Write one SELECT, without semicolons.")
    return {"url": url, "query": query, "driver": driver}


def _secret_url(table: StrictTable, file: Path) -> str:
    try:
        if file.stat().st_mode & 0o077:
            raise table.fail("url_file", "can be read by other users", f"Run `chmod 600 {quote(str(file))}`.")
        return file.read_text(encoding="utf-8").strip()
    except (OSError, UnicodeDecodeError):
        raise table.fail("url_file", "cannot be read", f"Check {file}.") from None

"""What `catalog.toml` declares: data sets by name, with declared columns, keys, persons and a population."""

from __future__ import annotations

import json
import re
from collections.abc import Hashable, Mapping
from collections.abc import Set as AbstractSet
from dataclasses import dataclass, field
from functools import lru_cache
from pathlib import Path
from shlex import quote
from typing import Any, Final

from commons.errors import near
from commons.settings.reader import read_declared
from commons.settings.table import StrictTable
from commons.settings.toml import parse, text_of
from commons.tabular.dialect import Dialect
from parties.catalog.columns.columns import ColumnDeclaration
from parties.catalog.columns.persons import Kind, kind_of
from parties.catalog.declarations.strangers import unlike
from parties.catalog.declarations.tables import (
    DATASETS,
    MAXIMUM_ROWS,
    CatalogFile,
    DatasetTable,
    SqlTable,
    WrittenTable,
)
from parties.catalog.sources.databases import FILE_SCHEMES, SCHEMES, Query
from parties.errors import ConfigError, DataError
from smc.analyses.studies.columns import Schema

_CONFIRMING: Final = {"bounds": "bounds {}=LOWER:UPPER", "labels": "values {}=LABEL,LABEL"}


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
        header: lines of an Excel file that name the columns, one of CSV; none for the first that has cells.
        footer: how rows at the end of such a file begin that are left out.
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
    header: tuple[int, ...] = ()
    footer: tuple[str, ...] = ()
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
    return _catalog(_tables(text_of(path, ConfigError), path), path)


@lru_cache(maxsize=16)
def _tables(text: str, path: Path) -> CatalogFile:
    """What the text of a catalog says; daemons read the same text many times a job."""
    document = parse(text.removeprefix("\ufeff"), path.name, ConfigError)
    return read_declared(CatalogFile, _top(document, path))


def _top(document: Mapping[str, Any], path: Path) -> StrictTable:
    return StrictTable(document, path.name, ConfigError, folder=path.parent)


def catalog_of(document: Mapping[str, Any], path: Path) -> Catalog:
    """What a parsed catalog declares.

    Args:
        document: the TOML.
        path: where it stands, or will stand.

    Raises:
        ConfigError: as `load_catalog`.
    """
    return _catalog(read_declared(CatalogFile, _top(document, path)), path)


def _catalog(tables: CatalogFile, path: Path) -> Catalog:
    datasets = {
        name: _dataset(one, path.parent, f"{path.name}, data set {name}")
        for name, one in tables.datasets.items()
    }
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


def _dataset(table: DatasetTable, folder: Path, place: str) -> DatasetDeclaration:
    """What a table declares."""
    plain = ("name", "key", "person", "maximum_rows", "maximum_rows_per_person")
    further = ("source", "dialect", "sheet", "header", "footer", "values")
    found = {key: getattr(table, key) for key in (*plain, *further) if hasattr(table, key)}
    if isinstance(table, WrittenTable):
        found["dialect"] = Dialect(writing=table.writing)
    if isinstance(table, SqlTable):
        found |= _sql(table, folder, place)
    return DatasetDeclaration(
        kind=next(word for word, kind in DATASETS.items() if type(table) is kind),
        columns={name: column.declaration() for name, column in table.columns.items()},
        population=table.name if table.population is None else table.population,
        **found,
    )


def _sql(table: SqlTable, folder: Path, place: str) -> dict[str, str]:
    """Connection string, query and driver."""
    if (table.url is None) == (table.url_file is None):
        raise ConfigError(
            f"{place}: url or url_file is needed, and not both.", 'Write url = "sqlite:///file.db".'
        )
    url = table.url if table.url_file is None else _secret_url(table.url_file, place)
    if table.url and re.search(r"://[^/@]*:[^/@]*@|password\s*=|pwd\s*=", table.url, re.IGNORECASE):
        raise ConfigError(
            f"{place}: url holds a password.",
            "Put it in a file of mode 0600: url_file = ..., or `duetto data add --url-file ...`.",
        )
    url = url or ""
    scheme = url.partition("://")[0] if "://" in url else ""
    if scheme and scheme not in SCHEMES and table.driver is None:
        raise ConfigError(
            f"{place}: url begins with {scheme[:32]!r}.",
            f"Known are {', '.join(f'{known}://' for known in SCHEMES)}. What lies elsewhere has to be saved "
            "as a file first.",
        )
    driver = table.driver or SCHEMES.get(scheme)
    if driver is None:
        raise ConfigError(f"{place}: driver is missing.", "Add driver.")
    if driver in FILE_SCHEMES:
        start = f"{FILE_SCHEMES[driver]}:///"
        if not url.startswith(start):
            raise ConfigError(f"{place}: url is not an address for {driver}.", f"Write {start}file.db.")
        url = str(folder / url.removeprefix(start))
    return {"url": url, "query": table.query, "driver": driver}


def _secret_url(file: Path, place: str) -> str:
    try:
        if file.stat().st_mode & 0o077:
            raise ConfigError(
                f"{place}: url_file can be read by other users.", f"Run `chmod 600 {quote(str(file))}`."
            )
        return file.read_text(encoding="utf-8").strip()
    except (OSError, UnicodeDecodeError):
        raise ConfigError(f"{place}: url_file cannot be read.", f"Check {file}.") from None

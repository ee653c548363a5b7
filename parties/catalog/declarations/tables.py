"""The tables of `catalog.toml`: which keys a data set may have, by its kind."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from itertools import pairwise
from pathlib import Path
from typing import Annotated, Any, Final

from typing_extensions import override

from commons.settings.bounds import Between, OneOf
from commons.settings.marks import Inline, Item, Length, Matching, Read, Single, UnfitError, Unread, Variants
from commons.settings.table import StrictTable
from commons.tabular.dialect import Dialect, Writing
from parties.catalog.columns.cells import parser
from parties.catalog.columns.columns import COLUMNS, ColumnTable
from parties.catalog.columns.dialect import parse_dialect, parse_writing
from parties.catalog.sources.databases import DRIVERS, is_single
from parties.errors import ConfigError
from parties.texts import NAME

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

MAXIMUM_ROWS: Final = 10_000_000
"""The most rows of a data set that declares no number."""


MAX_HEADER_ROW: Final = 1000
MAX_HEADER_ROWS: Final = 3
"""Rows of a spreadsheet that name the columns."""

_WORD: Final = Matching(NAME, "is not a plain word", "Use letters, digits, point, hyphen, underscore.")
Names = Annotated[tuple[str, ...], Single()]


def _dialect(table: StrictTable) -> Dialect:
    dialect = parse_dialect(table)
    table.context = dialect.writing  # of its columns, unless they say otherwise
    return dialect


def _writing(table: StrictTable) -> Writing:
    writing = parse_writing(table, Writing())
    table.context = writing
    return writing


@dataclass(frozen=True, slots=True, kw_only=True)
class DatasetTable:
    """What every data set may have.

    Attributes:
        name: of the data set, under which it stands.
        population: whose data these are; data sets of one population share one privacy budget.
        key: the columns that together identify a row.
        person: the columns that together tell whom a row is about, if a person may have several.
        maximum_rows: the most rows that the source may have.
        maximum_rows_per_person: the most rows about one person.
        columns: the declared columns by name; no other column is ever read, keys and persons apart.

    Raises:
        UnfitError: the entries do not fit each other.
    """

    name: Annotated[str, Unread()]
    population: Annotated[str | None, _WORD] = None
    key: Names = ()
    person: Names = ()
    maximum_rows: Annotated[int, Between(minimum=1)] = MAXIMUM_ROWS
    maximum_rows_per_person: Annotated[int | None, Between(minimum=1)] = None
    columns: Annotated[
        Mapping[str, ColumnTable], Length(1), Item("column"), Variants.by_word("type", COLUMNS)
    ]

    def __post_init__(self) -> None:
        for column in (*self.key, *self.person):
            found = self.columns.get(column)
            if found and (found.impute is not None or found.constant is not None):
                raise UnfitError(
                    "key or person",
                    f"names {column!r}, whose cells come from the catalog (constant or impute)",
                    "Name a column of the source; rows where it is missing can be dropped.",
                )
        if self.maximum_rows_per_person is not None and not self.person:
            raise UnfitError(
                "maximum_rows_per_person",
                "is declared without person",
                'Write person = "COLUMN" as well; else each row is about another person.',
            )
        for name, found in self.columns.items():
            read = parser(found.declaration())
            for key, text in (("impute", found.impute), ("constant", found.constant)):
                try:
                    if text is not None:
                        read(text.strip())
                except ValueError as problem:
                    hint = "Give a value as cells of this column hold it."
                    raise UnfitError(key, str(problem), hint, f"column {name}") from None


@dataclass(frozen=True, slots=True, kw_only=True)
class WrittenTable(DatasetTable):
    """A source that is no CSV, whose texts may be written in ways.

    Attributes:
        writing: how numbers, dates and missing cells are written in texts.
    """

    writing: Annotated[Writing, Inline(parser=_writing)]


@dataclass(frozen=True, slots=True, kw_only=True)
class ParquetTable(WrittenTable):
    """A file of Parquet.

    Attributes:
        source: the file.
    """

    source: Path


def check_header(rows: Sequence[int]) -> str:
    """What is wrong with rows that are to name the columns, as the end of a sentence; empty if nothing."""
    whole = [row for row in rows if type(row) is int and 1 <= row <= MAX_HEADER_ROW]
    if len(whole) < len(rows) or len(rows) > MAX_HEADER_ROWS or any(b <= a for a, b in pairwise(whole)):
        return f"is not a row from 1 to {MAX_HEADER_ROW}, nor a list of up to {MAX_HEADER_ROWS} in order"
    return ""


def _parse_header(value: Any, place: str) -> tuple[int, ...]:
    rows = value if isinstance(value, list) else [value]
    if problem := check_header(rows) or ("" if rows else "is empty"):
        raise ConfigError(f"{place} {problem}.", "Write header = 3, or header = [3, 4].")
    return tuple(rows)


_ROW: Final = {"type": "integer", "minimum": 1, "maximum": MAX_HEADER_ROW}
_HEADER: Final = {
    "anyOf": [_ROW, {"type": "array", "items": _ROW, "minItems": 1, "maxItems": MAX_HEADER_ROWS}]
}


_BEGINNING: Final = re.compile(r"\S(?:.{0,198}\S)?")
Footer = Annotated[
    tuple[str, ...],
    Single(),
    Matching(_BEGINNING, "is blank or has blanks around it", 'For example: footer = "Total".'),
]


@dataclass(frozen=True, slots=True, kw_only=True)
class CsvTable(DatasetTable):
    """A file of CSV.

    Attributes:
        source: the file.
        dialect: how it is written.
        header: the line that names the columns, or several below each other, from 1; the first that is not
            blank unless given.
        footer: how rows at the end begin that are left out, such as a sum.
    """

    source: Path
    dialect: Annotated[Dialect, Inline(parser=_dialect)]
    header: Annotated[tuple[int, ...], Read(_parse_header, _HEADER)] = ()
    footer: Footer = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class ExcelTable(ParquetTable):
    """A file of a spreadsheet.

    Attributes:
        sheet: its sheet; not needed if it has one only.
        header: the row that names the columns, or several below each other, from 1; the first that has cells
            unless given.
        footer: how rows at the end begin that are left out, such as a sum.
    """

    sheet: str = ""
    header: Annotated[tuple[int, ...], Read(_parse_header, _HEADER)] = ()
    footer: Footer = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class SqlTable(WrittenTable):
    """A query.

    Attributes:
        url: the connection string, without a password.
        url_file: a file of mode 0600 that holds it; one of the two.
        query: one SELECT.
        driver: the DB-API module, where the connection string does not say it.
    """

    url: str | None = None
    url_file: Path | None = None
    query: str
    driver: Annotated[str | None, OneOf(DRIVERS)] = None

    @override
    def __post_init__(self) -> None:
        if not is_single(self.query):
            raise UnfitError("query", "has more than one statement", "Write one SELECT, without semicolons.")
        DatasetTable.__post_init__(self)


@dataclass(frozen=True, slots=True, kw_only=True)
class ValueTable(WrittenTable):
    """A single row in the catalog itself.

    Attributes:
        values: its cells by column.
    """

    values: Mapping[str, Any]

    @override
    def __post_init__(self) -> None:
        DatasetTable.__post_init__(self)
        if self.key or self.person:
            raise UnfitError("key or person", "makes no sense for a single row", "Remove it.")


DATASETS: Final[Mapping[str, type[DatasetTable]]] = {
    "csv": CsvTable,
    "excel": ExcelTable,
    "parquet": ParquetTable,
    "sql": SqlTable,
    "value": ValueTable,
}
KINDS: Final = tuple(DATASETS)


def _choose(table: StrictTable) -> str:
    """The kind of a data set: as it is said, or by the end of the name of its file."""
    source = table.text("source", "") if table.has("source") else None
    known = file_kind(Path(source)) if source is not None else None
    if source is not None and known is None and not table.has("kind"):
        raise table.fail("source", f"ends in none of {', '.join(FILES)}", 'Say what it is: kind = "csv".')
    if known is None and not table.has("kind"):
        raise table.missing("kind")
    kind = table.choice("kind", KINDS, known or "")
    if (kind in FILES.values()) != (source is not None):
        hint = "Files have a source; sql and value have none."
        raise table.fail("source", f"does not fit kind {kind!r}", hint)
    return kind


@dataclass(frozen=True, slots=True)
class CatalogFile:
    """The file.

    Attributes:
        datasets: the data sets by name.
    """

    datasets: Annotated[
        Mapping[str, DatasetTable],
        _WORD,
        Item("data set"),
        Variants(DATASETS, _choose, "kind", frozenset(FILES.values())),
    ] = field(default_factory=dict)


def file_kind(path: Path) -> str | None:
    """The kind of a file by the end of its name, None if that says nothing."""
    return next((kind for ending, kind in FILES.items() if path.name.lower().endswith(ending)), None)

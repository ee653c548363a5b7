"""A new data set for the catalog: its source is looked at, its entry drafted, completed by a person, written.

Nothing is written before `Addition.write`, and what a catalog has already stays as it is.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, Final

from commons.settings.toml import parse
from commons.tabular.dialect import Dialect, Writing
from parties.catalog.declarations.declaration import Catalog, DatasetDeclaration, catalog_of
from parties.catalog.declarations.tables import check_header, file_kind
from parties.catalog.drafting.confirming import confirm
from parties.catalog.drafting.drafting import LEFT_OUT, Choices, Draft, draft
from parties.catalog.drafting.rendering import text_of
from parties.catalog.sources import csvs, excel
from parties.catalog.sources.databases import query_of, tables_of
from parties.errors import ConfigError, DataError
from parties.pki.files import write_atomically
from smc.errors import UsageError

NONE: Final = "-"
"""What a person types for none."""

_MODE: Final = 0o644
_WRITE: Final = re.compile(r'Write (\w+) = "?([^"\]]+?)"? below \[\]')
_REMOVE: Final = re.compile(r"Remove (\w+) below \[\]")


@dataclass(frozen=True, slots=True, kw_only=True)
class Asked:
    """What a person says of a source; all but the source can be left to the draft.

    Attributes:
        source: a file, or the address of a database.
        url_file: a file that holds such an address, with a password.
        name: of the data set.
        population: whose data these are.
        sheet: of an Excel file.
        header: its lines that name the columns; None to find them out.
        footer: how rows at the end of either begin that are left out; None to find them out.
        table: of a database.
        query: in place of a table.
        delimiter: what separates the cells of a CSV file; None to find it out.
        encoding: of a CSV file; empty to find it out.
        decimal: what stands before decimals, where cells can be read in several ways.
        thousands: what stands between thousands.
        date_format: such as `%d.%m.%Y`.
        key: columns that are never empty or twice; None to propose one.
        person: columns that tell whom a row is about; None to propose one.
        choices: what is said of columns.
        is_known: whether the catalog has the data set, and it is looked at to be revised.
    """

    source: str | None = None
    url_file: str | None = None
    name: str = ""
    population: str = ""
    sheet: str = ""
    header: tuple[int, ...] | None = None
    footer: tuple[str, ...] | None = None
    table: str = ""
    query: str = ""
    delimiter: str | None = None
    encoding: str = ""
    decimal: str = ""
    thousands: str = ""
    date_format: str = ""
    key: Sequence[str] | None = None
    person: Sequence[str] | None = None
    choices: Choices = field(default_factory=Choices)
    is_known: bool = False


@dataclass(frozen=True, slots=True)
class Addition:
    """A data set that is to be added.

    Attributes:
        path: the catalog.
        before: its text; what is written replaces nothing else.
        draft: what was found in the source.
        source: the entries of the catalog that say where the data are.
        entry: the text that is added, with comments.
    """

    path: Path
    before: str
    draft: Draft
    source: Mapping[str, Any]
    entry: str

    @property
    def name(self) -> str:
        """The name of the data set."""
        return self.draft.dataset.name

    @property
    def dataset(self) -> DatasetDeclaration:
        """What the entry declares.

        Raises:
            ConfigError: it declares something that does not hold together.
        """
        return catalog_of(parse(self._whole, self.path.name, ConfigError), self.path).dataset(self.name)

    @property
    def _whole(self) -> str:
        return f"{self.before.rstrip()}\n\n{self.entry}" if self.before.strip() else self.entry

    def without(self, columns: Collection[str], reason: str = LEFT_OUT) -> Addition:
        """The same without some of its columns; the source is not read again."""
        kept = {name: one for name, one in self.draft.columns.items() if name not in columns}
        dropped = {name: reason for name in self.draft.columns if name in columns}
        found = replace(self.draft, columns=kept, left_out=self.draft.left_out | dropped)
        return replace(self, draft=found, entry=text_of(found, self.source))

    def complete(self, given: Mapping[str, str], columns: Sequence[str]) -> Addition:
        """The same with bounds and labels that a person stands for, as in `confirming.confirm`.

        Raises:
            ConfigError: a column is not there, or what is given does not fit its type.
        """
        if not given and not columns:
            return self
        return replace(self, entry=confirm(self.entry, self.name, given, columns))

    def write(self) -> None:
        """Put the entry behind those of the catalog.

        Raises:
            ConfigError: the catalog has changed since it was read; nothing was written.
        """
        if _text(self.path) != self.before:
            raise ConfigError(f"{self.path.name} was changed by somebody else meanwhile.", "Do it once more.")
        mode = self.path.stat().st_mode & 0o777 if self.path.exists() else _MODE
        write_atomically(self.path, self._whole.encode(), mode)


@dataclass(frozen=True, slots=True)
class _Source:
    """Where data are.

    Attributes:
        dataset: the same as a declaration without columns.
        entries: the entries of the catalog that say so.
        called: what the data set is called unless somebody says otherwise.
        doubt: what a person should know of how it was read.
    """

    dataset: DatasetDeclaration
    entries: Mapping[str, Any]
    called: str
    doubt: str = ""


def draft_addition(path: Path, asked: Asked) -> Addition:
    """Look at all rows of a source, and draft an entry for it.

    Args:
        path: the catalog.
        asked: the source, and what is known of it.

    Raises:
        UsageError: no source is given.
        DataError: the source cannot be read, or does not have what is asked for.
        ConfigError: the catalog is wrong, or has a data set of that name.
    """
    before = _text(path)
    known = catalog_of(parse(before, path.name, ConfigError), path)
    try:
        place = _database(path, asked) if _is_database(asked) else _file(path, asked)
    except DataError as error:
        raise DataError(error.what, _as_options(error.hint)) from None
    name = asked.name or _plain(place.called)
    if name in known.datasets and not asked.is_known:
        raise ConfigError(f"The catalog has a data set {name!r} already.", "Choose another with --name.")
    population = asked.population or _population(place, known, name)
    try:
        found = draft(replace(place.dataset, name=name, population=population), asked.choices)
    except DataError as error:
        raise DataError(error.what, _as_options(error.hint)) from None
    found.doubt = place.doubt
    _identify(found, asked)
    return Addition(path, before, found, place.entries, text_of(found, place.entries))


def _as_options(hint: str) -> str:
    """A hint about an entry of the catalog, of which there is none yet, as one about options."""
    return _REMOVE.sub(r"Leave out --\1", _WRITE.sub(r"Give --\1 \2", hint)).replace(" below []", "")


def header_rows(text: str) -> tuple[int, ...] | None:
    """Rows that name the columns, as a person types them: `3`, `3, 4`, `3-4`; None for nothing typed.

    Raises:
        UsageError: the text is nothing of the kind.
    """
    parts = re.split(r"[\s,;-]+", text.strip()) if text.strip() else []
    rows = tuple(int(part) if part.isascii() and part.isdecimal() and len(part) < 8 else 0 for part in parts)
    if problem := check_header(rows):
        raise UsageError(f"{text[:40]!r} {problem}.", "Write the number of the row, such as 3, or 3, 4.")
    return rows or None


def footer_words(words: Sequence[str]) -> tuple[str, ...] | None:
    """How rows at the end begin, as a person says it: None for nothing, none for a lone hyphen.

    Raises:
        UsageError: the hyphen stands beside something else.
    """
    found = tuple(dict.fromkeys(word.strip() for word in words if word.strip()))
    if found == (NONE,):
        return ()
    if NONE in found:
        raise UsageError(f"{NONE!r} means that no row is left out.", "Write it alone, or leave it out.")
    return found or None


def stand_for(path: Path, name: str, given: Mapping[str, str], columns: Sequence[str]) -> DatasetDeclaration:
    """Write into a catalog that a person stands for bounds and labels of a data set.

    Args:
        path: the catalog.
        name: of the data set.
        given: bounds and labels by column, as in `confirming.confirm`.
        columns: whose bounds and labels are confirmed as they stand.

    Returns:
        The data set as it is declared then.

    Raises:
        ConfigError: the data set or a column is not there, or what is given does not fit.
    """
    whole = confirm(_text(path), name, given, columns)
    declared = catalog_of(parse(whole, path.name, ConfigError), path).dataset(name)
    write_atomically(path, whole.encode(), path.stat().st_mode & 0o777)
    return declared


def _text(path: Path) -> str:
    return path.read_text(encoding="utf-8-sig") if path.exists() else ""


def _is_database(asked: Asked) -> bool:
    if not asked.source and not asked.url_file:
        raise UsageError("No source is given.", "Name a file, or the address of a database.")
    return bool(asked.url_file) or "://" in (asked.source or "")


def _file(catalog: Path, asked: Asked) -> _Source:
    path = Path(asked.source or "").expanduser().absolute()
    if not path.is_file():
        raise DataError(
            f"{path} is not a file.",
            "Name a CSV, Excel or Parquet file, or an address such as sqlite:///a.db.",
        )
    home = catalog.parent.absolute()
    shown = str(path.relative_to(home)) if path.is_relative_to(home) else str(path)
    entries: dict[str, Any] = {"source": shown}
    kind = file_kind(path)
    if kind is None:
        kind = entries["kind"] = "csv"
    writing = Writing(asked.decimal or ".", asked.thousands, asked.date_format)
    dialect, doubt = Dialect(writing=writing), ""
    if kind == "csv":
        seen, doubt = csvs.guess_dialect(path)
        delimiter = asked.delimiter
        dialect = Dialect(
            seen.delimiter if delimiter is None else delimiter.replace("\\t", "\t").replace(",", ""),
            asked.encoding or seen.encoding,
            writing,
        )
    for key, wrong, hint in dialect.faults():
        named = wrong if wrong.startswith("'") else f"{key} {wrong}"
        raise UsageError(f"{named}.", hint.replace(f"{key} = ", ""))
    header, footer = asked.header, asked.footer
    if kind == "csv":
        header = csvs.find_names(path, dialect) if header is None else header
        footer = csvs.find_footer(path, dialect) if footer is None else footer
    if kind == "excel":
        sheets = excel.sheets_of(path)
        if not asked.sheet and len(sheets) > 1:
            raise DataError(
                f"{path.name} has {len(sheets)} sheets.",
                f"Choose one with --sheet: {', '.join(sheets[:10])}.",
            )
        if asked.sheet:
            entries["sheet"] = asked.sheet
        header = excel.find_header(path, asked.sheet, "") if header is None else header
        footer = excel.find_footer(path, asked.sheet, "", header) if footer is None else footer
    dataset = DatasetDeclaration(
        "",
        kind,
        {},
        "",
        source=path,
        dialect=dialect,
        sheet=asked.sheet,
        header=header or (),
        footer=footer or (),
    )
    for key, said in (("header", dataset.header), ("footer", dataset.footer)):
        if said:
            entries[key] = said[0] if len(said) == 1 else [*said]
    return _Source(dataset, entries, path.name.partition(".")[0], "" if asked.encoding else doubt)


def _database(catalog: Path, asked: Asked) -> _Source:
    """A query, whose address and driver are read as those of an entry of the catalog."""
    if asked.url_file:
        entries: dict[str, Any] = {"kind": "sql", "url_file": str(Path(asked.url_file).absolute())}
    else:
        scheme, _, rest = str(asked.source).partition(":///")
        is_file = scheme in ("sqlite", "duckdb")
        entries = {"kind": "sql", "url": f"{scheme}:///{Path(rest).absolute()}" if is_file else asked.source}
    probe = {**entries, "query": "select 1", "columns": {"x": {"type": "text"}}}
    dataset = catalog_of({"datasets": {"database": probe}}, catalog).dataset("database")
    query, called = asked.query, asked.table or "query"
    if not query:
        tables = [asked.table] if asked.table else tables_of(dataset.asked)
        if len(tables) != 1:
            said = ", ".join(tables[:20]) or "none"
            raise DataError(f"The database has {len(tables)} tables.", f"Choose one with --table: {said}.")
        query, called = query_of(tables[0], dataset.driver), tables[0]
    entries["query"] = query
    return _Source(replace(dataset, query=query, columns={}), entries, called.rpartition(".")[2])


def _plain(called: str) -> str:
    bare = "".join(one for one in unicodedata.normalize("NFKD", called) if not unicodedata.combining(one))
    plain = re.sub(r"[^A-Za-z0-9_-]+", "_", bare).strip("_").lower()[:64]
    return plain if re.match(r"[a-z_]", plain) else f"data_{plain}".rstrip("_")


def _population(place: _Source, known: Catalog, name: str) -> str:
    """That of a data set which reads the same source: its people are the same."""
    origin = place.dataset.origin
    return next((one.population for one in known.datasets.values() if one.origin == origin), name)


def _identify(found: Draft, asked: Asked) -> None:
    for what, columns in (("key", asked.key), ("person", asked.person)):
        if columns is None:
            continue
        for column in columns:
            if column not in found.columns and column not in found.left_out:
                raise DataError(f"{found.dataset.place} has no column {column!r}.", "Correct the name.")
        setattr(found, what, tuple(columns))

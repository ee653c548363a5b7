"""Commands that write the catalog: draft an entry from a source, and confirm what was drafted."""

from __future__ import annotations

import re
import shlex
import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import click

from parties.catalog.columns import ColumnDeclaration
from parties.catalog.confirming import confirmed, entries, proposal
from parties.catalog.databases import query_of, tables_of
from parties.catalog.declaration import Catalog, DatasetDeclaration, catalog_of, file_kind, toml_key
from parties.catalog.dialect import Dialect, Writing
from parties.catalog.drafting import Draft, draft, sniffed
from parties.catalog.excel import sheets_of
from parties.catalog.loading import load as load_data
from parties.catalog.rendering import text_of
from parties.catalog.survey import survey
from parties.cli.options import config_option
from parties.cli.output import Screen, emit, json_option, talk
from parties.config import load
from parties.errors import ConfigError, DataError
from parties.pki.files import write_atomically
from parties.toml import parse
from smc.errors import UsageError

_SKIP = "-"


@dataclass(frozen=True, slots=True)
class _Source:
    """Where data are.

    Attributes:
        dataset: the same as a declaration without columns.
        entries: the entries of the catalog that say so.
    """

    dataset: DatasetDeclaration
    entries: Mapping[str, Any]


@click.command()
@click.argument("source", required=False, metavar="FILE_OR_URL")
@click.option("--name", help="The name of the data set; without it that of the file or table.")
@click.option("--sheet", default="", help="The sheet of an Excel file that has several.")
@click.option("--table", "table_name", help="The table of a database.")
@click.option("--query", help="A SELECT, instead of --table.")
@click.option("--url-file", help="A file of mode 0600 with the address of a database and its password.")
@click.option("--delimiter", help="What separates the cells of a CSV file.")
@click.option("--encoding", help="The encoding of a CSV file, such as cp1252.")
@click.option("--decimal", default="", help="What stands before decimals, where cells can be read both ways.")
@click.option("--thousands", default="", help="What stands between thousands.")
@click.option("--date-format", default="", help="Such as %d/%m/%Y, where cells can be read both ways.")
@click.option("--type", "types", multiple=True, metavar="COLUMN=TYPE", help="The type of a column.")
@click.option("--bounds", multiple=True, metavar="COLUMN=LOWER:UPPER", help="Bounds that you stand for.")
@click.option("--values", multiple=True, metavar="COLUMN=LABEL,...", help="Labels that you stand for.")
@click.option("--confirm", multiple=True, metavar="COLUMN", help="Stand for what is proposed.")
@click.option("--key", multiple=True, metavar="COLUMN", help="A column that is never empty or twice.")
@click.option("--person", multiple=True, metavar="COLUMN", help="A column that tells whom a row is about.")
@click.option("--population", help="Whose data these are, if other data sets are about the same people.")
@click.option("--without", multiple=True, metavar="COLUMN", help="A column to leave out.")
@click.option("--yes", is_flag=True, help="Ask nothing: what nobody stands for stays unconfirmed.")
@click.option("--dry-run", is_flag=True, help="Show the entry and write nothing.")
@config_option
@json_option
def add(
    source: str | None, config_path: Path | None, as_json: bool, dry_run: bool, yes: bool, **given: Any
) -> None:
    """Draft the catalog's entry of a CSV, Excel or Parquet file, or of a table, and add it.

    All rows are looked at. Bounds and labels are proposed from the data; jobs cannot use them before a person
    confirms them, since the peer sees them and noise is scaled by them: here (--bounds, --values, --confirm,
    or by the questions on a terminal) or later with duetto data confirm.
    """
    path = load(config_path).catalog
    text = path.read_text(encoding="utf-8-sig") if path.exists() else ""
    known = catalog_of(parse(text, path.name, ConfigError), path)
    place = _database(source, path, given) if _is_database(source, given) else _file(source, path, given)
    name = given["name"] or _name(place, given)
    if name in known.datasets:
        raise ConfigError(f"The catalog has a data set {name!r} already.", "Choose another with --name.")
    dataset = replace(
        place.dataset, name=name, population=given["population"] or _population(place, known, name)
    )
    found = draft(dataset, _pairs("--type", given["types"]), given["without"])
    _identify(found, given)
    choices = _pairs("--bounds", given["bounds"]) | _pairs("--values", given["values"])
    entry = text_of(found, place.entries)
    if not (yes or as_json) and sys.stdin.isatty():
        talk(*entry.splitlines())
        choices |= _asked(found, {*choices, *given["confirm"]})
    whole = f"{text.rstrip()}\n\n{entry}" if text.strip() else entry
    whole = confirmed(whole, name, choices, given["confirm"])
    declared = catalog_of(parse(whole, path.name, ConfigError), path).dataset(name)
    faults = _faults(declared)
    if not dry_run:
        write_atomically(path, whole.encode(), path.stat().st_mode & 0o777 if path.exists() else 0o644)
    left = [column.name for column in declared.columns.values() if not column.is_confirmed]
    report = {
        "name": name,
        "written": not dry_run,
        "entry": whole[whole.index("# Drafted by duetto data add", len(text.rstrip())) :],
        "rows": found.rows,
        "key": [*found.key],
        "person": [*found.person],
        "left_out": found.left_out,
        "unconfirmed": left,
        "faults": faults,
    }
    emit(report, lambda out: _show(out, report, path), as_json=as_json)


@click.command()
@click.argument("name")
@click.argument("columns", nargs=-1)
@click.option("--bounds", multiple=True, metavar="COLUMN=LOWER:UPPER", help="Bounds that you stand for.")
@click.option("--values", multiple=True, metavar="COLUMN=LABEL,...", help="Labels that you stand for.")
@config_option
@json_option
def confirm(
    name: str,
    columns: tuple[str, ...],
    bounds: tuple[str, ...],
    values: tuple[str, ...],
    config_path: Path | None,
    as_json: bool,
) -> None:
    """Stand for bounds and labels of data set NAME that were proposed from the data.

    Names of COLUMNS confirm what the catalog has; --bounds and --values replace it. Without any, each column
    is asked for on a terminal.
    """
    path = load(config_path).catalog
    text = path.read_text(encoding="utf-8-sig")
    dataset = catalog_of(parse(text, path.name, ConfigError), path).dataset(name)
    choices = _pairs("--bounds", bounds) | _pairs("--values", values)
    waiting = [column for column in dataset.columns.values() if not column.is_confirmed]
    if not choices and not columns and waiting:
        if as_json or not sys.stdin.isatty():
            said = " ".join(
                f"--{'values' if column.type == 'category' else 'bounds'} "
                + shlex.quote(f"{column.name}={proposal(column)}")
                for column in waiting
            )
            raise ConfigError(
                f"{len(waiting)} columns of data set {name!r} are not confirmed, and there is no terminal.",
                f"Run with what is known without the data; proposed are: {said}",
            )
        for column in waiting:
            _ask(column, "", choices)
    whole = confirmed(text, name, choices, columns)
    declared = catalog_of(parse(whole, path.name, ConfigError), path).dataset(name)
    write_atomically(path, whole.encode(), path.stat().st_mode & 0o777)
    report = {
        "name": name,
        "confirmed": sorted({*choices, *columns}),
        "unconfirmed": [column.name for column in declared.columns.values() if not column.is_confirmed],
        "faults": _faults(declared),
    }

    def human(out: Screen) -> None:
        out.print(f"Confirmed: {', '.join(report['confirmed']) or 'nothing'}.")
        _show_left(out, report)

    emit(report, human, as_json=as_json)


def _is_database(source: str | None, given: Mapping[str, Any]) -> bool:
    if source is None and not given["url_file"]:
        raise UsageError("No source is given.", "Name a file, or the address of a database.")
    return bool(given["url_file"]) or "://" in (source or "")


def _file(source: str | None, catalog: Path, given: Mapping[str, Any]) -> _Source:
    path = Path(source or "").expanduser().absolute()
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
    writing = Writing(given["decimal"] or ".", given["thousands"], given["date_format"])
    dialect = Dialect(writing=writing)
    if kind == "csv":
        seen = sniffed(path)
        delimiter, encoding = given["delimiter"], given["encoding"]
        dialect = Dialect(
            seen.delimiter if delimiter is None else delimiter.replace("\\t", "\t").replace(",", ""),
            encoding or seen.encoding,
            writing,
        )
    sheet = given["sheet"]
    if kind == "excel":
        sheets = sheets_of(path)
        if not sheet and len(sheets) > 1:
            raise DataError(
                f"{path.name} has {len(sheets)} sheets.",
                f"Choose one with --sheet: {', '.join(sheets[:10])}.",
            )
        if sheet:
            entries["sheet"] = sheet
    return _Source(DatasetDeclaration("", kind, {}, "", source=path, dialect=dialect, sheet=sheet), entries)


def _database(source: str | None, catalog: Path, given: dict[str, Any]) -> _Source:
    """A query, whose address and driver are read as those of an entry of the catalog."""
    if given["url_file"]:
        entries: dict[str, Any] = {"kind": "sql", "url_file": str(Path(given["url_file"]).absolute())}
    else:
        scheme, _, rest = str(source).partition(":///")
        is_file = scheme in ("sqlite", "duckdb")
        entries = {"kind": "sql", "url": f"{scheme}:///{Path(rest).absolute()}" if is_file else source}
    probe = {**entries, "query": "select 1", "columns": {"x": {"type": "text"}}}
    dataset = catalog_of({"datasets": {"database": probe}}, catalog).dataset("database")
    query = given["query"]
    if not query:
        tables = [given["table_name"]] if given["table_name"] else tables_of(dataset.asked)
        if len(tables) != 1:
            said = ", ".join(tables[:20]) or "none"
            raise DataError(f"The database has {len(tables)} tables.", f"Choose one with --table: {said}.")
        query = query_of(tables[0])
        given["table_name"] = tables[0]
    entries["query"] = query
    return _Source(replace(dataset, query=query, columns={}), entries)


def _name(place: _Source, given: Mapping[str, Any]) -> str:
    source = place.dataset.source
    raw = source.name.partition(".")[0] if source else (given["table_name"] or "query").rpartition(".")[2]
    plain = re.sub(r"[^A-Za-z0-9_-]+", "_", raw).strip("_").lower()[:64]
    return plain if re.match(r"[a-z_]", plain) else f"data_{plain}".rstrip("_")


def _population(place: _Source, known: Catalog, name: str) -> str:
    """That of a data set which reads the same source: its people are the same."""
    origin = place.dataset.origin
    return next((one.population for one in known.datasets.values() if one.origin == origin), name)


def _identify(found: Draft, given: Mapping[str, Any]) -> None:
    for option in ("key", "person"):
        for column in given[option]:
            if column not in found.columns and column not in found.left_out:
                raise DataError(f"{found.dataset.place} has no column {column!r}.", "Correct the name.")
        if given[option]:
            setattr(found, option, tuple(given[option]))


def _pairs(option: str, given: Sequence[str]) -> dict[str, str]:
    found = {}
    for one in given:
        column, sign, value = one.partition("=")
        if not sign or not column:
            raise UsageError(
                f"{option} {one!r} is not of the form COLUMN=VALUE.", f"Write {option} COLUMN=VALUE."
            )
        found[column] = value
    return found


def _asked(found: Draft, decided: set[str]) -> dict[str, str]:
    """What a person at the terminal says about proposed bounds and labels."""
    choices: dict[str, str] = {}
    if any(not one.column.is_confirmed for one in found.columns.values()):
        talk(f"The peer sees bounds and labels. Say what is known without the data; {_SKIP} leaves it open.")
    for name, one in found.columns.items():
        if not one.column.is_confirmed and name not in decided:
            _ask(one.column, one.seen, choices)
    return choices


def _ask(column: ColumnDeclaration, seen: str, choices: dict[str, str]) -> None:
    """Ask for bounds or labels until they fit the column, or are left open."""

    def fitting(answer: str) -> str:
        answer = answer.strip()
        try:
            if answer != _SKIP:
                entries(column.name, column.type, answer)
        except ConfigError as error:
            raise click.BadParameter(f"{error.what} {error.hint}") from None
        return answer

    hold = f" (the data hold {seen})" if seen else ""
    answer = click.prompt(f"{column.name}{hold}", default=proposal(column), value_proc=fitting, err=True)
    if answer != _SKIP:
        choices[column.name] = answer


def _faults(dataset: DatasetDeclaration) -> list[str]:
    """What `duetto data check` would say."""
    try:
        load_data(dataset, dataset.columns)
    except DataError as error:
        found = [
            f"{fault.column}: {fault.count} cells: {fault.what}. {fault.hint}"
            for fault in survey(dataset).faults
        ]
        return found or [str(error)]
    return []


def _show(out: Screen, report: Mapping[str, Any], path: Path) -> None:
    for line in report["entry"].splitlines():
        out.print(line)
    done = f"Written to {path}" if report["written"] else "Nothing is written"
    out.print(f"{done}: data set {report['name']!r}, {report['rows']} rows.")
    _show_left(out, report)


def _show_left(out: Screen, report: Mapping[str, Any]) -> None:
    for fault in report["faults"]:
        out.print(f"To decide: {fault}")
    if report["unconfirmed"]:
        out.print(
            f"To confirm, before jobs can use them: {', '.join(report['unconfirmed'])}. "
            f"Run: duetto data confirm {toml_key(report['name'])}"
        )

"""Commands that write the catalog: draft an entry from a source, and confirm what was drafted."""

from __future__ import annotations

import shlex
import sys
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any, Final

import click

from parties.catalog.columns.columns import ColumnDeclaration
from parties.catalog.declarations.declaration import DatasetDeclaration, load_catalog, toml_key
from parties.catalog.drafting.adding import NONE, Addition, Asked, footer_words, header_rows, stand_for
from parties.catalog.drafting.confirming import entries, proposal
from parties.catalog.drafting.drafting import Choices, Draft
from parties.catalog.drafting.sniffing import is_personal
from parties.catalog.loading.checking import unconfirmed_columns
from parties.catalog.reading import Reader
from parties.cli.hints import with_config
from parties.cli.options import config_option
from parties.cli.output import Screen, emit, json_option, talk
from parties.config import load
from parties.errors import ConfigError
from smc.errors import UsageError

_NOT_CHOSEN: Final = (
    "it names persons, numbers them or holds remarks; --type COLUMN=TYPE declares it all the same"
)
_TEXTS: Final = (
    "its cells are texts that are neither numbers, dates nor a few labels in any form that is recognized; "
    "--type COLUMN=text declares it as texts, which are only compared"
)


@click.command()
@click.argument("source", required=False, metavar="FILE_OR_URL")
@click.option("--name", help="The name of the data set; without it that of the file or table.")
@click.option("--sheet", default="", help="The sheet of an Excel file that has several.")
@click.option(
    "--header",
    default="",
    metavar="ROW,...",
    help="The row that names the columns, or several.",
)
@click.option(
    "--footer",
    multiple=True,
    metavar="BEGINNING",
    help="How rows at the end of a file begin that are left out, such as Total; - for none.",
)
@click.option("--table", "table_name", help="The table of a database.")
@click.option("--query", help="A SELECT, instead of --table.")
@click.option("--url-file", help="A file of mode 0600 with the address of a database and its password.")
@click.option("--delimiter", help="What separates the cells of a CSV file.")
@click.option("--encoding", help="The encoding of a CSV file, such as cp1252.")
@click.option("--decimal", default="", help="Decimal separator, where cells can be read both ways.")
@click.option("--thousands", default="", help="Thousands separator.")
@click.option("--date-format", default="", help="Such as %d/%m/%Y, where cells can be read both ways.")
@click.option("--type", "types", multiple=True, metavar="COLUMN=TYPE", help="The type of a column.")
@click.option(
    "--missing", multiple=True, metavar="COLUMN=TOKEN;...", help="What a missing cell holds, such as 999."
)
@click.option(
    "--below-limit", multiple=True, metavar="COLUMN=half", help="What <0.2 is read as: half, or limit."
)
@click.option(
    "--above-limit", multiple=True, metavar="COLUMN=limit", help="What >200 is read as: limit; else missing."
)
@click.option(
    "--ignore-case", multiple=True, metavar="COLUMN", help="Labels that differ in case only are one."
)
@click.option("--unit", "units", multiple=True, metavar="COLUMN=UNIT", help="The unit of a column.")
@click.option("--bounds", multiple=True, metavar="COLUMN=LOWER:UPPER", help="Bounds that you confirm.")
@click.option("--values", multiple=True, metavar="COLUMN=LABEL,...", help="Labels that you confirm.")
@click.option("--confirm", multiple=True, metavar="COLUMN", help="Stand for what is proposed.")
@click.option(
    "--key",
    multiple=True,
    metavar="COLUMN",
    help="A unique key: a column that is never empty, and no value twice.",
)
@click.option("--person", multiple=True, metavar="COLUMN", help="A column that identifies the person.")
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
    or by the questions on a terminal) or later with duetto data confirm. Columns that name persons, or
    hold free text, are declared only where --type or another option about columns names them.
    """
    config = load(config_path)
    path, reader = config.catalog, Reader(config.limits)
    asked = _read_options(source, given)
    added = _choose(reader.draft(path, asked), asked, given)
    choices = _pairs("--bounds", given["bounds"]) | _pairs("--values", given["values"])
    if not (yes or as_json) and sys.stdin.isatty():
        talk(*added.entry.splitlines())
        choices |= _ask_person(added.draft, {*choices, *given["confirm"]})
    _check_declared(added.draft, [*choices, *given["confirm"]])
    added = added.complete(choices, given["confirm"])
    found, declared = added.draft, added.dataset
    faults = _faults(reader, declared)
    if not dry_run:
        added.write()
    report = {
        "name": added.name,
        "written": not dry_run,
        "entry": added.entry,
        "rows": found.rows,
        "key": [*found.key],
        "person": [*found.person],
        "left_out": found.left_out,
        "unconfirmed": unconfirmed_columns(declared),
        "faults": faults,
    }
    emit(report, lambda out: _show(out, report, path), as_json=as_json)


@click.command()
@click.argument("name")
@click.argument("columns", nargs=-1)
@click.option("--bounds", multiple=True, metavar="COLUMN=LOWER:UPPER", help="Bounds that you confirm.")
@click.option("--values", multiple=True, metavar="COLUMN=LABEL,...", help="Labels that you confirm.")
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
    config = load(config_path)
    path, reader = config.catalog, Reader(config.limits)
    dataset = load_catalog(path).dataset(name)
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
    declared = stand_for(path, name, choices, columns)
    report = {
        "name": name,
        "confirmed": sorted({*choices, *columns}),
        "unconfirmed": unconfirmed_columns(declared),
        "faults": _faults(reader, declared),
    }

    def render(out: Screen) -> None:
        out.print(f"Confirmed: {', '.join(report['confirmed']) or 'nothing'}.")
        _show_left(out, report)

    emit(report, render, as_json=as_json)


def _read_options(source: str | None, given: Mapping[str, Any]) -> Asked:
    """The options of `duetto data add` as they are meant."""
    return Asked(
        source=source,
        url_file=given["url_file"],
        name=given["name"] or "",
        population=given["population"] or "",
        sheet=given["sheet"],
        header=header_rows(given["header"]),
        footer=footer_words(given["footer"]),
        table=given["table_name"] or "",
        query=given["query"] or "",
        delimiter=given["delimiter"],
        encoding=given["encoding"] or "",
        decimal=given["decimal"],
        thousands=given["thousands"],
        date_format=given["date_format"],
        key=given["key"] or None,
        person=given["person"] or None,
        choices=Choices(
            types=_pairs("--type", given["types"]),
            tokens={
                name: [token.strip() for token in said.split(";") if token.strip()]
                for name, said in _pairs("--missing", given["missing"]).items()
            },
            below_limit=_pairs("--below-limit", given["below_limit"]),
            above_limit=_pairs("--above-limit", given["above_limit"]),
            units=_pairs("--unit", given["units"]),
            joined=given["ignore_case"],
            without=given["without"],
        ),
    )


def _choose(found: Addition, asked: Asked, given: Mapping[str, Any]) -> Addition:
    """The addition without columns that a person has to choose by name, and has not."""
    said = asked.choices
    named = {*said.types, *said.tokens, *said.below_limit, *said.above_limit, *said.units, *said.joined}
    named |= {*given["confirm"], *_pairs("--bounds", given["bounds"]), *_pairs("--values", given["values"])}
    columns = found.draft.columns
    left = [name for name, one in columns.items() if not one.is_chosen and name not in named]
    if len(left) == len(columns):
        raise ConfigError(
            "All columns name persons, or hold texts that are neither numbers, dates nor a few labels in any "
            "form that is recognized, and are declared only if a person says so.",
            f"Name those that jobs need: --type {shlex.quote(f'{left[0]}={columns[left[0]].column.type}')}.",
        )
    texts = [name for name in left if columns[name].column.type == "text" and not is_personal(name)]
    return found.without(texts, _TEXTS).without([name for name in left if name not in texts], _NOT_CHOSEN)


def _check_declared(found: Draft, named: Iterable[str]) -> None:
    """Say why a column that bounds, labels or a confirmation name is not declared.

    Raises:
        ConfigError: it is not.
    """
    for name in named:
        if name in found.left_out:
            raise ConfigError(
                f"Column {name!r} is not declared: {found.left_out[name]}.",
                "Correct its cells in the source or the type, or leave the column out.",
            )


def _pairs(option: str, given: Sequence[str]) -> dict[str, str]:
    found = {}
    for one in given:
        column, sign, value = one.partition("=")
        if not sign or not column:
            form = _form(option)
            raise UsageError(
                f"{option} {one!r} is not of the form {form}.", f"Write {option} {_guess_meant(one, form)}."
            )
        found[column] = value
    return found


def _form(option: str) -> str:
    """How the help of the command writes the value of an option."""
    options = click.get_current_context().command.params
    return next(one.metavar or "" for one in options if option in one.opts)


def _guess_meant(said: str, form: str) -> str:
    """What was said, in the right form where it can be seen: `age:0:120` is `age=0:120`."""
    is_parted = said.count(":") > form.count(":")
    column, _, value = said.strip().partition(":") if is_parted else said.strip().rpartition(" ")
    return shlex.quote(f"{column.strip()}={value.strip()}") if column and value else form


def _ask_person(found: Draft, decided: set[str]) -> dict[str, str]:
    """What a person at the terminal says about proposed bounds and labels."""
    choices: dict[str, str] = {}
    if any(not one.column.is_confirmed for one in found.columns.values()):
        talk(f"The peer sees bounds and labels. Say what is known without the data; {NONE} leaves it open.")
    for name, one in found.columns.items():
        if not one.column.is_confirmed and name not in decided:
            _ask(one.column, one.seen, choices)
    return choices


def _ask(column: ColumnDeclaration, seen: str, choices: dict[str, str]) -> None:
    """Ask for bounds or labels until they fit the column, or are left open."""

    def fitting(answer: str) -> str:
        answer = answer.strip()
        try:
            if answer != NONE:
                entries(column.name, column.type, answer)
        except ConfigError as error:
            raise click.BadParameter(f"{error.what} {error.hint}") from None
        return answer

    hold = f" (the data hold {seen})" if seen else ""
    answer = click.prompt(f"{column.name}{hold}", default=proposal(column), value_proc=fitting, err=True)
    if answer != NONE:
        choices[column.name] = answer


def _faults(reader: Reader, dataset: DatasetDeclaration) -> list[str]:
    """What `duetto data check` would say."""
    found = reader.check(dataset)
    if found.error is None:
        return []
    said = [f"{fault.column}: {fault.count} cells: {fault.what}. {fault.hint}" for fault in found.faults]
    return said or [str(found.error)]


def _show(out: Screen, report: Mapping[str, Any], path: Path) -> None:
    for line in report["entry"].splitlines():
        out.print(line)
    done = f"Written to {path}" if report["written"] else "Nothing is written"
    rows = f"{report['rows']} row" + "s" * (report["rows"] != 1)
    out.print(f"{done}: data set {report['name']!r}, {rows}.")
    _show_left(out, report)


def _show_left(out: Screen, report: Mapping[str, Any]) -> None:
    for fault in report["faults"]:
        out.print(f"To decide: {fault}")
    if report["unconfirmed"]:
        out.print(
            with_config(
                f"To confirm, before jobs can use them: {', '.join(report['unconfirmed'])}. "
                f"Run `duetto data confirm {toml_key(report['name'])}`."
            )
        )

"""Add or edit a data set: its file is looked at, its columns shown as rows of a form, its entry written.

The files stay where they are. Only files below the folders that the command named are offered, and only what
is offered can be looked at, or what a data set has already, so nothing that a browser sends can name another
one. What is written is what the page has shown: where the file or a choice has changed what was found, the
page is shown once more.
"""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, Final

from starlette.requests import Request
from starlette.responses import Response

from commons.tabular.dialect import SEPARATORS, Writing
from commons.tabular.encodings import is_encoding
from parties.catalog.declarations.declaration import DatasetDeclaration, load_catalog
from parties.catalog.declarations.tables import FILES
from parties.catalog.drafting.adding import NONE, Addition, Asked, footer_words, header_rows
from parties.catalog.drafting.drafting import LAST, NO_NAME, Choices
from parties.catalog.drafting.rendering import column_entries
from parties.catalog.drafting.revising import Revision, revise
from parties.catalog.reading import Reader
from parties.dashboard.drawing.desk import Context, fields, redirect, render
from parties.dashboard.pages.rows import (
    BETWEEN,
    READ,
    TYPES,
    Fields,
    Row,
    choices_in,
    decode_anew,
    form_of,
    is_shown,
    rows_of,
)
from parties.errors import DataError
from smc.errors import DuettoError, UsageError

ENDINGS: Final = (*FILES, ".txt")
"""How the names of offered files end."""

ENCODINGS: Final = {
    "utf-8": "of any language",
    "cp1250": "Polish, Czech, Hungarian and others of Central Europe",
    "cp1251": "Cyrillic",
    "cp1252": "of Western Europe",
    "cp1253": "Greek",
    "cp1254": "Turkish",
    "cp932": "Japanese",
    "gb18030": "Chinese",
    "big5": "Chinese in traditional characters",
    "cp949": "Korean",
}
"""Encodings that are offered where a file is in one that cannot be told surely."""

MAX_FILES: Final = 200
MAX_DEPTH: Final = 3
"""Folders below an offered one in which files are looked for."""

READING: Final[Mapping[str, str]] = {
    "file": "File",
    "name": "Name",
    "delimiter": "Separator",
    "encoding": "Encoding",
    "decimal": "Decimal separator",
    "date_format": "Form of dates",
    "sheet": "Sheet",
    "header": "Row that names the columns",
    "footer": "Rows at the end",
}
"""Fields that say what is read and how, and what they are called where one is wrong."""

MAX_COLUMNS: Final = 300
"""Columns of a form; files with more are for the command line."""


@dataclass(frozen=True, slots=True)
class Offer:
    """A file that may be added.

    Attributes:
        path: where it is; what a form names.
        size: in bytes.
        changed: when, RFC 3339 in UTC.
        datasets: names of the data sets that it has already.
    """

    path: Path
    size: int
    changed: str
    datasets: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Look:
    """A file that was looked at.

    Attributes:
        addition: its draft.
        rows: its columns, as the form shows them.
        sent: the form about it, as if it had been shown in the encoding in which it is read now.
        gone: columns that were ticked, and are no longer among those of the file.
        is_decoded_anew: whether it was read in another encoding than the person has seen it in.
    """

    addition: Addition
    rows: list[Row]
    sent: Fields
    gone: Sequence[str] = ()
    is_decoded_anew: bool = False

    @property
    def is_settled(self) -> bool:
        """Whether what would be written is what the person has seen, without faults."""
        kept = [row for row in self.rows if row.is_kept]
        has_news = self.is_decoded_anew or bool(self.gone) or any(row.news for row in self.rows)
        return bool(kept) and not has_news and not any(row.error or not row.was_seen for row in kept)

    @property
    def kept(self) -> Addition:
        """What the person declares of it."""
        return self.addition.without([row.name for row in self.rows if not row.is_kept])


def page(desk: Context, request: Request) -> Response:
    """What can be added; or with `edit=NAME`, a declared data set as a form."""
    name = request.query_params.get("edit", "")
    if not name:
        return _render_page(desk, request)
    dataset = _editable(desk, name)
    sent = form_of(dataset.columns.values()) | {
        "edit": [name],
        "file": [str(dataset.source)],
        "person": list(dataset.person[:1]) or [NONE],
        "key": list(dataset.key[:1]) or [NONE],
    }
    sent |= {name: [value] for name, value in _reading_of(dataset).items()}
    return _render_look(desk, request, sent)


def look(desk: Context, request: Request) -> Response:
    """Look at a file and show its columns; nothing is written."""
    sent: Fields = fields(request)
    if "tick" in sent:  # all columns at once
        kept = {"keep": sent["column"]} if sent["tick"][-1] == "all" and "column" in sent else {}
        sent = {name: values for name, values in sent.items() if name != "keep"} | kept
    return _render_look(desk, request, sent)


def add(desk: Context, request: Request) -> Response:
    """Write what was shown, with the bounds and labels that the person confirms."""
    sent: Fields = fields(request)
    try:
        seen = _look(desk, sent)
    except DuettoError:
        return _render_look(desk, request, sent)
    try:
        if not seen.is_settled:
            return _render_look(desk, request, sent, seen)
        _write(desk, seen)
    except DuettoError as error:
        return _render_look(desk, request, sent, problem=f"{error.what} {error.hint}")
    return redirect(f"/data?added={seen.addition.name}")


def _decoded(desk: Context, sent: Fields) -> tuple[Fields, bool]:
    """The form, and whether it was about a file in another encoding than the person now names.

    What it has of the file is decoded anew then: no tick is lost because a name reads otherwise. Where the
    name of an encoding was taken out, it is the one that the file shows.

    Raises: as `_read_request`, and DataError if the file cannot be read.
    """
    old, new, before = (_typed(sent, name) for name in ("decoded", "encoding", f"{READ}encoding"))
    if before and not new:
        asked = replace(_read_request(desk, sent), choices=Choices(), person=None, key=None)
        new = _draft(desk, asked).draft.dataset.dialect.encoding
    if not (is_encoding(old) and is_encoding(new)) or old == new:
        return sent, False
    return decode_anew(sent, old, new), True


def offers(desk: Context) -> list[Offer]:
    """The files of the folders, the newest first; neither links nor hidden ones."""
    used: dict[Path, list[str]] = {}
    for dataset in load_catalog(desk.config.catalog).datasets.values():
        if dataset.source is not None:
            used.setdefault(dataset.source.resolve(), []).append(dataset.name)
    found = []
    for path in dict.fromkeys(path for folder in desk.folders for path in _files(folder.resolve())):
        try:
            state = path.stat()
        except OSError:
            continue
        changed = datetime.fromtimestamp(state.st_mtime, UTC).isoformat()
        found.append(Offer(path, state.st_size, changed, tuple(used.get(path, ()))))
    return sorted(found, key=lambda one: one.changed, reverse=True)[:MAX_FILES]


def _files(folder: Path) -> Iterator[Path]:
    for place, inner, names in os.walk(folder):
        depth = len(Path(place).relative_to(folder).parts)
        inner[:] = [name for name in sorted(inner) if not name.startswith(".") and depth < MAX_DEPTH]
        for name in names:
            path = Path(place, name)
            fits = name.lower().endswith(ENDINGS) and not name.startswith(".")
            if fits and path.is_file() and not path.is_symlink():
                yield path


def _editable(desk: Context, name: str) -> DatasetDeclaration:
    """A declared data set that is a file.

    Raises:
        DataError: there is none of that name.
        UsageError: it is none that a form can show.
    """
    dataset = load_catalog(desk.config.catalog).dataset(name)
    if dataset.source is None or max(len(dataset.person), len(dataset.key)) > 1:
        raise UsageError(
            f"Data set {name!r} cannot be edited here: it is not a file, or more than one column identifies "
            "its rows.",
            f"Change it in {desk.config.catalog}.",
        )
    return dataset


def _read_request(desk: Context, sent: Fields) -> Asked:
    """What the form asks for; a first look asks for nothing but the file.

    Raises:
        UsageError: the file is not offered.
    """
    said = {name: values[-1] for name, values in sent.items()}
    dataset = _editable(desk, said["edit"]) if said.get("edit") else None
    said = (_reading_of(dataset) if dataset is not None else {}) | said
    offered = {str(one.path): one.path for one in offers(desk)}
    if dataset is not None and dataset.source is not None:
        offered[str(dataset.source)] = dataset.source
    source = offered.get(said.get("file", ""))
    if source is None:
        raise UsageError("This file is not offered here.", "Choose one of the list on the page.")
    asked = Asked(
        source=str(source),
        name=said.get("name", "").strip(),
        population=said.get("population", "").strip(),
        sheet=said.get("sheet", ""),
        header=header_rows(said.get("header", "")),
        footer=footer_words(said.get("footer", "").split(BETWEEN)),
        delimiter=said.get("delimiter", "") or None,
        encoding=said.get("encoding", "").strip(),
        decimal=said.get("decimal", ""),
        thousands=said.get("thousands", ""),
        date_format=said.get("date_format", "").strip(),
        key=_one(said.get("key")),
        person=_one(said.get("person")),
        choices=choices_in(sent),
    )
    if dataset is None:
        return asked
    header = dataset.header if asked.header is None and not dataset.header else asked.header
    return replace(
        asked,
        is_known=True,
        name=dataset.name,
        population=asked.population or dataset.name,
        header=header,
        thousands=dataset.dialect.writing.thousands,
    )


def _reading_of(dataset: DatasetDeclaration) -> dict[str, str]:
    """The fields of the form that say how a declared file is read, and whose data it holds."""
    dialect = dataset.dialect
    return {
        "population": dataset.population,
        "sheet": dataset.sheet,
        "header": ", ".join(map(str, dataset.header)),
        "footer": f"{BETWEEN} ".join(dataset.footer) or NONE,
        "delimiter": dialect.delimiter,
        "encoding": dialect.encoding,
        "decimal": dialect.writing.decimal,
        "date_format": dialect.writing.date_format,
    }


def _changed_reading(asked: Asked, dataset: DatasetDeclaration, found: DatasetDeclaration) -> dict[str, Any]:
    """The entries of a data set that an edit changes; None for one that goes."""
    writing, plain = dataset.dialect.writing, Writing()
    pairs: dict[str, tuple[Any, Any, Any]] = {
        "population": (dataset.population, found.population, dataset.name),
        "sheet": (dataset.sheet, found.sheet, ""),
        "header": (dataset.header, found.header, ()),
        "footer": (dataset.footer, found.footer, ()),
        "delimiter": (dataset.dialect.delimiter, found.dialect.delimiter, ""),
        "encoding": (dataset.dialect.encoding, found.dialect.encoding, "utf-8"),
        "decimal": (writing.decimal, asked.decimal or writing.decimal, plain.decimal),
        "date_format": (writing.date_format, asked.date_format, plain.date_format),
    }
    return {
        entry: None if now == usual else list(now) if isinstance(now, tuple) else now
        for entry, (before, now, usual) in pairs.items()
        if now != before
    }


def _one(column: str | None) -> list[str] | None:
    return None if column is None else [] if column == NONE else [column]


def _look(desk: Context, sent: Fields) -> Look:
    """Read the file as the form says. What does not fit a column that is kept is an error of its row.

    Raises:
        DuettoError: the file is not offered, or cannot be read.
    """
    sent, is_decoded_anew = _decoded(desk, sent)
    asked, mistaken = _read_request(desk, sent), dict[str, str]()
    addition = _draft(desk, asked)
    types, kept = asked.choices.types, {*sent.get("column", [])} & {*sent.get("keep", [])}
    wrong = {name: why for name, why in addition.draft.left_out.items() if name in types or name in kept}
    if wrong:
        mistaken = {
            name: f"Type {types[name]!r}: {why}." if name in types else f"It cannot be read so: {why}."
            for name, why in wrong.items()
        }
        addition = _draft(desk, replace(asked, choices=choices_in(sent, mistaken)))
    stay = _not_shown(desk, asked)
    found = addition.draft
    gone = [name for name in sent.get("keep", ()) if name not in found.columns and name not in found.left_out]
    rows = rows_of(found, sent, mistaken, is_decoded_anew)
    return Look(addition, [row for row in rows if row.name not in stay], sent, gone, is_decoded_anew)


def _look_back(desk: Context, sent: Fields) -> tuple[Look | None, dict[str, str]]:
    """The file as it can be read: without the changed fields by which that fails.

    Returns:
        The look, None if it cannot be read without any of them either; and by field what is wrong with it.
    """
    changed = [
        name
        for name in READING
        if _typed(sent, name) != _typed(sent, f"{READ}{name}") and (name != "file" or f"{READ}file" in sent)
    ]
    back: Fields = {**sent, **{name: [_typed(sent, f"{READ}{name}")] for name in changed}}
    wrong: dict[str, str] = {}
    try:
        seen = _look(desk, back)
    except DuettoError:
        return None, {}
    for name in changed:
        tried = {**back, name: sent.get(name, [""])}
        try:
            back, seen = tried, _look(desk, tried)
        except DuettoError as error:
            wrong[name] = f"{error.what} {error.hint}"
    return seen, wrong


def _typed(sent: Fields, name: str) -> str:
    return sent.get(name, [""])[-1].strip()


def _not_shown(desk: Context, asked: Asked) -> set[str]:
    """Declared columns that no form can show; an edit leaves them as they are."""
    if not asked.is_known:
        return set()
    return {one.name for one in _editable(desk, asked.name).columns.values() if not is_shown(one)}


def _draft(desk: Context, asked: Asked) -> Addition:
    addition = Reader(desk.config.limits).draft(desk.config.catalog, asked)
    if len(addition.draft.columns) > MAX_COLUMNS:
        raise DataError(
            f"The file has {len(addition.draft.columns)} columns, more than {MAX_COLUMNS}.",
            "Add it with duetto data add.",
        )
    return addition


def _write(desk: Context, seen: Look) -> None:
    """Write a new data set, or the changes of one.

    Raises:
        ConfigError: the catalog was changed meanwhile, or what was typed does not hold together.
    """
    sent = seen.sent
    given = {row.name: row.given for row in seen.rows if row.is_kept and row.given}
    stands = [row.name for row in seen.rows if row.is_kept and row.stands and row.values]
    if "edit" not in sent:
        added = seen.kept.complete(given, stands)
        added.dataset  # noqa: B018 - refuses what does not hold together
        added.write()
        return
    dataset = _editable(desk, seen.addition.name)
    asked = _read_request(desk, sent)
    reading = _changed_reading(asked, dataset, seen.addition.draft.dataset)
    shared = dataset.dialect.writing
    shared = replace(shared, decimal=asked.decimal or shared.decimal, date_format=asked.date_format)
    there = {*seen.addition.draft.columns, *seen.addition.draft.left_out, *_not_shown(desk, asked)}
    away = [one.name for one in dataset.columns.values() if one.name not in there and one.constant is None]
    confirmed = {*given, *stands}
    revision = Revision(
        columns={row.name: _entries(row, shared, row.name in confirmed) for row in seen.rows if row.is_kept},
        dropped=[*away, *(row.name for row in seen.rows if not row.is_kept)],
        person=seen.addition.draft.person,
        key=seen.addition.draft.key,
        source=None if sent["file"][-1] == str(dataset.source) else str(seen.addition.source["source"]),
        reading=reading,
    )
    revise(desk.config.catalog, dataset.name, revision, seen.addition.before)


def _entries(row: Row, shared: Any, is_confirmed: bool) -> dict[str, Any]:
    """The entries of the catalog for a row."""
    found = column_entries(row.column, shared)
    if row.given:
        found |= row.typed_entries
    if row.values and not is_confirmed:
        found["confirmed"] = False
    return found


def _render_look(
    desk: Context,
    request: Request,
    sent: Fields,
    seen: Look | None = None,
    problem: str = "",
) -> Response:
    """The form about a file; where it cannot be read as it says now, with the columns that it had before."""
    shown: dict[str, Any] = {"problem": problem, "said": {name: values[-1] for name, values in sent.items()}}
    try:
        seen = seen or _look(desk, sent)
    except DuettoError as error:
        seen, shown["wrong"] = _look_back(desk, sent)
        if not shown["wrong"]:
            shown["problem"] = problem or f"{error.what} {error.hint}"
        if seen is None:
            with suppress(DuettoError):
                shown["asked"] = _read_request(desk, sent)
            return _render_page(desk, request, **shown)
    shown["asked"] = _read_request(desk, seen.sent)
    return _render_page(desk, request, **shown, **_form(seen, seen.sent))


def _form(seen: Look, sent: Fields) -> dict[str, Any]:
    """What the template fills in of a draft; what was typed before stays."""
    found = seen.addition.draft
    is_first = not any(name.startswith("was:") for name in sent)
    kept = [row for row in seen.rows if row.is_kept]
    return {
        "addition": seen.addition,
        "was_read": {name: _typed(sent, name) for name in READING} | {"name": seen.addition.name},
        "entry": seen.kept.entry if kept else "",
        "dialect": found.dataset.dialect,
        "rows": seen.rows,
        "errors": [row for row in kept if row.error],
        "news": [row for row in seen.rows if row.news],
        "gone": seen.gone,
        "is_decoded_anew": seen.is_decoded_anew,
        "is_empty": not kept and not is_first,
        "left_out": found.left_out,
        "names": [*found.columns, *(name for name in found.left_out if name not in (NO_NAME, LAST))],
    }


def _render_page(desk: Context, request: Request, **more: Any) -> Response:
    return render(
        desk,
        request,
        "add.html",
        folders=desk.folders,
        offers=offers(desk),
        types=TYPES,
        separators=SEPARATORS,
        encodings=ENCODINGS,
        **({"asked": None, "addition": None, "problem": "", "said": {}, "wrong": {}} | more),
        readings=READING,
        read=READ,
    )

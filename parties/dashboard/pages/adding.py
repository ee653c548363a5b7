"""Add a data set: a file of an offered folder is looked at, its entry shown as a form, and written.

The files stay where they are. Only files below the folders that the command named are offered, and only what
is offered can be looked at, so nothing that a browser sends can name another one. What is written is the
entry that the page has shown: where file or choices have changed since, the page is shown again instead.
"""

from __future__ import annotations

import hashlib
import os
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, Final

from starlette.requests import Request
from starlette.responses import Response

from commons.tabular.dialect import SEPARATORS
from parties.catalog.declarations.declaration import load_catalog
from parties.catalog.declarations.tables import FILES
from parties.catalog.drafting.adding import Addition, Asked
from parties.catalog.reading import Reader
from parties.dashboard.drawing.desk import Context, fields, form, redirect, render
from parties.dashboard.pages.bounds import chosen_bounds, questions
from parties.errors import DataError
from smc.errors import DuettoError, UsageError

ENDINGS: Final = (*FILES, ".txt")
"""How the names of offered files end."""

MAX_FILES: Final = 200
MAX_DEPTH: Final = 3
"""Folders below an offered one in which files are looked for."""

MAX_COLUMNS: Final = 300
"""Columns of a form; files with more are for the command line."""

_TYPES: Final = ("integer", "decimal", "category", "date", "text")
_NONE: Final = "-"


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


def page(desk: Context, request: Request) -> Response:
    """What can be added."""
    return _shown(desk, request)


def look(desk: Context, request: Request) -> Response:
    """Draft an entry and show it; nothing is written."""
    return _drafted(desk, request)


def add(desk: Context, request: Request) -> Response:
    """Write the entry that was shown, with the bounds and labels for which the person stands."""
    sent = form(request)
    try:
        addition = Reader(desk.config.limits).drafted(desk.config.catalog, _asked(desk, request))
        if sent.get("shown") != _digest(addition):
            said = "The file or your choices have changed what is drafted; nothing was added yet. Look again."
            return _drafted(desk, request, problem=said)
        columns = [one.column for one in addition.draft.columns.values()]
        added = addition.completed(*chosen_bounds(sent, columns))
        added.dataset  # noqa: B018 - refuses what does not hold together
        added.write()
    except DuettoError as error:
        return _drafted(desk, request, problem=f"{error.what} {error.hint}")
    return redirect(f"/data?added={addition.name}")


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


def _asked(desk: Context, request: Request) -> Asked:
    """What the form asks for; a first look asks for nothing but the file.

    Raises:
        UsageError: the file is not offered.
    """
    sent = form(request)
    offered = {str(one.path): one.path for one in offers(desk)}
    source = offered.get(sent.get("file", ""))
    if source is None:
        raise UsageError("This file is not offered here.", "Choose one of the list on the page.")
    columns = fields(request).get("column", [])
    kept = {*fields(request).get("keep", [])}
    delimiter = sent.get("delimiter", "")
    return Asked(
        source=str(source),
        name=sent.get("name", "").strip(),
        population=sent.get("population", "").strip(),
        sheet=sent.get("sheet", ""),
        delimiter=delimiter or None,
        encoding=sent.get("encoding", "").strip(),
        decimal=sent.get("decimal", ""),
        thousands=sent.get("thousands", ""),
        date_format=sent.get("date_format", "").strip(),
        types={
            name: sent[f"type:{name}"]
            for name in columns
            if sent.get(f"type:{name}") in _TYPES and sent[f"type:{name}"] != sent.get(f"found:{name}")
        },
        key=_one(sent.get("key")),
        person=_one(sent.get("person")),
        without=[name for name in columns if name not in kept],
    )


def _one(column: str | None) -> list[str] | None:
    return None if column is None else [] if column == _NONE else [column]


def _drafted(desk: Context, request: Request, problem: str = "") -> Response:
    try:
        asked = _asked(desk, request)
    except UsageError as error:
        return _shown(desk, request, problem=f"{error.what} {error.hint}")
    shown: dict[str, Any] = {"asked": asked, "problem": problem}
    try:
        addition = Reader(desk.config.limits).drafted(desk.config.catalog, asked)
        if len(addition.draft.columns) > MAX_COLUMNS:
            raise DataError(
                f"The file has {len(addition.draft.columns)} columns, more than {MAX_COLUMNS}.",
                "Add it with duetto data add.",
            )
    except DuettoError as error:
        return _shown(desk, request, **shown | {"problem": problem or f"{error.what} {error.hint}"})
    return _shown(desk, request, **shown, **_form(addition, asked, form(request)))


def _form(addition: Addition, asked: Asked, sent: Mapping[str, str]) -> dict[str, Any]:
    """What the template fills in of a draft; what was typed before stays where it fits."""
    found = addition.draft
    return {
        "addition": addition,
        "dialect": found.dataset.dialect,
        "shown": _digest(addition),
        "columns": [
            (name, one, _found(name, one.column.type, asked, sent)) for name, one in found.columns.items()
        ],
        "questions": questions([one.column for one in found.columns.values()], sent),
        "absent": [name for name in asked.without if name in found.left_out],
        "left_out": {name: why for name, why in found.left_out.items() if name not in asked.without},
        "names": [*found.columns, *found.left_out],
    }


def _found(name: str, kind: str, asked: Asked, sent: Mapping[str, str]) -> str:
    """The type that the draft finds by itself."""
    return sent.get(f"found:{name}", kind) if name in asked.types else kind


def _digest(addition: Addition) -> str:
    return hashlib.sha256(addition.entry.encode()).hexdigest()


def _shown(desk: Context, request: Request, **more: Any) -> Response:
    return render(
        desk,
        request,
        "add.html",
        folders=desk.folders,
        offers=offers(desk),
        types=_TYPES,
        separators=SEPARATORS,
        **({"asked": None, "addition": None, "problem": ""} | more),
    )

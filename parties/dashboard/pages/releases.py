"""Releases: what the anonymizer has released into one folder, side by side, with the reports.

Manifests and reports are files that this party's people have made. They are shown as they are: a manifest's
entries as text, a report as the page that it is, in a sandbox without scripts.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any, Final

from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import HTMLResponse, Response

from parties.dashboard.drawing.desk import Context, render
from parties.dashboard.entrance.guard import HEADERS

MANIFESTS: Final = "*.manifest.json"
MAX_FILES: Final = 20
_MAX_BYTES: Final = 1 << 25

_REPORT_HEADERS: Final = {
    "content-security-policy": (
        "default-src 'none'; style-src 'unsafe-inline'; img-src data:; frame-ancestors 'self'; sandbox"
    ),
    "x-frame-options": "SAMEORIGIN",
}
"""A report may stand in a frame of this dashboard, and do nothing there but be read."""

_FRAMES: Final = "; frame-src 'self'"

_LINES: Final = (
    *("program", "rows", "order", "seeded", "epsilon", "delta", "gamma", "choice"),
    *("specification", "guarantees", "accepted", "columns", "files"),
)


def page(desk: Context, request: Request) -> Response:
    """The newest manifests beside each other, and the reports."""
    folder = desk.releases
    found = [] if folder is None else [(path.name, _read(path)) for path in _newest(folder, MANIFESTS)]
    lines = [(line, [_text(manifest.get(line)) for _, manifest in found]) for line in _LINES]
    return render(
        desk,
        request,
        "releases.html",
        folder=folder,
        names=[name.removesuffix(MANIFESTS[1:]) for name, _ in found],
        lines=[(line, cells, len({*cells}) > 1) for line, cells in lines if any(cells)],
        reports=[*_reports(desk)],
    )


def beside(desk: Context, request: Request) -> Response:
    """Two reports beside each other, each in a sandbox of its own."""
    asked = [request.query_params.get(side, "") for side in ("one", "other")]
    if not _reports(desk).keys() >= {*asked}:
        raise HTTPException(404)
    response = render(desk, request, "beside.html", names=asked)
    response.headers["content-security-policy"] = HEADERS["content-security-policy"] + _FRAMES
    return response


def report(desk: Context, request: Request) -> Response:
    """One report. Only files of the folder itself can be named."""
    path = _reports(desk).get(request.path_params["name"])
    if path is None or path.stat().st_size > _MAX_BYTES:
        raise HTTPException(404)
    return HTMLResponse(path.read_bytes(), headers=_REPORT_HEADERS)


def _reports(desk: Context) -> dict[str, Path]:
    """The newest reports by name."""
    return {} if desk.releases is None else {path.stem: path for path in _newest(desk.releases, "*.html")}


def _newest(folder: Path, pattern: str) -> list[Path]:
    """The newest regular files of a folder, at most `MAX_FILES`."""
    files = [path for path in folder.glob(pattern) if path.is_file() and not path.is_symlink()]
    return sorted(files, key=lambda path: path.stat().st_mtime, reverse=True)[:MAX_FILES]


def _read(path: Path) -> Mapping[str, Any]:
    try:
        document = json.loads(path.read_bytes()) if path.stat().st_size <= _MAX_BYTES else None
    except (OSError, ValueError, RecursionError):
        document = None
    return document if isinstance(document, dict) else {"program": "cannot be read"}


def _text(value: Any) -> str:
    """An entry of a manifest in a line or a few."""
    if value is None or value in ("", [], {}):
        return ""
    if isinstance(value, list):
        return "\n".join(map(_text, value))
    if isinstance(value, dict):
        return ", ".join(f"{name} {_text(inner)}".strip() for name, inner in value.items())
    return str(value)

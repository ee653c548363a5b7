"""Data: the declared data sets and their columns, and whether the files are as declared."""

from __future__ import annotations

from typing import Any

from starlette.requests import Request
from starlette.responses import Response

from parties.catalog.declaration import load_catalog
from parties.catalog.loading import load as load_data
from parties.dashboard.drawing.desk import Desk, form, render
from parties.errors import DataError


def page(desk: Desk, request: Request) -> Response:
    """The page."""
    return _shown(desk, request)


def check(desk: Desk, request: Request) -> Response:
    """Read a data set whole, and count."""
    name = form(request).get("dataset", "")
    dataset = load_catalog(desk.config.catalog).dataset(name)
    try:
        loaded = load_data(dataset, dataset.columns)
    except DataError as fault:
        return _shown(desk, request, checked=name, fault=fault)
    counts = {
        "rows": loaded.rows,
        "persons": loaded.people,
        "rows left out": loaded.left_out,
        "missing cells that leave rows out": sum(loaded.dropped.values()),
        "missing cells filled in": sum(loaded.imputed.values()),
    }
    return _shown(desk, request, checked=name, counts=counts)


def _shown(desk: Desk, request: Request, **more: Any) -> Response:
    config = desk.config
    return render(
        desk,
        request,
        "data.html",
        file=config.catalog,
        datasets=list(load_catalog(config.catalog).datasets.values()),
        **({"checked": "", "fault": None, "counts": {}} | more),
    )

"""Data: the declared data sets, whether their files are as declared, and who stands for bounds and labels."""

from __future__ import annotations

from typing import Any

from starlette.requests import Request
from starlette.responses import Response

from parties.catalog.declarations.declaration import load_catalog
from parties.catalog.drafting.adding import stand_for
from parties.catalog.drafting.confirming import proposal
from parties.catalog.loading.checking import unconfirmed_columns
from parties.catalog.reading import Reader
from parties.dashboard.drawing.desk import Context, form, redirect, render
from parties.dashboard.pages.bounds import chosen_bounds, questions
from parties.errors import ConfigError


def page(desk: Context, request: Request) -> Response:
    """The page; a data set that was just added or confirmed is checked at once."""
    name = request.query_params.get("added", "")
    return _checked(desk, request, name) if name else _shown(desk, request)


def check(desk: Context, request: Request) -> Response:
    """Read a data set whole: its counts, or all of its faults with examples."""
    return _checked(desk, request, form(request).get("dataset", ""))


def confirm(desk: Context, request: Request) -> Response:
    """Stand for bounds and labels that were proposed from the data.

    Raises:
        ConfigError: nothing was ticked or changed, or what the page showed is not what the catalog has now.
    """
    sent, path = form(request), desk.config.catalog
    dataset = load_catalog(path).dataset(sent.get("dataset", ""))
    waiting = [column for column in dataset.columns.values() if not column.is_confirmed]
    for column in waiting:
        if sent.get(f"was:{column.type}:{column.name}", proposal(column)) != proposal(column):
            raise ConfigError(
                f"What is proposed of {column.name!r} has changed since it was shown.",
                "Go back, reload the page, and decide again.",
            )
    given, stands = chosen_bounds(sent, waiting)
    if not given and not stands:
        raise ConfigError("Nothing was ticked or changed.", "Go back, and tick what you stand for.")
    stand_for(path, dataset.name, given, stands)
    return redirect(f"/data?added={dataset.name}")


def _checked(desk: Context, request: Request, name: str) -> Response:
    found = Reader(desk.config.limits).checked(load_catalog(desk.config.catalog).dataset(name))
    said = {} if found.counts is None else _counts(found.counts)
    return _shown(desk, request, checked=name, error=found.error, faults=found.faults, counts=said)


def _counts(counts: dict[str, Any]) -> dict[str, int]:
    """Rows and persons, and what besides there is."""
    besides = {
        "rows left out": counts["left_out"],
        "missing cells that leave rows out": sum(counts["dropped"].values()),
        "missing cells filled in": sum(counts["imputed"].values()),
    }
    some = {what: count for what, count in besides.items() if count}
    return {"rows": counts["rows"], "persons": counts["persons"], **some}


def _shown(desk: Context, request: Request, **more: Any) -> Response:
    config = desk.config
    datasets = load_catalog(config.catalog).datasets.values()
    return render(
        desk,
        request,
        "data.html",
        file=config.catalog,
        datasets=[
            (one, unconfirmed_columns(one), questions(one.columns.values(), {}), _ends(one))
            for one in datasets
        ],
        **({"checked": "", "error": None, "faults": (), "counts": {}} | more),
    )


def _ends(dataset: Any) -> dict[str, tuple[str, str]]:
    """The bounds of columns of numbers and dates, as people write them."""
    found = {}
    for column in dataset.columns.values():
        if column.type in ("integer", "decimal", "date"):
            lower, _, upper = proposal(column).partition(":")
            found[column.name] = (lower, upper)
    return found

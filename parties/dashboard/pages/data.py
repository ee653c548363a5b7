"""Data: the declared data sets, whether their files are as declared, and the removal of one."""

from __future__ import annotations

from typing import Any

from starlette.requests import Request
from starlette.responses import Response

from parties.catalog.declarations.declaration import DatasetDeclaration, load_catalog
from parties.catalog.drafting.confirming import proposal
from parties.catalog.drafting.revising import remove
from parties.catalog.loading.checking import unconfirmed_columns
from parties.catalog.reading import Reader
from parties.client import Job
from parties.dashboard.drawing.desk import Context, form, redirect, render
from parties.dashboard.pages.persons import may
from parties.persons.roles import CATALOG
from parties.policy.rules import load_policy


def page(desk: Context, request: Request) -> Response:
    """The page; a data set that was just added or edited is checked at once, for those who may change it."""
    name = request.query_params.get("added", "")
    return (
        _check(desk, request, name) if name and may(desk, request, CATALOG) else _render_page(desk, request)
    )


def check(desk: Context, request: Request) -> Response:
    """Read a data set whole: its counts, or all of its faults, with cells for those who may change it."""
    return _check(desk, request, form(request).get("dataset", ""))


def removal(desk: Context, request: Request) -> Response:
    """Ask whether a data set is to be removed, and say what names it."""
    config = desk.config
    dataset = load_catalog(config.catalog).dataset(request.query_params.get("dataset", ""))
    rules = [rule.name for rule in load_policy(config.policy).rules if dataset.name in rule.datasets]
    jobs = [job.describe() for job in desk.party.jobs() if not job.state.is_final and _reads(job, dataset)]
    return render(desk, request, "remove.html", dataset=dataset, rules=rules, jobs=jobs)


def take_away(desk: Context, request: Request) -> Response:
    """Remove a data set from the catalog; its file stays."""
    path = desk.config.catalog
    before = path.read_text(encoding="utf-8-sig")
    remove(path, form(request).get("dataset", ""), before)
    return redirect("/data")


def _reads(job: Job, dataset: DatasetDeclaration) -> bool:
    if job.is_older:
        return False
    own = job.contract["spec"].get(job.describe()["role"], {})
    return bool(own.get("dataset", "") == dataset.name)


def _check(desk: Context, request: Request, name: str) -> Response:
    found = Reader(desk.config.limits).check(load_catalog(desk.config.catalog).dataset(name))
    return _render_page(
        desk, request, checked=name, error=found.error, faults=found.faults, counts=found.counts
    )


def _render_page(desk: Context, request: Request, **more: Any) -> Response:
    config = desk.config
    datasets = load_catalog(config.catalog).datasets.values()
    return render(
        desk,
        request,
        "data.html",
        file=config.catalog,
        datasets=[(one, unconfirmed_columns(one), _ends(one)) for one in datasets],
        sees_cells=may(desk, request, CATALOG),
        **({"checked": "", "error": None, "faults": (), "counts": None} | more),
    )


def _ends(dataset: DatasetDeclaration) -> dict[str, tuple[str, str]]:
    """The bounds of columns of numbers and dates, as people write them."""
    found = {}
    for column in dataset.columns.values():
        if column.type in ("integer", "decimal", "date"):
            lower, _, upper = proposal(column).partition(":")
            found[column.name] = (lower, upper)
    return found

"""Job: its progress, its contract, its result, what it cost and its certificate."""

from __future__ import annotations

import io
import json
from typing import Any, Final

from markupsafe import Markup
from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import Response

from parties.client import Job, Result
from parties.client.pace import Pace
from parties.client.spreadsheet import write_table
from parties.client.words import audit_lines
from parties.contracts.state import State
from parties.dashboard.drawing.desk import Context, redirect, render
from parties.dashboard.drawing.words import settings, when
from parties.dashboard.pages.persons import acting, may, signable
from parties.persons.roles import SOCKETS, Act
from parties.results.plots import plots_of
from parties.results.svg import svg
from parties.results.tables import show_table

ROWS_SHOWN: Final = 200
"""Rows of a result table on the page; its CSV has all."""

_PACES: Final = 64
"""Running jobs whose speed is remembered."""

_ROLES: Final = ("alice", "bob")


def page(desk: Context, request: Request) -> Response:
    """The page."""
    job = _job(desk, request)
    result = _result(job) if may(desk, request, SOCKETS["Result"]) else None
    return render(
        desk,
        request,
        "job.html",
        learners=learners(desk, job),
        papers=papers(desk, job),
        audit=list(audit_lines(job.audit, when)),
        facts=job.facts,
        result=result,
        sees_results=may(desk, request, SOCKETS["Result"]),
        signable=None
        if job.is_older
        else signable(desk, request, Act.FORGET if job.state.is_final else Act.CANCEL, job.shown, job.peer),
        **_progress(desk, job),
        **_figures(result),
    )


def part(desk: Context, request: Request) -> Response:
    """State and progress alone, which refresh themselves; of a job that has ended the browser gets all."""
    job = _job(desk, request)
    shown = _progress(desk, job)
    shown["news"] = request.query_params.get("seen") != shown["mark"]
    response = render(desk, request, "job_progress.html", **shown)
    if job.state.is_final:
        response.headers["HX-Refresh"] = "true"
    return response


def certificate(desk: Context, request: Request) -> Response:
    """The certificate, as a file."""
    job = _job(desk, request)
    text = json.dumps(job.certificate(), indent=2)
    return _file(text, "application/json", f"{job.id}-certificate.json")


def table(desk: Context, request: Request) -> Response:
    """A table of the result with all rows, as CSV."""
    job = _job(desk, request)
    result = job.result()
    names = {str(number): name for number, name in enumerate(result.tables)}
    number = request.path_params["table"]
    if number not in names:
        raise HTTPException(404)
    found = result.table(names[number])
    out = io.StringIO(newline="")
    write_table(out, {name: found.cells_of(name) for name in found.columns})
    return _file(out.getvalue(), "text/csv", f"{job.id}-{number}.csv")


def cancel(desk: Context, request: Request) -> Response:
    """Give the job up."""
    with acting(desk, request) as party:
        job = party.job(request.path_params["job_id"]).cancel(request.state.session.person)
    return redirect(f"/jobs/{job.id}")


def forget(desk: Context, request: Request) -> Response:
    """Delete the local result."""
    with acting(desk, request) as party:
        job = party.job(request.path_params["job_id"]).forget()
    return redirect(f"/jobs/{job.id}")


def learners(desk: Context, job: Job) -> list[tuple[str, list[str]]]:
    """Who would learn, or learned, what: names of parties, this one first, and what is public last."""
    leakage = job.facts.get("leakage") or job.leakage
    mine = job.describe()["role"]
    names = {role: desk.party.name if role == mine else job.peer for role in _ROLES}
    order = sorted(_ROLES, key=lambda role: role != mine)
    return [(names[role], leakage.get(role, [])) for role in order] + [("public", leakage.get("public", []))]


def papers(desk: Context, job: Job) -> dict[str, Any]:
    """What the contract says, in parts for people.

    Returns:
        `sides`: of each party its data set and the columns, as the job and as its catalog call them;
        `settings`: of the analysis, names and values in words; `limits`: of each party on results; `older`:
        the whole contract of an older release, else None.
    """
    if job.is_older:
        return {"sides": [], "settings": [], "limits": [], "older": json.dumps(job.contract, indent=2)}
    contract = job.contract
    spec = contract["spec"]
    mine = job.describe()["role"]
    names = {role: desk.party.name if role == mine else job.peer for role in _ROLES}
    called: dict[str, str] = {}
    for role in sorted(_ROLES, key=lambda role: role == mine):  # this party's own names last: they hold
        called |= spec.get(role, {}).get("columns", {})
    return {
        "sides": [
            (names[role], spec[role].get("dataset", ""), spec[role].get("columns", {}))
            for role in _ROLES
            if role in spec
        ],
        "settings": settings(spec.get("parameters", {}), called),
        "limits": [(names[role], limits) for role, limits in contract.get("limits", {}).items()],
        "older": None,
    }


def _job(desk: Context, request: Request) -> Job:
    return desk.party.job(request.path_params["job_id"])


def _progress(desk: Context, job: Job) -> dict[str, Any]:
    """How far a job is.

    Returns:
        `pace` in words, with elapsed and remaining time, while it runs; `mark`, which changes when there is
        something to say to those who listen: another state, another stage, another quarter of it.
    """
    stage, done, of = job.progress
    over, pace = job.state.is_final, ""
    if over:
        desk.paces.pop(job.id, None)
    elif job.state is State.RUNNING:
        if len(desk.paces) > _PACES:
            desk.paces.clear()
        watched = desk.paces.setdefault(job.id, Pace())
        watched.see(job)
        pace = watched.words()
    mark = f"{job.state.value}-{stage}-{4 * done // of if of else 0}"
    return {"job": job.describe(), "over": over, "pace": pace, "mark": mark, "news": False}


def _figures(result: Result | None) -> dict[str, Any]:
    """The tables of a result, and what of them can be drawn, with error bars."""
    tables = [] if result is None else [result.table(name) for name in result.tables]
    return {
        "tables": [show_table(table, most=ROWS_SHOWN) for table in tables],
        "plots": [(plot, Markup(svg(plot))) for plot in plots_of(tables)],  # noqa: S704 - own drawing
    }


def _result(job: Job) -> Result | None:
    """The local result, while there is one."""
    if job.state is not State.FINISHED or job.describe()["result_deleted"] or job.is_older:
        return None
    return job.result()


def _file(text: str, kind: str, name: str) -> Response:
    return Response(text, media_type=kind, headers={"content-disposition": f'attachment; filename="{name}"'})

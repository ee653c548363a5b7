"""Decide: the jobs that wait for a person here; who would learn what, what it costs, what came before."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType
from typing import Any, Final

from starlette.requests import Request
from starlette.responses import Response

from parties.client import Job
from parties.client.words import audit_lines
from parties.contracts.state import State
from parties.dashboard.drawing.desk import Context, form, redirect, render
from parties.dashboard.drawing.words import when
from parties.dashboard.pages.job import learners, papers
from parties.dashboard.pages.persons import acting, may, signable
from parties.errors import JobError
from parties.persons.roles import SOCKETS, Act
from smc.errors import DuettoError, UsageError

_EARLIER = 10
NOTHING_TYPED: Final[Mapping[str, str]] = MappingProxyType({})


def page(desk: Context, request: Request) -> Response:
    """All that wait."""
    waiting = [job.describe() for job in desk.party.jobs(State.WAITING_OWN.value)]
    return render(desk, request, "decide.html", waiting=waiting)


def one(desk: Context, request: Request) -> Response:
    """One job, to be decided on."""
    return _render_page(desk, request, desk.party.job(request.path_params["job_id"]))


def decision(desk: Context, request: Request) -> Response:
    """Approve what was shown, or deny it.

    The form sends back the digest of the contract that the page has shown. If the contract has changed since,
    nothing is approved. Why nothing was decided is said on the page, which keeps what was typed.
    """
    sent = form(request)
    try:
        return _decide(desk, request, sent)
    except DuettoError as error:
        job = desk.party.job(request.path_params["job_id"])
        return _render_page(desk, request, job, f"Nothing was decided. {error.what} {error.hint}", sent)


def _decide(desk: Context, request: Request, sent: Mapping[str, str]) -> Response:
    """Raises `UsageError` if the form lacks something, and what the daemon raises."""
    with acting(desk, request) as party:
        job = party.job(request.path_params["job_id"])
        name = request.state.session.person or sent.get("name", "").strip() or sent.get("person", "")
        if not name:
            raise UsageError("The form does not say who decides.", "Write your name into it.")
        match sent.get("decision"):
            case "approve":
                if not sent.get("shown"):
                    raise JobError(
                        "The form does not say what was shown.", "Reload the page, and decide again."
                    )
                job.approve(name, sent["shown"])
            case "deny":
                job.deny(sent.get("reason", "").strip(), name)
            case _:
                raise UsageError("The form neither approves nor denies.", "Use one of its two buttons.")
    return redirect(f"/jobs/{job.id}")


def _render_page(
    desk: Context, request: Request, job: Job, wrong: str = "", typed: Mapping[str, str] = NOTHING_TYPED
) -> Response:
    described = job.describe()
    return render(
        desk,
        request,
        "decide_one.html",
        code=409 if wrong else 200,
        job=described,
        asking={"asked_by": job.asked_by, "purpose": job.purpose},
        shown=job.shown,
        signable=signable(desk, request, Act.APPROVE, job.shown, job.peer),
        came_in=request.state.session.person,
        learners=learners(desk, job),
        papers=papers(desk, job),
        audit=list(audit_lines(job.audit, when)),
        **_report(desk, request, job),
        earlier=_earlier(desk, job),
        wrong=wrong,
        typed=typed,
    )


def _report(desk: Context, request: Request, job: Job) -> dict[str, Any]:
    """What a job comes to here now: `report` as of `Party.check`; None with a `problem` where that fails.

    It reads data, so that it is shown to those alone who may submit or approve jobs; and what an approval
    would spend is said of jobs alone that wait for one, as others have spent theirs.
    """
    if job.state is not State.WAITING_OWN or job.is_older or not may(desk, request, SOCKETS["Check"]):
        return {"report": None, "problem": ""}
    try:
        return {"report": desk.party.check(job.contract["spec"]), "problem": ""}
    except DuettoError as error:
        return {"report": None, "problem": f"{error.what} {error.hint}"}


def _earlier(desk: Context, job: Job) -> list[dict[str, Any]]:
    """The newest finished jobs with the same peer, whose results add to what this one shows."""
    finished = desk.party.jobs(State.FINISHED.value, limit=200)
    return [one.describe() for one in finished if one.peer == job.peer and one.id != job.id][:_EARLIER]

"""Decide: the jobs that wait for a person here; who would learn what, what it costs, what came before."""

from __future__ import annotations

from typing import Any

from starlette.requests import Request
from starlette.responses import Response

from parties.client import Job
from parties.contracts import canonical
from parties.contracts.contract import parse_contract
from parties.contracts.state import State
from parties.dashboard.drawing.desk import Context, form, redirect, render
from parties.dashboard.pages.job import learners, papers
from parties.errors import BudgetError, JobError
from parties.jobs.checks.opening import open_admission
from parties.jobs.reports import verdict_document
from parties.ledger.accounting import describe_loss, show_number
from parties.ledger.book import open_ledger
from smc.errors import DuettoError, UsageError

_EARLIER = 10


def page(desk: Context, request: Request) -> Response:
    """All that wait."""
    waiting = [job.describe() for job in desk.party.jobs(State.WAITING_OWN.value)]
    return render(desk, request, "decide.html", waiting=waiting)


def one(desk: Context, request: Request) -> Response:
    """One job, to be decided on."""
    return _shown(desk, request, desk.party.job(request.path_params["job_id"]))


def decision(desk: Context, request: Request) -> Response:
    """Approve what was shown, or deny it.

    The form sends back the digest of the contract that the page has shown. If the contract has changed since,
    nothing is approved.
    """
    sent = form(request)
    job = desk.party.job(request.path_params["job_id"])
    name = sent.get("name", "").strip()
    match sent.get("decision"):
        case "approve":
            if not sent.get("shown"):
                raise JobError("The form does not say what was shown.", "Reload the page, and decide again.")
            job.approve(name, sent["shown"])
        case "deny":
            job.deny(sent.get("reason", "").strip(), name)
        case _:
            raise UsageError("The form neither approves nor denies.", "Use one of its two buttons.")
    return redirect(f"/jobs/{job.id}")


def _shown(desk: Context, request: Request, job: Job) -> Response:
    described = job.describe()
    return render(
        desk,
        request,
        "decide_one.html",
        job=described,
        shown=job.shown,
        learners=learners(desk, job),
        papers=papers(desk, job),
        standing=None if job.is_older else _standing(desk, job),
        earlier=_earlier(desk, job),
    )


def _standing(desk: Context, job: Job) -> dict[str, Any]:
    """How the policy stands to a job now, and the account's losses towards the peer before and after it.

    Returns:
        `verdict` as in `check_report`; `loss` in words, empty without any; `before`, `after` and `total` as
        epsilon at `delta`, empty where they cannot be stated. Where policy, catalog or ledger cannot be read,
        only `problem`.
    """
    try:
        return _stated(desk, job)
    except DuettoError as error:
        return {"problem": f"{error.what} {error.hint}"}


def _stated(desk: Context, job: Job) -> dict[str, Any]:
    config = desk.config
    ledger = open_ledger(config.home)
    admission = open_admission(config, ledger)
    task = admission.understand(parse_contract(canonical.encode(job.contract)).spec)
    verdict, loss = admission.judge(task, None), task.facts.loss
    spent = ledger.spent(admission.account(task), task.peer)
    delta = verdict.budget.delta
    try:
        sums = {
            "before": show_number(spent.epsilon_at(delta)),
            "after": show_number((spent + loss).epsilon_at(delta)),
            "total": show_number(verdict.budget.epsilon) if verdict.allowed else "",
        }
    except BudgetError:
        sums = dict.fromkeys(("before", "after", "total"), "")
    return sums | {
        "problem": "",
        "verdict": verdict_document(verdict),
        "loss": describe_loss(loss) if loss else "",
        "delta": show_number(delta),
    }


def _earlier(desk: Context, job: Job) -> list[dict[str, Any]]:
    """The newest finished jobs with the same peer, whose results add to what this one shows."""
    finished = desk.party.jobs(State.FINISHED.value, limit=200)
    return [one.describe() for one in finished if one.peer == job.peer and one.id != job.id][:_EARLIER]

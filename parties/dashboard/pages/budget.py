"""Budget: what each rule lets be spent on each population towards each peer, and what was, on which job."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Any, Final

from markupsafe import Markup
from starlette.requests import Request
from starlette.responses import Response

from parties.dashboard.drawing.desk import Context, render
from parties.ledger.accounting import describe_loss
from parties.ledger.book import open_ledger
from parties.ledger.entries import SPENT
from parties.policy.budgets import Gauge, Step, gauges, steps
from parties.results.timeline import timeline

_TITLED: Final = 500
"""The newest jobs, which entries name by their titles; older ones by the digests of their contracts."""

_LISTED: Final = 200


def page(desk: Context, request: Request) -> Response:
    """The page."""
    config = desk.config
    book = open_ledger(config.home)
    entries = [entry for entry in book.entries() if entry.event == SPENT]
    described_jobs = [job.describe() for job in desk.party.jobs(limit=_TITLED)]
    jobs = {job["digest"]: job for job in described_jobs}
    shown = []
    for gauge in gauges(config, book, [peer.name for peer in config.peers]):
        spent = steps(gauge, entries)
        shown.append((gauge, spent[::-1], _drawing(gauge, spent, jobs)))
    return render(
        desk,
        request,
        "budget.html",
        gauges=shown,
        jobs=jobs,
        described=describe_loss,
        entries=entries[::-1][:_LISTED],
        count=len(entries),
    )


def _drawing(gauge: Gauge, spent: list[Step], jobs: dict[str, Any]) -> Markup | None:
    """The sum over time; None where nothing was spent, or the sum cannot be stated."""
    points = [
        (
            datetime.fromisoformat(step.time),
            float(step.total),
            f"{_name_step(step, jobs)}: {describe_loss(step.loss)}, together epsilon {step.words}",
        )
        for step in spent
        if step.total is not None
    ]
    if not points:
        return None
    words = gauge.words()
    said = (
        f"Epsilon spent on {gauge.account} towards {gauge.peer} over time: {len(spent)} jobs, "
        f"{words['spent']} of {words['total']}; the table has each"
    )
    return Markup(timeline(points, float(gauge.total), datetime.now(UTC), said))  # noqa: S704 - own drawing


def _name_step(step: Step, jobs: dict[str, Any]) -> str:
    job = jobs.get(step.job)
    return step.job[:16] if job is None else job["title"] or job["analysis"]

"""Audits: covert runs of which something is kept, where each stands, what comes next; and filed verdicts."""

from __future__ import annotations

from dataclasses import asdict
from typing import Final

from starlette.requests import Request
from starlette.responses import Response

from parties.client.words import next_step, standing_words
from parties.dashboard.drawing.desk import Context, render
from parties.dashboard.drawing.words import when
from parties.evidence.store import PASSED, EvidenceStore
from parties.ledger.book import open_ledger
from parties.ledger.entries import VERDICT

LISTED: Final = 200


def page(desk: Context, request: Request) -> Response:
    """The page; runs that were not due are counted, since a receipt is all that is kept of them."""
    home = desk.config.home
    every = EvidenceStore(home).all()
    kept = [one for one in every if one.state != PASSED][::-1]
    verdicts = [entry for entry in open_ledger(home).entries() if entry.event == VERDICT][::-1]
    jobs = {job["digest"]: job for job in (one.describe() for one in desk.party.jobs(limit=LISTED))}
    rows = [(one, standing_words(asdict(one), when), next_step(asdict(one))) for one in kept[:LISTED]]
    return render(
        desk,
        request,
        "audits.html",
        rows=rows,
        count=len(kept),
        passed=len(every) - len(kept),
        awaited=sum(one.is_awaited for one in kept),
        verdicts=verdicts[:LISTED],
        jobs=jobs,
    )

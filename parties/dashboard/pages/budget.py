"""Budget: what each rule lets be spent on each population towards each peer, and what was."""

from __future__ import annotations

from starlette.requests import Request
from starlette.responses import Response

from parties.dashboard.drawing.desk import Desk, render
from parties.jobs.budgets import gauges
from parties.ledger.accounting import described
from parties.ledger.book import open_ledger
from parties.ledger.entries import SPENT


def page(desk: Desk, request: Request) -> Response:
    """The page."""
    config = desk.config
    book = open_ledger(config.home)
    entries = [entry for entry in book.entries() if entry.event == SPENT]
    return render(
        desk,
        request,
        "budget.html",
        gauges=list(gauges(config, book, [peer.name for peer in config.peers])),
        entries=[(e.time, e.account, e.dataset, e.peer, described(e.loss)) for e in reversed(entries)][:200],
        count=len(entries),
    )

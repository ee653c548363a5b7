"""Learned: every finished job, when, with whom, and who learned what; to search and to hand on."""

from __future__ import annotations

import csv
import io
from typing import Any, Final

from starlette.requests import Request
from starlette.responses import Response

from parties.client.spreadsheet import harmless
from parties.contracts.state import State
from parties.dashboard.drawing.desk import Context, render
from parties.dashboard.pages.job import learners

LISTED: Final = 100
"""Jobs that the page reads; the CSV has all."""

_HEADS: Final = (
    "finished",
    "job",
    "title",
    "analysis",
    "peer",
    "this party learned",
    "the peer learned",
    "public",
)


def page(desk: Context, request: Request) -> Response:
    """The list; `find` in the address keeps the jobs in which that text stands."""
    wanted = request.query_params.get("find", "").strip()
    rows = [row for row in _rows(desk, LISTED) if wanted.casefold() in " ".join(row.values()).casefold()]
    return render(desk, request, "learned.html", rows=rows, heads=_HEADS, find=wanted, listed=LISTED)


def export(desk: Context, request: Request) -> Response:  # noqa: ARG001 - what every page takes
    """All of it as CSV, for an ethics board or an auditor."""
    out = io.StringIO(newline="")
    writer = csv.writer(out)
    writer.writerow(_HEADS)
    writer.writerows([harmless(cell) for cell in row.values()] for row in _rows(desk, 0))
    name = f"{desk.party.name}-learned.csv"
    return Response(
        out.getvalue(),
        media_type="text/csv",
        headers={"content-disposition": f'attachment; filename="{name}"'},
    )


def _rows(desk: Context, limit: int) -> list[dict[str, str]]:
    return [_row(desk, job) for job in desk.party.jobs(State.FINISHED.value, limit=limit)]


def _row(desk: Context, job: Any) -> dict[str, str]:
    described = job.describe()
    said = [
        described["updated"],
        described["job_id"],
        described["title"],
        described["analysis"],
        described["peer"],
    ]
    learned = [""] * 3 if job.is_older else ["; ".join(what) or "nothing" for _, what in learners(desk, job)]
    return dict(zip(_HEADS, [*said, *learned], strict=True))

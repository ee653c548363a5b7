"""Jobs: all of them, page by page, the newest first."""

from __future__ import annotations

from typing import Final

from starlette.requests import Request
from starlette.responses import Response

from parties.contracts.state import State
from parties.dashboard.drawing.desk import Context, render

LISTED: Final = 50


def page(desk: Context, request: Request) -> Response:
    """The list; `before` and `state` in the address choose a part of it."""
    before, state = request.query_params.get("before", ""), request.query_params.get("state", "")
    found = desk.party.jobs(*([state] if state else []), limit=LISTED + 1, before=before)
    listed = [job.describe() for job in found[:LISTED]]
    older = listed[-1]["job_id"] if len(found) > LISTED else ""
    return render(
        desk, request, "jobs.html", jobs=listed, older=older, chosen=state, states=[s.value for s in State]
    )

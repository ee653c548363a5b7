"""Today: what waits for this party's people, what runs, what failed, and whether all is well."""

from __future__ import annotations

import shutil
from datetime import UTC, datetime, timedelta
from typing import Any, Final

from starlette.requests import Request
from starlette.responses import Response

from parties.contracts.state import State
from parties.dashboard.drawing.desk import Desk, render
from parties.pki import certificate
from parties.pki.home import load_identity

LISTED: Final = 20
"""Jobs of a kind on this page."""

_OPEN = (State.PROPOSED, State.WAITING_PEER, State.APPROVED, State.RUNNING, State.KEPT)
_RECENT: Final = timedelta(days=1)


def page(desk: Desk, request: Request) -> Response:
    """The page."""
    config = desk.config
    return render(
        desk,
        request,
        "today.html",
        daemon=desk.party.status(),
        certificate_days=certificate.days_left(load_identity(config).certificate),
        free=shutil.disk_usage(config.home).free,
        **_jobs(desk),
    )


def part(desk: Desk, request: Request) -> Response:
    """The lists of jobs alone, which refresh themselves."""
    return render(desk, request, "today_jobs.html", **_jobs(desk))


def _jobs(desk: Desk) -> dict[str, Any]:
    def listed(*states: State) -> list[dict[str, Any]]:
        return [job.describe() for job in desk.party.jobs(*(s.value for s in states), limit=LISTED)]

    since = datetime.now(UTC) - _RECENT
    return {
        "waiting": listed(State.WAITING_OWN),
        "going_on": listed(*_OPEN),
        "failed": [job for job in listed(State.FAILED) if datetime.fromisoformat(job["updated"]) > since],
        "finished": listed(State.FINISHED)[:5],
    }

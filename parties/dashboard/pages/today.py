"""Today: what waits for this party's people, what runs, what failed, and whether all is well."""

from __future__ import annotations

import hashlib
import shutil
import time
from datetime import UTC, datetime, timedelta
from typing import Any, Final

from starlette.requests import Request
from starlette.responses import Response

from parties.catalog.declarations.declaration import DatasetDeclaration, load_catalog
from parties.catalog.loading.checking import unconfirmed_columns
from parties.contracts.state import State
from parties.dashboard.drawing.desk import Context, render
from parties.dashboard.pages.persons import describe_unsigned
from parties.pki import certificate
from parties.pki.home import own_certificates
from parties.policy.rules import load_policy

LISTED: Final = 20
"""Jobs of a kind on this page."""

_OPEN = (State.PROPOSED, State.WAITING_PEER, State.APPROVED, State.RUNNING, State.KEPT)
_MARKED: Final = ("job_id", "state", "stage", "done", "of")
_RECENT: Final = timedelta(days=1)


def page(desk: Context, request: Request) -> Response:
    """The page."""
    return render(desk, request, "today.html", news=False, unsigned=describe_unsigned(desk), **_today(desk))


def part(desk: Context, request: Request) -> Response:
    """What refreshes itself; nothing where the browser has it, so that focus and place stay as they are.

    A screen reader hears of jobs that have changed, not of minutes that have passed.
    """
    today = _today(desk)
    seen = request.query_params.get("seen", "")
    if seen == today["mark"]:
        return Response(status_code=204)
    news = seen.partition("-")[0] != today["mark"].partition("-")[0]
    return render(desk, request, "today_live.html", news=news, **today)


def _today(desk: Context) -> dict[str, Any]:
    """What the page shows; `mark` is of the jobs and the minute, after which ages read otherwise."""
    config, jobs = desk.config, _jobs(desk)
    states = [[job[name] for name in _MARKED] for listed in jobs.values() for job in listed]
    digest = hashlib.sha256(repr(states).encode()).hexdigest()
    return {
        "daemon": desk.party.status(),
        "certificate_days": certificate.days_left(own_certificates(config)),
        "free": shutil.disk_usage(config.home).free,
        "steps": _steps(desk, has_jobs=any(jobs.values()) or bool(desk.party.jobs(limit=1))),
        "mark": f"{digest}-{time.time() // 60:.0f}",
        **jobs,
    }


def _steps(desk: Context, *, has_jobs: bool) -> list[tuple[str, str, bool]]:
    """The first day, step by step: what is to be done, where, and whether it is done; empty once all is."""
    config = desk.config
    datasets = load_catalog(config.catalog).datasets.values()
    steps = [
        ("Keys are made", "/peers", True),
        ("Pair with the other institution", "/peers", bool(config.peers)),
        ("Add a data set, and confirm its bounds", "/data", any(map(_is_usable, datasets))),
        ("Allow what jobs may ask", "/policy", bool(load_policy(config.policy).rules)),
        ("Propose the first job, or wait for theirs", "/new", has_jobs),
    ]
    return [] if all(done for _, _, done in steps) else steps


def _is_usable(dataset: DatasetDeclaration) -> bool:
    return len(unconfirmed_columns(dataset)) < len(dataset.columns)


def _jobs(desk: Context) -> dict[str, Any]:
    def list_jobs(*states: State) -> list[dict[str, Any]]:
        return [job.describe() for job in desk.party.jobs(*(s.value for s in states), limit=LISTED)]

    since = datetime.now(UTC) - _RECENT
    return {
        "waiting": list_jobs(State.WAITING_OWN),
        "going_on": list_jobs(*_OPEN),
        "failed": [job for job in list_jobs(State.FAILED) if datetime.fromisoformat(job["updated"]) > since],
        "finished": list_jobs(State.FINISHED)[:5],
    }

"""Parties and jobs as a notebook shows them."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, Final

from parties.results.html import facts_html
from smc.errors import DuettoError

SECONDS: Final = 5.0
"""How long a daemon may take to answer before the page says that it does not."""

_OF_JOBS: Final = ("state", "waits_for", "stage", "analysis", "title", "peer", "role", "created", "updated")


def party_html(name: str, ask: Callable[[float], Mapping[str, Any]]) -> str:
    """Peers, jobs by state, and the ledger; or that the daemon does not answer.

    Args:
        name: of the party.
        ask: for its status, within so many seconds.
    """
    caption = f"party {name}"
    try:
        status = ask(SECONDS)
    except DuettoError as error:
        return facts_html(caption, {"daemon": f"{error.what} {error.hint}"})
    jobs = ", ".join(f"{count} {state}" for state, count in status["jobs"].items()) or "none"
    ledger = "whole" if status["ledger_whole"] else status["ledger_problem"]
    return facts_html(
        caption, {"peers": ", ".join(status["peers"]) or "none", "jobs": jobs, "ledger": ledger}
    )


def job_html(said: Mapping[str, Any]) -> str:
    """Where a job stands, and what it is, from all that the daemon says of it."""
    facts = {name: said[name] for name in _OF_JOBS if said[name]}
    if said["error"]:
        facts["error"] = f"{said['error']['what']} {said['error']['hint']}"
    return facts_html(f"job {said['job_id']}", facts)

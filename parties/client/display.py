"""Parties and jobs as a notebook shows them."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from parties.results.html import facts_html
from smc.errors import DuettoError

if TYPE_CHECKING:
    from parties.client.party import Job, Party

SECONDS: Final = 5.0
"""How long a daemon may take to answer before the page says that it does not."""

_OF_JOBS: Final = ("state", "waits_for", "stage", "analysis", "title", "peer", "role", "created", "updated")


def party_html(party: Party) -> str:
    """Peers, jobs by state, and the ledger; or that the daemon does not answer."""
    caption = f"party {party.name}"
    try:
        status = party.status(SECONDS)
    except DuettoError as error:
        return facts_html(caption, {"daemon": f"{error.what} {error.hint}"})
    jobs = ", ".join(f"{count} {state}" for state, count in status["jobs"].items()) or "none"
    ledger = "whole" if status["ledger_whole"] else status["ledger_problem"]
    return facts_html(
        caption, {"peers": ", ".join(status["peers"]) or "none", "jobs": jobs, "ledger": ledger}
    )


def job_html(job: Job) -> str:
    """Where the job stands, and what it is."""
    said = job.describe()
    facts = {name: said[name] for name in _OF_JOBS if said[name]}
    if said["error"]:
        facts["error"] = f"{said['error']['what']} {said['error']['hint']}"
    return facts_html(f"job {job.id}", facts)

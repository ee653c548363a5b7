"""Covert jobs of every kind: an audit clears who followed the program and convicts who did not."""

from __future__ import annotations

import pytest

from parties.contracts.state import State
from parties.evidence.audit import Outcome
from parties.evidence.store import COIN, DUE, EvidenceStore
from scripts.soak.kinds import furnish, kinds
from tests.parties.evidence.covert import AUDITED, covert, finding
from tests.support.grids import grid

ROWS = 40
KINDS = {
    name: job
    for name, job in kinds(("north", "south")).items()
    if not name.endswith(", then") and job["job"]["analysis"] != "preparation"
}


@pytest.mark.parametrize("kind", grid(KINDS, list(KINDS)[::4]))
def test_both_sides_of_an_honest_run_are_cleared(institutions, kind):
    for number, name in enumerate(("north", "south")):
        furnish(institutions.folder / name, number, ROWS, **AUDITED)
    job_id = institutions.submit(covert(KINDS[kind]))
    for name, record in institutions.ended(job_id).items():
        assert record.state is State.FINISHED, (name, record.error_code, record.error_what)
    for name in ("north", "south"):
        standing = EvidenceStore(institutions.folder / name).standing(job_id)
        assert (standing.state, standing.why) == (DUE, COIN)
        found = finding(institutions, name, job_id)
        assert (found.outcome, found.signed) == (Outcome.CLEARED, "end"), found

"""Audits on a machine whose floating-point numbers are not those of the party's machine."""

from __future__ import annotations

import pytest

from parties.auditors.audit import Outcome, audit
from parties.evidence import seeds
from smc.analyses.registry import ANALYSES
from smc.forms import Role
from tests.parties.evidence.covert import Deviating, shown
from tests.parties.evidence.test_covert_jobs import SHORT
from tests.support.keys import toy

MODELS = "models, linear and logistic"


@pytest.fixture
def elsewhere(monkeypatch):
    """What follows runs on a machine that rounds otherwise."""
    return lambda: monkeypatch.setattr(seeds, "rounding_digest", lambda: b"another!")


@pytest.mark.parametrize("kind", [SHORT, MODELS])
def test_where_numbers_are_rounded_otherwise_only_exact_programs_convict(ran, institutions, elsewhere, kind):
    job_id = ran(kind, bends={Role.BOB: lambda transport: Deviating(transport, "triple-openings")})
    case, inputs, frames = shown(institutions, "south", job_id)
    here = audit(case, inputs, frames, ANALYSES, toy(Role.BOB))
    assert here.outcome is Outcome.CONVICTED
    elsewhere()
    there = audit(case, inputs, frames, ANALYSES, toy(Role.BOB))
    if kind == MODELS:
        assert there.outcome is Outcome.UNDECIDED
        assert "on a machine of that kind" in there.ground
    else:
        assert there == here


def test_an_honest_run_of_models_is_cleared_elsewhere_where_it_sends_the_same(ran, institutions, elsewhere):
    job_id = ran(MODELS)
    case, inputs, frames = shown(institutions, "south", job_id)
    elsewhere()
    assert audit(case, inputs, frames, ANALYSES, toy(Role.BOB)).outcome is Outcome.CLEARED

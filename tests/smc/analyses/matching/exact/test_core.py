"""Exact matching needs nothing that the core has not."""

from __future__ import annotations

import pytest

from smc.analyses.disclosure.limits import NO_LIMITS, Limits
from smc.analyses.matching.analysis import MATCHING
from smc.analyses.studies.columns import Column, Schema
from smc.analyses.studies.runner import run_study
from smc.errors import DisclosureRefused
from smc.forms import Role
from smc.oblivious.silent_engine import SilentEngine
from smc.pair import run_pair
from tests.support.plain_sessions import run_plain

SIDES = {Role.ALICE: ["anna", "ben", "cem"], Role.BOB: ["cem", "eva", "anna", "fritz"]}


def joint(limits, run=run_plain):
    """The keys that each side learns to be common."""
    study = MATCHING.parse({"method": "exact", "keys": ["id"]})

    def side(session):
        data = {"id": Column(SIDES[session.role], Schema("text"))}
        outcome = run_study(study, session, data, frozenset(Role), limits.of_both)
        (found,) = [table for table in outcome.tables if table.name == "matches"]
        return set(found.columns["id"])

    return run(side)


@pytest.mark.parametrize("limits", [NO_LIMITS, Limits(minimum_intersection=2)])
def test_keys_are_matched_in_a_plain_session(limits):
    assert joint(limits) == ({"anna", "cem"}, {"anna", "cem"})


def test_a_small_intersection_is_refused_in_a_plain_session():
    with pytest.raises(DisclosureRefused):
        joint(Limits(minimum_intersection=3))


@pytest.mark.parametrize("limits", [NO_LIMITS, Limits(minimum_intersection=2)])
def test_a_job_without_a_network_compares_by_no_silent_transfers(limits, monkeypatch):
    monkeypatch.setattr(SilentEngine, "_ready_silent", lambda _: pytest.fail("made silent transfers"))
    assert joint(limits, run_pair) == joint(limits)

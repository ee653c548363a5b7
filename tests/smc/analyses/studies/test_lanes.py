"""Analyses in sessions with lanes send exactly what is stated; that results are the same, engines test."""

from __future__ import annotations

import pytest

from parties.bench.analysis import AnalysisCase
from smc.analyses.registry import ANALYSES
from smc.analyses.studies.runner import run_study
from smc.forms import Role
from smc.oblivious.laned_engine import LanedEngine
from smc.pair import run_pair
from tests.support.grids import grid

CASES = [
    ("clusters", 3_000, 0, {}),
    ("clusters", 3_000, 0, {"rtt_ms": 20, "mbit": 100}),
    ("clusters-matched", 5_000, 3_000, {}),
    ("exact-size", 6_000, 0, {}),
    ("exact-sums", 4_000, 0, {"rtt_ms": 20, "mbit": 100}),
    ("matched-moments", 8_000, 0, {}),
]
QUICK = [case for case in CASES if not case[0].startswith("clusters")]
"""Clusters take ten times as long."""


@pytest.mark.parametrize(("name", "rows", "bob", "link"), grid(CASES, QUICK))
def test_bytes_and_rounds_are_exact_with_lanes(name, rows, bob, link):
    case = AnalysisCase(name, rows, bob_rows=bob, lanes=2, **link)
    workload, data = case.workload, case.data()
    study = ANALYSES[workload.analysis].parse(workload.parameters)
    recipients = frozenset(Role(each) for each in workload.recipients)

    def run(session):
        outcome = run_study(study, session, data[session.role], recipients, case.limits.of_both)
        opened = isinstance(session.oblivious, LanedEngine) and bool(session.oblivious._lanes)
        return outcome, session.channel.traffic, opened

    with_lanes = run_pair(run, network=case.network, lanes=2, timeout=200)
    (_, first, opened), (_, second, _) = with_lanes
    assert opened  # else the case is too small to say anything
    estimate = case.estimate()
    assert (first.sent, second.sent) == (estimate.alice_bytes, estimate.bob_bytes)
    assert max(first.rounds, second.rounds) == estimate.rounds

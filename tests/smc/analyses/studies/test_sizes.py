"""Estimates of runs whose sides have different numbers of rows: what they state is what is sent."""

from __future__ import annotations

import pytest

from parties.bench.analysis import AnalysisCase
from smc.analyses.registry import ANALYSES
from smc.analyses.studies.runner import run_study
from smc.forms import Role
from smc.pair import run_pair


@pytest.mark.parametrize(
    ("name", "alice", "bob"),
    [
        ("clusters", 40, 200),
        ("clusters-matched", 60, 20),
        ("exact", 30, 400),
        ("exact-size", 300, 40),
        ("tolerant", 20, 70),
        ("tolerant-ranks", 30, 100),
        ("vectors", 10, 25),
        ("matched-moments", 50, 150),
    ],
)
def test_bytes_and_rounds_are_exact_for_unequal_sizes(name, alice, bob):
    case = AnalysisCase(name, alice, bob_rows=bob)
    workload, data = case.workload, case.data()
    study = ANALYSES[workload.analysis].parse(workload.parameters)
    recipients = frozenset(Role(each) for each in workload.recipients)

    def run(session):
        run_study(study, session, data[session.role], recipients, case.limits.of_both)
        return session.channel.traffic

    (first, second), estimate = run_pair(run), case.estimate()
    assert (first.sent, second.sent) == (estimate.alice_bytes, estimate.bob_bytes)
    assert max(first.rounds, second.rounds) == estimate.rounds

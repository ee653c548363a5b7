"""Made-up people."""

from __future__ import annotations

import pytest

from parties.bench.people import ERRORS, FIELDS, people
from parties.bench.workloads import WORKLOADS, made_up
from smc.analyses.disclosure.limits import NO_LIMITS
from smc.analyses.registry import ANALYSES
from smc.analyses.studies.runner import run_study
from smc.forms import Role
from smc.pair import run_pair


def rows(data):
    return list(zip(*(data[name].texts for name in FIELDS), strict=True))


def test_common_persons_have_few_errors_and_others_are_others():
    data = people(made_up(), 200, 150)
    alice, bob = rows(data[Role.ALICE]), rows(data[Role.BOB])
    assert len(alice) == len(bob) == 200
    wrong = [sum(a != b for a, b in zip(*pair, strict=True)) for pair in zip(alice, bob, strict=True)]
    assert max(wrong[:150]) == ERRORS
    assert min(wrong[150:]) > ERRORS
    assert any("" in row for row in bob)
    assert not any("" in row for row in alice)


def test_the_same_source_gives_the_same_people():
    first, second = (people(made_up(), 20, 10) for _ in range(2))
    assert all(rows(first[role]) == rows(second[role]) for role in Role)


@pytest.mark.parametrize("name", ["tolerant", "tolerant-pairs"])
def test_tolerant_workloads_run(name):
    workload = WORKLOADS[name]
    analysis = ANALYSES[workload.analysis]
    study, data = analysis.parse(workload.parameters), workload.data(30)

    def run(session):
        return run_study(study, session, data[session.role], frozenset(Role), NO_LIMITS.of_both)

    alice, bob = run_pair(run, run)
    assert alice.tables[0].columns["pair"] == bob.tables[0].columns["pair"]
    assert len(alice.tables[0].columns["pair"]) > 15

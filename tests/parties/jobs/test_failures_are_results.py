"""What a peer learns by runs that fail: nothing before a run has counted, nothing by its own thresholds."""

from __future__ import annotations

import pytest

from parties.contracts.state import State
from parties.errors import JobError, PeerRefused, PolicyError
from tests.parties.jobs.institutions import job

pytestmark = pytest.mark.attack

DECLARED = {"id": {"type": "text"}, "v": {"type": "integer", "lower": 0, "upper": 10}}
SECRET = 37
"""Rows of south, the victim; north brings eight."""

REFUSED = (PeerRefused, PolicyError, JobError)


def people(institutions, south=SECRET, **settings):
    for name, count in (("north", 8), ("south", south)):
        cells = {
            "id": [f"{name} {row // 3}" for row in range(count)],
            "v": [row % 10 for row in range(count)],
        }
        institutions.hold(name, cells, DECLARED, **({"person": "id", "maximum_rows": 8} | settings))
        institutions.allow(name, total="5")
    institutions.hold("south", cells, DECLARED, **({"person": "id", "maximum_rows": 500} | settings))


def count(bound):
    query = {"kind": "count", "column": "v"}
    return job("statistics", {"epsilon": "1/1000000", "maximum_rows": bound, "queries": [query]}, ["v"])


def answers(institutions, document):
    """What north, the attacker, sees of a job: a code, or that it finished."""
    try:
        record = institutions.ended(institutions.submit(document))["north"]
    except REFUSED as refusal:
        return refusal.stable_code
    return record.error_code or record.state.value


@pytest.mark.parametrize("south", [5, SECRET])
def test_a_bound_of_the_job_is_not_held_against_the_number_of_rows(institutions, south):
    """Bisection of `maximum_rows` finds what the catalog declares, whatever rows there are."""
    people(institutions, south)
    seen = [answers(institutions, count(bound)) for bound in (499, 36, 37, 38, 500, 5000)]
    assert seen == ["rows"] * 4 + ["finished"] * 2


def test_rows_of_one_person_are_judged_by_what_is_declared(institutions):
    people(institutions, maximum_rows_per_person=5)
    parameters = {"clusters": 2, "columns": ["v"], "labels": False, "epsilon": "1", "iterations": 1}
    seen = [
        answers(institutions, job("clustering", parameters | {"rows_per_person": most}, ["v"]))
        for most in (2, 3, 4, 5)
    ]
    assert seen == ["rows"] * 3 + ["finished"]
    people(institutions)  # nothing declared: no number will do
    assert answers(institutions, job("clustering", parameters | {"rows_per_person": 9}, ["v"])) == "rows"


def test_more_rows_than_declared_are_the_owners_fault(institutions):
    people(institutions, maximum_rows=SECRET - 1)
    assert institutions.failed(count(500))["south"] == (State.FAILED, "data")


def runs(institutions, name="south"):
    from parties.ledger.book import open_ledger

    return sum(entry.event == "run" for entry in open_ledger(institutions.folder / name).entries())


def test_a_proposal_is_answered_by_declarations_alone(institutions):
    """A missing cell in a job that pairs rows is not told before a run counts."""
    declared = DECLARED | {"v": DECLARED["v"] | {"missing": "drop"}}
    for name in ("north", "south"):
        cells = {"id": [f"{name} {row}" for row in range(9)], "v": [5] * 8 + ["" if name == "south" else 5]}
        institutions.hold(name, cells, declared, person="id")
        institutions.allow(name)
    paired = job(
        "comparison",
        {"type": "PN-NP-PN", "bits": 4},
        {"alice": {"x": "v"}, "bob": {"y": "v"}},
        recipients=["alice"],
    )
    for before in range(2):
        assert runs(institutions) == before
        assert institutions.failed(paired)["south"] == (State.FAILED, "data")
    institutions.allow("south", runs_total=2)
    assert answers(institutions, paired) == "policy"


def test_which_rule_allows_a_job_does_not_depend_on_rows(institutions):
    """Else whether a person is asked would tell of the number of rows, for nothing."""
    import tomli_w

    from tests.parties.jobs.institutions import ALLOWED

    people(institutions)
    rules = [
        {**ALLOWED, "name": "many", "minimum_rows": SECRET + 1},
        {**ALLOWED, "name": "few", "approval": "person"},
    ]
    (institutions.folder / "south" / "policy.toml").write_text(tomli_w.dumps({"rules": rules}))
    assert institutions.failed(count(500))["south"] == (State.FAILED, "policy")
    assert runs(institutions) == 1


def test_rules_for_noise_bound_their_runs(institutions):
    from parties.policy.rules import NOISY_RUNS, parse_policy
    from tests.parties.jobs.institutions import ALLOWED

    noisy = {key: value for key, value in ALLOWED.items() if key not in ("runs_total", "row_results")}
    (rule,) = parse_policy({"rules": [noisy]}, "policy.toml").rules
    assert (rule.runs_total, rule.has_runs) == (NOISY_RUNS, False)
    (rule,) = parse_policy({"rules": [noisy | {"runs_total": 7}]}, "policy.toml").rules
    assert (rule.runs_total, rule.has_runs) == (7, True)

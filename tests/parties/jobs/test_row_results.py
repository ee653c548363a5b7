"""Results about single rows: no policy allows them unawares, on either side, and none gives a column away."""

from __future__ import annotations

import pytest

from parties.errors import PeerRefused, PolicyError
from parties.jobs.state import State
from tests.parties.jobs.institutions import Institutions, job

AGE = {"type": "integer", "lower": 0, "upper": 120}
DECLARED = {"x": AGE, "y": AGE, "id": {"type": "text"}}
ROWS = 12

TOLERANT = {"fields": [{"column": "id"}], "threshold": "1", "blocking": [["id:value"]]}
JOBS = {
    "comparison": job(
        "comparison", {"type": "PN-NP-PP", "bits": 7, "engine": "oblivious"}, {"alice": ["x"], "bob": ["y"]}
    ),
    "keys": job("matching", {"method": "exact", "keys": ["id"]}, ["id"]),
    "tolerant": job("matching", {"method": "tolerant", **TOLERANT}, ["id"]),
    "vectors": job("matching", {"method": "vectors", "columns": ["x"], "threshold": "1"}, ["x"]),
    "labels": job("clustering", {"clusters": 2, "columns": ["x"], "iterations": 2}, ["x"]),
}
SHARED = job(
    "comparison", {"type": "PN-NP-SS", "bits": 7, "engine": "oblivious"}, {"alice": ["x"], "bob": ["y"]}
)


@pytest.fixture
def people(institutions: Institutions) -> Institutions:
    for place, name in enumerate(("north", "south")):
        numbers = range(place * 4, place * 4 + ROWS)
        cells = {"x": [n % 121 for n in numbers], "y": [60] * ROWS, "id": [f"person {n}" for n in numbers]}
        institutions.hold(name, cells, DECLARED)
        institutions.allow(name)
    return institutions


@pytest.mark.parametrize("name", JOBS)
def test_both_parties_have_to_allow_them(people: Institutions, name: str) -> None:
    for side, refusal in (("north", PolicyError), ("south", PeerRefused)):
        people.allow(side, row_results=None)
        with pytest.raises(refusal) as caught:
            people.submit(JOBS[name])
        assert caught.value.stable_code == "policy"
        people.allow(side)
    people.run(JOBS[name])


def test_a_comparison_that_stays_shared_needs_no_word(people: Institutions) -> None:
    for side in ("north", "south"):
        people.allow(side, row_results=None, types=None, runs_total=None)
    records = people.ended(people.submit(SHARED))
    assert {record.state for record in records.values()} == {State.FINISHED}


TUTORIAL = {
    "analyses": ["statistics", "comparison"],
    "recipients": ["both", "self", "peer"],
    "epsilon_per_job": "1",
    "epsilon_total": "5",
    "exact_aggregates": None,
    "row_results": None,
    "types": None,
    "runs_total": None,
}
"""A rule for noisy statistics that names comparisons as well, decided by nobody."""


def test_a_rule_for_statistics_does_not_give_every_age_away(people: Institutions) -> None:
    """South's thresholds, seven times, would find all of north's values."""
    people.allow("north", **TUTORIAL)
    bisection = job(
        "comparison",
        {"type": "PN-NP-NP", "bits": 7, "engine": "oblivious"},
        {"alice": ["x"], "bob": ["y"]},
        recipients=["bob"],
    )
    with pytest.raises(PeerRefused) as caught:
        people.submit(bisection, "south")
    assert caught.value.stable_code == "policy"
    people.allow("north", **TUTORIAL | {"row_results": True, "runs_total": 3, "types": ["PN-NP-NP"]})
    for _ in range(3):
        records = people.ended(people.submit(bisection, "south"))
        assert {record.state for record in records.values()} == {State.FINISHED}
    with pytest.raises(PeerRefused) as caught:
        people.submit(bisection, "south")
    assert caught.value.stable_code == "policy"

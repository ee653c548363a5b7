"""The search for figures about few persons (`scripts/soak/adversary.py`): it sees a gate that is open."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass

import pytest

from scripts.soak.adversary import FIRST_DAY, PEER_CHOSEN, Round, View, _ends, draw, look
from tests.parties.jobs.institutions import job

PERSONS = 5
ELDERLY = 2


@dataclass(frozen=True)
class Careless(Round):
    """A victim whose policy does less than it asks for, as a program with a hole would."""

    @property
    def minimum(self):
        return 3


def population():
    """Five persons, of whom two are above ninety."""
    age = [95, 96, *[50] * (PERSONS - ELDERLY)]
    return {
        "id": [f"p{number}" for number in range(PERSONS)],
        "age": age,
        "cost": [10 * number for number in range(1, PERSONS + 1)],
        "copy": [10 * number for number in range(1, PERSONS + 1)],
        "sex": ["f"] * PERSONS,
        "diagnosis": ["asthma"] * PERSONS,
        "born": [FIRST_DAY.isoformat()] * PERSONS,
    }


def count_of(condition):
    query = {"kind": "count", "column": "age", "where": [condition]}
    return job(
        "statistics",
        {"noise": "none", "queries": [query]},
        {"alice": ["age"], "bob": ["age"]},
        recipients=["alice", "bob"],
        dataset="records",
    )


def sequence(kind, minimum, *jobs):
    """What a peer with one young person asks of the five."""
    peer = {name: cells[:1] for name, cells in population().items()} | {"id": ["q0"], "age": [50]}
    rule = {"runs_total": 8, "row_results": False, "recipients": ["both"], "may_state": ["where"]}
    rule |= {"minimum_group": minimum, "overlap": 0}
    asks = {"runs_total": 8, "row_results": True, "may_state": ["where"], "keys": ["*"], "zeros": "shown"}
    return kind(population(), peer, rule, asks, jobs)


ALL = count_of({"column": "age", "at_least": 0})
ABOVE_NINETY = count_of({"column": "age", "at_least": 91})
UP_TO_NINETY = count_of({"column": "age", "below": 91})


@pytest.mark.parametrize(
    "jobs", [[ABOVE_NINETY], [ALL, UP_TO_NINETY]], ids=["one figure", "a difference of two"]
)
def test_two_persons_are_found_where_the_gate_is_open(jobs):
    found, ends = look(sequence(Careless, 0, *jobs))
    assert ends["finished/"] == len(jobs)
    assert {(finding.kind, finding.about) for finding in found} == {("figure", (0, 1))}


def test_nothing_is_found_where_the_gate_stands():
    found, ends = look(sequence(Round, 3, ABOVE_NINETY, ALL, UP_TO_NINETY))
    assert found == []
    assert ends["finished/"] >= 2  # what is withheld of the first, and the figure of the second


@pytest.mark.parametrize("code", ["policy", *sorted(PEER_CHOSEN)])
def test_an_end_that_tells_of_a_person_is_printed_if_the_victim_set_no_limit(code):
    whole, without = View(["finished/"]), [View(["finished/"]), View([f"failed/{code}"])]
    ends = Counter()
    found = list(_ends(whole, without, ends))
    assert [finding.about for finding in found] == ([(1,)] if code in PEER_CHOSEN else [])
    assert ends == {f"bit: failed/{code} or finished/": 1}


def test_a_round_is_drawn_again_from_its_seed():
    assert draw("some seed/3") == draw("some seed/3")
    assert draw("some seed/3") != draw("some seed/4")

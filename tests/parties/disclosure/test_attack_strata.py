"""A peer asks twice for figures pooled over strata, once with a stratum in which one person is alone.

That person drops out of all sums there, as nobody can be compared with it, and the odds ratio moves to where
the others' is: up where the person had the event and is of the second group, down where not.
"""

from __future__ import annotations

import numpy as np

from tests.parties.disclosure.test_attacks import STATISTICS, Victim, patients

ROWS, ALONE = 240, 7


def pooled(cut):
    query = {
        "kind": "mantel-haenszel",
        "column": "price",
        "event": "high",
        "by": "diagnosis",
        "labels": ["diabetes", "asthma"],
        "strata": "age_group",
    }
    derived = {
        "price": {"column": "cost", "cuts": [500], "labels": ["low", "high"]},
        "age_group": {"column": "age", "cuts": [cut], "labels": ["younger", "older"]},
    }
    return STATISTICS.parse({"noise": "none", "maximum_rows": 1000, "queries": [query], "derived": derived})


def victims(cost):
    """As many of each diagnosis and price; one is 90 years old, has asthma, and a cost of which we speak."""
    row = np.arange(ROWS)
    costs, diagnosis, age = np.where(row % 2, 900, 100), 1 + row // 2 % 2, 20 + row % 60
    costs[ALONE], diagnosis[ALONE], age[ALONE] = cost, 1, 90
    return patients(cost=costs, age=age, diagnosis=diagnosis)


def ratio(outcome):
    """The odds ratio."""
    return outcome.tables[0].columns["value"][0]


def test_a_stratum_of_one_person_does_not_tell_that_persons_outcome(tmp_path):
    """Whether the 90-year-old was expensive, from how the ratio moves once it has a stratum of its own."""
    moved = {}
    for cost in (100, 900):
        (folder := tmp_path / str(cost)).mkdir()
        victim = Victim(folder, victims(cost))
        _, together = victim.asked(pooled(10))
        _, apart = victim.asked(pooled(85))
        assert together is not None
        if apart is None:
            return
        moved[cost] = np.sign(ratio(apart) - ratio(together))
    assert not (moved[100] == -moved[900] != 0), f"the ratio moves by the sign {moved}"


def test_nor_do_two_strata_whose_border_is_moved_over_that_person(tmp_path):
    victim = Victim(tmp_path, victims(900))
    _, first = victim.asked(pooled(50))
    assert first is not None
    _, second = victim.asked(pooled(51))  # four persons are of 50 years
    assert second is None

"""A peer asks for figures pooled over strata of which one is small.

Twice, once with a stratum in which one person is alone: that person drops out of all sums there, as nobody
can be compared with it, and the odds ratio moves to where the others' is: up where the person had the event
and is of the second group, down where not. Or beside other exact tables, with rows of its choice, which make
weights of the counts of a stratum.
"""

from __future__ import annotations

import numpy as np
import pytest

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
        _, together = victim.asked(pooled(50))
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


TOTALS = np.array([60, 140, 80, 110])
"""The victim's patients: dear or cheap with diabetes, dear or cheap with asthma."""

WEIGHTS = ([227, 0, 0, 175], [0, 1, 2383, 500])
"""The peer's, younger and older: with them each of the 455 tables of 12 persons has figures of its own."""


def patients_of(younger, older):
    """Rows with these counts of each price and diagnosis."""
    cells = np.repeat([*range(4), *range(4)], [*younger, *older])
    age = np.repeat([40, 95], [np.sum(younger), np.sum(older)])
    return {"cost": np.where(cells % 2, 100, 900), "diagnosis": 2 - cells // 2, "age": age}


def asked_of(**query):
    derived = {
        "price": {"column": "cost", "cuts": [500], "labels": ["low", "high"]},
        "old": {"column": "age", "cuts": [90], "labels": ["younger", "older"]},
    }
    used = {name: derived[name] for name in derived if name in query.values()}
    found = {"noise": "none", "maximum_rows": 10_000, "queries": [query], "derived": used}
    return STATISTICS.parse(found)


def test_tables_of_twelve_persons_that_have_the_same_totals_are_not_told_apart(tmp_path):
    """Of the victim's patients the peer knows the four counts, and how many are old: of these no cost."""
    groups = {"column": "price", "event": "high", "by": "diagnosis", "labels": ["diabetes", "asthma"]}
    told = []
    for older in ((1, 3, 6, 2), (2, 2, 5, 3), (4, 0, 0, 8)):
        (folder := tmp_path / str(older)).mkdir()
        victim = Victim(folder, patients(**patients_of(TOTALS - older, older)), overlap=20)
        brought = patients_of(*WEIGHTS)
        for study in (asked_of(kind="risks", **groups), asked_of(kind="count", by="old")):
            assert victim.asked(study)[1] is not None
        _, found = victim.asked(asked_of(kind="mantel-haenszel", strata="old", **groups), brought=brought)
        told.append(found and [table.columns for table in found.tables])
    assert told == told[:1] * 3


@pytest.mark.parametrize("kind", ["standardised-rates", "standardised-ratio"])
def test_standardised_figures_are_those_of_a_table_in_which_so_few_are_withheld(tmp_path, kind):
    more = {
        "standardised-rates": {
            "by": "diagnosis",
            "labels": ["diabetes", "asthma"],
            "weights": {"younger": "0.5", "older": "0.5"},
        },
        "standardised-ratio": {"rates": {"younger": "0.1", "older": "0.3"}},
    }
    for older, is_shown in (((1, 3, 6, 2), False), ((12, 40, 20, 30), True)):
        (folder := tmp_path / str(older)).mkdir()
        victim = Victim(folder, patients(**patients_of(TOTALS - older, older)), overlap=20)
        study = asked_of(kind=kind, column="price", event="high", strata="old", **more[kind])
        _, found = victim.asked(study, brought=patients_of(*WEIGHTS))
        assert (found is not None) is is_shown

"""Attacks by choice of values: exact sums of what a recipient holds show which of its rows are in them."""

from __future__ import annotations

import itertools
import tomllib
from fractions import Fraction
from typing import Any

import numpy as np
import pytest

from smc.analyses.clustering.study import CLUSTERING
from smc.analyses.disclosure.limits import Limits
from smc.analyses.matching.analysis import MATCHING
from smc.analyses.studies.columns import Column, Data, Schema
from smc.analyses.studies.outcome import Outcome
from smc.analyses.studies.runner import run_study
from smc.forms import Role
from smc.pair import run_pair

ALICE, BOB, BOTH = frozenset((Role.ALICE,)), frozenset((Role.BOB,)), frozenset(Role)
STRICT = Limits(minimum_group=5, dominance=Fraction(4, 5), minimum_intersection=5)
ID = Schema("integer", lower=0, upper=10**9)
LARGE = Schema("integer", lower=0, upper=2**40)
ROWS = 24
MATCHING_ROWS = {1, 2, 5, 8, 13, 14, 17, 19, 22}

SUMS = 'method = "exact"\nkeys = ["id"]\noutput = "statistics"\n'
OWN = '[[values]]\nside = "alice"\ncolumn = "v"\n'
OTHER = '[[values]]\nside = "bob"\ncolumn = "v"\n'


def numbers(values: Any, schema: Schema = LARGE) -> Column:
    return Column(np.array(values, dtype=np.int64), schema)


def outcomes(analysis: Any, study: Any, alice: Data, bob: Data, recipients: frozenset[Role]) -> Any:
    data = {Role.ALICE: alice, Role.BOB: bob}

    def one(session: Any) -> Outcome:
        return run_study(study, session, data[session.role], recipients, STRICT.of_both)

    return run_pair(one, one, timeout=60)


def members(code: int) -> set[int]:
    """The numbers of the bits that are set."""
    return {bit for bit in range(code.bit_length()) if code >> bit & 1}


def test_an_exact_sum_of_its_own_column_shows_the_holder_which_rows_match() -> None:
    """Values 2**30 + 2**i pass the limits on groups and dominance, as all are nearly the same."""
    study = MATCHING.parse(tomllib.loads(SUMS + OWN))
    alice = {"id": numbers(range(ROWS), ID), "v": numbers([2**30 + 2**i for i in range(ROWS)])}
    keys = [*MATCHING_ROWS, *range(100, 115)]
    (table,) = outcomes(MATCHING, study, alice, {"id": numbers(keys, ID)}, ALICE)[0].tables
    (count,), (total,) = table.columns["count"], table.columns["sum"]
    assert members(int(total) - count * 2**30) == MATCHING_ROWS

    facts = study.facts(ALICE)
    assert facts.exact
    assert facts.row_results
    told = study.leakage(ALICE)
    assert "which of its own rows match" in " ".join(told.alice)
    assert "own rows" not in " ".join(told.bob)


def test_an_exact_sum_of_values_that_it_knows_shows_who_matches() -> None:
    """Alice brings keys alone, and knows the dates of birth in Bob's file: they are those of its patients."""
    study = MATCHING.parse(tomllib.loads(SUMS + OTHER))
    assert study.facts(ALICE).row_results
    days = np.random.default_rng(26).integers(0, 36_525, ROWS)
    born = Schema("integer", lower=0, upper=36_525)
    keys = sorted(MATCHING_ROWS)
    bob = {"id": numbers([*keys, *range(100, 115)], ID), "v": numbers([*days[keys], *[9_000] * 15], born)}
    (table,) = outcomes(MATCHING, study, {"id": numbers(range(16), ID)}, bob, ALICE)[0].tables
    (count,), (total,) = table.columns["count"], table.columns["sum"]
    fitting = [one for one in itertools.combinations(range(16), count) if days[list(one)].sum() == total]
    assert fitting == [tuple(key for key in keys if key < 16)]


@pytest.mark.parametrize(
    ("text", "recipients", "about_rows"),
    [
        (SUMS + OWN, ALICE, True),
        (SUMS + OWN, BOTH, True),
        (SUMS + OWN, BOB, True),
        (SUMS + OTHER, ALICE, True),
        (SUMS + OTHER, BOTH, True),
        (SUMS + OWN + OTHER, BOB, True),
        ('epsilon = "1"\n' + SUMS + OWN, BOTH, False),
        (SUMS.replace("statistics", "shares") + OWN, BOTH, False),
        (SUMS.replace("statistics", "size"), BOTH, False),
    ],
)
def test_sums_are_about_single_rows_whoever_holds_them(
    text: str, recipients: frozenset[Role], about_rows: bool
) -> None:
    study = MATCHING.parse(tomllib.loads(text))
    assert study.facts(recipients).row_results is about_rows
    told = study.leakage(recipients)
    assert ("which of its own rows match" in " ".join((*told.alice, *told.bob))) is about_rows


CODES = 16
SPLIT = """
clusters = 2
layout = "vertical"
alice_columns = ["v"]
bob_columns = ["w"]
scaling = "none"
precision = 20
iterations = 3
labels = false
centres = [["0", "0"], ["0", "1000000"]]
"""
MATCHED = '[match]\nkeys = ["id"]\n'
HIGH, LOW = {0, 3, 4, 9, 10, 12}, {1, 5, 6, 7, 14, 15}


@pytest.mark.parametrize("matched", [False, True])
def test_exact_centres_show_a_recipient_which_of_its_rows_are_in_a_cluster(matched: bool) -> None:
    """Alice's 2**i, small beside Bob's values, come out in the sums of the clusters, without any labels."""
    study = CLUSTERING.parse(tomllib.loads(SPLIT + (MATCHED if matched else "")))
    large = Schema("integer", lower=0, upper=2**20 - 1)
    rows = sorted(HIGH | LOW)
    brought = range(CODES) if matched else rows
    alice = {"v": numbers([2**i for i in brought], Schema("integer", lower=0, upper=2**CODES))}
    bob = {"w": numbers([900_000 + i if i in HIGH else 100 + i for i in rows], large)}
    if matched:
        alice["id"] = numbers(brought, ID)
        bob["id"] = numbers(rows, ID)
    first, _ = outcomes(CLUSTERING, study, alice, bob, ALICE)
    assert [table.name for table in first.tables] == ["centres", "fit"]
    centres = first.tables[0].columns
    sums = [round(v * size) for v, size in zip(centres["v"], centres["size"], strict=True)]
    assert [members(total) for total in sums] == [LOW, HIGH]

    facts = study.facts(ALICE)
    assert facts.exact
    assert facts.row_results
    assert "can choose its values" in " ".join(study.leakage(ALICE).alice)
    noisy = SPLIT.replace('centres = [["0", "0"], ["0", "1000000"]]', 'epsilon = "1"')
    assert not CLUSTERING.parse(tomllib.loads(noisy)).facts(ALICE).row_results

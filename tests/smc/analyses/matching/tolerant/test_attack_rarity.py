"""Terms of rarity make the scores of many rows depend on one: what then becomes of the histogram's guarantee?

A local term has `rarity` times log2(1 / share of own rows with that text): a row that takes another name
changes the terms of all rows of both. Noise is for a row that changes its own claim and those that it meets.
"""

from __future__ import annotations

import numpy as np
import pytest

from smc.analyses.matching.tolerant.plain import Claims
from smc.analyses.matching.tolerant.records import prepare, read_texts
from smc.analyses.matching.tolerant.study import TOLERANT
from smc.analyses.studies.columns import Column, Schema
from smc.errors import UsageError

TEXT = Schema("text")
ROWS = 200


def counts(parsed, alice, bob):
    given = parsed.parameters
    sides = (prepare(given, read_texts(given, each), 1) for each in (alice, bob))
    return np.array(Claims.of(given, *sides).counts)


def people(smiths):
    """As many of one surname; all others have each their own."""
    names = ["smith"] * smiths + [f"name{number}" for number in range(smiths, ROWS)]
    return {"surname": Column(names, TEXT), "number": Column([f"P{n}" for n in range(ROWS)], TEXT)}


@pytest.mark.parametrize(("smiths", "least"), [(23, 5), (43, 3), (58, 2)])
def test_one_replaced_row_moves_no_more_counts_than_the_noise_is_for(smiths, least):
    """One more Smith among Alice's, and the claims of all of them go to another bin."""
    try:
        parsed = TOLERANT.parse(
            {
                "least_score": least,
                "ranks": 1,
                "fields": [{"column": "surname", "weight": 3, "gram": "-1", "rarity": "1.13"}],
                "blocking": [["number:value"]],
                "histogram": {"epsilon": "1"},
            }
        )
    except UsageError:
        return
    before, after = (counts(parsed, people(each), people(smiths)) for each in (smiths, smiths + 1))
    assert np.abs(before - after).sum() <= parsed.parameters.histogram.sensitivity

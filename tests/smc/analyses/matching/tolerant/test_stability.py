"""Why there are no statistics with noise over tolerant matches: one row can move many pairs.

Neighbouring tables differ in a row. Over exact keys that is one match; here noise would have to cover the
pairs that a row takes away, and those that their rows take from others.
"""

from __future__ import annotations

import numpy as np
import pytest

from smc.analyses.matching.tolerant.parameters import MAX_ROUNDS
from smc.analyses.matching.tolerant.plain import _nearest, plain_links
from smc.analyses.matching.tolerant.records import prepare, read_texts
from smc.analyses.matching.tolerant.study import TOLERANT
from smc.analyses.studies.columns import Column, Schema
from smc.errors import UsageError
from tests.smc.analyses.statistics_runs import parsed

TEXT = Schema("text")
LETTERS = "bcdfghjk"


def linked(parameters, alice, bob):
    """The pairs of names; all rows are in one bucket."""
    sides = [
        {"name": Column(names, TEXT), "town": Column(["x"] * len(names), TEXT)} for names in (alice, bob)
    ]
    buckets = parameters.buckets((len(alice), len(bob)))
    first, second = (prepare(parameters, read_texts(parameters, side), buckets) for side in sides)
    return {(alice[i], bob[j]) for i, j in plain_links(parameters, first, second).tolist()}


def test_one_more_row_takes_the_partners_of_many():
    """A row that is near to all of the other side's makes each of them prefer it, and pairs with one."""
    given = {
        "fields": [{"column": "name", "bits": 512}],
        "threshold": "0.5",
        "blocking": [["town:value"]],
        "bucket": 16,
        "load": 16,
        "overflow": "accept",
        "one_to_one": "greedy",
        "rounds": 1,
    }
    parameters = TOLERANT.parse(given).parameters
    alice = [f"{letter}qohenxtaufen{letter}{letter}" for letter in LETTERS]
    bob = [f"hohenstaufen{letter}{letter}" for letter in LETTERS]
    before = linked(parameters, alice, bob)
    after = linked(parameters, [*alice, "hohenstaufen"], bob)
    assert before == set(zip(alice, bob, strict=True))
    assert len(before - after) >= 5
    assert len(after - before) == 1


def test_with_more_rounds_one_row_moves_a_whole_chain():
    """Each row that lost its partner takes the next one's; nothing of n pairs stays."""
    n = MAX_ROUNDS
    chain = [pair for i in range(1, n) for pair in ((i, i - 1), (i, i))]  # row 0 of Alice is the new one
    chain = [(0, 0), *chain[:1], *chain[1:], (n, n - 1)]
    scored = np.array([(i, j, 1000 - place) for place, (i, j) in enumerate(chain)])
    known = scored[scored[:, 0] > 0]
    before = {(i, j) for i, j, _ in _nearest(known, n + 1, n, n).tolist()}
    after = {(i, j) for i, j, _ in _nearest(scored, n + 1, n, n).tolist()}
    assert before == {(i + 1, i) for i in range(n)}
    assert after == {(i, i) for i in range(n)}
    assert len(before ^ after) == 2 * n


@pytest.mark.parametrize("key", ['method = "tolerant"', 'threshold = "0.8"', 'blocking = [["town:value"]]'])
def test_statistics_over_tolerant_matches_are_refused_with_the_reason(key):
    with pytest.raises(UsageError, match="tolerant matches") as caught:
        parsed(
            'epsilon = "1"\nlayout = "vertical"\nalice_columns = ["age"]\n'
            f'[match]\nkeys = ["id"]\n{key}\n[[queries]]\nkind = "mean"\ncolumn = "age"'
        )
    assert "exact keys" in caught.value.hint

"""What jobs about tolerant matches may ask for: no noise, no own bounds, and columns that there are."""

from __future__ import annotations

import numpy as np
import pytest

from smc.analyses.matching.analysis import MATCHING
from smc.analyses.matching.linked.parameters import moved_pairs
from smc.analyses.matching.tolerant.plain import plain_links
from smc.analyses.matching.tolerant.records import prepare, read_texts
from smc.analyses.studies.columns import Column, Schema
from smc.errors import UsageError
from tests.smc.analyses.matching.linked_runs import VALUES, job, tables
from tests.smc.analyses.matching.tolerant_runs import BOTH, RANKED


@pytest.mark.parametrize("rounds", [1, 3])
def test_noise_is_refused_with_the_reason_and_both_ways_of_the_hint_work(rounds):
    with pytest.raises(UsageError, match="tolerant matches") as caught:
        job(epsilon="1", rounds=rounds)
    reason = "up to 68 pairs" if rounds == 1 else "a chain of pairs"
    assert reason in str(caught.value)
    assert caught.value.hint == "Leave epsilon out for exact figures, or match by exact keys."
    job(rounds=rounds)
    exact = {"method": "exact", "keys": ["surname"], "output": "statistics", "values": VALUES, "epsilon": "1"}
    assert MATCHING.parse(exact).facts(BOTH).loss


def test_what_a_row_moves_among_ranks_is_said_where_noise_is_refused():
    for ranks, pairs in ((1, 14), (2, 24)):
        with pytest.raises(UsageError, match=f"up to {pairs} pairs .* changes which side claims"):
            job(epsilon="1", **RANKED | {"ranks": ranks})


@pytest.mark.parametrize(("ranks", "bucket"), [(1, None), (2, None), (None, 2)])
def test_a_row_moves_no_more_pairs_than_is_said(ranks, bucket):
    """Keys, names and so scores that many rows share: whoever is there meets and displaces others."""
    changes = {
        "fields": [{"column": name} for name in PARTS],
        "threshold": "0.2",
        "blocking": [["one:value"], ["two:value"], ["three:value"]],
    }
    changes |= RANKED | {"ranks": ranks} if ranks else {"bucket": bucket, "load": None}
    parsed = job("size", **changes).parameters.matching
    drawn = np.random.default_rng(5)
    most = 0
    for _ in range(40):
        counts = (24, 30)  # Alice's rows claim, with one row less of either side, too
        sides = [drawn.integers(0, 9, (rows, len(PARTS))) for rows in counts]
        whole = [np.arange(rows) for rows in counts]
        pairs = linked(parsed, sides, whole)
        for side in (0, 1):
            fewer = list(whole)
            fewer[side] = np.delete(whole[side], drawn.integers(0, counts[side]))
            most = max(most, len(pairs ^ linked(parsed, sides, fewer)))
    assert 3 <= most <= moved_pairs(parsed)


PARTS = ("one", "two", "three")


def linked(parsed, sides, rows):
    """The pairs of these rows of both sides, in as many buckets however many there are."""
    schema, held = Schema("text"), []
    buckets = 1 if parsed.ranks else parsed.buckets(tuple(len(side) for side in sides))
    for side, taken in zip(sides, rows, strict=True):
        cells = zip(PARTS, side[taken].T, strict=True)
        data = {name: Column([f"{name}{number}" for number in column], schema) for name, column in cells}
        held.append(prepare(parsed, read_texts(parsed, data), buckets))
    pairs = plain_links(parsed, *held)
    return {(int(rows[0][left]), int(rows[1][right])) for left, right in pairs}


@pytest.mark.parametrize(
    ("changes", "part"),
    [
        ({"one_to_one": "none"}, "count a row several times"),
        ({"one_to_one": "largest"}, "have to be opened"),
        ({"output": "shares"}, "output cannot be 'shares'"),
        ({"show": ["surname"]}, "unknown key 'show'"),
        ({"values": []}, "0 columns do not fit"),
        ({"output": "size", "values": VALUES}, "do not fit the output 'size'"),
    ],
)
def test_what_does_not_fit_is_refused(changes, part):
    with pytest.raises(UsageError, match=part) as caught:
        job(**changes)
    assert caught.value.hint


def test_a_job_has_no_bounds_of_its_own():
    alice, bob = ({name: column.schema for name, column in data.items()} for data in tables(5, 5))
    job().check(alice, bob)
    for upper in ("100", "1000000"):
        with pytest.raises(UsageError, match="need noise"):
            job(values=[{"side": "bob", "column": "days", "upper": upper}])
    with pytest.raises(UsageError, match="not a column of numbers"):
        job(values=[{"side": "bob", "column": "surname"}]).check(alice, bob)

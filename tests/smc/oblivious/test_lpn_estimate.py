"""The estimate of the problems behind vector OLE: what it says, and what it counts."""

from __future__ import annotations

from pathlib import Path

import numpy as np

from scripts import lpn_estimate
from scripts.lpn_estimate import PROBLEMS, Problem, covered_rows, estimate, missed, shortest_relation
from smc.oblivious.vole_plan import PRODUCTION
from tests.support.seeds import seeded

RANDOM = seeded()
PAGE = Path(__file__).parents[3] / "docs" / "proofs" / "vole.md"


def test_all_attacks_on_the_sizes_that_are_taken_need_128_bits_and_on_the_smaller_ones_they_do_not():
    iterations, first, raw, smaller, comparisons = (estimate(problem) for problem in PROBLEMS)
    for found in (iterations, first, raw, comparisons):
        assert min(found.columns, found.elimination, found.algebra) >= 128
    assert min(iterations.linear, first.linear) >= 128
    assert smaller.columns < 128
    assert [PROBLEMS[2].length, PROBLEMS[2].rows] == [PRODUCTION.silent.length, 512 * PRODUCTION.silent.trees]


def test_the_page_has_the_table():
    assert "\n".join(lpn_estimate.table()) in PAGE.read_text(encoding="utf-8")


def test_no_noise_in_rows_has_the_stated_probability():
    """Against drawing: 8 bins of 16 rows, 24 rows chosen evenly and all in two bins."""
    problem = Problem("", 128, 10, 8)
    draws = 200_000
    places = (RANDOM.words(8 * draws) % 16).astype(np.int64).reshape(draws, 8)
    even = (places >= 3).all(axis=1).mean()
    uneven = (places[:, :2] >= 12).all(axis=1).mean()
    bound = 2.0 ** -missed(problem, 24)
    assert abs(even - bound) < 6 * (bound / draws) ** 0.5
    assert uneven < bound


def test_sets_of_columns_hold_as_many_rows_as_columns():
    """On random rows of ten places: their number, and that they settle nearly all unknowns."""
    problem = Problem("", 20_480, 1_280, 1)
    places = (RANDOM.words(10 * problem.rows) % problem.length).astype(np.int64).reshape(-1, 10)
    size = covered_rows(problem)
    counts = []
    for _ in range(20):
        inside = np.zeros(problem.length, dtype=np.bool_)
        inside[RANDOM.permutation(problem.length)[:size]] = True
        counts.append(int(inside[places].all(axis=1).sum()))
    assert abs(np.mean(counts) - size) < 0.1 * size


def test_relations_are_shorter_among_more_rows_and_longer_over_more_columns():
    usual, more, wider = (
        shortest_relation(Problem("", rows, length, 1))
        for rows, length in ((4_000, 500), (16_000, 500), (4_000, 1_000))
    )
    assert more < usual < wider
    assert 1.8 < wider / usual < 2.6  # nearly in proportion to the columns, less so to the rows
    assert more / usual > 0.7

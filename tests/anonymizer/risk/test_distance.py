"""Risk as distance: the paper's example, brute force, and releases that copy."""

from __future__ import annotations

from itertools import permutations, product

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays
from scipy.stats.contingency import association

from anonymizer.errors import TableError
from anonymizer.risk.association import cramers_v
from anonymizer.risk.distance.closest_record import closest_record, membership
from anonymizer.risk.distance.coverage import coverage
from anonymizer.risk.distance.earth_mover import EXACT_ROWS, earth_mover
from anonymizer.risk.distance.hitting import hitting_rate
from anonymizer.risk.distance.matching import cheapest_matching
from anonymizer.risk.distance.p_privacy import link_columns, p_privacy
from anonymizer.risk.distance.space import RecordSpace, nearest
from anonymizer.risk.distance.voronoi import boundary_points, voronoi_privacy
from anonymizer.risk.distance.y_privacy import y_privacy
from anonymizer.tables.table import Table

Points = np.ndarray

ORIGINAL = Table.of(pd.DataFrame([[3, 5, 1, 2, 3], [8, 1, 2, 3, 4], [2, 2, 3, 4, 5]], columns=list("abcde")))
RELEASE = Table.of(pd.DataFrame([[4, 5, 1, 2, 3], [8, 7, 2, 3, 4], [3, 1, 2, 3, 4]], columns=list("abcde")))


def points(rows: int, columns: int = 2) -> st.SearchStrategy[Points]:
    """Points on a small grid, so that equal ones occur."""
    return arrays(np.float64, (rows, columns), elements=st.integers(0, 4).map(float))


def cloud(seed: int, rows: int, columns: int = 3) -> Points:
    """Uniform points that are always the same."""
    return np.random.default_rng(seed).random((rows, columns))


def test_the_example_of_p_privacy_gives_the_printed_probability() -> None:
    found = p_privacy(ORIGINAL, RELEASE, list("abcde"))
    assert found.groups == (("a",), ("b",), ("c", "d", "e"))
    assert (found.hits, found.candidates) == (2, 18)
    assert found.p == pytest.approx(2 / 27)


@given(st.integers(0, 2**32 - 1))
def test_p_privacy_is_that_of_the_table_of_all_combinations(seed: int) -> None:
    random = np.random.default_rng(seed)
    one, other = (pd.DataFrame(random.integers(0, 3, (6, 3)), columns=list("xyz")) for _ in range(2))
    found = p_privacy(Table.of(one), Table.of(other), list("xyz"), [["x", "y"], ["z"]])
    pairs = set(map(tuple, other[["x", "y"]].to_numpy().tolist()))
    made = {(*pair, z) for pair, z in product(pairs, set(other["z"].tolist()))}
    hits = len(made & set(map(tuple, one.to_numpy().tolist())))
    assert (found.hits, found.candidates) == (hits, len(made))


def test_columns_that_depend_on_each_other_are_one_group() -> None:
    random = np.random.default_rng(5)
    a, c = random.integers(0, 6, 3000), random.integers(0, 6, 3000)
    frame = pd.DataFrame({"a": a, "c": c, "b": a % 3, "d": random.normal(size=3000), "e": 1})
    assert link_columns(Table.of(frame), list("acbde")) == (("a", "b"), ("c",), ("d",), ("e",))


def test_independent_columns_of_many_values_are_not_linked_in_few_rows() -> None:
    random = np.random.default_rng(3)
    frame = pd.DataFrame(random.integers(0, 20, (150, 8)), columns=list("abcdefgh"))
    assert link_columns(Table.of(frame), list(frame)) == tuple((name,) for name in frame)


@given(points(7), points(9))
def test_distances_are_those_of_all_pairs(original: Points, release: Points) -> None:
    pairs = np.linalg.norm(release[:, None] - original[None], axis=2)
    least = np.sort(pairs.min(axis=1))
    assert nearest(release, original) == pytest.approx(pairs.min(axis=1))
    assert hitting_rate(original, release) == pytest.approx((least == 0).mean())
    found = y_privacy(original, release)
    assert (found.minimum, found.maximum) == pytest.approx((least[0], least[-1]))
    assert (found.median, found.mean) == pytest.approx((np.median(least), least.mean()))


def test_many_coordinates_have_the_distances_of_all_pairs_too() -> None:
    one, two = np.round(cloud(1, 300, 40), 1), np.round(cloud(2, 200, 40), 1)
    pairs = np.linalg.norm(two[:, None] - one[None], axis=2)
    assert nearest(two, one) == pytest.approx(pairs.min(axis=1))
    assert nearest(one[:50], one).max() == 0
    middle = boundary_points(one)
    own = np.linalg.norm(one[:, None] - one[None], axis=2)
    np.fill_diagonal(own, np.inf)
    assert np.linalg.norm(one - middle, axis=1) == pytest.approx(own.min(axis=1) / 2)


@given(points(5), points(5), st.integers(0, 4))
def test_the_pairing_is_the_cheapest_of_all_and_coverage_counts_it(one: Points, two: Points, y: int) -> None:
    pairs = np.linalg.norm(two[:, None] - one[None], axis=2)
    least = min(sum(pairs[i, j] for i, j in enumerate(order)) for order in permutations(range(5)))
    matched = cheapest_matching(two, one)
    assert matched.is_exact
    assert matched.distances.sum() == pytest.approx(least)
    found = coverage(one, two, float(y))
    assert found.part == (matched.distances <= y).mean()
    assert found.fulfils(found.part)
    assert not found.fulfils(found.part - 0.01)


def test_coverage_of_large_tables_lies_between_samples_and_neighbours() -> None:
    original, noise = cloud(1, 1500), cloud(2, 1500)
    release = original + 0.02 * (noise - 0.5)
    found = coverage(original, release, 0.03, seed=1)
    assert not found.is_exact
    lower, upper = found.interval
    assert lower <= found.part <= upper
    assert upper == 1.0  # each row has its own original within 0.03, and the pairing that finds it is allowed
    assert coverage(original, release + 5, 0.03, seed=1).interval[1] == 0.0


@given(points(8))
def test_a_boundary_point_is_nowhere_nearer_to_another_record(original: Points) -> None:
    if len(np.unique(original, axis=0)) < 2:
        with pytest.raises(TableError, match="All records are equal"):
            boundary_points(original)
        return
    middle = boundary_points(original)
    for record, point in zip(original, middle, strict=True):
        distances = np.linalg.norm(original - point, axis=1)
        own = np.linalg.norm(record - point)
        assert own == pytest.approx(distances.min())
        others = original[(original != record).any(axis=1)]
        assert own == pytest.approx(np.linalg.norm(others - record, axis=1).min() / 2)
        assert (np.abs(np.linalg.norm(others - point, axis=1) - own) < 1e-9).any()


def test_voronoi_privacy_is_zero_for_the_safest_table_and_grows_with_distance() -> None:
    original = cloud(3, 200)
    safest = boundary_points(original)
    found = voronoi_privacy(original, safest)
    assert found.nearest == 0
    assert found.earth_mover.mean == pytest.approx(0, abs=1e-12)
    assert found.assignment is not None
    assert found.assignment.mean == pytest.approx(0, abs=1e-12)
    away = [voronoi_privacy(original, safest + shift) for shift in (0.5, 1.0, 2.0)]
    assert sorted(each.earth_mover.mean for each in away) == [each.earth_mover.mean for each in away]
    assert sorted(each.nearest for each in away) == [each.nearest for each in away]
    assert voronoi_privacy(original, safest[:50]).assignment is None


@settings(max_examples=20)
@given(points(6), points(6))
def test_the_earth_mover_is_the_cheapest_pairing_where_sizes_agree(one: Points, two: Points) -> None:
    assert earth_mover(one, two).mean == pytest.approx(cheapest_matching(one, two).mean, abs=1e-9)


def test_the_sliced_distance_of_large_tables_is_a_lower_bound() -> None:
    rows = EXACT_ROWS + 1
    one = cloud(4, rows)
    found = earth_mover(one, one + np.array([0.3, 0, 0]), seed=7)
    assert not found.is_exact
    assert 0.05 < found.mean < 0.3
    assert earth_mover(one, one, seed=7).mean == 0


def test_a_space_scales_by_declared_ranges_and_puts_categories_one_apart() -> None:
    frame = pd.DataFrame({"cm": [150.0, 200.0], "ward": ["a", "b"]})
    space = RecordSpace({"cm": (100, 200)}, {"ward": ("a", "b", "c")})
    left, right = space.points(Table.of(frame))
    assert abs(left[0] - right[0]) == 0.5
    assert np.linalg.norm(left[1:] - right[1:]) == pytest.approx(1)


@pytest.mark.parametrize(
    ("space", "error"),
    [
        (lambda: RecordSpace({"cm": (5, 5)}, {}), "empty"),
        (lambda: RecordSpace({"cm": (0, float("inf"))}, {}), "not finite"),
        (lambda: RecordSpace({}, {"ward": ()}), "0 categories"),
        (
            lambda: RecordSpace({}, {"ward": ("a",)}).points(Table.of(pd.DataFrame({"ward": ["x"]}))),
            "the value 'x'",
        ),
        (
            lambda: RecordSpace({"cm": (0, 1)}, {}).points(Table.of(pd.DataFrame({"cm": [None, 0.5]}))),
            "missing cells",
        ),
        (
            lambda: RecordSpace({}, {}).points(Table.of(pd.DataFrame({"cm": [1]}))),
            "numbers and categories, and there are none",
        ),
    ],
)
def test_a_space_refuses_what_it_cannot_place(space, error: str) -> None:  # type: ignore[no-untyped-def]
    with pytest.raises(TableError, match=error):
        space()


@pytest.mark.parametrize(
    "measure", [hitting_rate, y_privacy, cheapest_matching, earth_mover, voronoi_privacy]
)
def test_empty_tables_are_refused(measure) -> None:  # type: ignore[no-untyped-def]
    with pytest.raises(TableError):
        measure(cloud(1, 5), np.zeros((0, 3)))


def test_a_release_that_copies_is_nearer_to_its_records_than_to_those_held_out() -> None:
    original, held_out = cloud(5, 1000), cloud(6, 1000)
    copied = original[:500] + 0.001
    found = closest_record(original, copied, held_out, seed=1)
    assert found.interval()[0] > 0.95
    assert found.fifth < found.fifth_held_out
    who = membership(original, copied, held_out)
    assert who.interval[0] > 0.6
    assert who.hits.value > 0.3
    assert who.advantage > 0.3


def test_a_release_of_other_records_shows_no_member() -> None:
    """Twenty releases that know nothing: the 95 % interval misses one half in 5 at most, but for 2e-4."""
    missed = []
    for seed in range(20):
        original, held_out, release = (cloud(100 * seed + part, 400) for part in range(3))
        found = closest_record(original, release, held_out, seed=seed)
        low, high = membership(original, release, held_out).interval
        missed.append((not found.interval()[0] <= 0.5 <= found.interval()[1], not low <= 0.5 <= high))
    assert sum(one for one, _ in missed) <= 5
    assert sum(two for _, two in missed) <= 5


def test_equal_distances_count_as_chance_would_have_it() -> None:
    same = cloud(8, 300)
    found = closest_record(same, cloud(9, 2000), same.copy(), seed=3)
    low, high = found.interval(1 - 1e-6)
    assert low <= 0.5 <= high


def test_membership_needs_enough_records_held_out() -> None:
    with pytest.raises(TableError, match="100 records held out"):
        membership(cloud(1, 50), cloud(2, 50), cloud(3, 99))


@given(st.lists(st.tuples(st.integers(0, 6), st.integers(0, 40)), min_size=2, max_size=60))
def test_associations_are_those_of_scipy(pairs):
    left, right = np.array(pairs, dtype=np.int64).T
    found = cramers_v(left, right)
    counts = np.zeros((left.max() + 1, right.max() + 1), dtype=np.int64)
    np.add.at(counts, (left, right), 1)
    counts = counts[counts.any(axis=1)][:, counts.any(axis=0)]
    expected = float(association(counts, method="cramer", correction=False)) if min(counts.shape) > 1 else 0.0
    assert found == pytest.approx(expected, abs=1e-9)


@given(st.lists(st.tuples(st.integers(0, 4), st.integers(0, 3)), min_size=2, max_size=60))
def test_the_corrected_association_is_the_papers(pairs):
    left, right = np.array(pairs, dtype=np.int64).T
    rows, columns, n = len(set(left)), len(set(right)), len(left)
    table = np.zeros((5, 4))
    np.add.at(table, (left, right), 1)
    table = table[table.any(axis=1)][:, table.any(axis=0)]
    expected = table.sum(axis=1, keepdims=True) * table.sum(axis=0) / n
    phi = ((table - expected) ** 2 / expected).sum() / n
    phi = max(0, phi - (rows - 1) * (columns - 1) / (n - 1))
    least = min(size - (size - 1) ** 2 / (n - 1) for size in (rows, columns)) - 1
    known = (phi / least) ** 0.5 if min(rows, columns) > 1 and least > 1e-12 else 0.0
    assert cramers_v(left, right, corrected=True) == pytest.approx(known, abs=1e-6)

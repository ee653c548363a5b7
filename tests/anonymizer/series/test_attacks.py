"""Attacks on matrices by assignment, and what released matrices are good for."""

from __future__ import annotations

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from scipy.sparse import csr_matrix

from anonymizer.errors import TableError
from anonymizer.methods.perturbation.mdav import mdav
from anonymizer.risk.distance.matching import assign
from anonymizer.series.attacks import link_users, partners
from anonymizer.series.usefulness import predictable, usefulness


def points(rows: int, width: int = 4, seed: int = 1) -> np.ndarray:
    return np.random.default_rng(seed).random((rows, width))


def habits(users: int, items: int, seed: int = 1) -> np.ndarray:
    """Binary cells of users of three kinds, each with items of its own."""
    draw = np.random.default_rng(seed)
    own = draw.integers(3, size=users)[:, None] == np.arange(items) % 3
    return (draw.random((users, items)) < np.where(own, 0.6, 0.1)).astype(float)


def test_an_assignment_by_candidates_has_a_bound_that_holds():
    for seed in range(5):
        one, other = points(120, seed=seed), points(120, seed=seed + 50)
        exact = assign(one, other)
        assert exact.excess == 0
        for candidates in (1, 3, 10, 120):
            near = assign(one, other, most_exact=50, candidates=candidates)
            assert sorted(near.partners) == list(range(120))
            assert near.least <= exact.cost + 1e-9
            assert exact.cost <= near.cost + 1e-9
            assert_allclose(near.cost, np.linalg.norm(one - other[near.partners], axis=1).sum())
        assert_allclose(near.cost, exact.cost)
        assert_allclose(near.least, exact.cost)


def test_the_bound_is_narrow_where_partners_are_near():
    one = points(400, 6)
    near = assign(one, one + 0.01, most_exact=100, candidates=5)
    assert_array_equal(near.partners, np.arange(400))
    assert near.excess < 1e-9


@pytest.mark.parametrize("most_exact", [1000, 20])
def test_tables_of_two_sizes_leave_somebody_alone(most_exact):
    one, other = points(40), points(60, seed=2)
    for first, second in ((one, other), (other, one)):
        found = assign(first, second, most_exact=most_exact)
        taken = found.partners[found.partners >= 0]
        assert len(taken) == len(set(taken.tolist())) == 40
        assert found.least <= found.cost
    with pytest.raises(TableError, match="A table has no rows"):
        assign(one[:0], other)


def test_equal_points_are_assigned_at_no_cost():
    same = np.zeros((30, 3))
    found = assign(same, same, most_exact=10, candidates=30)
    assert (found.cost, found.least, found.excess) == (0.0, 0.0, 0.0)


def test_the_original_is_found_and_a_stranger_is_not():
    cells = points(200, 10)
    order = np.random.default_rng(3).permutation(200)
    partner = np.argsort(order)
    found = link_users(cells, cells[order], partner, seed=1)
    assert (found.risk, found.k, found.right) == (1.0, 1, 1.0)
    low, high = found.attack.interval
    assert low > 0.97
    assert high == 1.0
    # of 200 strangers more than 12 are assigned to a given row with a probability below 1e-9
    assert found.attack.control.successes <= 12
    assert link_users(points(200, 10, 9), cells[order], partner, seed=1).attack.main.successes <= 12
    sparse = link_users(csr_matrix(cells), csr_matrix(cells[order]), partner, seed=1)
    assert sparse.risk == found.risk


@pytest.mark.parametrize("k", [2, 4, 5, 10])
def test_clusters_of_k_are_found_with_one_in_k(k):
    """The row of the tables that holds on any data: erratum 17."""
    cells = points(200, 10)
    groups = mdav(cells, k)
    means = np.stack([np.bincount(groups, column) / np.bincount(groups) for column in cells.T], axis=1)[
        groups
    ]
    found = link_users(cells, means, np.arange(200), seed=1)
    assert found.k == k
    assert_allclose(found.by_k, found.right / k)
    assert 0.6 / k < found.risk <= 1 / k
    assert_allclose(found.risk, found.by_k)


def test_a_cluster_counts_by_its_size():
    cells = np.array([[0.0], [0.0], [0.0], [9.0], [9.0]])
    found = link_users(cells, cells, np.arange(5), seed=1)
    assert (found.k, found.right) == (2, 1.0)
    assert_allclose(found.risk, 2 / 5)
    assert_allclose(found.by_k, 1 / 2)


def test_figure_5_1_of_the_thesis():
    """Users 2 to 5 are assigned to others: 3/7 by noise. In clusters of two, 4 and 5 share one: 5/14."""
    users = np.arange(7)
    noisy = np.array([[0.0], [20.0], [10.0], [40.0], [30.0], [50.0], [60.0]])
    found = link_users(np.arange(0.0, 70.0, 10.0)[:, None], noisy, users, seed=1)
    assert (found.k, found.right) == (1, 3 / 7)
    known = np.array([[0.0], [9.0], [1.0], [20.0], [21.0], [10.0], [11.0]])
    grouped = np.array([[0.0], [0.0], [10.0], [20.0], [20.0], [10.0], [10.0]])
    found = link_users(known, grouped, users, seed=1)
    assert (found.k, found.right) == (2, 5 / 7)
    assert_allclose(found.by_k, 5 / 14)
    assert_allclose(found.risk, (1 / 2 + 2 / 3 + 2 / 2) / 7)  # as the cluster of 3, 6 and 7 has three rows


def test_the_order_of_users_does_not_tell_among_equal_rows():
    """Noise too small to form clusters: assignment by the place of rows would find all of them."""
    same = np.zeros((300, 2))
    apart = 1 + 1e-12 * np.arange(600).reshape(300, 2)
    found = link_users(same, apart, np.arange(300), seed=1)
    # a random pairing hits more than 13 of 300 with a probability below 1e-9
    assert found.attack.main.successes <= 13


def test_only_users_of_both_windows_are_attacked():
    one, other = ("a", "b", "c"), ("c", "d", "a")
    assert_array_equal(partners(one, other), [2, -1, 0])
    cells = np.eye(3)
    found = link_users(cells, cells[[2, 1, 0]], partners(one, other), seed=1)
    assert found.attack.main.attempts == 2
    assert found.risk == 1.0
    with pytest.raises(TableError, match="No user is in both"):
        link_users(cells, cells, np.full(3, -1))
    with pytest.raises(TableError, match="3 and 2 items"):
        link_users(cells, cells[:, :2], np.arange(3))


def test_one_user_is_found_by_chance():
    found = link_users(np.ones((1, 3)), np.zeros((1, 3)), np.zeros(1, dtype=np.int64))
    assert found.risk == found.attack.control.value == found.attack.naive.value == 1.0
    assert found.attack.risk == 0.0


def test_a_release_of_the_original_is_as_useful_and_noise_is_not():
    cells = habits(500, 40)
    rest, train = cells[:200], cells[200:]
    items = predictable(train, rest, 10, seed=1)
    assert len(items) == 10
    same = usefulness(train, train, rest, items)
    assert same.ratio == 1.0
    assert same.original == same.release
    noise = np.random.default_rng(5).laplace(scale=5, size=train.shape)
    assert usefulness(train, train + noise, rest, items).ratio < 0.8
    assert usefulness(train, np.zeros_like(train), rest, items).release.f == 0.0


def test_as_many_rows_count_as_the_column_adds_up_to():
    cells = habits(300, 30)
    rest, train = cells[:100], cells[100:]
    items = predictable(train, rest, 8, seed=2)
    # half of each cell, and the other half spread over all users: sums and order stay
    blurred = 0.5 * train + 0.5 * train.mean(axis=0)
    answers = usefulness(train, blurred, rest, items)
    assert answers.ratio > 0.8


def test_what_cannot_be_predicted_is_refused():
    with pytest.raises(TableError, match="No item has 5 users"):
        predictable(np.ones((30, 3)), np.ones((10, 3)))
    with pytest.raises(TableError, match="other items"):
        usefulness(np.ones((30, 3)), np.ones((30, 2)), np.ones((3, 3)), [0])

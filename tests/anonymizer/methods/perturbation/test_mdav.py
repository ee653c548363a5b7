"""Microaggregation: the figures of the literature's test tables, and groups of the least size."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

from anonymizer.errors import SpecError, UnreachableError
from anonymizer.methods.perturbation.mdav import MDAV, information_loss, mdav, robust, standardize
from anonymizer.risk.candidates import exactly
from anonymizer.tables import files
from anonymizer.tables.randomness import Randomness
from anonymizer.tables.table import Table
from tests.anonymizer.data import shared


@pytest.mark.parametrize(
    ("name", "figures"),
    [("casc_census", (5.692, 9.088, 14.156)), ("casc_tarragona", (16.933, 22.462, 33.193))],
)
def test_the_figures_of_sdcmicro(name, figures):
    points = standardize(files.read(shared(f"{name}.csv")).to_numpy(float))
    for k, figure in zip((3, 5, 10), figures, strict=True):
        assert round(100 * information_loss(points, mdav(points, k)), 3) == figure


def plain(points, k):
    """MDAV without tricks."""
    left = list(range(len(points)))
    groups = np.empty(len(points), int)
    count = 0

    def take(centre):
        nonlocal left, count
        nearest = sorted(left, key=lambda row: ((points[row] - centre) ** 2).sum())[:k]
        groups[nearest] = count
        count += 1
        left = [row for row in left if row not in nearest]

    def farthest(centre):
        return max(left, key=lambda row: ((points[row] - centre) ** 2).sum())

    while len(left) >= 3 * k:
        first = farthest(points[left].mean(axis=0))
        second = farthest(points[first])
        take(points[first])
        take(points[second])
    if len(left) >= 2 * k:
        take(points[farthest(points[left].mean(axis=0))])
    groups[left] = count
    return groups


def same_groups(points, k):
    groups, expected = mdav(points, k), plain(points, k)
    return ((groups[:, None] == groups[None, :]) == (expected[:, None] == expected[None, :])).all()


@given(st.integers(1, 6), st.integers(0, 2**32 - 1), st.integers(6, 60))
def test_groups_are_those_of_the_plain_algorithm(k, seed, rows):
    points = np.array([[np.sin(seed + 7.0 * i), np.cos(seed * 1.7 + 13.0 * i)] for i in range(rows)])
    groups = mdav(points, k)
    sizes = np.bincount(groups)
    assert sizes.min() >= k
    assert sizes.max() < 2 * k
    assert same_groups(points, k)


@pytest.mark.parametrize(("rows", "k"), [(300, 2), (400, 3)])
def test_large_tables_are_grouped_alike(rows, k):
    assert same_groups(Randomness(rows).normal(3 * rows).reshape(rows, 3), k)


def test_a_table_smaller_than_k_has_no_groups():
    frame = pd.DataFrame({"x": [1.0, 2.0, 4.0]})
    method = MDAV(k=3, columns=("x",)).fit(frame)
    with pytest.raises(UnreachableError, match="2 rows"):
        method.transform(frame.head(2))
    assert method.fit_transform(frame)["x"].tolist() == pytest.approx([7 / 3] * 3)


def test_an_attacker_finds_the_means_of_a_value_s_groups():
    frame = pd.DataFrame({"x": np.arange(200) % 23, "y": np.arange(200) % 7})
    method = MDAV(k=4, columns=("x", "y"))
    out = method.fit_transform(frame)
    values = np.unique(frame["x"])
    candidates = method.simulate("x", exactly(values, numeric=True))
    means = out["x"].groupby(frame["x"])
    assert candidates.high[:, 0].tolist() == means.min().tolist()
    assert candidates.high[:, 1].tolist() == means.max().tolist()


def test_robust_distances_do_not_mind_units_or_how_columns_are_mixed():
    random = np.random.default_rng(2)
    points = random.normal(size=(60, 3))
    mixed = points @ np.array([[3.0, 1, 0], [0, 0.2, 0.1], [1, 0, 40]]) + 7
    assert (mdav(robust(standardize(points)), 3) == mdav(robust(standardize(mixed)), 3)).all()
    assert (mdav(standardize(points), 3) != mdav(standardize(mixed), 3)).any()


def test_robust_distances_see_outliers_that_hide_each_other():
    random = np.random.default_rng(4)
    inner = random.multivariate_normal([0, 0], [[1, 0.95], [0.95, 1]], size=90)
    outer = np.tile([2.5, -2.5], (10, 1)) + random.normal(size=(10, 2)) / 10
    points = standardize(np.concatenate((inner, outer)))

    def separation(some):
        centred = some - np.median(some, axis=0)
        reach = (centred**2).sum(axis=1)
        return reach[90:].min() / np.quantile(reach[:90], 0.975)

    whole = points @ np.linalg.inv(np.linalg.cholesky(np.cov(points.T))).T
    assert separation(whole) < 2
    assert separation(robust(points)) > 5


def test_columns_that_are_linear_in_others_are_no_trouble():
    frame = files.read(shared("casc_census.csv"))
    method = MDAV(k=3, columns=tuple(frame.columns), distance="robust")
    release = method.release(Table.of(frame))
    assert np.bincount(method.groups_).min() >= 3
    assert release.guarantees[0].number("k") == 3
    points = standardize(frame.to_numpy(float))
    assert information_loss(points, method.groups_) < 0.5


def test_robust_distances_that_cannot_be_are_refused():
    few = Table.of(pd.DataFrame({"a": [1.0, 2, 3, 4], "b": [1.0, 3, 2, 4]}))
    with pytest.raises(UnreachableError, match="need 10 rows; there are 4"):
        MDAV(k=2, columns=("a", "b"), distance="robust").release(few)
    alike = Table.of(pd.DataFrame({"a": [0.0] * 30 + [1, 2, 3], "b": [0.0] * 30 + [5, 1, 2]}))
    with pytest.raises(UnreachableError, match="More than half"):
        MDAV(k=2, columns=("a", "b"), distance="robust").release(alike)
    with pytest.raises(SpecError, match="'robst'"):
        MDAV(distance="robst", columns=("a",)).release(few)


def test_constant_columns_are_one_group_of_near_rows():
    table = Table.of(pd.DataFrame({"a": [1.0] * 6}))
    method = MDAV(k=2, columns=("a",), distance="robust")
    method.release(table)
    assert np.bincount(method.groups_).min() >= 2

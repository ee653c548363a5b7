"""Microaggregation: the figures of the literature's test tables, and groups of the least size."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from anonymizer.models.mdav import information_loss, mdav, standardized
from anonymizer.tables import files
from tests.anonymizer.data import shared


@pytest.mark.parametrize(
    ("name", "figures"),
    [("casc_census", (5.692, 9.088, 14.156)), ("casc_tarragona", (16.933, 22.462, 33.193))],
)
def test_the_figures_of_sdcmicro(name, figures):
    points = standardized(files.read(shared(f"{name}.csv")).to_numpy(float))
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


@given(st.integers(1, 6), st.integers(0, 2**32 - 1), st.integers(6, 60))
def test_groups_are_those_of_the_plain_algorithm(k, seed, rows):
    points = np.array([[np.sin(seed + 7.0 * i), np.cos(seed * 1.7 + 13.0 * i)] for i in range(rows)])
    groups = mdav(points, k)
    sizes = np.bincount(groups)
    assert sizes.min() >= k
    assert sizes.max() < 2 * k
    same = groups[:, None] == groups[None, :]
    expected = plain(points, k)
    assert (same == (expected[:, None] == expected[None, :])).all()

"""Where rows stand in a bucket, as the other side can see it."""

from __future__ import annotations

from types import SimpleNamespace

import numpy as np
import pytest

from smc.analyses.matching.tolerant.blocking import EMPTY, BucketLayout
from smc.analyses.matching.tolerant.places import Places, newly, stretches
from smc.forms import Role
from smc.pair import run_pair
from tests.support.seeds import seeded

RANDOM = seeded()


def test_places_of_a_bucket_are_drawn_at_random():
    buckets, capacity = 8000, 4
    rows = np.full((buckets, capacity), EMPTY)
    rows[:, 0] = np.arange(buckets)
    rows[:, 1] = np.arange(buckets) + buckets
    places = Places.shuffle(SimpleNamespace(random=RANDOM), BucketLayout(rows, 0, 0))
    assert (np.sort(places.rows, axis=1) == np.sort(rows, axis=1)).all()
    assert (np.take_along_axis(rows, places.ranks, axis=1) == places.rows).all()
    first, second = (np.argmax(places.ranks == rank, axis=1) for rank in (0, 1))
    counts = np.bincount(capacity * first + second, minlength=capacity**2).reshape(capacity, capacity)
    assert not np.diag(counts).any()
    expected = buckets / (capacity * (capacity - 1))
    others = counts[~np.eye(capacity, dtype=bool)]
    assert ((others - expected) ** 2 / expected).sum() < 49.8  # chi-square with 11 degrees, 1e-6


@pytest.mark.parametrize("size", [6, 9])
def test_an_order_has_the_rows_at_their_places_and_all_others_somewhere(size):
    rows = np.array([[EMPTY, 3], [0, EMPTY], [EMPTY, EMPTY]])
    order = Places(rows, np.zeros_like(rows)).order(size)
    assert sorted(order.tolist()) == list(range(size))
    assert (order[1], order[2]) == (3, 0)


def test_stretches_cover_all_buckets(monkeypatch):
    monkeypatch.setattr("smc.analyses.matching.tolerant.places.STRETCH_PAIRS", 50)
    assert list(stretches(7, 4)) == [slice(0, 3), slice(3, 6), slice(6, 7)]
    assert list(stretches(2, 16)) == [slice(0, 1), slice(1, 2)]


@pytest.mark.parametrize("role", list(Role))
@pytest.mark.parametrize("capacity", [1, 2, 3, 5])
def test_newly_paired_places_are_counted_once(role, capacity):
    shape = (30, capacity, capacity)
    chosen = (RANDOM.bits(30 * capacity**2) & RANDOM.bits(30 * capacity**2)).reshape(shape)
    marks = RANDOM.bits(30 * capacity).reshape(30, capacity)
    masks = RANDOM.bits(chosen.size).reshape(shape), RANDOM.bits(marks.size).reshape(marks.shape)

    def run(session):
        if session.role is Role.ALICE:
            return newly(session, role, *masks)
        return newly(session, role, chosen ^ masks[0], marks ^ masks[1])

    alice, bob = run_pair(run, run)
    paired = chosen.any(axis=2 if role is Role.ALICE else 1)
    assert (alice + bob == (paired & (marks == 0)).reshape(-1)).all()

"""Intervals of time: how they are cut, and that their likelihood is one."""

from __future__ import annotations

import numpy as np

from smc.analyses.models.intervals import INTERVALS, PERIODS, Intervals, in_periods, piecewise
from tests.support.seeds import seeded

RANDOM = seeded()


def drawn(count, most=500):
    times = np.array(RANDOM.below(most, count)) + 1
    return times, np.array(RANDOM.below(3, count)) > 0


def test_intervals_hold_about_as_many_events_and_eight_at_least():
    for count in (20, 200, 3000):
        times, events = drawn(count)
        intervals = Intervals.of(times, events)
        held = intervals.mark_events(times, events).sum(axis=0)
        assert held.sum() == events.sum()
        assert (held > 0).sum() == min(INTERVALS, max(1, events.sum() // 8))
        assert held[held > 0].max() <= 8 + events.sum() // min(INTERVALS, events.sum() // 8) + count // 100


def test_rows_are_followed_through_all_before_and_a_part_of_the_last():
    times = np.array([1, 5, 10, 12, 20, 25, 30])
    intervals = Intervals(np.array([9, 10, 20]))
    followed = intervals.follow_up(times)
    assert followed[:, intervals.places].tolist() == [
        *([0, 0], [0, 0], [1, 0], [1, 0.2], [1, 1], [1, 1], [1, 1]),
    ]
    assert followed.sum() == followed[:, intervals.places].sum()


def test_nothing_happens_without_events():
    times, events = drawn(30)
    none = np.zeros_like(events)
    intervals = Intervals.of(times, none)
    assert not intervals.follow_up(times).any()
    assert not intervals.mark_events(times, none).any()


def test_the_information_is_minus_the_derivative_of_the_gradient():
    times, events = drawn(400)
    intervals = Intervals.of(times, events)
    parts = intervals.follow_up(times), intervals.mark_events(times, events)
    x = (np.array(RANDOM.below(2001, 1200)) / 1000 - 1).reshape(400, 3)
    b = np.array([0.3, -0.2, 0.1])
    _, information = piecewise(x, *parts, b)
    for place, step in enumerate(1e-5 * np.eye(3)):
        up, down = (piecewise(x, *parts, b + sign * step)[0] for sign in (1, -1))
        assert np.allclose((down - up) / 2e-5, information[place], rtol=1e-4, atol=1e-4)


def test_periods_are_averages_of_their_intervals():
    times, events = drawn(600)
    intervals = Intervals.of(times, events)
    followed, happened = intervals.follow_up(times), intervals.mark_events(times, events)
    found = in_periods(followed, happened)
    assert found.shape == (600, PERIODS)
    assert found.min() >= 0
    assert found.max() <= 1 + 1e-12
    assert (found[times >= times[events].max()] > 1 - 1e-12).all()

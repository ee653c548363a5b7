"""How far a job is, in words, by a clock of the test."""

from __future__ import annotations

from types import SimpleNamespace

import pytest

from parties.client.pace import Pace, duration


class Clock:
    now = 1000.0

    def __call__(self) -> float:
        return self.now


def running(stage, done, of, elapsed, estimated=0.0):
    return SimpleNamespace(progress=(stage, done, of), elapsed=elapsed, estimated=estimated)


@pytest.fixture
def clock():
    return Clock()


def test_the_rest_of_a_stage_follows_from_its_speed(clock):
    pace = Pace(clock)
    pace.see(running("keys", 0, 1, elapsed=1))
    assert (pace.words(), pace.left) == ("keys 0 %, 1.0 s", None)
    clock.now += 2
    pace.see(running("clustering", 1, 11, elapsed=3))  # another stage: its speed is not known yet
    assert pace.left is None
    clock.now += 10
    pace.see(running("clustering", 3, 11, elapsed=13))
    assert pace.left == 40  # two in ten seconds, eight to go
    clock.now += 5  # nothing is heard, and time goes on
    assert (pace.left, pace.elapsed) == (35, 18)
    assert pace.words() == "clustering 27 %, 18 s, about 35 s left"
    clock.now += 100
    assert pace.left == 0


def test_the_estimate_counts_until_the_run_has_outlasted_it(clock):
    pace = Pace(clock)
    pace.see(running("", 0, 0, elapsed=10, estimated=100))
    assert (pace.words(), pace.left) == ("10 s, about 1 min 30 s left", 90)
    clock.now += 91
    assert (pace.words(), pace.left) == ("1 min 41 s", None)
    pace = Pace(clock)
    pace.see(running("pass", 0, 10, elapsed=0, estimated=20))
    clock.now += 10
    pace.see(running("pass", 1, 10, elapsed=10, estimated=20))
    assert pace.left == 90  # slower than was estimated


def test_a_stage_that_begins_again_is_timed_anew(clock):
    pace = Pace(clock)
    for done in (0, 50, 1):
        pace.see(running("compare", done, 100, elapsed=1))
        clock.now += 1
    assert pace.left is None


@pytest.mark.parametrize(
    ("seconds", "words"),
    [
        *((0, "0.001 s"), (0.004, "0.004 s"), (0.44, "0.4 s"), (1, "1.0 s"), (9.94, "9.9 s"), (12.4, "12 s")),
        *((59.6, "1 min"), (185, "3 min 5 s"), (3600, "1 h"), (7800, "2 h 10 min"), (29637, "8 h 13 min")),
        *((86400 * 4 + 3 * 3600 + 70, "4 d 3 h"), (86400 + 59, "1 d")),
    ],
)
def test_times_are_for_people(seconds, words):
    assert duration(seconds) == words

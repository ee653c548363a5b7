"""The watched clock: what is deleted or counted by it, while the machine's clock is wrong."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

import pytest

from parties.clock import STEADY, Clock, moment, text
from parties.errors import ClockError
from tests.support.clocks import Moved

START = datetime(2026, 3, 1, 12, tzinfo=UTC)
DAY = timedelta(days=1)


@pytest.fixture
def time():
    return Moved(START)


def test_time_that_passes_is_trusted(time):
    for _ in range(400):
        time.passes(DAY)
        assert time.clock.trust(text(time.now)).moment == time.clock.earliest() == time.now


@pytest.mark.parametrize("step", [100 * DAY, -100 * DAY, timedelta(minutes=6), -timedelta(minutes=6)])
def test_a_clock_that_steps_is_not_believed_and_counts_the_earlier_time(time, step):
    time.passes(DAY)
    time.steps(step)
    with pytest.raises(ClockError, match=r"stepped (ahead|back)") as caught:
        time.clock.trust()
    assert (caught.value.stable_code, "Set the clock" in caught.value.hint) == ("clock", True)
    assert time.clock.earliest() == min(time.now, time.now - step)
    assert time.clock.now() == time.now
    time.steps(-step)
    assert time.clock.trust().moment == time.now


def test_small_steps_are_usual(time):
    time.steps(timedelta(minutes=4))
    assert time.clock.trust().moment == time.clock.earliest() + timedelta(minutes=0)
    assert time.clock.earliest() <= time.now


def test_a_step_that_stays_is_believed_after_a_day_in_which_it_was_looked_at(time):
    time.steps(100 * DAY)
    hours = int(STEADY / timedelta(hours=1))
    for _ in range(hours):
        with pytest.raises(ClockError):
            time.clock.trust()
        time.passes(timedelta(hours=1))
    assert time.clock.trust().moment == time.now == time.clock.earliest()


def test_a_clock_that_steps_again_begins_its_day_anew(time):
    for _ in range(10):
        time.steps(10 * DAY)
        with pytest.raises(ClockError):
            time.clock.trust()
        time.passes(DAY * 0.9)
    with pytest.raises(ClockError):
        time.clock.trust()


def test_nothing_is_trusted_while_the_last_entry_lies_ahead(time):
    ahead = text(time.now + 200 * DAY)
    with pytest.raises(ClockError, match="last entry") as caught:
        time.clock.trust(text(time.now), ahead)
    assert ahead in caught.value.what
    assert time.clock.trust(text(time.now), "").moment == time.now


def test_the_clock_of_the_machine_is_one():
    clock = Clock()
    before = datetime.now(UTC)
    assert before <= clock.now() <= datetime.now(UTC)
    assert abs(clock.trust().moment - before) < timedelta(minutes=5)
    assert clock.watched >= timedelta(0)
    assert moment(clock.stamp()).tzinfo is UTC

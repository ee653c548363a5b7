"""What is counted by the hours, while and after the clock of the machine was wrong."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from fractions import Fraction

import pytest
from hypothesis import given
from hypothesis import strategies as st

from parties.clock import moment, text
from parties.errors import BudgetError, PolicyError
from parties.ledger import book
from parties.ledger.accounting import Account, Budget, RunLimits
from parties.ledger.book import Ledger
from parties.ledger.entries import APPROVED, DENIED
from parties.ledger.moments import written_by
from smc.analyses.studies.loss import Loss
from tests.support.clocks import Moved

START = datetime(2026, 3, 1, 12, tzinfo=UTC)
DAY = timedelta(days=1)
PEOPLE = Account.of("d")
ONCE_A_DAY = RunLimits("r", 1)


@pytest.fixture
def time():
    return Moved(START)


@pytest.fixture
def folder(tmp_path):
    """A folder whose ledger has a past of some weeks."""
    time = Moved(START - 20 * DAY)
    ledger = Ledger(tmp_path / "ledger.jsonl", time.clock)
    for number in range(20):
        ledger.decide(DENIED, f"{number:064x}", "south", actor="Ann", uid=1)
        time.passes(DAY)
    return tmp_path


def opened(folder, time):
    """The ledger as a daemon sees it that starts now."""
    return Ledger(folder / "ledger.jsonl", time.starts_again())


def begin(ledger, number, limits=ONCE_A_DAY):
    return ledger.begin(f"{1000 + number:064x}", PEOPLE, "d", "south", limits)


def is_open(ledger):
    return ledger.runs(PEOPLE, "south", "r").day == 0


@pytest.mark.attack
@pytest.mark.parametrize("step", [200 * DAY, 2 * DAY, -200 * DAY, -2 * DAY])
@pytest.mark.parametrize("at_start", [False, True])
def test_a_run_under_a_wrong_clock_counts_for_a_day_and_no_longer(folder, time, step, at_start):
    """The attack: `runs_per_day = 1`, one run 200 days ahead; the rule stayed shut for 201 days."""
    ledger = opened(folder, time)
    time.steps(step)
    ledger = opened(folder, time) if at_start else ledger
    begin(ledger, 1)
    with pytest.raises(PolicyError, match="runs_per_day"):
        begin(ledger, 2)
    time.steps(-step)
    for seen in (ledger, opened(folder, time)):
        with pytest.raises(PolicyError, match="runs_per_day"):
            begin(seen, 2)
        time.passes(timedelta(hours=10))
        assert not is_open(seen)
    for _ in range(3):  # of which the daemon needs one or two to believe a clock that was wrong at its start
        is_open(ledger)
        time.passes(1.1 * DAY)
    assert is_open(ledger)
    begin(ledger, 3)
    for days in (1, 20, 150):
        time.passes(days * 1.1 * DAY)
        assert is_open(opened(folder, time)), days
        begin(ledger, 100 + days)


def test_a_clock_that_steps_ahead_opens_nothing(folder, time):
    ledger = opened(folder, time)
    begin(ledger, 1)
    time.steps(3 * DAY)
    with pytest.raises(PolicyError, match="runs_per_day"):
        begin(ledger, 2)


def test_what_follows_says_when_a_run_was_at_the_latest(folder, time):
    """A daemon that is started anew each hour forgets when it saw the run first; the next entry does not."""
    ledger = opened(folder, time)
    time.steps(200 * DAY)
    begin(ledger, 1)
    time.steps(-200 * DAY)
    ledger.decide(DENIED, "a" * 64, "west", actor="Ann", uid=1)
    for _ in range(24):
        assert not is_open(opened(folder, time))
        time.passes(timedelta(hours=1))
    time.passes(timedelta(seconds=1))
    assert is_open(opened(folder, time))


def test_releases_without_a_signature_do_not_shut_a_pair_for_months(folder, time):
    ledger = opened(folder, time)
    loss, budget = Loss(Fraction(1, 8)), Budget(Fraction(99))
    time.steps(200 * DAY)
    for number in range(book.UNSIGNED_PER_DAY):
        ledger.spend(f"{number:064x}", PEOPLE, "d", "south", loss, budget)
    for step, is_shut in ((timedelta(0), True), (-200 * DAY, True), (-200 * DAY + 2 * DAY, False)):
        time.now = START + 200 * DAY + step
        time.seconds += 2 * DAY.total_seconds() if not is_shut else 1
        try:
            with ledger.reserve("f" * 64, PEOPLE, "south", loss, budget):
                assert not is_shut
        except BudgetError:
            assert is_shut


def test_jobs_that_came_to_nothing_do_not_shut_rules_for_months(folder, time, monkeypatch):
    monkeypatch.setattr(book, "IDLE_PER_DAY", 2)
    ledger = opened(folder, time)
    time.steps(200 * DAY)
    for number in range(2):
        ledger.decide(APPROVED, f"{number:064x}", "south", rule="r")
    time.steps(-200 * DAY)
    with pytest.raises(PolicyError, match="came to no result"):
        begin(ledger, 1)
    time.passes(DAY)
    begin(ledger, 1)


def test_an_approval_under_a_wrong_clock_ages(folder, time):
    ledger = opened(folder, time)
    time.steps(200 * DAY)
    approval = ledger.decide(APPROVED, "a" * 64, "south", actor="Ann", uid=1)
    time.steps(-200 * DAY)
    assert not ledger.is_older(approval, 30)
    ledger.decide(DENIED, "b" * 64, "west", actor="Ann", uid=1)
    time.passes(29 * DAY)
    assert not opened(folder, time).is_older(approval, 30)
    time.passes(2 * DAY)
    assert opened(folder, time).is_older(approval, 30)


@given(st.lists(st.integers(0, 40), max_size=30), st.integers(0, 40))
def test_what_is_said_of_an_entry_is_its_time_or_that_of_a_later_one(hours, now):
    times = [text(START + timedelta(hours=hour)) for hour in hours]
    limit = text(START + timedelta(hours=now))
    found = written_by(times, limit)
    assert len(found) == len(times)
    for place, said in enumerate(found):
        assert said is None or (said <= limit and said in times[place:])
        assert said is None or times[place] > limit or said >= times[place]
    if times == sorted(times):
        assert found == [time if time <= limit else None for time in times]


def test_one_wrong_time_among_many_is_found():
    times = [text(START + timedelta(hours=hour)) for hour in range(9)]
    for place in range(9):
        for by in (-100 * DAY, 100 * DAY):
            wrong = text(moment(times[place]) + by)
            changed = [*times[:place], wrong, *times[place + 1 :]]
            following = times[place + 1] if place < 8 else None
            expected = [*times[:place], following, *times[place + 1 :]]
            if by < timedelta(0) and place == 0:
                expected[0] = wrong  # nothing before it says that it is wrong
            assert written_by(changed, text(START + DAY)) == expected

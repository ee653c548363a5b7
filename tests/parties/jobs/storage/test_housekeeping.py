"""What is deleted and ended by a clock, and what is not while the clock is wrong."""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime, timedelta

import pytest

from parties.clock import Clock, TrustedTime
from parties.contracts.state import State
from parties.errors import ClockError
from parties.jobs.storage.housekeeping import Housekeeper
from parties.jobs.storage.store import JobStore
from tests.parties.jobs.storage.test_store import finish, insert
from tests.support.clocks import Moved

DAY = timedelta(days=1)
HOUR = timedelta(hours=1)


@pytest.fixture
def time():
    return Moved(datetime(2026, 3, 1, 12, tzinfo=UTC))


@pytest.fixture
def store(tmp_path, time):
    opened = JobStore(tmp_path, Clock(lambda: time.now, lambda: time.seconds))
    yield opened
    opened.close()


def keeper(store, time, pair, written=()):
    config = replace(pair_config(pair), keep_results_days=90)
    clock = time.starts_again()
    trusted = lambda: clock.trusted(store.audit.last_time, *written)  # noqa: E731
    return Housekeeper(store, config, clock, trusted, pause_seconds=1e6, watch_seconds=3600)


def pair_config(folder):
    from tests.parties.daemon.test_service import config_in

    return config_in(folder / "home")


def seen(store, done, waiting):
    return store.summary(done).kept, store.summary(waiting).state


def test_one_look_at_a_clock_deletes_and_ends_nothing(tmp_path, store, time):
    """The attack: 100 days ahead for 70 seconds deleted the results of today and ended what waited."""
    done, waiting = finish(store, 1), insert(store, 2, State.WAITING_OWN)
    house = keeper(store, time, tmp_path)
    time.passes(2 * HOUR)
    time.steps(100 * DAY)
    house.look()
    with pytest.raises(ClockError):
        house.prune(1)
    time.passes(timedelta(seconds=70))
    house.look()
    assert seen(store, done, waiting) == (True, State.WAITING_OWN)
    time.steps(-100 * DAY)
    house.look()
    assert seen(store, done, waiting) == (True, State.WAITING_OWN)
    assert store.outcome(done)


def test_what_a_daemon_deleted_that_was_started_with_a_wrong_clock_comes_back(tmp_path, time):
    store = JobStore(tmp_path, time.clock)
    done, waiting = finish(store, 1), insert(store, 2, State.WAITING_OWN)
    store.close()
    time.steps(100 * DAY)
    store = JobStore(tmp_path, time.starts_again())
    house = keeper(store, time, tmp_path)
    time.passes(0.9 * HOUR)
    house.look()
    assert seen(store, done, waiting) == (True, State.WAITING_OWN)
    time.passes(HOUR)
    house.look()  # wrong for hours: nothing that is known speaks against it
    assert seen(store, done, waiting) == (False, State.FAILED)
    time.steps(-100 * DAY)
    store.audit.write("daemon-started", release="x", pid=1)
    house = keeper(store, time, tmp_path)
    time.passes(2 * HOUR)
    house.look()
    assert store.summary(done).kept
    assert store.outcome(done)
    store.close()


def test_what_is_old_goes_after_a_day_in_the_trash(tmp_path, store, time):
    done = finish(store, 1)
    house = keeper(store, time, tmp_path)
    for _ in range(91):
        time.passes(DAY)
        house.look()
    assert (store.summary(done).kept, store._results.discarded().keys()) == (False, {done})
    time.passes(DAY)
    house.look()
    assert not [*(tmp_path / "results").rglob("*.sealed")]


def test_a_result_in_the_trash_can_be_deleted_at_once(tmp_path, store, time):
    done = finish(store, 1)
    time.passes(91 * DAY)
    store.prune(TrustedTime(time.now), 90 * DAY)
    store.forget(done)
    assert not [*(tmp_path / "results").rglob("*.sealed")]


@pytest.mark.parametrize("ahead", [True, False])
def test_nothing_is_deleted_while_the_last_entry_lies_ahead(tmp_path, store, time, ahead):
    done = finish(store, 1)
    time.passes(91 * DAY)
    written = (f"{time.now + 200 * DAY:%Y-%m-%dT%H:%M:%SZ}",) if ahead else ()
    house = keeper(store, time, tmp_path, written)
    time.passes(2 * HOUR)
    house.look()
    assert store.summary(done).kept is ahead


@pytest.mark.parametrize("days", [15, 100])
def test_what_was_written_while_the_clock_was_behind_is_not_old(tmp_path, time, days):
    """The attack: a clock 100 days back for a minute, in which a paid job finished, deleted its result."""
    store = JobStore(tmp_path, time.clock)
    house = keeper(store, time, tmp_path)
    time.passes(2 * DAY)
    time.steps(-days * DAY)
    done, waiting = finish(store, 1), insert(store, 2, State.WAITING_OWN)
    dropped = insert(store, 3, State.CANCELLED, outgoing=False)
    time.passes(timedelta(minutes=1))
    time.steps(days * DAY)
    house.look()
    assert seen(store, done, waiting) == (True, State.WAITING_OWN)
    assert store.summary(dropped).updated[:10] == f"{time.now:%Y-%m-%d}"
    store.close()
    store = JobStore(tmp_path, time.starts_again())  # no process remembers it any more
    house = keeper(store, time, tmp_path)
    time.passes(13 * DAY)
    house.look()
    assert seen(store, done, waiting) == (True, State.WAITING_OWN)
    time.passes(2 * DAY)
    house.look()
    assert seen(store, done, waiting) == (True, State.FAILED)
    time.passes(80 * DAY)
    house.look()
    assert not store.summary(done).kept
    assert dropped not in {job.job_id for job in store.all()}
    store.close()


def test_a_daemon_that_was_started_behind_deletes_nothing_when_the_clock_is_right(tmp_path, time):
    time.steps(-100 * DAY)
    store = JobStore(tmp_path, time.starts_again())
    house = keeper(store, time, tmp_path)
    done, waiting = finish(store, 1), insert(store, 2, State.WAITING_OWN)
    time.passes(HOUR)
    time.steps(100 * DAY)
    for _ in range(30):
        time.passes(HOUR)
        house.look()
    assert seen(store, done, waiting) == (True, State.WAITING_OWN)
    store.close()


def test_a_job_is_younger_than_those_before_it(tmp_path, time):
    """Also for a process that began after the clock was right again, and one of a job proposed before."""
    store = JobStore(tmp_path, time.clock)
    insert(store, 0, State.CANCELLED)
    time.steps(-100 * DAY)
    done, waiting = finish(store, 1), insert(store, 2, State.WAITING_OWN)
    store.close()
    time.steps(100 * DAY)
    store = JobStore(tmp_path, time.starts_again())
    house = keeper(store, time, tmp_path)
    time.passes(2 * HOUR)
    house.look()
    assert seen(store, done, waiting) == (True, State.WAITING_OWN)
    time.passes(91 * DAY)
    house.look()
    assert seen(store, done, waiting) == (False, State.FAILED)
    store.close()


def test_a_job_is_as_young_as_the_next_where_its_time_does_not_fit_the_others(tmp_path, time):
    """The one before it is older than results are kept, so that alone would not hold it."""
    store = JobStore(tmp_path, time.clock)
    insert(store, 0, State.CANCELLED)
    time.passes(95 * DAY)
    time.steps(-100 * DAY)
    done, waiting = finish(store, 1), insert(store, 2, State.WAITING_OWN)
    time.steps(100 * DAY)
    insert(store, 3, State.CANCELLED)
    insert(store, 4, State.CANCELLED)
    store.close()
    store = JobStore(tmp_path, time.starts_again())
    house = keeper(store, time, tmp_path)
    time.passes(2 * HOUR)
    house.look()
    assert seen(store, done, waiting) == (True, State.WAITING_OWN)
    store.close()


def test_a_result_that_was_put_aside_while_the_clock_was_behind_is_not_old(tmp_path, time):
    store = JobStore(tmp_path, time.clock)
    store._results.write("ab" * 8, "{}")
    time.steps(-100 * DAY)
    store.recover()
    time.steps(100 * DAY)
    for count in (0, 0, 1):
        store.correct_times(TrustedTime(time.now))
        assert store.prune(TrustedTime(time.now), 90 * DAY) == count
        store.close()
        store = JobStore(tmp_path, time.starts_again())
        time.passes(46 * DAY)
    store.close()


def test_a_step_back_gives_no_peer_its_bytes_anew(tmp_path, time):
    """The attack: after 3 minutes back, a step that is usual, what was just proposed counted nothing."""
    store = JobStore(tmp_path, time.clock)
    for number in range(3):
        insert(store, number, outgoing=False)
    counted = store.proposed_bytes("south", DAY)
    assert counted > 0
    for step in (timedelta(minutes=3), 2 * DAY):
        time.steps(-step)
        assert store.proposed_bytes("south", DAY) == counted
    insert(store, 3, outgoing=False)
    time.steps(2 * DAY)
    assert store.proposed_bytes("south", DAY) > counted
    time.passes(DAY + HOUR)
    assert store.proposed_bytes("south", DAY) == 0
    store.close()


def test_the_database_file_lacks_little_of_what_was_written(tmp_path, store, time):
    """Its log was never taken in while the daemon ran: a copy without it had no jobs."""
    for number in range(20):
        insert(store, number)
    log = tmp_path / "jobs.sqlite-wal"
    house = keeper(store, time, tmp_path)
    house._save()
    assert log.stat().st_size
    time.passes(HOUR)
    house._save()
    assert log.stat().st_size == 0

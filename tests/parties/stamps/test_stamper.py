"""The daemon's thread stamps when heads have changed and the time has come, and says a failure once."""

from __future__ import annotations

import logging
import threading
from datetime import timedelta

import pytest

from parties.clock import moment
from parties.errors import StampError
from parties.ledger.book import Ledger
from parties.ledger.entries import LOG_HEAD
from parties.stamp_settings import StampSettings
from parties.stamps.files import FOLDER, Failure, read_failure, write_stamp
from parties.stamps.stamper import RETRY_SECONDS, Stamper
from parties.stamps.statement import StampStatement
from parties.stamps.taking import Taken
from parties.stamps.tokens import make_request
from tests.parties.timestamping import Service
from tests.support.clocks import Moved

HOUR = timedelta(hours=1)
SECONDS = 30


class Desk:
    """A stamper over a ledger and a log whose head a test says, and a service without a network."""

    def __init__(self, home):
        self.home, self.head, self.problem = home, (0, "0" * 64), None
        self.time = Moved(moment("2026-11-29T12:00:00Z"))
        self.service = Service()
        self.ledger = Ledger(home / "ledger.jsonl", self.time.clock)
        self.settings = StampSettings(url="https://stamps.example/tsr", ca=home / "ca.pem", every=6)
        self.taken, self.tried = [], 0
        self._came = threading.Condition()
        self.begin()

    def begin(self):
        """A daemon starts."""
        self.ledger.clock = self.time.starts_again()
        self.stamper = Stamper(
            self.home, "north", self.settings, self.ledger, lambda: self.head, take=self._take
        )

    def _take(self, home, party, settings, ledger, log):
        with self._came:
            self.tried += 1
            self._came.notify_all()
        if self.problem is not None:
            raise self.problem
        ledger.note(LOG_HEAD, log_line=log[0], log_hash=log[1])
        statement = StampStatement(party, ledger.head().link, log)
        self.service.time = self.time.now
        answer = self.service.answer(make_request(statement.data).data)
        self.taken.append(statement)
        return Taken(statement.ledger, log, write_stamp(home, statement, answer, self.time.now))

    def wait(self, count):
        with self._came:
            assert self._came.wait_for(lambda: self.tried >= count, SECONDS)

    def look(self, after=HOUR):
        """How many stamps there are after some time, and a look."""
        self.time.passes(after)
        self.stamper.look()
        return len(self.taken)


@pytest.fixture
def desk(tmp_path):
    return Desk(tmp_path)


def test_a_first_stamp_is_taken_at_once_and_the_next_when_its_time_has_come(desk):
    assert desk.look(timedelta(0)) == 1
    desk.head = (1, "1" * 64)
    assert desk.look(5 * HOUR) == 1
    assert desk.look(HOUR) == 2


def test_nothing_is_stamped_while_nothing_changes(desk):
    desk.look()
    for _ in range(20):
        assert desk.look(24 * HOUR) == 1
    desk.ledger.note(LOG_HEAD, log_line=7, log_hash="7" * 64)  # an entry
    assert desk.look() == 2
    desk.head = (1, "1" * 64)  # a line
    assert desk.look(24 * HOUR) == 3


def test_a_restart_takes_no_stamp_before_its_time(desk):
    desk.look()
    desk.head = (1, "1" * 64)
    desk.begin()
    assert desk.look(5 * HOUR) == 1
    desk.begin()
    assert desk.look(HOUR) == 2


def test_a_stamp_from_ahead_stops_nothing_and_a_wrong_clock_makes_no_flood(desk):
    desk.look()
    desk.time.steps(-100 * HOUR)
    desk.begin()
    for number in range(1, 5):
        desk.head = (number, "1" * 64)
        assert desk.look(HOUR) == 2


def test_files_that_are_no_stamps_stop_nothing(desk):
    desk.look()
    (desk.home / FOLDER / "20991231T000000Z-000000000000.stamp").write_text("{}")
    desk.begin()
    assert desk.look() == 1
    desk.head = (1, "1" * 64)
    assert desk.look(6 * HOUR) == 2


def test_a_failure_is_said_once_kept_and_tried_again_after_an_hour(desk, caplog):
    caplog.set_level(logging.INFO, logger="duetto.stamps")
    desk.problem = StampError("The service sleeps.", "Wake it.")
    for _ in range(4):
        desk.look(timedelta(seconds=RETRY_SECONDS / 2))
    assert desk.tried == 2
    assert [one.levelname for one in caplog.records] == ["WARNING"]
    assert read_failure(desk.home) == Failure("2026-11-29T13:30:00Z", "The service sleeps.")
    desk.begin()  # which does not say it again
    desk.stamper.start()
    desk.wait(3)
    desk.stamper.stop()
    assert len(caplog.records) == 1
    desk.problem = RuntimeError("no memory")
    desk.look()
    assert "RuntimeError: no memory" in caplog.records[-1].getMessage()
    desk.problem = None
    assert desk.look() == 1
    assert caplog.records[-1].getMessage() == "a stamp was taken again"
    assert read_failure(desk.home) is None


def test_a_broken_ledger_is_a_failure_and_no_end(desk):
    desk.ledger.path.write_text("no entry\n")
    assert desk.look() == 0
    assert "The ledger is broken" in read_failure(desk.home).why


def test_without_a_service_the_ledger_gets_the_head_of_the_log_at_its_time(desk):
    desk.settings = StampSettings(every=6)
    desk.begin()
    desk.look()
    assert desk.look(24 * HOUR) == 1
    desk.head = (1, "1" * 64)
    assert desk.look() == 2


def test_nothing_is_stamped_where_nobody_wants_it(desk):
    desk.settings = None
    desk.begin()
    assert desk.look() == 0
    assert not (desk.home / FOLDER).exists()


def test_other_settings_are_followed_at_once(desk):
    desk.problem = StampError("No.", "Correct it.")
    desk.stamper.start()
    desk.wait(1)
    desk.stamper.follow(StampSettings(every=6))
    desk.wait(2)
    desk.stamper.follow(None)
    desk.stamper.stop()
    assert desk.look(24 * HOUR) == 0
    assert desk.tried == 2

"""Requests to a search server: their addresses, their distance, their end in time, and what is repeated."""

from __future__ import annotations

import threading
import time
from datetime import UTC, datetime, timedelta

import pytest

from anonymizer.documents.engines.engine import EngineError
from anonymizer.documents.engines.http import Manners, Server
from anonymizer.documents.engines.searxng import SearXNG
from anonymizer.errors import SpecError
from tests.anonymizer.documents.engines.asking import QUICK, WEB, engine
from tests.anonymizer.documents.engines.server import LONGEST, SearchServer


class Clock:
    """Seconds that pass when somebody sleeps."""

    def __init__(self):
        self.now, self.slept = 0.0, []

    def __call__(self):
        return self.now

    def sleep(self, seconds):
        if seconds:
            self.slept.append(seconds)
        self.now += seconds


@pytest.mark.parametrize(
    "fault", ["hang", "drip headers", "drip one header", "drip body", "continue"], ids=lambda fault: fault
)
def test_a_request_ends_in_time_whatever_drips(fault):
    with SearchServer(WEB, [fault]) as web:
        begun = time.monotonic()
        with pytest.raises(EngineError, match=r"did not answer whole within 0\.4 s"):
            engine("searxng", web, Manners(seconds=0.4, attempts=1)).search(("Larnaca",))
        assert time.monotonic() - begun < LONGEST / 2
        # The thread of the request has ended too, since its connection was shut.
        while any(one.name == "search" for one in threading.enumerate()):
            assert time.monotonic() - begun < LONGEST
            time.sleep(0.01)


def test_what_passes_is_asked_again_after_longer_and_longer_waits():
    clock = Clock()
    faults = [503, "close", (429, {"Retry-After": "7"}), 502]
    with SearchServer(WEB, faults) as web:
        asked = engine("searxng", web, Manners(attempts=5), clock=clock, sleep=clock.sleep)
        assert len(asked.search(("Larnaca",))) == 2
        assert len(web.asked) == 5
    assert clock.slept == [1.0, 2.0, 7.0, 8.0]


def test_a_time_to_wait_may_be_a_date():
    clock = Clock()
    later = (datetime.now(UTC) + timedelta(seconds=30)).strftime("%a, %d %b %Y %H:%M:%S GMT")
    with SearchServer(WEB, [(503, {"Retry-After": later})]) as web:
        engine("searxng", web, Manners(), clock=clock, sleep=clock.sleep).search(("Larnaca",))
    assert 20 < clock.slept[0] <= 30


@pytest.mark.parametrize(
    ("header", "slept"), [("soon", [1.0]), ("-5", [1.0]), ("9" * 500, None), ("3600", None)]
)
def test_a_time_to_wait_is_not_trusted(header, slept):
    clock = Clock()
    with SearchServer(WEB, [(429, {"Retry-After": header})]) as web:
        asked = engine("searxng", web, Manners(), clock=clock, sleep=clock.sleep)
        if slept is None:
            with pytest.raises(EngineError, match=r"asks to wait .* more patience"):
                asked.search(("Larnaca",))
            assert not clock.slept
        else:
            asked.search(("Larnaca",))
            assert clock.slept == slept


def test_requests_keep_their_distance():
    clock = Clock()
    with SearchServer(WEB) as web:
        asked = engine("searxng", web, Manners(per_second=0.5), clock=clock, sleep=clock.sleep)
        for _ in range(3):
            asked.search(("Larnaca",))
        assert clock.slept == [2.0, 2.0]
        clock.now += 60
        asked.search(("Larnaca",))
    assert clock.slept == [2.0, 2.0]


def test_requests_keep_their_distance_by_the_clock_of_the_server():
    with SearchServer(WEB) as web:
        asked = engine("searxng", web, Manners(per_second=20))
        for _ in range(4):
            asked.search(("Larnaca",))
        times = [when for *_, when in web.asked]
    assert times[-1] - times[0] > 0.1


def test_nobody_listens():
    with SearchServer(WEB) as web:
        url = web.url
    with pytest.raises(EngineError, match="cannot be reached"):
        SearXNG(Server(url, QUICK)).search(("Larnaca",))


@pytest.mark.parametrize(
    ("url", "message"),
    [
        ("http://search.example", "without encryption.*plain = true"),
        ("http://127.0.0.1.example", "without encryption"),
        ("http://localhost.example", "without encryption"),
        ("https://me:secret@search.example", "holds credentials"),
        ("https://secret@search.example", "holds credentials"),
        ("https://search.example/?token=secret", "beyond a path"),
        ("https://search.example/#secret", "beyond a path"),
        ("https://search.example/a b", "beyond a path"),
        ("ftp://search.example", "not one of the web"),
        ("search.example", "not one of the web"),
        ("https://", "not one of the web"),
        ("https://[", "not valid"),
        ("https://search.example:99999", "not valid"),
        ("", "not one of the web"),
    ],
)
def test_addresses_that_are_refused(url, message):
    with pytest.raises(SpecError, match=message) as raised:
        Server(url)
    assert "secret" not in str(raised.value)


@pytest.mark.parametrize(
    "url", ["http://127.0.0.1:8080", "http://localhost", "http://[::1]:9200/base", "https://search.example/x"]
)
def test_addresses_that_are_taken(url):
    assert Server(url).shown == url


def test_plain_http_to_others_is_declared():
    assert Server("http://search.example/", plain=True).shown == "http://search.example"


@pytest.mark.parametrize(
    "wrong",
    [
        {"seconds": 0},
        {"seconds": float("nan")},
        {"attempts": 0},
        {"per_second": 0},
        {"per_second": -1},
        {"size": 0},
        {"patience": -1},
        {"patience": float("inf")},
    ],
)
def test_manners_that_cannot_be(wrong):
    with pytest.raises(SpecError):
        Manners(**wrong)

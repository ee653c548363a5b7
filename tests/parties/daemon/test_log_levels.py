"""Levels of the daemon's log; not even the lowest writes secrets or data."""

from __future__ import annotations

import logging
import threading

import pytest

from parties.config import LOG_LEVELS, parse
from parties.daemon import logs
from parties.errors import ConfigError
from tests.parties.jobs.joined import ROLES, Pair, job_file, result_of, run
from tests.support.keys import toy

MINIMAL = {"party": {"name": "north"}, "listen": {"address": "127.0.0.1:7443"}}


@pytest.mark.parametrize("level", LOG_LEVELS)
def test_levels_are_of_our_own_loggers(level, monkeypatch):
    asked = {}
    monkeypatch.setattr(logging, "basicConfig", lambda **given: asked.update(given))
    monkeypatch.setattr(logging, "captureWarnings", lambda _: None)
    monkeypatch.setattr(threading, "excepthook", threading.excepthook)
    loggers = [logging.getLogger(name) for name in ("duetto", "parties", "smc")]
    before = [logger.level for logger in loggers]
    try:
        logs.start(level)
        number = getattr(logging, level.upper())
        assert {logger.level for logger in loggers} == {number}
        assert asked["level"] == max(number, logging.INFO)
    finally:
        for logger, number in zip(loggers, before, strict=True):
            logger.setLevel(number)


@pytest.mark.parametrize("level", ["loud", "", "DEBUG", 10, None])
def test_other_levels_are_refused(tmp_path, level):
    with pytest.raises(ConfigError, match="level"):
        parse({**MINIMAL, "log": {"level": level}}, tmp_path / "duetto.toml")
    with pytest.raises(ConfigError, match="loud"):
        parse({**MINIMAL, "log": {"loud": True}}, tmp_path / "duetto.toml")


@pytest.fixture
def pair(tmp_path):
    joined = Pair(tmp_path)
    yield joined
    joined.close()


def test_the_lowest_level_has_no_data_results_or_keys(pair, caplog):
    with caplog.at_level(logging.DEBUG):
        job_id, north, _ = run(pair, job_file("1/2"))
    assert f"job {job_id}: adding, 0 of 2" in caplog.text
    total = result_of(pair.north, job_id)["outcome"]["tables"][0]["columns"]["total"]
    salt = result_of(pair.north, job_id)["salt"]
    assert total == [62]
    assert "62" not in caplog.text.replace(job_id, "").split()
    assert salt not in caplog.text
    for name in ("north", "south"):
        key = toy(ROLES[name])
        for number in map(int, (key.p, key.q)):
            assert not {str(number), f"{number:x}"} & {*caplog.text.split()}
    assert north.own_signature.hex() not in caplog.text


def test_a_place_in_the_code_writes_so_many_records_a_minute(caplog):
    """A peer that greets with another version a thousand times a second made a thousand lines."""
    now = [0.0]
    bounded = logs.Bounded(lambda: now[0])
    log = logging.getLogger("duetto.place")

    def said():
        caplog.clear()
        log.warning("greeting of %s", "north")
        return bounded.filter(caplog.records[-1])

    caplog.set_level(logging.INFO)
    assert sum(said() for _ in range(5 * logs.RECORDS)) == logs.RECORDS
    log.warning("another place")
    assert bounded.filter(caplog.records[-1])
    now[0] = 60.0
    assert said()
    left_out = 4 * logs.RECORDS
    assert caplog.records[-1].getMessage() == (
        f"greeting of north ({left_out} records like this one were left out before)"
    )

"""The daemon's log as JSON: one object a line, whatever stands in it and whoever writes it."""

from __future__ import annotations

import json
import logging
import re
import subprocess
import sys

import pytest
from click.testing import CliRunner
from hypothesis import given
from hypothesis import strategies as st

from commons.exits import CONFIG, INTERNAL
from parties.cli.party import party as party_group
from parties.config import LOG_FORMATS, parse
from parties.daemon import logs
from parties.errors import ConfigError, PeerBusy
from parties.rpc.refusal import code_of

MINIMAL = {"party": {"name": "north"}, "listen": {"address": "127.0.0.1:7443"}}
TIME = re.compile(r"2\d{3}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z")


def record(message, *args, name="duetto.jobs", **changes):
    made = logging.LogRecord(name, logging.INFO, "file.py", 1, message, args, None)
    made.__dict__.update(changes)
    return made


def line_of(made) -> dict[str, str]:
    text = logs.JsonFormatter().format(made)
    assert text.isascii()
    assert text.isprintable()
    return json.loads(text)


def test_a_record_has_a_time_in_utc_a_level_and_what_it_is_about():
    about = {"job": "5f2a91c0", "peer": "south", "code": "", "error": "secret"}
    found = line_of(record("job %(job)s: with %(peer)s", about, created=1764460000.25))
    assert found == {
        "time": "2025-11-29T23:46:40.250Z",
        "level": "info",
        "logger": "duetto.jobs",
        "message": "job 5f2a91c0: with south",
        "job": "5f2a91c0",
        "peer": "south",
    }
    assert TIME.fullmatch(line_of(record("at %d of %s", 1, "now"))["time"])


def test_other_programs_records_have_no_fields_of_ours():
    assert "job" not in line_of(record("%(job)s", {"job": "x"}, name="somebody.else"))


@given(st.text(), st.text())
def test_no_text_of_a_peer_begins_a_line_or_moves_a_cursor(message, peer):
    found = line_of(record("%(what)s", {"what": message, "peer": peer}))
    assert all(text.isprintable() for text in found.values())


def test_a_trace_is_one_field_with_its_lines():
    try:
        raise ValueError("first\x1b[2J\nsecond")
    except ValueError:
        trace = line_of(record("a defect", exc_info=sys.exc_info()))["trace"]
    first, *_, last = trace.split("\n")
    assert (first, last) == ("Traceback (most recent call last):", "second")
    assert "ValueError: first\\x1b[2J" in trace
    assert "Stack" in line_of(record("x", stack_info="Stack:\n  here"))["stack"]


def test_a_refusal_is_logged_with_peer_job_and_code(caplog):
    caplog.set_level(logging.DEBUG)
    code_of(ConfigError("100 % wrong.", "Correct it."), "Propose of south", peer="south", job="5f2a91c0")
    found = line_of(caplog.records[0])
    assert (found["level"], found["peer"], found["job"], found["code"]) == (
        "warning",
        "south",
        "5f2a91c0",
        "config",
    )
    assert found["message"] == "Propose of south: 100 % wrong. Correct it."
    code_of(PeerBusy("No room.", "Later."), "Session with south", peer="south")
    code_of(ZeroDivisionError("values"), "Job 1", job="1")
    assert [each.levelname for each in caplog.records[1:]] == ["DEBUG", "ERROR"]
    assert "values" not in str(line_of(caplog.records[2]))


def test_records_that_were_left_out_are_counted_in_those_with_fields(caplog):
    now = [0.0]
    bounded = logs.Bounded(lambda: now[0])
    for moment in (*[0.0] * (logs.RECORDS + 3), 60.0):
        now[0] = moment
        last = record("greeting of %(peer)s", {"peer": "north"})
        bounded.filter(last)
    found = line_of(last)
    assert found["peer"] == "north"
    assert found["message"] == "greeting of north (3 records like this one were left out before)"


@pytest.mark.parametrize("form", ["xml", "", "JSON", 1])
def test_other_formats_are_refused(tmp_path, form):
    with pytest.raises(ConfigError, match="format"):
        parse({**MINIMAL, "log": {"format": form}}, tmp_path / "duetto.toml")
    assert parse(MINIMAL, tmp_path / "duetto.toml").log_format == LOG_FORMATS[0] == "plain"


DYING = """
import os, threading, warnings
from parties.daemon import foreign, logs
foreign.capture("json")
logs.start("info", "json")
warnings.warn("of Python")
thread = threading.Thread(target=lambda: 1 / 0, name="worker")
thread.start()
thread.join()
os.write(2, b"E1124 10:00:00.1 7 ssl.cc:1] of a library\\n")
"""


def test_every_line_that_a_daemon_writes_is_an_object():
    """What Python warns of, what ends a thread, and what libraries write past it, too."""
    done = subprocess.run([sys.executable, "-c", DYING], capture_output=True, check=True, text=True)
    lines = [json.loads(line) for line in done.stderr.splitlines()]
    by_logger = {line["logger"]: line for line in lines}
    assert "of Python" in by_logger["py.warnings"]["message"]
    assert by_logger["duetto"]["message"] == "the thread worker ended by a defect"
    assert by_logger["duetto"]["trace"].endswith("ZeroDivisionError: division by zero")
    assert (by_logger["libraries"]["level"], by_logger["libraries"]["message"]) == (
        "error",
        "ssl.cc:1] of a library",
    )


@pytest.mark.parametrize(
    ("problem", "status", "said"),
    [
        (ConfigError("The port is in use.", "Choose another one."), CONFIG, "The port is in use. Choose"),
        (ZeroDivisionError(), INTERNAL, "a defect of the program ends the daemon: ZeroDivisionError"),
    ],
)
def test_what_ends_a_daemon_is_a_line_as_well(tmp_path, monkeypatch, caplog, problem, status, said):
    (tmp_path / "duetto.toml").write_text(
        '[party]\nname = "north"\n[listen]\naddress = "127.0.0.1:0"\n[log]\nformat = "json"\n'
    )

    def fail(config):
        raise problem

    for name in ("foreign.capture", "logs.start"):
        monkeypatch.setattr(f"parties.daemon.{name}", lambda *_: None)
    monkeypatch.setattr("parties.cli.party.only_one", fail)
    monkeypatch.setattr("parties.daemon.process_limits.set_limits", lambda: None)
    monkeypatch.setattr("signal.signal", lambda *_: None)
    done = CliRunner().invoke(party_group, ["start", "--config", str(tmp_path)])
    assert (done.exit_code, done.output) == (status, "")
    (line,) = map(line_of, caplog.records)
    assert line["level"] == "critical"
    assert line["message"].startswith(said)

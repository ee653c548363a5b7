"""A real daemon takes stamps of its logs, as the page says; commands do so and check them."""

from __future__ import annotations

import datetime as dt
import json
import re
import shutil
import tomllib
from pathlib import Path

import pytest

from commons.exits import CONFIG, REFUSED, UNAVAILABLE
from parties.config import load
from parties.ledger.book import open_ledger
from parties.ledger.entries import LOG_HEAD
from parties.stamps.files import FOLDER, stamp_paths
from scripts.processes import ended, introduced, started
from tests.parties.talking import listening, silent
from tests.parties.timestamping import Service, serving
from tests.support.commands import tried
from tests.support.waiting import until

PAGE = (Path(__file__).parents[3] / "docs" / "operations.md").read_text(encoding="utf-8")
(SECTION,) = [text for text in re.findall(r"```toml\n(.*?)```", PAGE, re.S) if "[stamps]" in text]
SECONDS = 60


@pytest.fixture(scope="module")
def service():
    return Service(time=dt.datetime.now(dt.UTC).replace(microsecond=0))


@pytest.fixture(scope="module")
def home(tmp_path_factory, service):
    folder = tmp_path_factory.mktemp("n") / "north"
    introduced(folder)
    (folder / "stamps-ca.pem").write_bytes(service.authority)
    return folder


def configured(home, section):
    """Write the section in the place of an earlier one."""
    path = home / "duetto.toml"
    path.write_text(path.read_text().partition("\n[stamps]")[0] + "\n" + section)


def with_url(url):
    assert tomllib.loads(SECTION)["stamps"]["url"] in SECTION
    return SECTION.replace(tomllib.loads(SECTION)["stamps"]["url"], url)


def called(home, *words, code=0):
    done = tried(*words, "--config", home, "--json")
    assert done.returncode == code, done.stdout + done.stderr
    return json.loads(done.stdout)


def test_the_section_of_the_page(home):
    configured(home, SECTION)
    found = load(home).stamps
    assert (found.host, found.every, found.seconds, found.ca) == (
        "stamps.example",
        24,
        30,
        home / "stamps-ca.pem",
    )


def test_a_daemon_stamps_and_a_log_that_is_deleted_whole_is_told(home, service, tmp_path):
    with serving(service.answer) as (url, seen):
        configured(home, with_url(url))
        daemon = started(home)
        try:
            (first,) = until(lambda: stamp_paths(home / FOLDER))
            taken = called(home, "ledger", "stamp")
            assert taken["file"] != str(first)
            configured(home, with_url(url).replace("24 ", "12 "))
            assert "stamps" in json.dumps(called(home, "party", "reload"))
        finally:
            ended(daemon)
    assert len(seen) == 2
    for group in ("ledger", "log"):
        assert called(home, group, "verify")["stamps"]["genuine"] == 2
    copies = tmp_path / "elsewhere"
    shutil.copytree(home / FOLDER, copies)
    shutil.rmtree(home / "audit")
    (home / "ledger.jsonl").unlink()
    daemon = started(home)  # it begins both anew
    ended(daemon)
    said = called(home, "ledger", "verify", "--stamps", copies, code=REFUSED)
    assert f"It was there at {taken['time']}" in said["problems"][0]
    said = called(home, "log", "verify", "--stamps", copies, code=REFUSED)
    assert (
        f"of the audit log has another hash than it had. It was there at {taken['time']}"
        in said["problems"][0]
    )
    found = called(home, "doctor", code=CONFIG)["checks"]
    assert [one["verdict"] for one in found if one["check"] == "stamps"] == ["fail"]


def test_the_command_says_what_was_stamped_and_what_fails(tmp_path, service):
    home = tmp_path / "south"
    home.mkdir()
    (home / "duetto.toml").write_text('[party]\nname = "south"\n[listen]\naddress = "127.0.0.1:0"\n')
    (home / "stamps-ca.pem").write_bytes(service.authority)
    done = tried("ledger", "stamp", "--config", home)
    assert done.returncode == CONFIG
    assert "has no section [stamps]" in done.stderr
    with serving(service.answer) as (url, _):
        configured(home, with_url(url))
        done = tried("ledger", "stamp", "--config", home)
        assert "an empty ledger, an empty audit log" in done.stdout
        assert "keep a copy on another machine" in done.stdout
    with listening(silent) as port:
        pass
    configured(home, with_url(f"http://127.0.0.1:{port}/"))
    assert called(home, "ledger", "stamp", code=UNAVAILABLE)["error"]["code"] == "stamps"
    (home / "stamps-ca.pem").unlink()
    assert tried("ledger", "stamp", "--config", home).returncode != 0


def test_without_a_service_the_ledger_gets_the_head_of_the_log(tmp_path):
    home = tmp_path / "south"
    introduced(home)
    configured(home, "[stamps]\n")
    daemon = started(home)
    try:
        entry = until(lambda: open_ledger(home).head())
    finally:
        ended(daemon)
    assert entry.event == LOG_HEAD
    assert f"line {entry.log_line} of the audit log" in tried("ledger", "log", "--config", home).stdout
    assert called(home, "ledger", "stamp")["file"] == ""
    assert "peers see its head" in tried("ledger", "stamp", "--config", home).stdout
    shutil.rmtree(home / "audit")
    said = called(home, "log", "verify", code=REFUSED)["problems"][0]
    assert "of the audit log is missing: the audit log is empty." in said

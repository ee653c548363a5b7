"""A log that was cut off, written anew or deleted whole is told by stamps, also by copies kept elsewhere."""

from __future__ import annotations

import datetime as dt
import json
import shutil
import sys
from contextlib import contextmanager

import pytest
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey

from commons.exits import REFUSED
from parties.audit.files import FOLDER as AUDIT
from parties.audit.files import name_of
from parties.audit.lines import STATE
from parties.audit.writer import Audit
from parties.config import load
from parties.doctor import examine_self
from parties.findings import Status
from parties.jobs.storage import backup
from parties.ledger.book import open_ledger
from parties.ledger.entries import LOG_HEAD
from parties.ledger.export import write_export
from parties.pki.moving import unpack
from parties.stamps.files import FOLDER, Failure, note_failure, stamp_paths, write_stamp
from parties.stamps.statement import StampStatement
from parties.stamps.tokens import make_request
from tests.parties.timestamping import Service
from tests.support.commands import tried

SETTINGS = '[party]\nname = "north"\n[listen]\naddress = "127.0.0.1:0"\n'
STAMPS = '[stamps]\nurl = "http://127.0.0.1:9/tsr"\nca = "ca.pem"\n'
AGO = dt.datetime(2026, 3, 1, 12, 0, tzinfo=dt.UTC)


class Home:
    """A home that has been stamped three times, each two lines and an entry later."""

    def __init__(self, folder):
        self.folder, self.service = folder, Service(time=AGO)
        folder.mkdir(exist_ok=True)
        (folder / "duetto.toml").write_text(SETTINGS + STAMPS)
        (folder / "ca.pem").write_bytes(self.service.authority)
        for number in range(3):
            self.service.time = AGO + dt.timedelta(days=number)
            self.grow(2, number)
            self.stamp()

    def grow(self, lines, word=0):
        audit = Audit(self.folder, lambda: "2026-03-01T11:00:00Z")
        for number in range(lines):
            audit.write(STATE, job=f"j{word}.{number}", state="running")
        self.head = audit.head

    def note(self):
        open_ledger(self.folder).note(LOG_HEAD, log_line=self.head[0], log_hash=self.head[1])

    def stamp(self, party="north"):
        self.note()
        statement = StampStatement(party, open_ledger(self.folder).head().link, self.head)
        answer = self.service.answer(make_request(statement.data).data)
        return write_stamp(self.folder, statement, answer, self.service.time)

    @property
    def ledger(self):
        return self.folder / "ledger.jsonl"

    @property
    def log(self):
        return self.folder / AUDIT / name_of(0)

    def cut(self, path, lines):
        kept = path.read_bytes().splitlines(keepends=True)[:lines]
        path.write_bytes(b"".join(kept))

    def verify(self, group, *words, wrong=True):
        done = tried(group, "verify", "--config", self.folder, "--json", *words)
        document = json.loads(done.stdout)
        assert done.returncode == (REFUSED if wrong else 0), document
        return document

    def told(self, group, *words):
        return " ".join(self.verify(group, *words)["problems"])


@pytest.fixture
def home(tmp_path):
    return Home(tmp_path / "north")


def test_an_untouched_home_agrees_with_its_stamps_and_may_grow(home):
    home.grow(5)
    home.note()
    for group in ("ledger", "log"):
        said = home.verify(group, wrong=False)["stamps"]
        assert said == {"genuine": 3, "first": "2026-03-01T12:00:00Z", "last": "2026-03-03T12:00:00Z"}
    done = tried("log", "verify", "--config", home.folder)
    assert "3 genuine stamps, from 2026-03-01T12:00:00Z to 2026-03-03T12:00:00Z." in done.stdout


def test_a_ledger_that_was_cut_off_is_told_with_number_and_time(home):
    home.cut(home.ledger, 1)
    said = home.told("ledger")
    assert "Entry 1 of the ledger is missing: the ledger ends with entry 0." in said
    assert "Entry 2" in said
    assert "It was there at 2026-03-02T12:00:00Z, by the stamp 20260302T120000Z-" in said


def test_a_ledger_that_was_deleted_whole_is_told(home):
    home.ledger.unlink()
    said = home.told("ledger")
    assert (
        "Entry 0 of the ledger is missing: the ledger is empty. It was there at 2026-03-01T12:00:00Z" in said
    )
    assert "1 more speaks against the ledger as well." in said


def test_a_ledger_that_was_written_anew_is_told(home):
    home.ledger.unlink()
    for number in range(5):
        open_ledger(home.folder).note(LOG_HEAD, log_line=number, log_hash="ab" * 32)
    assert "Entry 0 of the ledger has another hash than it had." in home.told("ledger")


def test_a_log_that_was_cut_off_is_told_with_number_and_time(home):
    home.cut(home.log, 3)
    said = home.told("log")
    assert "Line 3 of the audit log is missing: the audit log ends with line 2." in said
    assert "It was there at 2026-03-02T12:00:00Z, by the stamp" in said


def test_a_log_that_was_deleted_whole_or_written_anew_is_told(home):
    shutil.rmtree(home.folder / AUDIT)
    assert "Line 1 of the audit log is missing: the audit log is empty." in home.told("log")
    home.grow(40, "anew")
    assert "Line 1 of the audit log has another hash than it had." in home.told("log")


def test_the_ledger_alone_tells_of_a_log_that_was_deleted_where_no_service_is_named(home):
    (home.folder / "duetto.toml").write_text(SETTINGS + "[stamps]\n")
    shutil.rmtree(home.folder / FOLDER)
    shutil.rmtree(home.folder / AUDIT)
    assert "by entry 2 of the ledger" in home.told("log")


def test_copies_elsewhere_outlive_stamps_that_are_deleted_with_the_logs(home, tmp_path):
    copies = tmp_path / "elsewhere"
    shutil.copytree(home.folder / FOLDER, copies)
    assert home.verify("ledger", "--stamps", copies, wrong=False)["stamps"]["genuine"] == 3  # each once
    for gone in (FOLDER, AUDIT):
        shutil.rmtree(home.folder / gone)
    home.ledger.unlink()
    home.verify("ledger", wrong=False)  # nothing is left that could tell
    home.verify("log", wrong=False)
    assert "Entry 2 of the ledger is missing" in home.told("ledger", "--stamps", copies)
    assert "Line 5 of the audit log is missing" in home.told("log", "--stamps", copies)


def test_an_export_is_held_against_stamps(home, tmp_path):
    home.cut(home.ledger, 2)
    entries = open_ledger(home.folder).entries()
    path = tmp_path / "export.jsonl"
    path.write_bytes(write_export("north", Ed25519PrivateKey.generate(), entries, {}, "2026-03-04T00:00:00Z"))
    words = ("ledger", "verify", "--export", path, "--any-key", "--json")
    assert tried(*words).returncode == 0
    folder = ("--stamps", home.folder / FOLDER)
    assert tried(*words, *folder).returncode not in (0, REFUSED)  # whose stamps are genuine, nobody says
    done = tried(*words, *folder, "--stamps-ca", home.folder / "ca.pem")
    assert done.returncode == REFUSED
    assert "Entry 2 of the ledger is missing" in json.loads(done.stdout)["problems"][0]


def test_stamps_that_are_not_genuine_or_of_others_are_told_and_say_nothing(home):
    honest, home.service = home.service, Service()
    forged = home.stamp()
    home.service = honest
    other = home.stamp(party="south")
    broken = home.folder / FOLDER / "20260101T000000Z-x.stamp"
    broken.write_text('{"answer": "", "statement": []}')
    for group in ("ledger", "log"):
        document = home.verify(group)
        assert document["stamps"]["genuine"] == 3
        said = "\n".join(document["problems"])
        assert f"{forged.name} is not a genuine stamp: The answer is not signed under" in said
        assert f"{other.name} is a stamp of 'south', not of 'north'." in said
        assert f"{broken.name} is not a genuine stamp" in said


def test_a_stamp_whose_heads_were_changed_is_not_genuine(home):
    (path, *_) = stamp_paths(home.folder / FOLDER)
    document = json.loads(path.read_text())
    document["statement"]["log"]["number"] = 0
    path.write_text(json.dumps(document))
    assert "about another digest" in home.told("log")


def test_stamps_are_not_silenced_by_taking_out_the_setting(home, tmp_path):
    (home.folder / "duetto.toml").write_text(SETTINGS)
    assert "3 stamps are there and not checked: Nothing says whose are genuine." in home.told("ledger")
    assert finding(home, "stamps").verdict is Status.FAIL
    home.verify("ledger", "--stamps-ca", home.folder / "ca.pem", wrong=False)
    (home.folder / "duetto.toml").write_text(SETTINGS + STAMPS)
    (home.folder / "ca.pem").write_text("")
    assert "not checked" in home.told("log")


def test_the_library_that_is_missing_is_told(home, monkeypatch):
    monkeypatch.setitem(sys.modules, "rfc3161_client", None)
    assert "Run pip install 'duetto[stamps]'." in home.told("ledger")


def later(home, monkeypatch):
    """Close the first file of the log, so that it can be moved away."""
    monkeypatch.setattr("parties.audit.writer.FILE_BYTES", 1)
    home.grow(1, "next")


def test_stamps_about_files_that_were_moved_away_say_nothing_while_a_newer_one_does(home, monkeypatch):
    later(home, monkeypatch)
    home.log.unlink()
    home.verify("log", wrong=False)  # the newest is about the line before, whose hash the first has
    home.grow(1, "more")
    (home.folder / AUDIT / name_of(6)).unlink()
    assert "Line 5, the newest that is witnessed" in home.told("log")
    assert "was moved away, so that nothing here is. Bring the file back." in home.told("log")
    home.stamp()
    home.verify("log", wrong=False)


def test_a_gap_that_somebody_records_is_told_as_such_from_then_on(home):
    shutil.rmtree(home.folder / AUDIT)
    home.grow(1, "anew")
    done = tried("log", "record-gap", "--as", "Ann", "--config", home.folder, "--json")
    assert json.loads(done.stdout)["lines"] == [1, 3, 5]
    found = home.verify("log", wrong=False)
    assert found["gaps"][0].startswith("Lines up to 5, as it was witnessed, are not in the log, as Ann")
    assert json.loads(tried("log", "record-gap", "--config", home.folder, "--json").stdout)["lines"] == []


def finding(home, check):
    return next(one for one in examine_self(load(home.folder)) if one.check == check)


def test_the_doctor_looks_at_stamps(home):
    assert finding(home, "stamps").verdict is Status.OK
    assert "2026-03-03T12:00:00Z" in finding(home, "stamps").what
    note_failure(home.folder, Failure("2026-03-04T00:00:00Z", "The service sleeps."))
    assert finding(home, "stamps").verdict is Status.WARN
    assert "failed at 2026-03-04T00:00:00Z: The service sleeps." in finding(home, "stamps").what
    home.cut(home.log, 3)
    assert finding(home, "stamps").verdict is Status.FAIL
    assert finding(home, "audit log").verdict is Status.FAIL
    assert "by entry" in finding(home, "audit log").what


def test_the_doctor_says_where_there_is_no_stamp_yet(home):
    shutil.rmtree(home.folder / FOLDER)
    assert finding(home, "stamps").what == "there is none yet"
    (home.folder / "duetto.toml").write_text(SETTINGS)
    assert not [one for one in examine_self(load(home.folder)) if one.check == "stamps"]


def test_a_backup_has_no_stamp_of_more_than_its_logs(home, tmp_path, monkeypatch):
    """A stamp that is taken when the logs are copied would accuse the restored home of a loss."""
    locked = backup._lock

    @contextmanager
    def and_then(path):
        with locked(path):
            yield
        home.grow(1)
        home.stamp()

    monkeypatch.setattr(backup, "_lock", and_then)
    backup.back_up(load(home.folder), tmp_path / "north.tar")
    assert len(stamp_paths(home.folder / FOLDER)) > 3
    shutil.rmtree(home.folder)
    with unpack(tmp_path / "north.tar", home.folder, backup=True):
        pass
    for group in ("ledger", "log"):
        assert home.verify(group, wrong=False)["stamps"]["genuine"] == 3

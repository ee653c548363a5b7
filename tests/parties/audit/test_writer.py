"""The audit log: lines are a chain on the disk, and what was done to the files is found."""

from __future__ import annotations

import json
import threading

import pytest

from commons.logs.lines import GENESIS
from parties.audit import files, writer
from parties.audit.files import FOLDER, read_log
from parties.audit.lines import DECIDED, REFUSED, STATE, TORN, AuditError, AuditLine, parse_line
from parties.audit.writer import REFUSALS_AN_HOUR, Audit

NOW = "2026-03-01T12:00:00Z"


def open_audit(home):
    return Audit(home, lambda: NOW)


def path_of(home, number=0):
    return home / FOLDER / files.name_of(number)


def five(home):
    audit = open_audit(home)
    for number in range(5):
        audit.write(STATE, job=f"j{number}", state="running")
    return audit


def test_what_is_written_is_read_and_goes_on_after_a_restart(tmp_path):
    audit = open_audit(tmp_path)
    assert audit.head == (-1, GENESIS)
    audit.write(STATE, job="a", state="running", code="")
    audit.extend([(STATE, {"job": "a", "state": "kept"}), (DECIDED, {"actor": "Ann", "uid": 7})])
    again = open_audit(tmp_path)
    assert again.head == audit.head
    again.write(STATE, job="a", state="finished")
    lines = read_log(tmp_path).lines
    assert [(n.sequence, n.event, dict(n.about)) for n in lines] == [
        (0, STATE, {"job": "a", "state": "running"}),
        (1, STATE, {"job": "a", "state": "kept"}),
        (2, DECIDED, {"actor": "Ann", "uid": 7}),
        (3, STATE, {"job": "a", "state": "finished"}),
    ]
    assert (lines[-1].sequence, lines[-1].hash) == again.head
    assert path_of(tmp_path).stat().st_mode & 0o077 == 0 == (tmp_path / FOLDER).stat().st_mode & 0o077


def test_texts_of_others_are_one_short_line_of_ascii(tmp_path):
    audit = open_audit(tmp_path)
    audit.write(STATE, job="a\n\x1b[31m\u202e" + "ä" * 10_000, state="running")
    data = path_of(tmp_path).read_bytes()
    assert data.count(b"\n") == 1
    assert data.isascii()
    assert len(data) < 4000
    (line,) = read_log(tmp_path).lines
    assert 100 < len(line.about["job"]) <= 300
    assert line.about["job"].isprintable()


@pytest.mark.parametrize("name", ["number", "hash", "previous", "time", "event"])
def test_no_detail_stands_in_for_what_every_line_has(tmp_path, name):
    audit = open_audit(tmp_path)
    with pytest.raises((ValueError, TypeError)):
        audit.extend([(STATE, {name: "x"})])
    assert read_log(tmp_path).lines == ()


def test_files_are_closed_when_they_are_long_and_the_chain_goes_on(tmp_path, monkeypatch):
    monkeypatch.setattr(writer, "FILE_BYTES", 1000)
    audit = open_audit(tmp_path)
    for number in range(20):
        audit.write(STATE, job=f"j{number}", state="running")
    paths = files.files(tmp_path / FOLDER)
    assert len(paths) > 3
    assert [n.about["job"] for n in read_log(tmp_path).lines] == [f"j{number}" for number in range(20)]
    assert open_audit(tmp_path).head == audit.head
    paths[0].unlink()  # moved away to be kept elsewhere
    log = read_log(tmp_path)
    assert log.begins_later
    paths[2].unlink()  # a gap is another thing
    with pytest.raises(AuditError, match="does not continue"):
        read_log(tmp_path)


def changed(lines):
    document = json.loads(lines[2])
    document["job"] = "j7"
    return [
        *lines[:2],
        json.dumps(document, sort_keys=True, separators=(",", ":")).encode() + b"\n",
        *lines[3:],
    ]


def sealed_anew(lines):
    """Changed, and with the hash that its new content has."""
    found = parse_line(lines[2].rstrip(b"\n"))
    forged = AuditLine(
        found.sequence, found.previous, found.time, found.event, {"job": "j7", "state": "running"}
    )
    return [*lines[:2], forged.seal().line(), *lines[3:]]


@pytest.mark.parametrize(
    "attack",
    [
        changed,
        sealed_anew,
        lambda lines: [*lines[:2], *lines[3:]],
        lambda lines: [*lines[:3], lines[2], *lines[3:]],
        lambda lines: [lines[0], lines[2], lines[1], *lines[3:]],
        lambda lines: lines[1:],
        lambda lines: [*lines[:2], b"\n", *lines[2:]],
        lambda lines: [*lines[:2], b"{" * 100_000 + b"\n", *lines[2:]],
        lambda lines: [*lines[:2], lines[2].replace(b",", b", ", 1), *lines[3:]],
        lambda lines: [*lines[:2], lines[2].replace(b'"number":2', b'"number":true'), *lines[3:]],
    ],
)
def test_a_changed_log_is_found_by_reader_and_daemon(tmp_path, attack):
    five(tmp_path)
    path = path_of(tmp_path)
    path.write_bytes(b"".join(attack(path.read_bytes().splitlines(keepends=True))))
    with pytest.raises(AuditError, match="broken: line"):
        read_log(tmp_path)
    with pytest.raises(AuditError, match="broken: line"):
        open_audit(tmp_path)


def test_a_line_says_where_the_piece_of_one_lies(tmp_path):
    five(tmp_path)
    path = path_of(tmp_path)
    piece = path.read_bytes()[:30]
    path.write_bytes(path.read_bytes() + piece)
    open_audit(tmp_path).write(STATE, job="after", state="running")
    log = read_log(tmp_path)
    assert [n.event for n in log.lines][-3:] == [STATE, TORN, STATE]
    (name,) = log.torn
    assert log.lines[-2].about["file"] == name
    assert (path.parent / name).read_bytes() == piece


def test_what_another_program_writes_stops_the_log(tmp_path):
    audit = five(tmp_path)
    with path_of(tmp_path).open("ab") as file:
        file.write(b"x")
    with pytest.raises(AuditError, match="Another program"):
        audit.write(STATE, job="j5", state="running")


def test_a_peer_cannot_fill_the_disk_with_refusals(tmp_path, monkeypatch):
    audit = open_audit(tmp_path)
    for _ in range(10 * REFUSALS_AN_HOUR):
        audit.write_refusal("south", "job", "policy")
    audit.write_refusal("west", "job", "policy")
    monkeypatch.setattr(writer, "_now_seconds", lambda: 1e9)
    audit.write_refusal("south", "job", "policy")
    lines = read_log(tmp_path).lines
    assert all(n.event == REFUSED for n in lines)
    assert len(lines) == REFUSALS_AN_HOUR + 2
    assert lines[-1].about["left_out"] == 9 * REFUSALS_AN_HOUR
    assert "left_out" not in lines[-2].about


def test_threads_write_one_chain(tmp_path):
    audit = open_audit(tmp_path)

    def work(name):
        for number in range(20):
            audit.write(STATE, job=f"{name}{number}", state="running")

    threads = [threading.Thread(target=work, args=(name,)) for name in "abcd"]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(read_log(tmp_path).lines) == 80


def test_no_text_makes_a_line_that_cannot_be_read(tmp_path):
    audit = open_audit(tmp_path)
    audit.write(STATE, **{f"field{number}": "\U0001f600" * 1000 for number in range(8)})
    (line,) = read_log(tmp_path).lines
    assert len(line.about) == 8
    with pytest.raises(ValueError, match="more fields"):
        audit.write(STATE, **{f"field{number}": "x" * 1000 for number in range(80)})
    assert read_log(tmp_path).lines == (line,)


def test_two_crashes_at_one_place_leave_two_pieces(tmp_path):
    five(tmp_path)
    path = path_of(tmp_path)
    for piece in (b'{"a', b'{"b'):
        with path.open("ab") as file:
            file.write(piece)
        whole = path.read_bytes()
        open_audit(tmp_path)
        path.write_bytes(whole[: -len(piece)])  # and the next crash comes before the line about it
    assert sorted(found.read_bytes() for found in path.parent.glob("*.torn-*")) == [b'{"a', b'{"b']

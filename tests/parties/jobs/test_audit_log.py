"""What the audit log of each party says of its jobs, and what happens where it cannot be written."""

from __future__ import annotations

import pytest

from parties.audit.files import read_log
from parties.audit.lines import AuditError
from parties.contracts.state import State
from parties.errors import PeerRefused
from tests.parties.jobs.joined import ANN, approve, job_file, run, wait_final


def lines_of(pair, name):
    return read_log(pair.config(name).home).lines


def story(lines, *names):
    return [(line.event, *(line.about.get(name, "") for name in names)) for line in lines]


def test_who_approved_what_and_how_it_went(pair):
    pair.allow("north", approval="person")
    record = pair.north.submit(job_file("1/2"))
    draft = record.contract.draft.digest.hex()
    approve(pair.north, record.job_id)
    wait_final(pair.north, record.job_id)
    wait_final(pair.south, record.job_id)
    digest = pair.north.store.get(record.job_id).contract.digest.hex()
    north = story(lines_of(pair, "north"), "state", "decision", "actor", "rule", "digest")
    assert north == [
        ("begun", "", "", "", "", ""),
        ("proposed", "waiting-own-approval", "", "", "", ""),
        ("decided", "", "approved", "Ann", "", draft),
        ("state", "proposed", "", "", "", ""),
        ("decided", "", "approved", "Ann", "", digest),
        ("state", "approved", "", "", "", digest),
        ("state", "running", "", "", "", digest),
        ("state", "kept", "", "", "", digest),
        ("state", "finished", "", "", "", digest),
    ]
    south = story(lines_of(pair, "south"), "state", "decision", "actor", "rule", "digest")
    assert south[1:4] == [
        ("proposed", "waiting-own-approval", "", "", "", digest),
        ("decided", "", "approved", "", "additions", digest),
        ("state", "approved", "", "", "", digest),
    ]
    assert south[-1][:2] == ("state", "finished")


def test_what_was_refused_denied_cancelled_and_forgotten(pair):
    pair.forbid("south")
    with pytest.raises(PeerRefused):
        pair.north.submit(job_file())
    assert story(lines_of(pair, "south"), "code", "peer")[1:] == [("refused", "policy", "north")]
    assert story(lines_of(pair, "north"), "state", "code")[-1] == ("state", "denied", "policy")
    pair.allow("south")
    pair.allow("north", approval="person")
    denied = pair.north.submit(job_file())
    pair.north.deny(denied.job_id, ANN, "a reason")
    cancelled = pair.north.submit(job_file())
    pair.north.cancel(cancelled.job_id, ANN)
    pair.allow("north")
    job_id, *_ = run(pair)
    pair.north.store.forget(job_id)
    north = story(lines_of(pair, "north"), "state", "decision", "actor")
    assert ("state", "denied", "", "") in north
    assert ("decided", "", "denied", "Ann") in north
    assert ("state", "cancelled", "", "") in north
    assert ("decided", "", "cancelled", "Ann") in north
    assert north[-1] == ("forgotten", "", "", "")
    text = "".join(str(line.document()) for line in lines_of(pair, "north"))
    assert "a reason" not in text


def full(*_):
    raise AuditError("No space left on device.", "")


def test_what_cannot_be_written_is_not_approved_and_does_not_begin(pair, monkeypatch):
    pair.allow("north", approval="person")
    record = pair.north.submit(job_file("1/2"))
    before = lines_of(pair, "north")

    with monkeypatch.context() as patched:
        patched.setattr(pair.north.store.audit._log, "extend", full)
        with pytest.raises(AuditError, match="No space left"):
            approve(pair.north, record.job_id)
    assert lines_of(pair, "north") == before
    assert pair.north.store.get(record.job_id).state is State.WAITING_OWN
    assert not pair.north.ledger.entries()
    approve(pair.north, record.job_id)
    assert wait_final(pair.north, record.job_id).state is State.FINISHED


def test_an_end_that_the_disk_does_not_take_is_written_later(pair, monkeypatch):
    pair.allow("north", approval="person")
    record = pair.north.submit(job_file())
    audit = pair.north.store.audit

    with monkeypatch.context() as patched:
        patched.setattr(audit._log, "extend", full)
        with pytest.raises(AuditError):
            pair.north.cancel(record.job_id, ANN)
    pair.north.store.settle()
    assert pair.north.store.get(record.job_id).state is State.CANCELLED
    assert story(lines_of(pair, "north"), "state")[-1] == ("state", "cancelled")


def test_a_daemon_does_not_go_on_with_a_log_that_was_changed(pair):
    run(pair)
    pair.stop("north")
    (path,) = (pair.config("north").home / "audit").glob("*.jsonl")
    path.write_bytes(path.read_bytes().replace(b'"state":"approved"', b'"state":"finished"'))
    with pytest.raises(AuditError, match="broken: line") as caught:
        pair.start("north")
    path.parent.rename(path.parent.with_name("audit-evidence"))  # as the hint says
    assert "Move its folder away" in caught.value.hint
    pair.start("north")
    job_id, *_ = run(pair)
    assert pair.north.store.get(job_id).state is State.FINISHED

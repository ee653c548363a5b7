"""The control service: nobody who waits locks anybody out, and a daemon that is silent does not run."""

from __future__ import annotations

import threading
import time

import grpc
import pytest

from parties.client import Party, ask_daemon
from parties.config import load
from parties.contracts.state import State
from parties.errors import (
    DaemonUnavailable,
    JobError,
    PeerBusy,
)
from parties.jobs.control import ROOM, Kind
from parties.jobs.faults import METADATA, unpack
from parties.rpc.pb.duetto.v1 import control_pb2 as pb
from smc.errors import DuettoError
from tests.parties.jobs.joined import approve
from tests.parties.served import waiting

LONG = 120
"""Seconds that a call waits: whoever is locked out is refused at once, or never answered."""


def watching(party, job_id, number):
    """So many open watches of a job: those that the daemon holds, and those that it refused."""
    calls = [party._stub.Watch(pb.JobName(job_id=job_id)) for _ in range(number)]
    held, refused = [], []
    for call in calls:
        try:
            next(call)
            held.append(call)
        except grpc.RpcError:
            refused.append(call)
    return held, refused


def test_forty_who_wait_lock_nobody_out(served, file):
    """Of those who wait for a person none keeps the person from deciding."""
    job_id, other = waiting(served, file.read_text()), waiting(served, file.read_text())
    with Party(served.folder / "south") as south:
        held, refused = watching(south, job_id, 40)
        assert (len(held), refused) == (40, [])
        assert len(list(south._stub.List(pb.ListRequest(), timeout=LONG))) == 2
        assert south.status(LONG)["jobs"] == {"waiting-own-approval": 2}
        given_up = pb.Decision(job_id=other, actor="Ann", uid=1000)
        assert south.call("Cancel", given_up, LONG).state == "cancelled"
        approved = pb.Decision(job_id=job_id, actor="Ann", uid=1000, shown=south.job(job_id).shown)
        assert south.call("Approve", approved, LONG).state == "approved"
        for call in held:
            *_, last = call
            assert last.state == "finished"


def test_watchers_beyond_the_room_are_told_and_can_wait_all_the_same(served, file, monkeypatch):
    monkeypatch.setattr("parties.client.party.LOOK_SECONDS", 0.05)
    job_id = waiting(served, file.read_text())
    with Party(served.folder / "south") as south:
        held, refused = watching(south, job_id, ROOM[Kind.WATCH] + 3)
        assert (len(held), len(refused)) == (ROOM[Kind.WATCH], 3)
        assert {type(unpack(dict(call.trailing_metadata())[METADATA])) for call in refused} == {PeerBusy}
        job = south.job(job_id)
        with pytest.raises(JobError) as caught:
            job.wait(timeout=0.2)
        assert caught.value.stable_code == "timeout"
        threading.Timer(0.2, approve, [served.south, job_id]).start()
        assert job.wait(timeout=20).state is State.FINISHED


def test_submits_that_hang_lock_nobody_out(served, file, monkeypatch):
    release = threading.Event()
    monkeypatch.setattr(served.south, "check", lambda toml: release.wait(20) and {})
    with Party(served.folder / "south") as south:
        calls = [south._stub.Check.future(pb.JobText(toml="x")) for _ in range(ROOM[Kind.WORK])]
        deadline = time.monotonic() + 10
        while time.monotonic() < deadline:
            try:
                south.call("Check", pb.JobText(toml="x"), 0.2)
            except PeerBusy:
                break
            except JobError:  # one of the sixteen was later than this one
                continue
        assert south.jobs() == []
        assert south.status(5)["jobs"] == {}
        release.set()
        refused = [call for call in calls if call.exception(10) is not None]
        assert len(refused) < len(calls) / 2, "those that were let in have ended in order"


def test_a_daemon_that_does_not_answer_is_not_said_to_run(served, monkeypatch):
    config = load(served.folder / "south")
    assert ask_daemon(config, 7)["party"] == "south"
    monkeypatch.setattr("parties.client.asking.ASK_SECONDS", 0.3)  # only now: a loaded machine answers later
    release = threading.Event()
    monkeypatch.setattr(served.south.ledger, "entries", lambda: release.wait(20) and ())
    with pytest.raises(DaemonUnavailable, match="Process 7 holds the lock of south, but does not answer"):
        ask_daemon(config, 7)
    release.set()


def test_a_defect_is_told_by_type_only(served, party, monkeypatch):
    def broken(*_, **__):
        raise ValueError("canary")

    monkeypatch.setattr(served.north.store, "all", broken)
    with pytest.raises(DuettoError) as caught:
        party.jobs()
    assert caught.value.stable_code == "internal"
    assert "ValueError" in caught.value.what
    assert "canary" not in str(caught.value)

"""Peers that a failed check has closed: what is kept, what is refused, and how they are opened again."""

from __future__ import annotations

import json
import threading
from contextlib import nullcontext

import numpy as np
import pytest
from click.testing import CliRunner

from parties import closed_peers, doctor
from parties.audit.files import read_log
from parties.audit.lines import CLOSED, OPENED
from parties.cli.party import party as party_group
from parties.cli.peers import peer as peer_group
from parties.client import Party
from parties.closed_peers import ClosedPeers
from parties.config import load
from parties.contracts.state import State
from parties.errors import PeerClosed, PeerRefused, StorageError
from parties.hooks import EventKind
from parties.notices.notice import of_line
from smc.errors import Cancelled, InconsistentTransfers, PeerAborted, ProtocolViolation, UsageError
from smc.forms import Role
from tests.parties.jobs.joined import ANN, job_file, wait_state
from tests.parties.rpc.harness import JOB, NORTH, SOUTH, Ending, dialling, listening, public, task
from tests.support.bent_transfers import bend_refills

CODE = InconsistentTransfers.code
SINCE = "2026-11-28T12:00:00Z"


@pytest.fixture
def noted():
    return []


@pytest.fixture
def closed(tmp_path, noted):
    return ClosedPeers(tmp_path, lambda: SINCE, lambda event, **about: noted.append((event, about)))


def test_a_closed_peer_stays_closed_until_somebody_opens_it(closed, noted, tmp_path):
    closed.require_open("south")
    closed.close("south", JOB, CODE)
    for one in (closed, ClosedPeers(tmp_path, lambda: SINCE, lambda event, **about: None)):
        with pytest.raises(PeerClosed, match="failed a check") as found:
            one.require_open("south")
        assert "duetto peer open south" in found.value.hint
        one.require_open("west")
    closed.close("south", "another", CODE)
    assert noted == [(CLOSED, {"peer": "south", "job": JOB, "code": CODE})]
    closed.open(closed.all()["south"], "Ann", 7)
    assert noted[1:] == [(OPENED, {"peer": "south", "job": JOB, "actor": "Ann", "uid": 7})]
    closed.require_open("south")


@pytest.mark.parametrize(
    "text", ["", "[]", "{", '{"south": 1}', '{"south": {"peer": "south"}}', json.dumps({"s": {"peer": 1}})]
)
def test_a_file_that_is_not_as_it_was_written_lets_nobody_run(closed, tmp_path, text):
    (tmp_path / closed_peers.FILE).write_text(text)
    with pytest.raises(StorageError, match="closed"):
        closed.require_open("west")


def test_a_peer_is_closed_in_the_process_even_if_that_cannot_be_written(closed, tmp_path, monkeypatch):
    def full(*_):
        raise OSError("full")

    monkeypatch.setattr(closed_peers, "write_atomically", full)
    with pytest.raises(StorageError):
        closed.close("south", JOB, CODE)
    with pytest.raises(PeerClosed):
        closed.require_open("south")


def test_opening_that_the_log_cannot_name_opens_nothing(closed, tmp_path):
    closed.close("south", JOB, CODE)

    def broken(event, **about):
        raise StorageError("full")

    with pytest.raises(StorageError):
        ClosedPeers(tmp_path, lambda: SINCE, broken).open(closed.all()["south"], "Ann", 7)
    with pytest.raises(PeerClosed):
        closed.require_open("south")


# in sessions


@pytest.mark.parametrize("side", ["dialler", "listener"])
def test_a_failed_check_closes_the_peer_and_tells_it_the_code_alone(side):
    heard = []

    def fail(session):
        raise InconsistentTransfers

    def wait(session):
        session.channel._transport.receive()

    at_south = Ending()
    closing = lambda peer, job, code: heard.append((peer, job, code))  # noqa: E731
    with (
        listening(SOUTH, public(NORTH), closing=closing if side == "listener" else None) as south,
        dialling(NORTH, public(SOUTH), south.server.address) as directory,
    ):
        if side == "dialler":
            directory._runner._closing = closing
        runs = (fail, wait) if side == "dialler" else (wait, fail)
        south.jobs.tasks[JOB] = task(Role.BOB, runs[1], at_south)
        with pytest.raises((InconsistentTransfers, PeerAborted)) as found:
            directory.run_session("south", task(Role.ALICE, runs[0]))
        ends = [found.value, at_south.wait()]
    mine, theirs = ends if side == "dialler" else reversed(ends)
    assert type(mine) is InconsistentTransfers
    assert type(theirs) is PeerAborted
    assert CODE in str(theirs)
    assert heard == [("south" if side == "dialler" else "north", JOB, CODE)]


def test_other_violations_close_nobody():
    heard = []

    def fail(session):
        raise ProtocolViolation("Something else.")

    with (
        listening(SOUTH, public(NORTH), closing=lambda *about: heard.append(about)) as south,
        dialling(NORTH, public(SOUTH), south.server.address) as directory,
    ):
        ending = Ending()
        south.jobs.tasks[JOB] = task(Role.BOB, fail, ending)
        with pytest.raises(PeerAborted):
            directory.run_session("south", task(Role.ALICE, lambda s: s.channel._transport.receive()))
        assert type(ending.wait()) is ProtocolViolation
    assert heard == []


@pytest.mark.parametrize("deviates", [False, True], ids=["honest", "deviates"])
def test_a_session_that_opens_nothing_ends_in_the_check_and_closes_the_peer(deviates):
    """What a task leaves unchecked, the session checks before its end; the peer sends, and South receives."""
    heard = []

    def send(session):
        if deviates:
            bend_refills(session.channel)
        session.oblivious.send_blocks(64, silent=True)

    def receive(session):
        session.oblivious.receive_blocks(np.zeros(64, dtype=np.uint8), silent=True)

    at_south = Ending()
    closing = lambda *about: heard.append(about)  # noqa: E731
    with (
        listening(SOUTH, public(NORTH), closing=closing) as south,
        dialling(NORTH, public(SOUTH), south.server.address) as directory,
    ):
        south.jobs.tasks[JOB] = task(Role.BOB, receive, at_south)
        with pytest.raises(PeerAborted, match=CODE) if deviates else nullcontext():
            directory.run_session("south", task(Role.ALICE, send))
        ended = at_south.wait()
    assert type(ended) is (InconsistentTransfers if deviates else type(None))
    assert heard == ([("north", JOB, CODE)] if deviates else [])


def test_other_sessions_with_a_closed_peer_end():
    """One session waits for its peer when the peer's transfers fail a check in another one."""
    other, waits, ends = "f" * 16, threading.Event(), (Ending(), Ending())

    def wait(session):
        waits.set()
        session.channel._transport.receive()

    def fail(session):
        assert waits.wait(20)
        raise InconsistentTransfers

    def listen(session):
        session.channel._transport.receive()

    def leave_running(directory):
        with pytest.raises(PeerAborted):
            directory.run_session("south", task(Role.ALICE, listen, job_id=other))

    with (
        listening(SOUTH, public(NORTH), closing=lambda *about: None) as south,
        dialling(NORTH, public(SOUTH), south.server.address) as directory,
    ):
        south.jobs.tasks[other] = task(Role.BOB, wait, ends[0], job_id=other)
        south.jobs.tasks[JOB] = task(Role.BOB, fail, ends[1])
        thread = threading.Thread(target=leave_running, args=[directory])
        thread.start()
        assert waits.wait(20)
        with pytest.raises(PeerAborted):
            directory.run_session("south", task(Role.ALICE, listen))
        thread.join(20)
        found = [end.wait() for end in ends]
    assert [type(each) for each in found] == [Cancelled, InconsistentTransfers]
    assert "north was closed" in str(found[0])


# in jobs


def test_jobs_with_a_closed_peer_are_refused_on_both_sides_until_it_is_opened(served):
    served.south.closed.close("north", JOB, CODE)
    with pytest.raises(PeerRefused, match="failed a check there") as found:
        served.north.submit(job_file())
    assert found.value.stable_code == PeerClosed.code
    with pytest.raises(PeerClosed, match=JOB):
        served.south.submit(job_file())
    with pytest.raises(UsageError, match="not closed"):
        served.south.open_peer("west", ANN)
    served.south.open_peer("north", ANN)
    job = served.north.submit(job_file())
    wait_state(served.north, job.job_id, State.FINISHED)
    lines = read_log(served.folder / "south").lines
    assert [line.event for line in lines if line.event in (CLOSED, OPENED)] == [CLOSED, OPENED]


def test_a_job_that_waits_runs_no_more_when_its_peer_was_closed(served):
    served.allow("south", approval="person")
    job = served.north.submit(job_file())
    wait_state(served.south, job.job_id, State.WAITING_OWN)
    served.south.closed.close("north", JOB, CODE)
    with pytest.raises(PeerClosed):
        served.south.approve(job.job_id, ANN, served.south.store.digest(job.job_id).hex())
    assert served.south.store.get(job.job_id).state is State.WAITING_OWN


def test_a_closed_peer_is_told_to_those_who_want_to_know(served):
    heard = threading.Event()
    notices = []

    def hear(line):
        notices.append(of_line(line, "south"))
        heard.set()

    served.south.store.audit.listen(hear)
    served.south.closed.close("north", JOB, CODE)
    assert heard.is_set()
    (notice,) = notices
    assert (notice.event, notice.peer, notice.job) == (EventKind.PEER, "north", JOB)
    assert notice.sentence == "Look at what north has done: transfers failed a check."


# what people see


PEERS = """
[[peers]]
name = "north"
address = "127.0.0.1:1"
pairing = "peers/north.pair"
pin = "{pin}"
"""


def test_commands_say_who_is_closed_and_open_it(served, monkeypatch):
    home = served.folder / "south"
    settings = (home / "duetto.toml").read_text()
    (home / "duetto.toml").write_text(settings + PEERS.format(pin="0" * 64))
    config = load(home)
    monkeypatch.setattr("parties.cli.party.running_pid", lambda _: 7)

    def run(group, *words):
        done = CliRunner().invoke(group, [*words, "--config", str(config.path)])
        assert done.exit_code == 0, done.output
        return " ".join(done.output.split())

    assert "│ north │ 127.0.0.1:1 │ open │" in run(peer_group, "list")
    assert doctor._open(config, config.peers[0]).verdict is doctor.Status.OK
    served.south.closed.close("north", JOB, CODE)
    found = json.loads(run(peer_group, "list", "--json"))["peers"]
    assert [(one["name"], one["closed"]["job"]) for one in found] == [("north", JOB)]
    for said in (run(peer_group, "list"), run(party_group, "status")):
        assert f"in job {JOB} its oblivious transfers failed a check" in said
        assert "duetto peer open north" in said
    assert doctor._open(config, config.peers[0]).verdict is doctor.Status.FAIL
    assert "north is open" in run(peer_group, "open", "north")
    assert "│ open │" in run(peer_group, "list")
    with pytest.raises(UsageError, match="not closed"), Party(home) as party:
        party.open_peer("north")

"""Sessions with lanes between two daemons: whole, cut, cancelled, and with a worker that dies."""

from __future__ import annotations

import os
import signal
import threading
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from smc.errors import Cancelled, PeerAborted, PeerError
from smc.forms import Role
from smc.numeric.random import Randomness
from smc.oblivious import cost
from smc.oblivious.lanes import LaneLost
from smc.protocols.transfer_costs import cost_of, cost_settled
from tests.parties.rpc.harness import JOB, NORTH, QUICK, SOUTH, Ending, dialling, listening, public, task

RANDOM = Randomness.from_seed(b"tests", "lanes of a session")
COUNT = 60_000
VALUES = RANDOM.words(COUNT), RANDOM.words(COUNT)
PATIENT = replace(QUICK, message_seconds=60, job_seconds=600)


def compare(session):
    engine = session.oblivious
    method = engine.greater_equal_x if session.role is Role.ALICE else engine.greater_equal_y
    return method(VALUES[session.role is Role.BOB], 64)


def workers():
    """The processes of lanes that this one has started."""
    own = Path(f"/proc/{os.getpid()}/task")
    children = {int(pid) for each in own.glob("*/children") for pid in each.read_text().split()}
    named = {pid: Path(f"/proc/{pid}/cmdline").read_bytes() for pid in children}
    return {pid for pid, words in named.items() if b"parties.lanes.worker" in words}


def together(north, south, lanes=(2, 2)):
    """Run a session; what either side ended with."""
    ended = Ending()
    with listening(SOUTH, public(NORTH), limits=PATIENT) as party:
        party.jobs.tasks[JOB] = replace(task(Role.BOB, south, ended), lanes=lanes[1])
        with dialling(NORTH, public(SOUTH), party.server.address, PATIENT) as directory:
            failure = None
            try:
                directory.run_session("south", replace(task(Role.ALICE, north), lanes=lanes[0]))
            except Exception as error:
                failure = error
            return failure, ended.wait(60)


def test_a_batch_in_lanes_between_two_daemons():
    found = {}

    def run(session):
        found[session.role] = compare(session), session.channel.traffic, workers()

    assert together(run, run) == (None, None)
    (alice, there, north), (bob, back, south) = found[Role.ALICE], found[Role.BOB]
    assert np.array_equal(alice ^ bob, VALUES[0] >= VALUES[1])
    assert len(north | south) == 4
    assert not workers()
    stated = cost_settled(cost_of(cost.comparison(COUNT, 64, 2)), 2)
    assert (there.sent, back.sent) == (stated.alice_bytes, stated.bob_bytes)
    assert there.rounds == back.rounds == stated.rounds


@pytest.mark.parametrize("lanes", [(2, 3), (2, 1)])
def test_a_peer_with_other_lanes_than_the_contract_ends_the_session(lanes):
    one, other = together(compare, compare, lanes)
    assert one.stable_code == "protocol-violation" or isinstance(one, PeerAborted)
    assert other.stable_code == "protocol-violation" or isinstance(other, PeerAborted)
    assert "protocol-violation" in (one.stable_code, other.stable_code)
    assert not workers()


def test_a_worker_that_is_killed_ends_the_session_on_both_sides():
    def killing(session):
        compare(session)
        os.kill(session.open_lane.__self__.pids[0], signal.SIGKILL)
        compare(session)

    def run(session):
        for _ in range(2):
            compare(session)

    one, other = together(killing, run)
    assert isinstance(one, LaneLost)
    assert isinstance(other, PeerAborted)
    assert "lane-lost" in other.what
    assert not workers()


def test_cancelling_ends_the_lanes():
    started = threading.Event()

    def run(session):
        while True:
            compare(session)
            started.set()

    ended = Ending()
    with listening(SOUTH, public(NORTH), limits=PATIENT) as party:
        party.jobs.tasks[JOB] = replace(task(Role.BOB, run, ended), lanes=2)
        with dialling(NORTH, public(SOUTH), party.server.address, PATIENT) as directory:

            def cancel():
                started.wait(30)
                directory.cancel_session(JOB)

            threading.Thread(target=cancel, daemon=True).start()
            with pytest.raises(Cancelled):
                directory.run_session("south", replace(task(Role.ALICE, run), lanes=2))
            assert isinstance(ended.wait(30), PeerError)
    assert not workers()

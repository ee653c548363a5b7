"""What is said of a session that has no connection, and how it ends: cancelled, or with its daemon."""

from __future__ import annotations

import threading
import time
from dataclasses import replace

import pytest

from smc.channel.vectors import ExpectedByteRows
from smc.errors import Cancelled, DuettoError, PeerLost
from smc.forms import Role
from tests.parties.rpc.harness import JOB, NORTH, SOUTH, child, dialling, public, task
from tests.parties.rpc.parcel import SIZE, Parcel, parcel
from tests.parties.session.cut_sessions import MIDDLE, PATIENT, Run, cutting


def in_outage(run: Run, directory, south, act):
    """Call `act` when both sides have noticed the cut; returns how long that has been for either."""
    shown = []

    def watch():
        until = time.monotonic() + 10
        while time.monotonic() < until and len(shown) < 2:
            shown[:] = [o for o in (directory.outage(JOB), south.runner.outage(JOB)) if o is not None]
            time.sleep(0.01)
        act()

    thread = threading.Thread(target=watch, daemon=True)
    thread.start()
    return shown


def test_both_sides_say_how_long_the_connection_is_lost(usual):
    run = Run(PATIENT)
    with run.between({"north": (MIDDLE, cutting(1))}) as (_, south, directory):
        shown = in_outage(run, directory, south, lambda: None)
        assert directory.outage(JOB) is None
        assert run.go(south, directory) is None
        assert run.ended["south"].wait() is None
        assert directory.outage(JOB) is None
    assert run.traffic == usual
    assert [outage.limit for outage in shown] == [20, 20]
    assert all(0 <= outage.seconds < 10 for outage in shown)


@pytest.mark.parametrize("side", ["north", "south"])
def test_a_session_is_cancelled_at_once_also_without_a_connection(side):
    limits = replace(PATIENT, reconnect_seconds=2)
    run = Run(limits)
    with run.between({"north": (MIDDLE, cutting(30))}) as (_, south, directory):
        cancel = directory.cancel_session if side == "north" else south.runner.cancel
        in_outage(run, directory, south, lambda: cancel(JOB))
        started = time.monotonic()
        error = run.go(south, directory)
        errors = {"north": error, "south": run.ended["south"].wait()}
        other = "south" if side == "north" else "north"
        assert isinstance(errors[side], Cancelled)
        assert isinstance(errors[other], PeerLost)
        assert time.monotonic() - started < 15


def test_a_daemon_that_was_killed_holds_no_session():
    def until_it_dies(session) -> None:
        session.channel.send(parcel(bytes(SIZE)))
        session.channel.recv(Parcel, ExpectedByteRows(1, SIZE))

    with child("die") as (process, address), dialling(NORTH, public(SOUTH), address, PATIENT) as directory:
        caught = []

        def go():
            try:
                directory.run_session("south", task(Role.ALICE, until_it_dies))
            except DuettoError as error:
                caught.append(error)

        thread = threading.Thread(target=go, daemon=True)
        thread.start()
        process.wait(10)
        with child("echo", at=address.port):
            thread.join(15)
    (error,) = caught
    assert isinstance(error, PeerLost)
    assert "does not hold the session any more" in error.what

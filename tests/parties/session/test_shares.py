"""Nobody takes the last place of another: shares of sessions, silent streams, floods of calls, strangers."""

from __future__ import annotations

import socket
import threading
import time
from contextlib import ExitStack, closing, suppress
from types import SimpleNamespace

import grpc
import pytest
from hypothesis import given
from hypothesis import strategies as st

from parties.errors import PeerBusy
from parties.rpc import tls
from parties.rpc.pb.duetto.v1 import peer_pb2 as pb
from parties.session.shares import Shares
from smc.channel.vectors import ExpectedByteRows
from smc.forms import Role
from tests.parties.rpc.harness import (
    JOB,
    NORTH,
    SOUTH,
    Ending,
    Limits,
    dialling,
    identity,
    listening,
    public,
    task,
)
from tests.parties.rpc.parcel import SIZE, Parcel, parcel

WEST = identity("west", Role.ALICE)
DATA = bytes(range(SIZE))


def swap(session) -> None:
    session.channel.send(parcel(DATA))
    assert session.channel.recv(Parcel, ExpectedByteRows(1, SIZE)).tobytes() == DATA


def taken(shares, stack, peer, most=99):
    """Places that a peer gets when it takes all it can."""
    for number in range(most):
        try:
            stack.enter_context(shares.place(peer))
        except PeerBusy:
            return number
    return most


@given(st.integers(1, 12), st.integers(1, 6))
def test_a_peer_that_takes_all_it_can_leaves_one_place_to_each_other(places, count):
    names = [f"p{number}" for number in range(count)]
    shares = Shares(places, names)
    with ExitStack() as stack:
        assert taken(shares, stack, names[0]) == max(1, places - (count - 1))
        for name in names[1 : min(places, count)]:
            assert taken(shares, stack, name, 1) == 1
        with pytest.raises(PeerBusy):
            stack.enter_context(shares.place(names[0]))
        assert not shares.drain(0)
    assert shares.drain(0)
    shares.close()
    with pytest.raises(PeerBusy, match="stopped"), shares.place(names[0]):
        pass


def test_silent_streams_of_one_peer_take_nothing_from_another():
    """North opens streams without end and says nothing; the job of west runs, and so does north's."""
    limits = Limits(sessions=2, message_seconds=10, job_seconds=30)
    with ExitStack() as stack:
        south = stack.enter_context(listening(SOUTH, public(NORTH), public(WEST), limits=limits))
        north = stack.enter_context(dialling(NORTH, public(SOUTH), south.server.address))
        west = stack.enter_context(dialling(WEST, public(SOUTH), south.server.address))
        client = north.client("south")
        client.hello()
        silent = threading.Event()
        stack.callback(silent.set)

        def nothing():
            silent.wait(30)
            return
            yield

        streams = [client._stub.Run(nothing()) for _ in range(40)]
        assert sum(south.runner._shares._taken.values()) == 0
        for directory in (west, west):
            ending = Ending()
            south.jobs.tasks[JOB] = task(Role.BOB, swap, ending)
            directory.run_session("south", task(Role.ALICE, swap))
            assert ending.wait() is None
        with pytest.raises(PeerBusy):
            client.hello()
        # Each silent stream is ended in a few seconds; then there is room for north, too.
        until = time.monotonic() + 20
        while time.monotonic() < until:
            with suppress(PeerBusy):
                client.hello()
                break
            time.sleep(0.2)
        ending = Ending()
        south.jobs.tasks[JOB] = task(Role.BOB, swap, ending)
        north.run_session("south", task(Role.ALICE, swap))
        assert ending.wait() is None
        assert len(streams) == 40


def test_a_stream_without_an_approved_job_takes_no_place():
    with (
        listening(SOUTH, public(NORTH), public(WEST)) as south,
        dialling(NORTH, public(SOUTH), south.server.address) as directory,
    ):
        places = []
        accept = south.jobs.accept_session

        def look(peer, header):
            places.append(sum(south.runner._shares._taken.values()))
            return accept(peer, header)

        south.jobs.accept_session = look
        with pytest.raises(Exception, match="no-job"):
            directory.run_session("south", task(Role.ALICE, swap, job_id="no-such-job"))
        assert places == [0]


def test_strangers_do_not_hold_connections_for_long(monkeypatch):
    monkeypatch.setattr(tls, "HANDSHAKE_MS", 1000)
    with listening(SOUTH, public(NORTH)) as south, ExitStack() as stack:
        host, port = south.server.address.host, south.server.address.port
        idle = [stack.enter_context(closing(socket.create_connection((host, port)))) for _ in range(20)]
        for connection in idle:
            connection.settimeout(150)  # that it is closed is the event; a busy machine is later
            with suppress(ConnectionResetError):
                assert connection.recv(1) == b""


def test_a_peer_has_so_many_calls_at_once_and_no_more():
    """Calls that hang in the jobs hold the room of their peer only."""
    with ExitStack() as stack:
        south = stack.enter_context(listening(SOUTH, public(NORTH), public(WEST)))
        north = stack.enter_context(dialling(NORTH, public(SOUTH), south.server.address))
        west = stack.enter_context(dialling(WEST, public(SOUTH), south.server.address))
        release = threading.Event()
        stack.callback(release.set)
        south.jobs.answer = lambda peer, body: (peer == "north" and release.wait(30), body)[1]
        client = north.client("south")
        client.hello()
        calls = [client._stub.Propose.future(pb.JobMessage(body=b"x")) for _ in range(60)]
        assert west.propose("south", b"y") == b"y"
        refused = [call for call in calls if call.done() or _is_refused(call)]
        assert 0 < len(refused) < len(calls)
        release.set()
        assert all(call.result().body == b"x" for call in calls if call not in refused)


def _is_refused(call) -> bool:
    try:
        call.exception(timeout=0.2)
    except grpc.FutureTimeoutError:
        return False
    return True


def test_the_seat_is_for_idle_time_only(monkeypatch):
    now = [0.0]
    monkeypatch.setattr("parties.session.shares.time", SimpleNamespace(monotonic=lambda: now[0]))
    shares, left = Shares(1, ["north"], quiet_seconds=5), []
    with pytest.raises(PeerBusy, match="not idle"), shares.seat(lambda: None):
        pass
    now[0] += 5
    with shares.seat(lambda: left.append(1)):
        assert shares.is_quiet
        with pytest.raises(PeerBusy, match="not idle"), shares.seat(lambda: None):
            pass
        with shares.place("north"):
            assert left == [1]
            assert not shares.is_quiet
        assert not shares.drain(0)
    assert shares.drain(0)
    with pytest.raises(PeerBusy, match="not idle"), shares.seat(lambda: None):
        pass
    now[0] += 5
    with shares.seat(lambda: left.append(2)):
        shares.close()
        assert left == [1, 2]
    with pytest.raises(PeerBusy, match="being stopped"), shares.seat(lambda: None):
        pass

"""Connections while certificates are renewed: who is met with which, and until when."""

from __future__ import annotations

import datetime as dt
import threading
import time
from dataclasses import replace

import grpc
import pytest

from parties.config import Limits
from parties.daemon.daemon import check_dates
from parties.errors import ConfigError, PeerUntrusted
from parties.pki import certificate
from parties.pki.identity import CHANGE
from parties.rpc import tls
from parties.rpc.reach import Stage, reach
from parties.session.pins import Pins
from smc.channel.vectors import ExpectedByteRows
from smc.errors import DuettoError, PeerLost
from smc.forms import Role
from tests.parties.pki.dated import DAY, START, both, certified, ending_in, real_now, renewed
from tests.parties.pki.homes import HERE
from tests.parties.rpc.harness import NORTH, SOUTH, Ending, dialling, listening, public, task
from tests.parties.rpc.parcel import SIZE, Parcel, parcel
from tests.parties.rpc.test_tls_port import Context

PATIENT = Limits(sessions=2, message_seconds=60, job_seconds=600, reconnect_seconds=1)
LASTING = replace(PATIENT, reconnect_seconds=30)


@pytest.mark.parametrize("left", [100 * DAY, dt.timedelta(minutes=30)], ids=["before", "in the last hour"])
def test_both_sides_meet_before_and_after_the_change(left):
    """Over real TLS, with every combination of who has renewed; the peer knows both certificates."""
    north, south = renewed(ending_in(NORTH, left)), renewed(ending_in(SOUTH, left))
    with (
        listening(south, both(north)) as party,
        dialling(north, both(south), party.server.address) as directory,
    ):
        assert directory.client("south").hello().version
        shown = north.in_use(real_now())
        assert (shown.certificate == north.certificate) is (left > CHANGE)
        assert reach(party.server.address, both(south), shown).stage is Stage.OPEN


def test_a_peer_that_has_not_accepted_goes_on_until_the_change_only():
    north = renewed(ending_in(NORTH, 100 * DAY))
    with (
        listening(SOUTH, public(north)) as party,
        dialling(north, public(SOUTH), party.server.address) as directory,
    ):
        assert directory.client("south").hello().version
    north = renewed(ending_in(NORTH, dt.timedelta(minutes=30)))
    with (
        listening(SOUTH, public(north)) as party,
        dialling(north, public(SOUTH), party.server.address) as directory,
        pytest.raises(PeerUntrusted),
    ):
        directory.client("south").hello()


def test_a_running_server_and_a_running_dialler_take_up_a_renewal():
    late = ending_in(SOUTH, dt.timedelta(minutes=30))
    with (
        listening(late, public(NORTH)) as party,
        dialling(NORTH, both(renewed(late)), party.server.address) as directory,
    ):
        assert directory.client("south").hello().version
        new = renewed(late)
        party.server.set_identity(new)
        with dialling(
            NORTH, replace(public(SOUTH), certificates=new.renewed[0]), party.server.address
        ) as fresh:
            assert fresh.client("south").hello().version
        early = directory.client("south")
        directory.set_identity(renewed(ending_in(NORTH, 50 * DAY)))
        assert directory._clients["south"] is not early


def test_calls_on_open_connections_are_refused_past_the_date():
    clock = [START]
    pem = certificate.make("north", START)[0]
    pins = Pins({"north": replace(public(NORTH), certificates=pem)}, 1, clock=lambda: clock[0])
    assert pins.name(Context(pem)) == "north"
    assert pins.seconds_left(Context(pem)) == certificate.DAYS * 86400
    clock[0] = START + certificate.DAYS * DAY
    with pytest.raises(RuntimeError, match="refused"):
        pins.name(Context(pem))


@pytest.mark.attack
def test_a_session_ends_when_the_certificate_of_its_connection_does():
    """The certificate has 4 seconds and none follows; nothing else ends the wait before a minute is over."""
    brief = ending_in(NORTH, dt.timedelta(seconds=4))
    ending, going_on = Ending(), threading.Event()

    def wait(session):
        going_on.set()
        session.channel.recv(Parcel, ExpectedByteRows(1, SIZE))

    with (
        listening(SOUTH, public(brief), limits=PATIENT) as party,
        dialling(brief, public(SOUTH), party.server.address, limits=PATIENT) as directory,
    ):
        party.jobs.tasks["0123456789abcdef"] = task(Role.BOB, wait, ending)
        with pytest.raises((PeerLost, PeerUntrusted)):
            directory.run_session("south", task(Role.ALICE, wait))
        assert going_on.is_set()
        assert ending.wait() is not None


@pytest.mark.attack
def test_a_session_goes_on_with_the_renewed_certificate_where_one_follows():
    """The connection is closed when its certificate ends; the session goes on over another one."""
    brief = ending_in(NORTH, dt.timedelta(seconds=4))
    following, got, ending = renewed(brief), [], Ending()

    def receive(session):
        got.append(session.channel.recv(Parcel, ExpectedByteRows(1, SIZE)).tobytes())

    with (
        listening(SOUTH, both(following), limits=LASTING) as party,
        dialling(brief, public(SOUTH), party.server.address, limits=LASTING) as directory,
    ):

        def send(session):
            directory.set_identity(following)
            time.sleep(5)
            session.channel.send(parcel(bytes(range(SIZE))))

        party.jobs.tasks["0123456789abcdef"] = task(Role.BOB, receive, ending)
        directory.run_session("south", task(Role.ALICE, send))
        assert ending.wait() is None
    assert got == [bytes(range(SIZE))]


def waiting_session(going_on):
    def wait(session):
        going_on.release()
        session.channel.recv(Parcel, ExpectedByteRows(1, SIZE))

    return wait


@pytest.mark.attack
@pytest.mark.parametrize("gives_up", ["the dialler", "the listener", "the peer of the listener"])
def test_a_certificate_that_is_given_up_cuts_the_connections_that_rest_on_it(gives_up):
    """After `keys renew --at-once`, and after a peer's certificate has lost its pin, nothing goes on."""
    ending, going_on, failed = Ending(), threading.Semaphore(0), []
    wait = waiting_session(going_on)
    with (
        listening(SOUTH, public(NORTH), limits=PATIENT) as party,
        dialling(NORTH, public(SOUTH), party.server.address, limits=PATIENT) as directory,
    ):
        party.jobs.tasks["0123456789abcdef"] = task(Role.BOB, wait, ending)

        def run():
            try:
                directory.run_session("south", task(Role.ALICE, wait))
            except DuettoError as error:
                failed.append(error)

        session = threading.Thread(target=run)
        session.start()
        assert going_on.acquire(timeout=30)
        assert going_on.acquire(timeout=30)
        if gives_up == "the dialler":
            directory.set_identity(certified(NORTH, real_now()))
        elif gives_up == "the listener":
            party.server.set_identity(certified(SOUTH, real_now()))
        else:
            party.server.set_peers({"north": public(certified(NORTH, real_now()))})
        session.join(30)
        assert not session.is_alive()
        assert isinstance(failed[0], PeerLost | PeerUntrusted)
        assert ending.wait() is not None
        with pytest.raises(PeerUntrusted):
            directory.client("south").hello()


def test_a_session_goes_on_while_another_certificate_is_let_in():
    """The server has a successor; what is under way does not notice."""
    got, ending, going_on, sent = [], Ending(), threading.Event(), threading.Event()

    def receive(session):
        going_on.set()
        got.append(session.channel.recv(Parcel, ExpectedByteRows(1, SIZE)).tobytes())

    def send(session):
        assert sent.wait(30)
        session.channel.send(parcel(bytes(range(SIZE))))

    with (
        listening(SOUTH, public(NORTH), limits=PATIENT) as party,
        dialling(NORTH, public(SOUTH), party.server.address, limits=PATIENT) as directory,
    ):
        party.jobs.tasks["0123456789abcdef"] = task(Role.BOB, receive, ending)
        session = threading.Thread(target=directory.run_session, args=("south", task(Role.ALICE, send)))
        session.start()
        assert going_on.wait(30)
        for known in (both(renewed(NORTH)), public(NORTH)):
            party.server.set_peers({"north": known})
        assert directory.client("south").hello().version
        sent.set()
        session.join(30)
        assert ending.wait() is None
    assert got == [bytes(range(SIZE))]


def test_connections_are_left_before_and_closed_at_the_end_of_a_certificate():
    clock = [START + 100 * DAY]
    pem = certificate.make("south", START)[0]
    following = certificate.make("south", START + 300 * DAY)[0]
    known = replace(public(SOUTH), certificates=pem + following)
    with dialling(NORTH, known, HERE) as directory:
        directory._clock = lambda: clock[0]
        directory.set_identity(certified(NORTH, START + 90 * DAY))
        first = directory.client("south")
        assert directory.client("south") is first
        closed = []
        first.close = lambda: closed.append(first)
        clock[0] = certificate.ends(pem) - CHANGE
        second = directory.client("south")
        assert second is not first
        assert not closed
        assert directory.client("south") is second
        clock[0] = certificate.ends(pem)
        directory.follow_dates()
        assert closed == [first]


def test_the_server_shows_what_is_in_use():
    """Seen from outside, by the handshake alone."""
    late = renewed(ending_in(SOUTH, dt.timedelta(minutes=30)))
    with listening(late, public(NORTH)) as party:
        only_old = replace(public(SOUTH), certificates=late.certificate)
        assert reach(party.server.address, only_old, NORTH).stage is Stage.PIN
        assert reach(party.server.address, both(late), NORTH).stage is Stage.OPEN
        with tls.dial(NORTH, both(late), party.server.address, party.config.keepalive) as channel:
            grpc.channel_ready_future(channel).result(timeout=10)


def test_a_clock_before_the_certificate_is_named_as_the_cause():
    early = ending_in(SOUTH, (certificate.DAYS + 2) * DAY)
    with listening(early, public(NORTH)) as party:
        found = reach(party.server.address, public(early), NORTH)
    assert found.stage is Stage.DATE
    assert "by this machine's clock it is" in found.what
    assert "Set the clock of this machine" in found.hint
    with pytest.raises(ConfigError, match="by the clock of this machine") as caught:
        check_dates(early)
    assert "Set the clock" in caught.value.hint

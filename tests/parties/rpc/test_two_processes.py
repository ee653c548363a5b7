"""The failure list between two real processes: each ends with one clear error, and the next job runs."""

from __future__ import annotations

import logging
import threading
import time

import pytest

from commons.exits import BAD_DATA, RETRY, UNAVAILABLE
from parties.config import Address, Keepalive
from parties.errors import PeerBusy, PeerRefused, PeerUnreachable, PeerUntrusted, VersionMismatch
from parties.exits import exit_code
from parties.pki import certificate
from parties.rpc.reach import Stage, reach
from smc.channel.message import FRAME_BYTES, Frame
from smc.channel.vectors import ExpectedByteRows
from smc.errors import DuettoError, PeerAborted, PeerLost, ProtocolViolation
from smc.forms import Role
from tests.parties.rpc import harness
from tests.parties.rpc.harness import NORTH, SOUTH, child, dialling, public
from tests.parties.rpc.parcel import SIZE, Parcel, parcel

DATA = bytes(range(SIZE))


def exchange(session) -> None:
    session.channel.send(parcel(DATA))
    assert session.channel.recv(Parcel, ExpectedByteRows(1, SIZE)).tobytes() == DATA


def run(address, run=exchange, ended=None, job=harness.JOB, **settings) -> None:
    """A session; begun again while the peer has not noticed the end of the last one of that job."""
    with dialling(NORTH, public(SOUTH), address, **settings) as directory:
        until = time.monotonic() + 20
        while True:
            try:
                return directory.run_session("south", harness.task(Role.ALICE, run, ended, job_id=job))
            except (PeerAborted, PeerRefused) as refusal:
                if "job-running" not in str(refusal) or time.monotonic() > until:
                    raise
            time.sleep(0.1)


@pytest.fixture(scope="module")
def south():
    """The address of a process that outlives whatever its sessions come to."""
    with child("echo") as (_, address):
        yield address


def test_a_session_runs_and_the_next_one_too(south):
    ended = harness.Ending()
    with dialling(NORTH, public(SOUTH), south) as directory:
        for _ in range(3):
            directory.run_session("south", harness.task(Role.ALICE, exchange, ended))
        assert ended.wait() is None
        assert directory.propose("south", b"x") == b"north:x"


BAD_FRAMES = {
    "too-large": "more than is allowed",
    "too-short": "were expected",
    "wrong-type": "another kind",
    "out-of-order": "was expected, but frame 1 came",
    "no-kind": "not the name of a message",
    "impossible-depth": "order of messages",
    "over-grpc-limit": "longer than the limit",
}


@pytest.mark.parametrize("behaviour", BAD_FRAMES)
def test_bad_frames_end_the_session(south, behaviour):
    for _ in range(2):
        with pytest.raises(ProtocolViolation, match=BAD_FRAMES[behaviour]) as caught:
            run(south, job=behaviour)
        assert exit_code(caught.value) == UNAVAILABLE


SENT_FRAMES = {
    "too large": Frame(0, Parcel.kind(), 1, SIZE, bytes(SIZE + 1)),
    "too short": Frame(0, Parcel.kind(), 1, SIZE - 1, bytes(SIZE - 1)),
    "wrong type": Frame(0, "other-kind", 1, SIZE, bytes(SIZE)),
    "out of order": Frame(7, Parcel.kind(), 1, SIZE, bytes(SIZE)),
}


@pytest.mark.parametrize("name", SENT_FRAMES)
def test_the_sender_of_a_bad_frame_is_told_a_code_only(south, name):
    def misbehave(session):
        session.channel._transport.send(SENT_FRAMES[name])
        session.channel.recv(Parcel, ExpectedByteRows(1, SIZE))

    # As an abort, or as a refusal where it came before the other side was done with the handshake.
    with pytest.raises((PeerAborted, PeerRefused), match="'protocol-violation'") as caught:
        run(south, misbehave)
    assert str(SIZE) not in str(caught.value)
    run(south)


def test_a_message_over_the_grpc_limit_breaks_the_stream(south):
    def flood(session):
        session.channel._transport.send(Frame(0, Parcel.kind(), 1, SIZE, bytes(3 * FRAME_BYTES)))
        session.channel.recv(Parcel, ExpectedByteRows(1, SIZE))

    with pytest.raises(DuettoError):
        run(south, flood)
    run(south)


def test_a_killed_peer_is_noticed_at_once():
    def until_it_dies(session):
        session.channel.send(parcel(DATA))
        session.channel.recv(Parcel, ExpectedByteRows(1, SIZE))

    with child("die") as (process, address):
        with pytest.raises(PeerLost, match="broke") as lost:
            run(address, until_it_dies)
        assert "`duetto doctor --peer south`" in lost.value.hint
        process.wait(10)
        with pytest.raises(PeerUnreachable, match="Nothing answers"):
            run(address)


def test_a_frozen_peer_is_noticed_by_keepalive():
    keepalive = Keepalive(seconds=2, timeout_seconds=1)
    long = harness.Limits(sessions=1, message_seconds=60, job_seconds=60, reconnect_seconds=0)
    with child("stall") as (_, address), pytest.raises(PeerLost, match="fallen silent"):
        run(address, keepalive=keepalive, limits=long)


def test_a_stream_that_ends_without_end(south):
    with pytest.raises(PeerLost, match="before the session was over"):
        run(south, job="cut")


def test_a_defect_of_the_peer_shows_its_code_only(south):
    with pytest.raises(PeerAborted, match="'internal'") as caught:
        run(south, job="defect")
    assert "canary" not in str(caught.value)


def test_nobody_there():
    with child("echo") as (process, address):
        process.kill()
        process.wait(10)
        with pytest.raises(PeerUnreachable, match="Nothing answers") as caught:
            run(address)
        assert exit_code(caught.value) == UNAVAILABLE
        assert caught.value.hint


def test_no_such_name():
    with pytest.raises(PeerUnreachable, match="has no address"):
        run(Address("no-such-host.invalid", 7443))


def test_a_peer_with_another_certificate():
    pem, tls_key = certificate.make("south")
    with (
        child("echo", certificate=pem.decode(), tls_key=tls_key.decode()) as (_, address),
        pytest.raises(PeerUntrusted, match="does not have the certificate that was paired"),
    ):
        run(address)


def test_a_peer_that_knows_another_certificate():
    pem, _ = certificate.make("north")
    with (
        child("echo", north=pem.decode()) as (_, address),
        pytest.raises(PeerUntrusted, match="does not know this party's certificate"),
    ):
        run(address)


def test_a_peer_that_was_away_and_is_back_is_not_called_untrusted():
    """After failed attempts gRPC fails calls untried until its back-off is over; that is not distrust."""
    with child("echo") as (process, address), dialling(NORTH, public(SOUTH), address) as directory:
        process.kill()
        process.wait(10)
        for _ in range(6):
            with pytest.raises(PeerUnreachable, match="Nothing answers"):
                directory.client("south").hello()
        with child("echo", at=address.port):
            # A call that gRPC fails without trying, while the peer is there again.
            directory.run_session("south", harness.task(Role.ALICE, exchange))


def test_a_connection_that_is_cut_once_is_not_called_distrust(monkeypatch):
    with harness.listening(SOUTH, public(NORTH)) as south:
        answers = iter([False, True])
        monkeypatch.setattr("parties.rpc.tls.is_trusted", lambda *_: next(answers))
        assert reach(south.server.address, public(SOUTH), NORTH).stage is Stage.OPEN


def test_a_connection_that_breaks_is_unreachable_and_not_untrusted(monkeypatch):
    def broken(*_):
        raise ConnectionResetError

    with harness.listening(SOUTH, public(NORTH)) as south:
        monkeypatch.setattr("parties.rpc.tls.is_trusted", broken)
        found = reach(south.server.address, public(SOUTH), NORTH)
    assert isinstance(found.error(), PeerUnreachable)
    assert found.hint


def test_another_version():
    with child("echo", versions=(5, 6)) as (_, address):
        with pytest.raises(VersionMismatch, match="4 to 4, the peer 5 to 6") as caught:
            run(address)
        assert "same release" in caught.value.hint


def test_a_listener_refuses_another_version_itself():
    terms = harness.Terms(oldest=5, newest=6)
    with child("echo") as (_, address), dialling(NORTH, public(SOUTH), address, terms=terms) as directory:
        connect = directory.client("south").open
        with pytest.raises(VersionMismatch):
            directory._runner.dial("south", harness.task(Role.ALICE, exchange), connect)


def test_refusals_carry_codes(south):
    with dialling(NORTH, public(SOUTH), south) as directory:
        other = harness.task(Role.ALICE, exchange, job_id="ffff")
        with pytest.raises(PeerRefused, match="'no-job'") as caught:
            directory.run_session("south", other)
        assert caught.value.stable_code == "no-job"
        with pytest.raises(PeerRefused, match="'job-differs'"):
            directory.run_session("south", harness.task(Role.BOB, exchange))
        with pytest.raises(PeerRefused, match="'job-differs'"):
            directory.run_session("south", harness.task(Role.ALICE, exchange, job_digest=bytes(32)))
    assert exit_code(PeerRefused("x", code="policy")) != BAD_DATA


def test_busy_is_told_as_such(caplog):
    caplog.set_level(logging.ERROR)
    release, inside = threading.Event(), threading.Event()

    def wait(session):
        inside.set()
        release.wait(20)
        exchange(session)

    one = harness.Limits(sessions=1, message_seconds=20, job_seconds=30)
    with harness.listening(SOUTH, public(NORTH), limits=one) as south:
        for job in (harness.JOB, "other"):
            south.jobs.tasks[job] = harness.task(Role.BOB, exchange, job_id=job)
        with dialling(NORTH, public(SOUTH), south.server.address) as directory:
            thread = threading.Thread(
                target=lambda: directory.run_session("south", harness.task(Role.ALICE, wait)), daemon=True
            )
            thread.start()
            assert inside.wait(10)
            with pytest.raises(PeerBusy) as caught:
                directory.run_session("south", harness.task(Role.ALICE, exchange, job_id="other"))
            assert exit_code(caught.value) == RETRY
            release.set()
            thread.join(20)
            assert not thread.is_alive()


@pytest.mark.parametrize("behaviour", ["dial-die", "dial-stall"])
def test_the_listener_notices_the_loss_of_the_dialler(behaviour):
    keepalive = Keepalive(seconds=2, timeout_seconds=1)
    long = harness.Limits(sessions=1, message_seconds=60, job_seconds=60, reconnect_seconds=0)

    def answer(session):
        got = session.channel.recv(Parcel, ExpectedByteRows(1, SIZE))
        session.channel.send(parcel(got.tobytes()))
        session.channel.recv(Parcel, ExpectedByteRows(1, SIZE))

    with harness.listening(NORTH, public(SOUTH), keepalive=keepalive, limits=long) as north:
        ended = harness.Ending()
        north.jobs.tasks[harness.JOB] = harness.task(Role.ALICE, answer, ended)
        with child(behaviour, port=north.server.address.port):
            error = ended.wait(30)
    assert isinstance(error, PeerLost)
    assert "connection to south broke" in error.what or "before the session was over" in error.what

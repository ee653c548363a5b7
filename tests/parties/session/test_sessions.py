"""Sessions of two parties in one process over mutual TLS: agreement, cancelling, deadlines, stop."""

from __future__ import annotations

import threading
from dataclasses import replace

import pytest

from parties.errors import JobError, PairingError, PeerBusy, PeerRefused, VersionMismatch
from parties.ports.terms import Terms, digest
from parties.rpc.emulation import EmulatedTransport
from parties.rpc.pb.duetto.v1 import peer_pb2 as pb
from smc.channel.vectors import ExpectedByteRows
from smc.errors import Cancelled, DuettoError, OutOfMemory, PeerAborted, PeerLost, ProtocolViolation
from smc.forms import Role
from smc.numeric.random import Randomness
from tests.parties.rpc.harness import (
    DIGEST,
    JOB,
    NORTH,
    SOUTH,
    Ending,
    Limits,
    dialling,
    listening,
    public,
    task,
)
from tests.parties.rpc.parcel import SIZE, Parcel, parcel
from tests.support import keys

DATA = bytes(range(SIZE))


@pytest.fixture
def south():
    with listening(SOUTH, public(NORTH)) as party:
        yield party


@pytest.fixture
def directory(south):
    with dialling(NORTH, public(SOUTH), south.server.address) as made:
        yield made


def swap(session) -> None:
    session.channel.send(parcel(DATA))
    assert session.channel.recv(Parcel, ExpectedByteRows(1, SIZE)).tobytes() == DATA


def wait_for_peer(session) -> None:
    session.channel.recv(Parcel, ExpectedByteRows(1, SIZE))


def serve(south, run, **changes) -> Ending:
    ending = Ending()
    south.jobs.tasks[JOB] = task(Role.BOB, run, ending, **changes)
    return ending


def test_both_ends_get_their_session(south, directory):
    seen = []

    def look(session) -> None:
        seen.append((session.role, session.own_key.public, session.peer_key))
        swap(session)

    ours, theirs = Ending(), serve(south, look)
    directory.run_session("south", task(Role.ALICE, look, ours))
    assert theirs.wait() is None
    assert ours.wait() is None
    alice, bob = NORTH.paillier.public, SOUTH.paillier.public
    assert sorted(seen, key=lambda entry: entry[0].value) == [
        (Role.ALICE, alice, bob),
        (Role.BOB, bob, alice),
    ]
    (header,) = south.jobs.headers
    assert (header.job_id, header.job_digest, header.dialler_role) == (JOB, DIGEST, Role.ALICE)
    assert len(header.session_id) == 32
    assert header.dialler_key == alice.fingerprint


def test_session_ids_differ(south, directory):
    for _ in range(2):
        ending = serve(south, swap)
        directory.run_session("south", task(Role.ALICE, swap))
        ending.wait()
    assert len({header.session_id for header in south.jobs.headers}) == 2


def test_over_an_emulated_network():
    def slow(inner):
        return EmulatedTransport(inner, 10, 100)

    with listening(SOUTH, public(NORTH), wrap=slow) as south:
        ending = serve(south, swap)
        with dialling(NORTH, public(SOUTH), south.server.address, wrap=slow) as directory:
            directory.run_session("south", task(Role.ALICE, swap))
            assert ending.wait() is None


@pytest.mark.parametrize("canceller", ["dialler", "listener"])
def test_cancel_from_either_side(south, directory, canceller):
    ours, theirs = Ending(), serve(south, wait_for_peer)
    running = threading.Event()

    def run(session) -> None:
        running.set()
        wait_for_peer(session)

    failures: list[DuettoError] = []

    def session() -> None:
        try:
            directory.run_session("south", task(Role.ALICE, run, ours))
        except DuettoError as error:
            failures.append(error)

    thread = threading.Thread(target=session, daemon=True)
    thread.start()
    assert running.wait(10)
    cancel = directory.cancel_session if canceller == "dialler" else south.runner.cancel
    while not cancel(JOB):
        pass
    thread.join(10)
    one, other = (ours, theirs) if canceller == "dialler" else (theirs, ours)
    assert isinstance(one.wait(), Cancelled)
    end = other.wait()
    assert isinstance(end, PeerAborted)
    assert "'cancelled'" in end.what
    assert len(failures) == 1
    assert not directory.cancel_session(JOB)


def test_the_deadline_of_a_job(south, directory):
    theirs = serve(south, wait_for_peer)
    with pytest.raises(JobError, match=r"longer than 0.3") as caught:
        directory.run_session("south", task(Role.ALICE, wait_for_peer, deadline_seconds=0.3))
    assert caught.value.stable_code == "deadline"
    assert "'deadline'" in theirs.wait().what


def test_a_report_may_end_the_session(south, directory):
    def report(stage, done, of):
        raise Cancelled("No more.")

    def run(session) -> None:
        session.report("stage", 1, 2)

    theirs = serve(south, wait_for_peer)
    with pytest.raises(Cancelled):
        directory.run_session("south", task(Role.ALICE, run, report=report))
    assert "'cancelled'" in theirs.wait().what


def test_stop_tells_the_peer(south, directory):
    theirs = serve(south, wait_for_peer)
    running = threading.Event()

    def run(session) -> None:
        running.set()
        wait_for_peer(session)

    stopper = threading.Thread(target=lambda: (running.wait(10), south.runner.stop()), daemon=True)
    stopper.start()
    with pytest.raises(PeerAborted, match="south ended the session with code 'shutdown'"):
        directory.run_session("south", task(Role.ALICE, run))
    assert theirs.wait().stable_code == "shutdown"
    assert south.runner.drain(5)
    with pytest.raises(PeerBusy):
        directory.run_session("south", task(Role.ALICE, run))


def test_defects_do_not_show_their_text(south, directory, caplog):
    def broken(session) -> None:
        raise ZeroDivisionError("secret-canary")

    theirs = serve(south, broken)
    with pytest.raises(PeerAborted, match="south ended the session with code 'internal'"):
        directory.run_session("south", task(Role.ALICE, wait_for_peer))
    error = theirs.wait()
    assert error.stable_code == "internal"
    assert "ZeroDivisionError" in error.what
    assert "canary" not in caplog.text + str(error)


def test_a_session_that_lacks_memory_says_so(south, directory):
    """Also while own data are read or results kept, outside of the analysis."""

    def exhausted(session) -> None:
        raise MemoryError

    theirs = serve(south, exhausted)
    with pytest.raises(PeerAborted, match="south ended the session with code 'memory'"):
        directory.run_session("south", task(Role.ALICE, wait_for_peer))
    error = theirs.wait()
    assert (type(error), error.stable_code) == (OutOfMemory, "memory")
    assert "duetto job estimate" in error.hint


def test_an_unfinished_peer_is_no_success(south, directory):
    """A side that has done its part learns that the other failed afterwards."""

    def fail_late(session) -> None:
        swap(session)
        raise JobError("Could not store.", code="storage")

    theirs = serve(south, fail_late)
    with pytest.raises(PeerAborted, match="south ended the session with code 'storage'"):
        directory.run_session("south", task(Role.ALICE, swap))
    assert theirs.wait().stable_code == "storage"


def test_room_for_as_many_sessions_as_configured():
    limits = Limits(sessions=2, message_seconds=10, job_seconds=30)
    with (
        listening(SOUTH, public(NORTH), limits=limits) as south,
        dialling(NORTH, public(SOUTH), south.server.address, limits) as directory,
    ):
        together = threading.Barrier(3)
        endings = []

        def run(session) -> None:
            together.wait(10)
            swap(session)

        for number in range(2):
            ending = Ending()
            endings.append(ending)
            south.jobs.tasks[f"job-{number}"] = task(Role.BOB, swap, ending, job_id=f"job-{number}")
        threads = [
            threading.Thread(
                target=lambda number=number: directory.run_session(
                    "south", task(Role.ALICE, run, job_id=f"job-{number}")
                ),
                daemon=True,
            )
            for number in range(2)
        ]
        for thread in threads:
            thread.start()
        while sum(directory._runner._shares._taken.values()) < 2:
            pass
        with pytest.raises(PeerBusy):
            directory.run_session("south", task(Role.ALICE, run))
        together.wait(10)
        for thread, ending in zip(threads, endings, strict=True):
            thread.join(10)
            assert ending.wait() is None


def opening(**changes) -> pb.Opening:
    terms = Terms()
    fields = {
        "oldest_version": terms.oldest,
        "newest_version": terms.newest,
        "parameters": terms.parameters,
        "nonce": bytes(32),
        "job_id": JOB,
        "job_digest": DIGEST,
        "role": "alice",
        "dialler_key": bytes.fromhex(NORTH.paillier.public.fingerprint),
        "listener_key": bytes.fromhex(SOUTH.paillier.public.fingerprint),
    }
    return pb.Opening(**{**fields, **changes})


BAD_OPENINGS = {
    "no opening": (pb.Packet(), "protocol-violation"),
    "frame first": (pb.Packet(frame=pb.Frame(kind="end")), "protocol-violation"),
    "short nonce": (pb.Packet(opening=opening(nonce=bytes(31))), "protocol-violation"),
    "long digest": (pb.Packet(opening=opening(job_digest=bytes(33))), "protocol-violation"),
    "odd job": (pb.Packet(opening=opening(job_id="../../x")), "protocol-violation"),
    "no role": (pb.Packet(opening=opening(role="carol")), "protocol-violation"),
    "short key": (pb.Packet(opening=opening(dialler_key=b"")), "protocol-violation"),
    "later version": (
        pb.Packet(opening=opening(oldest_version=Terms().newest + 1, newest_version=9)),
        "version",
    ),
    "other parameters": (pb.Packet(opening=opening(parameters=bytes(32))), "version"),
    "other own key": (pb.Packet(opening=opening(dialler_key=bytes(32))), "keys"),
    "other listener key": (pb.Packet(opening=opening(listener_key=bytes(32))), "keys"),
    "other job": (pb.Packet(opening=opening(job_id="no-such-job")), "no-job"),
    "other digest": (pb.Packet(opening=opening(job_digest=bytes(32))), "job-differs"),
    "same role": (pb.Packet(opening=opening(role="bob")), "job-differs"),
}


@pytest.mark.parametrize("name", BAD_OPENINGS)
def test_bad_openings_are_refused_with_a_code(south, directory, name):
    packet, code = BAD_OPENINGS[name]
    ran = []
    serve(south, ran.append)
    stream = directory._runner.stream("south")
    directory.client("south").open(stream)
    stream.send(packet)
    answer = stream.receive()
    assert answer.WhichOneof("content") == "refusal"
    assert answer.refusal.code == code
    with pytest.raises(PeerLost):
        stream.receive()
    stream.finish(5)
    assert not ran


def test_a_wrong_confirmation_ends_the_session(south, directory):
    ran = []
    ending = serve(south, ran.append)
    stream = directory._runner.stream("south")
    directory.client("south").open(stream)
    stream.send(pb.Packet(opening=opening()))
    assert stream.receive().WhichOneof("content") == "answer"
    stream.send(pb.Packet(confirm=pb.Confirm(session_id=bytes(32))))
    assert isinstance(ending.wait(), ProtocolViolation)
    stream.finish(5)
    assert not ran


def test_a_dialler_that_vanishes_in_the_handshake(south, directory):
    ending = serve(south, wait_for_peer)
    stream = directory._runner.stream("south")
    directory.client("south").open(stream)
    stream.send(pb.Packet(opening=opening()))
    assert stream.receive().WhichOneof("content") == "answer"
    stream.finish(0)
    assert isinstance(ending.wait(), PeerLost)


def test_keys_that_were_not_paired(south):
    other = replace(public(SOUTH), paillier=keys.paper(Role.BOB).public)
    with dialling(NORTH, other, south.server.address) as directory:
        with pytest.raises(PairingError, match="another Paillier key"):
            directory.run_session("south", task(Role.ALICE, swap))
        with pytest.raises(PeerRefused, match="'keys'"):
            directory._runner.dial("south", task(Role.ALICE, swap), directory.client("south").open)


def test_a_defect_in_accepting_is_refused(south, directory, caplog):
    def break_down(peer, header):
        raise ZeroDivisionError("secret-canary")

    south.jobs.accept_session = break_down
    with pytest.raises(PeerRefused, match="'internal'"):
        directory.run_session("south", task(Role.ALICE, swap))
    assert "canary" not in caplog.text


def test_versions():
    assert Terms(1, 3, b"p").agree(Terms(2, 5, b"p")) == 3
    assert Terms(2, 5, b"p").agree(Terms(1, 3, b"p")) == 3
    for one, other in (
        (Terms(1, 1, b"p"), Terms(2, 2, b"p")),
        (Terms(3, 4, b"p"), Terms(1, 2, b"p")),
        (Terms(1, 1, b"p"), Terms(1, 1, b"q")),
        (Terms(1, 2, b"p"), Terms(2, 1, b"p")),
    ):
        with pytest.raises(VersionMismatch):
            one.agree(other)


def test_the_digest_separates_its_parts():
    assert len({digest(b"ab", b"c"), digest(b"a", b"bc"), digest(b"abc"), digest(b"abc", b"")}) == 4


class Record:
    """Evidence of a run that says what it has to, and counts how often a record begins."""

    commitment, public = bytes(64), bytes(16)

    def __init__(self) -> None:
        self.begun = 0

    def commit(self, commitment: bytes) -> None:
        """Take it."""

    def give(self, public: bytes) -> None:
        """Take it."""

    def took_key(self) -> None:
        """No run here takes one."""

    def randomness(self) -> Randomness:
        return Randomness.of_run(bytes(32))

    def record(self, transport):
        self.begun += 1
        return transport

    def finish(self, channel) -> None:
        channel.finish()


def test_a_second_session_of_a_job_does_not_begin_the_record_of_the_first_anew(south, directory):
    runs, goes_on = threading.Event(), threading.Event()

    def hold(session) -> None:
        runs.set()
        assert goes_on.wait(20)
        swap(session)

    theirs, record = serve(south, hold, evidence=Record()), Record()
    first = threading.Thread(
        target=directory.run_session, args=("south", task(Role.ALICE, swap, evidence=Record()))
    )
    first.start()
    assert runs.wait(20)
    serve(south, swap, evidence=record)
    with (
        dialling(NORTH, public(SOUTH), south.server.address) as again,
        pytest.raises(PeerAborted, match="job-running"),
    ):
        again.run_session("south", task(Role.ALICE, swap, evidence=Record()))
    goes_on.set()
    assert theirs.wait() is None
    first.join()
    assert not record.begun

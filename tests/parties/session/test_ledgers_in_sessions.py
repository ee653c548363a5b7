"""Ledgers in the handshake, over mutual TLS: a party with an old copy of its ledger computes with nobody."""

from __future__ import annotations

import shutil
from contextlib import contextmanager
from fractions import Fraction

import pytest

from parties.errors import PeerRefused
from parties.ledger.accounting import Account, Budget
from parties.ledger.book import open_ledger
from parties.ledger.doubts import Whose
from parties.ledger.entries import LedgerError
from parties.ledger.heads import ledger_doubts, open_heads
from parties.rpc.pb.duetto.v1 import peer_pb2 as pb
from parties.rpc.stream import PacketStream
from smc.analyses.studies.loss import Loss
from smc.errors import ProtocolViolation
from smc.forms import Role
from tests.parties.rpc.harness import JOB, NORTH, SOUTH, Ending, dialling, listening, public, task


@pytest.fixture
def homes(tmp_path):
    for own in (NORTH, SOUTH):
        (tmp_path / own.name).mkdir()
    return tmp_path


def spend(folder, number):
    loss, budget = Loss(Fraction(1, 8)), Budget(Fraction(9))
    return open_ledger(folder).spend(f"{number:064x}", Account.of("d"), "d", "west", loss, budget)


@contextmanager
def both(homes, *, with_ledgers=True):
    heads = [
        open_heads(homes / own.name, own.name, own.signing) if with_ledgers or own is NORTH else None
        for own in (NORTH, SOUTH)
    ]
    with (
        listening(SOUTH, public(NORTH), heads=heads[1]) as south,
        dialling(NORTH, public(SOUTH), south.server.address, heads=heads[0]) as directory,
    ):
        yield south, directory


def session(south, directory, job=JOB):
    """One session: the error that ended it at either side, and which sides began to run."""
    ran, ending = [], Ending()
    south.jobs.tasks[job] = task(Role.BOB, lambda session: ran.append("south"), ending, job_id=job)
    try:
        directory.run_session("south", task(Role.ALICE, lambda session: ran.append("north"), job_id=job))
    except Exception as error:
        return error, ending, ran
    ending.wait()
    return None, ending, ran


def test_whole_ledgers_let_sessions_through_and_are_kept(homes):
    with both(homes) as (south, directory):
        for number in range(2):
            entry = spend(homes / "south", number)
            error, _, ran = session(south, directory)
            assert error is None
            assert sorted(ran) == ["north", "south"]
    seen = open_heads(homes / "north", "north", NORTH.signing).newest_seen("south")
    assert seen == (entry.sequence, entry.hash)


@pytest.mark.parametrize("victim", ["north", "south"])
def test_a_restored_ledger_stops_the_next_session_before_anything_runs(homes, victim, caplog):
    path = homes / victim / "ledger.jsonl"
    with both(homes) as (south, directory):
        spend(homes / victim, 1)
        backup = shutil.copy(path, homes / "backup")
        spend(homes / victim, 2)
        assert session(south, directory)[0] is None
        newest = path.read_bytes()
        shutil.copy(backup, path)
        error, ending, ran = session(south, directory)
        assert ran == []
        if victim == "north":
            assert isinstance(error, LedgerError)
            assert "older than what the peer has seen" in error.what
            heard = ending.wait()
            assert isinstance(heard, PeerRefused)
            assert (heard.stable_code, "entry" in heard.what) == ("ledger", False)
        else:
            assert isinstance(error, PeerRefused)
            assert (error.stable_code, "entry" in error.what) == ("ledger", False)
            assert south.jobs.headers[1:] == []
        assert "older than what the peer has seen: entry 1" in caplog.text
        path.write_bytes(newest)
        assert session(south, directory)[0] is None


@pytest.mark.parametrize("victim", ["north", "south"])
@pytest.mark.parametrize("lost", ["ledger", "ledger and heads"])
def test_both_say_whose_ledger_it_was_until_they_have_met_with_the_newest(homes, victim, lost):
    """Also where the heads went back together with the ledger, so that nothing at home shows it."""

    def doubts(name):
        return [(one.peer, one.whose) for one in ledger_doubts(open_ledger(homes / name))]

    path, heads = homes / victim / "ledger.jsonl", homes / victim / "heads.json"
    other = {"north": "south", "south": "north"}[victim]
    with both(homes) as (south, directory):
        spend(homes / victim, 1)
        spend(homes / other, 1)
        assert session(south, directory)[0] is None
        kept = [path.read_bytes(), heads.read_bytes()]
        spend(homes / victim, 2)
        spend(homes / other, 2)  # so that the victim keeps a new word of the other, which has seen the entry
        for _ in range(2):
            assert session(south, directory)[0] is None
        newest = [path.read_bytes(), heads.read_bytes()]
        path.write_bytes(kept[0])
        if lost == "ledger and heads":
            heads.write_bytes(kept[1])
            assert doubts(victim) == []
        _, ending, _ = session(south, directory)
        if victim == "north":
            ending.wait()
        assert doubts(victim) == [(other, Whose.OWN)]
        assert doubts(other) == [(victim, Whose.PEER)]
        path.write_bytes(newest[0])
        heads.write_bytes(newest[1])
        assert session(south, directory)[0] is None
        assert doubts(victim) == doubts(other) == []


def test_a_dialler_that_goes_on_all_the_same_is_refused(homes, monkeypatch):
    path = homes / "north" / "ledger.jsonl"
    with both(homes) as (south, directory):
        spend(homes / "north", 1)
        assert session(south, directory)[0] is None
        path.unlink()
        monkeypatch.setattr("parties.session.handshake._check_own_ledger", lambda sides, said: None)
        error, ending, ran = session(south, directory)
        assert isinstance(error, PeerRefused), "the dialler gets the code"
        assert error.stable_code == "peer-ledger"
        assert "newer entries of this party's ledger" in error.what
        assert "south" not in ran
        assert ending.wait().stable_code == "peer-ledger"


def test_a_broken_ledger_stops_sessions(homes):
    (homes / "north" / "ledger.jsonl").write_text("broken\n")
    with both(homes) as (south, directory):
        error, _, ran = session(south, directory)
        assert isinstance(error, LedgerError)
        assert ran == []
    (homes / "north" / "ledger.jsonl").unlink()
    (homes / "south" / "ledger.jsonl").write_text("broken\n")
    with both(homes) as (south, directory):
        error, _, ran = session(south, directory)
        assert (error.stable_code, ran) == ("ledger", [])


def test_a_peer_that_says_nothing_of_ledgers_is_refused(homes):
    with both(homes, with_ledgers=False) as (south, directory):
        error, ending, ran = session(south, directory)
        assert isinstance(error, ProtocolViolation)
        assert ending.wait().stable_code == "protocol-violation"
        assert ran == []


def test_what_was_said_of_ledgers_is_part_of_the_session_id(homes, monkeypatch):
    with both(homes) as (south, directory):
        queue = PacketStream._queue

        def spoil(stream, wire):
            packet = pb.Packet.FromString(wire)
            if packet.HasField("answer"):
                packet.answer.ledgers.seen = bytes(39) + b"\1"
            return queue(stream, packet.SerializeToString())

        monkeypatch.setattr(PacketStream, "_queue", spoil)
        error, _, ran = session(south, directory)
        assert isinstance(error, ProtocolViolation)
        assert "disagree on the session" in error.what
        assert ran == []


@pytest.mark.parametrize("late", ["opening", "answer", "confirm"])
@pytest.mark.parametrize("spender", ["north", "south"])
def test_an_entry_shown_by_another_session_while_a_packet_is_on_its_way_is_no_alarm(
    homes, monkeypatch, caplog, late, spender
):
    """The race of simultaneous noisy jobs: a statement made before an entry is read after it."""
    send, endure = PacketStream.send, PacketStream.endure
    errors: list[object] = []
    with both(homes) as (south, directory):
        spend(homes / spender, 1)

        def overtake(packet):
            if isinstance(packet, pb.Packet) and packet.WhichOneof("content") == late and not errors:
                errors.append(None)
                spend(homes / spender, 2)
                errors[:] = [session(south, directory, "other-job")[0]]

        def overtaken(stream, packet, **more):
            overtake(packet)
            return send(stream, packet, **more)

        def overtaken_answer(stream, after=None, redial=None):
            overtake(after)
            return endure(stream, after, redial)

        monkeypatch.setattr(PacketStream, "send", overtaken)
        monkeypatch.setattr(PacketStream, "endure", overtaken_answer)
        error, ending, ran = session(south, directory)
    assert (error, ending.error, errors) == (None, None, [None])
    assert sorted(ran) == ["north", "south"]
    assert "refused" not in caplog.text

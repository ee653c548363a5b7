"""Two managers in one process: from a job file over the decisions of people to results on both sides."""

from __future__ import annotations

import threading
from fractions import Fraction

import pytest

from parties.contracts.state import State
from parties.errors import JobError
from parties.ledger.commit import GATE_BYTES, GATE_ROUNDS
from parties.ledger.entries import DECISIONS
from smc.errors import DomainError
from smc.forms import Role
from tests.parties.jobs.joined import ANN, approve, job_file, result_of, run, spent, wait_final


@pytest.mark.parametrize("sender", ["north", "south"])
def test_a_whole_job_whoever_proposes(pair, sender):
    job_id, north, south = run(pair, sender=sender)
    assert (north.state, south.state) == (State.FINISHED, State.FINISHED)
    assert north.contract.digest == south.contract.digest
    assert (north.own_signature, north.peer_signature) == (south.peer_signature, south.own_signature)
    for manager in (pair.north, pair.south):
        document = result_of(manager, job_id)
        assert document["outcome"]["tables"] == [{"name": "sum", "columns": {"total": [62]}}]
        facts = document["facts"]
        rounds, both_ways = 1 + GATE_ROUNDS, 8 + GATE_BYTES
        assert (facts["rounds"], facts["sent"], facts["received"]) == (rounds, both_ways, both_ways)
        assert (facts["estimate"]["rounds"], facts["rows"]) == (rounds, 2)
        assert facts["leakage"]["public"] == ["the number of rows"]
        begun, signed = (entry for entry in manager.ledger.entries() if entry.event not in DECISIONS)
        assert (begun.event, begun.job, begun.rule) == ("run", north.contract.digest.hex(), "additions")
        assert (signed.event, signed.subject) == ("countersigned", begun.hash)


def test_only_recipients_get_tables(pair):
    text = job_file().replace('["alice", "bob"]', '["bob"]')
    job_id, *_ = run(pair, text)
    assert result_of(pair.north, job_id)["outcome"]["tables"] == []
    assert result_of(pair.south, job_id)["outcome"]["tables"]


def test_a_loss_stands_in_both_ledgers(pair):
    job_id, *_ = run(pair, job_file("1/2"))
    facts = result_of(pair.north, job_id)["facts"]
    assert {name: facts["estimate"][name] for name in ("rounds", "sent", "received")} == {
        name: facts[name] for name in ("rounds", "sent", "received")
    }
    assert spent(pair.north, "south") == Fraction(1, 2)
    assert spent(pair.south, "north") == Fraction(1, 2)
    written = [entry.event for entry in pair.north.ledger.entries() if entry.event not in DECISIONS]
    assert written == ["run", "spent", "countersigned"]


def test_the_same_job_twice_is_two_jobs(pair):
    assert run(pair)[0] != run(pair)[0]


def test_each_person_is_asked_and_can_approve(pair):
    pair.allow("north", approval="person")
    pair.allow("south", approval="person")
    record = pair.north.submit(job_file("1/2"))
    assert record.state is State.WAITING_OWN
    with pytest.raises(JobError):
        pair.south.store.get(record.job_id)
    assert approve(pair.north, record.job_id).state is State.WAITING_PEER
    assert pair.south.store.get(record.job_id).state is State.WAITING_OWN
    with pytest.raises(JobError, match="waits for no decision"):
        approve(pair.north, record.job_id)
    approve(pair.south, record.job_id[:8])
    assert wait_final(pair.north, record.job_id).state is State.FINISHED
    assert wait_final(pair.south, record.job_id).state is State.FINISHED


def test_a_person_at_home_denies(pair):
    pair.allow("north", approval="person")
    record = pair.north.submit(job_file())
    denied = pair.north.deny(record.job_id, ANN, "not now")
    assert denied.state is State.DENIED
    assert "not now" in denied.error_what
    assert pair.network.said == []


def test_a_person_at_the_peer_denies_and_the_reason_stays_there(pair):
    pair.allow("south", approval="person")
    record = pair.north.submit(job_file())
    assert record.state is State.WAITING_PEER
    assert pair.south.deny(record.job_id, ANN, "canary").state is State.DENIED
    found = wait_final(pair.north, record.job_id)
    assert (found.state, found.error_code) == (State.DENIED, "denied")
    assert not any(b"canary" in body for _, body in pair.network.said)


def test_a_decision_that_got_lost_is_asked_for_again(pair):
    pair.allow("south", approval="person")
    record = pair.north.submit(job_file())
    pair.network.down = True
    assert approve(pair.south, record.job_id).state is State.APPROVED
    assert pair.north.store.get(record.job_id).state is State.WAITING_PEER
    pair.network.down = False
    assert wait_final(pair.north, record.job_id).state is State.FINISHED


def test_watching_shows_changes_until_the_end(pair):
    stop = threading.Event()
    pair.analysis["north"].stops = {Role.ALICE: stop}
    record = pair.north.submit(job_file())
    states = []
    for seen in pair.north.watch(record.job_id):
        states.append(seen.state)
        if seen.state is State.RUNNING:
            stop.set()
    assert states[-1] is State.FINISHED
    assert State.RUNNING in states


def test_check_and_estimate_change_nothing(pair):
    report = pair.north.check(job_file("1/2"))
    assert report["verdict"]["allowed"]
    assert (report["role"], report["rows"], report["epsilon"]) == ("alice", 2, "1/2")
    assert report["leakage"]["alice"] == ["the sum"]
    assert report["estimate"]["against"] == "semi-honest"
    assert pair.north.estimate(job_file("1/2"), rows=0, rtt_ms=0, mbit=0)["rounds"] == 3
    report = pair.north.estimate(job_file(), rows=1000, rtt_ms=20.0, mbit=100.0)
    assert report["network_seconds"] == pytest.approx(0.03 + 8 * (8 + GATE_BYTES) / 1e8, abs=1e-6)
    assert report["total_seconds"] == pytest.approx(report["seconds"] + report["network_seconds"], abs=1e-6)
    assert pair.north.store.all() == []
    pair.forbid("north")
    assert not pair.north.check(job_file())["verdict"]["allowed"]


REFUSED_ROWS = {"code": "overflow", "what": "Too many rows.", "hint": "Take others.", "status": 65}


def test_check_and_estimate_tell_what_the_analysis_finds_in_the_own_rows(pair):
    assert pair.north.check(job_file())["preview"] == {
        "notes": ["seen"],
        "details": {"rows": 2},
        "refusal": None,
    }
    assert pair.north.estimate(job_file(), rows=0, rtt_ms=0, mbit=0)["preview"]["details"] == {"rows": 2}
    assert pair.north.estimate(job_file(), rows=1000, rtt_ms=0, mbit=0)["preview"] is None
    pair.analysis["north"].refusal = DomainError("Too many rows.", "Take others.", code="overflow")
    report = pair.north.check(job_file())
    assert report["preview"]["refusal"] == REFUSED_ROWS
    assert report["verdict"]["allowed"]
    assert pair.north.estimate(job_file(), rows=0, rtt_ms=0, mbit=0)["preview"]["refusal"] == REFUSED_ROWS


def test_no_value_or_key_in_messages_between_the_parties(pair):
    canary = "777777777777"
    catalog = pair.folder / "south" / "catalog.toml"
    catalog.write_text(catalog.read_text().replace("1000", "1000000000000"))
    (pair.folder / "south" / "numbers.csv").write_text(f"value\n{canary}\n")
    assert run(pair)[1].state is State.FINISHED
    (pair.folder / "south" / "numbers.csv").write_text(f"value\n{canary}0\n")
    job_id = pair.north.submit(job_file()).job_id
    assert wait_final(pair.south, job_id).error_code == "data"
    said = b"".join(body for _, body in pair.network.said)
    assert canary.encode() not in said
    assert str(int(pair._identities["south"].paillier.p)).encode() not in said

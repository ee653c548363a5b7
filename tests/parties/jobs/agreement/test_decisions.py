"""Who decided on a job, and what that person was shown, stands in the ledger before anything is signed."""

from __future__ import annotations

import os
import shutil

import pytest

from parties.contracts.state import State
from parties.errors import JobError
from parties.jobs.agreement.decisions import Person, own_person
from parties.ledger.entries import DECISIONS, LedgerError
from smc.errors import UsageError
from tests.parties.jobs.joined import ANN, approve, job_file, wait_final, wait_state


def decisions(manager, job_id):
    """Event, actor, uid, rule and digest of what was decided here about any contract of a job."""
    contract = manager.store.get(job_id).contract
    digests = {contract.draft.digest.hex(): "draft", contract.digest.hex(): "contract"}
    return [
        (entry.event, entry.actor, entry.uid, entry.rule, digests[entry.job])
        for entry in manager.ledger.entries()
        if entry.event in DECISIONS
    ]


def test_a_rule_that_approves_is_named_on_both_sides(pair):
    job_id = pair.north.submit(job_file()).job_id
    assert wait_final(pair.north, job_id).state is State.FINISHED
    assert decisions(pair.north, job_id) == [
        ("approved", "", -1, "additions", "draft"),
        ("approved", "", -1, "additions", "contract"),
    ]
    assert decisions(pair.south, job_id) == [("approved", "", -1, "additions", "contract")]


def test_the_person_who_approves_is_named_with_what_was_shown(pair):
    for name in ("north", "south"):
        pair.allow(name, approval="person")
    job_id = pair.north.submit(job_file("1/2")).job_id
    assert decisions(pair.north, job_id) == []
    pair.north.approve(job_id, ANN, pair.north.store.digest(job_id).hex())
    wait_state(pair.south, job_id, State.WAITING_OWN)
    pair.south.approve(job_id, Person("Bea O'Neill (DPO)", 77), pair.south.store.digest(job_id).hex())
    assert wait_final(pair.north, job_id).state is State.FINISHED
    assert decisions(pair.north, job_id) == [
        ("approved", "Ann", 1000, "", "draft"),
        ("approved", "Ann", 1000, "", "contract"),
    ]
    assert decisions(pair.south, job_id) == [("approved", "Bea O'Neill (DPO)", 77, "", "contract")]
    first, second = (entry for entry in pair.north.ledger.entries() if entry.event == "approved")
    assert second.subject == first.hash
    # What was decided stands before what was done.
    events = [entry.event for entry in pair.south.ledger.of_job(pair.south.store.get(job_id).digest)]
    assert events == ["approved", "run", "spent", "countersigned"]


def test_another_contract_than_the_one_shown_is_not_approved(pair):
    pair.allow("south", approval="person")
    shown = pair.north.submit(job_file()).job_id
    other = pair.north.submit(job_file("1/2")).job_id
    for digest in (
        pair.south.store.digest(other).hex(),
        pair.south.store.digest(shown).hex()[:63],
        "",
        "00" * 32,
    ):
        with pytest.raises(JobError) as caught:
            pair.south.approve(shown, ANN, digest)
        assert caught.value.stable_code == "shown"
    assert pair.south.store.get(shown).state is State.WAITING_OWN
    assert decisions(pair.south, shown) == []
    approve(pair.south, shown)
    assert wait_final(pair.south, shown).state is State.FINISHED


def test_who_denies_and_who_cancels_is_named(pair):
    pair.allow("south", approval="person")
    denied, given_up = (pair.north.submit(job_file()).job_id for _ in range(2))
    pair.south.deny(denied, ANN, "no")
    assert decisions(pair.south, denied) == [("denied", "Ann", 1000, "", "contract")]
    pair.north.cancel(given_up, Person("Cid", 5))
    found = [entry for entry in pair.north.ledger.entries() if entry.event == "cancelled"]
    assert [(entry.actor, entry.job) for entry in found] == [("Cid", pair.north.store.digest(given_up).hex())]


@pytest.mark.parametrize(
    "name", ["", " Ann", "-Ann", "A\x1b[2J", "A\nB", "=cmd()", "\u202eAnn", "x" * 81, "@a"]
)
def test_names_that_could_deceive_a_reader_are_refused(name):
    with pytest.raises(UsageError, match="not valid"):
        Person(name, 1000)


def test_the_own_account_is_the_default():
    assert own_person("Ann") == Person("Ann", os.getuid())
    assert own_person().uid == os.getuid()


def test_nothing_is_signed_without_an_approval_in_the_ledger(pair):
    pair.allow("south", approval="person")
    job_id = pair.north.submit(job_file()).job_id
    pair.south._negotiation._decisions.of_person = lambda *_: None
    with pytest.raises(JobError) as caught:
        approve(pair.south, job_id)
    assert caught.value.stable_code == "approval"
    assert pair.south.store.get(job_id).state is State.WAITING_OWN
    assert not pair.south.store.get(job_id).own_signature


def test_an_approval_that_cannot_be_written_approves_nothing(pair):
    pair.allow("south", approval="person")
    job_id = pair.north.submit(job_file()).job_id
    home = pair.folder / "south"
    shutil.copy(home / "ledger.jsonl", home / "whole") if (home / "ledger.jsonl").exists() else None
    (home / "ledger.jsonl").write_text("broken\n")
    with pytest.raises(LedgerError):
        approve(pair.south, job_id)
    assert pair.south.store.get(job_id).state is State.WAITING_OWN
    with pytest.raises(LedgerError):
        pair.south.deny(job_id, ANN)
    assert pair.south.store.get(job_id).state is State.DENIED


def test_two_persons_at_once_are_one_approval(pair):
    pair.allow("south", approval="person")
    job_id = pair.north.submit(job_file()).job_id
    examine = pair.south._negotiation._examine

    def while_another_approves(*given):
        pair.south._negotiation._examine = examine
        approve(pair.south, job_id)
        return examine(*given)

    pair.south._negotiation._examine = while_another_approves
    with pytest.raises(JobError, match="waits for no decision"):
        approve(pair.south, job_id)
    assert len(decisions(pair.south, job_id)) == 1
